"""The notebooks that the pages offer run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]


def test_every_chapter_offers_its_notebook(site: Path) -> None:
    for page in sorted((site / "book").glob("stage_*.html")):
        soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        links = [str(tag["href"]) for tag in soup.select("a[href$='.ipynb']")]
        assert links == [f"../_sources/book/{page.stem}.ipynb"]
        assert (page.parent / links[0]).is_file()


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
