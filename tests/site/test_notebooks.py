"""The notebooks that the pages offer: they run, and any Jupyter can show them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient
from support import ROOT

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]


def test_every_chapter_offers_its_notebook(site: Path) -> None:
    for page in sorted((site / "book").glob("stage_*.html")):
        soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        links = [str(tag["href"]) for tag in soup.select("a[href$='.ipynb']")]
        assert links == [f"../_sources/book/{page.stem}.ipynb"]
        assert (page.parent / links[0]).is_file()


CODE = re.compile(r"^( *>? *)(`{3,}).*?^\1\2$|(?<![}`])`[^`\n]+`", re.M | re.S)
MYST = re.compile(
    r"^[ >]*(?::{3,}|`{3,}\{|:[\w-]+:|\([\w-]+\)=)|\{[\w:-]+\}`|\$\$ *\([\w-]+\)"
    r"|\]\((?:#|[^)]*\.md)",
    re.M,
)


def prose(file: Path) -> str:
    """Return the text of a notebook, without its code."""
    cells = nbformat.read(file, as_version=4).cells
    text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
    return CODE.sub(lambda found: "" if found[2] else "x", text)


def test_a_notebook_tells_a_way_to_install_that_there_is(site: Path) -> None:
    """No registry has the package: a clone is installed, with an extra that it has."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"]
    for file in sorted((site / "_sources").rglob("*.ipynb")):
        first = nbformat.read(file, as_version=4).cells[0].source
        found = re.findall(r'`pip install "(.*?)\[(\w+)\]"` in a clone', first)
        assert [(what, extra in extras) for what, extra in found] == [(".", True)]


def test_no_notebook_needs_myst(site: Path) -> None:
    for file in sorted((site / "_sources").rglob("*.ipynb")):
        assert [found[0] for found in MYST.finditer(prose(file))] == [], file.name


def test_a_formula_in_a_quote_has_one_line(site: Path) -> None:
    for file in sorted((site / "_sources").rglob("*.ipynb")):
        lines = [line for line in prose(file).split("\n") if line.startswith(">")]
        assert [line for line in lines if line.count("$$") % 2] == [], file.name


def test_a_notebook_says_what_its_page_says(site: Path) -> None:
    """Numbers of statements, exercises and equations, and values out of cells."""
    for page in sorted((site / "book").glob("stage_*.html")):
        soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        text = prose(site / "_sources" / "book" / f"{page.stem}.ipynb")
        numbered = soup.select(".caption-number")
        for each in numbered:
            kind_and_number = each.get_text().strip()
            if kind_and_number[-1:].isdigit():
                assert f"**{kind_and_number}" in text, (page.name, kind_and_number)
        for each in soup.select(".eqno"):
            number = each.get_text().strip("()#\n ")
            assert f"\\tag{{{number}}}" in text, (page.name, number)
        assert text.count("<details>") == len(soup.select("div.solution"))


def test_every_notebook_runs(site: Path, tmp_path: Path) -> None:
    notebooks = sorted((site / "_sources").rglob("*.ipynb"))
    assert notebooks
    for file in notebooks:
        notebook = nbformat.read(file, as_version=4)
        nbformat.validate(notebook)
        folder = tmp_path / file.stem
        folder.mkdir()
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=120, resources=resources).execute()
