"""Stage 01: values that remember, the border they pass, and the order of a graph.

Sums and products are compared without tolerance: IEEE 754 rounds both correctly, so
Python's own floats and exact fractions rounded once must agree in every bit.
"""

from __future__ import annotations

import gc
import inspect
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitebox_gpt import (
    DomainError,
    KindError,
    ResourceBudgetError,
    Value,
    WhiteboxError,
    topological_order,
)
from whitebox_gpt.errors import brief, describe
from whitebox_gpt.stages import observe, refusal

INF, NAN = math.inf, math.nan
LARGEST = sys.float_info.max
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
}

finite = st.floats(allow_nan=False, allow_infinity=False)
signs = st.sampled_from(sorted(SIGNS))


@st.composite
def graphs(draw: st.DrawFn, most_operations: int = 20) -> Value:
    """A graph of random shape: any node may be used again, also twice by one."""
    nodes = [Value(data) for data in draw(st.lists(finite, min_size=1, max_size=4))]
    for _ in range(draw(st.integers(0, most_operations))):
        left, right = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        try:
            nodes.append(SIGNS[draw(signs)](left, right))
        except DomainError:
            continue
    return nodes[-1]


@contextmanager
def no_new_node() -> Iterator[None]:
    """Fail if a value that was made meanwhile is alive afterwards."""
    gc.freeze()  # what exists already is not looked at
    try:
        yield
        gc.collect()
        assert not [thing for thing in gc.get_objects() if type(thing) is Value]
    finally:
        gc.unfreeze()


def first_graph() -> tuple[Value, Value, Value, Value, Value]:
    x, y, bias = Value(2, "x"), Value(-3, "y"), Value(10, "bias")
    product = (x * y).named("product")
    return x, y, product, bias, (product + bias).named("z")


def ladder(rungs: int) -> Value:
    """Double 0 again and again; there are 2**rungs ways down to the first leaf."""
    node = Value(0.0)
    for _ in range(rungs):
        node = node + node
    return node


def steps(root: Value, limit: int) -> tuple[int, bool]:
    """Return how many steps `topological_order` takes, and whether it finishes."""
    lines, start = inspect.getsourcelines(topological_order)
    step = start + next(i for i, line in enumerate(lines) if "path[-1]" in line)
    count = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code is not topological_order.__code__:
            return None
        count += event == "line" and frame.f_lineno == step
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        topological_order(root, limit)
    except ResourceBudgetError:
        return count, False
    finally:
        sys.settrace(before)
    return count, True


# The figures of the stage


def test_the_first_graph_computes_minus_6_and_4() -> None:
    _, _, product, _, z = first_graph()
    assert (product.data, z.data) == (-6.0, 4.0)


def test_the_first_graph_lists_x_y_product_bias_z() -> None:
    names = [node.label for node in topological_order(first_graph()[-1])]
    assert names == ["x", "y", "product", "bias", "z"]


def test_parents_are_the_operands_themselves() -> None:
    x, y, product, bias, z = first_graph()
    assert [id(node) for node in product.parents] == [id(x), id(y)]
    assert [id(node) for node in z.parents] == [id(product), id(bias)]
    assert (product.operation, z.operation) == ("*", "+")


def test_the_control_gives_minus_7_and_its_literals_are_leaves() -> None:
    x = Value(5)
    z = x * -2 + 3
    assert z.data == -7.0
    leaves = [node for node in topological_order(z) if not node.parents]
    assert leaves[0] is x
    assert [leaf.data for leaf in leaves] == [5.0, -2.0, 3.0]
    assert all(type(leaf) is Value and leaf.operation == "" for leaf in leaves)


def test_nan_is_refused_in_the_promised_words() -> None:
    with pytest.raises(ValueError, match=r"^Value: data must be finite, got nan$"):
        Value(NAN)


def test_a_graph_100_000_deep_is_listed() -> None:
    one = Value(1.0)
    for grow in (lambda node: node + one, lambda node: one + node):
        deep = one
        for _ in range(100_000):
            deep = grow(deep)
        order = topological_order(deep, limit=100_001)
        assert (len(order), order[0], order[-1]) == (100_001, one, deep)


def test_each_operation_makes_one_node() -> None:
    x, y = Value(2.0), Value(3.0)
    for act in SIGNS.values():
        node = act(x, y)
        assert topological_order(node) == [x, y, node]
        assert len(topological_order(act(x, 3.0))) == 3


