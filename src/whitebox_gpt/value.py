"""A scalar that remembers how it was made."""

from __future__ import annotations

import math

from .errors import DomainError, KindError, ResourceBudgetError, brief, describe
from .real import real_power, require_real


class Value:
    """A finite real number and, if an operation made it, its operands.

    Fields: data   the number; an optimizer may overwrite it, so every later
                   boundary checks it again;
            label  a name for people, possibly empty;
            grad   from stage 02 on, how fast a result grows with this node.
    Errors: KindError if `data` or an operand is not a real number, or a subclass
            has an equality of its own;
            DomainError if a number or a result is not finite; from stage 03 on,
            also if a local derivative is not, and by the rules of `/` and `**`.
    Source: book/stage_01_value_graph.md
    """

    __slots__ = (
        *("data", "grad", "label", "_operation"),
        *("_left", "_right", "_left_slope", "_right_slope"),
    )
    __array_ufunc__ = None  # numpy, let Value's own operators answer

    data: float
    grad: float  # how fast a result grows with this node; `backward` finds it
    label: str
    _operation: str  # empty for a leaf
    _left: Value | None
    _right: Value | None
    _left_slope: float  # the local derivative toward the left operand
    _right_slope: float

    # Make a leaf from a number
    def __init__(self, data: float, label: str = "") -> None:
        if self.__class__ is not Value:
            _require_identity(self.__class__)
        self.data = require_real("Value", "data", data)
        self.grad = self._left_slope = self._right_slope = 0.0
        self._operation = ""
        self._left = self._right = None
        self.named(label)

    # Read how a node was made
    @property
    def parents(self) -> tuple[Value, ...]:
        """The operands themselves, not copies; empty for a leaf."""
        operands = (self._left, self._right)
        return tuple(node for node in operands if node is not None)

    @property
    def operation(self) -> str:
        """The sign or name of the operation; empty for a leaf."""
        return self._operation

    @property
    def local_derivatives(self) -> tuple[float, ...]:
        """The derivative toward each of `parents`, recorded with the node."""
        return (self._left_slope, self._right_slope)[: len(self.parents)]

    # Name a node and return it
    def named(self, label: str) -> Value:
        """Set the label and return the node itself.

        Errors: KindError if the label is not text.
        """
        if not isinstance(label, str):
            raise KindError("Value", "a label must be text", describe(label))
        self.label = label
        return self

    # Show a node
    def __repr__(self) -> str:
        label = brief(self.label)
        label = "" if label == "''" else f", {label}"
        made = f" from {self._operation!r}" if self._operation else ""
        return f"Value({brief(self.data)}{label}){made}"

    # Refuse a subclass with an equality of its own
    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _require_identity(cls)

    # Add and remember both operands
    def __add__(self, other: Value | float) -> Value:
        if other.__class__ is not Value:
            other = _operand("+", other)
        a, b = self.data, other.data
        if a.__class__ is not float or b.__class__ is not float:
            a, b = _finite_data("+", self), _finite_data("+", other)
        return _node("+", a + b, self, 1.0, other, 1.0)

    def __radd__(self, other: float) -> Value:
        return _operand("+", other) + self

    # Multiply and remember both operands
    def __mul__(self, other: Value | float) -> Value:
        if other.__class__ is not Value:
            other = _operand("*", other)
        a, b = self.data, other.data
        if a.__class__ is not float or b.__class__ is not float:
            a, b = _finite_data("*", self), _finite_data("*", other)
        return _node("*", a * b, self, b, other, a)

    def __rmul__(self, other: float) -> Value:
        return _operand("*", other) * self

    # Subtract, divide and negate
    def __neg__(self) -> Value:
        return _node("neg", -_finite_data("neg", self), self, -1.0)

    def __sub__(self, other: Value | float) -> Value:
        if other.__class__ is not Value:
            other = _operand("-", other)
        a, b = self.data, other.data
        if a.__class__ is not float or b.__class__ is not float:
            a, b = _finite_data("-", self), _finite_data("-", other)
        return _node("-", a - b, self, 1.0, other, -1.0)

    def __rsub__(self, other: float) -> Value:
        return _operand("-", other) - self

    def __truediv__(self, other: Value | float) -> Value:
        if other.__class__ is not Value:
            other = _operand("/", other)
        a, b = _finite_data("/", self), _finite_data("/", other)
        if b == 0.0:
            raise DomainError("/", "the divisor must not be 0", describe(b))
        ratio = a / b
        return _primitive("/", ratio, self, 1.0 / b, other, -ratio / b)

    def __rtruediv__(self, other: float) -> Value:
        return _operand("/", other) / self

    # Raise to a constant power
    def __pow__(self, exponent: float) -> Value:
        # Refuse an exponent that is a Value
        if isinstance(exponent, Value):
            rule = "the exponent must be a constant, since no gradient flows into it"
            mend = "For a positive base a and an exponent b write (a.log() * b).exp()."
            raise KindError("**", rule, describe(exponent), mend)
        x, n = _finite_data("**", self), require_real("**", "the exponent", exponent)
        # Refuse an exponent whose last digit is lost
        if n.is_integer() and not int(exponent) == n == exponent:
            rule = f"the exponent must not be rounded to the integer {n:.17g}"
            raise DomainError("**", rule, describe(exponent))
        if x < 0.0 and abs(n) >= 2.0**53:
            rule = "below 0 the exponent must lie between -2**53 and 2**53"
            raise DomainError("**", rule, describe(exponent))
        data = real_power(x, n)
        slope = n * real_power(x, n - 1.0, "in the derivative, ") if n else 0.0
        return _primitive(f"**{n:.17g}", data, self, slope)

    def __rpow__(self, base: float) -> Value:
        return _operand("**", base) ** self  # type: ignore[operator]

    # Apply exp, log and relu
    def exp(self) -> Value:
        """Return e to the power of this value.

        Errors: as for Value; DomainError if the result exceeds a float.
        """
        x = _finite_data("exp", self)
        try:
            data = math.exp(x)
        except OverflowError:
            rule = f"exp({x!r}) must not exceed the largest float"
            raise DomainError("exp", rule, "an overflow") from None
        return _primitive("exp", data, self, data)

    def log(self) -> Value:
        """Return the natural logarithm.

        Errors: as for Value; DomainError unless the value is above 0.
        """
        x = _finite_data("log", self)
        if not x > 0.0:
            raise DomainError("log", "the operand must be above 0", describe(x))
        return _primitive("log", math.log(x), self, 1.0 / x)

    def relu(self) -> Value:
        """Return max(value, 0); the local derivative at 0 is 0 by choice.

        Errors: as for Value.
        """
        x = _finite_data("relu", self)
        slope = 1.0 if x > 0.0 else 0.0
        return _primitive("relu", x if slope else 0.0, self, slope)

    # Carry the gradient back to every leaf
    def backward(self, limit: int = 1_000) -> None:
        """Add d self / d leaf to the `grad` of every leaf below `self`.

        The `grad` of an inner node is that of this pass alone. All or nothing:
        if the pass fails, every gradient is what it was. Gradients are shared
        state: one thread at a time may use a graph, or graphs with a common leaf.
        Cost:   O(V + E) time, O(V) memory.
        Errors: ResourceBudgetError if there are more than `limit` nodes;
                DomainError if a gradient is not finite or `limit` is below 1;
                KindError if `limit` is not an int, or the old gradient of a leaf
                not a real number.
        Source: book/stage_02_chain_rule.md
        """
        order = topological_order(self, limit)
        before = [node.grad for node in order]
        try:
            _accumulate(order)
            # Add the new gradients of the leaves to the old
            for node, grad in zip(order, before, strict=True):
                if node._left is None:
                    usual = grad.__class__ is float
                    node.grad += grad if usual else _old_gradient(node, grad)
                    _require_finite_gradient(node)
        except BaseException:
            # Put every gradient back
            for node, grad in zip(order, before, strict=True):
                node.grad = grad
            raise

    # Set every gradient back to zero
    def zero_grad(self, limit: int = 1_000) -> None:
        """Set `grad` to 0 here and in all that `self` was made from.

        Errors: ResourceBudgetError if there are more than `limit` nodes;
                KindError if `limit` is not an int, DomainError if it is below 1.
        Source: book/stage_02_chain_rule.md
        """
        for node in topological_order(self, limit):
            node.grad = 0.0


