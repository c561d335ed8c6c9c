"""A chapter's file becomes a Chapter; bytes that no chapter may hold are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from myst_nb.core.read import (  # type: ignore[import-untyped]
    is_myst_markdown_notebook,
)

from .markdown import Cell, Chapter, Found, MarkdownReader, cells_of, normal
from .options import options_of
from .problems import Location, Problem
from .settings import Settings
from .strays import Fault, strays

BOM = "\ufeff"
# Ends of lines to `str.splitlines`, by which MyST-NB reads a cell, but not to Python.
ENDS = re.compile("[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
PYTHON = ("", "python", "python3", "ipython", "ipython3")
LONE_RETURN = re.compile(r"\r(?!\n)")


def read_chapter(
    settings: Settings,
    reader: MarkdownReader,
    number: int,
    docname: str,
    override: str | None = None,
) -> tuple[Chapter, list[Problem]]:
    """Return a chapter and what is wrong with its bytes and its Markdown."""
    path = f"{docname}.md"
    file = settings.root / path
    try:
        raw = file.read_bytes().decode("utf-8") if override is None else override
    except (OSError, UnicodeDecodeError) as error:
        fault = _unreadable(error)
        return Chapter(number, path, docname, "", ()), [_problem(path, fault)]
    text = normal(raw.removeprefix(BOM)).replace("\0", "\ufffd")
    tokens = reader.tokens(text)
    notebook = _is_notebook(text)
    found = cells_of(tokens)
    faults = [*_bytes(raw), *_cells(raw, text, found)]
    faults += _line_ends(text) if notebook else ()
    faults += strays(reader, tokens, notebook, file.parent)
    cells = tuple(_as_written(one) for one in found) if notebook else ()
    chapter = Chapter(number, path, docname, text, cells)
    return chapter, [_problem(path, fault) for fault in faults]


def _is_notebook(text: str) -> bool:
    try:
        return bool(is_myst_markdown_notebook(text))
    except AttributeError:  # MyST-NB looks into front matter of the wrong shape
        return False


def _problem(path: str, fault: Fault) -> Problem:
    line, kind, message = fault
    return Problem(Location(path, line), message, kind)


def _unreadable(error: OSError | UnicodeDecodeError) -> Fault:
    if isinstance(error, OSError):
        return (
            1,
            "encoding",
            f"a chapter must be readable, got: {error.strerror}. Mend its permissions.",
        )
    line = error.object[: error.start].count(b"\n") + 1
    return (
        line,
        "encoding",
        f"a chapter must be UTF-8, got byte 0x{error.object[error.start]:02x} at "
        f"offset {error.start}. Save the file as UTF-8.",
    )


def _bytes(raw: str) -> Iterator[Fault]:
    """Yield what no chapter may hold anywhere."""
    if raw.startswith(BOM):
        yield (
            1,
            "encoding",
            "a chapter must not begin with a byte order mark, got one. Save the file "
            "as UTF-8 without BOM.",
        )
    for index, line in enumerate(normal(raw).split("\n"), start=1):
        if "\0" in line:
            yield (
                index,
                "encoding",
                "a chapter must hold no NUL, got one: the page would show another "
                "character. Remove it.",
            )


def _line_ends(text: str) -> Iterator[Fault]:
    """Yield the characters after which MyST-NB would lose count of the lines.

    It cuts the chapter with `str.splitlines` at places that markdown-it counted, so
    the whole page would be shifted from there on.
    """
    for row, line in enumerate(text.split("\n"), start=1):
        end = ENDS.search(line)
        if end:
            yield (
                row,
                "altered",
                "a chapter must hold no character that MyST-NB alone takes for the end "
                f"of a line, got U+{ord(end[0]):04X}. Write it as an escape, or remove "
                "it.",
            )


def _cells(raw: str, text: str, found: list[Found]) -> Iterator[Fault]:
    """Yield what is wrong with cells that MyST-NB finds but does not read alike."""
    returns = _lone_returns(raw)
    for one in found:
        if one.refused:
            yield (
                one.cell.line,
                "cell",
                f"a cell's options must be YAML that MyST-NB can read, got: "
                f"{one.refused}. Mend the lines below the fence.",
            )
        if _is_chunk(one):
            yield from _not_a_chunk(one)
            yield from _altered(one, text, returns)


def _lone_returns(raw: str) -> set[int]:
    """Return the lines that end with a carriage return without a line feed."""
    places = (match.start() for match in LONE_RETURN.finditer(raw))
    return {normal(raw[:place]).count("\n") + 1 for place in places}


def _is_chunk(found: Found) -> bool:
    return bool(options_of(found.cell.source).count)


def _not_a_chunk(found: Found) -> Iterator[Fault]:
    """Yield what a cell says of itself that is not true of a chunk."""
    line = found.cell.line
    if found.language.strip("`").casefold() not in PYTHON:
        yield (
            line,
            "cell",
            "a chunk must be Python, got a cell whose fence says "
            f"{found.language!r}. Write `{{code-cell}} python`, or remove the options.",
        )
    if "raises" in found.cell.options:
        yield (
            line,
            "cell",
            "a chunk is shown and not run, so it must not have `:raises:`, got one. "
            "Let a cell that uses the chunk raise the error.",
        )


def _altered(found: Found, text: str, returns: set[int]) -> Iterator[Fault]:
    """Yield where the page would show another text than the chunk that is tangled."""
    cell = found.cell
    if "load" in cell.options:
        yield (
            cell.line,
            "altered",
            "a chunk must be written in the chapter, got `:load:`, which would show "
            "another text. Remove the option.",
        )
    rows = range(cell.source_line, cell.source_line + len(found.lines))
    for row in sorted(returns.intersection(rows)):
        yield (
            row,
            "altered",
            "a chunk must hold no lone carriage return, which the page would show as "
            "the end of a line, got one. Write it as an escape.",
        )
    if not any(map(ENDS.search, found.lines)) and not _same(found, text):
        yield (
            cell.line,
            "altered",
            "a chunk must read the same on the page as in the chapter, and MyST-NB "
            "reads this cell differently. Begin the fence at the left edge, and end "
            "an option block with `---` alone.",
        )


def _same(found: Found, text: str) -> bool:
    """Return whether the page shows the chapter's lines, but for a fence's indent."""
    if "\n".join(found.lines) != found.cell.source:
        return False
    first = found.cell.source_line - 1
    written = text.split("\n")[first : first + len(found.lines)]
    return all(
        line.endswith(shown) and not line[: len(line) - len(shown)].strip(" ")
        for line, shown in zip(written, found.lines, strict=True)
    )


def _as_written(found: Found) -> Cell:
    """Return a cell; a chunk that was refused as altered, with its lines as written.

    So that no other mistake is reported than the one that it has.
    """
    if _is_chunk(found):
        return replace(found.cell, source="\n".join(found.lines))
    return found.cell
