"""Plans of layers and models; all is checked and counted before a Value exists."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from .budget import (
    DEFAULT_BUDGET,
    linear_nodes,
    require_budget,
    require_count,
    require_kind,
    require_size,
)
from .errors import (
    DomainError,
    KindError,
    ParameterIdentityError,
    ShapeError,
    TextError,
    describe,
)
from .real import require_real

# Say how wide the weights of a role are drawn
VARIANCE = {"linear": 1.0, "relu": 2.0}  # divided by C_in
DISTRIBUTIONS = ("normal", "uniform")


@dataclass(frozen=True)
class InitSpec:
    """How the weights of a layer are drawn: a policy and a seed, no numbers yet.

    Fields: distribution  "normal" or "uniform", both of the same variance;
            gain          a factor of the standard deviation, above 0;
            seed          an int of at most 128 bits;
            role          "relu" for a variance of 2 / C_in, if a ReLU follows the
                          layer, or "linear" for 1 / C_in.
    Errors: KindError or DomainError, naming the field.
    Source: book/stage_07_linear_mlp.md; LeCun and others (1998);
            He and others (2015)
    """

    distribution: str = "normal"
    gain: float = 1.0
    seed: int = 0
    role: str = "linear"

    # Refuse a policy that cannot be followed
    def __post_init__(self) -> None:
        _require_choice("distribution", self.distribution, DISTRIBUTIONS)
        _require_choice("role", self.role, VARIANCE)
        gain = require_real("InitSpec", "gain", self.gain)
        if gain <= 0.0:
            raise DomainError("InitSpec", "gain must be above 0", describe(gain))
        object.__setattr__(self, "gain", gain)
        if type(self.seed) is not int:
            raise KindError("InitSpec", "seed must be an int", describe(self.seed))
        if self.seed.bit_length() > 128:
            rule = "seed must have at most 128 bits"
            raise DomainError("InitSpec", rule, describe(self.seed))

    def deviation(self, c_in: int) -> float:
        """Return the standard deviation of weights that see `c_in` features.

        Errors: KindError or ShapeError if `c_in` is no count from 1 to 2**53;
                DomainError for a deviation below 2**-900 or above 2**900.
        """
        require_count("deviation", c_in=c_in)
        deviation = self.gain * math.sqrt(VARIANCE[self.role] / c_in)
        # Refuse a deviation that no weight should have
        if not 2.0**-900 <= deviation <= 2.0**900:
            rule = "the deviation of the weights must be from 2**-900 to 2**900"
            mend = "Choose a gain nearer to 1."
            raise DomainError("deviation", rule, describe(deviation), mend)
        return deviation


def _require_choice(field: str, given: object, choices: Collection[str]) -> None:
    rule = f"{field} must be one of {', '.join(choices)}"
    if not isinstance(given, str):
        raise KindError("InitSpec", rule, describe(given))
    if given not in choices:
        raise DomainError("InitSpec", rule, describe(given))


# Refuse a wrong name or size
def _require_name(where: str, given: object) -> None:
    rule = "name must be an ASCII identifier, such as fc1"
    if type(given) is not str:
        raise KindError(where, rule, describe(given))
    if not (given.isascii() and given.isidentifier()):
        raise DomainError(where, rule, describe(given))


def _require_unique(names: list[str]) -> None:
    known: set[str] = set()
    for name in names:
        if name in known:
            rule = "each layer must have a name of its own"
            raise ParameterIdentityError("ModelPlan", rule, f"{name!r} twice")
        known.add(name)


# Cut two uniform numbers from a digest
def _two_uniforms(key: str) -> tuple[float, float]:
    """Return two floats strictly between 0 and 1, made from the bits of a digest."""
    digest = sha256(key.encode()).digest()
    first, second = (int.from_bytes(digest[at : at + 8]) for at in (0, 8))
    return ((first >> 12) + 0.5) / 2**52, ((second >> 12) + 0.5) / 2**52


# Draw a weight from its seed and its name alone
def draw_weight(init: InitSpec, c_in: int, name: str) -> float:
    """Return the raw weight that belongs to a seed and a logical name.

    No state is kept: neither the order of drawing nor other parameters matter.
    Errors: KindError if `init` is not an InitSpec, or `name` not text;
            TextError if it holds half of a surrogate pair;
            those of `InitSpec.deviation`.
    Source: book/stage_07_linear_mlp.md
    """
    require_kind("draw_weight", InitSpec, init=init)
    require_kind("draw_weight", str, name=name)
    # Refuse a name that has no bytes
    if any("\ud800" <= character <= "\udfff" for character in name):
        rule = "name must not hold half of a surrogate pair"
        raise TextError("draw_weight", rule, describe(name))
    u, v = _two_uniforms(f"{init.seed:x}:{name}")
    if init.distribution == "normal":
        standard = math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)
    else:
        standard = math.sqrt(3.0) * (2.0 * u - 1.0)
    return init.deviation(c_in) * standard


# Plan a linear layer
@dataclass(frozen=True)
class LinearPlan:
    """A linear layer before it exists: its shapes, its policy and its cost.

    Shape:  weight (C_out, C_in); bias (C_out,), or none at all.
    Errors: KindError, DomainError or ShapeError, naming the field.
    Source: book/stage_07_linear_mlp.md
    """

    name: str
    in_features: int
    out_features: int
    use_bias: bool = False
    init: InitSpec = InitSpec()

    # Refuse a layer that cannot be made
    def __post_init__(self) -> None:
        _require_name("LinearPlan", self.name)
        widths = {"in_features": self.in_features, "out_features": self.out_features}
        require_count("LinearPlan", **widths)
        require_kind("LinearPlan", bool, use_bias=self.use_bias)
        require_kind("LinearPlan", InitSpec, init=self.init)
        self.init.deviation(self.in_features)  # refuses what cannot be drawn

    # Read what a layer will be
    @property
    def weight_shape(self) -> tuple[int, int]:
        """A row for each feature out, a column for each feature in."""
        return self.out_features, self.in_features

    @property
    def bias_shape(self) -> tuple[int] | None:
        """A number for each feature out; None if the layer has no bias."""
        return (self.out_features,) if self.use_bias else None

    @property
    def parameter_count(self) -> int:
        """The number of weights, and of biases if there are any."""
        return self.out_features * (self.in_features + self.use_bias)

    def node_count(self, positions: int) -> int:
        """Return the operation nodes of the layer at so many positions.

        Errors: KindError if `positions` is not an int;
                ShapeError if it is not from 1 to 2**53.
        """
        require_count(f"{self.name}.node_count", positions=positions)
        c_in, c_out = self.in_features, self.out_features
        return linear_nodes(positions, c_in, c_out, self.use_bias)


# Name each parameter
def weight_name(layer: str, o: int, i: int) -> str:
    """Return the logical name of a weight, as in mlp.fc1.weight[2,1].

    Source: book/stage_07_linear_mlp.md
    """
    return f"{layer}.weight[{o},{i}]"


def bias_name(layer: str, o: int) -> str:
    """Return the logical name of a bias, as in mlp.fc1.bias[2].

    Source: book/stage_07_linear_mlp.md
    """
    return f"{layer}.bias[{o}]"


# Say what an initializer is, and what it fills
Initializer = Callable[[InitSpec, int, str], float]  # policy, C_in, logical name


class RawLayer(NamedTuple):
    """The numbers of a layer before they become Values.

    Shape:  weight (C_out, C_in); bias (C_out,), or None.
    Source: book/stage_07_linear_mlp.md
    """

    weight: list[list[float]]
    bias: list[float] | None


# Accept only a finite float from an initializer
def _drawn(initializer: Initializer, layer: LinearPlan, name: str) -> float:
    raw = initializer(layer.init, layer.in_features, name)
    if type(raw) is not float:
        rule = f"the initializer must return a float for {name}"
        raise KindError("draw_parameters", rule, describe(raw))
    if not math.isfinite(raw):
        rule = f"the initializer must return a finite float for {name}"
        raise DomainError("draw_parameters", rule, describe(raw))
    return raw


# List the steps of a forward pass
@dataclass(frozen=True)
class Step:
    """One step of a pass: what it makes, and what that costs.

    Shape:  (T, C).
    Errors: KindError if a field is of the wrong kind;
            ShapeError if `shape` is not two counts, or `nodes` is below 1.
    Source: book/stage_07_linear_mlp.md
    """

    name: str
    shape: tuple[int, int]
    nodes: int

    # Refuse a step that makes nothing
    def __post_init__(self) -> None:
        require_kind("Step", str, name=self.name)
        require_kind("Step", tuple, shape=self.shape)
        require_size("Step", "shape must have the length of (T, C)", 2, len(self.shape))
        require_count("Step", positions=self.shape[0], features=self.shape[1])
        if type(self.nodes) is not int:
            raise KindError("Step", "nodes must be an int", describe(self.nodes))
        if self.nodes < 1:
            raise ShapeError("Step", "nodes must be at least 1", describe(self.nodes))


@dataclass(frozen=True)
class ModelForwardPlan:
    """What a pass will make, settled before its first multiplication.

    Errors: KindError if `steps` is not a tuple of Steps; ShapeError if it is empty.
    Source: book/stage_07_linear_mlp.md
    """

    steps: tuple[Step, ...]

    # Refuse a pass without a step
    def __post_init__(self) -> None:
        require_kind("ModelForwardPlan", tuple, steps=self.steps)
        if not self.steps:
            rule = "there must be at least one step"
            raise ShapeError("ModelForwardPlan", rule, "none")
        for place, step in enumerate(self.steps):
            require_kind("ModelForwardPlan", Step, **{f"step {place}": step})

    @property
    def nodes(self) -> int:
        """The operation nodes of all steps."""
        return sum(step.nodes for step in self.steps)

    @property
    def output_shape(self) -> tuple[int, int]:
        """The shape that the last step makes."""
        return self.steps[-1].shape


# Plan a whole model
@dataclass(frozen=True)
class ModelPlan:
    """Linear layers with a ReLU between each two, before any of them exists.

    Errors: KindError, DomainError or ShapeError for a name or a width;
            ParameterIdentityError if two layers have one name;
            ResourceBudgetError if there are more parameters than the budget covers.
    Cost:   O(L) for L layers, of any size.
    Source: book/stage_07_linear_mlp.md
    """

    name: str
    layers: tuple[LinearPlan, ...]
    parameter_budget: int = DEFAULT_BUDGET

    # Refuse a model that does not fit together
    def __post_init__(self) -> None:
        _require_name("ModelPlan", self.name)
        require_kind("ModelPlan", tuple, layers=self.layers)
        if not self.layers:
            raise ShapeError("ModelPlan", "there must be at least one layer", "none")
        for place, layer in enumerate(self.layers):
            require_kind("ModelPlan", LinearPlan, **{f"layer {place}": layer})
        _require_unique([layer.name for layer in self.layers])
        for before, after in pairwise(self.layers):
            rule = f"in_features of {after.name} must be out_features of {before.name}"
            require_size("ModelPlan", rule, before.out_features, after.in_features)
        count, unit = self.parameter_count, "parameters"
        require_budget("ModelPlan", count, self.parameter_budget, unit)

    @property
    def parameter_count(self) -> int:
        """The number of parameters of all layers."""
        return sum(layer.parameter_count for layer in self.layers)

    # Draw and check every raw number
    def draw_parameters(
        self, initializer: Initializer = draw_weight
    ) -> tuple[RawLayer, ...]:
        """Return all raw numbers of the model, each checked; no Value is made.

        Errors: KindError or DomainError if the initializer is no function, or gives
                anything but a finite float; what it raises itself is passed on.
        """
        if not callable(initializer):
            rule = "the initializer must be a function of policy, C_in and name"
            raise KindError("draw_parameters", rule, describe(initializer))
        return tuple(self._draw_layer(layer, initializer) for layer in self.layers)

    def _draw_layer(self, layer: LinearPlan, initializer: Initializer) -> RawLayer:
        name, (c_out, c_in) = f"{self.name}.{layer.name}", layer.weight_shape
        weight = [
            [_drawn(initializer, layer, weight_name(name, o, i)) for i in range(c_in)]
            for o in range(c_out)
        ]
        return RawLayer(weight, [0.0] * c_out if layer.use_bias else None)

    # Plan a pass to its end
    def plan_forward(
        self, positions: int, *, budget: int = DEFAULT_BUDGET
    ) -> ModelForwardPlan:
        """Return every shape and the exact cost of a pass; nothing is run.

        Shape:  (T, C_in) -> (T, C_out) for T = `positions`.
        Errors: KindError or ShapeError if T is not a positive int;
                ResourceBudgetError if `budget` does not cover the pass to its end.
        """
        where = f"{self.name}.plan_forward"
        require_count(where, positions=positions)
        steps: list[Step] = []
        for layer in self.layers:
            if steps:
                name, shape = steps[-1].name, steps[-1].shape
                steps.append(Step(f"{name}.relu", shape, shape[0] * shape[1]))
            shape = positions, layer.out_features
            steps.append(Step(layer.name, shape, layer.node_count(positions)))
        plan = ModelForwardPlan(tuple(steps))
        require_budget(where, plan.nodes, budget)
        return plan
