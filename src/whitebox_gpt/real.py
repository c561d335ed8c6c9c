"""The border of the real numbers: what becomes a float, and what is refused."""

from __future__ import annotations

import math
from numbers import Integral, Real
from operator import index

from .errors import DomainError, KindError, describe


# Accept a finite real number and nothing else
def require_real(where: str, what: str, number: object) -> float:
    """Return `number` as the nearest float.

    Errors: KindError if it is not a real number (bool and Decimal are not);
            DomainError if it is NaN, infinite or beyond the largest float.
    Source: book/stage_01_value_graph.md
    """
    # Refuse what is not a real number
    if isinstance(number, bool) or not isinstance(number, Real):
        raise KindError(where, f"{what} must be a real number", describe(number))
    # Round to the nearest float
    try:
        nearest = float(index(number) if isinstance(number, Integral) else number)
    except TypeError:  # numpy.timedelta64 says it is an integer, and is no index
        rule = f"{what} must be a real number"
        raise KindError(where, rule, describe(number)) from None
    except OverflowError:
        rule = f"{what} must be within the range of a float"
        raise DomainError(where, rule, describe(number)) from None
    # Refuse NaN and the infinities
    if not math.isfinite(nearest):
        raise DomainError(where, f"{what} must be finite", describe(nearest))
    return nearest


# Take a power in the real numbers, or refuse
def real_power(base: float, exponent: float, where: str = "") -> float:
    """Return `base` to the power `exponent`, both finite.

    `where` opens the message, for a power that is part of something else.
    Errors: DomainError if the power is infinite or complex.
    Source: book/stage_03_scalar_primitives.md
    """
    try:
        power = base**exponent
    except OverflowError:
        got = "an overflow"
    except ZeroDivisionError:
        got = "a division by zero"
    else:
        if isinstance(power, float):
            return power
        got = describe(power)
    rule = f"{where}({base!r}) ** {exponent!r} must be a finite real number"
    raise DomainError("**", rule, got)
