"""What a reader gets from the search page, from a server and from a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from looking import AXE, DARK, DESK, PHONE, axe
from playwright.sync_api import Browser, Locator, Page, expect

from mystangle import Book

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

SHARE = 5  # pages are at least so many times larger than their texts
HEAVIEST = 500_000  # bytes of the page itself, without index and texts
DATA = ("searchindex.js", "searchtexts.js")
LEFT = "net::ERR_ABORTED"  # why a request failed whose page was left meanwhile


@pytest.fixture(params=["from a server", "from a folder"])
def base(request: pytest.FixtureRequest, site: Path, served: str) -> str:
    """The address of the site: as a host serves it, and as it lies on the disk."""
    return served if request.param == "from a server" else f"{site.as_uri()}/"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that nothing may go wrong on, and that fetches no other page."""
    context = browser.new_context(viewport=DESK)
    page = context.new_page()
    wrong: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda ask: ask.failure == LEFT or wrong.append(ask.url))
    page.on("console", lambda said: wrong.append(said.text) if bad(said.type) else None)
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    pages = [url for url in asked if urlsplit(url).path.endswith((".html", "/"))]
    assert [url for url in pages if not url.endswith(".html") and "?" not in url] == []
    assert wrong == []
    assert {Path(urlsplit(url).path).name for url in pages} == {"search.html"}


def bad(kind: str) -> bool:
    return kind in ("error", "warning")


def look_for(page: Page, base: str, query: str) -> Locator:
    """Search for `query`, and return what was found once all is shown."""
    page.goto(f"{base}search.html?q={quote(query)}")
    expect(page.locator(".search-summary")).to_have_text(re.compile("found"))
    return page.locator("#search-results ul.search > li")


def texts(site: Path) -> dict[str, list[list[str]]]:
    """Return the texts of all pages, by the last part of the page's name."""
    script = (site / DATA[1]).read_text("utf-8")
    pages = json.loads(script.removeprefix("Search.texts = ").removesuffix(";\n"))
    return {name.split("/")[-1]: rows for name, rows in pages.items()}


def hit(hits: Locator, target: str) -> Locator:
    """Return the result that is `target`, not a page whose best part it is."""
    whole = hits.page.locator(".search-kind", has_text="Page")
    return hits.filter(has_not=whole).filter(
        has=hits.page.locator(f".search-hit a[href$='{target}']")
    )


@pytest.mark.parametrize("query", ["gradient", "surrogate", "overflow"])
def test_an_excerpt_shows_the_word_where_it_stands(
    page: Page, base: str, query: str
) -> None:
    hits = look_for(page, base, query)
    expect(hits.first).to_be_visible()
    pages = hits.filter(has=page.locator(".search-kind", has_text="Page"))
    assert pages.count() > 1
    for found in pages.all():
        marks = found.locator("mark").all_text_contents()
        assert query in {mark.lower() for mark in marks}, found.inner_text()
        assert len(found.locator(".context").inner_text()) < 300


def test_an_excerpt_leads_to_its_section(page: Page, base: str, site: Path) -> None:
    """A page is long: its title leads to the part that the excerpt shows."""
    hits = look_for(page, base, "surrogate")
    pages = hits.filter(has=page.locator(".search-kind", has_text="Page"))
    deep = pages.filter(has=page.locator(".search-where"))
    assert deep.count() > 0
    for found in deep.all():
        href = str(found.locator(".search-hit a").get_attribute("href"))
        where = found.locator(".search-where a").last
        assert where.get_attribute("href") == href
        name, _, anchor = href.removeprefix("./").partition("#")
        assert anchor and f'id="{anchor}"' in (site / name).read_text("utf-8")


def test_code_is_shown_as_code_a_line_at_a_time(
    page: Page, base: str, book: Book
) -> None:
    piece = next(each for each in book.pieces if "_accumulate" in each.body[0])
    hits = look_for(page, base, "_accumulate")
    found = hits.filter(has_text=piece.name).locator(".context.code").first
    assert found.inner_text() in {line.strip() for line in piece.body}
    style = "e => [e.clientHeight < 2 * parseFloat(getComputedStyle(e).lineHeight), "
    family = "getComputedStyle(e).fontFamily]"
    one_line, font = found.evaluate(style + family)
    assert one_line and "mono" in font


