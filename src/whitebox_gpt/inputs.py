"""Read what a caller passes: things one by one, and whole numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import TypeVar

from .errors import KindError, describe

Thing = TypeVar("Thing")


# Go through things one by one, if they can be
def iterate(
    where: str,
    rule: str,
    things: Iterable[Thing],
    unfit: tuple[type, ...] = (),
    mend: str = "",
) -> Iterator[Thing]:
    """Return an iterator over `things`.

    Errors: KindError if they have none, or are of an `unfit` type.
    Source: book/stage_04_characters_bos.md
    """
    if not isinstance(things, unfit):
        try:
            return iter(things)
        except TypeError:  # such as a number, or an array without dimensions
            pass
    raise KindError(where, rule, describe(things), mend)


# Accept a whole number as an index
def require_index(where: str, what: str, index: object) -> int:
    """Return `index` as an int.

    Errors: KindError for a bool, or what is no integer.
    Source: book/stage_04_characters_bos.md
    """
    if not isinstance(index, bool):
        try:
            return operator.index(index)  # type: ignore[arg-type]
        except TypeError:  # such as 1.0, an array of two, or a class
            pass
    raise KindError(where, f"{what} must be an int", describe(index))
