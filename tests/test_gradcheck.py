"""The judge of gradients must itself be judged."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whitebox_gpt.gradcheck
from whitebox_gpt import (
    DomainError,
    GradientMismatchError,
    KindError,
    Value,
    require_gradient,
)
from whitebox_gpt.gradcheck import (
    along,
    central_difference,
    compare,
    forward_difference,
    step,
)
from whitebox_gpt.stages.stage_03_scalar_primitives import scalar_function

U = 2.0**-53
EXP_AT_1 = math.exp, 1.0, math.e


def relu(x: float) -> float:
    return max(x, 0.0)


def test_it_imports_nothing_of_value() -> None:
    tree = ast.parse(Path(whitebox_gpt.gradcheck.__file__).read_text("utf-8"))
    imported = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert "value" not in imported
    others = {"collections.abc", "numbers", "typing", "errors"}
    assert all(name in others for name in imported)


# --- the figures -----------------------------------------------------------------


def test_numeric_gradient_of_z_at_2() -> None:
    numeric = central_difference(scalar_function, 2.0, 1e-6)
    # Two ulps of each value, divided by 2h.
    assert abs(numeric - 5.000000000254801) <= 4 * math.ulp(6.0) / 2e-6


def test_absolute_and_relative_error_of_the_printed_gradient() -> None:
    comparison = compare(5.0, 5.000000000254801)
    assert f"{comparison.absolute:.4e}" == "2.5480e-10"
    assert f"{comparison.relative:.4e}" == "5.0960e-11"


def test_relative_error_is_taken_from_the_larger_gradient() -> None:
    assert compare(1.0, 4.0).relative == 0.75
    assert compare(4.0, 1.0).relative == 0.75
    assert compare(-2.0, 2.0).relative == 2.0


def test_step_grows_with_the_input() -> None:
    for eta in (1e-2, 1e-4, 1e-6, 1e-8):
        assert step(0.5, eta) == step(-1.0, eta) == eta
        assert step(2.0, eta) == step(-2.0, eta) == 2 * eta
    assert step(3e8) == 1e-6 * 3e8


def test_truncation_is_0_at_2_so_the_error_only_grows_as_h_shrinks() -> None:
    errors = [
        abs(central_difference(scalar_function, 2.0, step(2.0, eta)) - 5.0)
        for eta in (1e-2, 1e-4, 1e-6, 1e-8)
    ]
    # Rounding alone: 8 ulps of 6 over 2h bound each, far below h*h/6 at the first.
    for eta, error in zip((1e-2, 1e-4, 1e-6, 1e-8), errors, strict=True):
        assert error <= 8 * math.ulp(6.0) / (4 * eta)
    assert errors[0] < 1e-12 < errors[-1]


@given(st.floats(0.01, 1.0))
def test_central_error_of_exp_is_sinh_h_over_h(h: float) -> None:
    measured = central_difference(math.exp, 1.0, h) / math.e
    # 2 ulp for each exp, over 2h, and two divisions.
    assert abs(measured - math.sinh(h) / h) <= 16 * U * (1 + 1 / h)


@pytest.mark.parametrize(
    ("difference", "order"), [(central_difference, 2), (forward_difference, 1)]
)
def test_truncation_shrinks_with_the_order_derived(difference, order: int) -> None:
    f, x, slope = EXP_AT_1
    errors = [abs(difference(f, x, h) - slope) for h in (2.0**-6, 2.0**-7)]
    assert abs(math.log2(errors[0] / errors[1]) - order) < 0.02


@pytest.mark.parametrize(
    ("f", "x", "slope", "third"),
    [
        (math.exp, 1.0, math.e, math.e),
        (math.log, 3.0, 1 / 3, 2 / 27),
        (lambda x: x**3, 1.3, 3 * 1.3**2, 6.0),
    ],
)
def test_error_at_the_best_step_is_within_the_derived_bound(
    f, x: float, slope: float, third: float
) -> None:
    best = (3 * U * abs(f(x)) / third) ** (1 / 3)
    bound = best**2 * third / 2
    # A C library that rounds to 1 ulp instead of half doubles the rounding part.
    near = 2.0 ** round(math.log2(best))  # x + h and x - h are then exact
    assert abs(central_difference(f, x, near) - slope) <= 2.5 * bound


def test_central_difference_of_relu_at_0_is_one_half() -> None:
    for h in (1.0, 1e-3, 1e-6, 1e-300):
        assert central_difference(relu, 0.0, h) == 0.5


def test_forward_difference_sees_both_sides_of_a_kink() -> None:
    assert forward_difference(relu, 0.0, -1e-6) == 0.0
    assert forward_difference(relu, 0.0, 1e-6) == 1.0


# --- the judge -------------------------------------------------------------------


def test_a_right_gradient_passes_with_one_comparison_an_input() -> None:
    found = require_gradient(lambda x, y: x * y * y, [2.0, 3.0], [9.0, 12.0])
    assert [c.autodiff for c in found] == [9.0, 12.0]
    assert all(c.relative <= 1e-6 for c in found)


def test_a_mismatch_names_the_input_both_gradients_and_the_error() -> None:
    with pytest.raises(GradientMismatchError) as caught:
        require_gradient(lambda x, y: x * y * y, [2.0, 3.0], [9.0, 12.5])
    error = caught.value
    measured = central_difference(lambda y: 2.0 * y * y, 3.0, step(3.0))
    assert error.where == "require_gradient"
    assert error.expected.startswith("input 1 must have a gradient near")
    assert repr(measured) in error.expected
    assert error.got.startswith("12.5 (error 5.00e-01, relative 4.00e-02, ")
    assert "on the left" in error.mend
    assert isinstance(error, ArithmeticError)


def test_a_relative_error_beyond_the_tolerance_is_a_mismatch() -> None:
    f, x, slope = EXP_AT_1
    require_gradient(f, [x], [slope * (1 + 9e-7)])
    with pytest.raises(GradientMismatchError):
        require_gradient(f, [x], [slope * (1 + 11e-7)])
    require_gradient(f, [x], [slope * (1 + 9e-4)], tolerance=1e-3)


def test_a_gradient_near_0_is_judged_by_the_floor() -> None:
    def f(x: float) -> float:
        return x + 1 / x

    # Pure rounding makes the relative error 1; the floor is 8 ulps of f over h.
    assert central_difference(f, 1.0, 1e-7) != 0.0
    require_gradient(f, [1.0], [0.0], eta=1e-7)
    floor = 8 * math.ulp(2.0) / 1e-6
    require_gradient(f, [1.0], [0.9 * floor])
    with pytest.raises(GradientMismatchError):
        require_gradient(f, [1.0], [1.2 * floor])


def test_the_floor_counts_small_values_as_1() -> None:
    # log(exp(x)) is made from numbers of size 1 even where it is small itself.
    def f(x: float) -> float:
        return math.log(math.exp(x)) * 1e-4

    require_gradient(f, [1e-3], [1e-4])


def test_it_is_blind_below_the_floor_and_says_so_in_its_docstring() -> None:
    require_gradient(math.exp, [-40.0], [0.0])  # wrong by 100 %, and passes
    assert "noise" in (require_gradient.__doc__ or "")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_is_a_mismatch(bad: float) -> None:
    for f in (lambda x: 0.0 * x, lambda x: x):
        with pytest.raises(GradientMismatchError):
            require_gradient(f, [1.0], [bad])


@pytest.mark.parametrize(
    ("bad", "refusal"),
    [
        *((math.nan, DomainError), (math.inf, DomainError), (10**400, DomainError)),
        *(("1", KindError), (Value(1.0), KindError), (None, KindError)),
        *((True, KindError), (1j, KindError)),
    ],
    ids=repr,
)
def test_a_measurement_that_is_not_finite_names_the_input_that_had_moved(
    bad: object, refusal: type[Exception]
) -> None:
    def f(x: float, y: float) -> object:
        return x if y == 1.0 else bad

    for claimed in (0.0, 1.0, math.nan):
        with pytest.raises(refusal, match=r"f with input 1 at 1\.000001 must be "):
            require_gradient(f, [2.0, 1.0], [1.0, claimed])


@pytest.mark.parametrize("difference", [central_difference, forward_difference])
@pytest.mark.parametrize(
    ("h", "refusal"),
    [
        *((0.0, DomainError), (0, DomainError), (math.nan, DomainError)),
        *((math.inf, DomainError), (10**400, DomainError), (True, KindError)),
        *(("1", KindError), (None, KindError), (1j, KindError)),
    ],
    ids=repr,
)
def test_a_step_that_is_no_finite_number_is_refused(
    difference, h: object, refusal: type[Exception]
) -> None:
    name = difference.__name__
    with pytest.raises(refusal, match=f"^{name}: h must (be|not be) .*, got "):
        difference(math.exp, 1.0, h)


@pytest.mark.parametrize("tolerance", [math.inf, math.nan, -1e-6, 1.0, 2.0, 10**400])
def test_a_tolerance_that_judges_nothing_is_refused(tolerance: float) -> None:
    calls: list[float] = []
    with pytest.raises(DomainError, match="tolerance must be "):
        require_gradient(lambda *_: calls.append(1.0), [1.0], [0.0], 1e-6, tolerance)
    assert calls == []


@pytest.mark.parametrize("tolerance", [True, "1e-6", None])
def test_a_tolerance_of_another_kind_is_refused(tolerance: float) -> None:
    with pytest.raises(KindError, match="tolerance must be a real number, got "):
        require_gradient(math.exp, [1.0], [math.e], tolerance=tolerance)


def test_a_tolerance_of_0_leaves_the_floor() -> None:
    require_gradient(lambda x: 2.0 * x, [1.0], [2.0], tolerance=0.0)


@pytest.mark.parametrize("claimed", ["1", None, 1 + 1e-9j, True, Value(1.0)], ids=repr)
def test_a_claimed_gradient_of_another_kind_is_refused(claimed: float) -> None:
    with pytest.raises(KindError, match="gradient 1 must be a real number, got "):
        require_gradient(lambda x, y: x + y, [1.0, 2.0], [1, claimed])


def test_steps_of_another_kind_or_size_are_refused() -> None:
    for x, eta in ((10**400, 1e-6), (1.0, 10**400)):
        with pytest.raises(DomainError, match=r"^step: (x|eta) must be finite, got an"):
            step(x, eta)
    for x, eta in (("1", 1e-6), (True, 1e-6), (1.0, None)):
        with pytest.raises(KindError, match=r"^step: (x|eta) must be a real number"):
            step(x, eta)


def test_a_nan_stays_a_nan_in_a_comparison() -> None:
    for pair in ((0.0, math.nan), (math.nan, 0.0), (math.nan, math.nan)):
        assert math.isnan(compare(*pair).absolute)
        assert math.isnan(compare(*pair).relative)
    assert compare(0.0, 0.0).relative == 0.0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_function_that_is_not_finite_has_no_gradient_to_judge(value: float) -> None:
    with pytest.raises(DomainError, match="f at the inputs must be finite"):
        require_gradient(lambda x: value, [1.0], [0.0])


@pytest.mark.parametrize("gradient", [[], [1.0], [1.0, 1.0, 1.0]])
def test_the_gradient_must_be_as_long_as_the_inputs(gradient: list[float]) -> None:
    with pytest.raises(DomainError, match="must hold 2 numbers, one for each input"):
        require_gradient(lambda x, y: x + y, [1.0, 2.0], gradient)


@pytest.mark.parametrize(
    ("x", "eta"),
    [
        *((1.0, 0.0), (1.0, -1e-6), (1.0, 1e-17), (1.0, math.nan), (1.0, math.inf)),
        *((math.nan, 1e-6), (math.inf, 1e-6), (1.7e308, 0.1), (1e300, 1e-17)),
    ],
)
def test_a_step_that_does_not_move_its_input_is_refused(x: float, eta: float) -> None:
    with pytest.raises(DomainError, match=r"^step: .* must be finite"):
        step(x, eta)


def test_p_inputs_cost_2p_evaluations_and_one_for_the_floor() -> None:
    calls: list[tuple[float, ...]] = []

    def f(*inputs: float) -> float:
        calls.append(inputs)
        return sum(inputs)

    require_gradient(f, [1.0, 2.0, 3.0, 4.0], [1.0] * 4)
    assert len(calls) == 2 * 4 + 1
    # One input at a time: no call differs from the inputs in two places.
    for call in calls:
        assert sum(a != b for a, b in zip(call, (1.0, 2.0, 3.0, 4.0), strict=True)) <= 1


def test_along_frees_one_input_and_holds_the_others() -> None:
    freed = along(lambda a, b, c: a + 10 * b + 100 * c, (1.0, 2.0, 3.0), 1)
    assert freed(9.0) == 391.0


def test_a_kink_is_reported_with_both_slopes() -> None:
    with pytest.raises(GradientMismatchError) as caught:
        require_gradient(relu, [0.0], [0.0])
    assert "0.5" in caught.value.expected
    assert "0 on the left and 1 on the right" in caught.value.mend


def test_outside_the_domain_the_function_itself_complains() -> None:
    with pytest.raises(ValueError, match="math domain error"):
        require_gradient(math.log, [1e-7], [1e7])
    with pytest.raises(OverflowError):
        require_gradient(math.exp, [709.7827], [1.0])
