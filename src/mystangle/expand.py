"""Pieces become the lines of files, and every line knows where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .language import Piece, Reference
from .problems import Location


@dataclass(frozen=True)
class Line:
    """A line of a tangled file, without its end.

    `location` is where it stands in the book, `piece` whose it is; both None for a
    blank line that layout put in.  The comment that a name leaves is located at its
    reference and belongs to the piece that refers.
    """

    text: str
    location: Location | None
    piece: Piece | None


@dataclass(frozen=True)
class TangledFile:
    """A file of the package; `path` is relative to the source."""

    path: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The whole text, each line ended by a line feed."""
        return "".join(line.text + "\n" for line in self.lines)

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode("utf-8")


@dataclass(frozen=True)
class Row:
    """A line on its way into a file, and the author's blank lines before it.

    `inside`: it begins inside a string literal.  `held`: it is a `pass` that goes as
    soon as its suite holds anything else.
    """

    line: Line
    blanks: tuple[Line, ...] = ()
    inside: bool = False
    held: bool = False


Chunks = Mapping[str, tuple[Piece, ...]]

DEEPEST = 100  # chunks in one another; Python's stack holds thrice as many


class TooDeepError(Exception):
    """Chunks nest too deeply; `reference` is the first that goes too far."""

    def __init__(self, reference: Reference) -> None:
        super().__init__(reference.name)
        self.reference = reference


def expanded(name: str, chunks: Chunks, indent: str = "", depth: int = 0) -> list[Row]:
    """Return the rows of a chunk or file, its references replaced by their chunks.

    A reference to a name that is not in `chunks` becomes nothing.
    Errors: TooDeepError.
    """
    rows: list[Row] = []
    for piece in chunks.get(name, ()):
        rows.extend(_Expansion(piece, chunks, indent, depth).rows())
    return rows


class _Expansion:
    """The expansion of one piece, which stands in so many others (`depth`)."""

    def __init__(self, piece: Piece, chunks: Chunks, indent: str, depth: int) -> None:
        self.piece = piece
        self.chunks = chunks
        self.indent = indent
        self.depth = depth
        self.references = {r.line_index: r for r in piece.references}

    def rows(self) -> Iterator[Row]:
        blanks: list[Line] = []
        vanished: list[Line] = []  # the blank lines before references to nothing
        for index, text in enumerate(self.piece.body):
            inside = index in self.piece.lexed.data | self.piece.lexed.documentation
            if not inside and not text.strip():
                blanks.append(self.line(index, ""))
                continue
            blanks = max(vanished, blanks, key=len)
            reference = self.references.get(index)
            found = self.referred(reference) if reference else [self.row(index, text)]
            if found:
                yield Row(found[0].line, tuple(blanks), found[0].inside, found[0].held)
                yield from found[1:]
            vanished = [] if found else blanks
            blanks = []

    def row(self, index: int, text: str) -> Row:
        data = index in self.piece.lexed.data
        moved = text if data or not text.strip() else self.indent + text
        inside = data or index in self.piece.lexed.documentation
        return Row(self.line(index, moved), inside=inside)

    def line(self, index: int, text: str) -> Line:
        place = Location(self.piece.chapter.path, self.piece.body_line + index)
        return Line(text, place, self.piece)

    def referred(self, reference: Reference) -> list[Row]:
        """Return what stands in place of a reference."""
        if self.depth == DEEPEST:
            raise TooDeepError(reference)
        indent = self.indent + reference.indent
        found = expanded(reference.name, self.chunks, indent, self.depth + 1)
        if not found:
            text = indent + "pass"
            held = Row(self.line(reference.line_index, text), held=True)
            return [held] if reference.holds_pass else []
        if not self.speaks(reference.name):
            return found
        comment = self.line(reference.line_index, f"{indent}# {reference.name}")
        return [Row(comment), *found]

    def speaks(self, name: str) -> bool:
        """Return whether a chunk's name becomes a comment above its text."""
        first = next(piece for piece in self.chunks[name] if piece.body)
        leads = any(reference.line_index == 0 for reference in first.references)
        return not leads and not (name.startswith("(") and name.endswith(")"))
