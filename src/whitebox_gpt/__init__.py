"""White-Box GPT: a GPT derived, built and broken from one scalar up.

The source of every module is a chapter of the book; the docstrings name it.
"""

from .budget import count_operations
from .errors import (
    DomainError,
    GradientMismatchError,
    KindError,
    ParameterIdentityError,
    RangeError,
    ResourceBudgetError,
    ShapeError,
    StateMismatchError,
    TextError,
    VocabularyError,
    WhiteboxError,
)
from .gradcheck import central_difference, require_gradient
from .linalg import Matrix, Vector, dot, matmul, matvec
from .linear import MLP, Linear
from .parameters import ParameterRef
from .plan import InitSpec, LinearPlan, ModelForwardPlan, ModelPlan
from .softmax import cross_entropy_with_logits, log_softmax, softmax
from .tokenizer import Tokenizer, first_names, read_documents
from .value import Value, topological_order

__all__ = [
    "DomainError",
    "GradientMismatchError",
    "InitSpec",
    "KindError",
    "Linear",
    "LinearPlan",
    "MLP",
    "Matrix",
    "ModelForwardPlan",
    "ModelPlan",
    "ParameterIdentityError",
    "ParameterRef",
    "RangeError",
    "ResourceBudgetError",
    "ShapeError",
    "StateMismatchError",
    "TextError",
    "Tokenizer",
    "Value",
    "Vector",
    "VocabularyError",
    "WhiteboxError",
    "central_difference",
    "count_operations",
    "cross_entropy_with_logits",
    "dot",
    "first_names",
    "log_softmax",
    "matmul",
    "matvec",
    "read_documents",
    "require_gradient",
    "softmax",
    "topological_order",
]
