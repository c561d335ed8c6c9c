"""The command line: what it prints, what it writes, its exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from smallbook import ONE, SETTINGS, TWO, write

from mystangle import __version__, check, cli

VALUE = "src/pkg/value.py"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path)


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return time and bytes of every file."""
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file()
    }


def test_tangle_prints_each_file_and_a_summary(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote src/pkg/twice.py",
        "wrote src/pkg/value.py",
        "2 files written, 0 removed, 0 unchanged.",
    ]
    assert "isfinite" in (root / VALUE).read_text()


def test_a_second_tangle_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    before = snapshot(root)
    capsys.readouterr()
    assert cli.main(["tangle"]) == 0
    assert snapshot(root) == before
    assert capsys.readouterr().out == "0 files written, 0 removed, 2 unchanged.\n"


def test_a_file_that_left_the_book_is_removed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    write(root, one=ONE)
    capsys.readouterr()
    assert cli.main(["tangle"]) == 0
    assert "removed src/pkg/twice.py" in capsys.readouterr().out
    assert not (root / "src/pkg/twice.py").exists()


def test_a_deleted_file_comes_back_byte_for_byte(root: Path) -> None:
    assert cli.main(["tangle"]) == 0
    data = (root / VALUE).read_bytes()
    (root / VALUE).unlink()
    assert cli.main(["check"]) == 1
    assert cli.main(["tangle"]) == 0
    assert (root / VALUE).read_bytes() == data


