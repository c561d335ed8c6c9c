"""The chunk language inside a cell: option lines, names and references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from .lexical import Comment, Lexed, lex, parse
from .markdown import Cell, Chapter
from .names import canonical, file_fault, name_fault
from .problems import Location, Problem

Key = Literal["file", "id", "append", "replace"]
KEYS: tuple[Key, ...] = get_args(Key)

OPTION = re.compile(r"# ?\|(?P<text>.*)")
SETTING = re.compile(r"\s*(?P<key>[^\s:]+)\s*:(?P<value>.*)")
LOST_OPTION = re.compile(r"#+\s*\|\s*(file|id|append|replace|because)\s*:.*")
REFERENCE = re.compile(r"# <<(?P<name>.+)>>\s*")
NEARLY = re.compile(r"#+\s*(<<.*|<.*>>\s*)")
NOTHING = Lexed((), frozenset(), frozenset())


@dataclass(frozen=True)
class Option:
    """An option line: `row` counts from 0 in the cell's source."""

    key: str
    value: str
    row: int


@dataclass(frozen=True)
class Options:
    """The option lines that a cell begins with, `count` of them.

    `faults` are the lines, as (row, message), that cannot be read as options.
    """

    items: tuple[Option, ...]
    count: int
    faults: tuple[tuple[int, str], ...]

    def get(self, key: str) -> str | None:
        """Return the value of an option, or None."""
        return next((item.value for item in self.items if item.key == key), None)


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
    """A cell's contribution to a chunk or file called `name`.

    `name` is the canonical name of the chunk, or the file's path below the source.
    `body` has neither option lines nor blank lines at its ends; its first line is the
    chapter's line `body_line`.  `option_count` lines of the cell are options.
    """

    key: Key
    name: str
    because: str
    chapter: Chapter
    cell: Cell
    option_count: int
    body: tuple[str, ...]
    body_line: int
    references: tuple[Reference, ...]
    lexed: Lexed = field(default=NOTHING, repr=False)

    @property
    def location(self) -> Location:
        """Where the option line stands that names the piece."""
        row = next(
            (o.row for o in options_of(self.cell.source).items if o.key == self.key), 0
        )
        return Location(self.chapter.path, self.cell.source_line + row)

    @property
    def is_file(self) -> bool:
        """Whether the piece belongs to a file rather than to a named chunk."""
        return is_file(self.name)


def is_file(name: str) -> bool:
    """Return whether `name` is the path of a file rather than a chunk's name."""
    return name.endswith(".py")


def options_of(source: str) -> Options:
    """Return the option lines at the top of a cell, `#|` and `# |` alike."""
    items: list[Option] = []
    faults = []
    count = 0
    for line in source.split("\n"):
        match = OPTION.fullmatch(line)
        if match is None:
            break
        setting = SETTING.fullmatch(match["text"])
        value = canonical(setting["value"]) if setting else ""
        if setting is None or not value:
            faults.append(
                (count, f"an option line must be `#| key: value`, got {line!r}")
            )
        else:
            items.append(Option(setting["key"], value, count))
        count += 1
    return Options(tuple(items), count, tuple(faults))


def read_piece(chapter: Chapter, cell: Cell) -> tuple[Piece | None, list[Problem]]:
    """Return the piece that a cell contributes, if it does, and all its mistakes."""
    reading = _Reading(chapter, cell)
    return reading.piece(), sorted(set(reading.problems))


