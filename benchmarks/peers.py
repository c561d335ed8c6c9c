"""Two scalars that check nothing, written as such scalars usually are.

Both keep operands and local derivatives in tuples. They differ in how they sort the
graph: one recursively, as in most published versions, one with a stack of its own.
"""

from __future__ import annotations


class Recursive:
    """The usual unchecked scalar, with a recursive sort."""

    __slots__ = ("data", "grad", "parents", "slopes")

    def __init__(
        self,
        data: float,
        parents: tuple[Recursive, ...] = (),
        slopes: tuple[float, ...] = (),
    ) -> None:
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other: Recursive | float) -> Recursive:
        other = other if isinstance(other, Recursive) else type(self)(other)
        return type(self)(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: Recursive | float) -> Recursive:
        other = other if isinstance(other, Recursive) else type(self)(other)
        slopes = (other.data, self.data)
        return type(self)(self.data * other.data, (self, other), slopes)

    def order(self) -> list[Recursive]:
        order: list[Recursive] = []
        seen = set()

        def visit(node: Recursive) -> None:
            if node not in seen:
                seen.add(node)
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        return order

    def backward(self) -> None:
        self.grad = 1.0
        for node in reversed(self.order()):
            for parent, slope in zip(node.parents, node.slopes, strict=False):
                parent.grad += slope * node.grad


class Iterative(Recursive):
    """The same scalar, with the sort that `whitebox_gpt.Value` uses."""

    __slots__ = ()

    def order(self) -> list[Recursive]:
        order: dict[Recursive, None] = {}
        path: list[Recursive] = [self]
        while path:
            node = path[-1]
            for parent in node.parents:
                if parent not in order:
                    path.append(parent)
                    break
            else:
                order[path.pop()] = None
        return list(order)
