"""Count a graph before it is built, and refuse one that does not fit."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import DomainError, KindError, ResourceBudgetError, ShapeError, describe
from .inputs import iterate
from .value import Value

DEFAULT_BUDGET = 100_000  # operation nodes, some 12 MB of Values
LARGEST_COUNT = 2**53  # up to here every integer is a float


# Refuse what the budget does not cover
def require_budget(
    where: str, needed: int, budget: int, unit: str = "operation nodes"
) -> None:
    """Return if `budget` covers `needed`; call it before any operation.

    Units:  those of `unit`; leaves are not counted.
    Errors: ResourceBudgetError if more is needed; KindError if `budget` is
            not an int, DomainError if it is below 0.
    Source: book/stage_05_vectors_matrices.md
    """
    if type(budget) is not int:
        raise KindError(where, "budget must be an int", describe(budget))
    if budget < 0:
        raise DomainError(where, "budget must be at least 0", describe(budget))
    if needed > budget:
        rule = f"the budget must cover {needed} {unit}"
        raise ResourceBudgetError(where, rule, str(budget))


# Refuse an operand of the wrong kind or size
def require_kind(where: str, kind: type, **operands: object) -> None:
    """Return if every operand is of that kind.

    Errors: KindError, naming the operand, if one is not.
    Source: book/stage_05_vectors_matrices.md
    """
    for name, operand in operands.items():
        if not isinstance(operand, kind):
            rule = f"{name} must be a {kind.__name__}"
            raise KindError(where, rule, describe(operand))


def require_size(where: str, rule: str, expected: int, got: int) -> None:
    """Return if both sizes agree.

    Errors: ShapeError, saying `rule = expected`, if they do not.
    Source: book/stage_05_vectors_matrices.md
    """
    if got != expected:
        raise ShapeError(where, f"{rule} = {expected}", str(got))


# Refuse what counts nothing
def require_count(where: str, **counts: object) -> None:
    """Return if each count is an int from 1 to 2**53.

    Errors: KindError if one is not an int; ShapeError if it is out of this range.
    Source: book/stage_05_vectors_matrices.md
    """
    for name, count in counts.items():
        if type(count) is not int:
            raise KindError(where, f"{name} must be an int", describe(count))
        if not 1 <= count <= LARGEST_COUNT:
            rule = f"{name} must be at least 1 and at most 2**53"
            raise ShapeError(where, rule, describe(count))


# Count the nodes of products and sums
def dot_nodes(n: int) -> int:
    """Return the nodes of a dot product of length n >= 1.

    Errors: those of `require_count`.
    Source: book/stage_05_vectors_matrices.md
    """
    require_count("dot_nodes", n=n)
    return n + (n - 1)  # products, then sums


def matvec_nodes(m: int, n: int) -> int:
    """Return the nodes of an (m, n) matrix times an (n,) vector.

    Errors: those of `require_count`.
    Source: book/stage_05_vectors_matrices.md
    """
    require_count("matvec_nodes", m=m, n=n)
    return m * dot_nodes(n)


def matmul_nodes(m: int, n: int, p: int) -> int:
    """Return the nodes of an (m, n) matrix times an (n, p) matrix.

    Errors: those of `require_count`.
    Source: book/stage_05_vectors_matrices.md
    """
    require_count("matmul_nodes", m=m, n=n, p=p)
    return m * p * dot_nodes(n)


def linear_nodes(positions: int, c_in: int, c_out: int, bias: bool) -> int:
    """Return the operation nodes of a linear layer at a number of positions.

    Errors: those of `require_count`; KindError if `bias` is not a bool.
    Source: book/stage_07_linear_mlp.md
    """
    require_count("linear_nodes", positions=positions, c_in=c_in, c_out=c_out)
    require_kind("linear_nodes", bool, bias=bias)
    return positions * c_out * (dot_nodes(c_in) + bias)


# Count every operation node once
def count_operations(outputs: Iterable[Value], limit: int = 1_000_000) -> int:
    """Return how many operation nodes `outputs` consist of, each counted once.

    Cost:   O(V + E) time, O(V) memory; no recursion, so any depth will do.
    Errors: ResourceBudgetError if there are more than `limit` nodes, leaves
            included; KindError if an output is not a Value or `limit` not an
            int; DomainError if `limit` is below 1.
    Source: book/stage_05_vectors_matrices.md
    """
    stack = _require_outputs(outputs, limit)
    seen = set(stack)
    while stack and len(seen) <= limit:
        for operand in stack.pop().parents:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    # Refuse to count beyond the limit
    if len(seen) > limit:
        rule = f"the graph must have at most {limit} nodes, leaves included"
        mend = "Pass a larger limit if a graph of that size is meant."
        raise ResourceBudgetError("count_operations", rule, "more", mend)
    return sum(node.operation != "" for node in seen)


def _require_outputs(outputs: Iterable[Value], limit: int) -> list[Value]:
    if type(limit) is not int:
        raise KindError("count_operations", "limit must be an int", describe(limit))
    if limit < 1:
        rule = "limit must be at least 1"
        raise DomainError("count_operations", rule, describe(limit))
    mend = "For one Value z pass [z]; for a Matrix, the Values of its rows."
    rule = "outputs must be an iterable of Values"
    listed = list(iterate("count_operations", rule, outputs, mend=mend))
    for i, output in enumerate(listed):
        if not isinstance(output, Value):
            rule = f"output {i} must be a Value"
            raise KindError("count_operations", rule, describe(output), mend)
    return listed
