"""The tangled files as they stand after each chapter that changed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from ..book import Book
from ..expand import TangledFile
from ..language import Piece
from ..markdown import Chapter
from .links import Link

FOLDER = "tangled"


@dataclass(frozen=True)
class State:
    """A file after a chapter that changed it, and the page that shows it.

    `added`: the rows, from 0, that were not there before; `removed`: how many rows
    of what was there before have gone.
    """

    file: TangledFile
    chapter: Chapter
    docname: str
    added: frozenset[int]
    removed: int

    @property
    def path(self) -> str:
        """The file's path below the source."""
        return self.file.path

    def link(self, row: int, text: str) -> Link:
        """Return a link to a row of the page."""
        return Link(self.docname, line_id(row), text)


class States:
    """Every state of every file of a sound book."""

    def __init__(self, book: Book) -> None:
        self._names = _page_names(book)
        self._states: dict[str, list[State]] = {}
        for chapter in book.chapters:
            for path, file in sorted(book.snapshot(chapter.number).files.items()):
                known = self._states.setdefault(path, [])
                if not known or known[-1].file.lines != file.lines:
                    old = known[-1].file if known else TangledFile(path, ())
                    known.append(self._state(old, file, chapter))
        self._places = dict(self._first_rows())

    @property
    def paths(self) -> list[str]:
        """The paths of all files, sorted."""
        return sorted(self._states)

    def of(self, path: str) -> list[State]:
        """Return the states of a file in reading order."""
        return self._states.get(path, [])

    def after(self, path: str, number: int) -> State | None:
        """Return a file as it stands after chapter `number`.

        Before the file is begun, it is what the file is in the end.
        """
        known = self.of(path)
        found = [state for state in known if state.chapter.number <= number]
        return next(reversed(found or known), None)

    def place(self, piece: Piece) -> tuple[State, int] | None:
        """Return where, as of its chapter, the first row of a piece stands."""
        return self._places.get(piece)

    def _state(self, old: TangledFile, new: TangledFile, chapter: Chapter) -> State:
        added, removed = _difference(old, new)
        folder = f"{FOLDER}/{new.path.removesuffix('.py')}"
        docname = f"{folder}/{self._names[chapter.docname]}"
        return State(new, chapter, docname, added, removed)

    def _first_rows(self) -> Iterator[tuple[Piece, tuple[State, int]]]:
        for state in (s for states in self._states.values() for s in states):
            for row, line in reversed(list(enumerate(state.file.lines))):
                if line.piece and line.piece.chapter is state.chapter:
                    yield line.piece, (state, row)


def line_id(row: int) -> str:
    """Return the id of a row, from 0, on the page of a state."""
    return f"L{row + 1}"


def _difference(old: TangledFile, new: TangledFile) -> tuple[frozenset[int], int]:
    before, after = (tuple(line.text for line in file.lines) for file in (old, new))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = {row for block in blocks for row in range(block.b, block.b + block.size)}
    return frozenset(range(len(after))) - kept, len(before) - len(kept)


def _page_names(book: Book) -> dict[str, str]:
    """Return for each chapter a name without a slash: its stem, where that will do."""
    stems = Counter(c.docname.rpartition("/")[2] for c in book.chapters)
    return {
        docname: stem if stems[stem] == 1 else docname.replace("/", ".")
        for docname in (chapter.docname for chapter in book.chapters)
        for stem in (docname.rpartition("/")[2],)
    }
