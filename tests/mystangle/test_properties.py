"""What must hold of every book."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randombook import RandomBook, random_module

from mystangle import Book, Line, Location, Settings
from mystangle.expand import Row
from mystangle.layout import laid_out
from mystangle.locate import locate

SEEDS = st.integers(0, 10**6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("books")


def read(folder: Path, seed: int) -> Book:
    root = folder / str(seed)
    RandomBook(seed).write(root)
    book = Book.read(Settings(root=root))
    assert book.problems == ()
    return book


@settings(max_examples=40)
@given(SEEDS)
def test_tangling_is_deterministic(folder: Path, seed: int) -> None:
    one, two = read(folder, seed), read(folder, seed)
    for chapter in one.chapters:
        files = one.snapshot(chapter.number).files
        others = two.snapshot(chapter.docname).files
        assert {n: f.data for n, f in files.items()} == {
            n: f.data for n, f in others.items()
        }


@settings(max_examples=60)
@given(SEEDS)
def test_every_line_knows_where_it_came_from(folder: Path, seed: int) -> None:
    book = read(folder, seed)
    texts = {chapter.path: chapter.text.split("\n") for chapter in book.chapters}
    for chapter in book.chapters:
        for file in book.snapshot(chapter.number).files.values():
            for line in file.lines:
                if line.location is None:
                    assert (line.text, line.piece) == ("", None)
                else:
                    written = texts[line.location.path][line.location.line - 1]
                    assert_written(line, written)


def assert_written(line: Line, written: str) -> None:
    piece, place = line.piece, line.location
    assert piece is not None and place is not None
    assert piece.chapter.path == place.path
    assert piece.body[place.line - piece.body_line] == written
    names = [r.name for r in piece.references if r.location == place]
    if names:
        held = written.strip().startswith("pass")
        assert line.text.strip() in (f"# {names[0]}", *(["pass"] if held else []))
    elif not written.strip():
        assert not line.text.strip()
    else:
        assert line.text.endswith(written)
        assert not line.text.removesuffix(written).strip()


@settings(max_examples=20)
@given(SEEDS)
def test_locate_goes_there_and_back(folder: Path, seed: int) -> None:
    book = read(folder, seed)
    for name, file in book.snapshot().files.items():
        for number, line in enumerate(file.lines, start=1):
            if line.location is not None:
                place = Location(f"src/{name}", number)
                assert locate(book, place) == (line.location,)
                assert place in locate(book, line.location)


SCRAPS = st.sampled_from(
    [
        *("```{code-cell} python", "~~~{code-cell}", ":::{code-cell}", "```", "~~~"),
        *(
            "#| file: x.py",
            "#| file: pkg/y.py",
            "#| id: A",
            "#| id: B",
            "# | append: A",
        ),
        *("#| append: x.py", "#| replace: A", "#| because: of it", "#| file: ../z.py"),
        *("# <<A>>", "# <<B>>", "    # <<A>>", "    pass  # <<B>>", "pass # <<A>>"),
        *(
            "x = 1",
            "def f():",
            "    return 1",
            "class A:",
            "    y = 2",
            "if x:",
            "else:",
        ),
        *('"""', "s = f'''{x}", "'''", "(", ")", "@f", "\\", "# comment", "", "", "x;"),
        *(
            "\f",
            "\u2028",
            "\0",
            "\r",
            ":load: x",
            "---",
            "- item",
            "> quote",
            "<!--",
            "-->",
        ),
        *(
            "import os",
            "return",
            "await x",
            "lambda: (yield)",
            "    ",
            "\tz = 1",
            "%%time",
        ),
    ]
)
CELLS = st.builds(
    lambda key, lines: "\n".join(["```{code-cell}", key, *lines, "```"]),
    st.sampled_from(["#| file: x.py", "#| id: A", "#| append: A", "#| replace: A"]),
    st.lists(SCRAPS, max_size=5),
)
CHAPTERS = st.lists(st.one_of(SCRAPS, CELLS, CELLS), max_size=10).map("\n".join)


@settings(max_examples=150)
@given(st.lists(CHAPTERS, min_size=1, max_size=3))
def test_reading_never_fails_and_a_sound_book_compiles(
    folder: Path, chapters: list[str]
) -> None:
    front = "---\nfile_format: mystnb\n---\n"
    root = folder / "scraps"
    root.mkdir(exist_ok=True)
    toc = ["root: c0", "chapters:", *(f"- file: c{n}" for n in range(1, len(chapters)))]
    (root / "_toc.yml").write_text("\n".join(toc if chapters[1:] else toc[:1]))
    for number, text in enumerate(chapters):
        (root / f"c{number}.md").write_bytes((front + text).encode())
    book = Book.read(Settings(root=root))
    assert all(problem.location.line >= 1 for problem in book.problems)
    for chapter in book.chapters if not book.problems else ():
        for file in book.snapshot(chapter.number).files.values():
            compile(file.text, file.path, "exec")


QUOTES = ("'''", '"""')
TEXT = st.text("ab \t{}'\"\\\n#<>", max_size=12)


