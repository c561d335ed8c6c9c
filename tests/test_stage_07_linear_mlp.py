"""Stage 07: identity, initialization and the exact plan of linear layers.

Oracles: plain floats in the promised order of operations (exact, no tolerance);
hashlib and mpmath for the drawn weights; mpmath's incomplete gamma function for the
chi-square bound. A weight is log, sqrt, cos and four products of floats: its absolute
error stays below 1e-14 of the deviation, since the angle 2 pi v is rounded too.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from itertools import chain, pairwise, product
from statistics import fmean
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitebox_gpt import linear as linear_module
from whitebox_gpt import plan as plan_module
from whitebox_gpt import value as value_module
from whitebox_gpt.budget import count_operations, linear_nodes
from whitebox_gpt.errors import (
    DomainError,
    KindError,
    ParameterIdentityError,
    ResourceBudgetError,
    ShapeError,
    StateMismatchError,
    TextError,
    WhiteboxError,
)
from whitebox_gpt.linalg import Matrix, Vector, relu
from whitebox_gpt.linear import MLP, Linear, linear
from whitebox_gpt.parameters import ParameterRef
from whitebox_gpt.plan import (
    InitSpec,
    LinearPlan,
    ModelForwardPlan,
    ModelPlan,
    Step,
    draw_weight,
)
from whitebox_gpt.stages.stage_07_linear_mlp import chi_square_bounds
from whitebox_gpt.value import Value

# ------------------------------------------------------------- what the tests share


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Count operation nodes and leaves that come into being."""
    counts = {"operations": 0, "leaves": 0}
    make, init = value_module._node, Value.__init__

    def make_node(*facts: Any) -> Value:
        counts["operations"] += 1
        return make(*facts)

    def make_leaf(self: Value, *facts: Any) -> None:
        counts["leaves"] += 1
        init(self, *facts)

    with (
        patch.object(value_module, "_node", make_node),
        patch.object(Value, "__init__", make_leaf),
    ):
        yield counts


class Spy:
    """An initializer that knows its calls and can do something else at one of them."""

    def __init__(self, at: int = -1, instead: Callable[[], Any] = lambda: 0.0) -> None:
        self.names: list[str] = []
        self.at, self.instead = at, instead

    def __call__(self, init: InitSpec, c_in: int, name: str) -> Any:
        self.names.append(name)
        if len(self.names) - 1 == self.at:
            return self.instead()
        return draw_weight(init, c_in, name)


def network(
    widths: tuple[int, ...] = (3, 4, 2), bias: bool = False, **more: Any
) -> ModelPlan:
    pairs = enumerate(pairwise(widths), start=1)
    layers = (LinearPlan(f"fc{k}", a, b, bias, InitSpec(seed=7)) for k, (a, b) in pairs)
    return ModelPlan("mlp", tuple(layers), **more)


def values_of(matrix: Matrix) -> list[Value]:
    return [value for row in matrix for value in row]


def plain_forward(
    state: dict[str, Any], names: list[str], x: list[list[float]]
) -> list[list[float]]:
    """The network in plain floats, products and sums in the promised order."""
    for depth, name in enumerate(names):
        if depth:
            x = [[number if number > 0.0 else 0.0 for number in row] for row in x]
        weight, bias = state[f"{name}.weight"], state.get(f"{name}.bias")
        rows = []
        for features in x:
            row = []
            for o, weights in enumerate(weight):
                total = features[0] * weights[0]
                for i in range(1, len(weights)):
                    total = total + features[i] * weights[i]
                row.append(total if bias is None else total + bias[o])
            rows.append(row)
        x = rows
    return x


def len_of(number: int) -> str:
    return f"{number.bit_length()} bits"


X2 = [[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]]


@pytest.fixture
def model() -> MLP:
    return MLP.build(network())


# -------------------------------------------------------------------- figures: counts


def test_network_3_4_2_has_20_parameters_of_distinct_identity(model: MLP) -> None:
    assert model.plan.parameter_count == 20
    references = model.parameters()
    assert len(references) == len({id(r.value) for r in references}) == 20
    assert len({r.name for r in references}) == 20


def test_cap_19_calls_the_initializer_0_times_and_makes_no_value() -> None:
    spy = Spy()
    with counted() as counts, pytest.raises(ResourceBudgetError) as caught:
        MLP.build(network(parameter_budget=19), spy)
    assert (spy.names, counts) == ([], {"operations": 0, "leaves": 0})
    text = "ModelPlan: the budget must cover 20 parameters, got 19"
    assert str(caught.value) == text


def test_cap_20_calls_the_initializer_20_times() -> None:
    spy = Spy()
    model = MLP.build(network(parameter_budget=20), spy)
    assert spy.names == [name for name, _ in model.parameters()]
    assert len(spy.names) == 20


def test_a_bias_adds_6_parameters_and_12_nodes() -> None:
    without, biased = network(), network(bias=True)
    assert biased.parameter_count - without.parameter_count == 6
    nodes = [
        (
            plan.plan_forward(2).nodes,
            count_operations(values_of(MLP.build(plan).forward(Matrix(X2)))),
        )
        for plan in (without, biased)
    ]
    assert nodes == [(76, 76), (88, 88)]


def test_planned_76_are_40_and_8_and_28_and_all_are_made(model: MLP) -> None:
    planned = model.plan.plan_forward(2)
    assert isinstance(planned, ModelForwardPlan)
    assert [dataclasses.astuple(step) for step in planned.steps] == [
        ("fc1", (2, 4), 40),
        ("fc1.relu", (2, 4), 8),
        ("fc2", (2, 2), 28),
    ]
    assert (planned.nodes, planned.output_shape) == (76, (2, 2))
    with counted() as counts:
        y = model.forward(Matrix(X2))
    assert (y.shape, counts["operations"]) == ((2, 2), 76)
    assert count_operations(values_of(y)) == 76


def test_one_position_costs_20_and_4_and_14_nodes(model: MLP) -> None:
    planned = model.plan.plan_forward(1)
    assert [step.nodes for step in planned.steps] == [20, 4, 14]
    assert planned.nodes == 38


def test_budget_37_runs_no_operation_and_38_runs_38(model: MLP) -> None:
    x = Matrix(X2[:1])
    with counted() as counts, pytest.raises(ResourceBudgetError) as caught:
        model.forward(x, budget=37)
    assert counts == {"operations": 0, "leaves": 0}
    text = "mlp.plan_forward: the budget must cover 38 operation nodes, got 37"
    assert str(caught.value) == text
    with counted() as counts:
        y = model.forward(x, budget=38)
    assert (counts["operations"], y.shape) == (38, (1, 2))


def test_layer_local_budgets_would_leave_48_nodes(model: MLP) -> None:
    first, second = model.layers
    with counted() as counts, pytest.raises(ResourceBudgetError):
        z = linear(Matrix(X2), first.weight, budget=75)
        hidden = Matrix(relu(row, budget=35) for row in z)
        linear(hidden, second.weight, budget=27)
    assert counts["operations"] == 48
    with counted() as counts, pytest.raises(ResourceBudgetError):
        model.forward(Matrix(X2), budget=75)
    assert counts["operations"] == 0


widths = st.lists(st.integers(1, 5), min_size=2, max_size=5)


