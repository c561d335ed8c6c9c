"""Make the font of the book's mathematics from Latin Modern Math.

    python book/_ext/font.py latinmodern-math.otf

The font keeps the characters of mathematics.  Where browsers do not read it as TeX
does, it is changed so that both come to the same:

- Letters made for scripts, and primes that hang as they should, are looked for under
  the script of the text; the font has them under `math` only.
- TeX lowers a subscript alone by less than one below a superscript, does not place
  scripts by how tall a letter is, and leaves more above what stands under a root.
- TeX moves what follows a slanted letter to where the letter ends, but not a subscript:
  the feature `ss01` takes the move back.
- A bracket of any size is given the room of the widest one.
"""

from __future__ import annotations

import sys
import unicodedata
from io import StringIO
from pathlib import Path

from fontTools import subset
from fontTools.feaLib.builder import addOpenTypeFeatures
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

FONT = Path(__file__).parent / "static/fonts/book-math.woff2"
NAME = "Book Math"  # the licence asks for another name
KEPT = """
    20-7e a0-ff 2b0-2ff 300-36f 370-3ff 2000-206f 20d0-20ff 2100-214f 2190-23ff
    25a0-25ff 27c0-27ff 2900-297f 2980-2aff 1d400-1d4cf 1d538-1d56b 1d6a4-1d755
    1d7ce-1d7e1
"""
SLANTED = "210e 1d434-1d49b 1d6e2-1d755"
# In thousandths of the letter size; a letter reaches at most 205 below the line.
LIKE_TEX = {
    "SubscriptShiftDown": 150,
    "SubscriptBaselineDropMin": -55,
    "SuperscriptBaselineDropMax": 386,
    "RadicalVerticalGap": 115,
}
ROOM = 600  # for a bracket: that of a pair around a fraction


def main(source: str) -> None:
    """Write the font that the site serves."""
    options = subset.Options(
        flavor="woff2",
        hinting=False,
        layout_features=["*"],
        layout_scripts=["*"],
        name_IDs=["*"],
        notdef_outline=True,
        drop_tables=["FFTM"],
    )
    font = subset.load_font(source, options)
    cut = subset.Subsetter(options)
    cut.populate(unicodes=numbers(KEPT))
    cut.subset(font)
    rename(font)
    place_scripts(font)
    move_after_slanted(font)
    narrow_brackets(font)
    subset.save_font(font, FONT, options)


def numbers(ranges: str) -> list[int]:
    """Return the characters of `ranges`, as numbers."""
    ends = [[int(end, 16) for end in part.split("-")] for part in ranges.split()]
    return [each for part in ends for each in range(part[0], part[-1] + 1)]


def rename(font: TTFont) -> None:
    """Give the font its own name in the records that hold one."""
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = NAME
        elif record.nameID == 6:
            record.string = NAME.replace(" ", "") + "-Regular"


def place_scripts(font: TTFont) -> None:
    """Offer the letters for scripts to every text, and set the distances."""
    for record in font["GSUB"].table.ScriptList.ScriptRecord:
        record.ScriptTag = "DFLT"
    constants = font["MATH"].table.MathConstants
    for name, value in LIKE_TEX.items():
        getattr(constants, name).Value = value


def move_after_slanted(font: TTFont) -> None:
    """Let a slanted letter take the room that it is drawn in."""
    info = font["MATH"].table.MathGlyphInfo.MathItalicsCorrectionInfo
    values = [value.Value for value in info.ItalicsCorrection]
    told = dict(zip(info.Coverage.glyphs, values, strict=True))
    names = {font.getBestCmap().get(each) for each in numbers(SLANTED)}
    back = []
    for name in font.getGlyphOrder():
        width = font["hmtx"][name][0]
        more = told.get(name, max(drawn(font, name)[1] - width, 0))
        if name.split(".")[0] in names and more:
            resize(font, name, width + more, 0)
            back.append(f"pos {name} <0 0 {-more} 0>;")
    feature = "feature ss01 {" + "\n".join(back) + "} ss01;"
    addOpenTypeFeatures(font, StringIO(feature), tables=["GPOS"])


def narrow_brackets(font: TTFont) -> None:
    """Give all sizes of a bracket, and its pieces, the same room."""
    variants = font["MATH"].table.MathVariants
    characters = {name: chr(each) for each, name in font.getBestCmap().items()}
    for name, made in zip(
        variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True
    ):
        side = unicodedata.category(characters.get(name, " "))
        if side in ("Ps", "Pe"):
            for size in made.MathGlyphVariantRecord[1:]:
                narrow(font, {size.VariantGlyph}, opens=side == "Ps")
            if made.GlyphAssembly:
                pieces = {piece.glyph for piece in made.GlyphAssembly.PartRecords}
                narrow(font, pieces, opens=side == "Ps")


def narrow(font: TTFont, names: set[str], *, opens: bool) -> None:
    """Bring a bracket, or all its pieces, into the room; what it holds stays near."""
    width = font["hmtx"][min(names)][0]
    ends = [drawn(font, name) for name in names]
    left, right = min(end[0] for end in ends), max(end[1] for end in ends)
    inside = (width - right if opens else left) + max(ROOM - width, 0) // 3
    inside = min(inside, (ROOM - (right - left)) // 2)
    for name in names:
        resize(font, name, ROOM, ROOM - inside - right if opens else inside - left)


def drawn(font: TTFont, name: str) -> tuple[int, int]:
    """Return where the drawing of a glyph begins and ends."""
    pen = BoundsPen(None)
    font.getGlyphSet()[name].draw(pen)
    left, _, right, _ = pen.bounds or (0, 0, 0, 0)
    return round(left), round(right)


def resize(font: TTFont, name: str, width: int, move: int) -> None:
    """Give a glyph another width, and move its drawing to the right."""
    glyphs = font["CFF "].cff.topDictIndex[0].CharStrings
    old = glyphs[name]
    pen = T2CharStringPen(width - old.private.nominalWidthX, None)
    font.getGlyphSet()[name].draw(TransformPen(pen, (1, 0, 0, 1, move, 0)))
    glyphs[name] = pen.getCharString(old.private, old.globalSubrs)
    font["hmtx"][name] = (width, font["hmtx"][name][1] + move)


if __name__ == "__main__":
    main(sys.argv[1])
