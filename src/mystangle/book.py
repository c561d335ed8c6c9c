"""A whole book: its chapters, what they define, and the package as of each chapter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from .expand import DEEPEST, Chunks, TangledFile, TooDeepError, expanded
from .judge import active, contents, judge
from .language import Piece, Reference, is_file, read_cell
from .layout import laid_out
from .lexical import compiles
from .markdown import Chapter, MarkdownReader
from .problems import ChapterError, Location, Problem, SettingsError, shortened
from .reading import read_chapter
from .settings import Settings
from .strays import UNCLOSED
from .toc import read_toc


@dataclass(frozen=True)
class Snapshot:
    """The package as of chapter `number`: its files by their path below the source."""

    number: int
    files: Mapping[str, TangledFile]


class Book:
    """The chapters of a book in order, their pieces, and everything wrong with them."""

    def __init__(
        self,
        settings: Settings,
        chapters: Iterable[Chapter],
        problems: Iterable[Problem] = (),
    ) -> None:
        self.settings = settings
        self.chapters = tuple(chapters)
        readings = [read_cell(c, cell) for c in self.chapters for cell in c.cells]
        self.pieces: tuple[Piece, ...] = tuple(r.piece for r in readings if r.piece)
        loose = (r for r in readings if r.piece is None)
        mentioned = {reference.name for r in loose for reference in r.references}
        found = set(problems)
        unclosed = {p.location for p in found if p.kind == UNCLOSED}
        found.update(p for r in readings if r.fence not in unclosed for p in r.problems)
        found.update(_below_source(self.pieces, settings.source))
        found.update(judge(self.pieces, len(self.chapters), mentioned))
        self._snapshots: list[Snapshot] = []
        found.update(self._make_snapshots(_faulty(self.pieces, found)))
        self.problems: tuple[Problem, ...] = tuple(sorted(found))

    @classmethod
    def read(cls, settings: Settings, texts: Mapping[str, str] | None = None) -> Book:
        """Read every chapter; `texts` overrides files by their path.

        Mistakes in chapters are in `problems`.  Errors: SettingsError.
        """
        reader = MarkdownReader.of(settings.root / settings.config)
        docnames, problems = read_toc(settings)
        chapters = []
        for number, docname in enumerate(docnames, start=1):
            override = (texts or {}).get(f"{docname}.md")
            chapter, wrong = read_chapter(settings, reader, number, docname, override)
            chapters.append(chapter)
            problems += wrong
        return cls(settings, chapters, problems)

    def require_sound(self) -> None:
        """Raise ChapterError if anything is wrong in any chapter or snapshot."""
        if self.problems:
            raise ChapterError(self.problems)

    def snapshot(self, through: int | str | None = None) -> Snapshot:
        """Return the package as of a chapter, by default as of the last.

        `through`: the chapter's number, path, docname, or the beginning of its stem.
        Errors: ChapterError if the book is not sound; SettingsError if no chapter, or
        more than one, is meant.
        """
        self.require_sound()
        if through is None and not self.chapters:
            return Snapshot(0, {})
        number = len(self.chapters) if through is None else self.chapter(through).number
        return self._snapshots[number - 1]

    def chapter(self, through: int | str) -> Chapter:
        """Return the chapter that a number, path, docname or stem prefix means."""
        exact = [c for c in self.chapters if through in (c.number, c.path, c.docname)]
        begun = [c for c in self.chapters if _stem(c).startswith(str(through))]
        found = exact or [c for c in begun if _stem(c) == through] or begun
        if isinstance(through, int):
            found = exact
        if len(found) == 1:
            return found[0]
        names = ", ".join(_stem(c) for c in found or self.chapters)
        raise SettingsError(
            f"{shortened(str(through))}: must mean one chapter, got "
            + (f"several that begin so: {names}." if found else f"none of {names}.")
            + " Name it by number, path or stem."
        )

    def history(self, name: str) -> tuple[Piece, ...]:
        """Return all pieces of a chunk or file in reading order."""
        return tuple(piece for piece in self.pieces if piece.name == name)

    def uses(self, name: str) -> tuple[tuple[Piece, Reference], ...]:
        """Return the pieces that refer to a chunk, each with its reference."""
        return tuple(
            (piece, reference)
            for piece in self.pieces
            for reference in piece.references
            if reference.name == name
        )

    def piece_at(self, docname: str, cell_index: int) -> Piece | None:
        """Return the piece of a cell, or None if the cell is not a chunk."""
        return self._places.get((docname, cell_index))

    @cached_property
    def _places(self) -> dict[tuple[str, int], Piece]:
        return {(p.chapter.docname, p.cell.index): p for p in self.pieces}

    def _make_snapshots(self, faulty: Set[str]) -> Iterator[Problem]:
        """Fill `_snapshots`; yield, once a line, what in them does not compile.

        Files that contain a `faulty` name are left out; no snapshot is given away then.
        A file is made once for all snapshots in which it has the same pieces.
        """
        made: dict[tuple[str, tuple[Piece, ...]], TangledFile | Problem] = {}
        told: set[tuple[str, Location]] = set()
        for chapter in self.chapters:
            chunks = active(self.pieces, chapter.number)
            files: dict[str, TangledFile] = {}
            for name in sorted(filter(is_file, chunks)):
                inside = contents(chunks, name)
                if inside & faulty:
                    continue
                key = (name, tuple(p for n in sorted(inside) for p in chunks[n]))
                file = made[key] = made.get(key) or _tangled(name, chunks, chapter)
                if isinstance(file, TangledFile):
                    files[name] = file
                elif (name, file.location) not in told:
                    told.add((name, file.location))
                    yield file
            self._snapshots.append(Snapshot(chapter.number, files))


def _tangled(name: str, chunks: Chunks, chapter: Chapter) -> TangledFile | Problem:
    """Return a file made of `chunks`, or why as of `chapter` it cannot be made."""
    try:
        rows = expanded(name, chunks)
    except TooDeepError as error:
        return Problem(
            error.reference.location,
            f"chunks must not nest more than {DEEPEST} deep, got one more in {name!r}. "
            "Put some of their text in place of the references.",
            "depth",
        )
    try:
        compiles("".join(row.line.text + "\n" for row in rows), name)
        return TangledFile(name, laid_out(rows))
    except SyntaxError as error:
        row = rows[min(max((error.lineno or 1) - 1, 0), len(rows) - 1)]
        assert row.line.location is not None
        return Problem(
            row.line.location,
            f"{name} as of {chapter.path} must compile, got: {error.msg}. Mend this "
            "line or where its chunk is referred to.",
            "compile",
        )


def _below_source(pieces: Iterable[Piece], source: str) -> Iterator[Problem]:
    for piece in pieces:
        if piece.is_file and piece.name.startswith(f"{source}/"):
            yield Problem(
                piece.location,
                f"a file's path is taken below {source}/, got {piece.name!r}. Leave "
                f"out {source}/.",
                "file",
            )


def _faulty(pieces: Iterable[Piece], problems: Iterable[Problem]) -> set[str]:
    """Return the names that have a piece with a problem."""
    places = {problem.location for problem in problems}
    return {
        piece.name
        for piece in pieces
        for line in range(piece.cell.line, piece.body_line + len(piece.body))
        if Location(piece.chapter.path, line) in places
    }


def _stem(chapter: Chapter) -> str:
    return chapter.docname.rpartition("/")[2]
