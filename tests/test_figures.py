"""Every figure that the book promises stands in an output of a built page."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from support import ROOT

pytestmark = pytest.mark.xdist_group("site")

with open(
    ROOT / "tests" / "data" / "figures.csv", encoding="utf-8", newline=""
) as table:
    FIGURES = list(csv.DictReader(table))


def outputs(page: Path) -> str:
    """Return the text of all output cells of a page, white space folded."""
    soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    cells = soup.select("div.cell_output")
    return " ".join(" ".join(cell.get_text() for cell in cells).split())


def test_every_figure_stands_in_an_output(site: Path) -> None:
    pages = {page.stem: outputs(page) for page in (site / "book").glob("stage_*.html")}
    missing = [
        figure
        for figure in FIGURES
        if not any(
            " ".join(figure["text"].split()) in text
            for stem, text in pages.items()
            if stem.startswith(f"stage_{figure['stage']}_")
        )
    ]
    assert not missing


def test_the_table_covers_every_stage_of_the_book(site: Path) -> None:
    stages = {page.stem[6:8] for page in (site / "book").glob("stage_*.html")}
    assert stages == {figure["stage"] for figure in FIGURES}
