"""Make the built site light: no needless script, style, mark or glyph.

Style sheets lose the rules for classes that no page and no script names, and the custom
properties that nothing reads; code loses the marks of tokens that no style sheet tells
apart; fonts lose the characters that no page shows.  What the theme's makers need and
readers do not is not shipped.  All is computed from the built pages, so a new chapter
needs no new list.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from html import unescape
from pathlib import Path
from zlib import crc32

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from pygments.token import STANDARD_TYPES

# The theme's icons come with its style sheet; this script (1.4 MB) draws them again.
NEEDLESS = ("scripts/fontawesome.js", "**/*.map", "**/*.ttf", "**/*-macros.html")
MAP = re.compile(rb"^//# sourceMappingURL=\S+\s*", re.M)
ONLY_IN = {"search.html": r"searchtools|language_data|searchindex"}
SCRIPT = re.compile(r"[ \t]*<script\b(?![^>]*data-cfasync)[^>]*>.*?</script>\n?", re.S)
ICON_SCRIPT = re.compile(
    r"\s*<(?:script|link)\b[^>]*\bfontawesome\.js[^>]*>(</script>)?"
)
# Proofs, exercises and solutions have one id each for all; a list of references says
# it is one, its items do not.
WRONG = re.compile(
    r' id="(?:proof|(?:proof|exercise|solution)-content)"'
    r'| role="list"(?= class="citation-list")'
)
CLASSES = re.compile(r'\bclass="([^"]*)"')
MATHS = re.compile(r"<math\b.*?</math>", re.S)
ANNOTATION = re.compile(r"<annotation\b.*?</annotation>|<[^>]*>", re.S)
STATIC_LINK = re.compile(r'\b(href|src)="([^"?]*_static/)([^"?]+)\?[^"]*"')
ICON = re.compile(r"\\([0-9a-f]{2,5})\b|([\ue000-\uf8ff])", re.I)
TOKEN_MARK = re.compile(r'<span class="(\w+)">([^<]*)</span>')
COMPOUND = re.compile(r"(?:\.[\w-]+)+")
TOKENS = frozenset(STANDARD_TYPES.values())
PROPERTY = re.compile(r"""(?<![\w-])(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|[^;}"'])*;?""")
READ = re.compile(r"""(?:var\(\s*|["'`])(--[\w-]+)""")
# In a selector: what may hold without its classes, and what is no class.
LOOSE = re.compile(
    r""":(?:not|is|where|has)\([^()]*(?:\([^()]*\)[^()]*)*\)|"[^"]*"|'[^']*'"""
)
CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
COMMA = re.compile(r",(?![^(\[]*[)\]])")
TOKEN = re.compile(r"""[{};]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\\.|url\([^)"']*\)""")
# Unicode says of each slanted letter, and of the slanted signs, which one it slants.
ALPHABETS = (0x210E, *range(0x1D434, 0x1D468), *range(0x1D6A4, 0x1D71C))
SLANTED = {
    chr(int(made.split()[1], 16)): chr(code)
    for code in ALPHABETS
    if (made := unicodedata.decomposition(chr(code)))
}


def lighten(out: Path) -> None:
    """Do all of it to the site below `out`; a second time changes nothing."""
    static = out / "_static"
    for pattern in NEEDLESS:
        for file in static.glob(pattern):
            file.unlink()
    for script in static.rglob("*.js"):
        script.write_bytes(MAP.sub(b"", script.read_bytes()))
    pages = {page: page.read_text("utf-8") for page in out.rglob("*.html")}
    styles = style(static, pages.values())
    icons = {sign or chr(int(code, 16)) for code, sign in ICON.findall(styles)}
    for font in static.glob("vendor/fontawesome/**/*.woff2"):
        font.write_bytes(subset(font.read_bytes(), "".join(sorted(icons))))
    for font in static.glob("fonts/*-math.woff2"):
        font.write_bytes(subset(font.read_bytes(), characters(pages.values())))
    told = tokens(styles)
    for page, text in pages.items():
        name = page.relative_to(out).as_posix()
        right = unmarked(WRONG.sub("", ICON_SCRIPT.sub("", text)), told)
        light = versioned(scripts_last(right, name), static)
        if light != text:
            page.write_text(light, "utf-8")


def style(static: Path, pages: Iterable[str]) -> str:
    """Lighten all style sheets; return what is left of them."""
    scripts = [script.read_text("utf-8") for script in static.rglob("*.js")]
    names = {name for text in pages for found in CLASSES.findall(text)
             for name in unescape(found).split()}  # fmt: skip
    names.update(name for text in scripts for name in re.findall(r"[\w-]+", text))
    sheets = {file: purged(file.read_text("utf-8"), names)
              for file in static.rglob("*.css")}  # fmt: skip
    around = " ".join((*pages, *scripts))
    while True:
        read = {*READ.findall(" ".join((around, *sheets.values())))}
        less = {file: without(css, read) for file, css in sheets.items()}
        if less == sheets:
            break
        sheets = less
    for file, css in sheets.items():
        file.write_text(css, "utf-8")
    return "\n".join(sheets.values())


