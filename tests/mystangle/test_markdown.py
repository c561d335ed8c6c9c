"""The tangler sees exactly the cells that the page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_book.config import get_final_config
from myst_nb.core.read import MystMetadataParsingError, read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig

from mystangle import SettingsError
from mystangle.markdown import (
    DEFAULT_EXTENSIONS,
    MarkdownReader,
    cells_of,
    fence_of,
    normal,
    parser_config,
    top_level,
)

CONFIG = parser_config(Path("no such file"))
READER = MarkdownReader(CONFIG)

FENCES = [
    "```",
    "````",
    "~~~",
    ":::",
    "  ```",
    "   ~~~",
    "    ```",
    "\t```",
    "> ```",
    "- ```",
]
CELLS = [
    "{code-cell} python",
    "{code-cell}",
    "{code-cell}python",
]
INFOS = [
    *CELLS,
    " {code-cell}",
    "{note}",
    "{raw-cell}",
    "python",
    "{CODE-CELL}",
    "{code-cellular}",
    "",
    "{code-cell} `x`",
]
LINES = [
    "",
    "x = 1",
    ":tags: [a]",
    ":tags: [a",
    "---",
    "---x",
    "tags: a",
    "- item",
    "> quote",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "$$",
    "+++",
    "1. one",
    "    code",
    "\ty",
    "% comment",
    "# Title",
    ": x",
    "  indented",
    "s = 'a\x0cb'",
    "\u2028",
    "s = '\x85'",
    "#| id: a",
]
PARTS = st.one_of(
    st.sampled_from(LINES),
    st.sampled_from(FENCES),
    st.builds(str.__add__, st.sampled_from(FENCES), st.sampled_from(INFOS)),
)
CELL = st.builds(
    lambda fence, info, lines: "\n".join([fence + info, *lines, fence]),
    st.sampled_from(FENCES),
    st.sampled_from(CELLS),
    st.lists(st.sampled_from(LINES), max_size=5),
)
TEXTS = st.builds("\n".join, st.lists(st.one_of(PARTS, CELL), max_size=12))


def notebook_cells(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the code cells as MyST-NB reads them, or None if it refuses the text."""
    config = MdParserConfig(enable_extensions=CONFIG.enable_extensions)
    try:
        notebook = read_myst_markdown_notebook(text, config, path="a.md")
    except (MystMetadataParsingError, yaml.YAMLError):
        return None
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [(cell.source, dict(cell.metadata)) for cell in cells]


@settings(max_examples=200)
@given(TEXTS)
def test_cells_are_those_of_myst_nb(text: str) -> None:
    text = "---\nfile_format: mystnb\n---\n" + text
    found = cells_of(READER.tokens(text))
    expected = notebook_cells(text)
    if expected is None:
        assert any(one.refused for one in found) or "+++" in text or "raw-cell" in text
    else:
        assert not any(one.refused for one in found)
        assert [(one.cell.source, dict(one.cell.options)) for one in found] == expected
        assert [one.cell.index for one in found] == list(range(len(expected)))


@settings(max_examples=200)
@given(TEXTS)
def test_a_cells_lines_are_the_chapters(text: str) -> None:
    lines = normal(text).split("\n")
    for one in cells_of(READER.tokens(text)):
        assert "{code-cell}" in lines[one.cell.line - 1]
        for number, line in enumerate(one.lines, start=one.cell.source_line):
            assert lines[number - 1].lstrip() == line.lstrip()


@settings(max_examples=200)
@given(TEXTS)
def test_a_fence_is_closed_or_runs_to_the_end(text: str) -> None:
    lines = text.split("\n")
    for token in top_level(READER.tokens(text)):
        fence = fence_of(token)
        if fence is not None and token.map is not None:
            last = lines[token.map[1] - 1].strip()
            if fence.closed:
                assert set(last) == set(token.markup) and len(last) >= len(token.markup)
            else:
                assert not "".join(lines[token.map[1] :]).strip()


def final_config(file: Path | None, root: Path) -> dict[str, Any]:
    """Return what Jupyter Book gives Sphinx."""
    command = {"latex_individualpages": False}
    final: dict[str, Any] = get_final_config(
        user_yaml=file, cli_config=command, sourcedir=root
    )[0]
    return final


def test_the_defaults_are_jupyter_books(tmp_path: Path) -> None:
    final = final_config(None, tmp_path)
    assert set(final["myst_enable_extensions"]) == set(DEFAULT_EXTENSIONS)


@pytest.mark.parametrize(
    "config",
    [
        "parse:\n  myst_enable_extensions: [amsmath]\n",
        "sphinx:\n  config:\n    myst_enable_extensions: [deflist]\n",
        "parse:\n  myst_enable_extensions: [amsmath]\n"
        "sphinx:\n  config:\n    myst_enable_extensions: [deflist]\n",
        "parse:\n  myst_url_schemes: [http]\n",
        "sphinx:\n  config:\n    myst_disable_syntax: [table]\n",
    ],
)
def test_the_extensions_are_those_of_jupyter_book(tmp_path: Path, config: str) -> None:
    file = tmp_path / "_config.yml"
    file.write_text(config)
    final = final_config(file, tmp_path)
    found = parser_config(file)
    assert found.enable_extensions == set(final["myst_enable_extensions"])
    disabled = {*final.get("myst_disable_syntax", ()), "inline"}
    assert set(found.disable_syntax) == disabled


@pytest.mark.parametrize(
    "config",
    ["- a list\n", "a: [\n", "parse:\n  myst_enable_extensions: [unknown]\n", "\xff"],
)
def test_a_wrong_config_is_a_settings_error(tmp_path: Path, config: str) -> None:
    file = tmp_path / "_config.yml"
    file.write_bytes(config.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"_config\.yml"):
        parser_config(file)
