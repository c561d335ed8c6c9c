"""What every page must be in a browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from looking import Seen
from playwright.sync_api import Browser, expect

from mystangle import Book

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

HEAVIEST = 1_000_000  # bytes of a chapter, nothing compressed, nothing cached
LONGEST = 200_000  # bytes of a script
# The index that the search page reads is data, and grows with the book.
DATA = "searchindex.js"


def test_no_page_asks_another_host(visits: dict[str, Seen], served: str) -> None:
    own = (served, "data:", "blob:")
    asked = {(page, url) for page, seen in visits.items() for url in seen.asked}
    assert {each for each in asked if not each[1].startswith(own)} == set()


def test_every_request_is_answered(visits: dict[str, Seen]) -> None:
    assert {page: seen.refused for page, seen in visits.items() if seen.refused} == {}


def test_no_page_has_an_error(visits: dict[str, Seen]) -> None:
    assert {page: seen.errors for page, seen in visits.items() if seen.errors} == {}


def test_axe_finds_nothing_serious(visits: dict[str, Seen]) -> None:
    assert [found for seen in visits.values() for found in seen.axe] == []


def test_the_dark_theme_follows_the_system(browser: Browser, served: str) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(served + "book/index.html")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.close()


def test_a_phone_need_not_scroll_sideways(visits: dict[str, Seen]) -> None:
    assert {page: seen.too_wide for page, seen in visits.items() if seen.too_wide} == {}


def test_mathematics_has_its_font(visits: dict[str, Seen]) -> None:
    assert [page for page, seen in visits.items() if not seen.maths] == []


def test_a_page_is_light(visits: dict[str, Seen]) -> None:
    weights = {page: seen.weight for page, seen in visits.items()}
    for page, weight in weights.items():
        print(f"{weight / 1000:8.0f} kB  {page}")  # pytest -rP shows them
    assert {page for page, weight in weights.items() if weight > HEAVIEST} == set()


def test_no_script_is_long(visits: dict[str, Seen]) -> None:
    long = {
        address: size
        for seen in visits.values()
        for address, size in seen.sizes.items()
        if address.split("?")[0].endswith((".js", ".mjs")) and size > LONGEST
    }
    assert {address for address in long if DATA not in address} == set()


def test_search_finds_a_chunk(browser: Browser, served: str, book: Book) -> None:
    chunk = next(each for each in reversed(book.pieces) if each.key == "id")
    page = browser.new_page()
    page.goto(f"{served}search.html?q={quote(chunk.name)}")
    hits = page.locator(f"#search-results li a[href*='{chunk.chapter.docname}']")
    expect(hits.first).to_be_visible(timeout=10_000)
    page.close()


@pytest.mark.parametrize("page", ["index.html", "book/stage_01_value_graph.html"])
def test_a_page_works_from_the_disk(browser: Browser, site: Path, page: str) -> None:
    tab = browser.new_page()
    asked: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("requestfailed", lambda request: errors.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((site / page).as_uri(), wait_until="load")
    expect(tab.locator("article h1")).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    tab.close()
