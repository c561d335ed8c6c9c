"""Stage 07: the right shape is not the right model. Run it with `python -m`."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean

from ..budget import count_operations
from ..linalg import Matrix
from ..linear import MLP, Linear
from ..plan import InitSpec, LinearPlan, ModelPlan, draw_weight
from ..value import Value
from . import observe, refusal
from .stage_05_vectors_matrices import operations_begun


# Plan two layers, and count initializer calls
def two_layers(use_bias: bool = False, budget: int = 1_000) -> ModelPlan:
    """Return the plan of the network 3 -> 4 -> 2."""
    fc1 = LinearPlan("fc1", 3, 4, use_bias, InitSpec(seed=7, role="relu"))
    fc2 = LinearPlan("fc2", 4, 2, use_bias, InitSpec(seed=7))
    return ModelPlan("mlp", (fc1, fc2), budget)


class Counting:
    """The book's initializer, counting its calls."""

    calls = 0

    def __call__(self, init: InitSpec, c_in: int, name: str) -> float:
        self.calls += 1
        return draw_weight(init, c_in, name)


# Judge a sample variance by chi-square
def chi_square_bounds(n: int, alpha: float) -> tuple[float, float]:
    """Return between which factors of its target a variance of n normals must lie.

    The mean is known to be 0. A true sample falls outside with probability `alpha`.
    Source: Wilson and Hilferty (1931)
    """
    unit = 2.0 / (9.0 * n)
    z = NormalDist().inv_cdf(1.0 - alpha / 2.0) * math.sqrt(unit)
    return (1.0 - unit - z) ** 3, (1.0 - unit + z) ** 3


def main() -> None:
    """Print the observations of stage 07, checking each."""
    # Plan, build and run the network
    x = Matrix([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])
    plan = two_layers()
    forward = plan.plan_forward(2)
    observe("parameters", plan.parameter_count, 20)
    observe("nodes of each step", [step.nodes for step in forward.steps], [40, 8, 28])
    observe("planned nodes, T = 2", forward.nodes, 76)
    model = MLP.build(plan)
    y = model.forward(x)
    observe("output shape", (forward.output_shape, y.shape), ((2, 2), (2, 2)))
    observe("nodes in the graph", count_operations(v for row in y for v in row), 76)
    sealed = model.parameters()
    observe("distinct objects", len({id(value) for _, value in sealed}), 20)
    observe("the eighth name", sealed[7].name, "mlp.fc1.weight[2,1]")
    model.forward(x)
    observe("identity kept over two passes", model.parameters() == sealed, True)
    # Run short of parameters and of nodes
    counting = Counting()
    short = refusal(lambda: MLP.build(two_layers(budget=19), counting))
    text = "ResourceBudgetError: ModelPlan: the budget must cover 20 parameters, got 19"
    observe("cap of 19 parameters", short, text)
    observe("initializer calls", counting.calls, 0)
    MLP.build(two_layers(budget=20), counting)
    observe("initializer calls with a cap of 20", counting.calls, 20)
    one = Matrix([[1.0, -2.0, 0.5]])
    observe("planned nodes, T = 1", plan.plan_forward(1).nodes, 38)
    begun = operations_begun(lambda: model.forward(one, budget=37))
    observe("operations with a cap of 37", begun, 0)
    begun = operations_begun(lambda: model.forward(one, budget=38))
    observe("operations with a cap of 38", begun, 38)
    observe("output shape, T = 1", model.forward(one, budget=38).shape, (1, 2))
    # Let a bias be, and let it not be
    biased = two_layers(use_bias=True)
    z = MLP.build(biased).forward(x)
    more = count_operations(v for row in z for v in row) - 76
    observe("a bias adds parameters", biased.parameter_count - 20, 6)
    observe("a bias adds planned nodes", biased.plan_forward(2).nodes - 76, 12)
    observe("a bias adds nodes in the graph", more, 12)
    observe("without one there is", model.layers[0].bias, None)
    # Confuse the identities
    shared = Value(0.5)
    tied = Matrix([[shared, shared], [1.0, 2.0]])
    observe(
        "an alias",
        refusal(lambda: Linear(LinearPlan("fc1", 2, 2), tied)),
        "ParameterIdentityError: Linear: fc1.weight[0,1] must be an object of its own,"
        " got the one of fc1.weight[0,0]",
    )
    weight = model.layers[0].weight
    model.layers[0].weight = Matrix(weight.tolist())
    observe(
        "a replaced weight",
        refusal(lambda: model.forward(x)),
        "ParameterIdentityError: mlp.forward: mlp.fc1.weight[0,0] must be the Value of"
        " the seal, got another. Write numbers into the old Values; load_state does.",
    )
    model.layers[0].weight = weight
    observe("the old weight", model.forward(x).tolist() == y.tolist(), True)
    # Draw 4096 weights of each role
    low, high = chi_square_bounds(4096, 1e-6 / 2)
    for role, target in (("linear", 0.015625), ("relu", 0.03125)):
        layer = LinearPlan("fc", 64, 64, init=InitSpec(seed=7, role=role))
        variance = layer.init.deviation(64) ** 2
        observe(f"target variance, {role}", variance, target, ulps=4, form="g")
        ((rows, _),) = ModelPlan(role, (layer,)).draw_parameters()
        sample = fmean(w * w for row in rows for w in row)
        print(f"sample variance of 4096, {role} = {sample:.6f}")
        observe("within one in a million", low < sample / target < high, True)
    # Find the gradient of one output
    point = Matrix([[3.0, -4.0]])
    single = MLP.build(ModelPlan("one", (LinearPlan("fc", 2, 1),)))
    single.load_state({"one.fc.weight": [[2.0, 5.0]]})
    ((result,),) = single.forward(point)
    result.backward()
    observe("y", result.data, -14.0)
    observe("dy/dx", [value.grad for value in point[0]], [2.0, 5.0])
    observe("dy/dw", [value.grad for _, value in single.parameters()], [3.0, -4.0])
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
