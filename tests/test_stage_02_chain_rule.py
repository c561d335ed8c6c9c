"""Stage 02: the chain rule on a graph, summed once around every path.

Tolerances: none. Sums and products of floats are correctly rounded, so each expected
number is either exact in rational arithmetic or made by the promised order of
operations. The oracles are Fractions, dual numbers and plain floats written here.
"""

from __future__ import annotations

import ast
import gc
import inspect
import itertools
import math
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from whitebox_gpt import DomainError, KindError, ResourceBudgetError, Value, value
from whitebox_gpt import gradcheck as gradcheck_module
from whitebox_gpt import topological_order as in_order
from whitebox_gpt.draw import draw
from whitebox_gpt.gradcheck import central_difference, central_gradient

# ------------------------------------------------------------- what the tests share

Step = tuple[str, int, int]  # an operation and its two operands, as places


def run(program: list[Step], leaves: list[Any]) -> list[Any]:
    """Run a program on anything that can be added and multiplied; return all nodes."""
    nodes = list(leaves)
    for operation, i, j in program:
        left, right = nodes[i % len(nodes)], nodes[j % len(nodes)]
        nodes.append(left + right if operation == "+" else left * right)
    return nodes


@dataclass(frozen=True)
class Dual:
    """A number and its derivative toward one input, exact: forward mode."""

    number: Fraction
    slope: Fraction

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.number + other.number, self.slope + other.slope)

    def __mul__(self, other: Dual) -> Dual:
        number = self.number * other.number
        return Dual(number, self.number * other.slope + self.slope * other.number)


def exact_gradient(program: list[Step], numbers: list[Fraction]) -> list[Fraction]:
    """Return the derivative of the last node toward each leaf, one pass for each."""
    found = []
    for moved in range(len(numbers)):
        duals = [Dual(n, Fraction(place == moved)) for place, n in enumerate(numbers)]
        found.append(run(program, duals)[-1].slope)
    return found


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


def gradients(nodes: list[Value]) -> list[bytes]:
    return [bits(node.grad) for node in nodes]


def interrupted(action: Callable[[], None], at: int, event: str = "line") -> bool:
    """Run `action`, stopped by Ctrl-C before its `at`-th line or opcode in value.py.

    Returns whether there were that many.
    """
    seen = itertools.count(1)

    def trace(frame: Any, happened: str, argument: Any) -> Any:
        if frame.f_globals.get("__name__") != "whitebox_gpt.value":
            return None
        frame.f_trace_opcodes = event == "opcode"
        if happened == event and next(seen) == at:
            raise KeyboardInterrupt
        return trace

    usual = sys.gettrace()
    # Python 3.12.1 tells of opcodes only if a frame asked before tracing began.
    sys._getframe().f_trace_opcodes = event == "opcode"
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(usual)
    return False


@contextmanager
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def living_values() -> int:
    return sum(type(thing) is Value for thing in gc.get_objects())


def first_graph() -> tuple[Value, Value, Value, Value, Value]:
    x, y, bias = Value(2.0, "x"), Value(-3.0, "y"), Value(10.0, "bias")
    product = (x * y).named("product")
    return x, y, bias, product, (product + bias).named("z")


# ---------------------------------------------------------------- local derivatives


def test_a_fresh_node_has_gradient_zero() -> None:
    assert all(node.grad == 0.0 for node in first_graph())
    assert all(type(node.grad) is float for node in first_graph())


def test_a_leaf_has_no_local_derivatives() -> None:
    assert Value(2.0).local_derivatives == ()


def test_a_sum_records_one_and_one() -> None:
    assert (Value(2.0) + Value(-3.0)).local_derivatives == (1.0, 1.0)


def test_a_product_records_the_other_factor() -> None:
    assert (Value(2.0) * Value(-3.0)).local_derivatives == (-3.0, 2.0)


@pytest.mark.parametrize(
    ("node", "slopes"),
    [
        (Value(2.0) * 5, (5.0, 2.0)),
        (5 * Value(2.0), (2.0, 5.0)),
        (Value(2.0) + 5, (1.0, 1.0)),
        (5 + Value(2.0), (1.0, 1.0)),
    ],
)
def test_literals_on_either_side_have_slopes_in_operand_order(
    node: Value, slopes: tuple[float, float]
) -> None:
    assert node.local_derivatives == slopes


