"""Derivatives measured from plain floats, to judge those of a graph.

Nothing here imports `Value`: programs that share code share mistakes.
"""

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import NamedTuple

from .errors import DomainError, GradientMismatchError, KindError, describe


# Refuse what is not a finite number, on this side
def require_number(where: str, what: str, number: object) -> float:
    """Return `number` as a float.

    Errors: KindError if it is not a real number; DomainError if it is not finite.
    Source: book/stage_02_chain_rule.md
    """
    is_span = isinstance(number, Integral) and not hasattr(number, "__index__")
    if isinstance(number, bool) or is_span or not isinstance(number, Real):
        raise KindError(where, f"{what} must be a real number", describe(number))
    try:
        nearest = float(number)
    except OverflowError:
        nearest = math.inf
    if not math.isfinite(nearest):
        raise DomainError(where, f"{what} must be finite", describe(number))
    return nearest


# Measure a slope from both sides
def central_difference(
    f: Callable[[float], float],
    x: float,
    h: float,
) -> float:
    """Return (f(x + h) - f(x - h)) / 2h.

    Cost:   two evaluations of `f`.
    Errors: KindError or DomainError if a number that goes in, is met on the way
            or would come out is not real or not finite; DomainError if h is 0.
            What `f` raises is passed on.
    Source: book/stage_02_chain_rule.md; for the error made by `h`,
            book/stage_03_scalar_primitives.md
    """
    where = "central_difference"
    x, h = _input_and_step(where, x, h)
    rise = _ask(where, f, x + h) - _ask(where, f, x - h)
    run = require_number(where, "2h", 2.0 * h)
    return require_number(where, "the slope", rise / run)


# Take an input and a step, or ask a function
def _input_and_step(where: str, x: float, h: float) -> tuple[float, float]:
    x, h = require_number(where, "x", x), require_number(where, "h", h)
    if h == 0.0:
        raise DomainError(where, "h must not be 0", describe(h))
    return x, h


def _ask(where: str, f: Callable[[float], float], x: float) -> float:
    x = require_number(where, "x moved by h", x)
    return require_number(where, f"f({x!r})", f(x))


def forward_difference(f: Callable[[float], float], x: float, h: float) -> float:
    """Return (f(x + h) - f(x)) / h; a negative `h` measures on the left.

    Cost:   two evaluations of `f`.
    Errors: those of `central_difference`.
    Source: book/stage_03_scalar_primitives.md
    """
    where = "forward_difference"
    x, h = _input_and_step(where, x, h)
    rise = _ask(where, f, x + h) - _ask(where, f, x)
    return require_number(where, "the slope", rise / h)


# Measure one input at a time
def along(
    f: Callable[..., float], inputs: Sequence[float], i: int
) -> Callable[[float], float]:
    """Return `f` as a function of input `i` alone, the others held.

    Errors: KindError or DomainError, naming the input, when `f` then gives what is
            not a finite real number.
    Source: book/stage_03_scalar_primitives.md
    """

    def moved(x: float) -> float:
        y = f(*inputs[:i], x, *inputs[i + 1 :])
        return require_number("along", f"f with input {i} at {x!r}", y)

    return moved


def central_gradient(
    f: Callable[..., float], inputs: Sequence[float], h: float
) -> list[float]:
    """Return the central difference of `f(*inputs)` toward each input in turn.

    Cost:   two evaluations of `f` for each input.
    Errors: those of `central_difference`.
    Source: book/stage_02_chain_rule.md
    """
    functions = [along(f, inputs, i) for i in range(len(inputs))]
    pairs = zip(functions, inputs, strict=True)
    return [central_difference(function, x, h) for function, x in pairs]


# Choose a step that grows with the input
def step(x: float, eta: float = 1e-6) -> float:
    """Return the step h = eta max(1, |x|).

    Errors: KindError if `x` or `eta` is not a real number;
            DomainError unless x - h, x and x + h are three finite floats in order.
    Source: book/stage_03_scalar_primitives.md
    """
    x, eta = require_number("step", "x", x), require_number("step", "eta", eta)
    h = eta * max(1.0, abs(x))
    if not -math.inf < x - h < x < x + h < math.inf:
        rule = f"x - h, x and x + h must be finite and in order for x = {x!r}"
        raise DomainError("step", rule, f"h = {h!r}", "Choose another eta.")
    return h


# Compare two gradients
class Comparison(NamedTuple):
    """A gradient from a graph beside a measured one, and how far they are apart.

    Source: book/stage_03_scalar_primitives.md
    """

    autodiff: float
    numeric: float
    absolute: float
    relative: float


def compare(autodiff: float, numeric: float) -> Comparison:
    """Return both gradients with |difference| and |difference| / max(|a|, |n|).

    Both must be floats; nothing is checked here.
    Source: book/stage_03_scalar_primitives.md
    """
    absolute, scale = abs(autodiff - numeric), max(abs(autodiff), abs(numeric))
    return Comparison(
        autodiff, numeric, absolute, absolute / scale if scale else absolute
    )


# Require each gradient to agree with its measurement
def require_gradient(
    f: Callable[..., float],
    inputs: Sequence[float],
    gradient: Sequence[float],
    eta: float = 1e-6,
    tolerance: float = 1e-6,
) -> list[Comparison]:
    """Return a comparison for each input, or raise if `gradient` is not f's.

    Two gradients agree within the relative `tolerance`, or within 8 ulps of
    max(1, |f|) over h: below that, a central difference is noise.
    Cost:   2P + 1 evaluations of `f` for P inputs.
    Errors: GradientMismatchError names the first input that disagrees;
            DomainError if the lengths differ, `f` is not finite, a step does
            not move its input, or not 0 <= tolerance < 1; KindError if a
            number is not real. What `f` raises is passed on.
    Source: book/stage_03_scalar_primitives.md
    """
    # Refuse a question that has no answer
    if len(gradient) != len(inputs):
        rule = f"gradient must hold {len(inputs)} numbers, one for each input"
        raise DomainError("require_gradient", rule, str(len(gradient)))
    tolerance = require_number("require_gradient", "tolerance", tolerance)
    if not 0.0 <= tolerance < 1.0:
        rule = "tolerance must be at least 0 and below 1"
        raise DomainError("require_gradient", rule, describe(tolerance))
    claims = [_claim(i, number) for i, number in enumerate(gradient)]
    value = require_number("require_gradient", "f at the inputs", f(*inputs))
    noise = 8.0 * math.ulp(max(1.0, abs(value)))
    comparisons = []
    for i, x in enumerate(inputs):
        h, g = step(x, eta), along(f, inputs, i)
        found = compare(claims[i], central_difference(g, x, h))
        # Stop at a gradient that disagrees
        if not (found.relative <= tolerance or found.absolute <= noise / h):
            left, right = forward_difference(g, x, -h), forward_difference(g, x, h)
            raise GradientMismatchError(
                "require_gradient",
                f"input {i} must have a gradient near the measured {found.numeric!r}",
                f"{found.autodiff!r} (error {found.absolute:.2e},"
                f" relative {found.relative:.2e}, tolerance {tolerance:g})",
                f"The slope is {left:.6g} on the left and {right:.6g} on the right: a"
                " gap that stays while h shrinks is a kink, with no right gradient.",
            )
        comparisons.append(found)
    return comparisons


# Read a claimed gradient
def _claim(i: int, number: object) -> float:
    if isinstance(number, float) and number.__class__ is float:
        return number
    return require_number("require_gradient", f"gradient {i}", number)