# Require that nodes are told apart by identity
def _require_identity(kind: type) -> None:
    for method in ("__eq__", "__hash__"):
        if getattr(kind, method) is not getattr(object, method):
            rule = f"a subclass must inherit {method}, since a node is a place"
            mend = "Compare numbers where they are meant: a.data == b.data."
            raise KindError("Value", rule, f"the class {kind.__name__}", mend)


# Turn an operand into a Value
def _operand(operation: str, operand: Value | float) -> Value:
    if isinstance(operand, Value):
        return operand
    return Value(require_real(operation, "an operand", operand))


# Read the data of an operand again
def _finite_data(operation: str, operand: Value) -> float:
    """Return an operand's data; anyone may have overwritten it since it was made."""
    data = operand.data
    if data.__class__ is float and data - data == 0.0:
        return data
    label = brief(operand.label)
    name = "an operand" if label == "''" else f"operand {label}"
    return require_real(operation, name, data)


# Make the node of an operation
def _node(
    operation: str,
    data: float,
    left: Value,
    left_slope: float,
    right: Value | None = None,
    right_slope: float = 0.0,
) -> Value:
    # Refuse a result that is not a finite float
    if data - data != 0.0:
        raise _bad_result(operation, data, left, right)
    node: Value = object.__new__(Value)
    node.data, node.grad, node.label = data, 0.0, ""
    node._operation, node._left, node._right = operation, left, right
    node._left_slope, node._right_slope = left_slope, right_slope
    return node


