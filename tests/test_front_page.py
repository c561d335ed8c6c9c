"""The drawing on the front page: what is written is a link, the rest is grey."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from mystangle import Book

SVG = "{http://www.w3.org/2000/svg}"
ALL = [f"{number:02}" for number in range(1, 16)]


def drawing(
    book: Book, toc: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> ElementTree.Element:
    """Return the SVG that the front page's cell draws beside a table of contents."""
    (page,) = (chapter for chapter in book.chapters if chapter.docname == "book/index")
    (cell,) = (cell for cell in page.cells if "STAGES" in cell.source)
    (folder / "_toc.yml").write_text(toc, encoding="utf-8")
    place = str(folder / "book" / "figures.py")
    figures = SimpleNamespace(__file__=place, Inline=lambda svg: svg)
    monkeypatch.setitem(sys.modules, "figures", figures)
    source = cell.source.replace("\nfigures.Inline(", "\nshown = figures.Inline(")
    space: dict[str, Any] = {}
    exec(source, space)
    svg = space["shown"].replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return ElementTree.fromstring(svg)


def stages(boxes: list[ElementTree.Element]) -> set[str]:
    return {stage(box) for box in boxes}


def stage(box: ElementTree.Element) -> str:
    """Return the number that a box shows first."""
    return "".join(box.find(f"{SVG}text").itertext())[:2]  # type: ignore[union-attr]


@pytest.mark.parametrize("written", [[], ["01", "02", "03"], ALL])
def test_a_box_is_a_link_if_its_chapter_is_in_the_table_of_contents(
    written: list[str],
    book: Book,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toc = "".join(f"- file: book/stage_{stage}_some_name\n" for stage in written)
    root = drawing(book, toc, tmp_path, monkeypatch)
    links = root.findall(f".//{SVG}a")
    grey = [g for g in root.iter(f"{SVG}g") if g.get("class") == "later"]
    assert stages(links) == set(written)
    assert stages(grey) == set(ALL) - set(written)
    for link in links:
        number = stage(link)
        assert link.get("href") == f"stage_{number}_some_name.html"
        assert link.findtext(f"{SVG}title", "").startswith(f"Stage {number}: ")


def test_the_picture_is_described_and_no_link_hides_inside_it(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toc = "- file: book/stage_01_value_graph\n"
    root = drawing(book, toc, tmp_path, monkeypatch)
    (picture,) = (g for g in root.iter() if g.get("role") == "img")
    alt = picture.get("aria-label") or ""
    assert set(re.findall(r"\((\d\d)\)", alt)) == set(ALL)
    assert alt.endswith("Written so far: 01")
    assert picture.find(f".//{SVG}a") is None


def test_no_two_boxes_cross(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = drawing(book, "", tmp_path, monkeypatch)
    rects = [
        tuple(float(rect.get(key, "nan")) for key in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
    ]
    for x, y, w, h in rects:
        assert x >= 0 and x + w <= 360 and y + h <= 720
        for x2, y2, w2, h2 in rects:
            apart = x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
            inside = x <= x2 and x2 + w2 <= x + w and y <= y2 and y2 + h2 <= y + h
            around = x2 <= x and x + w <= x2 + w2 and y2 <= y and y + h <= y2 + h2
            assert apart or inside or around


def test_the_ten_lines_are_those_that_were_run(book: Book) -> None:
    """The output under them is made by a cell of stage 03, which holds them too."""
    texts = {chapter.docname: chapter for chapter in book.chapters}
    (shown,) = re.findall(r"```python\n(.*?)```", texts["book/index"].text, re.S)
    assert len(shown.splitlines()) == 10
    stage = texts["book/stage_03_scalar_primitives"]
    (cell,) = (cell for cell in stage.cells if '"front_printed"' in cell.source)
    (run,) = re.findall(r'program = """\\\n(.*?)"""', cell.source, re.S)
    assert run == shown


def test_code_that_is_not_run_tells_no_result(book: Book) -> None:
    """No result was typed by hand: a comment in a solution may not hold one."""
    fence = re.compile(r"^(`{3,})(?:python|\{code-block\}.*)\n(.*?)^\1$", re.M | re.S)
    blocks = [
        (chapter.docname, block)
        for chapter in book.chapters
        for _, block in fence.findall(chapter.text)
    ]
    assert len(blocks) > 10
    told = [(page, *re.findall(r"#.*\d.*|>>> .*", block)) for page, block in blocks]
    assert [each for each in told if each[1:]] == []