@given(widths, st.integers(1, 4), st.data())
def test_plan_and_graph_agree_to_the_node_and_floats_to_the_bit(
    sizes: list[int], positions: int, data: st.DataObject
) -> None:
    biases = [data.draw(st.booleans()) for _ in sizes[1:]]
    pairs = zip(sizes, sizes[1:], biases, strict=False)
    layers = [LinearPlan(f"l{k}", a, b, c) for k, (a, b, c) in enumerate(pairs)]
    plan = ModelPlan("m", tuple(layers))
    model = MLP.build(plan)
    assert len(model.parameters()) == plan.parameter_count
    numbers = st.floats(-4.0, 4.0)
    for _, value in model.parameters():
        value.data = data.draw(numbers)
    x = [[data.draw(numbers) for _ in range(sizes[0])] for _ in range(positions)]
    planned = plan.plan_forward(positions)
    with counted() as counts:
        y = model.forward(Matrix(x), budget=planned.nodes)
    assert counts["operations"] == planned.nodes
    assert y.shape == planned.output_shape == (positions, sizes[-1])
    names = [f"m.{layer.name}" for layer in layers]
    expected = plain_forward(dict(model.state()), names, x)
    assert [list(map(float.hex, row)) for row in y.tolist()] == [
        list(map(float.hex, row)) for row in expected
    ]
    if planned.nodes:
        with pytest.raises(ResourceBudgetError):
            plan.plan_forward(positions, budget=planned.nodes - 1)


def test_linear_costs_what_the_formula_says_and_begins_with_the_first_product() -> None:
    x, w, b = Matrix(X2), Matrix([[1.0, 2.0, 3.0]] * 4), Vector([1.0] * 4)
    assert linear_nodes(2, 3, 4, False) == 2 * 4 * 5 == 40
    assert linear_nodes(2, 3, 4, True) == 48
    assert count_operations(values_of(linear(x, w))) == 40
    assert count_operations(values_of(linear(x, w, b))) == 48
    zero = linear(Matrix([[-0.0]]), Matrix([[1.0]]))
    assert math.copysign(1.0, zero[0, 0].data) == -1.0


def test_gradient_of_one_output() -> None:
    model = MLP.build(ModelPlan("one", (LinearPlan("fc", 2, 1),)))
    model.load_state({"one.fc.weight": [[2.0, 5.0]]})
    x = Matrix([[3.0, -4.0]])
    ((y,),) = model.forward(x)
    y.backward()
    assert y.data == -14.0
    assert [value.grad for value in x[0]] == [2.0, 5.0]
    assert [value.grad for _, value in model.parameters()] == [3.0, -4.0]


def test_gradients_of_all_parameters_agree_with_differences(model: MLP) -> None:
    """y is piecewise linear in each number, so a small step away from kinks is exact
    but for rounding: 1e-8 covers ulp(y) / h for y below 4 and h = 2**-20."""
    x = Matrix(X2)
    y = model.forward(x)
    total = sum(values_of(y)[1:], values_of(y)[0])
    total.backward()
    names, h = ["mlp.fc1", "mlp.fc2"], 2.0**-20
    for _, value in model.parameters():
        there, sums = value.data, []
        for step in (h, -h):
            value.data = there + step
            sums.append(math.fsum(chain(*plain_forward(model.state(), names, X2))))
        value.data = there
        assert math.isclose((sums[0] - sums[1]) / (2 * h), value.grad, abs_tol=1e-8)
    assert any(value.grad != 0.0 for _, value in model.parameters())


# ------------------------------------------------------------------------- identity


def test_logical_names_stand_row_by_row_then_biases() -> None:
    plan = network((2, 2, 1), bias=True)
    assert [name for name, _ in MLP.build(plan).parameters()] == [
        "mlp.fc1.weight[0,0]",
        "mlp.fc1.weight[0,1]",
        "mlp.fc1.weight[1,0]",
        "mlp.fc1.weight[1,1]",
        "mlp.fc1.bias[0]",
        "mlp.fc1.bias[1]",
        "mlp.fc2.weight[0,0]",
        "mlp.fc2.weight[0,1]",
        "mlp.fc2.bias[0]",
    ]


def test_a_name_stands_for_its_place(model: MLP) -> None:
    named = dict(model.parameters())
    assert named["mlp.fc1.weight[2,1]"] is model.layers[0].weight[2, 1]
    assert isinstance(model.parameters()[0], ParameterRef)


def test_an_alias_inside_a_weight_is_refused_by_both_names() -> None:
    shared = Value(0.5)
    weight = Matrix([[shared, shared], [1.0, 2.0]])
    with pytest.raises(ParameterIdentityError) as caught:
        Linear(LinearPlan("fc1", 2, 2), weight)
    text = (
        "Linear: fc1.weight[0,1] must be an object of its own,"
        " got the one of fc1.weight[0,0]"
    )
    assert str(caught.value) == text


def test_an_alias_of_weight_and_bias_is_refused() -> None:
    shared = Value(0.5)
    with pytest.raises(ParameterIdentityError, match=r"fc1\.bias\[0\]"):
        Linear(LinearPlan("fc1", 1, 1, True), Matrix([[shared]]), Vector([shared]))


def test_an_alias_between_two_layers_is_refused() -> None:
    plan = network((2, 2, 2))
    weight = Matrix([[1.0, 2.0], [3.0, 4.0]])
    layers = [Linear(layer, weight) for layer in plan.layers]
    with pytest.raises(ParameterIdentityError) as caught:
        MLP(plan, tuple(layers))
    assert "mlp.fc2.weight[0,0]" in str(caught.value)
    assert "mlp.fc1.weight[0,0]" in str(caught.value)


def test_a_computed_value_is_no_parameter() -> None:
    made = Value(1.0) * 2.0
    with pytest.raises(ParameterIdentityError, match="must be a leaf"):
        Linear(LinearPlan("fc1", 2, 1), Matrix([[1.0, made]]))


def test_equal_numbers_in_different_objects_are_fine() -> None:
    assert (
        len(Linear(LinearPlan("fc1", 2, 2), Matrix([[1.0] * 2] * 2)).parameters()) == 4
    )


def sabotage_replace(model: MLP) -> None:
    model.layers[0].weight = Matrix(model.layers[0].weight.tolist())


def sabotage_swap_inside(model: MLP) -> None:
    rows = [list(row) for row in model.layers[0].weight]
    rows[2][1], rows[2][2] = rows[2][2], rows[2][1]
    model.layers[0].weight = Matrix(rows)


def sabotage_swap_layers(model: MLP) -> None:
    first, second = model.layers
    first.weight, second.weight = second.weight, first.weight


def sabotage_transpose(model: MLP) -> None:
    model.layers[0].weight = model.layers[0].weight.transpose()


def sabotage_bias(model: MLP) -> None:
    model.layers[1].bias = Vector([0.0, 0.0])


def sabotage_rows(model: MLP) -> None:
    weight = model.layers[0].weight
    object.__setattr__(weight, "rows", weight.rows[::-1])


def sabotage_alias(model: MLP) -> None:
    rows = [list(row) for row in model.layers[0].weight]
    rows[0][0] = rows[0][1]
    model.layers[0].weight = Matrix(rows)


SABOTAGE = (
    sabotage_replace,
    sabotage_swap_inside,
    sabotage_swap_layers,
    sabotage_transpose,
    sabotage_bias,
    sabotage_rows,
    sabotage_alias,
)


@pytest.mark.parametrize("sabotage", SABOTAGE, ids=lambda f: f.__name__[9:])
@pytest.mark.parametrize("widths", [(3, 4, 2), (3, 3, 3)], ids=str)
def test_changed_storage_is_refused_before_the_first_operation(
    sabotage: Callable[[MLP], None], widths: tuple[int, ...]
) -> None:
    model = MLP.build(network(widths))
    model.forward(Matrix(X2))
    sabotage(model)
    for use in (
        lambda: model.forward(Matrix(X2)),
        model.require_seal,
        model.state,
        lambda: model.load_state({}),
    ):
        with counted() as counts, pytest.raises(ParameterIdentityError):
            use()
        assert counts["operations"] == 0


