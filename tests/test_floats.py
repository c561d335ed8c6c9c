"""The claims of the primer, against exact rational arithmetic and plain bit patterns.

All results of + - * / and square roots are compared exactly: the standard fixes
them to the last bit.  Only `test_a_cube_...` and `test_a_square_...` meet `pow`,
which it does not fix, and they claim nothing that a correct `pow` could break.
"""

from __future__ import annotations

import math
import operator
import random
import struct
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

U = Fraction(1, 2**53)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
# Sums, products and quotients of these stay between 2**-1022 and 2**1023.
MODERATE = st.floats(1e-150, 1e150) | st.floats(-1e150, -1e-150)
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


def bits_of(x: float) -> int:
    (bits,) = struct.unpack(">Q", struct.pack(">d", x))
    assert isinstance(bits, int)
    return bits


def rounded(q: Fraction) -> Fraction:
    """Return the 53-digit number nearest to `q`, ties to even, by integers alone."""
    if q == 0:
        return q
    exponent = abs(q.numerator).bit_length() - q.denominator.bit_length()
    unit = Fraction(2) ** (exponent - 52)
    if abs(q) < Fraction(2) ** exponent:
        unit /= 2
    # A number too small for a leading 1 keeps the last gap of the grid.
    unit = max(unit, Fraction(1, 2**1074))
    return round(q / unit) * unit  # Fraction rounds its ties to even


def from_left(numbers: Iterable[float]) -> float:
    total, *rest = numbers
    for number in rest:
        total = total + number
    return total


@given(FINITE)
def test_a_double_is_a_whole_number_of_53_digits_times_a_power_of_two(x: float) -> None:
    mantissa, exponent = math.frexp(x)
    whole = int(mantissa * 2**53)
    assert abs(whole) < 2**53
    assert Fraction(x) == whole * Fraction(2) ** (exponent - 53)


@given(FINITE)
def test_the_hexadecimal_text_holds_every_digit(x: float) -> None:
    assert float.fromhex(x.hex()) == x


def test_one_tenth_is_stored_a_little_too_large() -> None:
    assert Fraction(0.1) == Fraction(3602879701896397, 2**55)
    assert Fraction(0.1) - Fraction(1, 10) == Fraction(1, 180143985094819840)
    assert (0.1).hex() == "0x1.999999999999ap-4"


@given(st.floats(min_value=0.0, max_value=sys.float_info.max))
def test_the_next_double_has_the_next_bits(x: float) -> None:
    assert bits_of(math.nextafter(x, math.inf)) == bits_of(abs(x)) + 1


@given(st.integers(-1022, 1022), st.floats(1.0, 2.0, exclude_max=True))
def test_the_gap_of_exponent_e_is_two_to_the_e_minus_52(e: int, x: float) -> None:
    x *= 2.0**e
    assert math.ulp(x) == 2.0 ** (e - 52)
    assert Fraction(math.nextafter(x, math.inf)) - Fraction(x) == Fraction(math.ulp(x))


@given(st.floats(sys.float_info.min, sys.float_info.max))
def test_the_relative_gap_lies_between_half_epsilon_and_epsilon(x: float) -> None:
    assert U < Fraction(math.ulp(x)) / Fraction(x) <= 2 * U


def test_whole_numbers_are_exact_up_to_two_to_the_53() -> None:
    assert float(2**53 - 1) + 1.0 == float(2**53)
    assert float(2**53) + 1.0 == float(2**53)
    assert math.ulp(1e16) == 2.0


@pytest.mark.parametrize("operate", OPERATIONS)
@given(a=MODERATE, b=MODERATE)
def test_an_operation_returns_the_exact_result_rounded_once(
    operate: Callable[[Any, Any], Any], a: float, b: float
) -> None:
    exact = operate(Fraction(a), Fraction(b))
    result = Fraction(operate(a, b))
    assert result == rounded(exact)
    assert abs(result - exact) <= U * abs(exact)


@given(st.floats(0.0, sys.float_info.max))
def test_a_square_root_lies_within_half_a_gap(x: float) -> None:
    root = Fraction(math.sqrt(x))
    below, above = (math.nextafter(float(root), end) for end in (0.0, math.inf))
    assert ((root + Fraction(below)) / 2) ** 2 <= Fraction(x)
    assert ((root + Fraction(above)) / 2) ** 2 >= Fraction(x)


def test_ties_go_to_the_even_neighbour_down_and_up() -> None:
    half = 2.0**-53
    assert 1.0 + half == 1.0
    assert (1.0 + 2.0 * half) + half == 1.0 + 4.0 * half