def test_slopes_are_those_of_the_forward_pass_when_data_changes_later() -> None:
    x, y, _, product, z = first_graph()
    x.data, y.data = 100.0, 1000.0
    z.backward()
    assert product.local_derivatives == (-3.0, 2.0)
    assert (x.grad, y.grad, z.data) == (-3.0, 2.0, 4.0)


def test_stale_data_stops_the_next_operation_and_moves_no_gradient() -> None:
    x, y, *_, z = first_graph()
    z.backward()
    before = gradients(in_order(z))
    x.data = math.inf
    with no_collector():
        living = living_values()
        for operation in (lambda: x * y, lambda: x + y):
            with pytest.raises(DomainError):
                operation()
        assert living_values() == living
    assert gradients(in_order(z)) == before


@pytest.mark.parametrize("bad", [True, math.nan, math.inf, "1", None, 1j, 10**400])
def test_a_refused_operand_moves_no_gradient(bad: Any) -> None:
    x, *_, z = first_graph()
    z.backward()
    before = gradients(in_order(z))
    for operation in (lambda: x * bad, lambda: bad * x, lambda: x + bad):
        with pytest.raises((TypeError, ValueError)):
            operation()
    assert gradients(in_order(z)) == before


def test_numpy_scalars_join_the_graph_and_gradients_stay_floats() -> None:
    numpy = pytest.importorskip("numpy")
    x = Value(2.0)
    (numpy.float64(3.0) * x + numpy.float32(0.5)).backward()
    assert (x.grad, type(x.grad)) == (3.0, float)
    with pytest.raises(TypeError):
        numpy.ones(2) * x


# --------------------------------------------------------------- the sum over paths


def test_first_graph_has_the_gradients_of_the_chapter() -> None:
    x, y, bias, product, z = first_graph()
    z.backward()
    assert [n.grad for n in (x, y, bias, product, z)] == [-3.0, 2.0, 1.0, 1.0, 1.0]


def test_a_node_used_twice_by_one_product_sums_both_edges() -> None:
    a = Value(3.0)
    (a * a).backward()
    assert a.grad == 6.0


def test_a_node_used_twice_by_one_sum_sums_both_edges() -> None:
    a = Value(3.0)
    (a + a).backward()
    assert a.grad == 2.0


@pytest.mark.parametrize(
    "written",
    [
        lambda b: b * b + b,
        lambda b: b + b * b,
        lambda b: b * (b + 1),
        lambda b: (b + 1) * b,
    ],
)
def test_a_diamond_is_right_in_every_writing(
    written: Callable[[Value], Value],
) -> None:
    a = Value(3.0)
    written(a * 2.0).backward()
    assert a.grad == 26.0  # of 4aa + 2a, that is 8a + 2


def test_exercise_paths_of_a_small_graph() -> None:
    a, b = Value(2.0), Value(3.0)
    ((a + b) * (a * b)).backward()
    assert (a.grad, b.grad) == (2 * 2 * 3 + 3**2, 2 * 2 * 3 + 2**2)


def test_backward_on_a_leaf_gives_it_one_each_time() -> None:
    x = Value(2.0)
    x.backward()
    assert x.grad == 1.0
    x.backward()
    assert x.grad == 2.0


def test_backward_leaves_nodes_outside_its_graph_alone() -> None:
    x, *_, product, z = first_graph()
    z.backward()
    z.grad = 7.0
    product.backward()
    assert (z.grad, product.grad, x.grad) == (7.0, 1.0, -6.0)


def test_edges_are_walked_once_however_many_paths_there_are() -> None:
    leaf = node = Value(1.0)
    for _ in range(1000):
        node = node + leaf * 0.0 + node  # 3 nodes more, twice the paths
    node.backward(limit=10_000)
    assert leaf.grad == 2.0**1000  # no walk along paths would have come back


@st.composite
def small_programs(draw: st.DrawFn) -> tuple[list[Step], list[Fraction]]:
    """Draw a shared graph whose numbers and gradients all fit into 53 bits.

    Leaves are quarters up to 3, nodes have degree at most 5, and there are at most 8
    steps, 3 of them products if the degree is to reach 5: no number exceeds
    (3 * 2**5) ** 5 < 2**33, all are multiples of 2**-10, and derivatives are smaller
    than 5 * 2**5 times that.
    """
    quarters = st.integers(-12, 12).map(lambda n: Fraction(n, 4))
    numbers = draw(st.lists(quarters, min_size=1, max_size=4))
    places = st.integers(0, 11)
    steps = st.tuples(st.sampled_from("+*"), places, places)
    degrees, program = [1] * len(numbers), []
    for operation, i, j in draw(st.lists(steps, min_size=1, max_size=8)):
        left, right = degrees[i % len(degrees)], degrees[j % len(degrees)]
        kind = operation if left + right <= 5 else "+"
        program.append((kind, i, j))
        degrees.append(left + right if kind == "*" else max(left, right))
    return program, numbers


