"""Stage 03: the edges of differentiability. Run it with `python -m`."""

import math

from ..gradcheck import central_difference, compare, require_gradient
from ..value import Value
from . import observe, refusal


# Write the function again without a graph
def scalar_function(x: float) -> float:
    """Return log(exp(x)) + max(x, 0)**2 in floats, sharing no code with Value."""
    return math.log(math.exp(x)) + max(x, 0.0) ** 2


def main() -> None:
    """Print the observations of stage 03, checking each."""
    # Compose the primitives and go back
    x = Value(2.0, "x")
    exp = x.exp()
    log, square = exp.log(), x.relu() ** 2
    z = log + square
    z.backward()
    observe("exp(2)", exp.data, 7.38905609893065, ulps=2, form=".8f")
    observe("log(exp(2))", log.data, 2.0, ulps=2, form="g")
    observe("relu(2)**2", square.data, 4.0, ulps=2, form="g")
    observe("z", z.data, 6.0, ulps=2, form="g")
    observe("dz/dx", x.grad, 5.0, ulps=2, form="g")
    # Take the two paths apart
    outer, inner = log.local_derivatives[0], exp.local_derivatives[0]
    observe("through exp and log", outer * inner, 1.0, ulps=2, form="g")
    outer, inner = square.local_derivatives[0], square.parents[0].local_derivatives[0]
    observe("through relu and square", outer * inner, 4.0, ulps=2, form="g")
    # Close the path through relu
    x = Value(-2.0, "x")
    bent = x.relu()
    z = x.exp().log() + bent**2
    z.backward()
    observe("relu(-2)", bent.data, 0.0, form="g")
    observe("z at -2", z.data, -2.0, ulps=2, form="g")
    observe("dz/dx at -2", x.grad, 1.0, ulps=2, form="g")
    # Measure the slope without a graph
    h = 1e-6
    high, low = scalar_function(2.0 + h), scalar_function(2.0 - h)
    observe("f(2+h)", high, 6.000005000001001, ulps=2)
    observe("f(2-h)", low, 5.999995000001, ulps=2)
    spread = 4 * math.ulp(6.0)
    rise = 1.0000000000509601e-05
    observe("f(2+h) - f(2-h)", high - low, rise, ulps=spread / math.ulp(rise))
    numeric, open_digits = central_difference(scalar_function, 2.0, h), spread / (2 * h)
    ulps = open_digits / math.ulp(5.0)
    observe("numeric gradient", numeric, 5.000000000254801, ulps=ulps)
    # Judge the gradient, and look at the kink
    found = compare(5.0, numeric)
    absolute, relative = 2.5480062504357193e-10, 5.096012500611745e-11
    ulps = open_digits / math.ulp(absolute)
    observe("absolute error", found.absolute, absolute, ulps, ".4e")
    ulps = open_digits / 5.0 / math.ulp(relative)
    observe("relative error", found.relative, relative, ulps, ".4e")
    require_gradient(scalar_function, [2.0], [5.0])
    middle = central_difference(lambda x: max(x, 0.0), 0.0, h)
    observe("central difference of relu at 0", middle, 0.5)
    # Ask each primitive for what it must refuse
    zero = Value(0.0, "zero")
    observe(
        "log(0)",
        refusal(zero.log),
        "DomainError: log: the operand must be above 0, got 0.0",
    )
    observe(
        "0.0**0.5",
        refusal(lambda: zero**0.5),
        "DomainError: **: in the derivative, (0.0) ** -0.5 must be a finite real"
        " number, got a division by zero",
    )
    observe(
        "exp(1000)",
        refusal(Value(1000.0).exp),
        "DomainError: exp: exp(1000.0) must not exceed the largest float,"
        " got an overflow",
    )
    observe("gradient of zero", zero.grad, 0.0)
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