@pytest.mark.parametrize("followed", [False, True])
def test_only_a_page_that_was_followed_is_marked(
    browser: Browser, served: str, followed: bool
) -> None:
    context = browser.new_context()
    page = context.new_page()
    hits = look_for(page, served, "gradient")
    if followed:
        hits.first.locator(".search-hit a").click()
    else:
        page.goto(f"{served}book/stage_02_chain_rule.html")
    marks = page.locator("span.highlighted")
    if followed:
        expect(marks.first).to_be_attached()
        page.reload()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)  # Sphinx's script marks after ten milliseconds
    expect(marks).to_have_count(0)
    context.close()


def test_a_chunk_is_found_by_its_name(page: Page, base: str, book: Book) -> None:
    piece = next(each for each in book.pieces if each.name.startswith("Make a leaf"))
    hits = look_for(page, base, piece.name)
    expect(hits.first.locator(".search-hit")).to_contain_text(piece.name)
    expect(hits.first.locator(".search-kind")).to_have_text("Chunk")
    first = piece.body[0].split("(")[0]
    expect(hits.first.locator(".context")).to_contain_text(first)
    link = hits.first.locator(".search-hit a")
    target = str(link.get_attribute("href"))
    assert target.startswith(f"./{piece.chapter.docname}.html#")


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("topological_order", "#chunk--list-every-node-after-its-operands"),
        ("topological_order", "api.html#whitebox_gpt.value.topological_order"),
        (
            "cross_entropy_with_logits",
            "#whitebox_gpt.softmax.cross_entropy_with_logits",
        ),
        ("BOX_WIDTH", "#chunk--whitebox-gpt-draw-py"),
    ],
)
def test_a_name_is_found_and_its_code_is_shown(
    page: Page, base: str, query: str, target: str
) -> None:
    found = hit(look_for(page, base, query), target)
    expect(found).to_have_count(1)
    expect(found.locator(".context mark").first).to_have_text(query)


def test_words_in_quotes_stand_side_by_side(page: Page, base: str) -> None:
    apart = look_for(page, base, "every path").count()
    hits = look_for(page, base, '"every path"')
    assert 0 < hits.count() < apart
    for excerpt in hits.locator(".context", has=page.locator("mark")).all():
        assert "every path" in excerpt.locator("mark").first.inner_text().lower()


def test_a_letter_finds_names_of_one_letter_only(page: Page, base: str) -> None:
    titles = look_for(page, base, "x").locator(".search-hit").all()
    chunks = [each for each in titles if "Page" not in each.inner_text()]
    assert all(re.search(r"\bx\b", each.inner_text()) for each in chunks)


def test_a_number_is_found_though_the_index_has_none(page: Page, base: str) -> None:
    hits = look_for(page, base, "76")
    expect(hits.first.locator(".context mark").first).to_have_text("76")


@pytest.mark.parametrize("query", ["constructor", "the constructor of a vocabulary"])
def test_a_word_that_every_object_of_a_script_has_is_found(
    page: Page, base: str, query: str
) -> None:
    hits = look_for(page, base, query)
    expect(hits.filter(has_text="What is refused, and where")).to_have_count(1)
    for each in hits.all():
        marks = each.locator("mark").all_text_contents()
        assert set(query.split()) & {mark.lower() for mark in marks}


@pytest.mark.parametrize("sign", ["%", "'", '"', "*", "**", "<<", "->", "<< >>", "**="])
def test_a_query_of_signs_finds_the_texts_that_have_them(
    page: Page, base: str, sign: str, site: Path
) -> None:
    has = {name for name, rows in texts(site).items() if any_has(rows, sign.split())}
    hits = look_for(page, base, sign)
    links = [link.get_attribute("href") for link in hits.locator(".search-hit a").all()]
    assert {Path(urlsplit(str(link)).path).stem for link in links} == has
    for each in hits.all():
        assert set(sign.split()) & set(each.locator("mark").all_text_contents())
    expect(page.locator(".search-advice")).to_have_count(int(not has))


