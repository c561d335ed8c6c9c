"""What a page may import, and on what its outputs depend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mystangle import Book, Settings
from mystangle.sphinx.imports import imported_names, module_of, reach
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
    return view_of(book, chapter, {Path(p): t.encode() for p, t in support.items()})


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


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b, c as d", {"a.b", "c"}),
        ("from a import b", {"a", "a.b"}),
        ("def f():\n    from a.b import *", {"a.b", "a.b.*"}),
        ("from . import x", {"p.q", "p.q.x"}),
        ("from ..r import x", {"p.r", "p.r.x"}),
        ("import importlib", None),
        ("import subprocess as s", None),
        ("__import__('a')", None),
        ("exec('import a')", None),
        ("%timeit import_a()", None),
        ("x = = 1", None),
    ],
)
def test_imports_are_read_and_doubt_means_everything(
    source: str, names: set[str] | None
) -> None:
    assert imported_names(source, "p.q") == names


def test_reach_follows_imports_of_imports_and_packages() -> None:
    files = {
        "p/__init__.py": b"",
        "p/a.py": b"from .b import x",
        "p/b.py": b"",
        "c.py": b"",
    }
    modules = {
        m.name: m for m in (module_of(path, data) for path, data in files.items())
    }
    seen = reach(modules, ["import p.a, numpy.linalg"])
    assert seen.inside == {"p", "p.a", "p.b"}
    assert seen.outside == {"numpy"}
    assert reach(modules, ["import c", "import runpy"]).inside == set(modules)


def test_a_digest_changes_with_what_the_cells_can_see_and_nothing_else() -> None:
    def digest(cell: str, **changed: str) -> str:
        files = {
            "p/__init__.py": "",
            "p/a.py": "import p.b",
            "p/b.py": "",
            "p/c.py": "",
        }
        files |= {f"p/{name}.py": text for name, text in changed.items()}
        return View({p: t.encode() for p, t in files.items()}, {}).digest([cell])

    assert digest("import p.a") == digest("import p.a", c="C = 1")
    assert digest("import p.a") != digest("import p.a", b="B = 1")
    assert digest("1 + 1") == digest("1 + 1", a="A = 1", b="B = 1", c="C = 1")
    assert digest("%run x") != digest("%run x", c="C = 1")
    assert digest("import numpy") != digest("import mpmath")


def test_support_files_are_modules_or_data(tmp_path: Path) -> None:
    helper, data = tmp_path / "helper.py", tmp_path / "numbers.csv"
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/__init__.py").touch()
    packed = tmp_path / "pack/inner.py"

    def made(**texts: str) -> View:
        both = {helper: "import p", data: "1", packed: ""}
        both |= {
            tmp_path / name.replace("__", "."): text for name, text in texts.items()
        }
        return View({"p.py": b"P = 1"}, {p: t.encode() for p, t in both.items()})

    assert set(made().modules) == {"p", "helper", "pack.inner"}
    assert set(made().support_roots.values()) == {tmp_path}
    assert made().digest(["1"]) == made(helper__py="import p, re").digest(["1"])
    assert made().digest(["import helper"]) != made(helper__py="").digest(
        ["import helper"]
    )
    assert made().digest(["1"]) != made(numbers__csv="2").digest(["1"])


def test_later_modules_say_where_they_begin(book: Book, tmp_path: Path) -> None:
    installed = view(book, 3).export(tmp_path / "installed")
    for chapter, module, begun in [
        (1, "p.c", "two"),
        (1, "q", "two"),
        (1, "q.deep.late", "two"),
        (1, "top", "three"),
        (2, "top", "three"),
    ]:
        folders = [*view(book, chapter).export(tmp_path / "views"), *installed]
        said = run(folders, f"import {module}")
        name = "q" if module.startswith("q") else module
        line = f"ImportError: {name} is begun in {begun}; this page stands before it"
        assert said.rstrip().endswith(line)


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
    assert set(made.modules) == set(view(book, 1).modules)
    code = "from importlib.resources import files; "
    code += "print(files('p').joinpath('names.txt').read_text(), end='')"
    assert run(made.export(tmp_path / "views"), code) == "ann\n"
    (tmp_path / "src/p/names.txt").write_text("bob\n", "utf-8")
    changed = view_of(with_data, 1, {})
    assert changed.digest(["1"]) != made.digest(["1"])
