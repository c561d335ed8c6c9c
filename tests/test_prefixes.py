"""Every prefix of the book is a working, typed, formatted and tested package."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import ROOT, run

from mystangle import Book, Settings
from mystangle.write import export_tree

pytestmark = pytest.mark.slow

STAGES = [
    (chapter.number, chapter.docname.rpartition("/")[2])
    for chapter in Book.read(Settings.load(ROOT)).chapters
    if "/stage_" in chapter.docname
]


@pytest.fixture(params=STAGES, ids=[stage for _, stage in STAGES])
def prefix(request: pytest.FixtureRequest, book: Book, tmp_path: Path) -> Path:
    """The package as tangled through one chapter, and the tests of stages up to it."""
    number, _ = request.param
    files = {p: file.data for p, file in book.snapshot(number).files.items()}
    export_tree(tmp_path / "src", {**book.settings.data_files(), **files})
    tests = tmp_path / "tests"
    tests.mkdir()
    for reached, stage in STAGES:
        if reached <= number:
            name = f"test_{stage}.py"
            (tests / name).write_bytes((ROOT / "tests" / name).read_bytes())
    return tmp_path


def test_the_tests_of_its_stages_pass(prefix: Path) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-n", "0", "-c", ROOT / "pyproject.toml")
    done = run(
        *("-m", "pytest", *options, "--rootdir", prefix, prefix / "tests"),
        PYTHONPATH=str(prefix / "src"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = run(
        "-c",
        "import whitebox_gpt as w; print(w.__file__)",
        PYTHONPATH=str(prefix / "src"),
    )
    assert seen.stdout.startswith(str(prefix)), "the tests saw another package"


def test_it_is_typed(prefix: Path) -> None:
    done = run(
        *(
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            "",
            "--cache-dir",
            prefix / "cache",
        ),
        *("-p", "whitebox_gpt"),
        MYPYPATH=str(prefix / "src"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("verb", [["check"], ["format", "--check"]], ids=" ".join)
def test_it_is_formatted_and_linted(prefix: Path, verb: list[str]) -> None:
    config = ROOT / "pyproject.toml"
    done = run("-m", "ruff", *verb, "--no-cache", "--config", config, prefix / "src")
    assert done.returncode == 0, done.stdout + done.stderr