def any_has(rows: list[list[str]], signs: list[str]) -> bool:
    """Return whether a part has all signs, each by itself: `*` is not in `**`."""
    alone = [
        rf"(?<!{re.escape(s[0])}){re.escape(s)}(?!{re.escape(s[-1])})" for s in signs
    ]
    return any(all(re.search(s, f"{row[2]} {row[4]}") for s in alone) for row in rows)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Carry the gradient back", "Carry the gradient back to every leaf"),
        ("value.py", "whitebox_gpt/value.py"),
        ("stage_02_chain_rule.py", "whitebox_gpt/stages/stage_02_chain_rule.py"),
        ("real.py", "whitebox_gpt/real.py"),
        ("Matrix", "whitebox_gpt.linalg.Matrix"),
        ("Contract", "1.1. Contract"),
        ("Exercise 2.3", "Exercise 2.3"),
        ("Theorem 5.3", "Theorem 5.3"),
        ("subnormal", "subnormal"),
        ("7.6", "7.6. A layer on paper"),
    ],
)
def test_what_begins_with_the_query_comes_first(
    page: Page, base: str, query: str, first: str
) -> None:
    hits = look_for(page, base, query)
    expect(hits.first.locator(".search-hit a")).to_have_text(
        re.compile(f"^{re.escape(first)}")
    )


@pytest.mark.parametrize(
    "query",
    ["xyzzy", "<script>alert(1)</script> xyzzy", " ", "§§", "__proto__", "toString"],
)
def test_who_finds_nothing_is_told_what_to_try(
    page: Page, base: str, query: str
) -> None:
    assert look_for(page, base, query).count() == 0
    expect(page.locator(".search-advice li").first).to_be_visible()
    said = page.locator(".search-summary").inner_text()
    assert said == f"Nothing found for “{query.strip()}”."


def test_markup_in_a_query_stays_text(page: Page, base: str) -> None:
    look_for(page, base, "<img src=x onerror=alert(1)> gradient")
    expect(page.locator("#search-results img")).to_have_count(0)


def test_without_a_query_there_is_advice_and_no_data(page: Page, base: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{base}search.html")
    expect(page.locator(".search-advice li").first).to_be_visible()
    assert [url for url in asked if DATA[1] in url] == []


def test_many_results_come_in_two_parts(page: Page, base: str) -> None:
    hits = look_for(page, base, "value")
    shown = hits.count()
    button = page.get_by_role("button", name="Show the other")
    more = int(button.inner_text().split()[-1])
    button.click()
    expect(hits).to_have_count(shown + more)
    expect(hits.nth(shown).locator("a").first).to_be_focused()
    expect(button).to_have_count(0)


def test_results_are_fit_for_everyone(page: Page, served: str) -> None:
    look_for(page, served, "gradient")
    page.add_script_tag(content=AXE)
    found = axe(page, "light", {})
    page.set_viewport_size(PHONE)
    found += axe(page, "phone", {})
    page.evaluate(DARK)
    found += axe(page, "dark", {})
    assert found == []
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0


def test_the_search_page_is_light(page: Page, served: str, site: Path) -> None:
    sizes: dict[str, int] = {}
    page.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    look_for(page, served, "gradient")
    page.wait_for_load_state("networkidle")
    own = sum(size for url, size in sizes.items() if not url.endswith(DATA))
    data = {name: (site / name).stat().st_size for name in DATA}
    print(f"{own / 1000:.0f} kB and {data}")  # pytest -rP shows it
    assert own < HEAVIEST
    texts = (site / DATA[1]).read_text("utf-8")
    names = json.loads(texts.removeprefix("Search.texts = ").removesuffix(";\n"))
    pages = sum((site / f"{name}.html").stat().st_size for name in names)
    assert data[DATA[1]] * SHARE < pages


def test_every_anchor_of_the_texts_is_on_its_page(site: Path) -> None:
    text = (site / "searchtexts.js").read_text("utf-8")
    pages = json.loads(text.removeprefix("Search.texts = ").removesuffix(";\n"))
    assert "book/stage_01_value_graph" in pages
    for name, parts in pages.items():
        html = (site / f"{name}.html").read_text("utf-8")
        missing = [part[0] for part in parts if f'id="{part[0]}"' not in html]
        assert missing == [], name
        assert not re.search(r"\\\(|\$[a-z\\]|</?[a-z]+>", parts[0][4]), name
