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
