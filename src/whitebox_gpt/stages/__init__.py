"""One demonstration a stage: it prints what it observes, and checks it."""

import math
from collections.abc import Callable
from textwrap import fill

from ..errors import WhiteboxError


# Print an observation and stop at a wrong one
def observe(
    claim: str, got: object, expected: object, ulps: float = 0.0, form: str = ""
) -> None:
    """Print `claim = got` in lines that fit; end with status 1 at a surprise.

    `ulps`  how many units in the last place of `expected` a float may be off;
    `form`  how `got` is printed, as in an f-string.
    """
    print(_in_lines(f"{claim} = {got:{form}}"))
    agrees = got == expected
    if isinstance(got, float) and isinstance(expected, float):
        agrees = abs(got - expected) <= ulps * math.ulp(expected)
    if not agrees:
        fault = f"{claim} must be {expected}, got {got}"
        raise SystemExit(f"sanity check: FAIL, {fault}")


def _in_lines(text: str) -> str:
    return fill(
        text,
        84,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


# Return the text of a refusal
def refusal(action: Callable[[], object]) -> str:
    """Return the error text of an action that must be refused."""
    try:
        result = action()
    except WhiteboxError as error:
        return f"{type(error).__name__}: {error}"
    raise SystemExit(f"sanity check: FAIL, a refusal must come, got {result!r}")