def test_the_limit_counts_leaves_and_bounds_inspection_alone() -> None:
    z = first_graph()[-1]
    assert len(topological_order(z, limit=5)) == 5
    with pytest.raises(ResourceBudgetError) as caught:
        topological_order(z, limit=4)
    assert str(caught.value) == (
        "topological_order: the graph must have at most 4 nodes, leaves included, got "
        "more. Pass a larger limit if a graph of that size is meant."
    )
    thousand = ladder(999)
    assert len(topological_order(thousand)) == 1_000
    larger = thousand + thousand
    with pytest.raises(ResourceBudgetError, match="at most 1000 nodes"):
        topological_order(larger)


def test_the_module_prints_its_observations_and_passes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whitebox_gpt.stages.stage_01_value_graph"],
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert "product = -6.0" in lines
    assert "z = 4.0" in lines
    assert "order = x → y → product → bias → z" in lines
    assert "5 * -2 + 3 = -7.0" in lines
    assert "its leaves = [5.0, -2.0, 3.0]" in lines
    assert "Value(nan) = DomainError: Value: data must be finite, got nan" in lines
    assert lines[-1] == "sanity check: PASS"


# The border: what counts as a real number


class Shy:
    """An object that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Secret(Shy):
    """An object that is neither true nor false."""

    def __bool__(self) -> bool:
        raise RuntimeError("no")


NOT_REAL = [
    *(True, False, None, "2.0", "nan", b"2", 1j, Decimal("0.1"), Decimal("NaN")),
    # Spans of time are registered as integers; one without a unit has a float.
    *(np.timedelta64(1, "s"), np.timedelta64(3), np.timedelta64("NaT")),
    *([2.0], {}, [10**5000], object(), Shy(), Value(2.0), Value),
    *(np.True_, np.complex128(1.0), np.array(2.0), np.array([1.0, 2.0])),
]
BEYOND = [
    *(NAN, INF, -INF, 10**400, -(10**400), 10**5000, 2**1024 - 2**970),
    *(Fraction(10**400), Fraction(-(10**5000), 3)),
    *(np.float64(NAN), np.float32(INF), np.float16(-INF)),
]
REAL = [
    *((0, 0.0), (-3, -3.0), (2**53 + 1, 2.0**53), (-0.0, -0.0), (5e-324, 5e-324)),
    *((2**1024 - 2**970 - 1, LARGEST), (LARGEST, LARGEST)),
    *((Fraction(1, 10), 0.1), (Fraction(10**5000, 10**5000 * 3), 1 / 3)),
    *((np.float64(0.1), 0.1), (np.float32(0.1), 13421773 / 2**27)),
    *((np.float16(0.5), 0.5), (np.int64(-7), -7.0), (np.uint8(255), 255.0)),
]
NO_OPERANDS = [thing for thing in [*NOT_REAL, *BEYOND] if type(thing) is not Value]


def kind(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"


@pytest.mark.parametrize("thing", NOT_REAL, ids=kind)
def test_what_is_not_a_real_number_makes_no_leaf(thing: Any) -> None:
    with no_new_node():
        with pytest.raises(KindError) as caught:
            Value(thing)
        assert isinstance(caught.value, TypeError)
        assert str(caught.value).startswith("Value: data must be a real number, got ")
        assert f"({type(thing).__name__})" in caught.value.got
        del caught


@pytest.mark.parametrize("number", BEYOND, ids=kind)
def test_what_no_finite_float_is_near_makes_no_leaf(number: Any) -> None:
    with no_new_node():
        with pytest.raises(DomainError) as caught:
            Value(number)
        assert isinstance(caught.value, ValueError)
        assert str(caught.value).startswith("Value: data must be ")
        assert len(str(caught.value)) < 200
        del caught


@pytest.mark.parametrize(("number", "nearest"), REAL, ids=kind)
def test_real_numbers_become_the_nearest_float(number: Any, nearest: float) -> None:
    data = Value(number).data
    assert type(data) is float
    assert (data, math.copysign(1.0, data)) == (nearest, math.copysign(1.0, nearest))


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("thing", NO_OPERANDS, ids=kind)
def test_an_operand_passes_the_same_border_on_either_side(
    sign: str, thing: Any
) -> None:
    x = Value(2.0)
    with no_new_node():
        for act in (lambda: SIGNS[sign](x, thing), lambda: SIGNS[sign](thing, x)):
            with pytest.raises(WhiteboxError) as caught:
                act()
            assert caught.value.where == sign
            assert caught.value.expected.startswith("an operand must be ")
            del caught
    assert (x.data, x.parents, x.operation) == (2.0, (), "")


def test_a_label_must_be_text() -> None:
    for act in (lambda: Value(1.0, 5), lambda: Value(1.0).named(None)):  # type: ignore[arg-type]
        with no_new_node(), pytest.raises(KindError, match="a label must be text"):
            act()


def test_the_package_does_not_import_numpy() -> None:
    code = "import sys, whitebox_gpt.draw; raise SystemExit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The operations


@given(finite, finite, signs)
def test_a_result_is_the_exact_one_rounded_once_or_refused(
    a: float, b: float, sign: str
) -> None:
    exact = SIGNS[sign](Fraction(a), Fraction(b))
    try:
        expected = float(exact)
    except OverflowError:
        with pytest.raises(DomainError) as caught:
            SIGNS[sign](Value(a), Value(b))
        assert caught.value.where == sign
        assert repr(a) in str(caught.value)
        assert repr(b) in str(caught.value)
        return
    assert SIGNS[sign](Value(a), Value(b)).data == expected
    assert SIGNS[sign](Value(a), b).data == expected
    assert SIGNS[sign](a, Value(b)).data == expected


@given(st.floats(), st.floats(), signs)
def test_overwritten_data_is_refused_by_the_next_operation(
    a: float, b: float, sign: str
) -> None:
    x, y = Value(0.0), Value(0.0)
    x.data, y.data = a, b
    result = SIGNS[sign](a, b)
    if math.isfinite(result):
        assert math.isfinite(a)
        assert math.isfinite(b)
        assert SIGNS[sign](x, y).data == result
    else:
        with pytest.raises(DomainError, match="must be a finite float"):
            SIGNS[sign](x, y)


class Odd(float):
    """A float with an arithmetic of its own."""

    def __add__(self, other: object) -> Any:
        return 99.0

    __radd__ = __mul__ = __rmul__ = __add__


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("label", ["", "weight"])
@pytest.mark.parametrize("data", NO_OPERANDS, ids=kind)
def test_overwritten_data_that_is_no_finite_real_number_makes_no_node(
    data: Any, label: str, sign: str
) -> None:
    x, y = Value(1.0, label), Value(2.0)
    x.data = data
    usual = type(data) is float  # then the result is refused, in other words
    refusal = KindError if any(data is thing for thing in NOT_REAL) else DomainError
    name = "operand 'weight'" if label else "an operand"
    for act in (lambda: SIGNS[sign](x, y), lambda: SIGNS[sign](y, x)):
        with no_new_node():
            with pytest.raises(refusal) as caught:
                act()
            assert caught.value.where == sign
            assert usual or caught.value.expected.startswith(f"{name} must be ")
            assert len(str(caught.value)) < 200
            del caught
    assert x.data is data


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    ("data", "nearest"), [*REAL, (Odd(2.0), 2.0), (np.longdouble(0.5), 0.5)], ids=kind
)
def test_overwritten_data_of_another_real_kind_is_the_nearest_float(
    data: Any, nearest: float, sign: str
) -> None:
    x, y = Value(1.0), Value(0.25)
    x.data = data
    for left, right in ((x, y), (y, x)):
        result = SIGNS[sign](left, right).data
        assert type(result) is float
        assert result == SIGNS[sign](nearest, 0.25)
    assert x.data is data


def test_overwriting_data_changes_no_other_node() -> None:
    x, _, product, _, z = first_graph()
    x.data = 7.0
    assert (x.data, product.data, z.data) == (7.0, -6.0, 4.0)


def test_operands_keep_the_order_that_was_written() -> None:
    x = Value(2.0)
    for act in SIGNS.values():
        literal, right = act(3, x).parents
        assert (literal.data, right) == (3.0, x)
        left, literal = act(x, 3).parents
        assert (left, literal.data) == (x, 3.0)


def test_an_operand_of_a_subclass_stays_itself() -> None:
    class Parameter(Value):
        __slots__ = ()

    x, weight = Value(2.0), Parameter(3.0)
    for act in SIGNS.values():
        assert act(x, weight).parents == (x, weight)
        assert act(weight, x).parents == (weight, x)


def own_equality(_: object, other: object) -> bool:
    return isinstance(other, Value)


@pytest.mark.parametrize(
    "methods",
    [
        {"__eq__": own_equality},
        {"__hash__": lambda _: 1},
        {"__eq__": own_equality, "__hash__": lambda _: 1},
    ],
    ids=" ".join,
)
def test_a_subclass_that_changes_equality_is_refused(methods: dict[str, Any]) -> None:
    mixin = type("Mixin", (), methods)
    for bases, body in (((Value,), methods), ((mixin, Value), {})):
        with pytest.raises(KindError) as caught:
            type("Weight", bases, {"__slots__": (), **body})
        assert caught.value.got == "the class Weight"
        assert caught.value.expected.startswith("a subclass must inherit __")
        assert "a.data == b.data" in caught.value.mend


def test_equality_that_comes_after_the_class_is_refused_at_the_first_object() -> None:
    @dataclass(init=False, unsafe_hash=True)
    class Disguised(Value):
        pass

    class Late(Value):
        pass

    assert Late(2.0).data == 2.0
    Late.__eq__ = own_equality  # type: ignore[method-assign, assignment]
    for made in (Disguised, Late):
        with pytest.raises(KindError, match=f"got the class {made.__name__}"):
            made(2.0)


def test_a_subclass_of_a_subclass_may_add_what_it_likes() -> None:
    class Parameter(Value):
        __slots__ = ("moment",)

        def __len__(self) -> int:
            return 0

    class Weight(Parameter):
        __slots__ = ()

    one, other = Weight(2.0), Weight(2.0)
    assert one != other
    assert topological_order(one * other)[:2] == [one, other]


def test_equality_is_identity() -> None:
    x, twin = Value(2.0), Value(2.0)
    assert x == x
    assert x != twin
    assert len({x, twin}) == 2
    assert len(topological_order(x * twin)) == 3
    assert len(topological_order(x * x)) == 2


def test_a_numpy_scalar_is_an_operand_and_an_array_is_none() -> None:
    x = Value(2.0)
    for product in (np.float64(3.0) * x, x * np.float64(3.0), np.int64(3) * x):
        assert type(product) is Value
        assert product.data == 6.0
    array = np.array([1.0, 2.0])
    for act in (lambda: array * x, lambda: x * array, lambda: array + x):
        with pytest.raises(KindError):
            act()
    with pytest.raises(TypeError):
        np.multiply(array, x)


def test_how_a_node_was_made_cannot_be_rewritten() -> None:
    x, *_, z = first_graph()
    for name, new in (("parents", ()), ("operation", "*"), ("dta", 1.0)):
        with pytest.raises(AttributeError):
            setattr(z, name, new)
    assert z.operation == "+"
    assert x.named("other") is x
    assert x.label == "other"


def test_a_dropped_root_frees_its_graph_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        root = ladder(1_000)
        assert len(gc.get_objects()) >= before + 1_000
        order = topological_order(root, limit=2_000)
        del root, order
        assert len(gc.get_objects()) <= before + 10
    finally:
        gc.enable()


# The order


@given(graphs())
def test_operands_stand_before_their_consumers_and_nothing_is_missing(
    root: Value,
) -> None:
    order = topological_order(root)
    place = {id(node): i for i, node in enumerate(order)}
    assert len(place) == len(order)
    assert order[-1] is root
    reached, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        reached.add(id(node))
        waiting += [parent for parent in node.parents if id(parent) not in reached]
        assert all(place[id(parent)] < place[id(node)] for parent in node.parents)
    assert reached == set(place)


@given(graphs(most_operations=6))
def test_the_order_is_the_recursive_one_left_operand_first(root: Value) -> None:
    listed: list[Value] = []

    def visit(node: Value) -> None:
        for parent in node.parents:
            visit(parent)
        if not any(node is other for other in listed):
            listed.append(node)

    visit(root)
    assert topological_order(root) == listed


@given(graphs())
def test_a_walk_takes_two_steps_a_node_less_one(root: Value) -> None:
    nodes = len(topological_order(root))
    assert steps(root, nodes) == (2 * nodes - 1, True)
    if nodes > 1:
        assert steps(root, nodes - 1) == (2 * (nodes - 1) - 1, False)


def test_many_paths_cost_nothing() -> None:
    assert steps(ladder(500), 501) == (1_001, True)


def test_even_a_forced_cycle_ends_at_the_limit() -> None:
    knot = Value(1.0)
    knot._left = knot + 1.0
    try:
        assert steps(knot, 100) == (199, False)
    finally:
        knot._left = None


@pytest.mark.parametrize("limit", [True, 2.0, "5", None, np.int64(5)], ids=repr)
def test_a_limit_must_be_an_int(limit: Any) -> None:
    with pytest.raises(KindError, match="topological_order: limit must be an int"):
        topological_order(Value(1.0), limit)


@pytest.mark.parametrize("limit", [0, -1, -(10**5000)], ids=["0", "-1", "a huge one"])
def test_a_limit_must_be_at_least_1(limit: int) -> None:
    rule = "^topological_order: limit must be at least 1, got"
    with pytest.raises(DomainError, match=rule):
        topological_order(Value(1.0), limit)
    assert len(topological_order(Value(1.0), 1)) == 1


@pytest.mark.parametrize("root", [2.0, None, Value, [Value(1.0)]], ids=kind)
def test_a_root_must_be_a_value(root: Any) -> None:
    with pytest.raises(KindError, match="topological_order: root must be a Value"):
        topological_order(root)


# Errors, and the checkers of the stages


@pytest.mark.parametrize("kind_of_error", [KindError, DomainError, ResourceBudgetError])
def test_an_error_carries_its_facts_through_pickle(
    kind_of_error: type[WhiteboxError],
) -> None:
    error = kind_of_error("here", "it must hold", "that", "Mend it.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind_of_error
    assert (copy.where, copy.expected, copy.got, copy.mend) == error.args
    assert str(copy) == str(error) == "here: it must hold, got that. Mend it."
    assert str(kind_of_error("here", "it must hold", "that")) == (
        "here: it must hold, got that"
    )


@pytest.mark.parametrize(
    "thing",
    [10**5000, [10**5000], Shy(), [Shy()], Secret(), "a" * 10**6, list(range(10**6))],
    ids=kind,
)
def test_anything_is_described_briefly(thing: object) -> None:
    assert 0 < len(describe(thing)) < 200


def test_what_hides_its_class_is_described_too() -> None:
    class Hidden:
        @property  # type: ignore[misc]
        def __class__(self) -> type:
            raise RuntimeError("no")

    assert describe(Hidden()).endswith(" (Hidden)")


def test_a_description_tells_text_from_numbers() -> None:
    assert [describe(2.0), describe(7), describe("2.0")] == ["2.0", "7", "'2.0' (str)"]
    assert describe(2**128) == "an integer of 129 bits"
    assert brief("2.0") == "'2.0'"
    assert describe(True) == "True (bool)"


def test_a_wrong_observation_ends_the_program() -> None:
    with pytest.raises(SystemExit, match="sanity check: FAIL, one must be 2, got 1"):
        observe("one", 1, 2)
    with pytest.raises(SystemExit, match="sanity check: FAIL"):
        observe("nan", NAN, NAN)


def test_a_refusal_that_does_not_come_ends_the_program() -> None:
    with pytest.raises(SystemExit, match="a refusal must come, got 1"):
        refusal(lambda: 1)


@pytest.mark.parametrize(
    "overwritten",
    [10**5000, None, Shy(), Secret(), np.zeros(2), "w" * 100_000],
    ids=kind,
)
def test_a_node_is_shown_briefly_whatever_it_holds(overwritten: Any) -> None:
    x = Value(1.0, "x")
    x.data = overwritten
    assert len(repr(x)) < 100
    x.data, x.label = 1.0, overwritten
    assert len(repr(x)) < 100
    x.data = None  # type: ignore[assignment]
    with pytest.raises(KindError, match=r"operand .* must be a real") as caught:
        x + 1.0
    assert len(str(caught.value)) < 200


def test_a_long_label_makes_no_long_message() -> None:
    x = Value(1.0, "w" * 100_000)
    x.data = None  # type: ignore[assignment]
    with pytest.raises(KindError) as caught:
        x * x
    assert caught.value.expected.startswith("operand 'www")
    assert len(str(caught.value)) < 200
