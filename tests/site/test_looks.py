"""What a reader tells apart at one look: program and experiment, names and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from looking import DESK
from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

CHUNKS = "book/stage_02_chain_rule.html"
STYLE = """(e, names) => {
  const style = getComputedStyle(e);
  return names.map(name => style.getPropertyValue(name));
}"""
CHUNK = ".cell_input:has(> .mystangle-chunk)"
EXPERIMENT = ".cell > .cell_input:not(:has(> .mystangle-chunk))"


@pytest.fixture(scope="module", params=["light", "dark"])
def page(
    request: pytest.FixtureRequest, browser: Browser, served: str
) -> Iterator[Page]:
    context = browser.new_context(base_url=served, viewport=DESK)
    page = context.new_page()
    page.emulate_media(color_scheme=request.param)
    page.goto(CHUNKS)
    yield page
    context.close()


def style(page: Page, selector: str, *names: str) -> Any:
    """Return computed properties of the first that a selector finds."""
    return page.locator(selector).first.evaluate(STYLE, names)


def test_program_and_experiment_differ_in_frame_and_ground(page: Page) -> None:
    frame = [f"border-{side}-width" for side in ("top", "right", "bottom", "left")]
    assert style(page, CHUNK, *frame) == ["1px"] * 4
    assert style(page, EXPERIMENT, *frame) == ["0px", "0px", "0px", "3px"]
    grounds = [
        style(page, f"{each} pre", "background-color") for each in (CHUNK, EXPERIMENT)
    ]
    assert grounds[0] != grounds[1]


def test_an_output_is_joined_to_its_experiment(page: Page) -> None:
    pair = page.locator(f"{EXPERIMENT}:has(+ .cell_output > .stream)").first
    cell, output = pair.bounding_box(), pair.locator("+ *").bounding_box()
    assert cell and output
    assert abs(cell["y"] + cell["height"] - output["y"]) < 1
    rule = style(page, EXPERIMENT, "border-left")
    assert style(page, ".cell_output > .stream", "border-left") == rule


def test_a_reference_looks_like_a_link_and_a_comment_is_grey(page: Page) -> None:
    name = ".highlight a.mystangle-ref > span"
    link = style(page, ".mystangle-around a", "color")
    assert style(page, name, "color") == link
    comment = ".highlight .c1:not(a > .c1)"
    (color,) = style(page, comment, "color")
    red, green, blue = (int(each) for each in re.findall(r"\d+", color))
    assert max(red, green, blue) - min(red, green, blue) < 30, color


def test_sources_are_labelled_as_the_chapters_cite_them(
    site: Path, pages: list[str]
) -> None:
    listed = BeautifulSoup((site / "book/references.html").read_text(), "html.parser")
    labels = {
        str(entry["id"]): entry.select_one(".label").get_text().strip("[]")
        for entry in listed.select("div.citation")
    }
    count = 0
    for name in pages:
        text = (site / name).read_text("utf-8")
        for cited in BeautifulSoup(text, "html.parser").select(".bibtex-citation"):
            for link in cited.select("a[href*='references.html#']"):
                label = labels[str(link["href"]).partition("#")[2]]
                said = cited.get_text().replace(" [", ", ").strip("[]")
                assert label in said, (name, said)
                count += 1
    assert count > 40
