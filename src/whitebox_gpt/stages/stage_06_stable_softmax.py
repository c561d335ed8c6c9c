"""Stage 06: softmax, finite and right. Run it with `python -m`."""

from __future__ import annotations

import math

from ..budget import count_operations
from ..gradcheck import central_gradient
from ..linalg import Vector
from ..softmax import (
    _partition,
    cross_entropy_nodes,
    cross_entropy_with_logits,
    log_softmax,
    log_softmax_nodes,
    partition_nodes,
    softmax,
    softmax_nodes,
)
from . import observe, refusal
from .stage_05_vectors_matrices import operations_begun


def main() -> None:
    """Print the observations of stage 06, checking each."""
    # Lose a loss through a probability, and keep it
    z = Vector([0.0, -1000.0])
    p = softmax(z)
    observe("softmax of (0, -1000)", p.tolist(), [1.0, 0.0])
    observe("log-softmax", log_softmax(z).tolist(), [0.0, -1000.0])
    observe(
        "softmax, then log",
        refusal(p[1].log),
        "DomainError: log: the operand must be above 0, got 0.0",
    )
    observe("fused cross-entropy", cross_entropy_with_logits(z, 1).data, 1000.0)
    # Lose a loss through a large sum, and keep it
    far = [1e20, 1e20, 1e20]
    lse = max(far) + math.log(sum(math.exp(x - max(far)) for x in far))
    observe("LSE - z_y of three logits of 1e20", lse - far[0], 0.0)
    kept = cross_entropy_with_logits(Vector(far), 0).data
    observe("centered cross-entropy", kept, math.log(3.0), ulps=2.0)
    # Count the three functions and their core
    formulas = (
        partition_nodes,
        softmax_nodes,
        log_softmax_nodes,
        cross_entropy_nodes,
    )
    planned = [formula(3) for formula in formulas]
    observe("planned for K = 3", planned, [9, 14, 13, 11])
    z = Vector([1.0, 2.0, 3.0])
    loss = cross_entropy_with_logits(z, 1, budget=11)
    core = [_partition(z, (0, 1, 2)).log_partition]
    graphs = (core, softmax(z), log_softmax(z), [loss])
    found = [count_operations(graph) for graph in graphs]
    observe("in the graphs", found, [9, 14, 13, 11])
    observe("loss with a budget of 11", loss.data, 1.4076059644443804, ulps=2.0)
    # Refuse one node short, and a mask that leaves nothing
    refused = {
        "a budget of 10": lambda: cross_entropy_with_logits(z, 1, budget=10),
        "a mask of nothing": lambda: softmax(z, [False, False, False]),
    }
    texts = [
        "ResourceBudgetError: cross_entropy_with_logits: the budget must cover 11"
        " operation nodes, got 10",
        "ShapeError: softmax: mask must leave a class active, got none",
    ]
    for (name, action), text in zip(refused.items(), texts, strict=True):
        observe(name, refusal(action), text)
        observe("operations begun", operations_begun(action), 0)
    # Compare the gradient with two independent ones
    numbers = [1.5, -0.5, 0.25]
    z = Vector(numbers)
    loss = cross_entropy_with_logits(z, 2)
    right = 1.6019518638028019
    observe("loss of (1.5, -0.5, 0.25), 2", loss.data, right, ulps=2.0)
    loss.backward()
    total = math.fsum(math.exp(x) for x in numbers)
    identity = [math.exp(x) / total - (i == 2) for i, x in enumerate(numbers)]
    measured = central_gradient(
        lambda *x: math.log(math.fsum(map(math.exp, x))) - x[2], numbers, 1e-6
    )
    witnesses = {"p - onehot": identity, "central differences": measured}
    for name, other in witnesses.items():
        apart = max(abs(x.grad - g) for x, g in zip(z, other, strict=True))
        observe(f"within 1e-6 of {name}", apart < 1e-6, True)
    close = abs(sum(x.grad for x in z)) <= 2.0 * math.ulp(1.0)
    observe("gradients sum to 0 within 2 ulps of 1", close, True)
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
