"""The tables of failures keep their word: each row is provoked, or says "no error"."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from support import ROOT

import whitebox_gpt.errors
from mystangle import Book, Settings
from whitebox_gpt import linear as linear_module
from whitebox_gpt.cli import _demonstration, _graph, read
from whitebox_gpt.errors import WhiteboxError
from whitebox_gpt.gradcheck import require_gradient
from whitebox_gpt.linalg import Matrix, Vector, add, dot, relu
from whitebox_gpt.linear import MLP, Linear, linear
from whitebox_gpt.plan import InitSpec, LinearPlan, ModelPlan
from whitebox_gpt.softmax import cross_entropy_with_logits, log_softmax, softmax
from whitebox_gpt.tokenizer import Tokenizer, read_documents
from whitebox_gpt.value import Value, topological_order

HEAD = (
    "| failure | where it is stopped | what a later discovery costs |\n|---|---|---|\n"
)
NAMED = re.compile(r"`(\w+Error)`")
Act = Callable[[], Any]
BOOK = Book.read(Settings.load(ROOT))
ROWS = {
    (PurePosixPath(chapter.docname).name, cells[1].strip()): cells[2].strip()
    for chapter in BOOK.chapters
    for table in chapter.text.split(HEAD)[1:]
    for cells in (line.split("|") for line in table.partition("\n\n")[0].splitlines())
}
SAVED = b'{"format": "whitebox_gpt.tokenizer", "version": 1, "characters": "ab"}'
X2 = Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
XY = Vector([1.0, 2.0])
CHAIN = (LinearPlan("fc1", 3, 2, use_bias=True), LinearPlan("fc2", 2, 2))
PLAN = ModelPlan("mlp", CHAIN)


def holding(data: Any) -> Value:
    """Return a Value whose data were overwritten."""
    value = Value(1.0, "x")
    value.data = data
    return value


def with_grad(grad: Any) -> Value:
    value = Value(1.0)
    value.grad = grad
    return value


def equal_by_number() -> None:
    type("Equal", (Value,), {"__eq__": lambda a, b: a.data == b.data})


def steep() -> Value:
    """Return a graph whose gradient overflows."""
    x = Value(1e-200)
    return (x * 1e200) * 1e200 * 1e100 * 1e8


def in_file(act: Callable[[Path], Any], data: bytes) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        act(file)


def changed(change: Callable[[MLP], Any], act: Callable[[MLP], Any]) -> None:
    """Build a model, change it, then act."""
    model = MLP.build(PLAN)
    change(model)
    act(model)


def forward(model: MLP) -> Matrix:
    return model.forward(X2)


def aliased() -> Linear:
    shared = Value(1.0)
    return Linear(LinearPlan("fc", 2, 1), Matrix([[shared, shared]]))


def spoiled() -> None:
    """Run a pass whose ReLU writes to a parameter."""
    model = MLP.build(PLAN)

    def careless(row: Vector, **more: Any) -> Vector:
        model.layers[0].weight[0, 0].data = 0.5
        return relu(row, **more)

    with patch.object(linear_module, "relu", careless):
        forward(model)


def shortened() -> None:
    """Run a pass whose layers drop a position."""

    def shorter(x: Matrix, *rest: Any, **more: Any) -> Matrix:
        return Matrix(list(linear(x, *rest, **more))[:1])

    with patch.object(linear_module, "linear", shorter):
        forward(MLP.build(PLAN))


def doubled(model: MLP) -> None:
    """Give the second layer the plan, and so the name, of the first."""
    model.layers[1].plan = model.layers[0].plan


def replaced(model: MLP) -> None:
    model.layers[1].weight = Matrix(model.layers[1].weight.tolist())


def deleted(model: MLP) -> None:
    del model.layers[0].bias


def planned(*args: Any) -> Act:
    return partial(LinearPlan, *args)


# For each row that names errors, what provokes all of them.
PROVOKED: dict[str, dict[str, list[Act]]] = {
    "stage_01_value_graph": {
        "text, truth value, array as a number": [
            partial(Value, "1"),  # type: ignore[arg-type]
            partial(Value, True),
            partial(Value, [1.0]),  # type: ignore[arg-type]
        ],
        "NaN, infinity, too large an integer": [
            partial(Value, math.nan),
            partial(Value, math.inf),
            partial(Value, 10**400),
        ],
        "overflow of `+` or `*`": [
            lambda: Value(1e308) + 1e308,
            lambda: Value(1e308) * 10.0,
        ],
        "`.data` overwritten with NaN": [lambda: holding(math.nan) + 1.0],
        "`.data` overwritten with another kind": [lambda: holding("1") + 1.0],
        "a subclass that compares by number": [equal_by_number],
        "more nodes than one can inspect": [
            lambda: topological_order(Value(1.0) + 1.0, limit=2)
        ],
    },
    "stage_02_chain_rule": {
        "`.grad` of a leaf overwritten with another kind": [
            lambda: with_grad("1").backward()
        ],
        "a gradient overflows": [lambda: steep().backward()],
        "a graph beyond the limit": [lambda: (Value(1.0) + 1.0).backward(limit=2)],
    },
    "stage_03_scalar_primitives": {
        "operand overwritten with NaN or infinity": [
            lambda: holding(math.nan).relu(),
            lambda: holding(-math.inf).exp(),
        ],
        "exponent rounded to an integer, or too large to be odd": [
            lambda: Value(2.0) ** (2**53 + 1),
            lambda: Value(-1.0) ** 2**53,
        ],
        "operand outside the domain, `log(0)`, `1/0`": [
            lambda: Value(0.0).log(),
            lambda: 1 / Value(0.0),
        ],
        "result overflows, `exp(1000)`": [lambda: Value(1000.0).exp()],
        "complex power": [lambda: Value(-1.0) ** 0.5],
        "infinite local derivative, `0.0**0.5`": [lambda: Value(0.0) ** 0.5],
        "`Value` as exponent": [lambda: Value(2.0) ** Value(2.0)],  # type: ignore[operator]
        "wrong derivative in the code": [
            lambda: require_gradient(lambda x: x * x, [3.0], [5.0])
        ],
    },
    "stage_04_characters_bos": {
        "vocabulary in another order": [
            lambda: Tokenizer("ba"),
            lambda: in_file(Tokenizer.load, SAVED.replace(b"ab", b"ba")),
        ],
        "two spellings of one name": [lambda: Tokenizer.of(["e\u0301"])],
        "unknown character": [lambda: Tokenizer("ab").encode("abc")],
        "half of a surrogate pair": [lambda: Tokenizer("ab").encode("\ud800")],
        "one string in place of a list": [lambda: Tokenizer.of("ab")],
        "blank line, wrong line ends, NUL": [
            lambda: in_file(read_documents, b"a\n\nb\n"),
            lambda: in_file(read_documents, b"a\rb\n"),
            lambda: in_file(read_documents, b"a\0b\n"),
        ],
        "wrong encoding of a file": [lambda: in_file(read_documents, b"Ren\xe9e\n")],
        "id -1, `True`, `1.0`, BOS": [
            lambda: Tokenizer("ab").decode([-1]),
            lambda: Tokenizer("ab").decode([True]),
            lambda: Tokenizer("ab").decode([1.0]),  # type: ignore[list-item]
            lambda: Tokenizer("ab").decode([2]),
        ],
        "file damaged or of another version": [
            lambda: in_file(Tokenizer.load, b"{"),
            lambda: in_file(Tokenizer.load, SAVED.replace(b"1", b"2")),
        ],
    },
    "stage_05_vectors_matrices": {
        "an item of the wrong kind, NaN or infinite": [
            lambda: Vector(["1"]),  # type: ignore[list-item]
            lambda: Vector([math.nan]),
        ],
        "rows of different lengths, no row, no column": [
            lambda: Matrix([[1.0], [1.0, 2.0]]),
            lambda: Matrix([]),
            lambda: Matrix([[]]),
        ],
        "items without an order, such as a set": [lambda: Vector({1.0, 2.0})],
        "vectors of two lengths": [lambda: dot(XY, Vector([1.0]))],
        "a bias of the wrong length": [lambda: add(XY, Vector([1.0]))],
        "data overwritten with a NaN or infinity": [lambda: add(XY, overwritten())],
        "a budget one node short": [lambda: dot(XY, XY, budget=2)],
        "a product or sum that overflows": [
            lambda: dot(Vector([1e200, 1e200]), Vector([1e200, 1.0]))
        ],
        "an index beyond either end": [lambda: XY[2], lambda: X2[0, -4]],
        "structure changed after the count": [
            lambda: setattr(XY, "items", ()),
            lambda: exchange(XY),
        ],
    },
    "stage_06_stable_softmax": {
        "no class, or a logit that is not finite": [
            lambda: softmax(Vector([])),
            lambda: log_softmax(overwritten()),
        ],
        "a target that is no class": [
            lambda: cross_entropy_with_logits(XY, 2),
            lambda: cross_entropy_with_logits(XY, -1),
            lambda: cross_entropy_with_logits(XY, True),
        ],
        "a mask of another length": [lambda: softmax(XY, [True])],
        "a mask that leaves no class": [lambda: softmax(XY, [False, False])],
        "two finite logits whose difference overflows": [
            lambda: log_softmax(Vector([1e308, -1e308]))
        ],
        "a budget one node short": [lambda: log_softmax(XY, budget=8)],
    },
    "stage_07_linear_mlp": {
        "invalid features, name or initialization": [
            planned("fc", 0, 1),
            planned("f c", 1, 1),
            partial(InitSpec, seed=0.5),  # type: ignore[arg-type]
        ],
        "widths of neighbours that do not meet": [
            lambda: ModelPlan("m", (LinearPlan("a", 2, 3), LinearPlan("b", 2, 1)))
        ],
        "more parameters than the budget covers": [
            lambda: ModelPlan("m", CHAIN, parameter_budget=11)
        ],
        "an initializer that gives no finite float": [
            lambda: PLAN.draw_parameters(lambda *given: "1"),  # type: ignore[arg-type]
            lambda: PLAN.draw_parameters(lambda *given: math.nan),
        ],
        "a layer or parameter name twice": [
            lambda: ModelPlan("m", (LinearPlan("a", 2, 2), LinearPlan("a", 2, 2))),
            lambda: changed(doubled, forward),
        ],
        "an undeclared alias": [aliased],
        "replaced or deleted storage, another plan, exchanged parameters": [
            lambda: changed(replaced, forward),
            lambda: changed(deleted, forward),
        ],
        "an input of another width": [lambda: MLP.build(PLAN).forward(Matrix([[1.0]]))],
        "a pass that the budget does not cover": [
            lambda: MLP.build(PLAN).forward(X2, budget=1)
        ],
        "the state of another model, or a damaged one": [
            lambda: MLP.build(PLAN).load_state({"m.fc.weight": [[1.0]]})
        ],
        "parameter data or gradient changed by a pass": [spoiled],
        "an output that is not as planned": [shortened],
    },
    "command_line": {
        "a program that calls anything but exp, log, relu": [lambda: read("open(1)")],
        "a name that was never set": [lambda: read("x + 1")],
        "a `Value` as exponent": [lambda: read("x = 2; 2**x")],
        "a program nested beyond Python's stack": [lambda: read("-" * 5000 + "1")],
        "a number of a stage that does not exist": [lambda: _demonstration(99)],
        "more nodes than a picture can show": [lambda: _graph("1 + 2", None, 2)],
    },
}


def overwritten() -> Vector:
    vector = Vector([1.0, 2.0])
    vector.items[1].data = math.nan
    return vector


def exchange(vector: Vector) -> None:
    vector.items[0] = Value(1.0)  # type: ignore[index]


def raised(act: Act) -> str:
    """Return the name of the error, or of the nearest that Python itself has."""
    try:
        act()
    except WhiteboxError as error:
        return type(error).__name__
    except (AttributeError, TypeError) as error:
        return next(
            kind.__name__
            for kind in type(error).__mro__
            if kind.__module__ == "builtins"
        )
    return "none"


def test_what_the_rows_spoil_is_sound_before() -> None:
    in_file(Tokenizer.load, SAVED)
    forward(MLP.build(PLAN))


def test_each_row_names_an_error_or_says_that_there_is_none() -> None:
    assert len(ROWS) > 70
    silent = {row: where for row, where in ROWS.items() if not NAMED.search(where)}
    assert {r: w for r, w in silent.items() if not w.startswith("no error")} == {}
    rows = {(stem, row) for stem, rows in PROVOKED.items() for row in rows}
    assert rows == ROWS.keys() - silent.keys()


@pytest.mark.parametrize(
    ("row", "acts"),
    [
        pytest.param((stem, row), acts, id=f"{stem}: {row}")
        for stem, rows in PROVOKED.items()
        for row, acts in rows.items()
    ],
)
def test_what_a_row_names_is_what_is_raised(
    row: tuple[str, str], acts: list[Act]
) -> None:
    assert {raised(act) for act in acts} == {*NAMED.findall(ROWS[row])}


def test_every_class_of_errors_has_a_row() -> None:
    kinds = {
        name
        for name, kind in inspect.getmembers(whitebox_gpt.errors, inspect.isclass)
        if issubclass(kind, WhiteboxError) and kind is not WhiteboxError
    }
    assert len(kinds) >= 11
    assert kinds <= {name for where in ROWS.values() for name in NAMED.findall(where)}
