"""Stage 01: a scalar that remembers. Run it with `python -m`."""

from ..value import Value, topological_order
from . import observe, refusal


def main() -> None:
    """Print the observations of stage 01, checking each."""
    # Build the first graph and walk it
    x, y, bias = Value(2.0, "x"), Value(-3.0, "y"), Value(10.0, "bias")
    product = (x * y).named("product")
    z = (product + bias).named("z")
    observe("product", product.data, -6.0)
    observe("z", z.data, 4.0)
    observe("parents of product kept", product.parents == (x, y), True)
    observe("parents of z kept", z.parents == (product, bias), True)
    names = [node.label for node in topological_order(z)]
    observe("order", " → ".join(names), "x → y → product → bias → z")
    # Change the input and keep the graph
    z = Value(5.0, "x") * -2 + 3
    observe("5 * -2 + 3", z.data, -7.0)
    leaves = [node.data for node in topological_order(z) if not node.parents]
    observe("its leaves", leaves, [5.0, -2.0, 3.0])
    # Ask for what must be refused
    observe(
        "Value(nan)",
        refusal(lambda: Value(float("nan"))),
        "DomainError: Value: data must be finite, got nan",
    )
    observe(
        "a limit one too small",
        refusal(lambda: topological_order(z, limit=4)),
        "ResourceBudgetError: topological_order: the graph must have at most 4 nodes,"
        " leaves included, got more."
        " Pass a larger limit if a graph of that size is meant.",
    )
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
