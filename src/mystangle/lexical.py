"""What a piece of Python consists of, as far as moving its lines needs to know.

Only the standard library; the answers are the same on every supported Python,
although f-strings are one token up to 3.11 and several from 3.12 on.
"""

from __future__ import annotations

import ast
import io
import token as kinds
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Strings that are several tokens: f-strings from Python 3.12, t-strings from 3.14.
OPENERS = {
    getattr(kinds, name)
    for name in ("FSTRING_START", "TSTRING_START")
    if hasattr(kinds, name)
}
CLOSERS = {
    getattr(kinds, name)
    for name in ("FSTRING_END", "TSTRING_END")
    if hasattr(kinds, name)
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Comment:
    """A comment: its line from 0, its text, and what stands before it on the line."""

    row: int
    text: str
    before: str

    @property
    def may_refer(self) -> bool:
        """Whether it is alone on its line, or stands after `pass` and a blank."""
        code = self.before.strip()
        return not code or (code == "pass" and self.before[-1].isspace())


@dataclass(frozen=True)
class Lexed:
    """The comments of a text, and the 0-based lines that begin inside a string.

    `data` are those whose bytes are the string's value; `documentation` are those
    of docstrings, which move with the code around them.
    """

    comments: tuple[Comment, ...]
    data: frozenset[int]
    documentation: frozenset[int]


def parse(text: str) -> ast.Module:
    """Return the tree of `text`, without Python's warnings about its style.

    Errors: SyntaxError, whatever the reason.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from None


def lex(text: str, tree: ast.Module) -> Lexed:
    """Return what `text`, which parses to `tree`, consists of."""
    lines = text.split("\n")
    comments = []
    inside: set[int] = set()
    for token in _tokens(text):
        if token.type == tokenize.COMMENT:
            row, column = token.start[0] - 1, token.start[1]
            before = lines[row][:column]
            comments.append(Comment(row, token.string, before))
        elif token.type == tokenize.STRING:
            inside.update(range(token.start[0], token.end[0]))
    documentation = frozenset(_documentation(tree, lines)) & inside
    return Lexed(tuple(comments), frozenset(inside - documentation), documentation)


def guessed(lines: Sequence[str]) -> Iterator[Comment]:
    """Yield the comments of text that is not valid Python, as far as one can see."""
    for row, line in enumerate(lines):
        before, mark, rest = line.partition("#")
        if mark:
            yield Comment(row, mark + rest, before)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of `text`, each f-string as one token of type STRING."""
    depth = 0
    start = (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in OPENERS:
            start = start if depth else token.start
            depth += 1
        elif token.type in CLOSERS:
            depth -= 1
            if depth == 0:
                yield tokenize.TokenInfo(tokenize.STRING, "", start, token.end, "")
        elif depth == 0:
            yield token


def _documentation(tree: ast.Module, lines: list[str]) -> Iterator[int]:
    """Yield the lines on which docstrings go on, except after a joined line end."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and node.body:
            first = node.body[0]
            if is_docstring(first):
                for row in range(first.lineno, first.end_lineno or first.lineno):
                    if not lines[row - 1].endswith("\\"):
                        yield row


def is_docstring(statement: ast.stmt) -> bool:
    """Return whether a statement that begins a suite is a docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def first_row(statement: ast.stmt) -> int:
    """Return the 0-based line on which a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)]) - 1


def compiles(text: str, name: str) -> None:
    """Raise SyntaxError if `text` is not a module that Python can compile as UTF-8."""
    stream = io.BytesIO(text.encode("utf-8"))
    encoding, _ = tokenize.detect_encoding(stream.readline)
    if encoding != "utf-8":
        raise SyntaxError(f"a comment says that the file's encoding is {encoding}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, name, "exec", dont_inherit=True)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from None
