"""The EPUB of the book: accepted by epubcheck, whole, and nothing else asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from support import build

from mystangle import Book

pytestmark = [pytest.mark.xdist_group("site"), pytest.mark.slow]

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
OPF = "{http://www.idpf.org/2007/opf}"
NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
DC = "{http://purl.org/dc/elements/1.1/}"
# Debian's `epubcheck` is an archive of Java that only some shells can start.
ARCHIVE = shutil.which("epubcheck") or "/usr/share/java/epubcheck.jar"
LINKS = ("href", "src", "{http://www.w3.org/1999/xlink}href")
CHAPTER = "book/stage_02_chain_rule.xhtml"


@pytest.fixture(scope="session")
def epub(site: Path, book_copy: Path) -> Path:
    """The EPUB, built beside the site by the command of `make epub`.

    It takes what the site's build has run, so that no cell is run again.
    """
    out = book_copy / "_build" / "epub"
    cache = Path("_build", ".jupyter_cache")
    shutil.copytree(book_copy / cache, out / cache)
    build(
        book_copy,
        *("--builder", "custom", "--custom-builder", "epub", "-W", "--keep-going"),
        *("--path-output", str(out)),
    )
    (made,) = (out / "_build" / "epub").glob("*.epub")
    return made


@pytest.fixture(scope="session")
def files(epub: Path) -> dict[str, bytes]:
    """What the EPUB holds, by name."""
    with zipfile.ZipFile(epub) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.fixture(scope="session")
def sheets(files: dict[str, bytes]) -> dict[str, ElementTree.Element]:
    """Its pages, read by a parser of XML, which minds what browsers forgive."""
    return {
        name: ElementTree.fromstring(data)
        for name, data in files.items()
        if name.endswith(".xhtml")
    }


def test_epubcheck_finds_nothing(epub: Path, tmp_path: Path) -> None:
    java = shutil.which("java")
    if not java or not Path(ARCHIVE).is_file():
        message = "no epubcheck (apt-get install epubcheck default-jre-headless)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    report = tmp_path / "report.json"
    call = [java, "-jar", ARCHIVE, str(epub), "--json", str(report), "--quiet"]
    subprocess.run(call, capture_output=True, check=False)
    told = json.loads(report.read_text("utf-8"))
    assert told["publication"]["title"] == "White-Box GPT"
    assert [f"{each['ID']}: {each['message']}" for each in told["messages"]] == []


def test_it_says_what_it_is(files: dict[str, bytes]) -> None:
    package = ElementTree.fromstring(files["content.opf"])
    said = {each.tag: each.text for each in package.iter() if each.tag.startswith(DC)}
    assert said[f"{DC}title"] == "White-Box GPT"
    assert {tag for tag, text in said.items() if not text or "unknown" in text} == set()


def test_its_contents_are_all_pages_in_their_order(
    files: dict[str, bytes], sheets: dict[str, ElementTree.Element], book: Book
) -> None:
    chapters = [f"{chapter.docname}.xhtml" for chapter in book.chapters]
    listed = [link.get("href") for link in sheets["nav.xhtml"].iter(f"{XHTML}a")]
    assert listed == chapters
    package = ElementTree.fromstring(files["content.opf"])
    place = {each.get("id"): each.get("href") for each in package.iter(f"{OPF}item")}
    read = [place[each.get("idref")] for each in package.iter(f"{OPF}itemref")]
    assert [page for page in read if page in chapters] == chapters


def test_its_contents_number_the_chapters_as_the_site_does(
    site: Path, files: dict[str, bytes], sheets: dict[str, ElementTree.Element]
) -> None:
    page = BeautifulSoup((site / "book/index.html").read_text("utf-8"), "html.parser")
    sidebar = [link.get_text().strip() for link in page.select("nav.bd-links li a")]
    listed = ["".join(a.itertext()) for a in sheets["nav.xhtml"].iter(f"{XHTML}a")]
    assert listed[1:] == sidebar[: len(listed) - 1]  # then come indexes of code
    assert listed[2] == "1. A scalar that remembers"
    older = ElementTree.fromstring(files["toc.ncx"])
    texts = [each.text for each in older.iter(f"{NCX}text")]
    assert texts[-len(listed) :] == listed


def test_every_link_and_picture_is_in_it(
    files: dict[str, bytes], sheets: dict[str, ElementTree.Element]
) -> None:
    anchors = {
        name: {each.get("id") for each in sheet.iter()}
        for name, sheet in sheets.items()
    }
    broken = []
    for name, sheet in sheets.items():
        for link in (each.get(key) for each in sheet.iter() for key in LINKS):
            parts = urlsplit(link or "")
            if link is None or parts.scheme in ("http", "https", "data"):
                continue
            path = normpath(join(dirname(name), unquote(parts.path)))
            path = path if parts.path else name
            where = unquote(parts.fragment)
            if path not in files or (where and where not in anchors[path]):
                broken.append((name, link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_run(
    files: dict[str, bytes], sheets: dict[str, ElementTree.Element]
) -> None:
    for name, sheet in sheets.items():
        for each in sheet.iter():
            assert each.tag != f"{XHTML}script", name
            assert not any(key.startswith("on") for key in each.attrib), name
            if each.tag != f"{XHTML}a" and each.tag != f"{SVG}a":
                outside = [each.get(key, "") for key in LINKS]
                assert not any(link.startswith("http") for link in outside), name
    for name, data in files.items():
        assert not (name.endswith(".css") and b"http" in data.lower()), name


def test_a_chapter_has_its_formulas_pictures_and_solutions(
    sheets: dict[str, ElementTree.Element],
) -> None:
    sheet = sheets[CHAPTER]
    assert len(list(sheet.iter(f"{MATHML}math"))) > 20
    pictures = [each for each in sheet.iter(f"{SVG}svg") if each.get("role") == "img"]
    assert pictures
    assert all(each.get("aria-label") for each in pictures)
    classes = [set(each.get("class", "").split()) for each in sheet.iter()]
    assert sum("exercise" in names for names in classes) >= 4
    assert sum("solution" in names for names in classes) >= 4
    assert sum("mystangle-chunk" in names for names in classes) > 10


def test_formulas_of_many_lines_are_as_large_as_others(
    sheets: dict[str, ElementTree.Element],
) -> None:
    aligned = [each for s in sheets.values() for each in s.iter(f"{MATHML}mtable")]
    assert aligned
    assert {each.get("displaystyle") for each in aligned} == {"true"}


def test_every_style_and_picture_of_it_is_used(
    files: dict[str, bytes], sheets: dict[str, ElementTree.Element]
) -> None:
    styles = {
        normpath(join(dirname(name), str(link.get("href"))))
        for name, sheet in sheets.items()
        for link in sheet.iter(f"{XHTML}link")
    }
    packed = {name for name in files if name.endswith(".css")}
    assert packed - styles <= {"_static/basic.css"}  # which epub.css imports
    assert "_static/book-epub.css" in styles
