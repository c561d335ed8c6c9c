"""What a page is without script, also where the system is dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from looking import DESK, PHONE
from playwright.sync_api import Browser, Page, ViewportSize, expect

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

CHAPTER = "book/stage_01_value_graph.html"
# The contrast of each piece of code with the ground it stands on, and how many colours.
CODE = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((each) =>
      each <= 10.31 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (node) => {
    const [low, high] = [getComputedStyle(node).color, ground(node)]
      .map(light).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const code = [...document.querySelectorAll(".bd-article pre, .bd-article pre span")];
  return {
    lowest: Math.min(...code.map(contrast)),
    colours: new Set(code.map((node) => getComputedStyle(node).color)).size,
  };
}"""


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def plain(
    request: pytest.FixtureRequest, browser: Browser, served: str
) -> Iterator[Callable[[str], Page]]:
    """Opens a page without script on a dark system."""
    size: ViewportSize = request.param
    context = browser.new_context(
        java_script_enabled=False, color_scheme="dark", viewport=size
    )

    def opened(name: str) -> Page:
        page = context.new_page()
        page.goto(served + name)
        return page

    yield opened
    context.close()


def test_code_is_legible_and_has_its_colours(plain: Callable[[str], Page]) -> None:
    seen = plain(CHAPTER).evaluate(CODE)
    assert seen["lowest"] >= 4.5
    assert seen["colours"] >= 4


@pytest.mark.parametrize("name", [CHAPTER, "book/index.html", "search.html"])
def test_nothing_waits_for_a_click_in_vain(
    plain: Callable[[str], Page], name: str
) -> None:
    page = plain(name)
    controls = page.locator("button, input, [role=button]").all()
    assert controls
    assert [c.evaluate("e => e.outerHTML") for c in controls if c.is_visible()] == []


@pytest.mark.parametrize("name", [CHAPTER, "search.html"])
def test_the_contents_of_the_book_are_reached(
    plain: Callable[[str], Page], name: str
) -> None:
    page = plain(name)
    link = page.locator(".bd-docs-nav a[href*='stage_02']")
    expect(link).to_be_visible()
    link.click()
    expect(page).to_have_url(re.compile("stage_02"))


def test_the_page_comes_before_the_contents(plain: Callable[[str], Page]) -> None:
    page = plain(CHAPTER)
    article = page.locator(".bd-article").bounding_box()
    contents = page.locator(".bd-sidebar-primary").bounding_box()
    assert article and contents
    below = contents["y"] >= article["y"] + article["height"]
    beside = contents["x"] + contents["width"] <= article["x"]
    assert below or beside
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)
