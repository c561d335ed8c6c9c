"""Chapters whose bytes matter: line ends, encodings, marks (see `bytes/`)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mystangle import Book, Settings

BYTES = Path(__file__).parent / "bytes"


def read(root: Path, name: str) -> Book:
    shutil.copy((BYTES / name).with_suffix(".chapter"), root / name)
    (root / "_toc.yml").write_text(f"root: {name.removesuffix('.md')}\n")
    return Book.read(Settings(root=root))


def test_crlf_chapter_gives_lf_file(tmp_path: Path) -> None:
    assert b"\r\n" in (BYTES / "crlf.chapter").read_bytes()
    book = read(tmp_path, "crlf.md")
    assert book.problems == ()
    file = book.snapshot().files["x.py"]
    body = b'    """Return one.\n\n    Truly.\n    """\n    return 1\n'
    assert file.data == b"def f():\n" + body
    places = [line.location.line for line in file.lines if line.location]
    assert places == [7, 8, 9, 10, 11, 12]


def test_mixed_line_ends_count_alike(tmp_path: Path) -> None:
    book = read(tmp_path, "mixed.md")
    assert {str(p.location) for p in book.problems} == {"mixed.md:8"}


@pytest.mark.parametrize(
    ("name", "line", "kind", "words"),
    [
        ("latin1.md", 3, "encoding", "got byte 0xe9 at offset 33"),
        ("utf16.md", 1, "encoding", "got byte 0xff at offset 0"),
        ("bom.md", 1, "encoding", "byte order mark"),
        ("bom_cell_first.md", 1, "encoding", "byte order mark"),
        ("nul.md", 7, "encoding", "NUL"),
        ("lone_cr.md", 7, "altered", "lone carriage return"),
        ("surrogate.md", 5, "encoding", "got byte 0xed"),
    ],
)
def test_bytes_that_are_refused(
    tmp_path: Path, name: str, line: int, kind: str, words: str
) -> None:
    problems = read(tmp_path, name).problems
    first = problems[0]
    assert (first.location.path, first.location.line, first.kind) == (name, line, kind)
    assert words in first.message


def test_an_empty_chapter_and_one_without_a_line_end(tmp_path: Path) -> None:
    assert read(tmp_path, "empty.md").snapshot().files == {}
    book = read(tmp_path, "no_line_end.md")
    assert book.snapshot().files["x.py"].data == b"x = 1\n"
