"""Formulas are MathML, and the site's font has all that they are drawn with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unicodedata import lookup

import pytest
from bs4 import BeautifulSoup, Tag
from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser

pytestmark = pytest.mark.xdist_group("site")

TEX = re.compile(r"\\[A-Za-z]{2,}|\$[^$\s][^$]*\$|\\[()\[\]]")
LETTER = re.compile(r"(?:LATIN|GREEK) (\w+) LETTER ")
FONT = Path(__file__).parents[2] / "book/_ext/static/fonts/book-math.woff2"
SCRIPTED = "msub, msup, msubsup, munder, mover, munderover"
PRIMES = "\N{PRIME}\N{DOUBLE PRIME}\N{TRIPLE PRIME}"
GROWS = "()[]{}|\N{SQUARE ROOT}\N{N-ARY SUMMATION}\N{N-ARY PRODUCT}\N{INTEGRAL}"
NEAR = "<math><msub><mi>V</mi><mi>i</mi></msub><mi>V</mi></math>"
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
        for formula in BeautifulSoup(text, "html.parser").select("math")
    ]


@pytest.fixture(scope="module")
def font() -> Iterator[TTFont]:
    with TTFont(FONT) as held:
        yield held


def glyph(font: TTFont, leaf: Tag, letter: str) -> str:
    """Return what draws a letter: browsers slant one that is alone in <mi>."""
    alone = leaf.name == "mi" and len(leaf.get_text()) == 1
    if alone and leaf.get("mathvariant") != "normal" and letter.isalpha():
        slanted = LETTER.sub(r"MATHEMATICAL ITALIC \1 ", unicodedata.name(letter))
        letter = "\N{PLANCK CONSTANT}" if letter == "h" else lookup(slanted)
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
    assert [each for each in GROWS if characters[ord(each)] not in upright] == []
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
    for bracket in map(font.getBestCmap().get, map(ord, "()[]{}⟨⟩⌊⌋⌈⌉")):
        sizes = {each.VariantGlyph for each in made[bracket].MathGlyphVariantRecord[1:]}
        parts = made[bracket].GlyphAssembly
        sizes |= {each.glyph for each in parts.PartRecords} if parts else set()
        assert len({font["hmtx"][size][0] for size in sizes}) == 1, bracket


@pytest.mark.parametrize("letter", "EFKPTVWYfy")
def test_a_slanted_letter_takes_the_room_in_which_it_is_drawn(
    font: TTFont, letter: str
) -> None:
    leaf = BeautifulSoup(f"<mi>{letter}</mi>", "html.parser").mi
    assert leaf is not None
    pen = BoundsPen(None)
    name = glyph(font, leaf, letter)
    font.getGlyphSet()[name].draw(pen)
    assert pen.bounds is not None
    assert pen.bounds[2] <= font["hmtx"][name][0] + 25


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
