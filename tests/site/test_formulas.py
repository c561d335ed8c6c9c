"""Formulas are MathML, and the site's font has all that they are drawn with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, SoupStrainer, Tag
from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser

pytestmark = pytest.mark.xdist_group("site")

TEX = re.compile(r"\\[A-Za-z]{2,}|\$[^$\s][^$]*\$|\\[()\[\]]")
LETTER = re.compile("^LATIN |^GREEK |(?<= )LETTER ")
SCRIPTED = "msub, msup, msubsup, munder, mover, munderover"
PRIMES = "\N{PRIME}\N{DOUBLE PRIME}\N{TRIPLE PRIME}"
GROWS = "()[]{}|\N{SQUARE ROOT}\N{N-ARY SUMMATION}\N{N-ARY PRODUCT}\N{INTEGRAL}"
NEAR = "<math><msub><mi>V</mi><mi>i</mi></msub><mi>V</mi></math>"
EACH_LEAF_ONCE = """() => {
  const seen = new Map();
  for (const leaf of document.querySelectorAll("math :is(mi, mn, mo, mtext)"))
    if (leaf.textContent.trim().replace("\\u2061", "")) seen.set(leaf.outerHTML, leaf);
  document.body.innerHTML = "<math></math>";
  document.querySelector("math").append(...seen.values());
}"""
WIDTH = """selector => [...document.querySelectorAll(selector)].map(each => [
  each.textContent,
  each.getBoundingClientRect().width / parseFloat(getComputedStyle(each).fontSize),
])"""


@cache
def formulas(site: Path) -> list[Tag]:
    return [
        formula
        for page in sorted(site.rglob("*.html"))
        if "<math" in (text := page.read_text("utf-8"))
        for formula in BeautifulSoup(
            text, "html.parser", parse_only=SoupStrainer("math")
        ).select("math")
    ]


@pytest.fixture(scope="module")
def font(site: Path) -> Iterator[TTFont]:
    """The font as the site serves it, with the glyphs that its formulas need."""
    (file,) = (site / "_static/fonts").glob("*-math.woff2")
    with TTFont(file) as held:
        yield held


def glyph(font: TTFont, leaf: Tag, letter: str) -> str:
    """Return what draws a letter: browsers slant one that is alone in <mi>."""
    alone = leaf.name == "mi" and len(leaf.get_text()) == 1
    if alone and leaf.get("mathvariant") != "normal":
        name = f"MATHEMATICAL ITALIC {LETTER.sub('', unicodedata.name(letter))}"
        with suppress(KeyError):
            slanted = unicodedata.lookup(name)
            letter = "\N{PLANCK CONSTANT}" if letter == "h" else slanted
    return str(font.getBestCmap().get(ord(letter), f"none for {letter}"))


def script_letters(font: TTFont) -> dict[str, list[str]]:
    """Return the glyphs for scripts, which the font offers to text of every script."""
    table = font["GSUB"].table
    (offered,) = (
        each.Script.DefaultLangSys.FeatureIndex
        for each in table.ScriptList.ScriptRecord
        if each.ScriptTag == "DFLT"
    )
    features = [table.FeatureList.FeatureRecord[index] for index in offered]
    (chosen,) = (each.Feature for each in features if each.FeatureTag == "ssty")
    (lookup,) = chosen.LookupListIndex
    (part,) = table.LookupList.Lookup[lookup].SubTable
    return dict(part.alternates)


def test_every_formula_is_mathml(site: Path, pages: list[str]) -> None:
    wrong: list[tuple[str, str]] = []
    for page in pages:
        soup = BeautifulSoup((site / page).read_text("utf-8"), "html.parser")
        wrong += [(page, str(tag)) for tag in soup.select("merror")]
        wrong += [
            (page, str(tag))
            for tag in soup.select(".mathml, .mathml-block, .math")
            if tag.math is None
        ]
        said = [tag.get_text() for tag in soup.select("title")]
        for name in ("alt", "title", "aria-label", "content"):
            said += [str(tag[name]) for tag in soup.select(f"[{name}]")]
        # The elements that hold code, or TeX to copy, are taken out.
        for tag in soup.select("annotation, pre, code, script, style, head"):
            tag.decompose()
        said.append(soup.get_text(" "))
        wrong += [(page, text) for each in said for text in TEX.findall(each)]
    assert wrong == []


def test_the_font_has_every_character_of_every_formula(
    site: Path, font: TTFont
) -> None:
    needed = {
        glyph(font, leaf, letter)
        for formula in formulas(site)
        for leaf in formula.select("mi, mn, mo, ms, mtext")
        for letter in leaf.get_text().strip()
    }
    assert len(needed) > 50
    assert [name for name in needed if name.startswith("none")] == []


def test_the_font_has_small_letters_for_every_script(site: Path, font: TTFont) -> None:
    small = script_letters(font)
    needed = {
        glyph(font, leaf, letter)
        for formula in formulas(site)
        for script in formula.select(f":is({SCRIPTED}) > :not(:first-child)")
        for leaf in [script, *script.select("*")]
        if leaf.string and leaf.name in ("mi", "mn", "mo", "mtext")
        for letter in leaf.get_text().strip()
        if letter.isalnum() or letter in PRIMES
    }
    assert len(needed) > 30
    assert [name for name in needed if name not in small] == []


def test_what_stretches_has_sizes(site: Path, font: TTFont) -> None:
    info = font["MATH"].table.MathVariants
    upright = {*info.VertGlyphCoverage.glyphs}
    characters = font.getBestCmap()
    used = [characters[ord(each)] for each in GROWS if ord(each) in characters]
    assert len(used) > 5
    assert {*used} <= upright
    wide = {
        characters[ord(mark)]
        for formula in formulas(site)
        for accent in formula.select("mover[accent] > mo:not([stretchy])")
        for mark in accent.get_text()
    }
    assert wide <= {*info.HorizGlyphCoverage.glyphs}


def test_all_sizes_of_a_bracket_take_the_same_room(font: TTFont) -> None:
    """Browsers give each size the room of the widest."""
    info = font["MATH"].table.MathVariants
    made = dict(
        zip(info.VertGlyphCoverage.glyphs, info.VertGlyphConstruction, strict=True)
    )
    characters = font.getBestCmap()
    used = [characters[ord(each)] for each in "()[]{}⟨⟩⌊⌋⌈⌉" if ord(each) in characters]
    assert len(used) > 3
    for bracket in used:
        sizes = {each.VariantGlyph for each in made[bracket].MathGlyphVariantRecord[1:]}
        parts = made[bracket].GlyphAssembly
        sizes |= {each.glyph for each in parts.PartRecords} if parts else set()
        assert len({font["hmtx"][size][0] for size in sizes}) == 1, bracket


def test_a_slanted_letter_takes_the_room_in_which_it_is_drawn(font: TTFont) -> None:
    slanted = [name for name in font.getGlyphOrder() if name.startswith("u1D4")]
    assert len(slanted) > 50
    for name in slanted:
        pen = BoundsPen(None)
        font.getGlyphSet()[name].draw(pen)
        assert pen.bounds is not None
        assert pen.bounds[2] <= font["hmtx"][name][0] + 25, name


def test_a_browser_draws_formulas_with_the_one_font(
    browser: Browser, served: str, site: Path, pages: list[str]
) -> None:
    page = browser.new_page()
    other = []
    for name in (each for each in pages if "<math" in (site / each).read_text("utf-8")):
        page.goto(served + name)
        page.evaluate(EACH_LEAF_ONCE)
        page.evaluate("document.fonts.ready.then(() => true)")
        asked = page.context.new_cdp_session(page)
        asked.send("DOM.enable")
        asked.send("CSS.enable")
        root = asked.send("DOM.getDocument")["root"]["nodeId"]
        leaves = {"nodeId": root, "selector": "body > math > *"}
        for leaf in asked.send("DOM.querySelectorAll", leaves)["nodeIds"]:
            used = asked.send("CSS.getPlatformFontsForNode", {"nodeId": leaf})
            if {each["familyName"] for each in used["fonts"]} != {"Book Math"}:
                shown = asked.send("DOM.getOuterHTML", {"nodeId": leaf})["outerHTML"]
                other.append((name, shown, used["fonts"]))
    page.close()
    assert other == []


def test_a_browser_takes_small_letters_and_near_subscripts(
    browser: Browser, served: str, font: TTFont
) -> None:
    page = browser.new_page()
    page.goto(f"{served}book/stage_03_scalar_primitives.html")
    page.evaluate("document.fonts.ready.then(() => true)")
    small = script_letters(font)
    primes = page.evaluate(WIDTH, "msup > mo:last-child")
    wide = {mark: width for mark, width in primes if mark in PRIMES}
    assert set(wide) == set(PRIMES)
    for mark, width in wide.items():
        name = small[font.getBestCmap()[ord(mark)]][0]
        assert width * 1000 == pytest.approx(font["hmtx"][name][0], abs=20)
    page.evaluate(f"document.querySelector('article').innerHTML = `{NEAR}`")
    (_, near), _, (_, free) = page.evaluate(WIDTH, "math mi")
    assert free - near == pytest.approx(0.214, abs=0.02)
    page.close()