def test_the_first_difference_from_the_seal_is_named(model: MLP) -> None:
    sabotage_swap_inside(model)
    with pytest.raises(ParameterIdentityError) as caught:
        model.forward(Matrix(X2))
    assert str(caught.value) == (
        "mlp.forward: mlp.fc1.weight[2,1] must be the Value of the seal, got another."
        " Write numbers into the old Values; load_state does."
    )


def test_an_unplanned_bias_is_named(model: MLP) -> None:
    sabotage_bias(model)
    with pytest.raises(ParameterIdentityError) as caught:
        model.forward(Matrix(X2))
    assert "must be none, got mlp.fc2.bias[0]" in str(caught.value)


def test_an_empty_bias_has_no_name_and_is_refused_all_the_same(model: MLP) -> None:
    model.layers[1].bias = Vector([])
    with counted() as counts, pytest.raises(ShapeError, match=r"fc2\.bias"):
        model.forward(Matrix(X2))
    assert counts["operations"] == 0


@pytest.mark.parametrize("thing", [None, [[1.0]], "weight", 1.0, Vector([1.0])])
def test_a_weight_of_the_wrong_kind_is_refused(model: MLP, thing: Any) -> None:
    model.layers[0].weight = thing
    with counted() as counts, pytest.raises(KindError, match="weight must be a Matrix"):
        model.forward(Matrix(X2))
    assert counts["operations"] == 0


def test_putting_the_old_storage_back_is_accepted(model: MLP) -> None:
    y = model.forward(Matrix(X2)).tolist()
    weight = model.layers[0].weight
    sabotage_replace(model)
    model.layers[0].weight = weight
    assert model.forward(Matrix(X2)).tolist() == y


def test_a_kept_manifest_would_not_see_the_replacement(model: MLP) -> None:
    """The failure that the seal exists for, planted and shown."""
    manifest = model.parameters()
    sabotage_replace(model)
    model.layers[0].weight[0, 0].data = 99.0
    assert len({value for _, value in manifest}) == 20
    assert all(math.isfinite(value.data) for _, value in manifest)
    assert manifest != model.parameters()


def test_swapped_or_foreign_layers_are_refused_at_construction() -> None:
    plan = network((2, 2, 2))
    first, second = MLP.build(plan).layers
    with pytest.raises(ParameterIdentityError, match="next layer must be made from"):
        MLP(plan, (second, first))
    with pytest.raises(ParameterIdentityError):
        MLP(plan, (first, first))
    other = Linear(LinearPlan("fc2", 2, 2), Matrix([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(ParameterIdentityError):  # another seed is another plan
        MLP(plan, (first, other))
    with pytest.raises(ShapeError, match="L = 2, got 1"):
        MLP(plan, (first,))


def test_layers_and_plan_of_a_model_cannot_be_assigned(model: MLP) -> None:
    for name in ("layers", "plan"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(model, name, None)


class AlwaysEqual:
    def __eq__(self, other: object) -> bool:
        return True


OTHER_PLANS = [
    LinearPlan("other", 1, 1),
    LinearPlan("fc1", 3, 4, init=InitSpec(seed=8)),
    *(None, "fc1", 10**5000, np.zeros(2), AlwaysEqual()),
]


@pytest.mark.parametrize("other", OTHER_PLANS, ids=lambda p: type(p).__name__)
def test_a_replaced_plan_of_a_layer_is_noticed(model: MLP, other: Any) -> None:
    good, state = model.layers[0].plan, model.state()
    model.layers[0].plan = other
    for action in every_use(model, state):
        with counted() as counts, pytest.raises(ParameterIdentityError, match="made"):
            action()
        assert counts == {"operations": 0, "leaves": 0}
    model.layers[0].plan = LinearPlan("fc1", 3, 4, init=good.init)  # an equal one
    for action in every_use(model, state):
        action()


@pytest.mark.parametrize("part", ["plan", "weight", "bias"])
def test_a_deleted_part_of_a_layer_is_noticed(model: MLP, part: str) -> None:
    state = model.state()
    delattr(model.layers[0], part)
    for action in (*every_use(model, state), lambda: MLP(model.plan, model.layers)):
        with counted() as counts, pytest.raises(ParameterIdentityError) as caught:
            action()
        assert counts == {"operations": 0, "leaves": 0}
        assert part == "plan" or f"{part} must be there, got none" in str(caught.value)
    with pytest.raises(WhiteboxError):
        model.layers[0].parameters()


def every_use(model: MLP, state: Any) -> list[Callable[[], object]]:
    x = Matrix(X2)
    return [lambda: model.forward(x), model.state, lambda: model.load_state(state)]


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_is_a_model_of_its_own(model: MLP, clone: Callable[[MLP], MLP]) -> None:
    twin = clone(model)
    assert twin.forward(Matrix(X2)).tolist() == model.forward(Matrix(X2)).tolist()
    mine = {value for _, value in model.parameters()}
    assert not mine & {value for _, value in twin.parameters()}


# ---------------------------------------------------------------- what forward keeps


def snapshot(model: MLP) -> list[tuple[str, int, float, float]]:
    return [(name, id(v), v.data, v.grad) for name, v in model.parameters()]


def test_forward_changes_no_parameter_and_repeats_itself(model: MLP) -> None:
    y = model.forward(Matrix(X2))
    y[0, 0].backward()
    before = snapshot(model)
    assert any(grad != 0.0 for *_, grad in before)
    assert model.forward(Matrix(X2)).tolist() == y.tolist()
    assert snapshot(model) == before


def test_a_planted_write_is_told_briefly_whatever_was_written(model: MLP) -> None:
    target: Any = model.layers[1].weight[0, 0]

    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    def careless(row: Vector, budget: int) -> Vector:
        target.grad = Shy()
        return relu(row, budget=budget)

    target.grad = 10**5000
    patched = patch.object(linear_module, "relu", careless)
    message = "gradient an integer of 16610 bits, got .* and <Shy instance at "
    with patched, pytest.raises(ParameterIdentityError, match=message):
        model.forward(Matrix(X2))


def test_an_optimizer_may_write_data_between_passes(model: MLP) -> None:
    identity = [(name, id(value)) for name, value in model.parameters()]
    for _, value in model.parameters():
        value.data = value.data - 0.5
    y = model.forward(Matrix(X2))
    names = ["mlp.fc1", "mlp.fc2"]
    assert y.tolist() == plain_forward(model.state(), names, X2)
    assert [(name, id(value)) for name, value in model.parameters()] == identity


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1, True, "1.0", None])
def test_data_that_are_no_finite_float_are_named_before_any_operation(
    model: MLP, bad: Any
) -> None:
    model.layers[0].weight[2, 1].data = bad
    for use in (lambda: model.forward(Matrix(X2)), model.state, model.require_seal):
        with counted() as counts, pytest.raises(DomainError) as caught:
            use()
        assert "mlp.fc1.weight[2,1] must hold a finite float" in str(caught.value)
        assert counts["operations"] == 0


def test_an_overflow_in_the_pass_leaves_parameters_and_gradients_alone(
    model: MLP,
) -> None:
    model.forward(Matrix(X2))[0, 0].backward()
    for _, value in model.parameters():
        value.data = 1e200
    before = snapshot(model)
    with pytest.raises(DomainError):
        model.forward(Matrix([[1e200, 1.0, 1.0]]))
    assert snapshot(model) == before


def writes_data(model: MLP) -> None:
    model.layers[1].weight[0, 0].data = 0.25


def writes_gradient(model: MLP) -> None:
    model.layers[1].weight[0, 0].grad = 1.0


def writes_the_other_zero(model: MLP) -> None:
    model.layers[1].weight[0, 0].grad = -0.0


@pytest.mark.parametrize(
    "write", [writes_data, writes_gradient, writes_the_other_zero, sabotage_replace]
)
def test_a_planted_write_during_the_pass_is_noticed(
    model: MLP, write: Callable[[MLP], None]
) -> None:
    def careless(row: Vector, budget: int) -> Vector:
        write(model)
        return relu(row, budget=budget)

    patched = patch.object(linear_module, "relu", careless)
    with patched, pytest.raises(ParameterIdentityError, match=r"mlp\.forward: mlp\.fc"):
        model.forward(Matrix(X2))


def test_a_planted_output_of_another_shape_is_noticed(model: MLP) -> None:
    def shorter(x: Matrix, *rest: Any, **more: Any) -> Matrix:
        return Matrix(list(linear(x, *rest, **more))[:1])

    patched = patch.object(linear_module, "linear", shorter)
    with patched, pytest.raises(ShapeError) as caught:
        model.forward(Matrix(X2))
    text = "mlp.forward: the output must have the planned shape (2, 2), got (1, 2)"
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        (X2, KindError, "x must be a Matrix"),
        (None, KindError, "x must be a Matrix"),
        (Vector([1.0, 2.0, 3.0]), KindError, "x must be a Matrix"),
        (Matrix([[1.0, 2.0]]), ShapeError, "C_in = 3, got 2"),
        (Matrix([[1.0] * 4]), ShapeError, "C_in = 3, got 4"),
    ],
)
def test_bad_input_is_refused_before_the_first_operation(
    model: MLP, x: Any, error: type[Exception], text: str
) -> None:
    with counted() as counts, pytest.raises(error, match=text):
        model.forward(x)
    assert counts["operations"] == 0


