"""What every page must be as text, without a browser."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from _ext import alts
from bs4 import BeautifulSoup, Tag

pytestmark = pytest.mark.xdist_group("site")


ROW = ".mystangle-row"  # a line of code with a reference that opens


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text("utf-8"), "html.parser")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return where on a page a link may lead."""
    soup = parsed(page)
    named = {str(tag["name"]) for tag in soup.select("a[name]")}
    return frozenset(named | {str(tag["id"]) for tag in soup.select("[id]")})


def broken(page: Path, tag: Tag) -> bool:
    """Return whether a link of `page` leads nowhere on the site."""
    link = urlsplit(str(tag.get("href") or tag.get("src") or ""))
    if link.scheme or link.netloc:
        return False
    target = (page.parent / unquote(link.path)).resolve() if link.path else page
    if not target.is_file():
        return True
    where = unquote(link.fragment)
    return bool(where) and target.suffix == ".html" and where not in anchors(target)


def test_every_link_leads_somewhere(site: Path, pages: list[str]) -> None:
    found = {
        (page, str(tag)[:200])
        for page in pages
        for tag in parsed(site / page).select("[href], [src]")
        if broken(site / page, tag)
    }
    assert found == set()


def test_no_two_elements_of_a_page_share_an_id(site: Path, pages: list[str]) -> None:
    twice = {
        (page, name)
        for page in pages
        for name, times in Counter(
            str(tag["id"]) for tag in parsed(site / page).select("[id]")
        ).items()
        if times > 1
    }
    assert twice == set()


def test_every_picture_is_described_in_words_of_its_own(
    site: Path, pages: list[str]
) -> None:
    """The build refuses any other; here is what came of it, drawn by cells or not."""
    found = [
        (alts.spoken(tag), str(tag.get("src", "")), page)
        for page in pages
        if not page.startswith("tangled/")
        for tag in alts.pictures(parsed(site / page))
        if tag.find_parent(class_="bd-article")
    ]
    assert found
    assert [each for each in found if alts.wrong(*each[:2])] == []
    times = Counter(words for words, _, _ in found)
    assert [each for each in found if times[each[0]] > 1] == []


def test_every_reference_is_a_line_of_its_own(site: Path, pages: list[str]) -> None:
    rows = [row for page in pages for row in parsed(site / page).select(ROW)]
    assert len(rows) > 200
    for row in rows:
        assert len(row.select("button.mystangle-expand")) == 1, row
        assert row.get_text().index("\n") == len(row.get_text()) - 1, row


def test_the_root_says_where_it_leads(site: Path) -> None:
    page = parsed(site / "index.html")
    link = page.select_one("body a[href]")
    assert page.html and page.html["lang"] == "en"
    assert page.title and link and link["href"] == "book/index.html"
    assert page.title.get_text() == link.get_text() == "White-Box GPT"
    assert not (site / "genindex.html").exists()


def test_nothing_in_the_head_blocks_the_page(site: Path, pages: list[str]) -> None:
    blocking = {
        (page, str(tag["src"]))
        for page in pages
        for tag in parsed(site / page).select("head script[src]")
        if not (tag.has_attr("defer") or tag.has_attr("async"))
        and tag.get("type") != "module"
    }
    assert blocking == set()


def test_the_makers_maps_stay_at_home(site: Path) -> None:
    assert [file.name for file in site.rglob("*.map")] == []
    scripts = [
        file for file in site.rglob("*.js") if "sourceMapping" in file.read_text()
    ]
    assert scripts == []
