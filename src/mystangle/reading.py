"""A chapter's file becomes a Chapter; what the page would drop or alter is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from myst_nb.core.read import (  # type: ignore[import-untyped]
    is_myst_markdown_notebook,
)

from .markdown import (
    Chapter,
    MarkdownReader,
    cells_of,
    normal,
)
from .problems import Location, Problem
from .settings import Settings

# Ends of lines to `str.splitlines`, by which MyST-NB reads, but not to Python.
ALTERED = re.compile("[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
INCLUDED = re.compile(r"\{(\S+)\}")
VERBATIM = {
    "code",
    "code-block",
    "sourcecode",
    "literalinclude",
    "parsed-literal",
    "raw",
    "raw-cell",
    "math",
    "mermaid",
    "eval-rst",
    "toctree",
}
NEARLY_CELL = re.compile(r"\s*\{\s*code[-_ ]?cells?\s*\}.*", re.IGNORECASE)


def read_chapter(
    settings: Settings,
    reader: MarkdownReader,
    number: int,
    docname: str,
    override: str | None = None,
) -> tuple[Chapter, list[Problem]]:
    """Return a chapter and what is wrong with its bytes and its Markdown."""
    path = f"{docname}.md"
    try:
        raw = (
            (settings.root / path).read_bytes().decode("utf-8")
            if override is None
            else override
        )
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return Chapter(number, path, docname, "", ()), [
            Problem(
                Location(path, line),
                f"a chapter must be UTF-8, got byte 0x{error.object[error.start]:02x} "
                f"at offset {error.start}. Save the file as UTF-8.",
                "encoding",
            )
        ]
    text = normal(raw)
    tokens = reader.tokens(text)
    notebook = is_myst_markdown_notebook(text)
    cells, refused = cells_of(tokens) if notebook else ([], [])
    chapter = Chapter(number, path, docname, text, tuple(cells))
    faults = [*_bytes(raw), *((n, "cell", m) for n, m in refused)]
    return chapter, [Problem(Location(path, line), m, kind) for line, kind, m in faults]


def _bytes(raw: str) -> Iterator[tuple[int, str, str]]:
    """Yield what no chapter may hold anywhere."""
    if raw.startswith("\ufeff"):
        yield (
            1,
            "encoding",
            "a chapter must not begin with a byte order mark, got one. Save the file "
            "as UTF-8 without BOM.",
        )
    if "\0" in raw:
        line = normal(raw[: raw.index("\0")]).count("\n") + 1
        yield (line, "encoding", "a chapter must hold no NUL, got one. Remove it.")