def test_an_input_that_became_infinite_is_refused(model: MLP) -> None:
    x = Matrix(X2)
    x[1, 2].data = math.inf
    with counted() as counts, pytest.raises(DomainError, match=r"x\[1\]\[2\]"):
        model.forward(x)
    assert counts["operations"] == 0


@pytest.mark.parametrize("budget", [True, 76.0, -1, None, "76"])
def test_a_budget_of_the_wrong_kind_is_refused(model: MLP, budget: Any) -> None:
    error = DomainError if type(budget) is int else KindError
    with counted() as counts, pytest.raises(error, match="budget"):
        model.forward(Matrix(X2), budget=budget)
    assert counts["operations"] == 0


def test_the_order_of_refusals_is_kind_shape_data_seal_budget(model: MLP) -> None:
    sabotage_replace(model)
    narrow = Matrix([[1.0]])
    narrow[0, 0].data = math.nan
    with pytest.raises(ShapeError):
        model.forward(narrow, budget=0)
    broken = Matrix(X2)
    broken[0, 0].data = math.nan
    with pytest.raises(DomainError):
        model.forward(broken, budget=0)
    with pytest.raises(ParameterIdentityError):
        model.forward(Matrix(X2), budget=0)


W = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((X2, Matrix(W)), KindError),
        ((Matrix(X2), W), KindError),
        ((Matrix(X2), Matrix(W), [1.0, 2.0]), KindError),
        ((Matrix(X2), Matrix([[1.0, 2.0]])), ShapeError),
        ((Matrix(X2), Matrix(W), Vector([1.0])), ShapeError),
        ((Matrix(X2), Matrix(W), Vector([])), ShapeError),
        ((Matrix(X2), Matrix(W), Vector([1.0] * 3)), ShapeError),
    ],
)
def test_linear_refuses_before_the_first_operation(
    arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with counted() as counts, pytest.raises(error, match=r"^linear: "):
        linear(*arguments)
    assert counts == {"operations": 0, "leaves": 0}


def test_linear_refuses_data_and_a_budget_one_short() -> None:
    x, w, b = Matrix(X2), Matrix(W), Vector([1.0, 2.0])
    with counted() as counts, pytest.raises(ResourceBudgetError, match="24"):
        linear(x, w, b, budget=23)
    b[1].data = math.nan
    with pytest.raises(DomainError, match=r"bias\[1\]"):
        linear(x, w, b)
    assert counts["operations"] == 0


# --------------------------------------------------------------------------- storage


def test_no_bias_means_no_placeholder(model: MLP) -> None:
    assert all(layer.bias is None for layer in model.layers)
    assert list(model.state()) == ["mlp.fc1.weight", "mlp.fc2.weight"]
    raw = model.plan.draw_parameters()
    assert [layer.bias for layer in raw] == [None, None]
    assert model.plan.layers[0].bias_shape is None


def test_a_bias_is_a_vector_of_distinct_zeros_and_asks_no_initializer() -> None:
    spy = Spy()
    model = MLP.build(network(bias=True), spy)
    assert len(spy.names) == 20 and not any("bias" in name for name in spy.names)
    for layer, width in zip(model.layers, (4, 2), strict=True):
        assert isinstance(layer.bias, Vector)
        assert layer.bias.shape == layer.plan.bias_shape == (width,)
        assert layer.bias.tolist() == [0.0] * width


@pytest.mark.parametrize(
    ("plan", "storage", "error"),
    [
        (LinearPlan("fc1", 3, 2), (Matrix([[1.0, 2.0]]),), ShapeError),
        (LinearPlan("fc1", 2, 3), (Matrix(W),), ShapeError),
        (LinearPlan("fc1", 3, 2), (Matrix(W), Vector([0.0, 0.0])), ShapeError),
        (LinearPlan("fc1", 3, 2, True), (Matrix(W),), ShapeError),
        (LinearPlan("fc1", 3, 2, True), (Matrix(W), Vector([0.0])), ShapeError),
        (LinearPlan("fc1", 3, 2, True), (Matrix(W), [0.0, 0.0]), KindError),
        (LinearPlan("fc1", 3, 2), (W,), KindError),
        ("fc1", (Matrix(W),), KindError),
    ],
)
def test_storage_must_be_as_planned(
    plan: Any, storage: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Linear(plan, *storage)


# ----------------------------------------------------------------------------- plans


def test_plans_and_raw_numbers_make_no_value() -> None:
    with counted() as counts:
        plan = network(bias=True)
        plan.plan_forward(5)
        plan.draw_parameters()
    assert counts == {"operations": 0, "leaves": 0}


BAD_SPECS = [
    ({"distribution": "cauchy"}, DomainError, "normal, uniform, got 'cauchy'"),
    ({"distribution": 1}, KindError, "distribution"),
    ({"distribution": None}, KindError, "distribution"),
    ({"role": "tanh"}, DomainError, "linear, relu, got 'tanh'"),
    ({"role": ["relu"]}, KindError, "role"),
    ({"gain": math.nan}, DomainError, "gain"),
    ({"gain": math.inf}, DomainError, "gain"),
    ({"gain": 0}, DomainError, "gain"),
    ({"gain": -0.0}, DomainError, "gain"),
    ({"gain": -1.0}, DomainError, "gain"),
    ({"gain": True}, KindError, "gain"),
    ({"gain": "1"}, KindError, "gain"),
    ({"gain": 10**400}, DomainError, "gain"),
    ({"seed": 1.0}, KindError, "seed"),
    ({"seed": True}, KindError, "seed"),
    ({"seed": None}, KindError, "seed"),
    ({"seed": "7"}, KindError, "seed"),
]


@pytest.mark.parametrize(("fields", "error", "text"), BAD_SPECS)
def test_bad_policies_are_refused(
    fields: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        InitSpec(**fields)


BAD_LAYERS = [
    ({"name": ""}, DomainError),
    ({"name": "   "}, DomainError),
    ({"name": " fc1"}, DomainError),
    ({"name": "fc.1"}, DomainError),
    ({"name": "fc[1]"}, DomainError),
    ({"name": "fc,1"}, DomainError),
    ({"name": "fc1\n"}, DomainError),
    ({"name": "1fc"}, DomainError),
    ({"name": "ﬁ"}, DomainError),  # a ligature that would fold into two letters
    ({"name": None}, KindError),
    ({"name": 1}, KindError),
    ({"name": b"fc1"}, KindError),
    ({"in_features": True}, KindError),
    ({"in_features": 3.0}, KindError),
    ({"in_features": "3"}, KindError),
    ({"in_features": 0}, ShapeError),
    ({"in_features": -1}, ShapeError),
    ({"in_features": 2**53 + 1}, ShapeError),
    ({"in_features": 10**400}, ShapeError),
    ({"out_features": False}, KindError),
    ({"out_features": 0}, ShapeError),
    ({"out_features": np.int64(3)}, KindError),
    ({"use_bias": 1}, KindError),
    ({"use_bias": None}, KindError),
    ({"init": None}, KindError),
    ({"init": "normal"}, KindError),
]


@pytest.mark.parametrize(("fields", "error"), BAD_LAYERS)
def test_bad_layers_are_refused(fields: dict[str, Any], error: type[Exception]) -> None:
    good = {"name": "fc1", "in_features": 3, "out_features": 4}
    LinearPlan(**good)
    with counted() as counts, pytest.raises(error, match=r"^LinearPlan: "):
        LinearPlan(**{**good, **fields})
    assert counts["leaves"] == 0


@pytest.mark.parametrize(
    ("gain", "c_in"),
    [
        *((1.7e308, 1), (1e308, 1), (1e308, 200), (2.0**901, 1), (2.0**902, 2)),
        *((5e-324, 64), (5e-324, 1), (1e-300, 1), (2.0**-901, 1), (2.0**-900, 4)),
    ],
)
def test_a_deviation_beyond_its_bounds_makes_no_layer(gain: float, c_in: int) -> None:
    init = InitSpec(gain=gain)
    for action in (
        lambda: LinearPlan("fc1", c_in, 4, init=init),
        lambda: init.deviation(c_in),
        lambda: draw_weight(init, c_in, "m.fc1.weight[0,0]"),
    ):
        with pytest.raises(DomainError, match=r"from 2\*\*-900 to 2\*\*900, got"):
            action()


@pytest.mark.parametrize("distribution", ["normal", "uniform"])
@pytest.mark.parametrize("gain", [2.0**-900, 2.0**900])
def test_at_both_bounds_no_weight_overflows_or_loses_digits(
    gain: float, distribution: str
) -> None:
    """Extreme uniforms are planted, since no one could wait for them."""
    init, ends = InitSpec(distribution, gain), (2.0**-53, 0.25, 0.5, 0.75, 1 - 2.0**-53)
    near = [end + shift for end in ends for shift in (-(2.0**-53), 0.0, 2.0**-53)]
    drawn = []
    for u, v in product([p for p in near if 0.0 < p < 1.0], repeat=2):
        if distribution == "uniform" and u == 0.5:
            continue  # (k + 1/2) / 2**52 is never exactly one half
        with patch.object(plan_module, "_two_uniforms", lambda key, u=u, v=v: (u, v)):
            drawn.append(abs(draw_weight(init, 1, "m.fc.weight[0,0]") / gain))
            weight = abs(draw_weight(init, 1, "m.fc.weight[0,0]"))
        assert math.isfinite(weight) and weight >= sys.float_info.min
    assert min(drawn) > 2.0**-81 and max(drawn) < 9.0


def test_both_ends_of_the_deviation_are_allowed() -> None:
    for gain in (2.0**-900, 2.0**900):
        assert InitSpec(gain=gain).deviation(1) == gain
        LinearPlan("fc", 1, 1, init=InitSpec(gain=gain))


@pytest.mark.parametrize("c_in", [True, 2.5, math.nan, "a", None, [1], np.int64(3)])
def test_a_width_of_another_kind_has_no_deviation(c_in: Any) -> None:
    for action in (InitSpec().deviation, network().layers[0].node_count):
        with pytest.raises(KindError, match="must be an int"):
            action(c_in)
    with pytest.raises(KindError, match="must be an int"):
        draw_weight(InitSpec(), c_in, "m.fc.weight[0,0]")


@pytest.mark.parametrize("c_in", [0, -1, 2**53 + 1, 10**400, 10**5000], ids=len_of)
def test_a_width_out_of_range_has_no_deviation(c_in: int) -> None:
    for action in (InitSpec().deviation, network().layers[0].node_count):
        with pytest.raises(ShapeError, match=r"at least 1 and at most 2\*\*53"):
            action(c_in)


def test_linear_nodes_refuse_what_counts_nothing() -> None:
    assert linear_nodes(2, 3, 4, True) == 48
    for place in range(3):
        for count, error in ((-1, ShapeError), (True, KindError), (2.5, KindError)):
            given: list[Any] = [2, 3, 4, False]
            given[place] = count
            with pytest.raises(error, match=r"^linear_nodes: "):
                linear_nodes(*given)
    with pytest.raises(KindError, match="bias must be a bool"):
        linear_nodes(2, 3, 4, 1)


FC1, FC2 = LinearPlan("fc1", 3, 4), LinearPlan("fc2", 4, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("", (FC1,)), DomainError, "name"),
        (("a.b", (FC1,)), DomainError, "name"),
        ((None, (FC1,)), KindError, "name"),
        (("mlp", ()), ShapeError, "at least one layer"),
        (("mlp", [FC1]), KindError, "layers must be a tuple"),
        (("mlp", FC1), KindError, "layers must be a tuple"),
        (("mlp", (FC1, "fc2")), KindError, "layer 1 must be a LinearPlan"),
        (("mlp", (FC2, FC1)), ShapeError, "out_features of fc2 = 2, got 3"),
        (("mlp", (FC1, FC2, FC1)), ParameterIdentityError, "'fc1' twice"),
        (("mlp", (FC1, FC2), 19), ResourceBudgetError, "20 parameters, got 19"),
        (("mlp", (FC1, FC2), True), KindError, "budget"),
        (("mlp", (FC1, FC2), 20.0), KindError, "budget"),
    ],
)
def test_bad_models_are_refused(
    arguments: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=rf"^ModelPlan: .*{text}"):
        ModelPlan(*arguments)


@pytest.mark.parametrize(
    ("positions", "error"),
    [(0, ShapeError), (-1, ShapeError), (True, KindError), (2.0, KindError)],
)
def test_positions_must_be_a_positive_int(
    positions: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"^mlp\.plan_forward: positions"):
        network().plan_forward(positions)


def test_a_plan_of_any_size_is_counted_without_being_built() -> None:
    layer = LinearPlan("fc", 2**53, 2**53, True)
    assert layer.parameter_count == 2**53 * (2**53 + 1)
    assert layer.node_count(2**53) == 2**53 * 2**53 * 2**54
    with pytest.raises(ResourceBudgetError):
        ModelPlan("mlp", (layer,))


BAD_RAW: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: 1, KindError),
    (lambda: True, KindError),
    (lambda: None, KindError),
    (lambda: "0.5", KindError),
    (lambda: np.float64(0.5), KindError),
    (lambda: Fraction(1, 2), KindError),
    (lambda: math.nan, DomainError),
    (lambda: math.inf, DomainError),
    (lambda: -math.inf, DomainError),
]