@given(small_programs())
def test_gradients_equal_exact_forward_mode_derivatives(
    drawn: tuple[list[Step], list[Fraction]],
) -> None:
    program, numbers = drawn
    leaves = [Value(float(number)) for number in numbers]
    root = run(program, leaves)[-1]
    root.backward()
    assert Fraction(root.data) == run(program, numbers)[-1]
    found = [Fraction(leaf.grad) for leaf in leaves]
    assert found == exact_gradient(program, numbers)


@given(small_programs())
def test_every_inner_node_holds_its_exact_derivative_too(
    drawn: tuple[list[Step], list[Fraction]],
) -> None:
    program, numbers = drawn
    nodes = run(program, [Value(float(number)) for number in numbers])
    nodes[-1].backward()
    exact = run(program, numbers)
    for cut in range(len(program)):  # make node `cut` an input and run what follows
        width = len(numbers) + cut + 1
        duals = [Dual(n, Fraction(place == width - 1)) for place, n in enumerate(exact)]
        moved = run(program[cut + 1 :], duals[:width])[-1].slope
        assert Fraction(nodes[width - 1].grad) == moved


# --------------------------------------------------------------- repeated backward


def test_leaves_accumulate_and_inner_nodes_hold_the_last_pass() -> None:
    x = Value(2.0)
    square = x * x
    z = square * 3.0
    z.backward()
    assert (x.grad, square.grad, z.grad) == (12.0, 3.0, 1.0)
    z.backward()
    assert (x.grad, square.grad, z.grad) == (24.0, 3.0, 1.0)


def test_an_inner_gradient_of_another_result_is_not_passed_on() -> None:
    a, b, d = Value(3.0), Value(2.0), Value(1.0)
    c = a + b
    e = c * d
    e.backward()
    e.backward()
    assert (a.grad, b.grad, d.grad) == (2.0, 2.0, 10.0)


def test_two_results_that_share_a_leaf_give_it_the_gradient_of_their_sum() -> None:
    x = Value(2.0)
    (x * x).backward()
    (x * 5.0).backward()
    assert x.grad == 9.0


def test_a_second_pass_gives_exactly_twice_where_a_running_sum_would_not() -> None:
    first, second = 0.2, 0.1
    once = first + second
    assert (once + first) + second != 2 * once  # what the rule avoids
    x = Value(1.0)
    z = x * second + x * first
    z.backward()
    assert x.grad == once
    z.backward()
    assert x.grad == 2 * once


finite = st.floats(-1e50, 1e50)


@given(st.lists(finite, min_size=1, max_size=6), finite)
def test_the_old_gradient_of_a_leaf_is_added_to_the_sum_of_the_pass(
    factors: list[float], old: float
) -> None:
    fresh, used = Value(1.0), Value(1.0)
    for leaf in (fresh, used):
        leaf.grad = old if leaf is used else 0.0
        total = leaf * factors[0]
        for factor in factors[1:]:
            total = total + leaf * factor
        total.backward()
    assert used.grad == fresh.grad + old


def test_zero_grad_clears_the_whole_graph() -> None:
    *_, z = first_graph()
    z.backward()
    z.zero_grad()
    assert all(node.grad == 0.0 for node in in_order(z))


def test_zero_grad_leaves_consumers_alone() -> None:
    *_, product, z = first_graph()
    z.backward()
    product.zero_grad()
    assert (product.grad, z.grad) == (0.0, 1.0)


# ------------------------------------------------------------------ order of the sum


def test_contributions_are_added_from_the_last_written_to_the_first() -> None:
    x, w = Value(1.0), Value(1.0)
    (x * 0.1 + x * 0.2 + x * 0.3).backward()
    (w * 0.3 + w * 0.2 + w * 0.1).backward()
    assert x.grad == (0.3 + 0.2) + 0.1 != w.grad == (0.1 + 0.2) + 0.3


