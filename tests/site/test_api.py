"""The API reference: all that can be imported, told, linked, and led back to."""

from __future__ import annotations

import inspect
import pkgutil
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from bs4 import BeautifulSoup, Tag

import whitebox_gpt

pytestmark = pytest.mark.xdist_group("site")

HERE = "book/api.html"
CONSTANT = re.compile(r"^([A-Za-z]\w*(?:, [A-Za-z]\w*)*)(?:: .*)? = ", re.M)


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text("utf-8"), "html.parser")


def modules() -> list[ModuleType]:
    """Return the modules of the package but those that repeat a chapter."""
    found = pkgutil.walk_packages(whitebox_gpt.__path__, "whitebox_gpt.")
    names = [each.name for each in found if ".stages" not in each.name]
    return [import_module(name) for name in names if not name.endswith("__main__")]


def importable() -> set[str]:
    """Return every public name, as Python itself tells them."""
    found = set()
    for module in modules():
        for name, thing in vars(module).items():
            is_own = getattr(thing, "__module__", "") == module.__name__
            is_definition = inspect.isfunction(thing) or inspect.isclass(thing)
            if is_own and is_definition and not name.startswith("_"):
                found.add(f"{module.__name__}.{name}")
                found |= {f"{module.__name__}.{name}.{each}" for each in defined(thing)}
        for names in CONSTANT.findall(inspect.getsource(module)):
            found |= {f"{module.__name__}.{name}" for name in names.split(", ")}
    return found


def defined(thing: object) -> set[str]:
    """Return the public methods and properties that a class itself defines."""
    kinds = (property, classmethod, staticmethod)
    return {
        name
        for name, each in vars(thing).items()
        if inspect.isclass(thing)
        and not name.startswith("_")
        and (inspect.isfunction(each) or isinstance(each, kinds))
    }


@pytest.fixture(scope="module")
def entries(site: Path) -> dict[str, Tag]:
    """What the page says of each name; fields of objects are told with their class."""
    found = parsed(site / HERE).select("dl.py:not(.attribute) > dt.sig")
    return {str(tag["id"]): tag for tag in found}


def attributes(kind: type) -> set[str]:
    """Return the public data that objects of a class of the package carry.

    Declared, slotted, or fields of a named tuple; of an error, what it is given.
    """
    found: set[str] = set()
    for base in kind.__mro__:
        if base.__module__.startswith("whitebox_gpt"):
            slots = vars(base).get("__slots__", ())
            found |= {slots} if isinstance(slots, str) else {*slots}
            found |= {*inspect.get_annotations(base), *getattr(base, "_fields", ())}
    if issubclass(kind, Exception):
        found |= {*vars(kind("where", "rule", "got"))}
    return {name for name in found if not name.startswith("_")}


def field(entry: Tag, name: str) -> Tag | None:
    """Return what a field of an entry says."""
    rows = entry.find_next_sibling("dd").select(":scope > .api-fields > dt")
    return next((r.find_next_sibling("dd") for r in rows if r.text == name), None)


def code(link: Tag, site: Path) -> Tag:
    """Return what a link of the page leads to."""
    page, _, anchor = str(link["href"]).partition("#")
    found = parsed((site / HERE).parent / page).find(id=anchor)
    assert isinstance(found, Tag), link["href"]
    return found


def defines(text: str, name: str) -> bool:
    """Return whether a line of `text` defines a name."""
    known = rf"^\s*(?:(?:def|class) {name}\b|(?:\w+, )*{name}\b.* = )"
    return bool(re.search(known, text, re.M))


def test_every_public_name_has_an_entry(entries: dict[str, Tag]) -> None:
    assert {*entries} == importable()


def test_every_attribute_of_an_object_has_an_entry(site: Path) -> None:
    listed = {
        str(tag["id"]) for tag in parsed(site / HERE).select("dl.attribute > dt.sig")
    }
    carried = {}
    for module in modules():
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ == module.__name__ and not name.startswith("_"):
                carried[f"{module.__name__}.{name}"] = attributes(kind)
    root = whitebox_gpt.WhiteboxError
    known = f"{root.__module__}.{root.__name__}"
    for full, names in carried.items():
        # What every error has is told of the root of all errors.
        own = names - carried[known] if full.endswith("Error") else names
        own = names if full == known else own
        told = {each.removeprefix(f"{full}.") for each in listed if full in each}
        assert told == own, full
    assert {"where", "mend"} < carried[known]
    assert {"plan", "weight", "bias"} == carried["whitebox_gpt.linear.Linear"]


def test_a_module_begins_with_its_first_sentence(site: Path) -> None:
    headings = parsed(site / HERE).select("section > h2:has(~ dl, ~ span.target)")
    sections = {str(h.find(string=True)): h.parent for h in headings if h.parent}
    seen = 0
    for module in modules():
        first = re.split(r"(?<=[.!?])\s", module.__doc__ or "")[0].replace("`", "")
        if module.__name__ in sections:
            begun = sections[module.__name__].select_one("p")
            assert begun
            text = begun.get_text().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
            assert text.startswith(first), module.__name__
            seen += 1
    assert seen > 10