def test_the_exact_sum_of_the_doubles_0_1_and_0_2_is_a_tie_above_0_3() -> None:
    exact = Fraction(0.1) + Fraction(0.2)
    above = math.nextafter(0.3, 1.0)
    assert exact - Fraction(0.3) == Fraction(above) - exact
    assert 0.1 + 0.2 == above != 0.3
    assert bits_of(0.3) % 2 == 1 and bits_of(above) % 2 == 0


def test_the_last_digit_of_0_1_plus_0_2_by_hand() -> None:
    m = 0x1999999999999A
    assert math.ldexp(m, -56) == 0.1 and math.ldexp(m, -55) == 0.2
    assert 3 * m == 0x4CCCCCCCCCCCCE and divmod(3 * m, 4) == (0x13333333333333, 2)
    assert math.ldexp(0x13333333333334, -54) == 0.1 + 0.2
    assert Fraction(0.1 + 0.2) - Fraction(3, 10) == Fraction(4, 5) / 2**54
    texts = [f"0.3000000000000000{digit}" for digit in range(10)]
    near = [text for text in texts if float(text) == 0.1 + 0.2]
    assert [text[-1] for text in near] == list("234567")
    assert repr(0.1 + 0.2) == min(
        near, key=lambda text: abs(Fraction(text) - Fraction(0.1 + 0.2))
    )


@pytest.mark.parametrize(
    ("left", "right", "inputs", "addition"),
    [
        ("0.1", "0.2", Fraction(3, 10), Fraction(1, 2)),
        ("0.1", "0.1", Fraction(2, 5), Fraction(0)),
        ("9007199254740992", "1", Fraction(0), Fraction(-1, 2)),
        ("0.5", "0.25", Fraction(0), Fraction(0)),
    ],
)
def test_inputs_and_addition_round_each_on_its_own(
    left: str, right: str, inputs: Fraction, addition: Fraction
) -> None:
    result = float(left) + float(right)
    came = Fraction(float(left)) + Fraction(float(right))
    gap = Fraction(math.ulp(result))
    assert (came - Fraction(left) - Fraction(right)) / gap == inputs
    assert (Fraction(result) - came) / gap == addition


@given(st.integers(-(2**51), 2**51), st.integers(-(2**51), 2**51))
def test_sums_of_few_binary_digits_are_exact(j: int, k: int) -> None:
    assert Fraction(j / 1024 + k / 1024) == Fraction(j + k, 1024)


def test_a_sum_depends_on_its_order() -> None:
    assert (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)
    sums = [from_left(order) for order in permutations((1e16, 1.0, 1.0, -1e16))]
    assert {total: sums.count(total) for total in sums} == {0.0: 8, 1.0: 8, 2.0: 8}


def test_fsum_is_rounded_once_whatever_the_order() -> None:
    for order in permutations((1e16, 1.0, 1.0, -1e16)):
        assert math.fsum(order) == 2.0
    assert math.fsum([0.1] * 10) == float(10 * Fraction(0.1))


def test_the_builtin_sum_is_another_function_from_python_3_12_on() -> None:
    plain = from_left([0.1] * 10)
    assert plain == 0.9999999999999999
    assert sum([0.1] * 10) == (plain if sys.version_info < (3, 12) else 1.0)


def test_a_square_by_multiplication_is_the_exact_square_rounded() -> None:
    rng = random.Random(0)
    for x in (rng.uniform(1.0, 2.0) for _ in range(2000)):
        assert Fraction(x * x) == rounded(Fraction(x) ** 2)


def test_a_cube_by_two_multiplications_is_not_always_the_exact_cube_rounded() -> None:
    rng = random.Random(0)
    xs = [rng.uniform(1.0, 2.0) for _ in range(2000)]
    wrong = sum(Fraction(x * x * x) != rounded(Fraction(x) ** 3) for x in xs)
    assert 0.2 < wrong / len(xs) < 0.3


def test_a_quotient_by_the_reciprocal_differs_for_a_quarter_of_all_pairs() -> None:
    rng = random.Random(0)
    pairs = [(rng.uniform(1.0, 2.0), rng.uniform(1.0, 2.0)) for _ in range(4000)]
    differ = sum(a / b != a * (1.0 / b) for a, b in pairs)
    assert 0.22 < differ / len(pairs) < 0.31


@given(st.floats(1e-300, 1e300))
def test_a_power_of_two_as_a_factor_never_rounds(x: float) -> None:
    assert Fraction(x * 0.25) == Fraction(x) / 4
    assert x * 0.25 == x / 4.0


@given(st.floats(1e-300, 1e300), st.floats(1.0, 2.0))
def test_doubles_within_a_factor_of_two_subtract_exactly(y: float, t: float) -> None:
    x = min(y * t, 2.0 * y)
    assert Fraction(x - y) == Fraction(x) - Fraction(y)


