"""White-Box GPT: a GPT derived, built and broken from one scalar up.

The source of every module is a chapter of the book; the docstrings name it.
"""

from .errors import (
    DomainError,
    GradientMismatchError,
    KindError,
    ResourceBudgetError,
    WhiteboxError,
)
from .gradcheck import central_difference, require_gradient
from .value import Value, topological_order

__all__ = [
    "DomainError",
    "GradientMismatchError",
    "KindError",
    "ResourceBudgetError",
    "Value",
    "WhiteboxError",
    "central_difference",
    "require_gradient",
    "topological_order",
]
