"""Vectors and matrices of Values; sizes and cost are settled beforehand."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, NoReturn, SupportsIndex, overload

from .budget import (
    DEFAULT_BUDGET,
    dot_nodes,
    matmul_nodes,
    matvec_nodes,
    require_budget,
    require_kind,
    require_size,
)
from .errors import DomainError, KindError, RangeError, ShapeError, describe
from .inputs import iterate, require_index
from .real import require_real
from .value import Value

Element = Value | float  # what a vector or a matrix is made from
Pair = tuple[SupportsIndex, SupportsIndex]  # a row and a column

_BRIEF = reprlib.Repr()
_BRIEF.maxlist = 4  # numbers of a row, and rows, that a repr shows


# Let no operator guess what was meant
class _NoOperators:
    __array_ufunc__ = None  # numpy, let the refusals below answer


def _refuse(sign: str, mend: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *others: object) -> NoReturn:
        rule = "each operand must be a Value or a number"
        raise KindError(sign, rule, f"a {type(self).__name__}", mend)

    return refuse


_EACH = "Work on one Value after another, as in Vector(x**2 for x in a)."
for _sign, _methods, _mend in (
    ("+", "add radd pos", "Write add(a, b)."),
    ("-", "sub rsub neg", "Write add(a, scale(b, -1.0)) or scale(a, -1.0)."),
    ("*", "mul rmul", "Write multiply or scale."),
    ("@", "matmul rmatmul", "Write dot, matvec or matmul."),
    ("/", "truediv rtruediv", "For a number b write scale(a, 1.0 / b)."),
    ("**", "pow rpow", _EACH),
    ("//", "floordiv rfloordiv", _EACH),
    ("%", "mod rmod", _EACH),
    ("divmod", "divmod rdivmod", _EACH),
    ("abs", "abs", _EACH),
):
    for _method in _methods.split():
        setattr(_NoOperators, f"__{_method}__", _refuse(_sign, _mend))


# Check every element before the first leaf is made
def _require_elements(
    where: str, what: str, place: str, elements: Iterable[Element]
) -> list[Element]:
    checked: list[Element] = []
    for i, element in enumerate(_in_order(where, what, elements)):
        if not isinstance(element, Value):
            element = require_real(where, place.format(i), element)
        elif not _holds_finite_float(element):
            rule = f"{place.format(i)} must hold a finite float"
            raise DomainError(where, rule, describe(element.data))
        checked.append(element)
    return checked


def _holds_finite_float(value: Value) -> bool:
    data = value.data
    return data.__class__ is float and data - data == 0.0


def _as_value(element: Element) -> Value:
    return element if isinstance(element, Value) else Value(element)


def _in_order(where: str, what: str, things: Iterable[Any]) -> Iterator[Any]:
    rule = f"{what} must be Values or numbers in a fixed order"
    return iterate(where, rule, things, (str, bytes, bytearray, Mapping, Set))


# Refuse an index beyond either end
def _require_index(where: str, index: SupportsIndex, length: int) -> int:
    place = require_index(where, "an index", index)
    if not -length <= place < length:
        rule = f"an index must be at least {-length} and below {length}"
        raise RangeError(where, rule, describe(index))
    return place


# Hold Values in a row
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Vector(_NoOperators):
    """Values in a fixed order. The structure never changes; their data may.

    Shape:  (n,); n may be 0.
    Errors: KindError if an item is neither a Value nor a real number;
            DomainError if one is not finite; both before a leaf is made;
            KindError for every operator, such as `+`;
            RangeError for an index beyond either end.
    Source: book/stage_05_vectors_matrices.md
    """

    items: tuple[Value, ...]

    # Keep Values as they are, and make leaves of numbers
    def __init__(self, items: Iterable[Element]) -> None:
        elements = _require_elements("Vector", "the items", "item {}", items)
        object.__setattr__(self, "items", tuple(map(_as_value, elements)))

    # Read a vector
    @property
    def shape(self) -> tuple[int]:
        """The length, as a tuple of one number."""
        return (len(self.items),)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __getitem__(self, index: SupportsIndex) -> Value:
        return self.items[_require_index("Vector", index, len(self.items))]

    def tolist(self) -> list[float]:
        """Return the numbers as they are now."""
        return [item.data for item in self.items]

    def __repr__(self) -> str:
        return f"Vector({_BRIEF.repr(self.tolist())})"


# Hold rows of one length
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Matrix(_NoOperators):
    """Rows of one length. The structure never changes; the data may.

    Shape:  (m, n), both at least 1.
    Errors: as for Vector; ShapeError if there is no row, no column, or a
            row of another length; all before a leaf is made.
    Source: book/stage_05_vectors_matrices.md
    """

    rows: tuple[Vector, ...]

    # Take rows only if they form a rectangle
    def __init__(self, rows: Iterable[Iterable[Element]]) -> None:
        several = _in_order("Matrix", "the rows", rows)
        listed = [
            _require_elements("Matrix", f"row {i}", f"row {i}, column {{}}", row)
            for i, row in enumerate(several)
        ]
        _require_rectangle([len(row) for row in listed])
        object.__setattr__(self, "rows", tuple(map(Vector, listed)))

    # Read a matrix
    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of columns."""
        return len(self.rows), len(self.rows[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Vector]:
        return iter(self.rows)

    def tolist(self) -> list[list[float]]:
        """Return the numbers as they are now, row by row."""
        return [row.tolist() for row in self.rows]

    def __repr__(self) -> str:
        return f"Matrix({_BRIEF.repr(self.tolist())})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> Vector: ...

    @overload
    def __getitem__(self, index: Pair) -> Value: ...

    def __getitem__(self, index: SupportsIndex | Pair) -> Vector | Value:
        if isinstance(index, tuple) and len(index) == 2:
            return self[index[0]][index[1]]
        return self.rows[_require_index("Matrix", index, len(self.rows))]

    # Turn rows into columns
    def transpose(self) -> Matrix:
        """Return the matrix whose rows are these columns, of the same Values.

        Shape:  (m, n) -> (n, m).
        Cost:   no node.
        Errors: DomainError if the data of a Value is no longer finite.
        """
        require_finite("transpose", rows=self)
        return Matrix(zip(*self.rows, strict=True))


def _require_rectangle(widths: list[int]) -> None:
    if not widths or widths[0] == 0:
        rule = "there must be at least one row and one column"
        got = "an empty row 0" if widths else "no row"
        raise ShapeError("Matrix", rule, got)
    for i, width in enumerate(widths):
        rule = f"row {i} must have the length of row 0, n"
        require_size("Matrix", rule, widths[0], width)


# Refuse data that is no longer finite
def require_finite(where: str, **operands: Vector | Matrix) -> None:
    """Return if all data of the operands are finite floats.

    Shape:  vectors (n,) and matrices (m, n), of any sizes.
    Errors: DomainError, with the place, if a number is not.
    Source: book/stage_05_vectors_matrices.md
    """
    for name, operand in operands.items():
        parts: Iterable[Value | Vector] = operand
        for i, part in enumerate(parts):
            if isinstance(part, Vector):
                require_finite(where, **{f"{name}[{i}]": part})
            elif not _holds_finite_float(part):
                rule = f"{name}[{i}] must hold a finite float"
                raise DomainError(where, rule, describe(part.data))


# Refuse two vectors of different lengths
def _require_pair(where: str, a: Vector, b: Vector) -> None:
    require_kind(where, Vector, a=a, b=b)
    require_size(where, "b must have the length of a, n", len(a), len(b))
    require_finite(where, a=a, b=b)


# Multiply in pairs, then sum from left to right
def _dot(a: Iterable[Value], b: Iterable[Value]) -> Value:
    products = [x * y for x, y in zip(a, b, strict=True)]
    total = products[0]
    for product in products[1:]:
        total = total + product
    return total


# Multiply vectors and matrices
def dot(a: Vector, b: Vector, *, budget: int = DEFAULT_BUDGET) -> Value:
    """Return the sum of a[j] * b[j], from left to right, from the first on.

    Shape:  (n,), (n,) -> one Value; n at least 1.
    Cost:   2n - 1 operation nodes.
    Errors: KindError, ShapeError, DomainError, ResourceBudgetError, in this
            order, before the first node; DomainError if a result overflows.
    Source: book/stage_05_vectors_matrices.md
    """
    _require_pair("dot", a, b)
    if len(a) == 0:
        raise ShapeError("dot", "a and b must have length n >= 1", "0")
    require_budget("dot", dot_nodes(len(a)), budget)
    return _dot(a, b)


def matvec(w: Matrix, x: Vector, *, budget: int = DEFAULT_BUDGET) -> Vector:
    """Return the dot product of each row of `w` with `x`.

    Shape:  (m, n), (n,) -> (m,).
    Cost:   m(2n - 1) operation nodes.
    Errors: as for dot.
    Source: book/stage_05_vectors_matrices.md
    """
    require_kind("matvec", Matrix, w=w)
    require_kind("matvec", Vector, x=x)
    m, n = w.shape
    rule = "x must have one item for each column of w, n"
    require_size("matvec", rule, n, len(x))
    require_finite("matvec", w=w, x=x)
    require_budget("matvec", matvec_nodes(m, n), budget)
    return Vector(_dot(row, x) for row in w)


def matmul(a: Matrix, b: Matrix, *, budget: int = DEFAULT_BUDGET) -> Matrix:
    """Return the dot product of each row of `a` with each column of `b`.

    Shape:  (m, n), (n, p) -> (m, p).
    Cost:   mp(2n - 1) operation nodes.
    Errors: as for dot.
    Source: book/stage_05_vectors_matrices.md
    """
    require_kind("matmul", Matrix, a=a, b=b)
    (m, n), (rows, p) = a.shape, b.shape
    rule = "b must have one row for each column of a, n"
    require_size("matmul", rule, n, rows)
    require_finite("matmul", a=a, b=b)
    require_budget("matmul", matmul_nodes(m, n, p), budget)
    columns = list(zip(*b, strict=True))
    return Matrix([_dot(row, column) for column in columns] for row in a)


# Work element by element
def add(a: Vector, b: Vector, *, budget: int = DEFAULT_BUDGET) -> Vector:
    """Return a[i] + b[i] for each i.

    Shape:  (n,), (n,) -> (n,).
    Cost:   n operation nodes.
    Errors: as for dot.
    Source: book/stage_05_vectors_matrices.md
    """
    _require_pair("add", a, b)
    require_budget("add", len(a), budget)
    return Vector(x + y for x, y in zip(a, b, strict=True))


def multiply(a: Vector, b: Vector, *, budget: int = DEFAULT_BUDGET) -> Vector:
    """Return a[i] * b[i] for each i.

    Shape:  (n,), (n,) -> (n,).
    Cost:   n operation nodes.
    Errors: as for dot.
    Source: book/stage_05_vectors_matrices.md
    """
    _require_pair("multiply", a, b)
    require_budget("multiply", len(a), budget)
    return Vector(x * y for x, y in zip(a, b, strict=True))


def scale(
    a: Vector,
    factor: Element,
    *,
    budget: int = DEFAULT_BUDGET,
) -> Vector:
    """Return a[i] * factor for each i; a number becomes one shared leaf.

    Shape:  (n,), one Value or number -> (n,).
    Cost:   n operation nodes.
    Errors: as for dot.
    Source: book/stage_05_vectors_matrices.md
    """
    require_kind("scale", Vector, a=a)
    (element,) = _require_elements("scale", "factor", "factor", [factor])
    require_finite("scale", a=a)
    require_budget("scale", len(a), budget)
    shared = _as_value(element)
    return Vector(x * shared for x in a)


def relu(a: Vector, *, budget: int = DEFAULT_BUDGET) -> Vector:
    """Return max(a[i], 0) for each i.

    Shape:  (n,) -> (n,).
    Cost:   n operation nodes.
    Errors: as for dot.
    Source: book/stage_05_vectors_matrices.md
    """
    require_kind("relu", Vector, a=a)
    require_finite("relu", a=a)
    require_budget("relu", len(a), budget)
    return Vector(x.relu() for x in a)
