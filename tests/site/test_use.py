"""What a reader does in a browser: open chunks, copy, step, print, search."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from looking import DESK, PHONE
from playwright.sync_api import Browser, Locator, Page, expect

from mystangle import Book
from mystangle.language import Piece

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

CHAPTER = "book/stage_01_value_graph"
# One that holds a reference, and the chunk that this leads to.
OUTER, INNER = "Draw every edge, then every box", "Wrap the parts into one picture"
STEPPED = "book/stage_02_chain_rule.html"
FRONT = "book/index.html"
PAPER = 700  # pixels that an A4 page holds between its margins


@pytest.fixture
def page(browser: Browser, served: str) -> Iterator[Page]:
    context = browser.new_context(base_url=served)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def piece(book: Book, name: str) -> Piece:
    """Return the first piece of a chunk."""
    return next(each for each in book.pieces if each.name == name)


def chunk(page: Page, name: str) -> Locator:
    """Return the figure of a chunk."""
    caption = page.locator(".mystangle-name", has_text=name)
    return page.locator("figure.mystangle-chunk").filter(has=caption).first


def code(book: Book, name: str) -> str:
    return "\n".join(piece(book, name).body)


@pytest.mark.parametrize("key", [None, "Enter", "Space"])
def test_a_reference_opens_in_place_and_closes(
    page: Page, book: Book, key: str | None
) -> None:
    page.goto(f"{CHAPTER}.html")
    figure = chunk(page, OUTER)
    button = figure.locator("button.mystangle-expand").first
    inset = figure.locator(".mystangle-inset")

    def use() -> None:
        if key is None:
            button.click()
        else:
            button.focus()
            button.press(key)

    expect(inset).to_have_count(0)
    use()
    expect(inset).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert (inset.text_content() or "").strip("\n") == code(book, INNER)
    use()
    expect(inset).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("opened", [False, True])
def test_copied_is_the_chunk_s_own_code(page: Page, book: Book, opened: bool) -> None:
    page.goto(f"{CHAPTER}.html")
    figure = chunk(page, OUTER)
    if opened:
        figure.locator("button.mystangle-expand").first.click()
        expect(figure.locator(".mystangle-inset")).to_be_visible()
    figure.hover()
    figure.locator("button.copybtn").click()
    expect(figure.locator("button.copybtn")).to_have_class(
        "copybtn o-tooltip--left success"
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.rstrip("\n") == code(book, OUTER)


def shown(picture: Locator, kind: str) -> int:
    """Return how many elements of a picture are seen."""
    seen = "all => all.filter(e => e.checkVisibility({visibilityProperty: true}))"
    return int(picture.locator(kind).evaluate_all(f"{seen}.length"))


def test_a_graph_is_stepped_through_by_keyboard_and_moves_nothing(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(STEPPED)
    picture, row = page.locator("svg.graph").first, page.locator(".graph-steps").first
    forward, said = row.get_by_role("button", name="Step forward"), row.locator("p")
    nodes, edges, lines = "g[data-step]", "path[data-step]", "g[data-step] text"
    assert [shown(picture, kind) for kind in (nodes, edges, lines)] == [5, 4, 15]
    expect(said).to_have_text("the whole graph: 10 steps")
    height = page.evaluate("document.documentElement.scrollHeight")
    expected = [
        ("forward, x = 2", 1, 0, 0),
        ("forward, y = -3", 2, 0, 0),
        ("forward, product = -6", 3, 2, 0),
        ("forward, bias = 10", 4, 2, 0),
        ("forward, z = 4", 5, 4, 0),
        ("backward, gradient of z = 1", 5, 4, 1),
        ("backward, gradient of bias = 1 · 1 = 1", 5, 4, 2),
        ("backward, gradient of product = 1 · 1 = 1", 5, 4, 3),
        ("backward, gradient of y = 2 · 1 = 2", 5, 4, 4),
        ("backward, gradient of x = (-3) · 1 = -3", 5, 4, 5),
    ]
    forward.focus()
    for step, (text, boxes, arrows, gradients) in enumerate(expected, 1):
        page.keyboard.press("Enter")
        expect(said).to_have_text(f"step {step} of 10: {text}")
        seen = [shown(picture, kind) for kind in (nodes, edges, lines)]
        assert seen == [boxes, arrows, 2 * boxes + gradients]
        assert page.evaluate("document.documentElement.scrollHeight") == height
        expect(picture.locator(".graph-now")).to_have_count(1)
        box, view = picture.locator(".graph-now > rect").bounding_box(), PHONE["width"]
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= view
    page.keyboard.press("Enter")
    expect(said).to_have_text("the whole graph: 10 steps")
    assert shown(picture, lines) == 15


def test_a_gradient_is_told_as_the_sum_that_it_is(page: Page) -> None:
    page.goto(FRONT)
    row = page.locator(".graph-steps")
    row.get_by_role("button", name="Last step").click()
    said = "gradient of x = 1 · (-0.295562) + 7.39 · 0.2 ≈ 1.18225"
    expect(row.locator("p")).to_have_text(f"step 10 of 10: backward, {said}")
    # A leaf keeps what earlier passes gave it: no sum of this pass, then.
    page.route("**/graph-steps.js*", lambda route: route.abort())
    page.goto(FRONT)
    page.evaluate(
        "document.querySelector('svg.graph g[data-name=x] text:last-child')"
        ".textContent = 'grad 2.4'"
    )
    page.unroute_all()
    page.add_script_tag(url="../_static/graph-steps.js")
    row.get_by_role("button", name="Last step").click()
    expect(row.locator("p")).to_have_text(
        "step 10 of 10: backward, gradient of x = 2.4"
    )


def test_a_graph_is_stepped_through_both_ways_by_mouse(page: Page) -> None:
    page.goto(STEPPED)
    row = page.locator(".graph-steps").first
    for name, step in (
        *(("Step back", 10), ("Step back", 9), ("First step", 1), ("Step forward", 2)),
        *(("Last step", 10), ("Step back", 9), ("Step forward", 10)),
    ):
        row.get_by_role("button", name=name).click()
        expect(row.locator("[aria-live]")).to_contain_text(f"step {step} of 10: ")


def test_the_buttons_come_without_a_jump_and_only_to_small_graphs(page: Page) -> None:
    heights = []
    for blocked in (True, False):
        if blocked:
            page.route("**/graph-steps.js*", lambda route: route.abort())
        page.goto(STEPPED)
        expect(page.locator(".graph-steps")).to_have_count(
            0 if blocked else page.locator("svg.graph").count()
        )
        heights.append(page.evaluate("document.documentElement.scrollHeight"))
        page.unroute_all()
    assert heights[0] == heights[1]
    page.goto(STEPPED.replace("stage_02_chain_rule", "stage_07_linear_mlp"))
    sizes = page.locator("svg.graph").evaluate_all(
        "all => all.map(e => e.querySelectorAll('g[data-step]').length)"
    )
    small = [size for size in sizes if size <= 20]
    expect(page.locator(".graph-steps")).to_have_count(len(small))


SMALLEST = """picture => {
  const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  const size = (text) => parseFloat(getComputedStyle(text).fontSize);
  return scale * Math.min(...[...picture.querySelectorAll("text")].map(size));
}"""


def test_the_text_of_a_graph_is_never_tiny(page: Page, pages: list[str]) -> None:
    page.set_viewport_size(DESK)
    seen = {}
    for name in (each for each in pages if each.startswith("book/")):
        page.goto(name)
        for at, picture in enumerate(page.locator("svg.graph").all()):
            seen[name, at] = picture.evaluate(SMALLEST)
    assert len(seen) > 10
    assert {place: size for place, size in seen.items() if size < 10} == {}


def test_the_front_page_shows_its_picture_at_once(page: Page) -> None:
    page.set_viewport_size(DESK)
    page.goto(FRONT)
    box = page.locator("svg.graph").bounding_box()
    assert box and box["y"] + box["height"] <= DESK["height"]


def test_paper_has_no_buttons_and_wraps_code(page: Page) -> None:
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.goto(STEPPED)
    page.get_by_role("button", name="First step").first.click()
    page.emulate_media(media="print")
    visible = "all => all.filter(e => e.checkVisibility()).map(e => e.outerHTML)"
    assert page.locator("button, .graph-steps").evaluate_all(visible) == []
    too_wide = page.locator(".bd-article pre").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    )
    assert too_wide == []
    assert shown(page.locator("svg.graph").first, "g[data-step]") == 5


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("topological_order", "#chunk--list-every-node-after-its-operands"),
        ("topological_order", "api.html#whitebox_gpt.value.topological_order"),
        ("BOX_WIDTH", "#chunk--whitebox-gpt-draw-py"),
    ],
)
def test_search_finds_an_identifier(page: Page, name: str, where: str) -> None:
    page.goto(f"search.html?q={name}")
    hit = page.locator(f"#search-results li a[href$='{where}']").first
    expect(hit).to_be_visible(timeout=10_000)
    hit.click()
    expect(page.locator(f"[id='{where.partition('#')[2]}']")).to_be_visible()
