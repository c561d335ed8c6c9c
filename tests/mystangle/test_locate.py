"""From the package to the book and back, also when a file was edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from smallbook import write

from mystangle import Book, Location, Settings, SettingsError, cli
from mystangle.locate import locate

VALUE = "src/pkg/value.py"


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.read(Settings.load(write(tmp_path)))


def test_lines_comments_and_blanks(book: Book) -> None:
    lines = book.snapshot().files["pkg/value.py"].text.splitlines()
    found = [str(locate(book, Location(VALUE, n))[0]) for n in range(1, len(lines) + 1)]
    assert list(zip(lines, found, strict=True)) == [
        ('"""A value."""', "book/one.md:7"),
        ("", "book/one.md:8"),
        ("import math", "book/one.md:19"),
        ("", "book/one.md:10"),
        ("", "book/one.md:11"),
        ("def half(x: float) -> float:", "book/one.md:12"),
        ("    # Refuse what is not a number", "book/one.md:13"),
        ("    if not math.isfinite(x):", "book/two.md:17"),
        ("        raise ValueError(x)", "book/two.md:18"),
        ("    return x / 2", "book/one.md:14"),
    ]


def test_a_chapters_line_is_where_it_landed(book: Book) -> None:
    assert locate(book, Location("book/one.md", 19)) == (Location(VALUE, 3),)
    assert locate(book, Location("book/one.md", 13)) == (Location(VALUE, 7),)


def test_a_superseded_line_names_what_replaced_it(book: Book) -> None:
    with pytest.raises(SettingsError, match=r"replaced at book/two\.md:15"):
        locate(book, Location("book/one.md", 24))


@pytest.mark.parametrize("line", [1, 5, 6, 15, 16])
def test_lines_that_are_no_code(book: Book, line: int) -> None:
    with pytest.raises(SettingsError, match="must be a line of a chunk"):
        locate(book, Location("book/one.md", line))


@pytest.mark.parametrize(
    ("path", "line"), [("book/one.md", 0), (VALUE, 0), (VALUE, 11)]
)
def test_lines_that_are_not_there(book: Book, path: str, line: int) -> None:
    with pytest.raises(SettingsError, match="must be a line of the file"):
        locate(book, Location(path, line))


def test_an_edited_file_is_mapped_through_the_difference(book: Book) -> None:
    assert cli.main(["--root", str(book.settings.root), "tangle"]) == 0
    path = book.settings.root / VALUE
    lines = path.read_text().split("\n")
    path.write_text("\n".join(["# mine", *lines[:6], "    # new", *lines[7:], "# end"]))

    def at(number: int) -> str:
        return str(locate(book, Location(VALUE, number))[0])

    assert (at(2), at(4), at(7)) == (
        "book/one.md:7",
        "book/one.md:19",
        "book/one.md:12",
    )
    assert at(8) == "book/one.md:12"  # the new line: the one above it
    assert (at(9), at(11)) == ("book/two.md:17", "book/one.md:14")
    assert (at(1), at(13)) == ("book/one.md:7", "book/one.md:14")