def without(css: str, read: set[str]) -> str:
    """Return a style sheet without the custom properties that are not in `read`."""
    return PROPERTY.sub(lambda each: each[0] if each[1] in read else "", css)


def tokens(css: str) -> set[str]:
    """Return the tokens that look unlike the code around them."""
    around: dict[str, set[str]] = {}
    told: set[str] = set()
    for prelude, block in rules(css):
        scope = re.sub(r"\s+\.\w+$", "", prelude)
        said = {each.strip() for each in (block or "").split(";")}
        if prelude.endswith(".highlight"):
            around[prelude] = said
        elif said - around.get(scope, set()):
            found = COMPOUND.findall(f"{prelude} {block}")
            told.update(each[1:] for each in found if each.count(".") == 1)
    return told


def unmarked(text: str, told: set[str]) -> str:
    """Return a page without the marks of tokens that look like all other code."""

    def plain(mark: re.Match[str]) -> str:
        return mark[2] if mark[1] in TOKENS - told else mark[0]

    return TOKEN_MARK.sub(plain, text)


def scripts_last(text: str, name: str) -> str:
    """Move the head's scripts, in their order, behind the page that they work on."""
    head, found, body = text.partition("</head>")
    scripts = SCRIPT.findall(head)
    for page, only in ONLY_IN.items():
        scripts = [s for s in scripts if page == name or not re.search(only, s)]
    rest, closing, tail = body.rpartition("</body>")
    return SCRIPT.sub("", head) + found + rest + "".join(scripts) + closing + tail


def versioned(text: str, static: Path) -> str:
    """Name in each link to a style sheet or script what the file now holds."""

    def renamed(link: re.Match[str]) -> str:
        return f'{link[1]}="{link[2]}{link[3]}?v={digest(static / link[3])}"'

    return STATIC_LINK.sub(renamed, text)


@cache
def digest(file: Path) -> str:
    return f"{crc32(file.read_bytes()):08x}" if file.is_file() else "0"


def purged(css: str, names: set[str]) -> str:
    """Return a style sheet without the rules that need a class not in `names`."""
    kept = []
    for prelude, block in rules(COMMENT.sub("", css)):
        if block is None:
            kept.append(prelude)
        elif prelude.startswith(("@media", "@supports", "@layer", "@container")):
            inner = purged(block, names)
            kept += [f"{prelude}{{{inner}}}"] if inner else []
        elif prelude.startswith("@"):
            kept.append(f"{prelude}{{{block}}}")
        else:
            used = [each for each in COMMA.split(prelude) if possible(each, names)]
            kept += [f"{','.join(used)}{{{block}}}"] if used else []
    return "".join(kept)


def possible(selector: str, names: set[str]) -> bool:
    """Return whether all classes that a selector asks for are in `names`."""
    found = CLASS.findall(LOOSE.sub("", selector))
    return all(name.replace("\\", "") in names for name in found)


def rules(css: str) -> Iterator[tuple[str, str | None]]:
    """Yield each rule's prelude and block; a statement such as @import has no block."""
    start = depth = opened = 0
    for token in TOKEN.finditer(css):
        sign, place = token[0], token.start()
        if sign == "{":
            depth += 1
            opened = place if depth == 1 else opened
        elif sign == "}":
            depth -= 1
            if depth == 0:
                block = css[opened + 1 : place].strip()
                yield css[start:opened].strip(), block
                start = place + 1
        elif sign == ";" and depth == 0:
            yield css[start : place + 1].strip(), None
            start = place + 1


def characters(pages: Iterable[str]) -> str:
    """Return the characters that formulas show, slanted letters included.

    The root sign stands in no text: browsers draw it for `<msqrt>` and `<mroot>`.
    """
    shown = (ANNOTATION.sub("", m) for text in pages for m in MATHS.findall(text))
    upright = set(unescape("".join(shown))) | {"\N{SQUARE ROOT}"}
    return "".join(sorted(upright | {slanted(each) for each in upright}))


def slanted(character: str) -> str:
    """Return the letter that a browser shows where a formula has this one alone."""
    return SLANTED.get(character, character)


@cache
def subset(font: bytes, shown: str) -> bytes:
    """Return a WOFF2 font with what is needed to show these characters."""
    options = Options(flavor="woff2", layout_features=["*"], notdef_outline=True)
    options.name_IDs = ["*"]
    made = TTFont(io.BytesIO(font), recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(text=shown)
    subsetter.subset(made)
    made.flavor = "woff2"
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()
