"""What a page shows with a piece: where its text lands, and the pieces around it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..book import Book
from ..judge import active
from ..language import Piece, is_file
from ..markdown import Chapter
from .links import Link, Links, numbered, title_of
from .states import States

STATUS = {"append": "continued", "replace": "replaced"}  # what else than defined
OWN = {**STATUS, "replace": "replaces an earlier one"}  # in its own caption


@dataclass(frozen=True)
class Hook:
    """A reference line of a piece, as a page shows it.

    `later` is the title of the chapter that fills it, if that is a later one; if not,
    `sources` are the ids of what the page holds of the chunk's text, piece by piece.
    """

    line_index: int
    indent: int
    link: Link
    later: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """The code of a piece, a link to it, and the references in it."""

    link: Link
    text: str
    hooks: tuple[Hook, ...]


@dataclass(frozen=True)
class Caption:
    """All that a page shows about one piece beside its code.

    `status` is empty if the piece defines its chunk.  `place` is where the piece lands
    in the tangled file as of its chapter, and `replaced` are the pieces of which it
    takes the place.
    """

    name: str
    is_file: bool
    anchor: str
    status: str
    because: str
    files: tuple[Link, ...]
    place: Link | None
    previous: Link | None
    following: Link | None
    replaced_in: Link | None
    uses: tuple[Link, ...]
    hooks: tuple[Hook, ...]
    replaced: tuple[Listing, ...]


class Captions:
    """The captions of a sound book."""

    def __init__(self, book: Book, links: Links, states: States) -> None:
        self.book = book
        self.links = links
        self.states = states
        self._active: dict[int, Mapping[str, tuple[Piece, ...]]] = {}

    def caption(self, piece: Piece) -> Caption:
        """Return what to show with a piece."""
        history = self.book.history(piece.name)
        position = history.index(piece)
        after = history[position + 1 :]
        goes_on = bool(after) and after[0].key == "append"
        goes_back = piece.key == "append"
        replacing = next((p for p in after if p.key == "replace"), None)
        own = is_file(piece.name)
        return Caption(
            name=piece.name,
            is_file=own,
            anchor=self.links.anchor(piece),
            status=OWN.get(piece.key, ""),
            because=piece.because,
            files=() if own else tuple(self._files(piece.name)),
            place=self._place(piece),
            previous=_step(self.links, piece, history[position - 1], "above")
            if goes_back
            else None,
            following=_step(self.links, piece, after[0], "below") if goes_on else None,
            replaced_in=self.links.to(replacing) if replacing else None,
            uses=tuple(self._uses(piece.name)),
            hooks=tuple(self._hooks(piece, piece.chapter)),
            replaced=tuple(self._replaced(piece)),
        )

    def listing(self, piece: Piece, page: Chapter) -> Listing:
        """Return a piece's code as the page of a chapter shows it."""
        text = "\n".join(piece.body)
        return Listing(self.links.to(piece), text, tuple(self._hooks(piece, page)))

    def active(self, number: int) -> Mapping[str, tuple[Piece, ...]]:
        """Return the pieces of each chunk and file that hold as of a chapter."""
        if number not in self._active:
            self._active[number] = active(self.book.pieces, number)
        return self._active[number]

    def digest(self, docname: str) -> str:
        """Return a digest of every caption on a page."""
        pieces = [p for p in self.book.pieces if p.chapter.docname == docname]
        shown = repr([self.caption(piece) for piece in pieces])
        return hashlib.sha256(shown.encode()).hexdigest()[:20]

    def files(self, name: str) -> list[str]:
        """Return the files in which a chunk ends up: more than one if it was moved."""
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
        return sorted(found)

    def _files(self, name: str) -> Iterator[Link]:
        for path in self.files(name):
            yield self.links.to(self.book.history(path)[0], path)

    def _uses(self, name: str) -> Iterator[Link]:
        """Yield a link to each piece that uses a chunk, numbered where names repeat."""
        count: Counter[str] = Counter()
        for user in dict.fromkeys(self._users(name)):
            count[user.name] += 1
            yield numbered(self.links.to(user, user.name), count[user.name])

    def _users(self, name: str) -> list[Piece]:
        return [piece for piece, _ in self.book.uses(name)]

    def _place(self, piece: Piece) -> Link | None:
        found = self.states.place(piece)
        if found is None:
            return None
        state, row = found
        said = f"{state.path}, as it stands after this chapter"
        return replace(state.link(row, state.path), title=said)

    def _hooks(self, piece: Piece, page: Chapter) -> Iterator[Hook]:
        for reference in piece.references:
            name = reference.name
            first = self.book.history(name)[0]
            is_later = first.chapter.number > page.number
            pieces = () if is_later else self.active(page.number)[name]
            yield Hook(
                reference.line_index,
                len(reference.indent),
                self.links.to(first, name),
                title_of(first.chapter) if is_later else "",
                tuple(self._source(p, page) for p in pieces),
            )

    def _source(self, piece: Piece, page: Chapter) -> str:
        here = piece.chapter is page
        return self.links.anchor(piece) if here else self.links.text_id(piece)

    def _replaced(self, piece: Piece) -> Iterator[Listing]:
        if piece.key == "replace":
            for old in self.active(piece.chapter.number - 1)[piece.name]:
                yield self.listing(old, piece.chapter)


def _step(links: Links, piece: Piece, other: Piece, near: str) -> Link:
    """Return a link to another piece of the same chunk."""
    same_page = other.chapter.docname == piece.chapter.docname
    return links.to(other, near if same_page else "")
