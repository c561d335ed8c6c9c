"""What the indexes must say, found out in other ways than the site does."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from looking import PHONE
from playwright.sync_api import Browser
from support import ROOT

import whitebox_gpt
from mystangle import Book

pytestmark = pytest.mark.xdist_group("site")

HEAD = "| failure | where it is stopped | what a later discovery costs |\n"
RAISE = re.compile(r"^ *raise (\w+)\(.*$", re.M)
MAKER = re.compile(r"^def (\w+)\([^)]*\) -> (\w+Error):", re.M)


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text("utf-8"), "html.parser")


@cache
def modules() -> tuple[object, ...]:
    found = pkgutil.walk_packages(whitebox_gpt.__path__, "whitebox_gpt.")
    names = (each.name for each in found if not each.name.endswith("__main__"))
    return whitebox_gpt, *map(importlib.import_module, names)


@cache
def errors() -> dict[str, type[Exception]]:
    """Return the package's public classes of errors, as Python knows them."""
    return {
        name: kind
        for module in modules()
        for name, kind in vars(module).items()
        if isinstance(kind, type)
        and issubclass(kind, Exception)
        and kind.__module__.startswith("whitebox_gpt")
        and not name.startswith("_")
    }


def sections(site: Path) -> dict[str, Tag]:
    """Return the sections of the index of errors by the names of the classes."""
    page = parsed(site / "book/errors.html")
    return {
        str(heading.find(string=True)): heading.parent
        for heading in page.select("article h2")
        if heading.parent
    }


