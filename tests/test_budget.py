"""budget: counts against graphs, and refusals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitebox_gpt.budget import (
    DEFAULT_BUDGET,
    count_operations,
    dot_nodes,
    matmul_nodes,
    matvec_nodes,
    require_budget,
    require_count,
    require_kind,
    require_size,
)
from whitebox_gpt.errors import DomainError, KindError, ResourceBudgetError, ShapeError
from whitebox_gpt.value import Value, topological_order


def len_of(count: int) -> str:
    return f"{count.bit_length()} bits"


# --- require_count ---------------------------------------------------------------

FORMULAS = [(dot_nodes, 1), (matvec_nodes, 2), (matmul_nodes, 3)]


@pytest.mark.parametrize("count", [True, 2.5, float("nan"), "ab", None, [1], (1,), 1j])
def test_a_count_of_another_kind_is_refused_by_every_formula(count: object) -> None:
    for formula, sizes in FORMULAS:
        for place in range(sizes):
            given: list[object] = [3] * sizes
            given[place] = count
            with pytest.raises(KindError, match=f"^{formula.__name__}: . must be an"):
                formula(*given)  # type: ignore[operator]


@pytest.mark.parametrize("count", [0, -1, -(10**5000), 2**53 + 1, 10**5000], ids=len_of)
def test_a_count_out_of_range_is_refused_by_every_formula(count: int) -> None:
    for formula, sizes in FORMULAS:
        for place in range(sizes):
            given = [3] * sizes
            given[place] = count
            with pytest.raises(ShapeError, match=f"^{formula.__name__}: . must be at"):
                formula(*given)  # type: ignore[operator]


def test_counts_from_1_to_2_to_the_53_are_counts() -> None:
    require_count("f", m=1, n=2**53)
    assert dot_nodes(2**53) == 2**54 - 1


# --- require_budget --------------------------------------------------------------


def test_exactly_enough_is_enough() -> None:
    require_budget("f", 76, 76)
    require_budget("f", 0, 0)


def test_one_short_is_refused_and_the_error_holds_the_facts() -> None:
    with pytest.raises(ResourceBudgetError) as caught:
        require_budget("f", 76, 75)
    error = caught.value
    assert str(error) == "f: the budget must cover 76 operation nodes, got 75"
    assert (error.where, error.got) == ("f", "75")
    assert isinstance(error, ValueError)


def test_the_unit_is_named() -> None:
    with pytest.raises(ResourceBudgetError, match="must cover 20 parameters, got 19"):
        require_budget("plan", 20, 19, unit="parameters")


@pytest.mark.parametrize("budget", [True, False, 1e5, -1, "10", None, float("inf")])
def test_a_budget_that_is_no_count_is_refused_even_if_nothing_is_needed(
    budget: object,
) -> None:
    is_int = type(budget) is int
    rule = "f: budget must be at least 0" if is_int else "f: budget must be an int"
    with pytest.raises(DomainError if is_int else KindError, match=rule):
        require_budget("f", 0, budget)  # type: ignore[arg-type]


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_it_refuses_just_when_more_is_needed(needed: int, budget: int) -> None:
    if needed <= budget:
        require_budget("f", needed, budget)
    else:
        with pytest.raises(ResourceBudgetError):
            require_budget("f", needed, budget)


# --- require_kind and require_size ------------------------------------------------


def test_the_first_operand_of_another_kind_is_named() -> None:
    require_kind("f", int, a=1, b=2)
    with pytest.raises(KindError, match=r"^f: b must be a int, got 'x' \(str\)$"):
        require_kind("f", int, a=1, b="x", c="y")


def test_two_sizes_that_differ_are_refused_with_the_rule() -> None:
    require_size("f", "mask must have length K", 3, 3)
    with pytest.raises(ShapeError) as caught:
        require_size("f", "mask must have length K", 3, 2)
    assert str(caught.value) == "f: mask must have length K = 3, got 2"


# --- the counting functions, against loops that only count -------------------------


@given(st.integers(1, 30))
def test_dot_nodes_counts_products_and_the_plus_signs_between_them(n: int) -> None:
    formula = "+".join(["a*b"] * n)
    assert dot_nodes(n) == formula.count("*") + formula.count("+")


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8))
def test_matrix_counts_are_one_dot_for_each_element(m: int, n: int, p: int) -> None:
    elements = sum(1 for _ in range(m) for _ in range(p))
    assert matmul_nodes(m, n, p) == elements * (2 * n - 1)
    assert matvec_nodes(m, n) == matmul_nodes(m, n, 1)


def test_the_default_budget_affords_a_square_product_of_side_37() -> None:
    assert matmul_nodes(37, 37, 37) == 99_937 <= DEFAULT_BUDGET
    assert matmul_nodes(38, 38, 38) == 108_300 > DEFAULT_BUDGET


# --- count_operations --------------------------------------------------------------


def test_leaves_are_not_counted() -> None:
    assert count_operations([Value(1.0)]) == 0
    assert count_operations([]) == 0


def test_a_node_reached_by_many_paths_counts_once() -> None:
    x = Value(1.0)
    for _ in range(40):
        x = x + x
    assert count_operations([x]) == 40


def test_several_roots_share_what_they_share() -> None:
    x = Value(2.0)
    shared = x * x
    left, right = shared + 1.0, shared * 3.0
    assert count_operations([left]) == count_operations([right]) == 2
    assert count_operations([left, right]) == 3
    assert count_operations([left, left, shared]) == 2


def test_any_depth_will_do() -> None:
    x = Value(0.0)
    for _ in range(100_000):
        x = x + 1.0
    assert count_operations([x]) == 100_000


def test_the_limit_counts_leaves_too_and_is_exact() -> None:
    z = Value(1.0) * Value(2.0) + Value(3.0)
    assert count_operations([z], limit=5) == 2
    with pytest.raises(ResourceBudgetError, match="at most 4 nodes, leaves included"):
        count_operations([z], limit=4)
    with pytest.raises(ResourceBudgetError):
        count_operations([Value(1.0), Value(2.0)], limit=1)


@pytest.mark.parametrize("limit", [0, -1, True, 1e6, None])
def test_a_limit_that_is_no_count_is_refused(limit: object) -> None:
    is_int = type(limit) is int
    rule = "limit must be at least 1" if is_int else "limit must be an int"
    with pytest.raises(DomainError if is_int else KindError, match=rule):
        count_operations([Value(1.0)], limit=limit)  # type: ignore[arg-type]


def test_one_value_instead_of_several_is_refused_with_the_mend() -> None:
    with pytest.raises(KindError, match=r"an iterable of Values.*pass \[z\]"):
        count_operations(Value(1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("stranger", [1.0, None, "z", [Value(1.0)]])
def test_an_output_of_another_kind_is_refused_with_its_place(stranger: object) -> None:
    with pytest.raises(KindError, match="output 1 must be a Value"):
        count_operations([Value(1.0), stranger])  # type: ignore[list-item]


@st.composite
def graphs(draw: st.DrawFn) -> list[Value]:
    nodes = [Value(float(i)) for i in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(0, 12))):
        a, b = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        nodes.append(a + b if draw(st.booleans()) else a - b)
    return nodes


@given(graphs(), st.data())
def test_it_agrees_with_the_topological_orders_of_the_roots(
    nodes: list[Value], data: st.DataObject
) -> None:
    roots = data.draw(st.lists(st.sampled_from(nodes), max_size=4))
    reached = {n for root in roots for n in topological_order(root) if n.parents}
    assert count_operations(roots) == len(reached)
