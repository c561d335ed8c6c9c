"""Mend what Sphinx's EPUB of a Jupyter Book has wrong.

Sphinx takes links of the navigation for those of the root folder, though the root page
lies in `book/`; packs what no page shows, and names styles that it does not pack; and
does not say which pages hold MathML or SVG.  Readers of EPUB, and epubcheck, mind.
Nor do its contents number the chapters, to which the pages refer by number.
"""

from __future__ import annotations

import re
import zipfile
from html import escape, unescape
from pathlib import Path, PurePosixPath
from posixpath import join, normpath
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from .weight import WRONG

LINK = re.compile(r'((?:href|src)=")([^"#:]+)(?=[#"])')
SITE = re.compile(r'(\bhref=")([^":#]+\.html)(?=[#"])')
STYLE = re.compile(r'<link\b[^>]*\bhref="([^"?]+)[^"]*"[^>]*/>')
SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>|<script\b[^>]*/>", re.S)
FONT = re.compile(r"@font-face\s*\{[^}]*\}")
DIRECTION = re.compile(r"\bdirection:[^;}]*;?")
ITEM = re.compile(r'<item [^>]*?href="([^"]+)"[^>]*/>')
HOLDS = {"mathml": "<math", "svg": "<svg"}
SHOWN = re.compile(r"""(?:\b(?:href|src)="|url\(["']?)([^"'#?:)]+)""")
# Styles in the words that readers of EPUB know; those of the site nest and compute.
PLAIN = ("epub.css", "pygments.css", "basic.css")
ENTITY = re.compile(r"&(?!amp;|lt;|gt;|quot;|apos;)\w+;")
BARE = re.compile(r"<(math|svg)\b(?![^>]*\bxmlns=)")
SPACES = {
    "math": "http://www.w3.org/1998/Math/MathML",
    "svg": "http://www.w3.org/2000/svg",
}
# MathML Core allows these where the MathML 3 of EPUB does not.
FRACTION = re.compile(r'<mfrac( display\w+="\w+")>((?:(?!</?mfrac).)*</mfrac>)', re.S)
STYLED = re.compile(
    r'(<m(?!ath\b|style\b)\w+\b[^>]*?) (?:script|(?<!<mtable )display)\w+="[^"]*"'
)
SUMMARY = re.compile(r"<summary\b.*?</summary>", re.S)
OPENED = re.compile(r'<p class="expanded[^>]*>.*?</p>', re.S)
PARAGRAPH = re.compile(r"(</?)p\b")
STEP = re.compile(r' data-(?:step|name)="[^"]*"')  # for a script of the site
GROUP = re.compile(r'(<svg\b[^>]*\brole=)"group"')
NAVIGATION = ("nav.xhtml", "toc.ncx")
# What stands before a title in either, and the page that it leads to.
TITLE = re.compile(
    r'<a href="([^"#]+)">'
    r'|<text>(?=[^<]*</text>\s*</navLabel>\s*<content src="([^"#]+)")'
)
STYLES = "book-epub.css"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the mending; it comes after Sphinx has packed the book."""
    app.connect("config-inited", describe)
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def describe(app: Sphinx, config: Config) -> None:
    """Say of the EPUB what is said of the site; its contents are all chapters."""
    config.epub_title = config.html_title
    config.epub_contributor = config.author
    config.epub_identifier = config.epub_uid = config.epub_basename
    config.epub_tocscope = "includehidden"
    config.epub_css_files = [STYLES]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Mend the EPUB that was just made."""
    if exception or app.builder.name != "epub":
        return
    home = str(PurePosixPath(app.config.root_doc).parent)
    numbers = {
        f"{docname}.xhtml": f"{'.'.join(map(str, sections['']))}. "
        for docname, sections in app.env.toc_secnumbers.items()
        if sections.get("")
    }
    mend(Path(app.outdir) / f"{app.config.epub_basename}.epub", home, numbers)


def mend(book: Path, home: str, numbers: dict[str, str]) -> None:
    """Rewrite an EPUB whose root page lies in folder `home`; number its chapters."""
    with zipfile.ZipFile(book) as packed:
        names = [name for name in packed.namelist() if not needless(name)]
        files = {name: packed.read(name) for name in names}
    for name, data in files.items():
        if name.endswith((".xhtml", ".ncx", ".css")):
            files[name] = mended(name, data.decode("utf-8"), files, home).encode()
    for name in NAVIGATION:
        files[name] = numbered(files[name].decode("utf-8"), numbers).encode()
    for name in unseen(files):
        del files[name]
    files["content.opf"] = listed(files["content.opf"].decode("utf-8"), files).encode()
    with zipfile.ZipFile(book, "w") as packed:
        # First, and not compressed: this is how an EPUB is known.
        packed.writestr(zipfile.ZipInfo("mimetype"), files.pop("mimetype"))
        for name, data in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def needless(name: str) -> bool:
    """Return whether a file is a style that readers of EPUB do not understand."""
    return name.endswith(".css") and not name.endswith(PLAIN)


def unseen(files: dict[str, bytes]) -> set[str]:
    """Return the static files that no page and no style shows."""
    seen = {
        normpath(join(PurePosixPath(name).parent, found))
        for name, data in files.items()
        if name.endswith((".xhtml", ".css"))
        for found in SHOWN.findall(data.decode("utf-8"))
    }
    return {name for name in files if name.startswith("_static/")} - seen


def mended(name: str, text: str, files: dict[str, bytes], home: str) -> str:
    """Return a file of the book with its links and styles set right."""
    if name.endswith(".css"):
        return DIRECTION.sub("", FONT.sub("", text))
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

    def led(found: re.Match[str]) -> str:
        """A drawing links to pages of the site; here they have another ending."""
        page = str(PurePosixPath(found[2]).with_suffix(".xhtml"))
        return (
            f"{found[1]}{page}" if normpath(join(folder, page)) in files else found[0]
        )

    text = SITE.sub(led, text)
    text = STEP.sub("", SCRIPT.sub("", STYLE.sub(packed, WRONG.sub("", text))))
    text = ENTITY.sub(lambda found: escape(unescape(found[0])), text)
    text = FRACTION.sub(r"<mstyle\1><mfrac>\2</mstyle>", text)
    text = GROUP.sub(r'\1"document"', STYLED.sub(r"\1", STYLED.sub(r"\1", text)))
    text = SUMMARY.sub(
        lambda found: PARAGRAPH.sub(r"\1span", OPENED.sub("", found[0])), text
    )
    return BARE.sub(lambda tag: f'{tag[0]} xmlns="{SPACES[tag[1]]}"', text)


def numbered(contents: str, numbers: dict[str, str]) -> str:
    """Return a table of contents with each chapter's number before its title."""
    return TITLE.sub(
        lambda found: found[0] + numbers.get(found[1] or found[2], ""), contents
    )


def listed(manifest: str, files: dict[str, bytes]) -> str:
    """Return the manifest, in which each page says what it holds."""

    def item(found: re.Match[str]) -> str:
        text = files.get(found[1], b"").decode("utf-8", "ignore")
        if found[1] not in files:
            return ""
        holds = " ".join(name for name, sign in HOLDS.items() if sign in text)
        if not holds or not found[1].endswith(".xhtml") or "properties=" in found[0]:
            return found[0]
        return found[0].replace("<item ", f'<item properties="{holds}" ', 1)

    return ITEM.sub(item, manifest)
