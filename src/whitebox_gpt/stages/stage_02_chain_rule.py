"""Stage 02: the chain rule, once around every path. Run it with `python -m`."""

from ..gradcheck import central_gradient
from ..value import Value
from . import observe, refusal


def main() -> None:
    """Print the observations of stage 02, checking each."""
    # Carry gradients back through the first graph
    x, y, bias = Value(2.0, "x"), Value(-3.0, "y"), Value(10.0, "bias")
    product = x * y
    z = product + bias
    z.backward()
    observe("slopes of x * y", product.local_derivatives, (-3.0, 2.0))
    found = [x.grad, y.grad, bias.grad]
    observe("dz/dx, dz/dy, dz/dbias", found, [-3.0, 2.0, 1.0])
    inputs = [2.0, -3.0, 10.0]
    measured = central_gradient(lambda x, y, bias: x * y + bias, inputs, 0.5)
    observe("by central differences", measured, [-3.0, 2.0, 1.0])
    # Sum the paths that meet in one node
    a = Value(3.0, "a")
    (a * a).backward()
    observe("d(a * a)/da at 3", a.grad, 6.0)
    a.zero_grad()
    (a + a).backward()
    observe("d(a + a)/da", a.grad, 2.0)
    a.zero_grad()
    b = a * 2.0
    (b * b + b).backward()
    observe("d(4aa + 2a)/da at 3", a.grad, 26.0)
    # Run backward twice
    x = Value(2.0, "x")
    square = x * x
    z = square * 3.0
    z.backward()
    z.backward()
    observe("leaf after two passes", x.grad, 24.0)
    observe("inner node after two passes", square.grad, 3.0)
    z.zero_grad()
    observe("both after zero_grad", [x.grad, square.grad], [0.0, 0.0])
    # Go deep without recursion
    leaf = node = Value(1.0, "leaf")
    for _ in range(100_000):
        node = node + 1.0
    node.backward(limit=200_001)
    observe("gradient through 100,000 sums", leaf.grad, 1.0)
    # Fail without a trace
    tiny = Value(1e-200, "tiny")
    large = tiny * 1e200 * 1e200
    observe(
        "overflow",
        refusal(large.backward),
        "DomainError: backward: the gradient of Value(1e-200, 'tiny')"
        " must be finite, got inf. No gradient was changed.",
    )
    kind, _, _ = refusal(lambda: large.backward(limit=4)).partition(":")
    observe("limit of 4 for 5 nodes", kind, "ResourceBudgetError")
    observe("gradient after both", tiny.grad, 0.0)
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
