"""Linear layers, and a sealed model of them with a ReLU between each two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .budget import (
    DEFAULT_BUDGET,
    linear_nodes,
    require_budget,
    require_kind,
    require_size,
)
from .errors import (
    DomainError,
    ParameterIdentityError,
    ShapeError,
    StateMismatchError,
    brief,
    describe,
)
from .linalg import Matrix, Vector, add, matmul, relu, require_finite
from .parameters import (
    ParameterRef,
    State,
    read_numbers,
    require_own_leaves,
    require_same,
)
from .plan import (
    Initializer,
    LinearPlan,
    ModelPlan,
    bias_name,
    draw_weight,
    weight_name,
)


# Apply weights and bias at every position
def linear(
    x: Matrix,
    weight: Matrix,
    bias: Vector | None = None,
    *,
    budget: int = DEFAULT_BUDGET,
) -> Matrix:
    """Return y[t][o] = sum over i of x[t][i] * weight[o][i], plus bias[o] if any.

    Shape:  (T, C_in), (C_out, C_in), (C_out,) or None -> (T, C_out).
    Cost:   T C_out (2 C_in - 1) operation nodes, and T C_out more with a bias.
    Errors: KindError, ShapeError, DomainError or ResourceBudgetError, in this
            order, before the first node; DomainError if an operation overflows.
    Source: book/stage_07_linear_mlp.md
    """
    positions, c_in, c_out = _require_fit(x, weight, bias)
    nodes = linear_nodes(positions, c_in, c_out, bias is not None)
    require_budget("linear", nodes, budget)
    y = matmul(x, weight.transpose(), budget=nodes)
    if bias is None:
        return y
    return Matrix(add(row, bias, budget=nodes) for row in y)


def _require_fit(
    x: Matrix, weight: Matrix, bias: Vector | None
) -> tuple[int, int, int]:
    require_kind("linear", Matrix, x=x, weight=weight)
    if bias is not None:
        require_kind("linear", Vector, bias=bias)
    (positions, c_in), (c_out, width) = x.shape, weight.shape
    rule = "weight must have one column for each feature of x, C_in"
    require_size("linear", rule, c_in, width)
    if bias is not None:
        rule = "bias must have one item for each row of weight, C_out"
        require_size("linear", rule, c_out, len(bias))
        require_finite("linear", bias=bias)
    require_finite("linear", x=x, weight=weight)
    return positions, c_in, c_out


# List what the storage of a layer holds
def _references(layer: Linear, name: str) -> Iterator[ParameterRef]:
    """List weights row by row, then biases, as they are at this moment."""
    for part in ("weight", "bias"):
        if not hasattr(layer, part):
            rule = f"the attribute {part} must be there"
            raise ParameterIdentityError(name, rule, "none")
    require_kind(name, Matrix, weight=layer.weight)
    for o, row in enumerate(layer.weight):
        for i, value in enumerate(row):
            yield ParameterRef(weight_name(name, o, i), value)
    if layer.bias is not None:
        require_kind(name, Vector, bias=layer.bias)
        for o, value in enumerate(layer.bias):
            yield ParameterRef(bias_name(name, o), value)


# Hold the storage of a layer
class Linear:
    """The parameters of one layer. Anyone may replace `weight` and `bias`.

    Fields: plan    what the layer was made from;
            weight  a row for each feature out;
            bias    a number for each feature out, or None.
    Shape:  weight (C_out, C_in); bias (C_out,), or None.
    Errors: KindError or ShapeError if the storage is not as planned;
            ParameterIdentityError if a Value is shared, or is no leaf.
    Source: book/stage_07_linear_mlp.md
    """

    __slots__ = ("plan", "weight", "bias")

    plan: LinearPlan
    weight: Matrix
    bias: Vector | None

    def __init__(
        self, plan: LinearPlan, weight: Matrix, bias: Vector | None = None
    ) -> None:
        self.plan, self.weight, self.bias = plan, weight, bias
        references = self.parameters()
        _require_planned_shapes("Linear", plan, self)
        require_own_leaves("Linear", references)

    def parameters(self) -> tuple[ParameterRef, ...]:
        """Return every parameter as the storage holds it at this moment.

        Errors: KindError if the plan or a tensor is of the wrong kind;
                ParameterIdentityError if a tensor is missing.
        """
        require_kind("Linear", LinearPlan, plan=getattr(self, "plan", None))
        return tuple(_references(self, self.plan.name))


def _require_planned_shapes(where: str, plan: LinearPlan, layer: Linear) -> None:
    bias_shape = None if layer.bias is None else layer.bias.shape
    for part, planned, got in (
        ("weight", plan.weight_shape, layer.weight.shape),
        ("bias", plan.bias_shape, bias_shape),
    ):
        if got != planned:
            rule = f"{plan.name}.{part} must have the planned shape {planned}"
            raise ShapeError(where, rule, str(got))


def _require_plan(where: str, plan: LinearPlan, layer: Linear) -> None:
    found: object = getattr(layer, "plan", None)
    is_plan = isinstance(found, LinearPlan)
    if not is_plan or found != plan:
        rule = f"the next layer must be made from {plan}"
        got = str(found) if is_plan else describe(found)
        raise ParameterIdentityError(where, rule, got)


# Seal a whole model
@dataclass(frozen=True, eq=False, repr=False)
class MLP:
    """Linear layers with a ReLU between each two, sealed when it is made.

    Errors: KindError or ShapeError if a layer is missing or of the wrong kind;
            ParameterIdentityError if one is not as planned, or a Value is shared;
            DomainError if a parameter is not finite.
    Source: book/stage_07_linear_mlp.md
    """

    plan: ModelPlan
    layers: tuple[Linear, ...]
    _seal: tuple[ParameterRef, ...] = field(init=False)

    # Take the layers that the plan names, and seal them
    def __post_init__(self) -> None:
        require_kind("MLP", ModelPlan, plan=self.plan)
        require_kind("MLP", tuple, layers=self.layers)
        rule = "there must be one layer for each planned one, L"
        require_size("MLP", rule, len(self.plan.layers), len(self.layers))
        for plan, layer in zip(self.plan.layers, self.layers, strict=True):
            require_kind("MLP", Linear, **{plan.name: layer})
            _require_plan("MLP", plan, layer)
        object.__setattr__(self, "_seal", self.parameters())
        require_own_leaves("MLP", self._seal)
        self.require_seal("MLP")

    # Build a model from its plan
    @classmethod
    def build(cls, plan: ModelPlan, initializer: Initializer = draw_weight) -> MLP:
        """Draw all numbers, then make all Values, then seal.

        Errors: KindError if `plan` is not a ModelPlan; as for
                `ModelPlan.draw_parameters`; in both cases no Value has been made.
        """
        require_kind("MLP.build", ModelPlan, plan=plan)
        raw = plan.draw_parameters(initializer)
        layers = [
            Linear(layer, Matrix(weight), None if bias is None else Vector(bias))
            for layer, (weight, bias) in zip(plan.layers, raw, strict=True)
        ]
        return cls(plan, tuple(layers))

    # List the parameters of the model
    def parameters(self) -> tuple[ParameterRef, ...]:
        """Return every parameter as the storage holds it at this moment.

        Errors: those of `Linear.parameters`.
        """
        named = self._named_layers()
        return tuple(ref for name, layer in named for ref in _references(layer, name))

    def _named_layers(self) -> Iterator[tuple[str, Linear]]:
        for plan, layer in zip(self.plan.layers, self.layers, strict=True):
            yield f"{self.plan.name}.{plan.name}", layer

    # Require the seal
    def require_seal(self, where: str = "require_seal") -> None:
        """Return if the storage is the sealed one and all its data are finite.

        Errors: ParameterIdentityError for another name, object, order or plan;
                KindError for a tensor of another kind;
                ShapeError for an empty bias;
                DomainError for data that are no longer a finite float.
        """
        self._require_storage(where)
        for name, value in self._seal:
            if type(value.data) is not float or not math.isfinite(value.data):
                rule = f"{name} must hold a finite float"
                raise DomainError(where, rule, describe(value.data))

    def _require_storage(self, where: str) -> None:
        require_same(where, self._seal, self.parameters())
        for plan, layer in zip(self.plan.layers, self.layers, strict=True):
            _require_plan(where, plan, layer)
            _require_planned_shapes(where, plan, layer)

    # Go forward, checked before and after
    def forward(self, x: Matrix, *, budget: int = DEFAULT_BUDGET) -> Matrix:
        """Return the output for each position, and change no parameter.

        Shape:  (T, C_in) -> (T, C_out).
        Cost:   that of `plan.plan_forward(T)`, to the node.
        Errors: KindError, ShapeError, DomainError, ParameterIdentityError or
                ResourceBudgetError before the first node; DomainError if an
                operation overflows; ShapeError or ParameterIdentityError after the
                last node if the pass did not do what was planned.
        """
        where = f"{self.plan.name}.forward"
        # Check the input, the seal and the whole price
        require_kind(where, Matrix, x=x)
        positions, width = x.shape
        rule = "x must have one column for each feature, C_in"
        require_size(where, rule, self.plan.layers[0].in_features, width)
        require_finite(where, x=x)
        self.require_seal(where)
        plan = self.plan.plan_forward(positions, budget=budget)
        before = [(value.data, value.grad) for _, value in self._seal]
        y = self._run(x, plan.nodes)
        # Check the output, and that no parameter moved
        if y.shape != plan.output_shape:
            rule = f"the output must have the planned shape {plan.output_shape}"
            raise ShapeError(where, rule, str(y.shape))
        require_same(where, self._seal, self.parameters())
        for (name, value), (data, grad) in zip(self._seal, before, strict=True):
            if value.data is not data or value.grad is not grad:
                kept = f"data {brief(data)} and gradient {brief(grad)}"
                rule = f"{name} must keep its {kept}"
                got = f"{brief(value.data)} and {brief(value.grad)}"
                raise ParameterIdentityError(where, rule, got)
        return y

    def _run(self, x: Matrix, budget: int) -> Matrix:
        first, *others = self.layers
        y = linear(x, first.weight, first.bias, budget=budget)
        for layer in others:
            hidden = Matrix(relu(row, budget=budget) for row in y)
            y = linear(hidden, layer.weight, layer.bias, budget=budget)
        return y

    # Give and take all numbers by name
    def state(self) -> State:
        """Return all numbers as plain nested lists by name, such as mlp.fc1.weight.

        Shape:  (C_out, C_in) for each weight, (C_out,) for each bias.
        Errors: those of `require_seal`.
        """
        self.require_seal(f"{self.plan.name}.state")
        return {name: tensor.tolist() for name, tensor in self._tensors()}

    def load_state(self, state: Mapping[str, object]) -> None:
        """Write all numbers into the Values that are there; gradients stay.

        All or nothing, even if the writing is interrupted.
        Errors: those of `require_seal`, but none for data that it replaces;
                KindError if `state` is not a mapping; StateMismatchError, naming
                every name, shape and number that does not fit.
        """
        where = f"{self.plan.name}.load_state"
        require_kind(where, Mapping, state=state)
        self._require_storage(where)
        # Read every tensor, and collect what does not fit
        tensors = dict(self._tensors())
        wrong: list[str] = []
        numbers: list[float] = []
        for name, tensor in tensors.items():
            if name in state:
                numbers += read_numbers(name, tensor, state[name], wrong)
            else:
                wrong.append(f"{name} is missing")
        unknown = (name for name in state if name not in tensors)
        wrong += (f"{describe(name)} is no tensor of this model" for name in unknown)
        if wrong:
            rule, got = "every name, shape and number must fit", "; ".join(wrong)
            raise StateMismatchError(where, rule, f"{len(wrong)} that do not: {got}")
        # Write every number, or put all of them back
        before = [value.data for _, value in self._seal]
        try:
            for (_, value), number in zip(self._seal, numbers, strict=True):
                value.data = number
        except BaseException:
            for (_, value), data in zip(self._seal, before, strict=True):
                value.data = data
            raise

    def _tensors(self) -> Iterator[tuple[str, Matrix | Vector]]:
        for name, layer in self._named_layers():
            yield f"{name}.weight", layer.weight
            if layer.bias is not None:
                yield f"{name}.bias", layer.bias
