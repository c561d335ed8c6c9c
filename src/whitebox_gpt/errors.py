"""Errors that carry their facts: the place, the rule, what came, the mend."""

import reprlib


class WhiteboxError(Exception):
    """Something was about to cross a boundary that it must not cross.

    Fields: where     the operation that refused;
            expected  what must hold there;
            got       what came instead, as text;
            mend      how to go on, possibly empty.
    Source: book/stage_01_value_graph.md
    """

    # Keep the facts, and make the text from them
    def __init__(self, where: str, expected: str, got: str, mend: str = "") -> None:
        super().__init__(where, expected, got, mend)
        self.where, self.expected = where, expected
        self.got, self.mend = got, mend

    def __str__(self) -> str:
        text = f"{self.where}: {self.expected}, got {self.got}"
        return f"{text}. {self.mend}" if self.mend else text


# One class for each kind of refusal
class KindError(WhiteboxError, TypeError):
    """An object of the wrong kind, such as text in the place of a number.

    Source: book/stage_01_value_graph.md
    """


class DomainError(WhiteboxError, ValueError):
    """A number outside the domain of an operation, such as NaN.

    Source: book/stage_01_value_graph.md
    """


class ResourceBudgetError(WhiteboxError, ValueError):
    """More work than the caller said it can afford.

    Source: book/stage_01_value_graph.md
    """


class GradientMismatchError(WhiteboxError, ArithmeticError):
    """A gradient that an independent measurement contradicts.

    Source: book/stage_03_scalar_primitives.md
    """


class TextError(WhiteboxError, ValueError):
    """Text that cannot be a document, such as an empty one.

    Source: book/stage_04_characters_bos.md
    """


class VocabularyError(WhiteboxError, ValueError):
    """A character or a token id that a vocabulary does not or must not hold.

    Source: book/stage_04_characters_bos.md
    """


class ShapeError(WhiteboxError, ValueError):
    """Sizes that do not fit together, such as vectors of two lengths.

    Source: book/stage_05_vectors_matrices.md
    """


class RangeError(WhiteboxError, IndexError):
    """An index beyond either end of a vector or a matrix.

    Source: book/stage_05_vectors_matrices.md
    """


class ParameterIdentityError(WhiteboxError, ValueError):
    """A parameter that is not the one object, or not in the state, that it must be.

    Source: book/stage_07_linear_mlp.md
    """


class StateMismatchError(WhiteboxError, ValueError):
    """Loaded numbers whose names or shapes are not those of the model.

    Source: book/stage_07_linear_mlp.md
    """


class GrammarError(WhiteboxError, ValueError):
    """A program that is not arithmetic on numbers and names.

    Source: book/command_line.md
    """


# Describe whatever came, briefly and safely
def brief(thing: object) -> str:
    """Return a short text for `thing`, whatever it is and however large.

    Source: book/stage_01_value_graph.md
    """
    try:
        if isinstance(thing, int) and thing.bit_length() > 128:
            return f"an integer of {thing.bit_length()} bits"
        return reprlib.repr(thing)
    except Exception:  # what cannot be shown can still be refused
        return "an object that cannot be shown"


def describe(thing: object) -> str:
    """Return a short text for `thing`, with its type unless it is a plain number.

    Source: book/stage_01_value_graph.md
    """
    is_plain = type(thing) in (int, float)
    return brief(thing) if is_plain else f"{brief(thing)} ({type(thing).__name__})"
