"""Stage 05: vectors that settle the bill first. Run it with `python -m`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from unittest.mock import patch

from .. import value
from ..budget import count_operations, matmul_nodes, matvec_nodes
from ..errors import WhiteboxError
from ..linalg import Matrix, Vector, dot, matmul, matvec
from . import observe, refusal


# Count the operations that an action begins
def operations_begun(action: Callable[[], object]) -> int:
    """Return how many operations `action` begins, refused or not."""
    begun, make = 0, value._node

    def counted(*facts: Any) -> value.Value:
        nonlocal begun
        begun += 1
        return make(*facts)

    with patch.object(value, "_node", counted), suppress(WhiteboxError):
        action()
    return begun


def main() -> None:
    """Print the observations of stage 05, checking each."""
    # Pay for a dot product, and look at the graph
    a, b = Vector([2.0, -3.0, 4.0]), Vector([1.0, 5.0, 2.0])
    z = dot(a, b, budget=5)
    observe("dot", z.data, -5.0)
    observe("its operation nodes, 2n - 1", count_operations([z]), 5)
    # Plan three products and count them
    w = Matrix([[2.0, -3.0, 4.0], [1.0, 0.0, -1.0]])
    x = Vector([1.0, 5.0, 2.0])
    y = matvec(w, x)
    observe("matvec", y.tolist(), [-5.0, -1.0])
    observe("planned, m(2n - 1)", matvec_nodes(2, 3), 10)
    observe("in the graph", count_operations(y), 10)
    square = matmul(w, w.transpose())
    observe("matmul", square.tolist(), [[29.0, -2.0], [-2.0, 2.0]])
    observe("planned, mp(2n - 1)", matmul_nodes(2, 3, 2), 20)
    cells = [v for row in square for v in row]
    observe("in the graph", count_operations(cells), 20)
    # Carry gradients through a matrix
    dot(Vector([3.0, -2.0]), y).backward()
    slopes = [[v.grad for v in row] for row in w]
    observe("dL/dw", slopes, [[3.0, 15.0, 6.0], [-2.0, -10.0, -4.0]])
    observe("dL/dx", [v.grad for v in x], [4.0, -9.0, 14.0])
    # Refuse without running one operation
    text = "matvec: the budget must cover 10 operation nodes, got 9"
    short = partial(matvec, w, x, budget=9)
    observe("budget 9", refusal(short), f"ResourceBudgetError: {text}")
    observe("operations begun", operations_begun(short), 0)
    enough = partial(matvec, w, x, budget=10)
    observe("with budget 10", operations_begun(enough), 10)
    text = "dot: b must have the length of a, n = 3, got 2"
    unlike = partial(dot, a, Vector([1.0, 5.0]))
    observe("two lengths", refusal(unlike), f"ShapeError: {text}")
    observe("operations begun", operations_begun(unlike), 0)
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
