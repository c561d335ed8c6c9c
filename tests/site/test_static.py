"""The site's own files reach a site that is already built."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _ext import site


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a style sheet and a font, in the place of the site's own."""
    monkeypatch.setattr(site, "STATIC", tmp_path)
    (tmp_path / "fonts").mkdir()
    (tmp_path / "site.css").write_text("p {}", "utf-8")
    (tmp_path / "fonts" / "book.woff2").write_bytes(b"wOF2")
    return tmp_path


def build(env: Any) -> list[str]:
    """Return the pages that a build reads again for the sake of files."""
    app: Any = None
    return site.outdated(app, env, set(), set(), set())


@pytest.mark.parametrize("name", ["site.css", "fonts/book.woff2", "new.js"])
def test_a_changed_file_has_one_page_read_again(files: Path, name: str) -> None:
    env = SimpleNamespace(config=SimpleNamespace(root_doc="index"))
    assert build(env) == ["index"]
    assert build(env) == []
    (files / name).write_text("other", "utf-8")
    assert build(env) == ["index"]
    assert build(env) == []


def test_a_page_that_is_gone_leaves_nothing(tmp_path: Path) -> None:
    made = (
        "_sources/book/gone.md",
        "_sources/book/gone.ipynb",
        "_sources/book/here.md",
        "book/gone.html",
        "book/here.html",
        "chunks.html",
        "tangled/book/gone.html",
    )
    for name in made:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    site.remove_old(tmp_path, {"book/here"})
    left = [file for file in tmp_path.rglob("*") if file.is_file()]
    names = {file.relative_to(tmp_path).as_posix() for file in left}
    assert names == {*made[2:3], *made[4:]}
