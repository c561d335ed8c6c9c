"""The library: snapshots, histories, uses, places."""

from __future__ import annotations

from pathlib import Path

import pytest
from smallbook import FRONT, ONE, write

import mystangle
from mystangle import Book, ChapterError, Piece, Settings, SettingsError
from mystangle.language import options_of

REFUSE = "Refuse what is not a number"


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.read(Settings.load(write(tmp_path)))


def names(pieces: tuple[Piece, ...]) -> list[tuple[str, str]]:
    return [(piece.key, piece.name) for piece in pieces]


def test_pieces_come_in_reading_order(book: Book) -> None:
    assert names(book.pieces) == [
        ("file", "pkg/value.py"),
        ("id", "(imports)"),
        ("id", REFUSE),
        ("file", "pkg/twice.py"),
        ("replace", REFUSE),
    ]


def test_the_history_and_the_uses_of_a_chunk(book: Book) -> None:
    assert names(book.history(REFUSE)) == [("id", REFUSE), ("replace", REFUSE)]
    assert book.history(REFUSE)[1].because == "infinities are no numbers either"
    ((piece, reference),) = book.uses(REFUSE)
    assert piece is book.history("pkg/value.py")[0]
    assert (str(reference.location), reference.line_index) == ("book/one.md:13", 6)
    assert (reference.indent, reference.holds_pass) == ("    ", False)
    assert book.uses("nothing") == () == book.history("nothing")


def test_a_piece_knows_its_cell(book: Book) -> None:
    piece = book.piece_at("book/one", 1)
    assert piece is not None and piece.name == "(imports)"
    assert (piece.cell.line, piece.cell.source_line, piece.body_line) == (17, 18, 19)
    assert (piece.body, piece.option_count) == (("import math",), 1)
    assert str(piece.location) == "book/one.md:18"
    assert book.piece_at("book/one", 3) is None
    assert book.piece_at("book/none", 0) is None


def test_snapshots_are_made_once(book: Book) -> None:
    assert book.snapshot() is book.snapshot(2) is book.snapshot("two")
    one, two = book.snapshot("book/one").files, book.snapshot("book/two.md").files
    assert set(one) == {"pkg/value.py"}
    assert set(two) == {"pkg/value.py", "pkg/twice.py"}
    assert one["pkg/value.py"].text != two["pkg/value.py"].text


def test_a_file_that_does_not_change_is_the_same_object(tmp_path: Path) -> None:
    root = write(tmp_path, one=ONE, two="Prose.\n")
    book = Book.read(Settings.load(root))
    assert (
        book.snapshot(1).files["pkg/value.py"] is book.snapshot(2).files["pkg/value.py"]
    )


@pytest.mark.parametrize("through", [0, 3, -1, "three", "", "book"])
def test_a_chapter_that_is_not_meant_clearly(book: Book, through: int | str) -> None:
    with pytest.raises(SettingsError, match="must mean one chapter"):
        book.snapshot(through)


def test_a_whole_stem_wins_over_a_beginning(tmp_path: Path) -> None:
    root = write(tmp_path, stage="One.\n", stage_two="Two.\n")
    book = Book.read(Settings.load(root))
    assert book.chapter("stage").number == 1
    assert book.chapter("stage_").number == 2


def test_an_unsound_book_gives_nothing_away(tmp_path: Path) -> None:
    root = write(tmp_path, one=ONE.replace("import math", "import"))
    book = Book.read(Settings.load(root))
    with pytest.raises(ChapterError) as raised:
        book.snapshot()
    assert raised.value.problems == book.problems
    assert str(raised.value) == "\n".join(str(problem) for problem in book.problems)


def test_texts_override_files(tmp_path: Path) -> None:
    settings = Settings.load(write(tmp_path, one=ONE))
    text = FRONT + ONE.replace("x / 2", "0.5 * x")
    book = Book.read(settings, {"book/one.md": text, "book/other.md": "not read"})
    assert "0.5 * x" in book.snapshot().files["pkg/value.py"].text
    assert book.chapters[0].text == text


def test_chunks_that_nest_too_deeply_are_told(tmp_path: Path) -> None:
    cells = [("file: x.py", "# <<C0>>")]
    cells += [(f"id: C{n}", f"# <<C{n + 1}>>") for n in range(2000)]
    cells += [("id: C2000", "x = 1")]
    one = "".join(f"```{{code-cell}}\n#| {key}\n{body}\n```\n" for key, body in cells)
    (problem,) = Book.read(Settings.load(write(tmp_path, one=one))).problems
    # The 101st reference, each in a cell of four lines.
    assert str(problem.location) == f"book/one.md:{6 + 4 * 100}"
    assert "chunks must not nest more than 100 deep" in problem.message
    assert problem.kind == "depth"


def test_chunks_may_nest_quite_deeply(tmp_path: Path) -> None:
    cells = [("file: x.py", "# <<(C0)>>")]
    cells += [(f"id: (C{n})", f"# <<(C{n + 1})>>") for n in range(99)]
    cells += [("id: (C99)", "x = 1")]
    one = "".join(f"```{{code-cell}}\n#| {key}\n{body}\n```\n" for key, body in cells)
    book = Book.read(Settings.load(write(tmp_path, one=one)))
    assert book.snapshot().files["x.py"].text == "x = 1\n"


def test_options_are_read_by_one_parser() -> None:
    options = options_of("#| id: A  b\n# | because: c: d\nx = 1\n#| file: y")
    assert [(o.key, o.value, o.row) for o in options.items] == [
        ("id", "A b", 0),
        ("because", "c: d", 1),
    ]
    assert (options.count, options.get("file")) == (2, None)
    assert options_of("x = 1").count == 0


def test_every_public_name_is_there() -> None:
    for name in mystangle.__all__:
        assert getattr(mystangle, name).__name__ == name
    with pytest.raises(AttributeError):
        mystangle.nothing  # noqa: B018


def test_problems_sort_and_read_well(tmp_path: Path) -> None:
    root = write(tmp_path, one=ONE.replace("file:", "fil:"), two=ONE)
    book = Book.read(Settings.load(root))
    assert list(book.problems) == sorted(book.problems)
    assert len(set(book.problems)) == len(book.problems)
    assert str(book.problems[0]).endswith("[mystangle.option]")


def test_an_unreadable_chapter_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.load(write(tmp_path, one=ONE))

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    (problem,) = Book.read(settings).problems
    assert problem.kind == "encoding"
    assert problem.message == (
        "a chapter must be readable, got: Permission denied. Mend its permissions."
    )
