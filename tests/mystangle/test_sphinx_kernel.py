"""Cells in a real kernel: outputs, errors that were meant and that were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mystangle.sphinx.kernel import Code, Result, Runner

pytestmark = pytest.mark.xdist_group("kernel")


def runner(folder: Path, **changed: object) -> Runner:
    settings: dict[str, object] = {
        "python_path": [],
        "digest": "d",
        "cache": folder / "cache",
        "folder": None,
        "timeout": 20,
        "state": folder / "state",
    }
    return Runner(**{**settings, **changed})  # type: ignore[arg-type]


def texts(result: Result) -> list[str]:
    return [
        "".join(o.get("text", "") or "\n".join(o.get("traceback", ())) for o in outputs)
        for outputs in result.outputs
    ]


def test_every_cell_is_run_and_every_fault_is_found(tmp_path: Path) -> None:
    cells = [
        Code("print('one')"),
        Code("x = 1\n\nx / 0"),
        Code("raise KeyError('k')", raises="KeyError"),
        Code("int('z')", raises="KeyError"),
        Code("x", raises="ValueError"),
        Code("x = = 1"),
        Code("def f():\n    raise OSError('deep')"),
        Code("1\nf()"),
        Code("e = ValueError('v')\ne.add_note('a note')\nraise e", raises="ValueError"),
    ]
    result = runner(tmp_path).run(cells, "u")
    assert [(f.index, f.row, f.message) for f in result.faults] == [
        (1, 2, "`x / 0` must run, got ZeroDivisionError: division by zero"),
        (
            3,
            0,
            "the cell must raise KeyError, got ValueError: invalid literal for int() "
            "with base 10: 'z'",
        ),
        (4, 0, "the cell must raise ValueError, got no error"),
        (5, 0, "`x = = 1` must run, got SyntaxError: invalid syntax"),
        (7, 1, "`f()` must run, got OSError: deep"),
    ]
    shown = texts(result)
    assert shown[0] == "one\n"
    assert shown[2].endswith("KeyError\x1b[39m: 'k'")
    assert shown[8].endswith(": v\na note")
    assert not any("Traceback" in text for text in shown)


def test_what_ipython_only_prints_is_a_fault_too(tmp_path: Path) -> None:
    cells = [
        Code("x = 1\n%nomagic 3\ny = 2"),
        Code("%%nope\n1"),
        Code("%timeit -zzz 1"),
        Code("%nomagic", raises="UsageError"),
        Code("import sys\nprint('no UsageError: here', file=sys.stderr)"),
    ]
    result = runner(tmp_path).run(cells, "u")
    assert [(f.index, f.row) for f in result.faults] == [(0, 1), (1, 0), (2, 0)]
    assert "Cell magic `%%nope` not found" in result.faults[1].message
    assert result.faults[0].message == (
        "`%nomagic 3` must run, got UsageError: Line magic function `%nomagic` not "
        "found."
    )
    assert runner(tmp_path).run(cells, "u").ran


def test_an_exit_is_an_error_like_others_and_shows_no_more(tmp_path: Path) -> None:
    cells = [Code("raise SystemExit('bye')", raises="SystemExit"), Code("exit_ = 1")]
    result = runner(tmp_path).run(cells, "u")
    assert not result.faults
    (error,) = result.outputs[0]
    assert error.output_type == "error"
    (fault,) = runner(tmp_path).run([Code("raise SystemExit(2)")], "u").faults
    assert fault.message == "`raise SystemExit(2)` must run, got SystemExit: 2"
    (fault,) = runner(tmp_path).run([Code("1\nraise SystemExit(2)")], "u").faults
    assert fault.message == "the cell must run, got SystemExit: 2"


def test_only_a_run_without_fault_is_kept(tmp_path: Path) -> None:
    good, bad = [Code("print(6 * 7)")], [Code("1 / 0")]
    assert runner(tmp_path).run(good, "u").ran
    again = runner(tmp_path).run(good, "u")
    assert (again.ran, texts(again)) == (False, ["42\n"])
    assert runner(tmp_path, digest="other").run(good, "u").ran
    assert runner(tmp_path).run(bad, "u").ran
    assert runner(tmp_path).run(bad, "u").ran


def test_a_line_that_comes_in_pieces_is_one_line(tmp_path: Path) -> None:
    pieces = "for piece in ('a', ' b', ' 1.5\\n'):\n"
    pieces += "    print(piece, end='', flush=True)\n    time.sleep(0.3)"
    (outputs,) = runner(tmp_path).run([Code(f"import time\n{pieces}")], "u").outputs
    assert [output.text for output in outputs] == ["a b 1.5\n"]


def test_outputs_from_the_cache_are_judged_again(tmp_path: Path) -> None:
    meant = [Code("1 / 0", raises="ZeroDivisionError")]
    assert not runner(tmp_path).run(meant, "u").faults
    result = runner(tmp_path).run([Code("1 / 0", raises="KeyError")], "u")
    assert not result.ran
    assert "must raise KeyError, got ZeroDivision" in result.faults[0].message


def test_a_cell_that_does_not_end_and_a_kernel_that_dies(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    slow = runner(tmp_path, timeout=1).run([Code("1"), Code("while True: pass")], "u")
    assert [(f.index, "within 1 s" in f.message) for f in slow.faults] == [(1, True)]
    dead = runner(tmp_path).run([Code("1"), Code("import os\nos._exit(3)")], "u")
    assert [(f.index, "died" in f.message) for f in dead.faults] == [(1, True)]
    assert "Traceback" not in capfd.readouterr().err


def test_the_path_comes_first_and_nothing_is_written_to_it(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    # The name of an installed package: the folder must win over it.
    (first / "tabulate.py").write_text("WHERE = 'first'\n", "utf-8")
    cell = Code("import tabulate\nprint(tabulate.WHERE)")
    result = runner(tmp_path, python_path=[first]).run([cell], "u")
    assert texts(result) == ["first\n"]
    assert [file.name for file in first.iterdir()] == ["tabulate.py"]