@pytest.mark.parametrize(("instead", "error"), BAD_RAW)
@pytest.mark.parametrize("at", [0, 11, 19])
def test_a_bad_initializer_makes_no_value_and_is_named(
    at: int, instead: Callable[[], Any], error: type[Exception]
) -> None:
    spy = Spy(at, instead)
    with counted() as counts, pytest.raises(error) as caught:
        MLP.build(network(), spy)
    assert counts["leaves"] == 0
    assert f"for {spy.names[at]}, got" in str(caught.value)


def test_an_initializer_that_returns_a_value_is_refused() -> None:
    ready = Value(0.5)
    with counted() as counts, pytest.raises(KindError):
        MLP.build(network(), Spy(19, lambda: ready))
    assert counts["leaves"] == 0


def test_an_initializer_that_raises_half_way_makes_nothing() -> None:
    def fail() -> float:
        raise RuntimeError("out of entropy")

    with counted() as counts, pytest.raises(RuntimeError, match="entropy"):
        MLP.build(network(), Spy(10, fail))
    assert counts["leaves"] == 0


@pytest.mark.parametrize("initializer", [None, 5, "normal", InitSpec(), (5,)])
def test_what_is_no_function_is_no_initializer(initializer: Any) -> None:
    plan = network()
    actions = (
        lambda: MLP.build(plan, initializer),
        lambda: plan.draw_parameters(initializer),
    )
    for action in actions:
        with counted() as counts, pytest.raises(KindError, match="must be a function"):
            action()
        assert counts["leaves"] == 0


