"""What a reader's eye and finger need: signs of more, buttons in reach, one's place."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from looking import DESK, PHONE
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from mystangle import Book

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

LONG = "book/stage_03_scalar_primitives.html"
NUMBERS = "book/stage_01_value_graph.html"  # in a table
CHUNKS = "book/stage_02_chain_rule.html"
FILE = "tangled/whitebox_gpt/value/stage_03_scalar_primitives.html"
KINDS = ("pre", ".mathml-scroll", ".pst-scrollable-table-container", ".text_html")
# A turn of the page's clock, in which scripts that wait for a frame have run.
FRAME = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
OUT_OF_REACH = """all => all.filter(e => {
  const box = e.getBoundingClientRect();
  const view = e.closest("pre").getBoundingClientRect();
  return e.checkVisibility() && (box.left < view.left || box.right > view.right);
}).map(e => e.ariaLabel)"""


@pytest.fixture
def page(browser: Browser, served: str) -> Iterator[Page]:
    page = browser.new_page(base_url=served, viewport=PHONE)
    yield page
    page.close()


def foot(element: Locator) -> list[tuple[int, ...]]:
    """Return the colours at the left, middle and right of an element's last line."""
    picture = Image.open(io.BytesIO(element.screenshot())).convert("RGB")
    xs = (2, picture.width // 2, picture.width - 3)
    found = [picture.getpixel((x, picture.height - 3)) for x in xs]
    return [each for each in found if isinstance(each, tuple)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_scrolls_sideways_says_so_and_nothing_else_does(
    page: Page, theme: str
) -> None:
    looked: Counter[tuple[str, bool]] = Counter()
    for name, kind in product((LONG, NUMBERS), KINDS):
        if not page.url.endswith(name):
            page.goto(name)
            page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for element in page.locator(f".bd-article {kind}").all():
            more = element.evaluate("e => e.scrollWidth - e.clientWidth") > 40
            if looked[kind, more] == 2 or not element.is_visible():
                continue
            looked[kind, more] += 1
            for end in (False, True):
                element.evaluate("(e, x) => e.scrollTo(x, 0)", 10_000 * end)
                left, middle, right = foot(element)
                signs = (left != middle, right != middle)
                assert signs == (more and end, more and not end), (kind, more, end)
    assert {kind for kind, more in looked if more} == {*KINDS}
    assert ("pre", False) in looked


def test_the_button_of_a_reference_is_in_reach_on_a_phone(page: Page) -> None:
    page.goto(CHUNKS)
    buttons = page.locator("button.mystangle-expand")
    assert buttons.count() > 10
    assert buttons.evaluate_all(OUT_OF_REACH) == []
    before = buttons.count()
    buttons.evaluate_all("all => all.forEach(e => e.click())")
    assert buttons.count() > before  # what was opened refers to more
    assert buttons.evaluate_all(OUT_OF_REACH) == []


def test_code_that_wraps_is_copied_by_hand_as_it_was_written(
    page: Page, book: Book
) -> None:
    page.goto(CHUNKS)
    name = "Sum the gradient of every path"
    caption = page.locator(".mystangle-name", has_text=name)
    code = page.locator("figure.mystangle-chunk").filter(has=caption).locator("pre")
    row = code.first.locator(".mystangle-row").first
    assert row.evaluate("e => e.getClientRects()[0].height") > 25  # two lines
    copied = code.first.evaluate(
        "e => { getSelection().selectAllChildren(e); return `${getSelection()}`; }"
    )
    piece = next(each for each in book.pieces if each.name == name)
    assert copied.rstrip("\n") == "\n".join(piece.body)


def marked(page: Page) -> str:
    """Return the section that the list of contents marks; it must be in view."""
    page.evaluate(FRAME)
    found = page.locator("#page-contents a[aria-current]")
    expect(found).to_have_count(1)
    expect(found).to_be_in_viewport(ratio=1)
    return found.get_attribute("href") or ""


def test_the_list_of_contents_follows_the_reader_to_the_end(page: Page) -> None:
    page.set_viewport_size(DESK)
    page.goto(LONG)
    links = page.locator("#page-contents a")
    sections = [link.get_attribute("href") or "" for link in links.all()]
    assert len(sections) > 20
    scroll = "([id]) => document.querySelector(id).scrollIntoView()"
    for section in [*sections[:-2], *sections[-3::-1]]:  # down, and up again
        page.evaluate(scroll, [section])
        assert marked(page) == section
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    assert marked(page) == sections[-1]
    for section in sections[-3:]:
        page.evaluate("scrollTo(0, 0)")
        page.locator(f"#page-contents a[href='{section}']").click()
        assert marked(page) == section


def test_the_list_of_a_phone_opens_at_the_reader_s_place(page: Page) -> None:
    page.goto(LONG)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.evaluate(FRAME)
    page.locator(".secondary-toggle").click()
    expect(page.locator("dialog[open] #page-contents")).to_be_visible()
    assert marked(page) == page.locator("#page-contents a").last.get_attribute("href")


def test_every_section_of_a_short_page_has_its_turn(page: Page) -> None:
    page.set_viewport_size(DESK)
    page.goto("book/errata.html")
    links = page.locator("#page-contents a")
    sections = [link.get_attribute("href") or "" for link in links.all()]
    seen: list[str] = []
    for y in range(0, page.evaluate("document.documentElement.scrollHeight"), 20):
        page.evaluate("y => scrollTo(0, y)", y)
        page.evaluate(FRAME)
        current = page.locator("#page-contents a[aria-current]")
        seen += [current.get_attribute("href") or ""] if current.count() else []
    assert list(dict.fromkeys(seen)) == sections


@pytest.mark.parametrize("view", [DESK, PHONE])
def test_all_lines_of_a_file_are_shaded_to_their_common_end(
    page: Page, view: dict[str, int]
) -> None:
    page.set_viewport_size({"width": view["width"], "height": view["height"]})
    page.goto(FILE)
    code = page.locator(".mystangle-state pre")
    lines = code.locator(".mystangle-line")
    widths = set(lines.evaluate_all("all => all.map(e => e.offsetWidth)"))
    assert widths == {code.evaluate("e => e.scrollWidth")}
    room = """all => Math.min(...all.map(e => {
      const text = document.createRange();
      text.selectNodeContents(e);
      return e.getBoundingClientRect().right - text.getBoundingClientRect().right;
    }))"""
    assert lines.evaluate_all(room) >= 8


def test_no_heading_is_cut_on_a_phone(page: Page, pages: list[str]) -> None:
    cut: list[tuple[str, str]] = []
    for name in pages:
        if name.startswith("book/"):
            page.goto(name, wait_until="domcontentloaded")
            cut += page.locator("main :is(h1, h2, h3, h4)").evaluate_all(
                """(all, name) => all
                  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth)
                  .map(e => [name, e.textContent])""",
                name,
            )
    assert cut == []


@pytest.mark.parametrize("view", [DESK, PHONE])
def test_nothing_hides_where_a_link_leads(page: Page, view: dict[str, int]) -> None:
    page.set_viewport_size({"width": view["width"], "height": view["height"]})
    for anchor in (
        "#measuring-a-slope",
        "#chunk--choose-a-step-that-grows-with-the-input",
    ):
        page.goto(LONG + anchor)
        bar = page.locator(".bd-header-article").bounding_box()
        target = page.locator(f"[id='{anchor[1:]}']")
        heading = target.locator("h2, figcaption").first.bounding_box()
        assert bar and heading
        assert bar["y"] + bar["height"] <= heading["y"] < bar["height"] + 100


def test_a_search_leaves_a_way_to_hide_what_it_found_only_if_it_did(
    page: Page,
) -> None:
    page.goto("book/index.html?highlight=value")
    way = page.locator(".highlight-link a")
    expect(page.locator("span.highlighted").first).to_be_visible()
    way.click()
    expect(page.locator(".highlighted:visible")).to_have_count(0)
    page.goto("book/index.html?highlight=zzzz")
    expect(way).to_have_count(1)
    expect(way).to_be_hidden()


def test_the_keyboard_s_place_is_always_seen(page: Page) -> None:
    page.set_viewport_size(DESK)
    page.goto(CHUNKS)
    ring = """e => [e.className, e.checkVisibility({opacityProperty: true}),
      getComputedStyle(e).outlineStyle + getComputedStyle(e).boxShadow]"""
    page.emulate_media(reduced_motion="reduce")
    names = set()
    for _ in range(90):
        page.keyboard.press("Tab")
        name, visible, style = page.locator(":focus").evaluate(ring)
        assert visible and style != "nonenone", name
        names.add(name.split(" ")[0])
    assert {"btn", "sidebar-toggle", "copybtn", "mathml-scroll"} <= names


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_paper_is_light(page: Page, theme: str) -> None:
    page.goto(CHUNKS)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.evaluate(
        """addEventListener("beforeprint", () => {
          window.ink = getComputedStyle(document.querySelector("article p")).color;
        })"""
    )
    page.pdf(page_ranges="1")
    red, green, blue = re.findall(r"\d+", page.evaluate("ink"))[:3]
    assert max(int(red), int(green), int(blue)) < 128  # dark ink
    assert page.evaluate("document.documentElement.dataset.theme") == theme


def test_who_wants_no_motion_gets_none(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(LONG)
    moving = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
          .flatMap(e => [null, "::before", "::after"].map(p => getComputedStyle(e, p)))
          .filter(s => s.animationName !== "none" || s.transitionDuration !== "0s")
          .length"""
    )
    assert moving == 0