def literal(prefix: str, quote: str, text: str) -> str | None:
    """Return a string literal, or None if it would not be valid."""
    found = f"{prefix}{quote}{text}\n  z{quote}"
    try:
        ast.parse(f"x = {found}")
    except (SyntaxError, ValueError):
        return None
    return found


LITERALS = st.builds(
    literal, st.sampled_from(["", "r", "b", "f", "rf"]), st.sampled_from(QUOTES), TEXT
).filter(bool)
FORMATTED = st.builds(
    lambda inner, outer: f"f'''{{{inner}}}\n {{x!r:>{{\ny}}}}{outer}'''",
    st.sampled_from(['"a"', "x", 'f"{x}"']),
    st.sampled_from(["", " ", "\n", "{{"]),
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@settings(max_examples=150)
@given(st.lists(st.one_of(LITERALS, FORMATTED), min_size=1, max_size=3))
def test_strings_keep_their_values(folder: Path, literals: list[str]) -> None:
    chunk = "\n".join(f"x = {text}" for text in literals)
    cells = ("#| file: x.py\ndef f():\n    pass  # <<C>>", f"#| id: C\n{chunk}")
    text = "".join(f"~~~~{{code-cell}} python\n{cell}\n~~~~\n" for cell in cells)
    (folder / "_toc.yml").write_text("root: a\n")
    (folder / "a.md").write_text("")
    front = "---\nfile_format: mystnb\n---\n"
    book = Book.read(Settings(root=folder), {"a.md": front + text})
    assert book.problems == ()
    (function,) = ast.parse(book.snapshot().files["x.py"].text).body
    assert isinstance(function, ast.FunctionDef)
    expected = [ast.dump(statement) for statement in ast.parse(chunk).body]
    assert [ast.dump(statement) for statement in function.body] == expected


def test_layout_is_a_fixed_point_of_ruff(tmp_path: Path) -> None:
    random = Random(20240214)
    for number in range(250):
        rows: list[Row] = []
        for text in random_module(random):
            open_string = sum(row.line.text.count('"""') for row in rows) % 2 == 1
            decorated = bool(rows) and rows[-1].line.text.lstrip().startswith("@")
            count = 0 if open_string or decorated else random.choice((0, 0, 0, 1, 2, 3))
            blanks = (Line("", Location("a.md", 1), None),) * count
            rows.append(Row(Line(text, Location("a.md", 1), None), blanks, open_string))
        lines = laid_out(rows)
        assert [line.text for line in lines if line.text] == [
            row.line.text for row in rows if row.line.text
        ]
        text = "".join(line.text + "\n" for line in lines)
        (tmp_path / f"m{number}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--diff", str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
