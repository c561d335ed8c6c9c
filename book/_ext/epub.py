"""Mend what Sphinx's EPUB of a Jupyter Book has wrong.

Sphinx takes links of the navigation for those of the root folder, though the root page
lies in `book/`; names styles that it does not pack; and does not say which pages hold
MathML or SVG.  Readers of EPUB, and epubcheck, mind all three.
"""

from __future__ import annotations

import re
import zipfile
from html import escape, unescape
from pathlib import Path, PurePosixPath
from posixpath import join, normpath
from typing import Any

from sphinx.application import Sphinx

from .weight import WRONG

LINK = re.compile(r'((?:href|src)=")([^"#:]+)(?=[#"])')
STYLE = re.compile(r'<link\b[^>]*\bhref="([^"?]+)[^"]*"[^>]*/>')
SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>|<script\b[^>]*/>", re.S)
FONT = re.compile(r"@font-face\s*\{[^}]*\}")
DIRECTION = re.compile(r"\bdirection:[^;}]*;?")
ITEM = re.compile(r'<item [^>]*?href="([^"]+)"[^>]*/>')
HOLDS = {"mathml": "<math", "svg": "<svg"}
# Styles in the words that readers of EPUB know; those of the site nest and compute.
PLAIN = ("epub.css", "pygments.css", "basic.css")
ENTITY = re.compile(r"&(?!amp;|lt;|gt;|quot;|apos;)\w+;")
BARE = re.compile(r"<(math|svg)\b(?![^>]*\bxmlns=)")
SPACES = {
    "math": "http://www.w3.org/1998/Math/MathML",
    "svg": "http://www.w3.org/2000/svg",
}
# MathML Core allows these where the MathML 3 of EPUB does not.
STYLED = re.compile(r'(<m(?!ath\b|style\b)\w+\b[^>]*?) (?:display|script)\w+="[^"]*"')
SUMMARY = re.compile(r"<summary\b.*?</summary>", re.S)
OPENED = re.compile(r'<p class="expanded[^>]*>.*?</p>', re.S)
PARAGRAPH = re.compile(r"(</?)p\b")
STEP = re.compile(r' data-(?:step|name)="[^"]*"')  # for a script of the site
GROUP = re.compile(r'(<svg\b[^>]*\brole=)"group"')
NAVIGATION = ("nav.xhtml", "toc.ncx")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the mending; it comes after Sphinx has packed the book."""
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Mend the EPUB that was just made."""
    if exception or app.builder.name != "epub":
        return
    home = str(PurePosixPath(app.config.root_doc).parent)
    mend(Path(app.outdir) / f"{app.config.epub_basename}.epub", home)


def mend(book: Path, home: str) -> None:
    """Rewrite an EPUB whose root page lies in folder `home`."""
    with zipfile.ZipFile(book) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    for name, data in files.items():
        if name.endswith((".xhtml", ".ncx", ".css")):
            files[name] = mended(name, data.decode("utf-8"), files, home).encode()
    files["content.opf"] = listed(files["content.opf"].decode("utf-8"), files).encode()
    with zipfile.ZipFile(book, "w") as packed:
        # First, and not compressed: this is how an EPUB is known.
        packed.writestr(zipfile.ZipInfo("mimetype"), files.pop("mimetype"))
        for name, data in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def mended(name: str, text: str, files: dict[str, bytes], home: str) -> str:
    """Return a file of the book with its links and styles set right."""
    if name.endswith(".css"):
        plain = name.endswith(PLAIN)
        return DIRECTION.sub("", FONT.sub("", text)) if plain else ""
    if name in NAVIGATION:
        return LINK.sub(
            lambda found: (
                found[0] if found[2] in files else f"{found[1]}{home}/{found[2]}"
            ),
            text,
        )
    folder = str(PurePosixPath(name).parent)

    def packed(found: re.Match[str]) -> str:
        return found[0] if normpath(join(folder, found[1])) in files else ""

    text = STEP.sub("", SCRIPT.sub("", STYLE.sub(packed, WRONG.sub("", text))))
    text = ENTITY.sub(lambda found: escape(unescape(found[0])), text)
    text = GROUP.sub(r'\1"document"', STYLED.sub(r"\1", STYLED.sub(r"\1", text)))
    text = SUMMARY.sub(
        lambda found: PARAGRAPH.sub(r"\1span", OPENED.sub("", found[0])), text
    )
    return BARE.sub(lambda tag: f'{tag[0]} xmlns="{SPACES[tag[1]]}"', text)


def listed(manifest: str, files: dict[str, bytes]) -> str:
    """Return the manifest, in which each page says what it holds."""

    def item(found: re.Match[str]) -> str:
        text = files.get(found[1], b"").decode("utf-8", "ignore")
        holds = " ".join(name for name, sign in HOLDS.items() if sign in text)
        if not holds or not found[1].endswith(".xhtml") or "properties=" in found[0]:
            return found[0]
        return found[0].replace("<item ", f'<item properties="{holds}" ', 1)

    return ITEM.sub(item, manifest)
