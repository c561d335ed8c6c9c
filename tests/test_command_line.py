"""The command line: stages by number, graphs by arithmetic, and nothing else."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitebox_gpt import DomainError, KindError, topological_order
from whitebox_gpt.cli import main, read
from whitebox_gpt.errors import GrammarError


def test_a_program_makes_the_graph_of_stage_01() -> None:
    z = read("x = 2; y = -3; bias = 10; product = x*y; product + bias")
    assert z.data == 4.0
    labels = [node.label for node in topological_order(z)]
    assert labels == ["x", "", "y", "product", "bias", ""]


@pytest.mark.parametrize(
    ("program", "data"),
    [
        ("1", 1.0),
        ("-(2 + 3) * 4 - 5 / 2", -22.5),
        ("2 ** -3", 0.125),
        ("2 ** --3", 8.0),
        ("log(exp(1))", 1.0),
        ("relu(-1)", 0.0),
        ("x = 2\ny = x * x\ny + 1", 5.0),
        ("x = 1; x = x + 1; x", 2.0),
        ("  3  ", 3.0),
    ],
)
def test_arithmetic_is_computed(program: str, data: float) -> None:
    assert read(program).data == data


@pytest.mark.parametrize(
    "program",
    [
        *("", "   ", "# only a comment", "x = 1", "1 +", "(", "x", "x = y; x", "\0"),
        *(
            "__import__('os')",
            "().__class__",
            "x = 2; x.data",
            "exp",
            "exp()",
            "exp(1, 2)",
        ),
        *(
            "exp(x=1)",
            "sin(1)",
            "exp(*[1])",
            "[1]",
            "'a'",
            "1j",
            "1 < 2",
            "1 if 1 else 2",
        ),
        *(
            "x := 1",
            "(x := 1)",
            "x = 2; x ** x",
            "2 ** (1 + 1)",
            "1 // 2",
            "1 % 2",
            "1 @ 2",
        ),
        *(
            "x = y = 1; x",
            "x += 1; x",
            "x: float = 1; x",
            "import os; 1",
            "lambda: 1",
            "~1",
        ),
        *(
            "+1",
            "1; 2",
            "del x; 1",
            "f'{1}'",
            "1 + 1j",
            "not 1",
            "True",
            "2 ** True",
            "2 ** -True",
            "None",
            "...",
        ),
        "1" + " + 1" * 100_000,
        "(" * 5_000 + "1" + ")" * 5_000,
        "-" * 50_000 + "1",
    ],
)
def test_what_is_not_arithmetic_is_refused(program: str) -> None:
    with pytest.raises(GrammarError, match=r"^graph"):
        read(program)


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("log(0)", DomainError),
        ("1 / 0", DomainError),
        ("1e999", DomainError),
    ],
)
def test_what_the_package_refuses_stays_its_refusal(
    program: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read(program)


@given(st.text(max_size=40))
def test_no_text_raises_anything_else(program: str) -> None:
    with suppress(GrammarError, DomainError, KindError):
        read(program)


def test_a_piece_too_long_to_print_is_still_refused() -> None:
    with pytest.raises(GrammarError, match="a piece of kind BinOp"):
        read("1 % 0x" + "f" * 4_000)


def test_a_file_that_is_not_text_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.txt"
    program.write_bytes(b"\xff\xfe1+1")
    assert main(["graph", str(program)]) == 2
    assert "must be UTF-8, got invalid start byte at byte 0" in capsys.readouterr().err
    program.write_bytes(b"\xef\xbb\xbf1 + 1")
    assert main(["graph", str(program)]) == 0


def test_the_screen_gets_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "é = 2; é * é"]) == 0
    assert capsys.readouterr().out.isascii()


def test_a_refusal_names_line_column_and_piece() -> None:
    with pytest.raises(GrammarError) as caught:
        read("x = 2\nx + sin(x)")
    assert str(caught.value).startswith("graph: line 2, column 5: ")
    assert str(caught.value).endswith(", got 'sin(x)'")


def test_a_graph_is_written_with_its_gradients(tmp_path: Path) -> None:
    target = tmp_path / "square.svg"
    assert main(["graph", "x = 3; x * x", "-o", str(target)]) == 0
    text = target.read_text("utf-8")
    ElementTree.fromstring(text)
    assert "grad 6" in text


def test_a_graph_may_stand_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.txt"
    program.write_text("x = 3\nx * x\n", encoding="utf-8")
    assert main(["graph", str(program)]) == 0
    assert capsys.readouterr().out.startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["graph", "sin(1)"], 2),
        (["stage", "99"], 2),
        (["stage", "-1"], 2),
        (["graph", "log(0)"], 1),
        (["graph", "1 + 1", "--limit", "2"], 1),
        (["graph", "1 + 1", "--limit", "0"], 1),
        (["graph", "1", "-o", "no/such/folder/x.svg"], 1),
    ],
)
def test_the_exit_status_says_whose_fault(
    arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.err.startswith("whitebox-gpt: ")
    assert not captured.out


def test_every_stage_runs_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stage", "1"]) == 0
    assert capsys.readouterr().out.endswith("sanity check: PASS\n")