def test_consumers_add_in_the_reversed_topological_order() -> None:
    x = Value(0.1)
    early, late = x + 0.3, x + 0.5
    z = x * (early * late)
    assert [n for n in in_order(z) if x in n.parents] == [early, late, z]
    z.backward()
    from_z = early.data * late.data
    from_late, from_early = early.data * 0.1, late.data * 0.1
    assert x.grad == (from_z + from_late) + from_early
    assert x.grad != (from_z + from_early) + from_late
    assert x.grad != (from_early + from_late) + from_z


def test_at_one_consumer_the_left_edge_adds_before_the_right() -> None:
    # Toward one operand + and * have equal slopes, so a node is made up by hand here;
    # subtraction and division will have unequal ones.
    x = Value(1.0)
    made = value._node("made up", 1.0, x, 0.1, x, 0.2)
    (made + x * 0.3).backward()
    assert x.grad == (0.3 + 0.1) + 0.2 != (0.3 + 0.2) + 0.1


magnitudes = st.floats(0.001, 1000.0)


@given(
    st.lists(magnitudes, min_size=1, max_size=4),
    st.lists(
        st.tuples(st.sampled_from("+*"), st.integers(0, 12), st.integers(0, 12)),
        min_size=1,
        max_size=9,
    ),
)
def test_gradients_have_the_bits_of_the_promised_order(
    numbers: list[float], program: list[Step]
) -> None:
    try:
        root = run(program, [Value(number) for number in numbers])[-1]
    except DomainError:
        assume(False)
    order: list[Value] = []

    def visit(node: Value) -> None:
        for operand in node.parents:
            if operand not in order:
                visit(operand)
        order.append(node)

    visit(root)
    expected = dict.fromkeys(order, 0.0)
    expected[root] = 1.0
    for node in reversed(order):
        for operand, slope in zip(node.parents, node.local_derivatives, strict=True):
            expected[operand] += slope * expected[node]
    assume(all(map(math.isfinite, expected.values())))
    root.backward()
    assert gradients(order) == [bits(expected[node]) for node in order]


def test_a_pass_makes_no_negative_zero() -> None:
    x = Value(2.0)
    (x * -0.0).backward()
    assert bits(x.grad) == bits(0.0)


# --------------------------------------------------------------------- all or nothing


def test_an_overflowing_gradient_is_refused_though_all_data_is_finite() -> None:
    tiny = Value(1e-200, "tiny")
    large = tiny * 1e200 * 1e200
    assert math.isfinite(large.data)
    with pytest.raises(DomainError) as caught:
        large.backward()
    assert str(caught.value) == (
        "backward: the gradient of Value(1e-200, 'tiny') must be finite, got inf. "
        "No gradient was changed."
    )
    assert isinstance(caught.value, ValueError)
    assert [node.grad for node in in_order(large)] == [0.0] * 5


def test_an_overflow_leaves_the_gradients_of_other_leaves_alone() -> None:
    x, z = Value(1e-200), Value(2.0)
    y = x * 1e200 * 1e200 + z
    x.grad, z.grad = 0.25, -4.0
    with pytest.raises(DomainError):
        y.backward()
    assert (x.grad, z.grad, y.grad) == (0.25, -4.0, 0.0)


def test_finite_contributions_with_an_infinite_sum_are_refused() -> None:
    x = Value(0.1, "x")
    z = x * 1.2e308 + x * 1.2e308
    with pytest.raises(DomainError, match=r"'x'\) must be finite, got inf"):
        z.backward()
    assert all(node.grad == 0.0 for node in in_order(z))


def test_old_and_new_gradient_with_an_infinite_sum_are_refused() -> None:
    x, y = Value(1.0), Value(2.0)
    z = x * 1e308 + y
    x.grad, y.grad = 1.5e308, 3.0
    with pytest.raises(DomainError, match=r"backward: .* got inf"):
        z.backward()
    assert (x.grad, y.grad, z.grad) == (1.5e308, 3.0, 0.0)


def test_infinity_times_a_zero_slope_is_refused_before_it_becomes_nan() -> None:
    x = Value(0.0, "x")
    inner = (x * 0.0).named("inner")
    z = inner * 1e200 * 1e200
    with pytest.raises(DomainError, match=r"'inner'\) from '\*' .* got inf"):
        z.backward()
    assert (x.grad, inner.grad) == (0.0, 0.0)


