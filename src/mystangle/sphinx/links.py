"""What a chunk's caption says: where its text lands, and the pieces around it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from docutils.nodes import make_id  # type: ignore[import-untyped]

from ..book import Book
from ..language import Piece, is_file
from ..markdown import Chapter

FRONT_MATTER = re.compile(r"\A---\s*\n.*?\n---\s*\n", re.DOTALL)
HEADING = re.compile(r"^# +(.+?)[ #]*$", re.MULTILINE)
STATUS = {
    "file": "defined",
    "id": "defined",
    "append": "continued",
    "replace": "replaced",
}


@dataclass(frozen=True)
class Link:
    """A link to a piece, and the text to show for it."""

    docname: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Hook:
    """A reference line of a piece; `later` is the chapter's title that fills it."""

    line_index: int
    link: Link
    later: str


@dataclass(frozen=True)
class Caption:
    """All that a page shows about one piece beside its code."""

    name: str
    is_file: bool
    anchor: str
    status: str
    because: str
    files: tuple[Link, ...]
    previous: Link | None
    following: Link | None
    uses: tuple[Link, ...]
    hooks: tuple[Hook, ...]


class Links:
    """The captions of a sound book."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._anchors = dict(_anchors(book))

    def caption(self, piece: Piece) -> Caption:
        """Return what to show with a piece."""
        history = self.book.history(piece.name)
        position = history.index(piece)
        before, after = history[:position], history[position + 1 :]
        own = is_file(piece.name)
        return Caption(
            name=piece.name,
            is_file=own,
            anchor=self.anchor(piece),
            status=STATUS[piece.key],
            because=piece.because,
            files=() if own else tuple(self._files(piece.name)),
            previous=self._step(piece, before[-1], "above") if before else None,
            following=self._step(piece, after[0], "below") if after else None,
            uses=tuple(self._link(user, user.name) for user in self._users(piece.name)),
            hooks=tuple(self._hooks(piece)),
        )

    def digest(self, docname: str) -> str:
        """Return a digest of every caption on a page."""
        pieces = [p for p in self.book.pieces if p.chapter.docname == docname]
        shown = repr([self.caption(piece) for piece in pieces])
        return hashlib.sha256(shown.encode()).hexdigest()[:20]

    def anchor(self, piece: Piece) -> str:
        """Return the id under which a piece can be linked to on its page."""
        return self._anchors[piece.chapter.docname, piece.cell.index]

    def first(self, name: str) -> Link | None:
        """Return a link to the definition of a chunk or file, if the book has it."""
        history = self.book.history(name)
        return self._link(history[0], name) if history else None

    def names(self) -> list[str]:
        """Return the names of all chunks and files, in reading order."""
        return list(dict.fromkeys(piece.name for piece in self.book.pieces))

    def _link(self, piece: Piece, text: str) -> Link:
        return Link(piece.chapter.docname, self.anchor(piece), text)

    def _step(self, piece: Piece, other: Piece, near: str) -> Link:
        """Return a link to another piece of the same chunk."""
        same_page = other.chapter.docname == piece.chapter.docname
        return self._link(other, near if same_page else title_of(other.chapter))

    def _users(self, name: str) -> list[Piece]:
        return [piece for piece, _ in self.book.uses(name)]

    def _files(self, name: str) -> Iterator[Link]:
        """Yield the files in which a chunk ends up: more than one if it was moved."""
        found: set[str] = set()
        waiting = [name]
        seen: set[str] = set()
        while waiting:
            current = waiting.pop()
            if is_file(current):
                found.add(current)
            elif current not in seen:
                seen.add(current)
                waiting += [user.name for user in self._users(current)]
        for path in sorted(found):
            yield self._link(self.book.history(path)[0], path)

    def _hooks(self, piece: Piece) -> Iterator[Hook]:
        for reference in piece.references:
            first = self.book.history(reference.name)[0]
            is_later = first.chapter.number > piece.chapter.number
            later = title_of(first.chapter) if is_later else ""
            link = self._link(first, reference.name)
            yield Hook(reference.line_index, link, later)


def title_of(chapter: Chapter) -> str:
    """Return a chapter's heading as plain text, or its name if it has none."""
    match = HEADING.search(FRONT_MATTER.sub("", chapter.text))
    return re.sub(r"[`*$]", "", match[1]) if match else chapter.docname


def _anchors(book: Book) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield an id for each piece.  No heading's id can be equal: it has no `--`."""
    count: Counter[tuple[str, str]] = Counter()
    for piece in book.pieces:
        docname = piece.chapter.docname
        base = f"chunk--{make_id(piece.name) or 'name'}"
        count[docname, base] += 1
        number = count[docname, base]
        anchor = base if number == 1 else f"{base}--{number}"
        yield (docname, piece.cell.index), anchor
