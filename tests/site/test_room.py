"""That all that is written has its room: on a desk, on a phone and on paper."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from looking import DESK, PHONE
from PIL import Image
from playwright.sync_api import Browser, Page, expect

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

CHUNKS = "book/stage_02_chain_rule.html"
PATH = re.compile(r"^[\w.]+(/[\w.]+)+$")
FILE = "tangled/whitebox_gpt/value/stage_03_scalar_primitives.html"
# What lies below the list of contents, though nothing around it scrolls.
COVERED = """all => {
  const list = document.querySelector(".bd-sidebar-secondary");
  const edge = list?.checkVisibility() ? list.getBoundingClientRect().left : Infinity;
  return all.filter(e => {
    let right = e.checkVisibility() ? e.getBoundingClientRect().right : 0;
    for (let up = e.parentElement; up; up = up.parentElement)
      if (/auto|scroll/.test(getComputedStyle(up).overflowX))
        right = Math.min(right, up.getBoundingClientRect().right);
    return right > edge + 1;
  }).map(e => [location.pathname, e.outerHTML.slice(0, 80)]);
}"""
# Formulas that end beyond what hides their end.
CUT = """all => all.filter(e => {
  const right = Math.max(0, ...[...e.getClientRects()].map(box => box.right));
  for (let up = e; up && right; up = up.parentElement) {
    const { overflowX, display } = getComputedStyle(up);
    if (display === "inline" || overflowX === "visible") continue;
    if (/auto|scroll/.test(overflowX)) return false;
    if (right > up.getBoundingClientRect().right + 1) return true;
  }
}).map(e => [location.pathname, e.textContent])"""
GLYPHS = """all => all
  .flatMap(e => ["::before", "::after"].map(p => getComputedStyle(e, p)))
  .filter(s => /Awesome/.test(s.fontFamily) && /^".+"$/.test(s.content))
  .map(s => s.content.slice(1, -1))"""
# Where on the screen the first underscore of an underlined name stands.
UNDERSCORE = """e => {
  const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
  while (walk.nextNode() && !walk.currentNode.data.includes("_"));
  const range = document.createRange();
  const at = walk.currentNode.data.indexOf("_");
  range.setStart(walk.currentNode, at);
  range.setEnd(walk.currentNode, at + 1);
  e.scrollIntoView({ block: "center" });
  const { x, y, width, height } = range.getBoundingClientRect();
  return { x, y, width, height: height + 4 };
}"""
BROKEN = """all => all.flatMap(e => {
  const found = [];
  const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
  let last, line;
  while (walk.nextNode()) for (let i = 0; i < walk.currentNode.data.length; i++) {
    const range = document.createRange();
    range.setStart(walk.currentNode, i);
    range.setEnd(walk.currentNode, i + 1);
    const { y } = range.getBoundingClientRect();
    if (y > line + 5) found.push(last);
    [last, line] = [walk.currentNode.data[i], y];
  }
  return found;
})"""


@pytest.fixture
def page(browser: Browser, served: str) -> Iterator[Page]:
    page = browser.new_page(base_url=served, viewport=PHONE)
    yield page
    page.close()


def written(pages: list[str]) -> list[str]:
    """Return the pages that are read: the chapters and what is beside them."""
    return [name for name in pages if name.startswith("book/")]


@pytest.mark.parametrize("width", [1280, 1440])
def test_the_list_of_contents_covers_nothing(
    page: Page, pages: list[str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    looked, covered = 0, []
    for name in written(pages):
        page.goto(name, wait_until="domcontentloaded")
        parts = page.locator(
            ".bd-article :is(.cell, .cell_output *, pre, table, figure)"
        )
        looked += parts.count()
        covered += parts.evaluate_all(COVERED)
    assert looked > 1000
    assert covered == []


def test_no_formula_is_cut_on_a_phone(page: Page, pages: list[str]) -> None:
    cut = []
    for name in written(pages):
        page.goto(name, wait_until="domcontentloaded")
        cut += page.locator(".bd-article .mathml").evaluate_all(CUT)
        over = page.locator(".bd-article :is(.proof, .solution, .exercise)")
        cut += over.evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.clientWidth)"
        )
    assert cut == []


def test_every_sign_is_in_its_font(page: Page, pages: list[str], site: Path) -> None:
    fonts = [*(site / "_static/vendor/fontawesome").rglob("*.woff2")]
    known = {sign for font in fonts for sign in TTFont(font).getBestCmap() or ()}
    asked: set[str] = set()
    for name in [*written(pages), "search.html", FILE]:
        page.goto(name, wait_until="domcontentloaded")
        asked.update(page.locator("body *").evaluate_all(GLYPHS))
    assert len(asked) > 5
    assert {sign for sign in asked if ord(sign) not in known} == set()


def test_no_sign_stands_on_the_title_of_a_note(page: Page, pages: list[str]) -> None:
    content = "all => all.map(e => getComputedStyle(e, '::after').content)"
    found: list[str] = []
    for name in written(pages):
        page.goto(name, wait_until="domcontentloaded")
        found += page.locator(".bd-article .admonition-title").evaluate_all(content)
    assert len(found) > 50
    assert {*found} == {"none"}


@pytest.mark.parametrize("name", [CHUNKS, "book/command_line.html", "book/errors.html"])
def test_an_underline_is_below_the_underscores(
    browser: Browser, served: str, name: str
) -> None:
    page = browser.new_page(base_url=served, viewport=DESK, device_scale_factor=4)
    page.goto(name)
    links = page.locator(".bd-article a:has(code)", has_text="_").all()
    lined = "e => getComputedStyle(e).textDecorationLine.includes('underline')"
    names = [link for link in links if link.is_visible() and link.evaluate(lined)]
    assert names
    for link in names[:3]:
        picture = page.screenshot(clip=link.evaluate(UNDERSCORE))
        shown = Image.open(io.BytesIO(picture)).convert("L")
        column = [shown.getpixel((shown.width // 2, y)) for y in range(shown.height)]
        inked = [abs(grey - column[0]) > 40 for grey in column]  # type: ignore[operator]
        lines = sum(now and not before for before, now in pairwise(inked))
        assert lines == 2, link.text_content()
    page.close()


def test_a_table_of_sentences_is_a_list_on_a_phone(
    page: Page, pages: list[str]
) -> None:
    found = 0
    for name in written(pages):
        page.goto(name, wait_until="domcontentloaded")
        for table in page.locator(".bd-article table.stacked").all():
            found += 1
            cells = table.locator("td:visible")
            lefts = "all => [...new Set(all.map(e => e.getBoundingClientRect().x))]"
            assert len(cells.evaluate_all(lefts)) == 1, name
            assert table.evaluate(
                "e => e.scrollWidth <= e.parentElement.clientWidth"
            ), name
            label = "e => getComputedStyle(e, '::before').content"
            assert len(cells.nth(1).evaluate(label)) > len('"": '), name
    assert found > 15


def test_a_path_breaks_at_a_joint(page: Page, pages: list[str]) -> None:
    before: set[str] = set()
    for name in [*written(pages), FILE]:
        page.goto(name, wait_until="domcontentloaded")
        paths = page.locator(".bd-article code", has_text=PATH)
        before.update(paths.evaluate_all(BROKEN))
    assert before
    assert before <= {*"/_"}


def test_paper_has_the_title_once_and_all_code(page: Page) -> None:
    page.goto("book/stage_06_stable_softmax.html")
    title = page.locator(".bd-article h1")
    on_screen = title.inner_text()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("h1:visible")).to_have_count(1)
    assert title.inner_text() == on_screen
    folds = page.locator(".cell details.above-input")
    assert folds.count() > 0
    expect(folds.locator("pre:visible")).to_have_count(folds.count())
    expect(page.locator(".cell details > summary:visible")).to_have_count(0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".cell details[open]")).to_have_count(0)