@given(st.floats(1e-17, 1.0))
def test_cancellation_costs_at_most_u_times_one_plus_x_over_x(x: float) -> None:
    error = abs(Fraction((1.0 + x) - 1.0) - Fraction(x)) / Fraction(x)
    assert error <= U * (1 + Fraction(x)) / Fraction(x)


def test_one_plus_1e_16_minus_one_keeps_nothing() -> None:
    assert (1.0 + 1e-16) - 1.0 == 0.0
    assert (1.0 + 1e-15) - 1.0 == 5 * 2.0**-52


def test_the_rewritten_difference_of_roots_keeps_every_digit() -> None:
    n, scale = 10**15, 10**40
    low, high = (math.isqrt(k * scale**2) for k in (n, n + 1))
    truth = Fraction(high - low, scale)
    x = float(n)
    as_written = Fraction(math.sqrt(x + 1.0) - math.sqrt(x))
    rewritten = Fraction(1.0 / (math.sqrt(x + 1.0) + math.sqrt(x)))
    assert abs(as_written - truth) > truth / 10
    assert abs(rewritten - truth) < 4 * U * truth


@given(FINITE, FINITE)
def test_the_difference_of_different_doubles_is_never_zero(a: float, b: float) -> None:
    assert (a - b == 0.0) == (a == b)


def test_the_smallest_numbers() -> None:
    assert sys.float_info.min == 2.0**-1022
    assert math.nextafter(0.0, 1.0) == 5e-324 == math.ulp(0.0)
    assert Fraction(5e-324) == Fraction(1, 2**1074)
    assert 5e-324 / 2 == 0.0
    assert 5e-324 * 1.4 == 5e-324
    assert 5e-324 * 1.5 == 2 * 5e-324


def test_a_subnormal_has_fewer_digits_than_53() -> None:
    digits = [(bits_of(x) % 2**52).bit_length() for x in (1e-310, 1e-320, 5e-324)]
    assert digits == [45, 11, 1]
    assert abs(Fraction(1e-320) / Fraction(1, 10**320) - 1) > 1000 * U


def test_reciprocals_end_at_two_to_the_minus_1024() -> None:
    assert math.isinf(1.0 / 5e-324)
    assert math.isinf(1.0 / 2.0**-1024)
    assert math.isfinite(1.0 / math.nextafter(2.0**-1024, 1.0))


def test_operators_overflow_in_silence_and_pow_raises() -> None:
    assert Fraction(sys.float_info.max) == 2**1024 - 2**971
    assert 1e308 * 10.0 == 1e308 + 1e308 == 1e308 / 0.1 == math.inf
    for call in (
        lambda: 1e308**2,
        lambda: math.exp(710.0),
        lambda: float(10**400),
        lambda: math.isfinite(10**400),
        lambda: float(Fraction(10) ** 400),
        lambda: math.fsum([1e308, 1e308]),
    ):
        with pytest.raises(OverflowError):
            call()


def test_what_is_no_number_has_no_fraction() -> None:
    with pytest.raises(ValueError):
        Fraction(math.nan)
    with pytest.raises(OverflowError):
        Fraction(math.inf)


@given(st.floats())
def test_nan_fails_every_comparison_but_unequal(x: float) -> None:
    nan = math.nan
    assert not (nan == x or nan < x or nan <= x or nan > x or nan >= x)
    assert nan != x
    assert all(math.isnan(operate(nan, x)) for operate in (operator.add, operator.mul))


def test_nan_makes_max_and_sorted_depend_on_order() -> None:
    assert math.isnan(max(math.nan, 1.0)) and max(1.0, math.nan) == 1.0
    assert sorted([3.0, math.nan, 1.0])[::2] == [3.0, 1.0]


def test_zero_has_a_sign() -> None:
    assert -0.0 == 0.0
    assert math.copysign(1.0, -0.0) == -1.0
    assert math.copysign(1.0, -5e-324 / 2) == -1.0


@given(FINITE, FINITE)
def test_the_error_of_a_sum_is_a_double(a: float, b: float) -> None:
    total = a + b
    if math.isfinite(total):
        error = Fraction(a) + Fraction(b) - Fraction(total)
        assert Fraction(float(error)) == error


def test_exact_numbers_grow_and_doubles_do_not() -> None:
    exact = Fraction(3, 2) ** 1024
    assert exact.numerator.bit_length() == 1624


def test_49_is_the_first_whole_number_that_its_reciprocal_does_not_give_back() -> None:
    bad = [n for n in range(1, 100_001) if n * (1.0 / n) != 1.0]
    assert bad[0] == 49
    assert not any(n & (n - 1) == 0 for n in bad)
