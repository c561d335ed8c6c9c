"""Stage 03: the edges of differentiability.

Tolerances: + - * / are exact; exp, log and pow may be 2 ulp off, since another C
library may round their last digits otherwise.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import whitebox_gpt.value
from whitebox_gpt import (
    DomainError,
    KindError,
    Value,
    WhiteboxError,
    require_gradient,
    topological_order,
)
from whitebox_gpt.stages import observe
from whitebox_gpt.stages.stage_03_scalar_primitives import scalar_function

STAGE = "whitebox_gpt.stages.stage_03_scalar_primitives"
SMALLEST, LARGEST = 5e-324, sys.float_info.max
inf, nan = math.inf, math.nan

floats = st.floats(allow_nan=False, allow_infinity=False)


def close(got: float, expected: float, ulps: float = 2) -> bool:
    return abs(got - expected) <= ulps * math.ulp(expected)


def compose(number: float) -> tuple[Value, Value, Value, Value]:
    x = Value(number, "x")
    log, square = x.exp().log(), x.relu() ** 2
    z = log + square
    z.backward()
    return x, log, square, z


def along_the_way(node: Value) -> float:
    slope = 1.0
    while node.parents:
        slope *= node.local_derivatives[0]
        (node,) = node.parents
    return slope


# --- the figures -----------------------------------------------------------------


def test_forward_values_at_2() -> None:
    _, log, square, z = compose(2.0)
    exp = log.parents[0]
    assert f"{exp.data:.8f}" == "7.38905610"
    assert close(exp.data, math.exp(2))
    assert close(log.data, 2.0)
    assert close(square.data, 4.0)
    assert close(z.data, 6.0)


def test_gradient_at_2_is_5() -> None:
    assert close(compose(2.0)[0].grad, 5.0)


def test_the_exp_log_path_contributes_1_and_the_relu_square_path_4() -> None:
    _, log, square, _ = compose(2.0)
    assert close(along_the_way(log), 1.0)
    assert close(along_the_way(square), 4.0)


def test_at_minus_2_all_of_the_gradient_comes_through_exp_and_log() -> None:
    x, log, square, z = compose(-2.0)
    assert square.parents[0].data == 0.0
    assert close(z.data, -2.0)
    assert close(x.grad, 1.0)
    assert close(along_the_way(log), 1.0)
    assert along_the_way(square) == 0.0


def test_nothing_is_simplified() -> None:
    *_, z = compose(2.0)
    operations = sorted(node.operation for node in topological_order(z))
    assert operations == ["", "**2", "+", "exp", "log", "relu"]


def test_scalar_function_near_2() -> None:
    h = 1e-6
    high, low = scalar_function(2 + h), scalar_function(2 - h)
    assert close(high, 6.000005000001001)
    assert close(low, 5.999995000001)
    # Two ulps of each value are what the difference may be off by.
    assert abs(high - low - 1.0000000000509601e-05) <= 4 * math.ulp(6.0)


def test_scalar_function_shares_no_code_with_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a Value was used")

    for name in ("_node", "_primitive", "real_power", "require_real"):
        monkeypatch.setattr(whitebox_gpt.value, name, fail)
    assert close(scalar_function(2.0), 6.0)


def test_log_of_exp_fails_on_both_sides() -> None:
    with pytest.raises(DomainError, match=r"^exp: exp\(1000\.0\) must not exceed"):
        Value(1000.0).exp().log()
    assert Value(-1000.0).exp().data == 0.0
    with pytest.raises(DomainError, match=r"^log: .* above 0, got 0\.0"):
        Value(-1000.0).exp().log()


def test_log_of_exp_of_a_tiny_number_is_finite_and_wrong() -> None:
    assert Value(1e-17).exp().log().data == 0.0


def test_the_module_prints_every_figure_and_passes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", STAGE],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    printed = dict(line.split(" = ", 1) for line in lines if " = " in line)
    assert printed["exp(2)"] == "7.38905610"
    assert printed["log(exp(2))"] == "2"
    assert printed["relu(2)**2"] == "4"
    assert printed["z"] == "6"
    assert printed["dz/dx"] == "5"
    assert printed["through exp and log"] == "1"
    assert printed["through relu and square"] == "4"
    assert printed["relu(-2)"] == "0"
    assert printed["z at -2"] == "-2"
    assert printed["dz/dx at -2"] == "1"
    assert close(float(printed["f(2+h)"]), 6.000005000001001)
    assert close(float(printed["f(2-h)"]), 5.999995000001)
    # 4 ulps of 6, divided by 2h where a quotient is taken.
    rise, slope = 4 * math.ulp(6.0), 4 * math.ulp(6.0) / 2e-6
    assert abs(float(printed["f(2+h) - f(2-h)"]) - 1.0000000000509601e-05) <= rise
    assert abs(float(printed["numeric gradient"]) - 5.000000000254801) <= slope
    assert abs(float(printed["absolute error"]) - 2.5480e-10) <= slope
    assert abs(float(printed["relative error"]) - 5.0960e-11) <= slope / 5
    assert printed["central difference of relu at 0"] == "0.5"
    assert printed["log(0)"].endswith("log: the operand must be above 0, got 0.0")
    assert "in the derivative, (0.0) ** -0.5" in printed["0.0**0.5"]
    assert "exp(1000.0) must not exceed" in printed["exp(1000)"]
    assert lines[-1] == "sanity check: PASS"


def test_observe_stops_beyond_its_ulps(capsys: pytest.CaptureFixture[str]) -> None:
    observe("near", 1.0 + 2 * math.ulp(1.0), 1.0, ulps=2)
    assert capsys.readouterr().out == "near = 1.0000000000000004\n"
    for got in (1.0 + 3 * math.ulp(1.0), nan, inf):
        with pytest.raises(SystemExit, match="sanity check: FAIL, far must be"):
            observe("far", got, 1.0, ulps=2)
    with pytest.raises(SystemExit, match="FAIL"):
        observe("exact by default", 1.0 + math.ulp(1.0), 1.0)


# --- values and local derivatives ------------------------------------------------


@given(floats, floats)
def test_subtraction_is_exact_with_slopes_1_and_minus_1(a: float, b: float) -> None:
    assume(math.isfinite(a - b))
    for node in (Value(a) - b, a - Value(b), Value(a) - Value(b)):
        assert node.data == a - b
        assert node.local_derivatives == (1.0, -1.0)
        assert [operand.data for operand in node.parents] == [a, b]


@given(floats)
def test_negation_is_exact_with_slope_minus_1(a: float) -> None:
    node = -Value(a)
    assert math.copysign(1.0, node.data) == -math.copysign(1.0, a)
    assert (node.data, node.local_derivatives) == (-a, (-1.0,))


@given(floats, floats)
@example(49.0, 49.0)
@example(1e-200, 1e-200)
@example(1e308, 1e308)
def test_division_is_the_rounded_quotient_with_slopes_in_two_ulp(
    a: float, b: float
) -> None:
    try:
        node = Value(a) / Value(b)
    except DomainError:
        assert b == 0.0 or not all(map(math.isfinite, (a / b, 1 / b, a / b / b)))
        return
    assert node.data == a / b
    exact, toward_b = Fraction(1) / Fraction(b), -Fraction(a) / Fraction(b) ** 2
    assert close(node.local_derivatives[0], float(exact), 1)
    # a/b may be subnormal and have lost digits; 1/b then scales the loss.
    lost = abs(math.ulp(a / b) / b)
    assert abs(Fraction(node.local_derivatives[1]) - toward_b) <= Fraction(
        2 * lost + 2 * math.ulp(float(toward_b))
    )


def test_division_where_the_rewriting_fails() -> None:
    assert (Value(49.0) / 49).data == 1.0
    assert (5 / Value(3.0)).data == 5 / 3
    a, b = Value(1e-200), Value(1e-200)
    (a / b).backward()
    assert (a.grad, b.grad) == (1e200, -1e200)
    with pytest.raises(DomainError, match=r"in the derivative, \(1e-200\) \*\* -2\.0"):
        a * b**-1
    big = Value(1e308)
    assert (Value(1e308) / big).local_derivatives[1] == -1e-308


def test_reflected_operators_keep_the_order_of_operands() -> None:
    x = Value(4.0)
    assert [operand.data for operand in (10 - x).parents] == [10.0, 4.0]
    assert [operand.data for operand in (10 / x).parents] == [10.0, 4.0]
    assert ((10 - x).data, (10 / x).data) == (6.0, 2.5)


@pytest.mark.parametrize("make", [lambda a, b: a - b, lambda a, b: a / b])
def test_a_binary_operation_adds_one_node(
    make: Callable[[Value, Value], Value],
) -> None:
    assert len(topological_order(make(Value(5.0), Value(3.0)))) == 3


@pytest.mark.parametrize(
    "make",
    [lambda x: -x, lambda x: x**3, Value.exp, Value.log, Value.relu],
)
def test_a_unary_operation_adds_one_node_and_one_edge(
    make: Callable[[Value], Value],
) -> None:
    x = Value(2.0)
    node = make(x)
    assert node.parents == (x,)
    assert len(node.local_derivatives) == 1
    assert topological_order(node) == [x, node]


@given(st.floats(-700, 700))
def test_exp_is_its_own_slope(x: float) -> None:
    node = Value(x).exp()
    assert close(node.data, float(mpmath.exp(x)))
    assert node.local_derivatives == (node.data,)


@given(st.floats(1e-300, LARGEST))
def test_log_has_slope_one_over_x(x: float) -> None:
    node = Value(x).log()
    with mpmath.workprec(200):
        assert close(node.data, float(mpmath.log(x)))
    assert node.local_derivatives == (1.0 / x,)


@given(st.floats(0.01, 100), st.integers(-40, 40).map(lambda k: k / 4))
def test_power_of_a_positive_base(x: float, n: float) -> None:
    node = Value(x) ** n
    with mpmath.workprec(200):
        value, slope = mpmath.mpf(x) ** n, n * mpmath.mpf(x) ** (n - 1)
    assert close(node.data, float(value))
    # n - 1 is exact for quarters: 2 ulp for pow and one rounding for n times it.
    assert close(node.local_derivatives[0], float(slope), 4)


@pytest.mark.parametrize(
    ("base", "n", "value", "slope"),
    [
        *((0.0, 0, 1.0, 0.0), (0.0, 1, 0.0, 1.0), (0.0, 1.5, 0.0, 0.0)),
        *((0.0, 2, 0.0, 0.0), (-0.0, 0.0, 1.0, 0.0), (-2.0, 3, -8.0, 12.0)),
        *((-2.0, -1, -0.5, -0.25), (4.0, -0.5, 0.5, -0.0625), (7.0, 0, 1.0, 0.0)),
        *((1e-200, 2, 0.0, 2e-200), (-3.0, 1, -3.0, 1.0)),
    ],
)
def test_power_at_the_edges(base: float, n: float, value: float, slope: float) -> None:
    node = Value(base) ** n
    assert close(node.data, value)
    assert close(node.local_derivatives[0], slope)


@pytest.mark.parametrize(
    "exponent", [2, 2.0, Fraction(2), np.float64(2), np.float32(2), np.int64(2)]
)
def test_every_real_exponent_is_rounded_to_a_float(exponent: float) -> None:
    node = Value(3.0) ** exponent
    assert node.operation == "**2"
    assert node.data.__class__ is float
    assert node.local_derivatives[0].__class__ is float
    assert close(node.data, 9.0)


def test_powers_differ_from_their_look_alikes_in_name_too() -> None:
    assert (Value(4.0) ** 0.5).operation == "**0.5"
    assert (Value(4.0) ** (1 / 3)).operation == "**0.33333333333333331"


@pytest.mark.parametrize(
    ("x", "value", "slope"),
    [
        *((2.0, 2.0, 1.0), (SMALLEST, SMALLEST, 1.0), (LARGEST, LARGEST, 1.0)),
        *((0.0, 0.0, 0.0), (-0.0, 0.0, 0.0), (-SMALLEST, 0.0, 0.0), (-2.0, 0.0, 0.0)),
    ],
)
def test_relu_has_slope_0_at_0_and_left_of_it(
    x: float, value: float, slope: float
) -> None:
    node = Value(x).relu()
    assert (node.data, node.local_derivatives) == (value, (slope,))
    assert math.copysign(1.0, node.data) == 1.0


# --- refusals --------------------------------------------------------------------

REFUSED: list[tuple[str, float, Callable[[Value], object], str]] = [
    ("log(0)", 0.0, Value.log, "log: the operand must be above 0, got 0.0"),
    ("log(-0.0)", -0.0, Value.log, "log: the operand must be above 0, got -0.0"),
    ("log(-1)", -1.0, Value.log, "log: the operand must be above 0, got -1.0"),
    ("log(5e-324)", SMALLEST, Value.log, "log: the local derivative toward"),
    ("exp(710)", 710.0, Value.exp, "exp: exp(710.0) must not exceed the largest float"),
    ("exp(1000)", 1000.0, Value.exp, "exp: exp(1000.0) must not exceed"),
    ("0.0**0.5", 0.0, lambda x: x**0.5, "**: in the derivative, (0.0) ** -0.5"),
    ("0.0**-1", 0.0, lambda x: x**-1, "**: (0.0) ** -1.0 must be a finite real"),
    ("-0.0**-1", -0.0, lambda x: x**-1, "**: (-0.0) ** -1.0 must be a finite real"),
    (
        "(-8)**(1/3)",
        -8.0,
        lambda x: x ** (1 / 3),
        "**: (-8.0) ** 0.3333333333333333 must be a finite real number, got (1.",
    ),
    ("1e200**2", 1e200, lambda x: x**2, "**: (1e+200) ** 2.0 must be a finite real"),
    (
        "1e-200**-1",
        1e-200,
        lambda x: x**-1,
        "**: in the derivative, (1e-200) ** -2.0 must be a finite real number,"
        " got an overflow",
    ),
    ("1/0", 0.0, lambda x: 1 / x, "/: the divisor must not be 0, got 0.0"),
    ("x/0", 3.0, lambda x: x / 0, "/: the divisor must not be 0, got 0.0"),
    ("x/-0.0", 3.0, lambda x: x / -0.0, "/: the divisor must not be 0, got -0.0"),
    ("0/5e-324", 0.0, lambda x: x / SMALLEST, "/: the local derivative toward"),
    ("1e-310/1e-310", 1e-310, lambda x: x / 1e-310, "/: the local derivative toward"),
    # The result fails, and so does a derivative: the message is about the result.
    ("1e308/1e-10", 1e308, lambda x: x / 1e-10, "/: the result for 1e+308 and 1e-10"),
    ("1/1e-320", 1e-320, lambda x: 1 / x, "/: the result for 1.0 and"),
    ("max - -max", LARGEST, lambda x: x - -LARGEST, "-: the result for"),
    ("x - 'a'", 1.0, lambda x: x - "a", "-: an operand must be a real number"),
    ("x / 'a'", 1.0, lambda x: x / "a", "/: an operand must be a real number"),
    ("None - x", 1.0, lambda x: None - x, "-: an operand must be a real number"),
    ("x / nan", 1.0, lambda x: x / nan, "/: an operand must be finite, got nan"),
    ("x ** x", 2.0, lambda x: x**x, "**: the exponent must be a constant"),
    ("2 ** x", 2.0, lambda x: 2**x, "**: the exponent must be a constant"),
    ("x ** True", 2.0, lambda x: x**True, "**: the exponent must be a real number"),
    ("x ** '2'", 2.0, lambda x: x ** "2", "**: the exponent must be a real number"),
    ("x ** None", 2.0, lambda x: x**None, "**: the exponent must be a real number"),
    ("x ** 2j", 2.0, lambda x: x**2j, "**: the exponent must be a real number"),
    (
        "x ** Decimal",
        2.0,
        lambda x: x ** Decimal(2),
        "**: the exponent must be a real number",
    ),
    (
        "x ** array",
        2.0,
        lambda x: x ** np.array([1.0, 2.0]),
        "**: the exponent must be a real number",
    ),
    ("x ** nan", 2.0, lambda x: x**nan, "**: the exponent must be finite, got nan"),
    ("x ** inf", 2.0, lambda x: x**inf, "**: the exponent must be finite, got inf"),
    ("1 ** inf", 1.0, lambda x: x**inf, "**: the exponent must be finite, got inf"),
    (
        "x ** 10**400",
        1.0,
        lambda x: x ** (10**400),
        "**: the exponent must ",
    ),
    *(
        (
            f"-1 ** {exponent!r}",
            -1.0,
            lambda x, exponent=exponent: x**exponent,
            "**: the exponent must not be rounded to the integer ",
        )
        for exponent in (
            *(2**53 + 1, -(2**53) - 1, np.int64(2**53 + 1), np.uint64(2**64 - 1)),
            *(Fraction(2**53 + 1), Fraction(2**54 + 1, 2), Fraction(1, 10**400)),
            Fraction(10**17 + 1, 10**17),
        )
    ),
    *(
        (
            f"-1 ** {exponent!r}",
            -1.0,
            lambda x, exponent=exponent: x**exponent,
            "**: below 0 the exponent must lie between -2**53 and 2**53, got ",
        )
        for exponent in (2.0**53, -(2.0**53), 2**53 + 2, 1e300, -1e300)
    ),
]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[type]:
    """Return a list that grows whenever an operation makes a node."""
    nodes: list[type] = []

    class Watched:
        """Stands for `object` where `_node` says `object.__new__(Value)`."""

        def __new__(cls, *_: object) -> Watched:
            nodes.append(cls)
            return object.__new__(cls)

    monkeypatch.setattr(whitebox_gpt.value, "object", Watched, raising=False)
    return nodes


@pytest.mark.parametrize(
    ("number", "action", "message"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_a_refusal_names_its_operation_makes_no_node_and_moves_no_gradient(
    number: float,
    action: Callable[[Value], object],
    message: str,
    made: list[type],
) -> None:
    x = Value(number, "x")
    x.grad = 7.0
    with pytest.raises(WhiteboxError) as caught:
        action(x)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, (DomainError, KindError))
    assert isinstance(caught.value, ValueError) == isinstance(caught.value, DomainError)
    assert made == []
    assert (x.data, x.grad) == (number, 7.0)


def test_the_watch_above_does_see_a_node_being_made(made: list[type]) -> None:
    assert Value(1.0).exp().data == math.exp(1.0)
    assert made == [Value]


@pytest.mark.parametrize("n", [2**53 - 1, 2**53 - 2, 1 - 2**53, 3, 2, np.int64(5)])
def test_below_0_the_signs_of_power_and_slope_are_those_of_whole_numbers(
    n: int,
) -> None:
    n = int(n)
    power = Value(-1.0) ** n
    assert power.data == (1.0 if n % 2 == 0 else -1.0)
    assert power.local_derivatives == (float(n if n % 2 else -n),)


def test_above_0_an_exponent_may_be_large() -> None:
    assert (Value(0.5) ** 1e300).data == 0.0
    assert (Value(1.0) ** (2**53 + 2)).local_derivatives == (2.0**53 + 2,)


def test_a_refused_value_exponent_says_how_to_write_it() -> None:
    with pytest.raises(KindError) as caught:
        Value(2.0) ** Value(3.0)
    assert "(a.log() * b).exp()" in caught.value.mend
    a, b = Value(2.0), Value(3.0)
    power = (a.log() * b).exp()
    power.backward()
    # Three operations of 2 ulp each, and exp multiplies what log has lost by 8 / 2.
    assert close(power.data, 8.0, 16)
    assert close(a.grad, 12.0, 16)
    assert close(b.grad, 8 * math.log(2), 16)


STALE: list[tuple[str, Callable[[Value], Value]]] = [
    *(("neg", lambda x: -x), ("-", lambda x: x - 1), ("-", lambda x: 1 - x)),
    *(("/", lambda x: x / 2), ("/", lambda x: 1 / x), ("exp", Value.exp)),
    *(("log", Value.log), ("relu", Value.relu), ("**", lambda x: x**-1)),
    *(("**", lambda x: x**0), ("**", lambda x: x**2)),
]


@pytest.mark.parametrize("data", [nan, inf, -inf])
@pytest.mark.parametrize(("where", "operation"), STALE)
def test_an_operand_gone_bad_is_found_by_the_next_operation(
    where: str, operation: Callable[[Value], Value], data: float
) -> None:
    x = Value(1.0, "x")
    x.data = data
    with pytest.raises(DomainError) as caught:
        operation(x)
    assert caught.value.where == where
    assert x.grad == 0.0


@pytest.mark.parametrize("data", ["1", None, True, 1j, Decimal(1), [1.0]])
@pytest.mark.parametrize(
    "operation",
    [
        *(Value.exp, Value.log, Value.relu),
        *(lambda x: x**2, lambda x: 1 / x, lambda x: x / 1),
        *(lambda x: -x, lambda x: x - 1, lambda x: 1 - x, lambda x: x - x),
        *(lambda x: x + 1, lambda x: 1 + x, lambda x: x * x),
    ],
)
def test_an_operand_of_the_wrong_kind_is_found_too(
    operation: Callable[[Value], Value], data: object
) -> None:
    x = Value(1.0, "x")
    x.data = data  # type: ignore[assignment]
    with pytest.raises(KindError, match="operand 'x' must be a real number"):
        operation(x)


class Odd(float):
    """A float with an arithmetic of its own."""

    def __mul__(self, other: object) -> float:
        return 99.0

    __add__ = __sub__ = __radd__ = __rsub__ = __rmul__ = __mul__
    __truediv__ = __rtruediv__ = __mul__

    def __neg__(self) -> float:
        return 99.0


@pytest.mark.parametrize("data", [4, Fraction(4), np.float64(4), np.int32(4), Odd(4)])
def test_another_real_kind_in_an_operand_still_gives_floats(data: float) -> None:
    x = Value(1.0)
    x.data = data
    four = Value(4.0)
    for act in (
        *(Value.exp, Value.log, Value.relu, lambda x: x**2, lambda x: 2 / x),
        *(lambda x: -x, lambda x: x - 3, lambda x: 3 - x, lambda x: x * x),
        *(lambda x: x + 3, lambda x: x / 3),
    ):
        node, plain = act(x), act(four)
        assert (node.data, node.local_derivatives) == (
            plain.data,
            plain.local_derivatives,
        )
        assert node.data.__class__ is float
        assert node.local_derivatives[-1].__class__ is float


def test_an_integer_gone_too_large_is_refused_without_being_printed() -> None:
    x = Value(1.0)
    x.data = 10**5000
    with pytest.raises(DomainError, match=r"^relu: an operand must .* bits$"):
        x.relu()


def test_numpy_leaves_the_arithmetic_to_value() -> None:
    x = Value(4.0)
    assert isinstance(np.float64(2.0) - x, Value)
    assert (np.float64(2.0) / x).data == 0.5
    with pytest.raises(KindError, match="exponent must be a constant"):
        np.float64(2.0) ** x
    with pytest.raises(KindError, match="an operand must be a real number"):
        np.array([1.0, 2.0]) / x


# --- random graphs against two independent witnesses -----------------------------

# An expression is a nested tuple; three readers share it and no code: Value, plain
# floats, mpmath. Every operand is kept where the operation is smooth and harmless.
Tree = tuple[object, ...]
leaves = st.sampled_from([("x",), ("y",), ("c", 0.75), ("c", -1.5), ("c", 2.0)])


def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    unary = st.sampled_from(["neg", "exp", "log", "root", "cube", "bent"])
    binary = st.sampled_from(["+", "-", "*", "/"])
    return st.one_of(
        st.tuples(unary, inner), st.tuples(binary, inner, inner).map(tuple)
    )


trees = st.recursive(leaves, grown, max_leaves=6)
inputs = st.floats(-1.5, 1.5).map(lambda x: round(x, 3))


def evaluate(tree: Tree, x: object, y: object, functions: dict[str, object]) -> object:
    kind, *rest = tree
    if kind == "c":
        return rest[0]
    if kind in "xy":
        return {"x": x, "y": y}[kind]
    apply = functions[kind]
    return apply(*(evaluate(part, x, y, functions) for part in rest))


def functions_of(exp, log, power, relu):
    """Return smooth functions made from four primitives of one kind of number."""

    def small(a):  # keeps numbers moderate: |a| / (1 + a*a) is at most 1/2
        return a / (1 + a * a)

    return {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / (1 + b * b),
        "neg": lambda a: -a,
        "exp": lambda a: exp(small(a)),
        "log": lambda a: log(1 + a * a),
        "root": lambda a: power(1 + a * a, 0.5),
        "cube": lambda a: power(small(a), 3),
        "bent": lambda a: relu(small(a) + 1),
    }


def of_value(name: str) -> Callable[[object], object]:
    def apply(a: object) -> object:
        return getattr(a if isinstance(a, Value) else Value(a), name)()

    return apply


def power(a, n):
    return a**n


on_values = functions_of(of_value("exp"), of_value("log"), power, of_value("relu"))
on_floats = functions_of(math.exp, math.log, power, lambda a: max(a, 0.0))
on_mpmath = functions_of(mpmath.exp, mpmath.log, power, lambda a: max(a, mpmath.mpf(0)))


def differentiated(tree: Tree, x: float, y: float) -> tuple[float, list[float]]:
    nodes = Value(x, "x"), Value(y, "y")
    z = evaluate(tree, *nodes, on_values)
    if isinstance(z, Value):
        z.backward()
        return z.data, [node.grad for node in nodes]
    return z, [0.0, 0.0]


@given(trees, inputs, inputs)
def test_gradients_agree_with_central_differences(
    tree: Tree, x: float, y: float
) -> None:
    value, gradient = differentiated(tree, x, y)
    assume(abs(value) < 1e3)

    def f(x: float, y: float) -> float:
        return evaluate(tree, x, y, on_floats)

    assert f(x, y) == value
    found = require_gradient(f, [x, y], gradient, tolerance=1e-5)
    assert [c.autodiff for c in found] == gradient


@given(trees, inputs, inputs)
def test_gradients_agree_with_derivatives_by_mpmath(
    tree: Tree, x: float, y: float
) -> None:
    value, gradient = differentiated(tree, x, y)
    assume(abs(value) < 1e3)
    with mpmath.workdps(40):
        exact = [
            mpmath.diff(lambda t: evaluate(tree, t, mpmath.mpf(y), on_mpmath), x),
            mpmath.diff(lambda t: evaluate(tree, mpmath.mpf(x), t, on_mpmath), y),
        ]
    # At most some forty operations of 2 ulp on numbers of moderate size: 1e-12.
    for got, right in zip(gradient, exact, strict=True):
        assert abs(got - right) <= 1e-12 * max(1, abs(right), abs(value))


@pytest.mark.parametrize(
    ("primitive", "f", "x"),
    [
        (Value.exp, math.exp, 1.0),
        (Value.log, math.log, 3.0),
        (lambda v: v**3, lambda x: x**3, 1.3),
        (lambda v: 1 / v, lambda x: 1 / x, 0.7),
        (lambda v: v.relu(), lambda x: max(x, 0.0), 1.5),
        (lambda v: 2 - v, lambda x: 2 - x, 1.5),
    ],
)
def test_a_planted_wrong_slope_is_caught(
    primitive: Callable[[Value], Value],
    f: Callable[[float], float],
    x: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leaf = Value(x)
    primitive(leaf).backward()
    require_gradient(f, [x], [leaf.grad])

    true_node = whitebox_gpt.value._node

    def planted(operation: str, data: float, *rest: object) -> Value:
        # One slope in a hundred thousand off: ten times the tolerance.
        return true_node(
            operation, data, *(r * 1.00001 if type(r) is float else r for r in rest)
        )

    monkeypatch.setattr(whitebox_gpt.value, "_node", planted)
    wrong = Value(x)
    primitive(wrong).backward()
    with pytest.raises(ArithmeticError, match="input 0 must have a gradient near"):
        require_gradient(f, [x], [wrong.grad])
