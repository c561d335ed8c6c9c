"""Parameters: where each stands, which object it is, and its number by name."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any, NamedTuple

from .budget import require_kind
from .errors import ParameterIdentityError, WhiteboxError, describe
from .linalg import Matrix, Vector
from .real import require_real
from .value import Value


# Give a parameter two identities
class _NameAndValue(NamedTuple):
    name: str  # logical, such as mlp.fc1.weight[2,1]
    value: Value  # physical


class ParameterRef(_NameAndValue):
    """A parameter: the place where it stands, and the object that it is.

    Errors: KindError if `name` is no text, or `value` no Value.
    Source: book/stage_07_linear_mlp.md
    """

    __slots__ = ()

    def __new__(cls, name: str, value: Value) -> ParameterRef:
        require_kind("ParameterRef", str, name=name)
        require_kind("ParameterRef", Value, value=value)
        return super().__new__(cls, name, value)


# Refuse an alias, and what is no leaf
def require_own_leaves(where: str, references: Iterable[ParameterRef]) -> None:
    """Return if each Value is a leaf with one name.

    Errors: ParameterIdentityError, naming the parameter, if one is not.
    Source: book/stage_07_linear_mlp.md
    """
    names: dict[Value, str] = {}
    for name, value in references:
        if value.operation:
            rule = f"{name} must be a leaf, which no operation made"
            raise ParameterIdentityError(where, rule, describe(value))
        if value in names:
            rule = f"{name} must be an object of its own"
            got = f"the one of {names[value]}"
            raise ParameterIdentityError(where, rule, got)
        names[value] = name


# Compare the storage with the seal
def require_same(
    where: str, sealed: tuple[ParameterRef, ...], found: tuple[ParameterRef, ...]
) -> None:
    """Return if names, objects and order are the sealed ones.

    Errors: ParameterIdentityError, naming the first that is not.
    Source: book/stage_07_linear_mlp.md
    """
    if found == sealed:
        return
    for before, now in zip_longest(sealed, found):
        if before is None or now is None or before.name != now.name:
            rule = f"the next parameter must be {before.name if before else 'none'}"
            got = now.name if now else "none"
        elif before.value is not now.value:
            rule, got = f"{now.name} must be the Value of the seal", "another"
        else:
            continue
        mend = "Write numbers into the old Values; load_state does."
        raise ParameterIdentityError(where, rule, got, mend)


# Read nested lists against a tensor
State = dict[str, list[float] | list[list[float]]]  # plain nested lists by name


def read_numbers(
    place: str, part: Matrix | Vector | Value, given: Any, wrong: list[str]
) -> list[float]:
    """Return the numbers of `given` in the order of `part`; collect what is wrong.

    Shape:  `given` as `part`: a number, a list of n, or a list of m lists of n.
    Errors: none is raised; `wrong` receives a text for each misfit.
    Source: book/stage_07_linear_mlp.md
    """
    if isinstance(part, Value):
        try:
            return [require_real("load_state", place, given)]
        except WhiteboxError as error:
            wrong.append(f"{error.expected}, not {error.got}")
            return []
    listed = list(iter(given)) if isinstance(given, (list, tuple)) else None
    if listed is None or len(listed) != len(part):
        got = describe(given) if listed is None else f"one of {len(listed)}"
        wrong.append(f"{place} must be a list of {len(part)}, not {got}")
        return []
    parts: Iterable[Vector | Value] = part
    pairs = zip(parts, listed, strict=True)
    read = [read_numbers(f"{place}[{i}]", *pair, wrong) for i, pair in enumerate(pairs)]
    return [number for numbers in read for number in numbers]
