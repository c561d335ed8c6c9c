"""Softmax, log-softmax and cross-entropy over one centered log-partition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .budget import (
    DEFAULT_BUDGET,
    require_budget,
    require_count,
    require_kind,
    require_size,
)
from .errors import DomainError, KindError, RangeError, ShapeError, describe
from .linalg import Vector, require_finite
from .value import Value


# Hold the centered log-partition
class StablePartition(NamedTuple):
    """Centered logits of the active classes, and the log of their sum.

    Shape:  A classes, so A shifted logits and A exponentials.
    Source: book/stage_06_stable_softmax.md
    """

    classes: tuple[int, ...]  # where each of them stands among all K
    shifted: tuple[Value, ...]  # s = z - max z, at most 0
    exp_shifted: tuple[Value, ...]  # at most 1, and the largest is exactly 1
    sum_exp: Value  # T, from 1 to A
    log_partition: Value  # a = log T, at least 0


# Turn logits into probabilities
def softmax(
    logits: Vector,
    mask: Sequence[bool] | None = None,
    *,
    budget: int = DEFAULT_BUDGET,
) -> Vector:
    """Return the probabilities of the active classes, and 0 for the others.

    Shape:  logits (K,), mask of K bools or None -> (K,), summing to 1.
    Cost:   4A + 2 operation nodes for A active classes.
    Errors: those of log_softmax; KindError if `mask` is no sequence of bools;
            ShapeError if it has another length or leaves no class active.
    Source: book/stage_06_stable_softmax.md; Blanchard and others (2021).
    """
    _require_logits("softmax", logits)
    classes = _active_classes(mask, len(logits))
    _require_spread("softmax", logits, classes)
    require_budget("softmax", softmax_nodes(len(classes)), budget)
    core = _partition(logits, classes)
    # Put the probabilities in place, and 0 elsewhere
    factor = (-core.log_partition).exp()
    weights = zip(classes, core.exp_shifted, strict=True)
    probability = {k: weight * factor for k, weight in weights}
    return Vector(probability.get(k, 0.0) for k in range(len(logits)))


# Turn logits into log-probabilities
def log_softmax(logits: Vector, *, budget: int = DEFAULT_BUDGET) -> Vector:
    """Return log-probabilities of `logits`, computed from centered logits.

    Shape:  logits (K,) -> (K,).
    Units:  nats (natural log).
    Cost:   4K + 1 operation nodes.
    Errors: KindError, ShapeError if K = 0, DomainError if a logit or the
            spread is not finite, ResourceBudgetError; all before any node.
    Source: book/stage_06_stable_softmax.md; Blanchard and others (2021).
    """
    _require_logits("log_softmax", logits)
    classes = tuple(range(len(logits)))
    _require_spread("log_softmax", logits, classes)
    require_budget("log_softmax", log_softmax_nodes(len(logits)), budget)
    core = _partition(logits, classes)
    negative = -core.log_partition
    return Vector(s + negative for s in core.shifted)


# Turn logits and a target into a loss
def cross_entropy_with_logits(
    logits: Vector, target: int, *, budget: int = DEFAULT_BUDGET
) -> Value:
    """Return the surprise -log p[target], computed from centered logits.

    Shape:  logits (K,), a class from 0 to K - 1 -> one Value.
    Units:  nats (natural log).
    Cost:   3K + 2 operation nodes.
    Errors: those of log_softmax; KindError or RangeError if target is none.
    Source: book/stage_06_stable_softmax.md; Blanchard and others (2021).
    """
    where = "cross_entropy_with_logits"
    _require_logits(where, logits)
    _require_target(where, target, len(logits))
    classes = tuple(range(len(logits)))
    _require_spread(where, logits, classes)
    require_budget(where, cross_entropy_nodes(len(logits)), budget)
    core = _partition(logits, classes)
    return core.log_partition + -core.shifted[target]


# Count the nodes of a softmax
def partition_nodes(a: int) -> int:
    """Return the nodes of a centered log-partition of `a` classes.

    Errors: those of `require_count`.
    Source: book/stage_06_stable_softmax.md
    """
    require_count("partition_nodes", a=a)
    return a + a + (a - 1) + 1  # shifts, exponentials, sums, one logarithm


def softmax_nodes(a: int) -> int:
    """Return the nodes of a softmax with `a` active classes.

    Errors: those of `require_count`.
    Source: book/stage_06_stable_softmax.md
    """
    require_count("softmax_nodes", a=a)
    return partition_nodes(a) + 2 + a  # a factor in two nodes, products


def log_softmax_nodes(k: int) -> int:
    """Return the nodes of a log-softmax of `k` classes.

    Errors: those of `require_count`.
    Source: book/stage_06_stable_softmax.md
    """
    require_count("log_softmax_nodes", k=k)
    return partition_nodes(k) + 1 + k  # one negation, sums


def cross_entropy_nodes(k: int) -> int:
    """Return the nodes of a cross-entropy of `k` classes.

    Errors: those of `require_count`.
    Source: book/stage_06_stable_softmax.md
    """
    require_count("cross_entropy_nodes", k=k)
    return partition_nodes(k) + 2  # one negation, one sum


# Refuse before the first operation
def _require_logits(where: str, logits: Vector) -> None:
    require_kind(where, Vector, logits=logits)
    if len(logits) == 0:
        raise ShapeError(where, "logits must have length K >= 1", "0")
    require_finite(where, logits=logits)


def _require_target(where: str, target: int, k: int) -> None:
    if isinstance(target, bool) or not isinstance(target, int):
        raise KindError(where, "target must be an int", describe(target))
    if not 0 <= target < k:
        rule = f"target must be at least 0 and below K = {k}"
        raise RangeError(where, rule, describe(target))


def _active_classes(mask: Sequence[bool] | None, k: int) -> tuple[int, ...]:
    """Return the classes that `mask` leaves active, all k without a mask."""
    if mask is None:
        return tuple(range(k))
    if not isinstance(mask, Sequence):
        rule = "mask must be a sequence of bools, such as a list"
        raise KindError("softmax", rule, describe(mask))
    flags = list(iter(mask))
    require_size("softmax", "mask must have length K", k, len(flags))
    # Refuse a flag that is no bool, and a mask without a class
    for i, flag in enumerate(flags):
        if not isinstance(flag, bool):
            rule = f"mask[{i}] must be a bool"
            raise KindError("softmax", rule, describe(flag))
    classes = tuple(i for i, active in enumerate(flags) if active)
    if not classes:
        raise ShapeError("softmax", "mask must leave a class active", "none")
    return classes


def _require_spread(
    where: str,
    logits: Vector,
    classes: tuple[int, ...],
) -> None:
    data = [logits[k].data for k in classes]
    low, high = min(data), max(data)
    if not math.isfinite(high - low):
        rule = "the largest logit minus the smallest must be finite"
        raise DomainError(where, rule, f"{describe(high)} and {describe(low)}")


# Center the logits and take the log of their sum
def _partition(logits: Vector, classes: tuple[int, ...]) -> StablePartition:
    center = max(logits[k].data for k in classes)
    shifted = tuple(logits[k] + -center for k in classes)
    exp_shifted = tuple(s.exp() for s in shifted)
    total = exp_shifted[0]
    for term in exp_shifted[1:]:
        total = total + term
    return StablePartition(classes, shifted, exp_shifted, total, total.log())
