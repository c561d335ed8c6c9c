"""What the foot of a page says of tests is true of the files as they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from _ext import foot

FILES = (
    "_config.yml",
    "_toc.yml",
    "book/_ext/static/site.css",
    "book/_ext/static/steps.js",
    "book/one.md",
    "book/references.bib",
    "pyproject.toml",
    "src/package/data.txt",
    "tests/data/numbers.csv",
)


@pytest.fixture
def tested(tmp_path: Path) -> Path:
    """A repository in which the whole suite has just passed."""
    for name in (*FILES, ".gitignore"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("_build/\n", "utf-8")
    for call in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *call], cwd=tmp_path, check=True)
    foot.record(tmp_path, 12)
    assert foot.tested(tmp_path) == "12 tests passed on this state"
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_after_a_change_of_any_file_nothing_is_claimed(tested: Path, name: str) -> None:
    (tested / name).write_text("other", "utf-8")
    assert foot.tested(tested) == "tests not yet run on this state"


def test_a_new_file_counts_and_a_built_one_does_not(tested: Path) -> None:
    (tested / "_build" / "page.html").write_text("made", "utf-8")
    assert foot.tested(tested) == "12 tests passed on this state"
    (tested / "tests" / "test_new.py").write_text("", "utf-8")
    assert foot.tested(tested) == "tests not yet run on this state"


def test_a_removed_file_counts(tested: Path) -> None:
    (tested / FILES[-1]).unlink()
    assert foot.tested(tested) == "tests not yet run on this state"


def test_without_a_repository_nothing_is_said(tmp_path: Path) -> None:
    foot.record(tmp_path, 12)
    assert foot.tested(tmp_path) == ""
