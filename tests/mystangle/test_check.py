"""What ruff would say, told at the lines of the book."""

from __future__ import annotations

from pathlib import Path

import pytest
from smallbook import ONE, SETTINGS, TWO, write

from mystangle import Book, ChapterError, Settings, SettingsError, check


def told(root: Path, settings: str = SETTINGS, **chapters: str) -> list[str]:
    write(root, settings, **chapters)
    return [str(p) for p in check.style(Book.read(Settings.load(root)))]


def chunk(option: str, body: str) -> str:
    return f"\n```{{code-cell}} python\n#| {option}\n{body}\n```\n"


def test_a_sound_book_has_nothing_to_tell(tmp_path: Path) -> None:
    assert told(tmp_path, one=ONE, two=TWO) == []


def test_an_empty_book_has_nothing_to_tell(tmp_path: Path) -> None:
    assert told(tmp_path, one="Prose.\n") == []


def test_a_finding_is_told_at_its_line_once(tmp_path: Path) -> None:
    one = chunk("file: x.py", "x = 1\n# <<Part>>") + chunk("id: Part", "y = z")
    assert told(tmp_path, one=one, two="Prose.\n") == [
        "book/one.md:13: ruff check must find nothing, got F821 Undefined name `z`. "
        "Mend the chunk. (x.py as of book/one.md) [mystangle.lint]"
    ]


def test_a_finding_in_an_early_snapshot_only_is_told(tmp_path: Path) -> None:
    one = chunk("file: x.py", "import os\n\n# <<Part>>")
    (line,) = told(tmp_path, one=one, two=chunk("id: Part", "x = os.sep"))
    assert line.startswith("book/one.md:7: ruff check must find nothing, got F401 ")
    assert "(x.py as of book/one.md)" in line


def test_a_finding_in_a_late_snapshot_names_it(tmp_path: Path) -> None:
    one = chunk("file: x.py", "x = 1\n# <<Part>>")
    (line,) = told(tmp_path, one=one, two=chunk("id: Part", "y = z"))
    assert line.startswith("book/two.md:7: ruff check")
    assert "(x.py as of book/two.md)" in line


def test_a_long_line_says_how_deep_it_lands(tmp_path: Path) -> None:
    long = "text = '" + "x" * 75 + "'"  # 84 columns in the chunk, 92 in the file
    one = chunk("file: x.py", "class A:\n    y = 1\n    # <<Part>>")
    two = chunk("id: Part", "def f():\n    # <<(long)>>\n    return text")
    lines = told(tmp_path, one=one, two=two + chunk("id: (long)", long))
    assert lines == [
        "book/two.md:14: ruff check must find nothing, got E501 Line too long (92 > 88)"
        ", 8 of it the depth at which the chunk lands. Mend the chunk."
        " (x.py as of book/two.md) [mystangle.lint]",
        *lines[1:],
    ]


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("x = 1\ny = [1,2]\nz = 3", 8, "would write `y = [1, 2]`. Write it so."),
        ("x = 1\nif x:\n  x = 2", 9, "would write `    x = 2`. Write it so."),
        ("x = [1,]", 7, "would write `x = [` ⏎ `    1,` ⏎ `]`. Write it so."),
        ("x = 1\n\n\n\n\ny = 2\nz = (x)", 13, "would write `z = x`. Write it so."),
        ("x = 1 + \\\n    2", 7, "would write `x = 1 + 2`. Write it so."),
    ],
)
def test_what_ruff_format_would_change(
    tmp_path: Path, body: str, line: int, words: str
) -> None:
    (found,) = told(tmp_path, one=chunk("file: x.py", body))
    assert found.startswith(f"book/one.md:{line}: ruff format must change nothing")
    assert words in found


def test_blank_lines_that_ruff_removes_are_counted(tmp_path: Path) -> None:
    body = "@decorated\n\ndef f():\n    return 1"
    (found,) = told(
        tmp_path, SETTINGS + "ignore = ['F821']", one=chunk("file: x.py", body)
    )
    assert found.startswith("book/one.md:8: ")
    assert "no blank lines here instead of 1 blank line" in found


def test_the_projects_settings_hold(tmp_path: Path) -> None:
    body = "x = 'a'\n" + "y = 1  # " + "z" * 60
    one = chunk("file: x.py", body)
    wide = "[tool.mystangle]\n[tool.ruff.format]\nquote-style = 'preserve'\n"
    assert told(tmp_path, wide, one=one) == []
    narrow = "[tool.mystangle]\n[tool.ruff]\nline-length = 40\nlint.select = ['E501']\n"
    assert len(told(tmp_path, narrow, one=one)) == 2


def test_what_single_files_may_do_holds(tmp_path: Path) -> None:
    one = chunk("file: pkg/a.py", "x = y") + chunk("file: pkg/b.py", "x = y")
    ignores = '[tool.ruff.lint.per-file-ignores]\n"src/pkg/a.py" = ["F821"]\n'
    (found,) = told(tmp_path, "[tool.mystangle]\n" + ignores, one=one)
    assert "(pkg/b.py as of book/one.md)" in found


def test_a_ruff_toml_holds_as_well(tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text("format.quote-style = 'single'\n")
    assert told(tmp_path, one=chunk("file: x.py", "x = 'a'")) == []


def test_first_party_imports_are_known_before_the_first_tangle(tmp_path: Path) -> None:
    body = "import pkg.b\nimport pytest\n\nx = pkg.b, pytest"
    one = chunk("file: pkg/a.py", body) + chunk("file: pkg/b.py", "y = 1")
    (found,) = told(tmp_path, one=one)
    assert "I001" in found
    assert not (tmp_path / "src").exists()


def test_files_of_many_snapshots_are_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapters = {f"c{n}": chunk(f"file: m{n}.py", "x = 1") for n in range(6)}
    write(tmp_path, **chapters)
    seen: list[int] = []
    drafts = check._drafts

    def counted(book: Book, root: Path) -> list[check.Draft]:
        found = drafts(book, root)
        seen.append(len(list(root.rglob("*.py"))))
        return found

    monkeypatch.setattr(check, "_drafts", counted)
    assert check.style(Book.read(Settings.load(tmp_path))) == []
    assert seen == [6]


def test_a_ruff_that_fails_says_why(tmp_path: Path) -> None:
    settings = "[tool.mystangle]\n[tool.ruff]\nno-such-setting = 1\n"
    with pytest.raises(SettingsError, match="no-such-setting"):
        told(tmp_path, settings, one=ONE)


def test_an_unsound_book_is_not_checked(tmp_path: Path) -> None:
    with pytest.raises(ChapterError):
        told(tmp_path, one=chunk("file: x.py", "x ="))
