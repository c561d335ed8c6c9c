"""Paths that a page must not show, and the places of warnings that name none."""

from __future__ import annotations

import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mystangle.sphinx.places import place_of
from mystangle.sphinx.strict import machine_path

ROOT = Path("/srv/books/white")


@pytest.mark.parametrize(
    "text",
    [
        "in /srv/books/white/src/x.py",
        "'/srv/books/white'",
        'href="file:///srv/books/white/a.html"',
        r"'\\srv\\books\\white\\x'",
        f"{Path.home()}/.cache",
        f"{tempfile.gettempdir()}/ipykernel_123/456.py:1: UserWarning",
        f"'{tempfile.gettempdir()}'",
        f"{tempfile.gettempdir()}/tmpabc/x",
        sysconfig.get_path("purelib") + "/numpy/core.py:3",
        sysconfig.get_path("stdlib") + "/json/decoder.py",
    ],
)
def test_a_path_is_found(text: str) -> None:
    assert machine_path(text, ROOT)


@pytest.mark.parametrize(
    "text",
    [
        "/srv/books/whiteness",
        "x/srv/books/white/y",
        f"square{Path.home().as_posix()}s",
        "/usr/bin/env python",
        "a page about src/whitebox_gpt/value.py",
    ],
)
def test_other_text_is_not(text: str) -> None:
    assert machine_path(text, ROOT) is None


@pytest.fixture
def app(tmp_path: Path) -> Any:
    """A book of two pages, as far as its places need one."""
    (tmp_path / "one.md").write_text("foo\n\nBy {foo}`x`.\n", "utf-8")
    (tmp_path / "two.md").write_text(":label: thm-a\n:label: thm-a\n", "utf-8")
    env = SimpleNamespace(
        found_docs={"one", "two"}, doc2path=lambda name, _: f"{name}.md"
    )
    return SimpleNamespace(srcdir=str(tmp_path), env=env)


@pytest.mark.parametrize(
    ("where", "text", "place"),
    [
        (None, 'Unknown interpreted text role "foo".', "one.md:3"),
        (None, 'Unknown interpreted text role "fo".', "_config.yml:1"),
        (None, "something is amiss", "_config.yml:1"),
        ("two.rst", "duplicate theorem label 'thm-a', other in x", "two.md:2"),
        ("two", "duplicate label: thm-a; other instance in x", "two.md:2"),
        ("two:7", "duplicate label: thm-a; other instance in x", "two.md:7"),
        ("one:", "something is amiss", "one.md:1"),
        (("one", 2), "something is amiss", "one.md:2"),
        (".rst.rst", "undefined label: thm-a", "two.md:2"),
    ],
)
def test_a_warning_has_a_place(app: Any, where: object, text: str, place: str) -> None:
    assert str(place_of(app, where, text)) == place


def test_a_page_may_be_told_by_its_whole_path(app: Any) -> None:
    where = str(Path(app.srcdir, "two"))
    assert str(place_of(app, where, "label 'thm-a' not found.")) == "two.md:2"