FORMS = (
    *("a + b", "a - b", "a * b", "a / b", "a ** b", "a @ b", "-a"),
    *("len(a)", "a[i]", "a[i, j]", "for x in a"),
)


@pytest.mark.parametrize(
    "thing",
    [
        whitebox_gpt.Value(2.0),
        whitebox_gpt.Vector([1.0]),
        whitebox_gpt.Matrix([[1.0]]),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_a_class_allows_what_works(thing: object, entries: dict[str, Tag]) -> None:
    kind = type(thing)
    told = field(entries[f"{kind.__module__}.{kind.__name__}"], "Allows")
    assert told
    works = []
    for form in FORMS:
        code = f"[x {form}]" if form.startswith("for") else form
        try:
            eval(code, {"a": thing, "b": 2.0, "i": 0, "j": 0})
        except TypeError:
            continue
        works.append(form)
    assert sorted(code.get_text() for code in told.select("code")) == sorted(works)


def test_the_overview_has_all_that_the_package_exports(site: Path) -> None:
    rows = parsed(site / HERE).select(".api-names > dt a")
    assert sorted(row.text for row in rows) == sorted(whitebox_gpt.__all__)
    for row in rows:
        full = str(row["href"]).removeprefix("#")
        module = import_module(full.rpartition(".")[0])
        assert getattr(module, row.text) is getattr(whitebox_gpt, row.text)


def test_each_entry_and_the_chunk_that_defines_it_lead_to_each_other(
    site: Path, entries: dict[str, Tag]
) -> None:
    for full, entry in entries.items():
        derived = field(entry, "Derived in")
        assert derived, full
        name = full.rpartition(".")[2]
        *_, chunk, line = derived.select("a")
        figure = code(chunk, site)
        assert defines(figure.pre.text, name), full
        row = code(line, site)
        gutter = row.select_one(".mystangle-gutter")
        assert gutter and defines(row.text.removeprefix(gutter.text), name), full
        back = [str(link["href"]) for link in figure.select(".mystangle-around a")]
        assert f"api.html#{full}" in back


def test_a_chunk_leads_only_to_names_that_it_defines(
    site: Path, pages: list[str], entries: dict[str, Tag]
) -> None:
    count = 0
    for page in pages:
        for link in parsed(site / page).select(
            ".mystangle-around a[href*='api.html#']"
        ):
            full = str(link["href"]).partition("#")[2]
            assert full in entries
            figure = link.find_parent("figure")
            assert figure and figure.pre
            assert defines(figure.pre.text, full.rpartition(".")[2]), (page, full)
            count += 1
    assert count >= len(entries)


def test_what_the_package_does_not_export_says_how_to_import_it(
    entries: dict[str, Tag],
) -> None:
    for full, entry in entries.items():
        module, _, name = full.rpartition(".")
        told = field(entry, "Import")
        is_member = bool(entry.find_parent("dl").find_parent("dl", class_="py"))
        exported = getattr(whitebox_gpt, name, None)
        is_exported = getattr(exported, "__module__", "") == module
        assert bool(told) != (is_member or is_exported), full
        if told:
            space: dict[str, object] = {}
            exec(told.text.strip(), space)
            assert name in space


def unlinked(tags: list[Tag], names: set[str]) -> set[str]:
    """Return those of `names` that stand in the text of `tags` and lead nowhere."""
    texts = [text for tag in tags for text in tag.find_all(string=True)]
    plain = " ".join(text for text in texts if not text.find_parent("a"))
    return names & {*re.findall(r"\w+", plain)}


def test_errors_in_text_and_types_in_signatures_are_links(
    entries: dict[str, Tag],
) -> None:
    errors = {name for name in whitebox_gpt.__all__ if name.endswith("Error")}
    types = errors | {"Value", "Vector", "Matrix", "ModelPlan", "Comparison", "Spot"}
    for full, entry in entries.items():
        inside = entry.find_next_sibling("dd")
        own = {*full.split(".")}
        texts = inside.select(":scope > p, :scope > .api-fields > dd")
        assert unlinked(texts, errors) <= own, full
        assert unlinked(entry.select(".sig-param, .sig-return"), types) == set(), full


def test_each_source_leads_to_its_reference(entries: dict[str, Tag]) -> None:
    found = [row for row in (field(e, "Source") for e in entries.values()) if row]
    assert any("references.html" in str(row) for row in found)
    for row in found:
        assert row.select("a")
        assert unlinked([row], {*re.findall(r"\d{4}", row.text)}) == set()


def test_every_list_of_definitions_begins_with_a_term(site: Path) -> None:
    lists = parsed(site / HERE).select("article dl")
    assert lists
    assert [str(each)[:80] for each in lists if not each.select(":scope > dt")] == []


def test_each_base_of_an_error_is_told(entries: dict[str, Tag]) -> None:
    for name in whitebox_gpt.__all__:
        if name.endswith("Error"):
            made = getattr(whitebox_gpt, name)
            bases = field(entries[f"{made.__module__}.{name}"], "Bases")
            assert bases
            told = re.findall(r"\w+", bases.text)
            assert told == [base.__name__ for base in made.__bases__]