class _Reading:
    """The reading of one cell; collects its problems."""

    def __init__(self, chapter: Chapter, cell: Cell) -> None:
        self.chapter = chapter
        self.cell = cell
        self.lines = cell.source.split("\n")
        self.options = options_of(cell.source)
        self.problems: list[Problem] = []

    def refuse(self, row: int, kind: str, message: str) -> None:
        place = self.place(row)
        self.problems.append(Problem(place, message, kind))

    def place(self, row: int) -> Location:
        return Location(self.chapter.path, self.cell.source_line + row)

    def piece(self) -> Piece | None:
        if not self.options.count:
            self.untagged()
            return None
        definition = self.definition()
        first, last = self.extent()
        text = "\n".join(self.lines[first:last])
        lexed, sound = self.lexed(first, text)
        references = tuple(self.references(first, lexed))
        if sound:
            self.check_places(first, text, references)
            self.check_end(first, last, lexed, references)
        self.lost_options(first, lexed)
        if definition is None:
            return None
        return Piece(
            key=definition[0],
            name=definition[1],
            because=self.options.get("because") or "",
            chapter=self.chapter,
            cell=self.cell,
            option_count=self.options.count,
            body=tuple(self.lines[first:last]),
            body_line=self.cell.source_line + first,
            references=references,
            lexed=lexed,
        )

    def extent(self) -> tuple[int, int]:
        """Return the rows of the body, without the blank lines at its ends."""
        first, last = self.options.count, len(self.lines)
        while first < last and not self.lines[first].strip():
            first += 1
        while last > first and not self.lines[last - 1].strip():
            last -= 1
        return first, last

    def untagged(self) -> None:
        """Refuse option lines and references in a cell that begins with code."""
        try:
            lexed = lex(self.cell.source, parse(self.cell.source))
        except SyntaxError:
            lexed = Lexed(tuple(_guessed(self.lines)), frozenset(), frozenset())
        self.lost_options(0, lexed)
        for comment in lexed.comments:
            if REFERENCE.fullmatch(comment.text) and not comment.before.strip():
                self.refuse(
                    comment.row,
                    "reference",
                    "a reference must stand in a chunk, and this cell begins with no "
                    f"option line, got {comment.text!r}. Begin the cell with `#| id: "
                    "…`, or write the comment otherwise.",
                )

    def lost_options(self, first: int, lexed: Lexed) -> None:
        for comment in lexed.comments:
            if LOST_OPTION.fullmatch(comment.text):
                self.refuse(
                    first + comment.row,
                    "option",
                    "option lines must be the first lines of a cell, at its left edge, "
                    f"got {comment.text!r} after another line. Move it to the top.",
                )

    def definition(self) -> tuple[Key, str] | None:
        """Return what the options say the cell defines, if they say it rightly."""
        for row, message in self.options.faults:
            self.refuse(row, "option", f"{message}. Mend the line.")
        seen: set[str] = set()
        for option in self.options.items:
            if option.key not in (*KEYS, "because"):
                self.refuse(
                    option.row,
                    "option",
                    f"an option must be one of {', '.join(KEYS)}, because, got "
                    f"{option.key!r}. Mend its spelling or remove the line.",
                )
            elif option.key in seen:
                self.refuse(
                    option.row,
                    "option",
                    f"an option must be given once, got {option.key!r} twice. Remove "
                    "one of the two lines.",
                )
            seen.add(option.key)
        found = [o for o in self.options.items if o.key in KEYS]
        kinds = [key for key in KEYS if key in seen]
        if len(kinds) != 1:
            if kinds or not self.problems:
                self.refuse(
                    0,
                    "option",
                    "a chunk must have exactly one of file, id, append, replace, got "
                    f"{' and '.join(kinds) or 'none'}. Keep the one that is meant.",
                )
            return None
        self.check_because(kinds[0])
        return kinds[0], self.name(found[0])

    def check_because(self, key: Key) -> None:
        because = next((o for o in self.options.items if o.key == "because"), None)
        if key == "replace" and because is None:
            self.refuse(
                0,
                "option",
                "`replace` must come with its reason. Add a line `#| because: …`.",
            )
        elif key != "replace" and because is not None:
            self.refuse(
                because.row,
                "option",
                f"`because` must come with `replace`, got it with {key!r}. Remove the "
                "line.",
            )

    def name(self, option: Option) -> str:
        """Return the canonical name of the chunk or file; refuse what it may not be."""
        of_file = option.key == "file" or (
            option.key == "append" and is_file(option.value)
        )
        fault = file_fault(option.value) if of_file else name_fault(option.value)
        if fault:
            kind = "file" if of_file else "name"
            self.refuse(option.row, kind, fault)
        return option.value

    def lexed(self, first: int, text: str) -> tuple[Lexed, bool]:
        """Return what the body consists of, and whether it is valid Python."""
        try:
            return lex(text, parse(text)), True
        except SyntaxError as error:
            self.refuse_syntax(first, text, error)
            guessed = tuple(_guessed(text.split("\n")))
            return Lexed(guessed, frozenset(), frozenset()), False

    def refuse_syntax(self, first: int, text: str, error: SyntaxError) -> None:
        row = min(max((error.lineno or 1) - 1, 0), text.count("\n"))
        mend = "Mend it, or make the chunk whole statements."
        if isinstance(error, IndentationError) and "expected an ind" in str(error.msg):
            mend = (
                "A suite must hold a statement: write `pass  # <<Name>>` where a "
                "reference is all there is."
            )
        self.refuse(
            first + row,
            "syntax",
            f"a chunk must be valid Python by itself, got: {error.msg}. {mend}",
        )

    def references(self, first: int, lexed: Lexed) -> Iterator[Reference]:
        for comment in lexed.comments:
            match = REFERENCE.fullmatch(comment.text)
            code = comment.before.strip()
            alone = not code or (code == "pass" and comment.before[-1].isspace())
            if match and alone:
                name = canonical(match["name"])
                fault = name_fault(name)
                if fault:
                    self.refuse(first + comment.row, "name", fault)
                    continue
                width = len(comment.before) - len(comment.before.lstrip())
                yield Reference(
                    name=name,
                    location=self.place(first + comment.row),
                    line_index=comment.row,
                    indent=comment.before[:width],
                    holds_pass=bool(code),
                )
            elif match or NEARLY.fullmatch(comment.text):
                self.refuse(
                    first + comment.row,
                    "reference",
                    "a reference must be a line of its own, `# <<Name>>` or `pass  # "
                    f"<<Name>>`, got {self.lines[first + comment.row].strip()!r}. "
                    "Write it so, or write the comment otherwise.",
                )

    def check_places(
        self, first: int, text: str, references: tuple[Reference, ...]
    ) -> None:
        """Refuse references where no statement could stand."""
        lines = text.split("\n")
        for reference in references:
            tried = list(lines)
            tried[reference.line_index] = reference.indent + "pass"
            try:
                parse("\n".join(tried))
            except SyntaxError:
                self.refuse(
                    first + reference.line_index,
                    "reference",
                    "a reference must stand where a statement could, and `pass` in "
                    f"place of <<{reference.name}>> is not valid Python. Move it out "
                    "of the brackets or the statement, or mend its indentation.",
                )

    def check_end(
        self, first: int, last: int, lexed: Lexed, references: tuple[Reference, ...]
    ) -> None:
        """Refuse a chunk that ends with a comment: it would join what comes next."""
        final = lexed.comments[-1] if lexed.comments else None
        if final is None or final.row != last - first - 1 or final.before.strip():
            return
        if not references or references[-1].line_index != final.row:
            self.refuse(
                last - 1,
                "comment",
                "a chunk must end with code or a reference, got a comment. Move the "
                "comment to the chunk that it speaks of.",
            )


def _guessed(lines: list[str]) -> Iterator[Comment]:
    """Yield the comments of text that is not valid Python, as far as one can see."""
    for row, line in enumerate(lines):
        column = line.find("#")
        if column >= 0:
            yield Comment(row, column, line[column:], line[:column])