def test_check_of_a_settled_book_is_0(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    before = snapshot(root)
    capsys.readouterr()
    assert cli.main(["check"]) == 0
    assert capsys.readouterr().out == "2 files of 2 chapters: all is well.\n"
    assert snapshot(root) == before


def test_check_tells_drift_by_1_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    write(root, one=ONE.replace("x / 2", "x * 0.5"))
    before = snapshot(root)
    assert cli.main(["check"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "src/pkg/value.py: is out of date: run `mystangle tangle`",
        "src/pkg/twice.py: is no longer in the book: run `mystangle tangle`",
    ]
    assert snapshot(root) == before


def test_a_hand_edit_is_3_for_both_and_stays(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    edited = (root / VALUE).read_text() + "# mine\n"
    (root / VALUE).write_text(edited)
    before = snapshot(root)
    assert cli.main(["check"]) == 3
    assert "src/pkg/value.py: was edited by hand" in capsys.readouterr().err
    assert cli.main(["tangle"]) == 3
    assert "src/pkg/value.py" in capsys.readouterr().err
    assert snapshot(root) == before
    assert cli.main(["tangle", "--force"]) == 0
    assert "kept what was overwritten in " in capsys.readouterr().out
    kept = [path for path in root.rglob("value.py") if path.read_text() == edited]
    assert len(kept) == 1


def test_a_mistake_in_a_chapter_is_4_and_nothing_is_written(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tangle"]) == 0
    write(root, one=ONE.replace("file:", "fil:"), two=TWO)
    before = snapshot(root)
    for command in (["tangle"], ["check"], ["locate", f"{VALUE}:1"]):
        assert cli.main(command) == 4
        told = capsys.readouterr().err.splitlines()
        assert any(line.startswith("book/one.md:6: an option must be") for line in told)
        assert all(line.endswith("]") for line in told)
    assert cli.main(["tangle", "--into", "out"]) == 4
    assert snapshot(root) == before


def test_what_ruff_finds_is_4(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, one=ONE.replace("import math", "import math\nimport os"), two=TWO)
    assert cli.main(["tangle"]) == 0
    assert cli.main(["check"]) == 4
    assert "book/one.md:20: ruff check must" in capsys.readouterr().err


def test_without_ruff_one_line_says_so(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["tangle"]) == 0
    monkeypatch.setattr(check.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(check.shutil, "which", lambda name: None)
    capsys.readouterr()
    assert cli.main(["check"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("ruff: is not installed") and err.count("\n") == 1
    assert out.endswith("the style of the chunks was not checked.\n")
    assert "all is well" not in out


@pytest.mark.parametrize("through", ["one", "book/one", "book/one.md", "1", "o"])
def test_through_a_chapter_into_a_folder(
    root: Path, capsys: pytest.CaptureFixture[str], through: str
) -> None:
    assert cli.main(["tangle", "--through", through, "--into", "out"]) == 0
    assert capsys.readouterr().out == "wrote out/pkg/value.py\n1 file written.\n"
    assert "isnan" in (root / "out/pkg/value.py").read_text()
    assert not (root / "src").exists()
    assert not (root / "mystangle.lock").exists()


def test_a_folder_holds_the_data_files_too(root: Path) -> None:
    write(root, SETTINGS.replace("]", "]\ndata = ['pkg/*.csv']", 1))
    (root / "src/pkg").mkdir(parents=True, exist_ok=True)
    (root / "src/pkg/table.csv").write_bytes(b"1,2\n")
    assert cli.main(["tangle", "--through", "one", "--into", "out"]) == 0
    assert (root / "out/pkg/table.csv").read_bytes() == b"1,2\n"
    assert (root / "out/pkg/value.py").is_file()


@pytest.mark.parametrize(
    "into",
    [
        "",
        ".",
        "..",
        "/",
        "src",
        "src/pkg",
        "src/../src/new",
        "book",
        "book/x",
        ".git/x",
    ],
)
def test_a_copy_never_goes_where_the_project_is(
    root: Path, capsys: pytest.CaptureFixture[str], into: str
) -> None:
    assert cli.main(["tangle"]) == 0
    before = snapshot(root)
    capsys.readouterr()
    assert cli.main(["tangle", "--into", into]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"--into {Path(into)}: must be a folder apart from the pro")
    assert snapshot(root) == before


@pytest.mark.parametrize("into", ["_build/x", "srcs", "book-x", "../beside", ".gitx"])
def test_a_copy_may_go_anywhere_else(root: Path, into: str) -> None:
    assert cli.main(["tangle", "--into", into]) == 0
    assert (root / into / "pkg/value.py").is_file()


def test_a_place_that_cannot_be_written_is_named_as_given(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "file").write_bytes(b"")
    places = ["file", "file/x", *(["/proc/x"] if Path("/proc/self").exists() else [])]
    for place in places:
        assert cli.main(["tangle", "--into", place]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"{Path(place)}: must be a folder that can be written")
        assert "complete" not in error and error.count("\n") == 1
    assert (root / "file").read_bytes() == b""


def test_into_alone_is_the_whole_book(root: Path) -> None:
    assert cli.main(["tangle", "--into", "out"]) == 0
    assert (root / "out/pkg/twice.py").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tangle", "--through", "one"], "--through must come with --into"),
        (["tangle", "--through", "three", "--into", "o"], "got none of one, two"),
        (["tangle", "--through", "3", "--into", "o"], "got none of one, two"),
        (["tangle", "--through", "", "--into", "o"], "several that begin so: one, two"),
        (["tangle", "--into", "o", "--force"], "--force must not come with --into"),
        (["locate", VALUE], "must be PATH:LINE"),
        (["tangle", "--through", "1" * 5000, "--into", "o"], "…: must mean one"),
        (["tangle", "--through", "٣", "--into", "o"], "got none of one, two"),
        (["locate", f"{VALUE}:x"], "must be PATH:LINE"),
        (["locate", f"{VALUE}:٣"], "must be PATH:LINE"),
        (["locate", f"{VALUE}:²"], "must be PATH:LINE"),
        (["locate", f"{VALUE}:{'9' * 5000}"], "must be PATH:LINE"),
        (["locate", f"{VALUE}:+1"], "must be PATH:LINE"),
        (["locate", "src/pkg/nothing.py:1"], "got neither"),
        (["locate", "pyproject.toml:1"], "got neither"),
        (["locate", f"{VALUE}:99"], "must be a line of the file"),
        (["locate", "book/one.md:1"], "must be a line of a chunk"),
        (["--root", "nowhere", "check"], "got none"),
    ],
)
def test_usage_is_2(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert cli.main(arguments) == 2
    assert words in capsys.readouterr().err
    assert not (root / "src").exists()


@pytest.mark.parametrize("arguments", [[], ["weave"], ["tangle", "--unknown"]])
def test_usage_that_argparse_finds_is_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2


def test_no_settings_is_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check"]) == 2
    assert "[tool.mystangle]" in capsys.readouterr().err


def test_the_root_is_found_from_below_and_by_option(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "book")
    assert cli.main(["tangle"]) == 0
    capsys.readouterr()
    assert cli.main(["locate", "one.md:12"]) == 0
    assert cli.main(["--root", "..", "locate", "book/one.md:12"]) == 0
    assert cli.main(["locate", "--root", "..", "book/one.md:12"]) == 0
    assert capsys.readouterr().out == f"{VALUE}:6\n" * 3


def test_locate_both_ways(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tangle"]) == 0
    capsys.readouterr()
    assert cli.main(["locate", f"{VALUE}:8"]) == 0
    assert cli.main(["locate", "book/two.md:17"]) == 0
    assert capsys.readouterr().out == f"book/two.md:17\n{VALUE}:8\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"mystangle {__version__}\n"


@pytest.mark.skipif(os.name == "nt", reason="a pipe's reader closes otherwise there")
def test_a_reader_who_leaves_does_not_stop_the_work(root: Path) -> None:
    read, wrote = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "mystangle", "tangle"],
        cwd=root,
        stdout=wrote,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    os.close(wrote)
    assert (done.returncode, done.stderr) == (0, "")
    assert (root / VALUE).is_file() and (root / "src/pkg/twice.py").is_file()


def test_a_light_import_needs_no_markdown_parser() -> None:
    code = "import sys, mystangle.write as w; print('myst_parser' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "False\n"


def test_settings_are_checked(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line, words in (
        ("sorce = 'src'", "got 'sorce'"),
        ("source = '../src'", "source must be a path below the root"),
        ("source = 3", "got 3"),
        ("source = 'C:/src'", "got 'C:/src'"),
        ("lock = ''", "lock must be"),
        ("support = 'x.py'", "support must be a list"),
        ("support = ['/x.py']", "support must be a path"),
        ("data = 'x.csv'", "data must be a list"),
        ("data = ['../x.csv']", "data must be a path"),
        ("toc = 'none.yml'", "none.yml: the book needs a table of contents"),
    ):
        (root / "pyproject.toml").write_text(f"[tool.mystangle]\n{line}\n")
        assert cli.main(["check"]) == 2
        assert words in capsys.readouterr().err
    for text, words in (
        ("tool = 'x'", "tool must be a table, got 'x'"),
        ("tool.mystangle = 3", "mystangle must be a table, got 3"),
        ("tool.mystangle = []", "mystangle must be a table, got []"),
        ("tool.mystangle = false", "mystangle must be a table, got False"),
        ("[[tool]]", "tool must be a table, got [{}]"),
        (f"x = {'9' * 5000}\n[tool.mystangle]", "must be readable TOML"),
        (f"x = {'[' * 5000}\n[tool.mystangle]", "must be readable TOML"),
        ("[tool.mystangle]\n[tool]\nruff = 3", "ruff must be a table, got 3"),
        ("[tool.mystangle]\n[tool.ruff]\nlint = 3", "lint must be a table, got 3"),
        ("[tool.mystangle]\n[tool.ruff]\nsrc = 3", "ruff: must run, got"),
    ):
        (root / "pyproject.toml").write_text(text + "\n")
        assert cli.main(["check"]) == 2, text
        assert words in capsys.readouterr().err
    (root / "pyproject.toml").write_text("[tool.mystangle\n")
    assert cli.main(["check"]) == 2
    assert "TOML" in capsys.readouterr().err
    (root / "pyproject.toml").write_text(SETTINGS)
    assert cli.main(["check"]) == 1


DIGITS = "9" * 5000
DEEP = f"x: {'[' * 5000}"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("_config.yml", "parse: 3"),
        ("_config.yml", "parse: [1]"),
        ("_config.yml", "parse:\n  myst_enable_extensions: 3"),
        ("_config.yml", "parse:\n  myst_disable_syntax: 3"),
        ("_config.yml", "sphinx: x"),
        ("_config.yml", "sphinx:\n  config: 3"),
        ("_config.yml", f"x: {DIGITS}"),
        ("_config.yml", DEEP),
        ("_toc.yml", "root: [1]"),
        ("_toc.yml", DEEP),
        ("pyproject.toml", f"[tool.mystangle]\nsource = '{'x' * 5000}'"),
    ],
    ids=lambda text: text[:40],
)
def test_a_file_of_settings_of_an_odd_shape_is_told(
    root: Path, capsys: pytest.CaptureFixture[str], file: str, text: str
) -> None:
    (root / file).write_text(text + "\n", encoding="utf-8")
    assert cli.main(["check"]) == 2
    assert capsys.readouterr().err.startswith(file)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("_toc.yml", "book/one", "x" * 5000),
        ("_toc.yml", "- file: book/two", '- glob: "/x/*"'),
        ("book/one.md", "#| file", f":x: {DIGITS}\n#| file"),
        ("book/one.md", "#| file", "---\nx: 2020-99-99\n---\n#| file"),
        ("book/one.md", "#| file", f"---\n{DEEP}\n---\n#| file"),
    ],
    ids=lambda text: text[:20],
)
def test_an_odd_entry_or_option_is_told_at_its_line(
    root: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str
) -> None:
    text = (root / file).read_text(encoding="utf-8")
    (root / file).write_text(text.replace(old, new), encoding="utf-8")
    assert cli.main(["check"]) == 4
    assert any(
        line.startswith(f"{file}:") for line in capsys.readouterr().err.splitlines()
    )