def raised_in(text: str, makers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the class and the line of each statement that raises an error."""
    for line in RAISE.finditer(text):
        name = makers.get(line[1], line[1])
        if name in errors():
            yield name, line[0].strip()


def test_every_class_of_errors_has_its_section(site: Path) -> None:
    found = sections(site)
    assert set(found) == set(errors())
    for name, kind in errors().items():
        text = " ".join(found[name].get_text(" ", strip=True).split())
        assert " ".join((kind.__doc__ or "").split("\n\n")[0].split()) in text
        assert found[name].select(f"a[href='api.html#{kind.__module__}.{name}']")
        below = [each for each in errors().values() if kind in each.__bases__]
        # It has been raised or foreseen somewhere, or others extend it.
        assert found[name].select("li") or below, name
        (line,) = (p for p in found[name].select("p") if " extends " in p.get_text())
        given = [code.get_text() for code in line.select("code")[1:]]
        assert given == [base.__name__ for base in kind.__bases__]


def test_what_raises_an_error_is_listed_and_nothing_else(site: Path) -> None:
    texts = [
        file.read_text("utf-8")
        for file in sorted((ROOT / "src/whitebox_gpt").rglob("*.py"))
    ]
    makers = {name: kind for text in texts for name, kind in MAKER.findall(text)}
    written = {each for text in texts for each in raised_in(text, makers)}
    listed: set[tuple[str, str]] = set()
    for name, section in sections(site).items():
        for link in section.select("li a[href*='#chunk--']"):
            page, _, anchor = str(link["href"]).partition("#")
            figure = parsed(site / "book" / page).find(id=anchor)
            assert isinstance(figure, Tag)
            code = figure.select_one("pre")
            own = {
                each
                for each in raised_in(code.get_text() if code else "", makers)
                if each[0] == name
            }
            assert own, (name, str(link))
            listed |= own
    assert len(written) > 80
    assert listed == written


def failures(page: Path) -> list[Tag]:
    return parsed(page).select("table.contracts tbody > tr")


def texts(rows: list[Tag]) -> list[str]:
    return [" ".join(row.get_text(" ", strip=True).split()) for row in rows]


def chapters(site: Path, book: Book) -> list[Path]:
    return [
        site / f"{each.docname}.html" for each in book.chapters if HEAD in each.text
    ]


def test_every_row_of_the_chapters_tables_is_gathered(site: Path, book: Book) -> None:
    lines = [
        line
        for chapter in book.chapters
        for table in chapter.text.split(HEAD)[1:]
        for line in table.partition("\n\n")[0].splitlines()[1:]
    ]
    pages = chapters(site, book)
    gathered = failures(site / "book/contracts.html")
    assert len(gathered) == len(lines) > 60
    assert texts(gathered) == [text for page in pages for text in texts(failures(page))]
    headings = parsed(site / "book/contracts.html").select("article h2 > a[href]")
    links = [str(link["href"]) for link in headings if link.get_text() != "#"]
    assert links == [f"{page.name}#failures--1" for page in pages]


def test_an_error_leads_to_the_failures_that_name_it(site: Path, book: Book) -> None:
    named = {
        (code.get_text(), f"{page.name}#{row['id']}")
        for page in chapters(site, book)
        for row in failures(page)
        for code in row.select("code")
        if code.get_text() in errors()
    }
    linked = {
        (name, str(link["href"]))
        for name, section in sections(site).items()
        for link in section.select("li a[href*='#failure--']")
    }
    assert linked == named != set()


def test_a_public_name_in_a_table_leads_to_its_entry(site: Path, book: Book) -> None:
    wrong, linked = [], set()
    for page in [*chapters(site, book), site / "book/contracts.html"]:
        for code in parsed(page).select("table :is(td, th) code"):
            head = code.find_parent("table").find("th").get_text()
            name = code.get_text().removesuffix("()")
            link = code.find_parent("a")
            if link and "api.html#" in str(link["href"]):
                linked.add(name)
                assert not re.search(r"(^|\.)_", name)
                wrong += [name] if head not in ("name", "failure") else []
            elif name in whitebox_gpt.__all__ and head in ("name", "failure"):
                wrong.append(name)
    assert wrong == []
    assert {"KindError", "require_gradient"} <= linked


def test_indexes_name_chapters_by_their_numbers(site: Path, book: Book) -> None:
    page = parsed(site / "chunks.html")
    title = parsed(site / "book/stage_03_scalar_primitives.html").select_one("h1")
    assert title
    whole = f"3. {title.find(string=True)}"
    (term,) = (
        each
        for each in page.select("dt")
        if each.get_text() == "Refuse an exponent that is a Value"
    )
    place = term.parent.select_one("dd a") if term.parent else None
    assert place
    assert (place.get_text(), place["title"], place["aria-label"]) == (
        "3",
        whole,
        whole,
    )
    # No line says a title that a number could stand for.
    assert not any(whole[3:] in each.get_text() for each in page.select("dd"))
    names = {p.name for p in book.pieces if not p.is_file}
    assert {each.get_text() for each in page.select("h3 ~ dl dt")} == names


def test_a_foot_names_a_user_once_and_counts_the_rest(site: Path, book: Book) -> None:
    counted = 0
    for piece in book.pieces:
        users = [user.name for user in {user for user, _ in book.uses(piece.name)}]
        page = parsed(site / f"{piece.chapter.docname}.html")
        for name in page.select("figcaption > .mystangle-name"):
            foot = name.find_parent("figure").select_one(".mystangle-around")
            if name.get_text() == piece.name and users:
                assert foot
                used = foot.decode_contents().partition("used in ")[2]
                links = BeautifulSoup(used.partition(" · ")[0], "html.parser")
                texts = [link.get_text() for link in links.select("a")]
                numbers = [text for text in texts if re.fullmatch(r"\(\d\)", text)]
                assert {*texts} - {*numbers} == {*users}
                assert len(numbers) == len(users) - len({*users})
                assert all(link.get("title") for link in links.select("a")[1:])
                counted += len(numbers)
    assert counted


@pytest.mark.slow
def test_a_phone_shows_failures_as_lists(browser: Browser, served: str) -> None:
    tab = browser.new_page(viewport=PHONE)
    for name in ("contracts", "stage_02_chain_rule"):
        tab.goto(f"{served}book/{name}.html")
        cells = tab.locator("table.contracts tbody tr").first.locator("td")
        boxes = [each.bounding_box() for each in cells.all()]
        assert len(boxes) == 3
        assert len({box["x"] for box in boxes if box}) == 1
        label = "e => getComputedStyle(e, '::before').content"
        assert "where it is stopped" in cells.nth(1).evaluate(label)
        table = tab.locator("table.contracts").first
        assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    tab.close()