# Refuse an infinite local derivative
def _primitive(
    operation: str,
    data: float,
    left: Value,
    left_slope: float,
    right: Value | None = None,
    right_slope: float = 0.0,
) -> Value:
    if not math.isfinite(data):
        raise _bad_result(operation, data, left, right)
    for operand, slope in ((left, left_slope), (right, right_slope)):
        if not math.isfinite(slope):
            rule = f"the local derivative toward {operand!r} must be finite"
            raise DomainError(operation, rule, describe(slope))
    return _node(operation, data, left, left_slope, right, right_slope)


# Put the refusal of a result into words
def _bad_result(
    operation: str, data: float, left: Value, right: Value | None
) -> DomainError:
    operands = (left,) if right is None else (left, right)
    numbers = " and ".join(describe(operand.data) for operand in operands)
    rule = f"the result for {numbers} must be a finite float"
    return DomainError(operation, rule, describe(data))


# List every node after its operands
def topological_order(root: Value, limit: int = 1_000) -> list[Value]:
    """Return `root` and all it was made from, operands before consumers.

    Cost:   O(V + E) time, O(V) memory; no recursion, so any depth will do.
    Errors: ResourceBudgetError if there are more than `limit` nodes, leaves
            included; KindError if `root` is not a Value or `limit` not an
            int; DomainError if `limit` is below 1.
    Source: book/stage_01_value_graph.md
    """
    # Refuse a root or a limit of the wrong kind
    if not isinstance(root, Value):
        rule = "root must be a Value"
        raise KindError("topological_order", rule, describe(root))
    if type(limit) is not int:
        raise KindError("topological_order", "limit must be an int", describe(limit))
    if limit < 1:
        rule = "limit must be at least 1"
        raise DomainError("topological_order", rule, describe(limit))
    order: dict[Value, None] = {}
    path = [root]
    for _ in range(2 * limit - 1):
        # Go down to an unlisted operand, or list the node
        node = path[-1]
        left, right = node._left, node._right
        if left is not None and left not in order:
            path.append(left)
        elif right is not None and right not in order:
            path.append(right)
        else:
            order[path.pop()] = None
            if not path:
                return list(order)
    # Refuse a graph beyond the limit
    rule = f"the graph must have at most {limit} nodes, leaves included"
    mend = "Pass a larger limit if a graph of that size is meant."
    raise ResourceBudgetError("topological_order", rule, "more", mend)


# Sum the gradient of every path
def _accumulate(order: list[Value]) -> None:
    """Set each `grad` to the derivative of the last node toward it."""
    for node in order:
        node.grad = 0.0
    order[-1].grad = 1.0
    for node in reversed(order):
        grad = node.grad
        # Refuse a gradient that is not finite
        if grad - grad != 0.0:
            _require_finite_gradient(node)
        left, right = node._left, node._right
        if left is not None:
            left.grad += node._left_slope * grad
        if right is not None:
            right.grad += node._right_slope * grad


# Read the old gradient of a leaf
def _old_gradient(node: Value, grad: object) -> float:
    what = f"the old gradient of {node!r}"
    return require_real("backward", what, grad)


# Say which gradient is not finite
def _require_finite_gradient(node: Value) -> None:
    if not math.isfinite(node.grad):
        rule = f"the gradient of {node!r} must be finite"
        mend = "No gradient was changed."
        raise DomainError("backward", rule, describe(node.grad), mend)
