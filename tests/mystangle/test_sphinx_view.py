"""What a page may import, and on what its outputs depend."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from mystangle import Book, Settings
from mystangle.sphinx import view as views
from mystangle.sphinx.view import View, prune, view_of

CHAPTERS = {
    "one": {
        "p/__init__.py": '"""P."""',
        "p/a.py": "from . import b",
        "p/b.py": "B = 1",
    },
    "two": {
        "p/c.py": "import p.a",
        "q/deep/late.py": "L = 1",
        "q/__init__.py": "Q = 1",
    },
    "three": {"q/deep/__init__.py": "D = 1", "top.py": "import p.c"},
}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """Three chapters that define files and nothing else."""
    (tmp_path / "_toc.yml").write_text(
        "root: one\nchapters:\n- file: two\n- file: three\n", "utf-8"
    )
    for name, files in CHAPTERS.items():
        cells = [
            f"```{{code-cell}} python\n#| file: {path}\n{code}\n```\n"
            for path, code in files.items()
        ]
        head = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n# T\n\n"
        (tmp_path / f"{name}.md").write_text(head + "\n".join(cells), "utf-8")
    read = Book.read(Settings(root=tmp_path))
    read.require_sound()
    return read


def view(book: Book, chapter: int, **support: str) -> View:
    return view_of(book, chapter, {p: t.encode() for p, t in support.items()})


def run(folders: list[Path], code: str) -> str:
    """Run code with these folders first, and the whole book's package behind them."""
    path = os.pathsep.join(map(str, folders))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout + done.stderr


def test_the_key_changes_with_all_that_exists_as_of_a_chapter(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(chapter: int, where: str, old: str, new: str) -> str:
        path = f"{where}.md"
        text = (book.settings.root / path).read_text("utf-8")
        assert text.count(old) == 1
        changed = Book.read(book.settings, {path: text.replace(old, new)})
        changed.require_sound()
        return view_of(changed, chapter, {}).key

    one, two = view(book, 1).key, view(book, 2).key
    assert edited(1, "one", "B = 1", "B = 2") != one
    assert edited(2, "one", "B = 1", "B = 2") != two
    assert edited(1, "one", "# T", "# Another title") == one
    assert edited(1, "two", "import p.a", "import p.b") == one
    assert edited(2, "two", "import p.a", "import p.b") != two
    assert edited(1, "two", "file: p/c.py", "file: p/z.py") == one
    assert edited(1, "two", "file: q/__init__.py", "file: new.py") == one
    with_support = {view(book, 1, **{p: t}).key for p in ("a/x", "b/x") for t in "12"}
    assert len({one, *with_support}) == 5
    monkeypatch.setattr(views, "_versions", lambda: ("another Python",))
    assert view(book, 1).key != one


def test_versions_are_those_of_python_and_of_all_that_is_installed() -> None:
    versions = views._versions()
    assert platform.python_version() in versions
    assert f"ipykernel {metadata.version('ipykernel')}" in versions
    assert f"pytest {metadata.version('pytest')}" in versions


def test_support_files_are_imported_from_the_folder_of_their_package(
    tmp_path: Path,
) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/__init__.py").touch()
    support = {"pack/inner.py": b"", "helpers/h.py": b"", "numbers.csv": b"1"}
    made = View({"p.py": b"P = 1"}, support, frozenset(), tmp_path)
    assert made.support_roots == [tmp_path, tmp_path / "helpers"]


def test_later_modules_are_missing_in_the_words_of_python(
    book: Book, tmp_path: Path
) -> None:
    installed = view(book, 3).export(tmp_path / "installed")
    for chapter, module, missing in [
        (1, "p.c", "p.c"),
        (1, "q", "q"),
        (1, "q.deep.late", "q"),
        (1, "top", "top"),
        (2, "top", "top"),
        (1, "nowhere", "nowhere"),
    ]:
        folders = [*view(book, chapter).export(tmp_path / "views"), *installed]
        said = run(folders, f"import {module}")
        line = f"ModuleNotFoundError: No module named '{missing}'"
        assert said.rstrip().endswith(line)
    folders = [*view(book, 1).export(tmp_path / "views"), *installed]
    listing = "import os, p; print(sorted(os.listdir(p.__path__[0])))"
    assert run(folders, listing) == "['__init__.py', 'a.py', 'b.py']\n"


def test_what_is_there_wins_over_the_installed_package(
    book: Book, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    for path in ("q/deep/__init__.py", "p/extra.py", "q/deep/late.py"):
        file = installed / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("raise SystemExit('leaked')", "utf-8")
    folders = [*view(book, 2).export(tmp_path / "views"), installed]
    assert run(folders, "import q.deep.late as m; print(m.L)") == "1\n"
    assert "No module named 'p.extra'" in run(folders, "import p.extra")


def test_equal_views_share_a_folder_and_unused_ones_go(
    book: Book, tmp_path: Path
) -> None:
    one, two = view(book, 1), view(book, 2)
    assert view(book, 1).name == one.name != two.name
    one.export(tmp_path)
    two.export(tmp_path)
    one.export(tmp_path)
    prune(tmp_path, {one.name})
    assert [folder.name for folder in tmp_path.glob("[0-9a-f]*")] == [one.name]


def test_data_files_are_part_of_the_package_as_of_every_chapter(
    book: Book, tmp_path: Path
) -> None:
    (tmp_path / "src/p").mkdir(parents=True)
    (tmp_path / "src/p/names.txt").write_text("ann\n", "utf-8")
    settings = Settings(root=tmp_path, data=("p/*.txt",))
    with_data = Book.read(settings)
    made = view_of(with_data, 1, {})
    assert made.files["p/names.txt"] == b"ann\n"
    code = "from importlib.resources import files; "
    code += "print(files('p').joinpath('names.txt').read_text(), end='')"
    assert run(made.export(tmp_path / "views"), code) == "ann\n"
    (tmp_path / "src/p/names.txt").write_text("bob\n", "utf-8")
    changed = view_of(with_data, 1, {})
    assert changed.key != made.key
