"""Every chapter as a notebook that runs wherever the package is installed.

A chunk is shown, not run: the package has it already.  All other cells are as on the
page; one that is meant to fail says so in the way that Jupyter knows.  The text is
plain Markdown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from sphinx.application import Sphinx

from .readable import Facts, readable

CHUNK = re.compile(r"# ?\| ?(file|id|append|replace):")
HELPERS = re.compile(r"^(?:import figures|from figures import)\b", re.M)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what writes the notebooks and leads the download button to them."""
    # Before the theme makes the button.
    app.connect("html-page-context", offer, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def offer(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Write the notebook of a chapter beside its source, and name it to the theme."""
    source = Path(app.srcdir) / f"{page}.md"
    if app.builder.name != "html" or not source.is_file():
        return
    text = source.read_text("utf-8")
    if "```{code-cell}" not in text or page == app.config.root_doc:
        return
    target = Path(app.outdir) / "_sources" / f"{page}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    config: MdParserConfig = app.env.myst_config  # type: ignore[attr-defined]
    helpers = source.with_name("figures.py")
    notebook = runnable(text, config, helpers, Facts.of(app, page))
    nbformat.write(notebook, target)
    context["ipynb_source"] = f"{page}.ipynb"


def runnable(
    text: str, config: MdParserConfig, helpers: Path, facts: Facts
) -> NotebookNode:
    """Return a chapter's text as a notebook that runs from top to bottom."""
    notebook = read_myst_markdown_notebook(text, config)
    cells = [shown(each, facts) for each in notebook.cells]
    if any(HELPERS.search(cell.source) for cell in cells if cell.cell_type == "code"):
        source = f"%%writefile {helpers.name}\n{helpers.read_text('utf-8')}"
        cells.insert(0, new_code_cell(source))
    cells.insert(
        0,
        new_markdown_cell(
            "*This notebook runs from top to bottom where the package and the book's "
            'tools are installed: `pip install ".[book]"` in a clone of the book. '
            "Chunks of the package are shown as text.*"
        ),
    )
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # equal sources, equal notebook
    notebook.cells = cells
    notebook.nbformat_minor = 5
    return notebook


def shown(cell: NotebookNode, facts: Facts) -> NotebookNode:
    """Return a cell as the notebook has it."""
    if cell.cell_type != "code":
        return new_markdown_cell(readable(cell.source, facts))
    if CHUNK.match(cell.source):
        return new_markdown_cell(f"```python\n{cell.source}\n```")
    meta = cell.metadata
    tags = [*meta.get("tags", ()), *(["raises-exception"] if "raises" in meta else ())]
    return new_code_cell(cell.source, metadata={"tags": tags} if tags else {})
