"""A reader is told where to report an error, with and without a public address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _ext.report import where
from bs4 import BeautifulSoup
from support import ROOT

TRACKER = "https://example.org/book/issues"


@pytest.mark.parametrize(
    ("table", "address"),
    [
        ("[tool]", ""),
        ("[project.urls]\nHomepage = 'https://example.org'", ""),
        (f"[project.urls]\nIssues = '{TRACKER}'", TRACKER),
    ],
)
def test_the_address_is_that_of_the_project(
    tmp_path: Path, table: str, address: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    said = where(tmp_path)
    assert (f"({TRACKER})" in said) == bool(address)
    assert ("git remote -v" in said) != bool(address)


@pytest.mark.xdist_group("site")
def test_every_page_leads_to_where_a_report_can_go(
    site: Path, pages: list[str]
) -> None:
    errata = BeautifulSoup(
        (site / "book/errata.html").read_text("utf-8"), "html.parser"
    )
    said = " ".join(errata.get_text().split())
    links = {str(link["href"]) for link in errata.select("a[href]")}
    promised = re.findall(r"\]\((.*?)\)|`(.*?)`", where(ROOT))
    assert promised
    for address, command in promised:
        assert address in links if address else command in said
    for page in pages:
        text = (site / page).read_text("utf-8")
        assert "errata.html#where-to-report" in text, page