@pytest.mark.parametrize("junk", [math.nan, math.inf, -math.inf])
def test_a_leaf_that_holds_a_gradient_that_is_no_number_is_refused(junk: float) -> None:
    x, y, *_, z = first_graph()
    x.grad = junk
    with pytest.raises(DomainError):
        z.backward()
    assert bits(x.grad) == bits(junk)
    assert (y.grad, z.grad) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("old", "refusal"),
    [
        *((thing, KindError) for thing in ("much", None, 1j, True, [0.0])),
        *((number, DomainError) for number in (10**400, Fraction(-(10**400)))),
    ],
    ids=repr,
)
def test_a_leaf_whose_gradient_is_not_even_a_number_changes_nothing(
    old: Any, refusal: type[Exception]
) -> None:
    x, y, *_, z = first_graph()
    y.grad = old
    rule = r"^backward: the old gradient of Value\(-3\.0, 'y'\) must be "
    with pytest.raises(refusal, match=rule):
        z.backward()
    assert [x.grad, y.grad, z.grad] == [0.0, old, 0.0]
    assert y.grad is old


def test_old_gradients_of_another_real_kind_become_floats() -> None:
    numpy = pytest.importorskip("numpy")
    single = numpy.float32(0.1)
    for old in (1, Fraction(1, 3), numpy.float64(0.1), single, numpy.int64(2)):
        x, y, *_, z = first_graph()
        y.grad = old
        z.backward()
        assert type(y.grad) is float
        assert y.grad == float(old) + x.data
    x, y, *_, z = first_graph()
    y.grad = numpy.complex128(1.0)
    with pytest.raises(KindError, match="must be a real number"):
        z.backward()


def test_the_old_gradient_of_an_inner_node_does_not_matter() -> None:
    x, y, *_, z = first_graph()
    z.grad = None  # type: ignore[assignment]
    z.backward()
    assert (x.grad, y.grad, z.grad) == (-3.0, 2.0, 1.0)


def test_a_long_label_makes_no_long_message_in_backward() -> None:
    tiny = Value(1e-200, "w" * 100_000)
    with pytest.raises(DomainError) as caught:
        (tiny * 1e200 * 1e200).backward()
    assert len(str(caught.value)) < 200


def test_slopes_are_floats_where_data_was_overwritten() -> None:
    for data in (3, Fraction(1, 3), True):
        x, y = Value(1.0), Value(2.0)
        x.data = data
        if data is True:
            with pytest.raises(KindError, match=r"^\*: an operand must be"):
                x * y
            continue
        made = x * y
        assert made.local_derivatives == (2.0, float(data))
        assert {type(slope) for slope in made.local_derivatives} == {float}


def test_backward_says_that_gradients_are_shared_between_threads() -> None:
    assert "one thread at a time" in (Value.backward.__doc__ or "")


def test_an_interrupt_before_any_line_of_a_pass_moves_no_gradient() -> None:
    x, y = Value(2.0), Value(-3.0)
    z = x * y + x
    z.backward()
    order = in_order(z)
    before = gradients(order)
    at = 1
    while interrupted(z.backward, at):
        assert gradients(order) == before
        at += 1
    assert at > 30, "the trace must have seen the pass"
    assert [x.grad, y.grad] == [-4.0, 4.0]


def test_an_interrupt_before_any_opcode_leaves_all_old_or_all_new_gradients() -> None:
    x, y = Value(2.0), Value(-3.0)
    z = x * y + x
    order = in_order(z)
    fresh = gradients(order)
    z.backward()
    done = gradients(order)
    for at in itertools.count(1):
        z.zero_grad()
        if not interrupted(z.backward, at, "opcode"):
            break
        assert gradients(order) in (fresh, done)
    assert at > 200, "the trace must have seen the pass"


def test_an_error_from_the_outside_half_way_moves_no_gradient() -> None:
    *_, z = first_graph()
    z.backward()
    before = gradients(in_order(z))
    real, calls = value._require_finite_gradient, itertools.count(1)

    def failing(node: Value) -> None:
        if next(calls) == 2:
            raise MemoryError
        real(node)

    with (
        patch.object(value, "_require_finite_gradient", failing),
        pytest.raises(MemoryError),
    ):
        z.backward()
    assert next(calls) == 3
    assert gradients(in_order(z)) == before


wide = st.one_of(st.sampled_from([1e-200, -1e200, 1e300, 0.0]), st.floats(-9, 9))


