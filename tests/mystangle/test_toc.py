"""The chapters are the files of `_toc.yml`, in Jupyter Book's order."""

from __future__ import annotations

from pathlib import Path

import pytest
from sphinx_external_toc.parsing import parse_toc_yaml

from mystangle import Book, Settings, SettingsError
from mystangle.toc import read_toc

BOOK = """\
format: jb-book
root: index
options:
  numbered: true
parts:
- caption: One
  chapters:
  - file: part/a
    sections:
    - file: part/a1.md
    - url: https://example.org
      title: elsewhere
    - file: part/a2
      sections:
      - file: part/deep
  - file: part/b
- caption: Two
  chapters:
  - file: c
"""
PLAIN = "format: jb-book\nroot: index\nchapters:\n- file: b\n- file: a\n"
ARTICLE = "format: jb-article\nroot: index\nsections:\n- file: b\n- file: a\n"
DEFAULT = (
    "root: index\nsubtrees:\n- entries:\n  - file: b\n    subtrees:\n"
    "    - entries:\n      - file: c\n- file: a\n  entries:\n  - file: d\n"
)
TABBED = (
    "format: jb-book\nroot: index\nchapters:\n- sections:\n  - file: b\n  file: a\n"
)


def write(root: Path, toc: str, *names: str) -> Settings:
    (root / "_toc.yml").write_text(toc, encoding="utf-8")
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("# A page\n")
    return Settings(root=root)


@pytest.mark.parametrize(
    ("toc", "expected"),
    [
        (BOOK, "index part/a part/a1 part/a2 part/deep part/b c"),
        (PLAIN, "index b a"),
        (ARTICLE, "index b a"),
        (TABBED, "index a b"),
    ],
)
def test_the_order_is_jupyter_books(tmp_path: Path, toc: str, expected: str) -> None:
    names = expected.split()
    settings = write(tmp_path, toc, *(f"{name}.md" for name in names))
    assert read_toc(settings) == (names, [])
    known = {name.removesuffix(".md") for name in parse_toc_yaml(tmp_path / "_toc.yml")}
    assert known == set(names)


def test_globs_are_in_natural_order(tmp_path: Path) -> None:
    toc = "format: jb-book\nroot: index\nchapters:\n- glob: part/*\n"
    names = ["part/n1", "part/n2", "part/n10"]
    settings = write(tmp_path, toc, "index.md", *(f"{n}.md" for n in names))
    assert read_toc(settings) == (["index", *names], [])


def test_other_formats_are_passed_over(tmp_path: Path) -> None:
    settings = write(tmp_path, PLAIN, "index.md", "a.ipynb", "b.rst")
    assert read_toc(settings) == (["index"], [])


def test_numbers_paths_and_names(tmp_path: Path) -> None:
    book = Book.read(write(tmp_path, PLAIN, "index.md", "a.md", "b.md"))
    told = [(c.number, c.path, c.docname) for c in book.chapters]
    assert told == [(1, "index.md", "index"), (2, "b.md", "b"), (3, "a.md", "a")]


@pytest.mark.parametrize(
    ("toc", "line", "words"),
    [
        (PLAIN + "- file: none\n", 6, "got 'none', and there is no none.md"),
        (PLAIN + "- file: a.md\n", 6, "got 'a' again (first at _toc.yml:5)"),
        (PLAIN + "- file: ../a\n", 6, "must lie below the root, got '../a'"),
        (PLAIN + "- file: /etc/passwd\n", 6, "must lie below the root"),
        (PLAIN + "- file: part\n", 6, "got 'part'"),
    ],
)
def test_an_entry_that_is_wrong_is_told_at_its_line(
    tmp_path: Path, toc: str, line: int, words: str
) -> None:
    settings = write(tmp_path, toc, "index.md", "a.md", "b.md", "part/x.md")
    (problem,) = Book.read(settings).problems
    assert (problem.location.path, problem.location.line) == ("_toc.yml", line)
    assert words in problem.message


@pytest.mark.parametrize(
    ("toc", "words"),
    [
        ("", "_toc.yml:1: must be a mapping"),
        ("- file: a\n", "_toc.yml:1: must be a mapping"),
        ("chapters:\n- file: a\n", "_toc.yml:1: must be a mapping with `root:`"),
        ("root: a\nchapters: [\n", "_toc.yml:3: must be YAML"),
        ("root: a\x07\n", "_toc.yml: cannot be read"),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path: Path, toc: str, words: str) -> None:
    settings = write(tmp_path, toc, "a.md")
    with pytest.raises(SettingsError) as raised:
        Book.read(settings)
    assert str(raised.value).startswith(words)


def test_the_default_format_has_its_own_keys(tmp_path: Path) -> None:
    settings = write(tmp_path, DEFAULT, *(f"{n}.md" for n in ("index", *"abcd")))
    names, problems = read_toc(settings)
    assert (names[:3], problems) == (["index", "b", "c"], [])
