"""The chunk language inside a cell: a cell becomes a piece of a chunk or file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .lexical import Lexed, guessed, lex, parse
from .markdown import Cell, Chapter
from .names import canonical, is_file, name_fault
from .options import MEANT, Fault, Key, option_faults, options_of
from .problems import Location, Problem

__all__ = [
    "Piece",
    "Reading",
    "Reference",
    "is_file",
    "options_of",
    "read_cell",
]

REFERENCE = re.compile(r"# <<(?P<name>.+)>>\s*")
# A comment that was meant as a reference, or that a reader would take for one.
NEARLY = re.compile(r"#+\s*(<<.*|<.*>>\s*)")
NOTHING = Lexed((), frozenset(), frozenset())


@dataclass(frozen=True)
class Reference:
    """A line `# <<Name>>`, or `pass  # <<Name>>`, of a piece.

    `line_index` counts from 0 in the piece's body.
    """

    name: str
    location: Location
    line_index: int
    indent: str
    holds_pass: bool


@dataclass(frozen=True, eq=False)
class Piece:
    """A cell's contribution to a chunk or file called `name`; equal only to itself.

    `name` is the canonical name of the chunk, or the file's path below the source.
    `location` is its option line.  `body` has neither option lines nor blank lines at
    its ends; its first line is the chapter's line `body_line`.  The first
    `option_count` lines of the cell are options.
    """

    key: Key
    name: str
    because: str
    chapter: Chapter
    cell: Cell
    location: Location
    option_count: int
    body: tuple[str, ...]
    body_line: int
    references: tuple[Reference, ...]
    lexed: Lexed = field(default=NOTHING, repr=False)

    @property
    def is_file(self) -> bool:
        """Whether the piece belongs to a file rather than to a named chunk."""
        return is_file(self.name)


@dataclass(frozen=True)
class Reading:
    """What a cell says: its piece if it is a chunk, its references, its mistakes.

    A cell whose options are wrong has references but no piece.  `fence` is where the
    cell begins.
    """

    fence: Location
    piece: Piece | None
    references: tuple[Reference, ...]
    problems: tuple[Problem, ...]


def read_cell(chapter: Chapter, cell: Cell) -> Reading:
    """Return what a cell contributes to the program."""
    fence = Location(chapter.path, cell.line)
    options = options_of(cell.source)
    body = _Body(chapter, cell, options.count)
    if not options.count:
        return Reading(fence, None, (), _problems(body, body.stray_faults()))
    faults = [*option_faults(options), *body.faults()]
    problems = _problems(body, faults)
    piece = None
    if options.definition is not None:
        key, option = options.definition
        piece = Piece(
            key=key,
            name=option.value,
            because=options.get("because") or "",
            chapter=chapter,
            cell=cell,
            location=body.place(option.row - body.first),
            option_count=options.count,
            body=tuple(body.lines),
            body_line=body.place(0).line,
            references=body.references,
            lexed=body.lexed,
        )
    return Reading(fence, piece, body.references, problems)


def _problems(
    body: _Body, faults: Iterator[Fault] | list[Fault]
) -> tuple[Problem, ...]:
    first = body.place(0).line - body.first
    path = body.chapter.path
    found = {
        Problem(Location(path, first + row), text, kind) for row, kind, text in faults
    }
    return tuple(sorted(found))


class _Body:
    """A cell's lines after its options, taken apart."""

    def __init__(self, chapter: Chapter, cell: Cell, options: int) -> None:
        self.chapter = chapter
        self.cell = cell
        lines = cell.source.split("\n")
        first, last = options, len(lines)
        while first < last and not lines[first].strip():
            first += 1
        while last > first and not lines[last - 1].strip():
            last -= 1
        self.first = first
        self.lines = lines[first:last]
        self.text = "\n".join(self.lines)
        self.error: SyntaxError | None = None
        try:
            self.lexed = lex(self.text, parse(self.text))
        except SyntaxError as error:
            self.error = error
            self.lexed = Lexed(tuple(guessed(self.lines)), frozenset(), frozenset())
        self.references = tuple(self._references())

    def place(self, row: int) -> Location:
        """Return where a row of the body stands in the chapter."""
        return Location(self.chapter.path, self.cell.source_line + self.first + row)

    def _references(self) -> Iterator[Reference]:
        for comment in self.lexed.comments:
            match = REFERENCE.fullmatch(comment.text)
            if match and comment.may_refer:
                width = len(comment.before) - len(comment.before.lstrip())
                yield Reference(
                    name=canonical(match["name"]),
                    location=self.place(comment.row),
                    line_index=comment.row,
                    indent=comment.before[:width],
                    holds_pass=bool(comment.before.strip()),
                )

    def faults(self) -> Iterator[Fault]:
        """Yield everything wrong with the body of a chunk."""
        yield from self._lost_options()
        for row, kind, text in self._reference_faults():
            yield self.first + row, kind, text
        if self.error is not None:
            yield self._syntax_fault(self.error)
        else:
            yield from self._join_faults()
            yield from self._place_faults()
            yield from self._end_faults()

    def stray_faults(self) -> Iterator[Fault]:
        """Yield the option lines and references in a cell that is not a chunk."""
        yield from self._lost_options()
        for reference in self.references:
            yield (
                self.first + reference.line_index,
                "reference",
                "a reference must stand in a chunk, and this cell begins with no "
                f"option line, got <<{reference.name}>>. Begin the cell with "
                "`#| id: …`, or write the comment otherwise.",
            )

    def _lost_options(self) -> Iterator[Fault]:
        for comment in self.lexed.comments:
            if MEANT.fullmatch(comment.text):
                yield (
                    self.first + comment.row,
                    "option",
                    "option lines must be the first lines of a cell, at its left edge, "
                    f"got {comment.text!r} after another line. Move it to the top.",
                )

    def _reference_faults(self) -> Iterator[Fault]:
        for reference in self.references:
            fault = name_fault(reference.name)
            if fault:
                yield reference.line_index, "name", fault
        good = {reference.line_index for reference in self.references}
        for comment in self.lexed.comments:
            if comment.row not in good and NEARLY.fullmatch(comment.text):
                yield (
                    comment.row,
                    "reference",
                    "a reference must be a line of its own, `# <<Name>>` or `pass  # "
                    f"<<Name>>`, got {self.lines[comment.row].strip()!r}. Write it so, "
                    "or write the comment otherwise.",
                )

    def _syntax_fault(self, error: SyntaxError) -> Fault:
        row = min(max((error.lineno or 1) - 1, 0), len(self.lines) - 1)
        mend = "Mend it, or make the chunk whole statements."
        if isinstance(error, IndentationError) and error.msg.startswith("expected"):
            mend = (
                "A suite must hold a statement: write `pass  # <<Name>>` where a "
                "reference is all there is."
            )
        return (
            self.first + row,
            "syntax",
            f"a chunk must be valid Python by itself, got: {error.msg}. {mend}",
        )

    def _join_faults(self) -> Iterator[Fault]:
        """Yield the backslashes that join a line to a blank one.

        Blank lines may come and go when a file is laid out, and such a one has a say
        in where a statement ends.
        """
        comments = {comment.row for comment in self.lexed.comments}
        strings = self.lexed.data | self.lexed.documentation
        for row, line in enumerate(self.lines[:-1]):
            joins = line.endswith("\\") and row not in comments
            if joins and row + 1 not in strings and not self.lines[row + 1].strip():
                yield (
                    self.first + row,
                    "syntax",
                    "a backslash at the end of a line must join it to code, got a "
                    "blank line after it. Remove the backslash or the blank line.",
                )

    def _place_faults(self) -> Iterator[Fault]:
        """Yield the references that stand where no statement could."""
        if self._parses_with_pass(self.references):
            return
        wrong = [r for r in self.references if not self._parses_with_pass([r])]
        for reference in wrong or self.references[:1]:
            yield (
                self.first + reference.line_index,
                "reference",
                "a reference must stand where a statement could, and `pass` in "
                f"place of <<{reference.name}>> is not valid Python. Move it out "
                "of the brackets or the statement, or mend its indentation.",
            )

    def _parses_with_pass(self, references: Sequence[Reference]) -> bool:
        tried = list(self.lines)
        for reference in references:
            tried[reference.line_index] = reference.indent + "pass"
        try:
            parse("\n".join(tried))
        except SyntaxError:
            return False
        return True

    def _end_faults(self) -> Iterator[Fault]:
        """Yield the comment with which a chunk may not end: it would join the next."""
        last = len(self.lines) - 1
        final = next((c for c in self.lexed.comments if c.row == last), None)
        refers = {reference.line_index for reference in self.references}
        if final and not final.before.strip() and last not in refers:
            yield (
                self.first + last,
                "comment",
                "a chunk must end with code or a reference, got a comment. Move the "
                "comment to the chunk that it speaks of.",
            )