@given(
    st.lists(st.tuples(wide, st.floats(-9, 9)), min_size=1, max_size=4),
    st.lists(
        st.tuples(st.sampled_from("+**"), st.integers(0, 9), st.integers(0, 9)),
        min_size=1,
        max_size=7,
    ),
    st.integers(1, 20),
    st.one_of(st.none(), st.integers(1, 150)),
)
def test_any_pass_succeeds_whole_or_changes_nothing(
    leaves: list[tuple[float, float]], program: list[Step], limit: int, at: int | None
) -> None:
    nodes = [Value(number) for number, _ in leaves]
    try:
        nodes = run(program, nodes)
    except DomainError:
        assume(False)
    for node, (_, old) in zip(nodes, itertools.cycle(leaves)):
        node.grad = old
    before = {node: node.grad for node in nodes}
    root = nodes[-1]
    try:
        stopped = interrupted(lambda: root.backward(limit), at or 0)
    except (DomainError, ResourceBudgetError):
        stopped = True
    if stopped:
        assert gradients(nodes) == [bits(before[node]) for node in nodes]
        return
    after = {node: node.grad for node in nodes}
    assert all(map(math.isfinite, after.values()))
    root.zero_grad()
    root.backward(limit)
    reached = set(in_order(root, limit))
    for node in nodes:
        old = before[node] if node not in reached or not node.parents else 0.0
        expected = old if node not in reached else node.grad + old
        assert after[node] == expected


# ------------------------------------------------------------------------ the limit


def test_the_limit_counts_leaves_and_the_exact_count_is_enough() -> None:
    x, *_, z = first_graph()
    with pytest.raises(ResourceBudgetError, match="at most 4 nodes") as caught:
        z.backward(limit=4)
    assert isinstance(caught.value, ValueError)
    assert all(node.grad == 0.0 for node in in_order(z))
    z.backward(limit=5)
    assert x.grad == -3.0


def test_the_default_limit_is_a_thousand_nodes() -> None:
    node = leaf = Value(1.0)
    for _ in range(999):
        node = node + leaf
    node.backward()
    assert leaf.grad == 1000.0
    beyond = node + leaf
    with pytest.raises(ResourceBudgetError):
        beyond.backward()
    with pytest.raises(ResourceBudgetError):
        beyond.zero_grad()
    assert (leaf.grad, beyond.grad) == (1000.0, 0.0)


@pytest.mark.parametrize("limit", [True, 0, -1, 5.0, "5", None])
def test_a_limit_that_is_no_int_or_below_1_is_refused(limit: Any) -> None:
    *_, z = first_graph()
    z.backward()
    before = gradients(in_order(z))
    is_int = type(limit) is int
    rule = "limit must be at least 1" if is_int else "limit must be an int"
    for method in (z.backward, z.zero_grad):
        with pytest.raises(DomainError if is_int else KindError, match=rule):
            method(limit=limit)
    assert gradients(in_order(z)) == before


def test_the_root_gets_1_and_a_root_that_is_a_leaf_adds_it_up() -> None:
    *_, z = first_graph()
    alone = Value(5.0)
    for passes in (1, 2, 3):
        z.backward()
        alone.backward()
        assert (z.grad, alone.grad) == (1.0, float(passes))


def test_a_third_pass_is_one_more_rounded_addition() -> None:
    x = Value(1.0)
    tenth = x * 0.1
    for expected in (0.1, 0.2, 0.2 + 0.1):
        tenth.backward()
        assert x.grad == expected
    assert Fraction(x.grad) != 3 * Fraction(0.1)


# ----------------------------------------------------------------- depth and memory


def test_a_graph_a_hundred_thousand_deep_has_a_gradient() -> None:
    leaf = node = Value(1.0)
    for _ in range(100_000):
        node = node + 1.0
    node.backward(limit=200_001)
    assert leaf.grad == 1.0
    node.zero_grad(limit=200_001)
    assert leaf.grad == 0.0


def work(limit: int) -> None:
    factor = Value(1.0)
    node = factor
    for _ in range(1000):
        node = node * factor
    node.backward(limit)


def test_a_dropped_graph_is_freed_without_the_collector() -> None:
    with no_collector():
        living = living_values()
        work(limit=1001)
        assert living_values() == living


def test_a_refused_pass_leaves_no_cycle_either() -> None:
    def refused() -> None:
        tiny = Value(1e-200)
        try:
            (tiny * 1e200 * 1e200).backward()
        except DomainError:
            return
        raise AssertionError("a refusal must come")

    with no_collector():
        living = living_values()
        refused()
        with pytest.raises(ResourceBudgetError):
            work(limit=1000)
        refused()
        gc.collect()  # pytest's own record of the exception may be in a cycle
        assert living_values() == living
        refused()
        assert living_values() == living


