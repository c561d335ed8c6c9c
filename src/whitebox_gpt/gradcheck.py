"""Derivatives measured from plain floats, to judge those of a graph.

Nothing here imports `Value`: programs that share code share mistakes.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .errors import DomainError, GradientMismatchError, describe


# Measure a slope from both sides
def central_difference(
    f: Callable[[float], float],
    x: float,
    h: float,
) -> float:
    """Return (f(x + h) - f(x - h)) / 2h.

    Cost:   two evaluations of `f`.
    Source: book/stage_02_chain_rule.md; for the error made by `h`,
            book/stage_03_scalar_primitives.md
    """
    return (f(x + h) - f(x - h)) / (2.0 * h)


def forward_difference(f: Callable[[float], float], x: float, h: float) -> float:
    """Return (f(x + h) - f(x)) / h; a negative `h` measures on the left.

    Cost:   two evaluations of `f`.
    Source: book/stage_03_scalar_primitives.md
    """
    return (f(x + h) - f(x)) / h


# Measure one input at a time
def along(
    f: Callable[..., float], inputs: Sequence[float], i: int
) -> Callable[[float], float]:
    """Return `f` as a function of input `i` alone, the others held."""
    return lambda x: f(*inputs[:i], x, *inputs[i + 1 :])


def central_gradient(
    f: Callable[..., float], inputs: Sequence[float], h: float
) -> list[float]:
    """Return the central difference of `f(*inputs)` toward each input in turn.

    Cost:   two evaluations of `f` for each input.
    Source: book/stage_02_chain_rule.md
    """
    functions = [along(f, inputs, i) for i in range(len(inputs))]
    pairs = zip(functions, inputs, strict=True)
    return [central_difference(function, x, h) for function, x in pairs]


# Choose a step that grows with the input
def step(x: float, eta: float = 1e-6) -> float:
    """Return the step h = eta max(1, |x|).

    Errors: DomainError unless x - h, x and x + h are three finite floats in order.
    Source: book/stage_03_scalar_primitives.md
    """
    h = eta * max(1.0, abs(x))
    if not -math.inf < x - h < x < x + h < math.inf:
        rule = f"x - h, x and x + h must be finite and in order for x = {x!r}"
        raise DomainError("step", rule, f"h = {h!r}", "Choose another eta.")
    return h


# Compare two gradients
class Comparison(NamedTuple):
    """A gradient from a graph beside a measured one, and how far they are apart."""

    autodiff: float
    numeric: float
    absolute: float
    relative: float


def compare(autodiff: float, numeric: float) -> Comparison:
    """Return both gradients with |difference| and |difference| / max(|a|, |n|)."""
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
            DomainError if the lengths differ, `f` is not finite or a step does
            not move its input.
    Source: book/stage_03_scalar_primitives.md
    """
    # Refuse a question that has no answer
    if len(gradient) != len(inputs):
        rule = f"gradient must hold {len(inputs)} numbers, one for each input"
        raise DomainError("require_gradient", rule, str(len(gradient)))
    value = f(*inputs)
    if not math.isfinite(value):
        rule = "f must be finite at the inputs"
        raise DomainError("require_gradient", rule, describe(value))
    noise = 8.0 * math.ulp(max(1.0, abs(value)))
    comparisons = []
    for i, x in enumerate(inputs):
        h, g = step(x, eta), along(f, inputs, i)
        found = compare(gradient[i], central_difference(g, x, h))
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
