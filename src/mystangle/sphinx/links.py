"""Where the pieces of a book stand on its pages, and what a link to one says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from docutils.nodes import make_id  # type: ignore[import-untyped]

from ..book import Book
from ..language import Piece
from ..markdown import Chapter

FRONT_MATTER = re.compile(r"\A---\s*\n.*?\n---\s*\n", re.DOTALL)
HEADING = re.compile(r"^# +(.+?)[ #]*$", re.MULTILINE)


@dataclass(frozen=True)
class Link:
    """A link to a place on a page, and the text to show for it.

    `title` says where it leads, if the text is too short for that.
    """

    docname: str
    anchor: str
    text: str
    title: str = ""


class Links:
    """Links to the pieces of a sound book."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.names = tuple(dict.fromkeys(piece.name for piece in book.pieces))
        self._anchors = dict(_anchors(book))
        self._numbers = {piece: n for n, piece in enumerate(book.pieces)}

    def anchor(self, piece: Piece) -> str:
        """Return the id under which a piece can be linked to on its page."""
        return self._anchors[piece.chapter.docname, piece.cell.index]

    def text_id(self, piece: Piece) -> str:
        """Return the id under which a page keeps the text of another page's piece."""
        return f"mystangle-text-{self._numbers[piece]}"

    def to(self, piece: Piece, text: str = "") -> Link:
        """Return a link to a piece; without a text it shows the chapter's title."""
        shown = text or title_of(piece.chapter)
        return Link(piece.chapter.docname, self.anchor(piece), shown)

    def first(self, name: str) -> Link | None:
        """Return a link to the definition of a chunk or file, if the book has it."""
        history = self.book.history(name)
        return self.to(history[0], name) if history else None


def numbered(link: Link, number: int) -> Link:
    """Return one of several links in a row: only the first shows its text."""
    if number == 1:
        return link
    shown = f"({number})"
    return replace(link, text=shown, title=f"{link.title or link.text} {shown}")


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