STEP = Step("fc1", (2, 4), 40)
BAD_PLANS: list[tuple[Callable[[], object], type[WhiteboxError]]] = [
    (lambda: ModelForwardPlan(()), ShapeError),
    (lambda: ModelForwardPlan(("x",)), KindError),  # type: ignore[arg-type]
    (lambda: ModelForwardPlan((STEP, None)), KindError),  # type: ignore[arg-type]
    (lambda: ModelForwardPlan([STEP]), KindError),  # type: ignore[arg-type]
    (lambda: ModelForwardPlan(None), KindError),  # type: ignore[arg-type]
    (lambda: Step(3, (2, 4), 40), KindError),  # type: ignore[arg-type]
    (lambda: Step("fc1", "ab", 40), KindError),  # type: ignore[arg-type]
    (lambda: Step("fc1", (), 40), ShapeError),  # type: ignore[arg-type]
    (lambda: Step("fc1", (2, 4, 1), 40), ShapeError),  # type: ignore[arg-type]
    (lambda: Step("fc1", (2, True), 40), KindError),
    (lambda: Step("fc1", (0, 4), 40), ShapeError),
    (lambda: Step("fc1", (2, 4), 4.0), KindError),  # type: ignore[arg-type]
    (lambda: Step("fc1", (2, 4), True), KindError),
    (lambda: Step("fc1", (2, 4), 0), ShapeError),
    (lambda: ParameterRef(3, "x"), KindError),  # type: ignore[arg-type]
    (lambda: ParameterRef("fc.weight[0,0]", 1.0), KindError),  # type: ignore[arg-type]
    (lambda: ParameterRef(None, Value(1.0)), KindError),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "error"), BAD_PLANS)
def test_plans_and_references_of_nothing_are_refused(
    make: Callable[[], object], error: type[WhiteboxError]
) -> None:
    with pytest.raises(error):
        make()


def test_good_plans_and_references_hold_what_they_were_given() -> None:
    plan, value = ModelForwardPlan((STEP, Step("fc2", (2, 2), 10**30))), Value(1.0)
    assert (plan.nodes, plan.output_shape) == (10**30 + 40, (2, 2))
    name, kept = reference = ParameterRef("fc.weight[0,0]", value)
    assert (name, kept) == ("fc.weight[0,0]", value) and reference.value is value
    assert pickle.loads(pickle.dumps(reference)).name == name


