"""White-Box GPT: a GPT derived, built and broken from one scalar up.

The source of every module is a chapter of the book; the docstrings name it.
"""

from .budget import count_operations
from .errors import (
    DomainError,
    GradientMismatchError,
    KindError,
    RangeError,
    ResourceBudgetError,
    ShapeError,
    TextError,
    VocabularyError,
    WhiteboxError,
)
from .gradcheck import central_difference, require_gradient
from .linalg import Matrix, Vector, dot, matmul, matvec
from .tokenizer import Tokenizer, first_names, read_documents
from .value import Value, topological_order

__all__ = [
    "DomainError",
    "GradientMismatchError",
    "KindError",
    "Matrix",
    "RangeError",
    "ResourceBudgetError",
    "ShapeError",
    "TextError",
    "Tokenizer",
    "Value",
    "Vector",
    "VocabularyError",
    "WhiteboxError",
    "central_difference",
    "count_operations",
    "dot",
    "first_names",
    "matmul",
    "matvec",
    "read_documents",
    "require_gradient",
    "topological_order",
]
