"""Stage 05: vectors and matrices; sizes and cost before the first operation.

All arithmetic here is + * and relu, so every comparison is exact.
"""

from __future__ import annotations

import copy
import math
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whitebox_gpt
import whitebox_gpt.value
from whitebox_gpt import (
    DomainError,
    KindError,
    Matrix,
    RangeError,
    ResourceBudgetError,
    ShapeError,
    Value,
    Vector,
    WhiteboxError,
    dot,
    matmul,
    matvec,
)
from whitebox_gpt.budget import count_operations, matmul_nodes, matvec_nodes
from whitebox_gpt.gradcheck import central_gradient
from whitebox_gpt.linalg import add, multiply, relu, require_finite, scale
from whitebox_gpt.stages.stage_05_vectors_matrices import operations_begun

STAGE = "whitebox_gpt.stages.stage_05_vectors_matrices"
inf, nan = math.inf, math.nan

moderate = st.floats(-1e6, 1e6, allow_nan=False)
whole = st.integers(-9, 9).map(float)
sizes = st.integers(1, 5)


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Count operations begun and leaves made by `Value(...)`."""
    seen = {"operations": 0, "leaves": 0}
    make, leaf = whitebox_gpt.value._node, Value.__init__

    def node(*facts: Any) -> Value:
        seen["operations"] += 1
        return make(*facts)

    def init(self: Value, *facts: Any) -> None:
        seen["leaves"] += 1
        leaf(self, *facts)

    with monkeypatch.context() as patched:
        patched.setattr(whitebox_gpt.value, "_node", node)
        patched.setattr(Value, "__init__", init)
        yield seen


def rows(m: int, n: int) -> st.SearchStrategy[list[list[float]]]:
    row = st.lists(moderate, min_size=n, max_size=n)
    return st.lists(row, min_size=m, max_size=m)


def plain_dot(a: list[float], b: list[float]) -> float:
    """The contract in plain floats: products by index, summed from left to right."""
    total = a[0] * b[0]
    for j in range(1, len(a)):
        total = total + a[j] * b[j]
    return total


# --- the figures -----------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 10, 257])
def test_a_dot_product_of_length_n_makes_2n_minus_1_nodes(n: int) -> None:
    z = dot(Vector([1.0] * n), Vector([2.0] * n))
    assert count_operations([z]) == 2 * n - 1
    assert z.data == 2.0 * n


@given(st.data(), sizes, sizes, sizes)
def test_matrix_products_make_exactly_the_planned_nodes(
    data: st.DataObject, m: int, n: int, p: int
) -> None:
    a, b = Matrix(data.draw(rows(m, n))), Matrix(data.draw(rows(n, p)))
    c, y = matmul(a, b), matvec(a, Vector(row[0] for row in b))
    assert c.shape == (m, p)
    assert y.shape == (m,)
    assert count_operations(v for row in c for v in row) == matmul_nodes(m, n, p)
    assert count_operations(y) == matvec_nodes(m, n) == m * (2 * n - 1)


def three(first: float = 1.0) -> Vector:
    return Vector([first, 2.0, 3.0])


def square(first: float = 1.0) -> Matrix:
    return Matrix([[first, 2.0], [3.0, 4.0]])


# name: an action that takes a budget, and its exact cost
PRICED: dict[str, tuple[Callable[[int], object], int]] = {
    "dot": (lambda budget: dot(three(), three(), budget=budget), 5),
    "matvec": (lambda budget: matvec(square(), Vector([1, 2]), budget=budget), 6),
    "matmul": (lambda budget: matmul(square(), square(), budget=budget), 12),
    "add": (lambda budget: add(three(), three(), budget=budget), 3),
    "multiply": (lambda budget: multiply(three(), three(), budget=budget), 3),
    "scale": (lambda budget: scale(three(), 2.0, budget=budget), 3),
    "relu": (lambda budget: relu(three(), budget=budget), 3),
}
# name: actions that must be refused, with the error and its text
REFUSED: dict[str, tuple[Callable[[], object], type[WhiteboxError], str]] = {
    "dot of two lengths": (
        lambda: dot(three(), Vector([1, 2])),
        ShapeError,
        "dot: b must have the length of a, n = 3, got 2",
    ),
    "dot of two lengths, the other way": (
        lambda: dot(Vector([1, 2]), three()),
        ShapeError,
        "dot: b must have the length of a, n = 2, got 3",
    ),
    "dot of nothing": (
        lambda: dot(Vector([]), Vector([])),
        ShapeError,
        "dot: a and b must have length n >= 1, got 0",
    ),
    "dot with a list": (
        lambda: dot(three(), [1.0, 2.0, 3.0]),  # type: ignore[arg-type]
        KindError,
        "dot: b must be a Vector, got [1.0, 2.0, 3.0] (list)",
    ),
    "matvec with a short vector": (
        lambda: matvec(square(), Vector([1.0])),
        ShapeError,
        "matvec: x must have one item for each column of w, n = 2, got 1",
    ),
    "matvec with a long vector": (
        lambda: matvec(square(), three()),
        ShapeError,
        "matvec: x must have one item for each column of w, n = 2, got 3",
    ),
    "matvec in the wrong order": (
        lambda: matvec(three(), square()),  # type: ignore[arg-type]
        KindError,
        "matvec: w must be a Matrix, got Vector([1.0, 2.0, 3.0]) (Vector)",
    ),
    "matmul of sizes that do not fit": (
        lambda: matmul(square(), Matrix([[1.0, 2.0]])),
        ShapeError,
        "matmul: b must have one row for each column of a, n = 2, got 1",
    ),
    "add of a shorter bias": (
        lambda: add(three(), Vector([10.0])),
        ShapeError,
        "add: b must have the length of a, n = 3, got 1",
    ),
    "add of an empty bias": (
        lambda: add(three(), Vector([])),
        ShapeError,
        "add: b must have the length of a, n = 3, got 0",
    ),
    "multiply of two lengths": (
        lambda: multiply(Vector([1.0]), three()),
        ShapeError,
        "multiply: b must have the length of a, n = 1, got 3",
    ),
    "add of a number": (
        lambda: add(three(), 10.0),  # type: ignore[arg-type]
        KindError,
        "add: b must be a Vector, got 10.0",
    ),
    "scale by text": (
        lambda: scale(three(), "2"),  # type: ignore[arg-type]
        KindError,
        "scale: factor must be a real number, got '2' (str)",
    ),
    "scale by a bool": (
        lambda: scale(three(), True),
        KindError,
        "scale: factor must be a real number, got True (bool)",
    ),
    "scale by NaN": (
        lambda: scale(three(), nan),
        DomainError,
        "scale: factor must be finite, got nan",
    ),
    "relu of a matrix": (
        lambda: relu(square()),  # type: ignore[arg-type]
        KindError,
        "relu: a must be a Vector, got Matrix([[1.0,..., [3.0, 4.0]]) (Matrix)",
    ),
    "a budget that is no int": (
        lambda: add(three(), three(), budget=3.0),  # type: ignore[arg-type]
        KindError,
        "add: budget must be an int, got 3.0",
    ),
}


@pytest.mark.parametrize("name", PRICED)
def test_the_exact_budget_is_enough_and_no_more_is_begun(name: str) -> None:
    action, cost = PRICED[name]
    assert operations_begun(lambda: action(cost)) == cost
    action(cost)


@pytest.mark.parametrize("name", PRICED)
def test_one_node_short_begins_no_operation_and_makes_no_leaf(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    action, cost = PRICED[name]
    for budget in (cost - 1, 0):
        with counting(monkeypatch) as seen:
            text = f"{name}: the budget must cover {cost} operation nodes, got {budget}"
            with pytest.raises(ResourceBudgetError, match=text):
                action(budget)
        assert seen["operations"] == 0
    leaves = {"scale": 3, "relu": 3, "matvec": 6, "matmul": 8}.get(name, 6)
    assert seen["leaves"] == leaves, "only those of the operands themselves"


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_why_and_begins_no_operation(name: str) -> None:
    action, kind, text = REFUSED[name]
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value) == text
    assert operations_begun(action) == 0


def test_the_default_budget_stops_a_product_that_nobody_planned() -> None:
    big = Matrix([[1.0] * 60] * 60)
    with pytest.raises(ResourceBudgetError, match=r"cover 428400 .*, got 100000"):
        matmul(big, big)
    assert operations_begun(lambda: matmul(big, big)) == 0


# --- the order of the contract ---------------------------------------------------


def test_kinds_come_before_sizes_before_data_before_the_budget() -> None:
    bad = three()
    bad[1].data = inf
    short = Vector([1.0])
    with pytest.raises(KindError, match="b must be a Vector"):
        dot(bad, None, budget=0)  # type: ignore[arg-type]
    with pytest.raises(ShapeError):
        dot(bad, short, budget=0)
    with pytest.raises(DomainError, match=r"a\[1\] must hold a finite float, got inf"):
        dot(bad, three(), budget=0)
    with pytest.raises(ResourceBudgetError):
        dot(three(), three(), budget=0)


@pytest.mark.parametrize("data", [inf, -inf, nan, 3, True, "3", None, np.float64(3)])
def test_data_overwritten_after_construction_is_found_with_its_place(
    data: object,
) -> None:
    w, x = square(), three()
    w[1, 0].data = data  # type: ignore[assignment]
    place = r"w\[1\]\[0\] must hold a finite float"
    with pytest.raises(DomainError, match=f"matvec: {place}"):
        matvec(w, Vector([1.0, 2.0]))
    assert operations_begun(lambda: matvec(w, Vector([1.0, 2.0]))) == 0
    with pytest.raises(DomainError, match=r"matmul: b\[1\]\[0\]"):
        matmul(square(), w)
    with pytest.raises(DomainError, match=r"matmul: a\[1\]\[0\]"):
        matmul(w, square())
    with pytest.raises(DomainError, match=r"transpose: rows\[1\]\[0\]"):
        w.transpose()
    with pytest.raises(DomainError, match="Matrix: row 1, column 0 must hold"):
        Matrix(w)
    with pytest.raises(DomainError, match="Vector: item 0 must hold"):
        Vector(w[1])
    x[1].data = data  # type: ignore[assignment]
    for action in (add, multiply, dot):
        for name, pair in {"a": (x, three()), "b": (three(), x)}.items():
            with pytest.raises(DomainError, match=rf"{name}\[1\] must hold"):
                action(*pair)
    with pytest.raises(DomainError, match=r"matvec: x\[1\] must hold"):
        matvec(Matrix([[1.0] * 3]), x)
    for unary in (relu, lambda a: scale(a, 2.0)):
        with pytest.raises(DomainError, match=r"a\[1\] must hold"):
            unary(x)
    with pytest.raises(DomainError, match="scale: factor must hold"):
        scale(three(), x[1])


def test_require_finite_names_the_operand_by_the_name_it_was_given() -> None:
    logits = three()
    require_finite("softmax", logits=logits)
    logits[2].data = nan
    with pytest.raises(DomainError) as caught:
        require_finite("softmax", logits=logits)
    assert str(caught.value) == "softmax: logits[2] must hold a finite float, got nan"


def test_an_overflow_is_found_late_and_moves_no_gradient() -> None:
    v = Vector([1.0, 1e200, 1e200])
    dot(v, Vector([1.0, 1.0, 1.0])).backward()
    before = [item.grad for item in v]
    with pytest.raises(DomainError, match="finite float, got inf"):
        dot(v, v)
    assert operations_begun(lambda: dot(v, v)) == 2
    assert [item.grad for item in v] == before
    with pytest.raises(DomainError):
        matvec(Matrix([v]), v)


# --- Vector and Matrix -----------------------------------------------------------


def test_values_are_kept_and_numbers_become_leaves() -> None:
    x = Value(2.0, "x")
    v = Vector([x, 3, 0.5, Fraction(1, 4), np.float32(0.5)])
    assert v[0] is x
    assert v.tolist() == [2.0, 3.0, 0.5, 0.25, 0.5]
    assert all(type(item.data) is float and not item.parents for item in v)
    m = Matrix([[x, 1], v.items[:2]])
    assert m[0, 0] is m[1, 0] is x
    assert m[1, 1] is v[1]


def test_shape_length_and_iteration() -> None:
    v, m = three(), Matrix([[1, 2, 3], [4, 5, 6]])
    assert (v.shape, len(v), [item.data for item in v]) == ((3,), 3, [1.0, 2.0, 3.0])
    assert (m.shape, len(m)) == ((2, 3), 2)
    assert [row.tolist() for row in m] == m.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert Vector([]).shape == (0,)
    assert Vector([]).tolist() == []
    assert Matrix([[7]]).shape == (1, 1)


def test_any_iterable_in_an_order_will_do_even_once() -> None:
    assert Vector(float(i) for i in range(3)).tolist() == [0.0, 1.0, 2.0]
    assert Vector(range(2)).tolist() == [0.0, 1.0]
    assert Matrix(range(i, i + 2) for i in range(2)).tolist() == [[0, 1], [1, 2]]
    assert Matrix(np.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@given(st.integers(0, 6), st.integers(-9, 9))
def test_indices_are_those_of_a_list_or_refused(n: int, i: int) -> None:
    v, plain = Vector(range(n)), list(range(n))
    try:
        expected = plain[i]
    except IndexError:
        with pytest.raises(RangeError, match=f"at least {-n} and below {n}, got {i}"):
            v[i]
    else:
        assert v[i].data == expected
        assert v[np.int64(i)] is v[i]


@pytest.mark.parametrize("index", [True, 1.0, "0", None, slice(0, 1), (0,), (0, 0, 0)])
def test_an_index_of_another_kind_is_refused(index: Any) -> None:
    with pytest.raises(KindError, match="Vector: an index must be an int"):
        three()[index]
    with pytest.raises(KindError, match="Matrix: an index must be an int"):
        square()[index]


def test_a_matrix_index_gives_a_row_or_an_element() -> None:
    m = Matrix([[1, 2, 3], [4, 5, 6]])
    assert m[1].tolist() == m[-1].tolist() == [4.0, 5.0, 6.0]
    assert m[1, -1] is m[1][2]
    with pytest.raises(RangeError, match=r"Matrix: .* below 2, got 2"):
        m[2, 0]
    with pytest.raises(RangeError, match=r"Vector: .* below 3, got 3"):
        m[0, 3]
    with pytest.raises(IndexError):
        m[2]


@pytest.mark.parametrize("thing", [three(), square()], ids=["Vector", "Matrix"])
def test_the_structure_cannot_change(thing: Any) -> None:
    before = list(thing)
    (field,) = vars(thing)
    for name in (field, "shape", "other"):
        with pytest.raises(AttributeError):
            setattr(thing, name, ())
    with pytest.raises(AttributeError):
        delattr(thing, field)
    with pytest.raises(TypeError):
        thing[0] = 1.0
    with pytest.raises(TypeError):
        del thing[0]
    for growth in ("append", "extend", "insert", "pop", "clear", "sort"):
        assert not hasattr(thing, growth)
    assert isinstance(getattr(thing, field), tuple)
    assert all(now is then for now, then in zip(thing, before, strict=True))


def test_a_list_that_changes_afterwards_changes_nothing() -> None:
    row = [1.0, 2.0]
    v, m = Vector(row), Matrix([row, row])
    row.append(3.0)
    assert v.shape == (2,)
    assert m.shape == (2, 2)
    assert m[0, 0] is not m[1, 0]


def test_equality_is_identity() -> None:
    v = three()
    assert v == v
    assert v != three()
    assert len({v, three(), square(), square()}) == 4


@pytest.mark.parametrize(
    ("action", "mend"),
    [
        (lambda v: v + v, r"\+: .* Write add\(a, b\)\."),
        (lambda v: 1.0 + v, r"\+: .* Write add"),
        (lambda v: sum([v, v]), r"\+: .* Write add"),
        (lambda v: np.ones(3) + v, r"\+: .* Write add"),
        (lambda v: v * 2, r"\*: .* Write multiply or scale"),
        (lambda v: 2 * v, r"\*: .* Write multiply"),
        (lambda v: v @ v, r"@: .* Write dot, matvec or matmul"),
        (lambda v: np.eye(3) @ v, r"@: .* Write dot"),
        (lambda v: Value(2.0) * v, r"\*: an operand must be a real number"),
        (lambda v: v + Value(2.0), r"\+: .* Write add"),
        (lambda v: v - v, r"-: each operand must be a Value or a number, got a .* add"),
        (lambda v: np.ones(3) - v, r"-: .* Write add\(a, scale\(b, -1\.0\)\)"),
        (lambda v: 1.0 - v, r"-: .* Write add"),
        (lambda v: -v, r"-: .* or scale\(a, -1\.0\)"),
        (lambda v: +v, r"\+: .* Write add"),
        (lambda v: v / 2, r"/: .* write scale\(a, 1\.0 / b\)"),
        (lambda v: 2 / v, r"/: .* write scale"),
        (lambda v: v**2, r"\*\*: .* one Value after another"),
        (lambda v: pow(v, 2, 3), r"\*\*: .* one Value after another"),
        (lambda v: 2**v, r"\*\*: .* one Value after another"),
        (lambda v: v // 2, r"//: .* one Value after another"),
        (lambda v: 2 // v, r"//: .* one Value after another"),
        (lambda v: v % 2, r"%: .* one Value after another"),
        (lambda v: 2 % v, r"%: .* one Value after another"),
        (lambda v: divmod(v, 2), r"divmod: .* one Value after another"),
        (abs, r"abs: .* one Value after another"),
        (lambda v: v < v, "not supported"),
    ],
)
def test_no_operator_does_arithmetic(
    action: Callable[[Any], object], mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for thing in (three(), square()):
        with counting(monkeypatch) as seen, pytest.raises(TypeError, match=mend):
            action(thing)
        assert seen["operations"] == 0


@given(st.data(), sizes, sizes)
def test_transposing_moves_the_same_values_and_makes_no_node(
    data: st.DataObject, m: int, n: int
) -> None:
    w = Matrix(data.draw(rows(m, n)))
    assert operations_begun(w.transpose) == 0
    turned = w.transpose()
    assert turned.shape == (n, m)
    assert all(turned[j, i] is w[i, j] for i in range(m) for j in range(n))
    again = turned.transpose()
    assert all(again[i, j] is w[i, j] for i in range(m) for j in range(n))


def test_a_repr_is_short_and_reads_like_a_call() -> None:
    assert repr(three()) == "Vector([1.0, 2.0, 3.0])"
    assert repr(square()) == "Matrix([[1.0, 2.0], [3.0, 4.0]])"
    assert repr(Vector(range(9))) == "Vector([0.0, 1.0, 2.0, 3.0, ...])"
    source = random.Random(5)
    large = Matrix([[source.random() for _ in range(50)] for _ in range(50)])
    assert len(repr(large)) < 450


def test_tolist_is_a_copy_of_the_present_numbers() -> None:
    v = three()
    listed = v.tolist()
    listed[0] = 9.0
    v[1].data = 5.0
    assert v.tolist() == [1.0, 5.0, 3.0]


def test_copies_and_pickles_are_whole() -> None:
    m = square()
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert twin.tolist() == m.tolist()
        assert twin[0, 0] is not m[0, 0]
    assert copy.copy(three()).tolist() == [1.0, 2.0, 3.0]


# --- what no vector is made from -------------------------------------------------

NO_INDEX = [True, 1.0, "0", None, int, np.array([0, 1]), np.array([0]), slice(1), ...]


@pytest.mark.parametrize("index", NO_INDEX, ids=repr)
def test_what_is_no_integer_is_no_index(index: Any) -> None:
    places = (
        lambda: three()[index],
        lambda: square()[index],
        lambda: square()[index, 0],
        lambda: square()[0, index],
    )
    for place in places:
        with pytest.raises(KindError, match="an index must be an int, got"):
            place()


@pytest.mark.parametrize("make", [Vector, Matrix, count_operations])
def test_an_array_without_dimensions_has_no_items(make: Callable[[Any], Any]) -> None:
    with pytest.raises(KindError, match="must be"):
        make(np.array(3.0))


STRANGERS = [True, np.True_, "3", b"3", None, 1j, [1.0], {}, object()]
NOT_FINITE = [nan, inf, -inf, 10**400, Fraction(10**400)]


@pytest.mark.parametrize(
    "stranger", [*STRANGERS, *NOT_FINITE], ids=lambda s: repr(s)[:9]
)
def test_a_bad_item_is_refused_with_its_place_before_any_leaf(
    stranger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = DomainError if any(stranger is bad for bad in NOT_FINITE) else KindError
    with counting(monkeypatch) as seen:
        with pytest.raises(kind, match=r"^Vector: item 2 must"):
            Vector([1.0, 2.0, stranger, 4.0])
        with pytest.raises(kind, match=r"^Matrix: row 1, column 0 must"):
            Matrix([[1.0, 2.0], [stranger, 4.0]])
    assert seen["leaves"] == 0


@pytest.mark.parametrize(
    "items",
    ["12", b"12", bytearray(b"12"), {1.0, 2.0}, frozenset({1.0}), {0: 1.0}, 5, None],
)
def test_items_without_numbers_in_an_order_are_refused(items: Any) -> None:
    with pytest.raises(
        KindError, match="Vector: the items must be Values or numbers in"
    ):
        Vector(items)
    with pytest.raises(
        KindError, match="Matrix: the rows must be Values or numbers in"
    ):
        Matrix(items)
    with pytest.raises(KindError, match="Matrix: row 1 must be Values or numbers in"):
        Matrix([[1.0], items])


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ([], "at least one row and one column, got no row"),
        ([[]], "at least one row and one column, got an empty row 0"),
        ([[], [1.0]], "at least one row and one column, got an empty row 0"),
        ([[1.0], []], "row 1 must have the length of row 0, n = 1, got 0"),
        ([[1, 2], [3, 4], [5]], "row 2 must have the length of row 0, n = 2, got 1"),
        ([[1], [3, 4]], "row 1 must have the length of row 0, n = 1, got 2"),
    ],
)
def test_rows_that_are_no_rectangle_are_refused_before_any_leaf(
    bad: list[list[float]], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting(monkeypatch) as seen, pytest.raises(ShapeError, match=text):
        Matrix(bad)
    assert seen["leaves"] == 0


def test_an_iterable_that_fails_half_way_leaves_no_leaf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing() -> Iterator[float]:
        yield 1.0
        raise OSError("the disk is gone")

    with counting(monkeypatch) as seen:
        with pytest.raises(OSError, match="the disk is gone"):
            Vector(failing())
        with pytest.raises(OSError, match="the disk is gone"):
            Matrix([[1.0], failing()])
    assert seen["leaves"] == 0


# --- numbers ---------------------------------------------------------------------


@given(st.data(), sizes, sizes, sizes)
def test_every_product_is_the_plain_float_one_to_the_bit(
    data: st.DataObject, m: int, n: int, p: int
) -> None:
    a, b = data.draw(rows(m, n)), data.draw(rows(n, p))
    columns = [[row[k] for row in b] for k in range(p)]
    expected = [[plain_dot(row, column) for column in columns] for row in a]
    assert matmul(Matrix(a), Matrix(b)).tolist() == expected
    assert matvec(Matrix(a), Vector(columns[0])).tolist() == [
        row[0] for row in expected
    ]
    assert dot(Vector(a[0]), Vector(columns[0])).data == expected[0][0]


def test_the_order_of_a_sum_is_from_left_to_right() -> None:
    terms = [1e16, 1.0, -1e16, 3.0]
    ones = Vector([1.0] * 4)
    results = {order: dot(Vector(order), ones).data for order in permutations(terms)}
    assert results == {order: plain_dot(list(order), [1.0] * 4) for order in results}
    assert len(set(results.values())) > 1, "the terms must tell orders apart"
    assert results[tuple(terms)] == 3.0
    assert math.fsum(terms) == 4.0


def test_the_sum_begins_with_the_first_product() -> None:
    z = dot(Vector([-0.0]), Vector([1.0]))
    assert math.copysign(1.0, z.data) == -1.0
    assert math.copysign(1.0, sum([-0.0])) == 1.0, "which a sum from zero loses"
    a, b = three(), three(4.0)
    z = dot(a, b)
    nodes = []
    while z.operation == "+":
        z, product = z.parents
        nodes.append(product)
    nodes.append(z)
    assert [node.operation for node in nodes] == ["*"] * 3
    assert [node.parents for node in reversed(nodes)] == list(zip(a, b, strict=True))


@given(st.lists(st.tuples(moderate, moderate), min_size=1, max_size=40))
def test_the_error_of_a_dot_product_keeps_the_derived_bound(
    pairs: list[tuple[float, float]],
) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    products = [Fraction(x * y) for x, y in pairs]
    error = abs(Fraction(dot(Vector(a), Vector(b)).data) - sum(products))
    u = Fraction(1, 2**53)
    growth = (1 + u) ** (len(a) - 1) - 1  # (n - 1) u + O(u^2), with all its terms
    assert error <= growth * sum(map(abs, products))


@given(st.lists(st.tuples(moderate, moderate), max_size=8), moderate)
def test_elementwise_operations_are_the_plain_ones(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    left, right = Vector(a), Vector(b)
    assert add(left, right).tolist() == [x + y for x, y in pairs]
    assert multiply(left, right).tolist() == [x * y for x, y in pairs]
    assert scale(left, factor).tolist() == [x * factor for x in a]
    assert relu(left).tolist() == [x if x > 0 else 0.0 for x in a]
    results = (
        add(left, right),
        multiply(left, right),
        scale(left, factor),
        relu(left),
    )
    for result in results:
        assert count_operations(result) == len(pairs)


def test_the_left_operand_stays_left() -> None:
    a, b, factor = three(), three(4.0), Value(2.0)
    for action in (add, multiply):
        for i, item in enumerate(action(a, b)):
            assert item.parents == (a[i], b[i])
    assert [item.parents for item in scale(a, factor)] == [(x, factor) for x in a]


def test_scale_makes_one_leaf_that_all_products_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = three()
    with counting(monkeypatch) as seen:
        scaled = scale(a, 2)
    assert seen == {"operations": 3, "leaves": 1}
    assert len({item.parents[1] for item in scaled}) == 1
    factor = Value(2.0)
    assert all(item.parents[1] is factor for item in scale(a, factor))


def test_cost_depends_on_sizes_alone() -> None:
    zeros, x = Matrix([[0.0] * 3] * 2), three()
    assert count_operations(matvec(zeros, x)) == 10
    assert operations_begun(lambda: relu(scale(x, 0.0))) == 6


# --- gradients -------------------------------------------------------------------


@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_gradients_of_a_matrix_product_are_the_derived_ones(
    data: st.DataObject, m: int, n: int, p: int
) -> None:
    def table(rows: int, columns: int) -> list[list[float]]:
        row = st.lists(whole, min_size=columns, max_size=columns)
        return data.draw(st.lists(row, min_size=rows, max_size=rows))

    a_, b_, g_ = table(m, n), table(n, p), table(m, p)
    a, b = Matrix(a_), Matrix(b_)
    c = matmul(a, b)
    loss = Value(0.0)
    for row, weights in zip(c, g_, strict=True):
        loss = loss + dot(row, Vector(weights))
    loss.backward()
    for i in range(m):
        for j in range(n):
            assert a[i, j].grad == sum(g_[i][k] * b_[j][k] for k in range(p))
    for j in range(n):
        for k in range(p):
            assert b[j, k].grad == sum(a_[i][j] * g_[i][k] for i in range(m))


def test_gradients_of_matvec_agree_with_central_differences() -> None:
    w, x, g = Matrix([[2, -3, 4], [1, 0, -1]]), Vector([1, 5, 2]), Vector([3, -2])

    def plain(*v: float) -> float:
        y0 = v[0] * v[6] + v[1] * v[7] + v[2] * v[8]
        y1 = v[3] * v[6] + v[4] * v[7] + v[5] * v[8]
        return v[9] * y0 + v[10] * y1

    dot(g, matvec(w, x)).backward()
    leaves = [*w[0], *w[1], *x, *g]
    # Linear in each input, whole numbers, step 1/2: the differences are exact.
    measured = central_gradient(plain, [leaf.data for leaf in leaves], 0.5)
    assert [leaf.grad for leaf in leaves] == measured
    assert [leaf.grad for leaf in w[0]] == [3.0, 15.0, 6.0]
    assert [leaf.grad for leaf in x] == [4.0, -9.0, 14.0]


def test_a_vector_dotted_with_itself_sums_both_paths() -> None:
    v = three()
    dot(v, v).backward()
    assert [item.grad for item in v] == [2.0, 4.0, 6.0]


def test_a_long_dot_product_goes_backward_without_recursion() -> None:
    n = 5_000
    v = Vector([1.0] * n)
    z = dot(v, Vector([2.0] * n))
    z.backward(limit=count_operations([z]) + 2 * n)
    assert {item.grad for item in v} == {2.0}


# --- the faults this stage is about ----------------------------------------------


def test_a_truncating_dot_product_is_what_a_gradient_check_cannot_see() -> None:
    def naive(a: Any, b: Any) -> Any:
        return sum(x * y for x, y in zip(a, b))  # noqa: B905

    weights, features = [2.0, -3.0, 4.0], [1.0, 5.0]
    values = [Value(number) for number in weights]
    naive(values, features).backward()
    measured = central_gradient(lambda *w: naive(w, features), weights, 0.5)
    assert [v.grad for v in values] == measured == [1.0, 5.0, 0.0]
    with pytest.raises(ShapeError):
        dot(Vector(values), Vector(features))


def test_the_instrument_counts_a_loop_that_stops_half_way() -> None:
    left = [Value(1.0) for _ in range(10)]

    def hasty() -> None:
        for made, value in enumerate(left):
            if made == 7:
                raise ResourceBudgetError("hasty", "no node left", "7")
            value * value

    assert operations_begun(hasty) == 7


def test_errors_are_what_a_caller_would_catch() -> None:
    assert issubclass(ShapeError, ValueError)
    assert issubclass(RangeError, IndexError)
    assert issubclass(ShapeError, WhiteboxError)
    assert issubclass(RangeError, WhiteboxError)
    assert {"Vector", "Matrix", "ShapeError", "dot"} <= set(whitebox_gpt.__all__)


# --- the demonstration -----------------------------------------------------------


def test_the_demonstration_passes_and_ends_with_the_sanity_check() -> None:
    done = subprocess.run(
        [sys.executable, "-m", STAGE],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "sanity check: PASS"
    assert "its operation nodes, 2n - 1 = 5" in lines
    assert "operations begun = 0" in lines