def test_a_plan_of_many_layers_takes_time_in_proportion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names are compared through their hashes: about one comparison for each."""
    compared = []

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    plan_module._require_unique([Name(f"fc{k}") for k in range(2000)])
    assert len(compared) < 2000
    with pytest.raises(ParameterIdentityError, match="'fc0' twice"):
        plan_module._require_unique([Name("fc0"), Name("fc1"), Name("fc0")])


def test_build_refuses_what_is_no_plan() -> None:
    for thing in (None, "mlp", FC1):
        with pytest.raises(KindError):
            MLP.build(thing)  # type: ignore[arg-type]


# ----------------------------------------------------------------------- the numbers

DRAWS = st.builds(
    InitSpec,
    st.sampled_from(["normal", "uniform"]),
    st.floats(1e-3, 1e3),
    st.integers(-(2**70), 2**70),
    st.sampled_from(["linear", "relu"]),
)


@given(DRAWS, st.integers(1, 1_000), st.integers(0, 99), st.integers(0, 99))
def test_a_weight_is_the_transformed_digest_of_seed_and_name(
    init: InitSpec, c_in: int, o: int, i: int
) -> None:
    name = f"mlp.fc1.weight[{o},{i}]"
    digits = sha256(f"{init.seed:x}:{name}".encode()).hexdigest()
    with mpmath.workdps(40):
        u, v = (
            (mpmath.mpf(int(word, 16) // 4096) + mpmath.mpf(1) / 2) / 2**52
            for word in (digits[:16], digits[16:32])
        )
        if init.distribution == "normal":
            exact = mpmath.sqrt(-2 * mpmath.log(u)) * mpmath.cos(2 * mpmath.pi * v)
        else:
            exact = mpmath.sqrt(3) * (2 * u - 1)
        factor = {"linear": 1, "relu": 2}[init.role]
        exact *= mpmath.mpf(init.gain) * mpmath.sqrt(mpmath.mpf(factor) / c_in)
        error = abs(mpmath.mpf(draw_weight(init, c_in, name)) - exact)
    assert error <= 1e-14 * init.deviation(c_in)


def test_the_same_seed_and_position_give_the_same_number_in_any_company() -> None:
    init = InitSpec(seed=7)
    fc1, fc2 = LinearPlan("fc1", 3, 4, init=init), LinearPlan("fc2", 4, 2, init=init)
    alone = MLP.build(ModelPlan("mlp", (fc1, fc2))).state()
    before = LinearPlan("fc0", 3, 3, True, init)
    crowd = MLP.build(ModelPlan("mlp", (before, fc1, fc2))).state()
    assert all(crowd[name] == alone[name] for name in alone)
    taller = MLP.build(ModelPlan("mlp", (LinearPlan("fc1", 3, 9, init=init),))).state()
    assert taller["mlp.fc1.weight"][:4] == alone["mlp.fc1.weight"]


def test_another_seed_name_or_place_gives_another_number() -> None:
    keys = [(s, m, o) for s in range(3) for m in ("a", "b") for o in range(5)]
    drawn = {
        draw_weight(InitSpec(seed=seed), 4, f"{model}.fc.weight[{o},0]")
        for seed, model, o in keys
    }
    assert len(drawn) == len(keys)


def test_the_numbers_are_pinned_on_every_supported_python() -> None:
    """Uniform numbers are products and a square root: exact. Normal ones within 8 ulp,
    since log and cos follow the C library."""
    name = "mlp.fc1.weight[2,1]"
    uniform = draw_weight(InitSpec("uniform", seed=7), 3, name)
    assert uniform.hex() == "0x1.5f345660ebd6fp-4"
    normal = draw_weight(InitSpec(seed=7, role="relu"), 3, name)
    expected = 0.761978936491529
    assert abs(normal - expected) <= 8 * math.ulp(expected)


@pytest.mark.parametrize("seed", [2**128 - 1, -(2**128) + 1, 0, -5])
def test_a_seed_of_128_bits_is_a_seed_and_can_be_shown(seed: int) -> None:
    init = InitSpec(seed=seed)
    assert math.isfinite(draw_weight(init, 3, "m.fc.weight[0,0]"))
    assert str(seed) in repr(init) and str(seed) in str(
        LinearPlan("fc", 1, 1, False, init)
    )


@pytest.mark.parametrize("seed", [2**128, -(2**128), 10**5000, -(10**5000)], ids=len_of)
def test_a_larger_seed_is_refused(seed: int) -> None:
    with pytest.raises(
        DomainError, match="seed must have at most 128 bits, got an int"
    ):
        InitSpec(seed=seed)


def test_a_weight_needs_a_policy_and_a_name() -> None:
    with pytest.raises(KindError, match="init must be a InitSpec"):
        draw_weight(None, 3, "m.fc.weight[0,0]")  # type: ignore[arg-type]
    with pytest.raises(KindError, match="name must be a str"):
        draw_weight(InitSpec(), 3, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("half", ["\ud800", "\udbff", "\udc00", "\udfff"])
def test_a_name_that_has_no_bytes_is_refused(half: str) -> None:
    with pytest.raises(TextError) as caught:
        draw_weight(InitSpec(), 3, f"m.fc{half}.weight[0,0]")
    rule = "draw_weight: name must not hold half of a surrogate pair, got 'm.fc\\u"
    assert str(caught.value).startswith(rule)
    assert draw_weight(InitSpec(), 3, "m.\U0001d4e6") != 0.0


def test_the_standard_scale_is_1_and_he_2_divided_by_c_in() -> None:
    """A square root and a square: 2 ulp."""
    for role, target in (("linear", 0.015625), ("relu", 0.03125)):
        variance = InitSpec(role=role).deviation(64) ** 2
        assert abs(variance - target) <= 2 * math.ulp(target)
    assert InitSpec(gain=3.0).deviation(64) == 3.0 / 8.0


def test_a_relu_keeps_half_of_the_mean_square() -> None:
    half = mpmath.quad(lambda z: z**2 * mpmath.npdf(z), [0, mpmath.inf])
    assert mpmath.almosteq(half, mpmath.mpf(1) / 2, 1e-12)


def sample_variance(init: InitSpec, model: str) -> tuple[float, float]:
    """Return mean square and mean of 4096 weights with C_in = 64."""
    layer = LinearPlan("fc", 64, 64, init=init)
    ((rows, _),) = ModelPlan(model, (layer,)).draw_parameters()
    return fmean(w * w for row in rows for w in row), fmean(chain(*rows))


SEEDS = range(6)
CHECKS = 4 * len(SEEDS)  # two roles, two distributions
ALARM = 1e-6  # of all checks together, had the seeds been drawn and not chosen


def test_chi_square_bounds_hold_their_false_alarm_rate() -> None:
    """The true tail probabilities of the Wilson-Hilferty bounds, by mpmath."""
    n, alpha = 4096, ALARM / CHECKS
    low, high = chi_square_bounds(n, alpha)
    shape = mpmath.mpf(n) / 2
    below = mpmath.gammainc(shape, 0, shape * low, regularized=True)
    above = mpmath.gammainc(shape, shape * high, mpmath.inf, regularized=True)
    for tail in (below, above):
        assert 0.9 < tail / (alpha / 2) < 1.1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distribution", ["normal", "uniform"])
@pytest.mark.parametrize(("role", "target"), [("linear", 1 / 64), ("relu", 2 / 64)])
def test_sample_variance_lies_within_the_bound(
    role: str, target: float, distribution: str, seed: int
) -> None:
    """Squares of uniforms vary less than those of normals (0.8 against 2 sigma^4), and
    Bernstein's inequality puts their false-alarm rate below that of the bound too."""
    square, mean = sample_variance(InitSpec(distribution, 1.0, seed, role), role)
    low, high = chi_square_bounds(4096, ALARM / CHECKS)
    assert low < square / target < high
    assert abs(mean) < 6.0 * math.sqrt(target / 4096)  # two-sided 2e-9


def test_bernstein_covers_the_uniform_case() -> None:
    low, high = chi_square_bounds(4096, ALARM / CHECKS)
    t = min(1.0 - low, high - 1.0)
    # |x^2 - 1| <= 2 and Var(x^2) = 4/5 for x uniform with variance 1.
    assert 2 * math.exp(-4096 * t * t / 2 / (0.8 + 2 * t / 3)) < ALARM / CHECKS


def test_the_bounds_tell_the_two_roles_apart_and_catch_a_wrong_gain() -> None:
    low, high = chi_square_bounds(4096, ALARM / CHECKS)
    assert high * 1 < low * 2
    for gain in (0.85, 1.15):
        square, _ = sample_variance(InitSpec(gain=gain, seed=7), "planted")
        assert not low < square * 64 < high


def test_the_drawn_variances_of_another_program_pass_the_same_bound() -> None:
    low, high = chi_square_bounds(4096, ALARM / CHECKS)
    assert low < 0.016176814002937006 / 0.015625 < high
    assert low < 0.031363356828254293 / 0.03125 < high


def test_the_variance_of_an_output_is_c_in_times_both_variances() -> None:
    """2,000 rows of weights over one input: their outputs are normal with the predicted
    variance exactly, so the chi-square bound applies, for inputs of any dependence."""
    x = [1.0, -2.0, 0.5, 0.5, 3.0, -0.25, 1.0, 1.0]
    init, n = InitSpec(seed=3, role="relu"), 2_000
    outputs = [
        sum(
            number * draw_weight(init, len(x), f"m.fc.weight[{o},{i}]")
            for i, number in enumerate(x)
        )
        for o in range(n)
    ]
    predicted = len(x) * (2 / len(x)) * fmean(number**2 for number in x)
    low, high = chi_square_bounds(n, 1e-6)
    assert low < fmean(y * y for y in outputs) / predicted < high


# ----------------------------------------------------------------------------- state


def test_state_goes_out_and_in_and_keeps_identity() -> None:
    plan = network(bias=True)
    model, other = MLP.build(plan), MLP.build(plan, lambda *_: 0.25)
    before = other.parameters()
    other.load_state(model.state())
    assert other.state() == model.state()
    assert other.parameters() == before
    assert other.forward(Matrix(X2)).tolist() == model.forward(Matrix(X2)).tolist()
    assert list(model.state()) == [
        "mlp.fc1.weight",
        "mlp.fc1.bias",
        "mlp.fc2.weight",
        "mlp.fc2.bias",
    ]


def test_state_is_a_copy(model: MLP) -> None:
    state: Any = model.state()
    before = model.state()
    state["mlp.fc1.weight"][0][0] = 99.0
    assert model.state() == before


def test_numbers_become_the_nearest_float_and_gradients_stay(model: MLP) -> None:
    model.forward(Matrix(X2))[0, 0].backward()
    grads = [value.grad for _, value in model.parameters()]
    numbers = [1, Fraction(1, 3), np.float64(0.5)]
    model.load_state(
        {"mlp.fc1.weight": (numbers,) * 4, "mlp.fc2.weight": [[2] * 4] * 2}
    )
    assert model.state()["mlp.fc1.weight"] == [[1.0, 1 / 3, 0.5]] * 4
    assert all(type(value.data) is float for _, value in model.parameters())
    assert [value.grad for _, value in model.parameters()] == grads