# ------------------------------------------------------------ the independent witness


def test_the_witness_imports_nothing_that_it_judges() -> None:
    tree = ast.parse(inspect.getsource(gradcheck_module))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (getattr(node, "module", None), *(a.name for a in node.names))
    }
    assert not {"value", "Value", "whitebox_gpt", "whitebox_gpt.value"} & imported


SPAN = np.timedelta64(3)


@pytest.mark.parametrize(
    ("f", "x", "h", "refusal", "message"),
    [
        (float, 1.0, 0.0, DomainError, "h must not be 0, got 0.0"),
        (float, 1.0, 0, DomainError, "h must not be 0"),
        (float, 1.0, -0.0, DomainError, "h must not be 0"),
        (float, 1.0, math.nan, DomainError, "h must be finite, got nan"),
        (float, 1.0, math.inf, DomainError, "h must be finite, got inf"),
        (float, 1.0, 10**400, DomainError, "h must be finite, got an integer of"),
        (float, 1.0, True, KindError, "h must be a real number, got True"),
        (float, 1.0, "1", KindError, "h must be a real number, got '1'"),
        (float, math.nan, 0.5, DomainError, "x must be finite, got nan"),
        (float, None, 0.5, KindError, "x must be a real number, got None"),
        (float, 1.7e308, 1e308, DomainError, "x moved by h must be finite"),
        (lambda x: 1.0, 0.0, 1e308, DomainError, "2h must be finite, got inf"),
        (str, 1.0, 0.5, KindError, "f(1.5) must be a real number, got '1.5' (str)"),
        (Value, 1.0, 0.5, KindError, "f(1.5) must be a real number, got Value(1.5)"),
        (bool, 1.0, 0.5, KindError, "f(1.5) must be a real number, got True"),
        # numpy registers spans of time as integers.
        (float, SPAN, 0.5, KindError, "x must be a real number, got "),
        (float, 1.0, SPAN, KindError, "h must be a real number, got "),
        (lambda x: SPAN, 1.0, 0.5, KindError, "f(1.5) must be a real number, got "),
        (lambda x: math.nan, 1.0, 0.5, DomainError, "f(1.5) must be finite, got nan"),
        (lambda x: x * 1e308, 0.0, 1.5, DomainError, "the slope must be finite"),
    ],
)
def test_the_witness_refuses_what_is_not_finite(
    f: Any, x: Any, h: Any, refusal: type[Exception], message: str
) -> None:
    with pytest.raises(refusal) as caught:
        central_difference(f, x, h)
    assert str(caught.value).startswith(f"central_difference: {message}")


@pytest.mark.parametrize(
    ("bad", "refusal"),
    [("1", KindError), (Value(1.0), KindError), (1e999, DomainError)],
)
def test_a_gradient_names_the_input_that_had_moved(
    bad: Any, refusal: type[Exception]
) -> None:
    def f(x: float, y: float) -> Any:
        return x if y == 2.0 else bad

    with pytest.raises(refusal, match=r"f with input 1 at 2\.5 must be "):
        central_gradient(f, [1.0, 2.0], 0.5)


def test_what_the_function_raises_stays_as_it_is() -> None:
    with pytest.raises(ValueError, match="math domain error"):
        central_difference(math.log, 0.0, 0.5)


def test_central_difference_is_the_quotient_it_says() -> None:
    calls: list[float] = []

    def f(x: float) -> float:
        calls.append(x)
        return {2.5: 7.0, 1.5: 3.0}[x]

    assert central_difference(f, 2.0, 0.5) == 4.0
    assert sorted(calls) == [1.5, 2.5]


def test_central_gradient_moves_one_input_at_a_time() -> None:
    calls: list[tuple[float, ...]] = []

    def f(*inputs: float) -> float:
        calls.append(inputs)
        return 0.0

    assert central_gradient(f, (1.0, 2.0, 3.0), 0.5) == [0.0, 0.0, 0.0]
    assert len(calls) == 2 * 3
    assert set(calls) == {
        *((0.5, 2.0, 3.0), (1.5, 2.0, 3.0)),
        *((1.0, 1.5, 3.0), (1.0, 2.5, 3.0)),
        *((1.0, 2.0, 2.5), (1.0, 2.0, 3.5)),
    }


