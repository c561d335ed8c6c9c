"""What every page must be as text, without a browser."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

pytestmark = pytest.mark.xdist_group("site")

FILE_NAME = re.compile(r"[\w./-]+\.\w{2,5}")


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
    where: dict[str, list[str]] = {}
    for page in pages:
        if not page.startswith("tangled/"):
            for tag in parsed(site / page).select(
                ".bd-article :is(img, svg[role=img], g[role=img])"
            ):
                text = str(tag.get("alt") or tag.get("aria-label") or "").strip()
                where.setdefault(text, []).append(page)
    assert where
    assert [t for t in where if len(t) < 10 or FILE_NAME.fullmatch(t)] == []
    assert {text: on for text, on in where.items() if len(on) > 1} == {}


def test_no_picture_is_without_a_role(site: Path, pages: list[str]) -> None:
    """An SVG is a picture, holds pictures, or is hidden from those who listen."""
    silent = [
        (page, str(tag)[:120])
        for page in pages
        for tag in parsed(site / page).select(".bd-article svg")
        if tag.get("role") != "img"
        and tag.get("aria-hidden") != "true"
        and not tag.select("[role=img]")
    ]
    assert found
    assert [each for each in found if alts.wrong(*each[:2])] == []
    times = Counter(words for words, _, _ in found)
    assert [each for each in found if times[each[0]] > 1] == []


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