GOOD: dict[Any, Any] = {
    "mlp.fc1.weight": [[0.5, 0.5, 0.5]] * 4,
    "mlp.fc2.weight": [[1.0] * 4] * 2,
}


def without(name: str) -> dict[Any, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


BAD_STATES: list[tuple[dict[Any, Any], list[str]]] = [
    ({}, ["mlp.fc1.weight is missing", "mlp.fc2.weight is missing"]),
    (without("mlp.fc2.weight"), ["mlp.fc2.weight is missing"]),
    ({**GOOD, "mlp.fc1.bias": [0.0] * 4}, ["'mlp.fc1.bias'", "no tensor"]),
    ({**GOOD, 7: 0.0}, ["7 is no tensor"]),
    ({**GOOD, "mlp.fc1.weight": None}, ["a list of 4, not None"]),
    ({**GOOD, "mlp.fc1.weight": 0.5}, ["a list of 4, not 0.5"]),
    ({**GOOD, "mlp.fc1.weight": "abcd"}, ["a list of 4, not 'abcd'"]),
    ({**GOOD, "mlp.fc1.weight": np.zeros((4, 3))}, ["a list of 4, not array"]),
    ({**GOOD, "mlp.fc1.weight": [[0.5] * 3] * 3}, ["a list of 4, not one of 3"]),
    ({**GOOD, "mlp.fc1.weight": [0.5] * 4}, ["fc1.weight[0] must be a list of 3"]),
    (
        {**GOOD, "mlp.fc1.weight": [[0.5] * 3, [0.5] * 2, [0.5] * 3, [0.5] * 4]},
        ["fc1.weight[1]", "not one of 2", "fc1.weight[3]", "not one of 4"],
    ),
    (
        {
            **without("mlp.fc2.weight"),
            "mlp.fc1.weight": [
                [math.nan, 1.0, True],
                ["1", None, 1.0],
                [10**400, 1.0, Value(1.0)],
                [[1.0], 1.0, -math.inf],
            ],
            "mlp.fc2.wieght": [[1.0] * 4] * 2,
        },
        [
            "10 that do not",
            "weight[0][0] must be finite, not nan",
            "weight[0][2] must be a real number, not True",
            "weight[1][0] must be a real number, not '1'",
            "weight[1][1] must be a real number, not None",
            "weight[2][0] must be within the range of a float",
            "weight[2][2] must be a real number",
            "weight[3][0] must be a real number",
            "weight[3][2] must be finite, not -inf",
            "mlp.fc2.weight is missing",
            "'mlp.fc2.wieght' (str) is no tensor",
        ],
    ),
]


@pytest.mark.parametrize(("state", "texts"), BAD_STATES)
def test_every_mismatch_is_named_at_once_and_nothing_is_written(
    model: MLP, state: dict[Any, Any], texts: list[str]
) -> None:
    before = snapshot(model)
    with pytest.raises(StateMismatchError) as caught:
        model.load_state(state)
    for text in texts:
        assert text in str(caught.value)
    assert snapshot(model) == before


@pytest.mark.parametrize("state", [None, [], "mlp", 1.0])
def test_a_state_must_be_a_mapping(model: MLP, state: Any) -> None:
    with pytest.raises(KindError, match="state must be a Mapping"):
        model.load_state(state)


class Trap(Value):
    """A Value whose data cannot be written at a chosen moment."""

    writes, at = 0, -1

    @property  # type: ignore[override]
    def data(self) -> float:
        return Value.data.__get__(self)  # type: ignore[attr-defined,no-any-return]

    @data.setter
    def data(self, number: float) -> None:
        Trap.writes += 1
        if Trap.writes - 1 == Trap.at:
            raise KeyboardInterrupt
        Value.data.__set__(self, number)  # type: ignore[attr-defined]


@pytest.mark.parametrize("at", range(6))
def test_an_interrupted_load_writes_nothing(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = LinearPlan("fc", 2, 2, use_bias=True)
    weight = Matrix([[Trap(1.0), Trap(-0.0)], [Trap(2.0), Trap(3.0)]])
    model = MLP(
        ModelPlan("m", (layer,)),
        (Linear(layer, weight, Vector([Trap(4.0), Trap(5.0)])),),
    )
    before = repr(model.state())
    monkeypatch.setattr(Trap, "writes", 0)
    monkeypatch.setattr(Trap, "at", at)
    new = {"m.fc.weight": [[9.0, 9.0], [9.0, 9.0]], "m.fc.bias": [9.0, 9.0]}
    with pytest.raises(KeyboardInterrupt):
        model.load_state(new)
    assert Trap.writes == at + 1 + 6
    assert repr(model.state()) == before
    model.load_state(new)
    assert model.state() == new


@pytest.mark.parametrize("claimed", [0, 1, 2, 3, 4, -1])
@pytest.mark.parametrize("kind", [list, tuple])
def test_the_length_of_loaded_lists_is_what_they_hold(kind: Any, claimed: int) -> None:
    liar = type("Liar", (kind,), {"__len__": lambda self: claimed})
    model = MLP.build(ModelPlan("m", (LinearPlan("fc", 2, 2),)))
    good = {"m.fc.weight": liar([liar([1.0, 2.0]), liar([3.0, 4.0])])}
    model.load_state(good)
    assert model.state() == {"m.fc.weight": [[1.0, 2.0], [3.0, 4.0]]}
    for wrong in ([liar([1.0]), [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]):
        with pytest.raises(StateMismatchError, match="must be a list of 2, not one of"):
            model.load_state({"m.fc.weight": liar(wrong)})
    assert model.state() == {"m.fc.weight": [[1.0, 2.0], [3.0, 4.0]]}


def test_loading_mends_a_model_whose_data_are_not_finite(model: MLP) -> None:
    good = model.state()
    model.layers[0].weight[0, 0].data = math.nan
    with pytest.raises(DomainError):
        model.forward(Matrix(X2))
    model.load_state(good)
    assert model.state() == good
    model.forward(Matrix(X2))


# --------------------------------------------------------------------- demonstration


def test_the_errors_are_also_the_builtin_that_a_user_would_catch() -> None:
    for error in (ParameterIdentityError, StateMismatchError):
        assert issubclass(error, WhiteboxError) and issubclass(error, ValueError)


def test_the_demonstration_prints_every_figure() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whitebox_gpt.stages.stage_07_linear_mlp"],
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    for line in (
        "parameters = 20",
        "nodes of each step = [40, 8, 28]",
        "planned nodes, T = 2 = 76",
        "output shape = ((2, 2), (2, 2))",
        "nodes in the graph = 76",
        "distinct objects = 20",
        "identity kept over two passes = True",
        "initializer calls = 0",
        "planned nodes, T = 1 = 38",
        "operations with a cap of 37 = 0",
        "operations with a cap of 38 = 38",
        "output shape, T = 1 = (1, 2)",
        "a bias adds parameters = 6",
        "a bias adds planned nodes = 12",
        "a bias adds nodes in the graph = 12",
        "target variance, linear = 0.015625",
        "target variance, relu = 0.03125",
        "y = -14.0",
        "dy/dx = [2.0, 5.0]",
        "dy/dw = [3.0, -4.0]",
    ):
        assert line in lines
    assert any(line.startswith("an alias = ParameterIdentityError") for line in lines)
    assert any(line.startswith("a replaced weight = Parameter") for line in lines)
    assert lines[-1] == "sanity check: PASS"