def test_the_first_graph_measured_from_outside_has_the_same_gradients() -> None:
    x, y, bias, _, z = first_graph()
    z.backward()
    measured = central_gradient(lambda x, y, b: x * y + b, [2.0, -3.0, 10.0], 0.5)
    assert measured == [x.grad, y.grad, bias.grad] == [-3.0, 2.0, 1.0]


def test_a_parabola_is_measured_exactly_and_a_cube_is_off_by_the_step_squared() -> None:
    assert central_difference(lambda x: x * x, 2.0, 0.5) == 4.0
    assert central_difference(lambda x: x * x * x, 2.0, 0.5) == 12.0 + 0.5**2


small = st.integers(-9, 9)


@given(st.lists(small, min_size=8, max_size=8), st.lists(small, min_size=3, max_size=3))
def test_half_a_step_is_exact_for_functions_linear_in_each_input(
    coefficients: list[int], point: list[int]
) -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        k = coefficients
        sums = (a * k[1] + b * k[2]) + (c * k[3] + k[0])
        return sums + (a * b * k[4] + b * c * k[5]) + (a * c * k[6] + a * b * c * k[7])

    leaves = [Value(number) for number in point]
    f(*leaves).backward()
    a, b, c = point
    k = coefficients
    exact = [
        k[1] + k[4] * b + k[6] * c + k[7] * b * c,
        k[2] + k[4] * a + k[5] * c + k[7] * a * c,
        k[3] + k[5] * b + k[6] * a + k[7] * a * b,
    ]
    assert [leaf.grad for leaf in leaves] == exact
    assert central_gradient(f, [float(n) for n in point], 0.5) == exact


def exchanged(self: Value, other: Value) -> Value:
    """A product with its two slopes exchanged."""
    a, b = self.data, other.data
    return value._node("*", a * b, self, a, other, b)


def test_the_witness_catches_a_planted_derivative_at_a_point_not_special() -> None:
    def disagree(x: float, y: float) -> bool:
        leaves = [Value(x), Value(y)]
        (leaves[0] * leaves[1]).backward()
        measured = central_gradient(lambda x, y: x * y, [x, y], 0.5)
        return [leaf.grad for leaf in leaves] != measured

    assert not disagree(2.0, -3.0)
    with patch.object(Value, "__mul__", exchanged):
        assert disagree(2.0, -3.0)
        assert not disagree(3.0, 3.0), "equal factors hide it, as the chapter says"


def test_exact_forward_mode_catches_the_planted_derivative_too() -> None:
    numbers = [Fraction(2), Fraction(-3)]
    program = [("*", 0, 1), ("+", 2, 0)]
    with patch.object(Value, "__mul__", exchanged):
        leaves = [Value(float(number)) for number in numbers]
        run(program, leaves)[-1].backward()
    assert [leaf.grad for leaf in leaves] != exact_gradient(program, numbers)


def test_a_step_that_rounding_swallows_measures_zero() -> None:
    assert central_difference(lambda x: x, 1e20, 0.5) == 0.0


# ------------------------------------------------------------ picture and demonstration


def test_the_picture_shows_gradients_and_slopes() -> None:
    *_, z = first_graph()
    z.backward()
    picture = ET.fromstring(draw(z))
    texts = [element.text or "" for element in picture.iter() if element.text]
    assert {"grad -3", "grad 2", "grad 1", "data -6"} <= set(texts)
    slopes = [element.text for element in picture if element.tag.endswith("text")]
    assert sorted(map(str, slopes)) == ["-3", "1", "1", "2"]


def test_the_demonstration_prints_its_observations_and_passes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whitebox_gpt.stages.stage_02_chain_rule"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "sanity check: PASS"
    for line in (
        "slopes of x * y = (-3.0, 2.0)",
        "dz/dx, dz/dy, dz/dbias = [-3.0, 2.0, 1.0]",
        "by central differences = [-3.0, 2.0, 1.0]",
        "d(a * a)/da at 3 = 6.0",
        "d(a + a)/da = 2.0",
        "d(4aa + 2a)/da at 3 = 26.0",
        "leaf after two passes = 24.0",
        "inner node after two passes = 3.0",
        "both after zero_grad = [0.0, 0.0]",
        "gradient through 100,000 sums = 1.0",
        "gradient after both = 0.0",
    ):
        assert line in lines
