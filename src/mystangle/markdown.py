"""Chapters and their code cells, read with the very parser that makes the page.

MyST-NB turns a chapter into a notebook with MyST-Parser's markdown-it set-up: every
top-level fence whose info string begins with `{code-cell}` becomes a cell.  The same
is done here, and the chapter line of every line of a cell is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import yaml  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import parse_directive_text
from myst_parser.parsers.mdit import create_md_parser

from .problems import SettingsError
from .settings import inner_table

CODE_CELL = "{code-cell}"
# What Jupyter Book enables when `_config.yml` is silent.
DEFAULT_EXTENSIONS = (
    "colon_fence",
    "dollarmath",
    "linkify",
    "substitution",
    "tasklist",
)


@dataclass(frozen=True)
class Cell:
    """A code cell of a chapter.

    `index` counts the notebook's code cells from 0, as MyST-NB does.  `line` is that
    of the opening fence.  `source` is what MyST-NB sees; its first line is the
    chapter's line `source_line`, the others follow one by one.  `options` are the
    cell's metadata.
    """

    index: int
    line: int
    source: str
    source_line: int
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Chapter:
    """A file of the book; `number` counts from 1 in the order of `_toc.yml`."""

    number: int
    path: str
    docname: str
    text: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Fence:
    """A block that holds text for itself: a fence, a `:::` block, a comment."""

    info: str
    line: int
    content: str
    closed: bool
    colon: bool


def normal(text: str) -> str:
    """Return `text` with the line ends that markdown-it makes of it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class MarkdownReader:
    """Reads chapters with the Markdown extensions of one book."""

    def __init__(self, config: MdParserConfig) -> None:
        self._parser: MarkdownIt = create_md_parser(config, RendererHTML)

    @classmethod
    def of(cls, config_file: Path) -> MarkdownReader:
        """Return the reader for a book's `_config.yml` (which may be absent)."""
        return cls(parser_config(config_file))

    def tokens(self, text: str) -> list[Token]:
        """Return the block tokens of a whole document."""
        # MyST-NB adds the same line end before it parses.
        return self._parser.parse(text + "\n")


def parser_config(config_file: Path) -> MdParserConfig:
    """Return the block-level settings that Jupyter Book takes from `_config.yml`.

    Errors: SettingsError if the file is not YAML or a setting has the wrong type.
    """
    book, name = _yaml_mapping(config_file), config_file.name
    parse = inner_table(name, book, "parse")
    sphinx = inner_table(name, inner_table(name, book, "sphinx"), "config")
    settings = {"myst_enable_extensions": DEFAULT_EXTENSIONS, **parse, **sphinx}
    keys = {f"myst_{item.name}": item.name for item in fields(MdParserConfig)}
    known = {keys[key]: value for key, value in settings.items() if key in keys}
    try:
        known["enable_extensions"] = set(known["enable_extensions"] or ())
        known["disable_syntax"] = [*known.get("disable_syntax", ()), "inline"]
        return MdParserConfig(**known)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{name}: {error}.") from None


def _yaml_mapping(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise SettingsError(f"{path.name}: must be YAML, got: {error}.") from None
    if not isinstance(data, dict | None):
        raise SettingsError(f"{path.name}: must be a mapping of settings.")
    return data or {}


class _CellDirective:
    """What MyST-NB tells MyST-Parser about a cell: any options, then the body."""

    option_spec: ClassVar = {"options": True}
    required_arguments = 0
    optional_arguments = 1
    has_content = True


@dataclass(frozen=True)
class Found:
    """A cell as found in a chapter.

    `lines` are its lines as they are written, which MyST-NB may show otherwise.
    `refused` is why MyST-NB cannot read the cell, or None.  `language` is what its
    fence says, maybe nothing.
    """

    cell: Cell
    lines: list[str]
    refused: str | None
    language: str


def cells_of(tokens: Sequence[Token]) -> list[Found]:
    """Return the code cells of a document, in order."""
    found: list[Found] = []
    for token in top_level(tokens):
        if is_cell(token):
            line = first_line(token)
            body, options, refused = _cell_body(token.content)
            offset = len(token.content.splitlines()) - len(body)
            source = "\n".join(body)
            cell = Cell(len(found), line, source, line + 1 + offset, options)
            lines = token.content.split("\n")[offset:-1]
            language = token.info.removeprefix(CODE_CELL).strip()
            found.append(Found(cell, lines, refused, language))
    return found


def _cell_body(content: str) -> tuple[list[str], dict[str, Any], str | None]:
    """Return a cell's lines, its metadata, and why MyST-NB cannot read it, or None."""
    try:
        result = parse_directive_text(
            directive_class=_CellDirective,
            first_line="",
            content=content,
            validate_options=False,
        )
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        lines = content.splitlines()
        start = next((i for i, text in enumerate(lines) if text[:1] == "#"), len(lines))
        return lines[start:], {}, str(getattr(error, "problem", error))
    warning = next(iter(result.warnings), None)
    fault = None if warning is None else str(getattr(warning, "msg", warning))
    return list(result.body), dict(result.options), fault


def top_level(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens at which MyST-NB looks: those outside every container."""
    depth = 0
    found = []
    for token in tokens:
        depth += token.nesting
        if depth == 0:
            found.append(token)
    return found


def is_cell(token: Token) -> bool:
    """Return whether a token at the top level is a code cell to MyST-NB."""
    return token.type == "fence" and token.info.startswith(CODE_CELL)


def first_line(token: Token) -> int:
    """Return the line, from 1, on which a block begins."""
    return token.map[0] + 1 if token.map else 1


def fence_of(token: Token) -> Fence | None:
    """Return the fence or `:::` block that a token stands for, if it does."""
    if token.type not in ("fence", "colon_fence") or token.map is None:
        return None
    begin, end = token.map
    inner = token.content.count("\n")
    closed = end - begin == inner + 2
    colon = token.type == "colon_fence"
    return Fence(token.info, begin + 1, token.content, closed, colon)
