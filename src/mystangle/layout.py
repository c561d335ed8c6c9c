"""The blank lines of a file, as PEP 8 and `ruff format` want them.

The author's blank lines are kept as far as PEP 8 allows; more are put in where
statements of different kinds meet.  One pass over the file's tree.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from .expand import Line, Row
from .lexical import first_row, is_docstring, parse

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
MANY = 2
ADDED = Line("", None, None)


def laid_out(rows: Sequence[Row]) -> tuple[Line, ...]:
    """Return the lines of a file made of `rows`.

    Errors: SyntaxError, its line number counting the rows from 1.
    """
    tree = _tree(rows)
    settled = without_held(rows, tree)
    if len(settled) != len(rows):
        rows, tree = settled, _tree(settled)
    layout = _Layout(rows, tree)
    return tuple(line for index in range(len(rows)) for line in layout.lines(index))


def _tree(rows: Sequence[Row]) -> ast.Module:
    return parse("".join(row.line.text + "\n" for row in rows))


def without_held(rows: Sequence[Row], tree: ast.Module) -> list[Row]:
    """Return `rows` without each `pass` whose suite holds anything else."""
    gone: set[int] = set()
    for suite, _ in suites(tree):
        held = [n for s in suite if rows[n := s.lineno - 1].held]
        gone.update(held[len(held) == len(suite) :])
    kept: list[Row] = []
    blanks: tuple[Line, ...] = ()
    for index, row in enumerate(rows):
        blanks = max(blanks, row.blanks, key=len)
        if index not in gone:
            kept.append(replace(row, blanks=blanks))
            blanks = ()
    return kept


def suites(tree: ast.Module) -> list[tuple[list[ast.stmt], ast.AST]]:
    """Return every list of statements in `tree`, each with the node that owns it."""
    return [
        (value, node)
        for node in ast.walk(tree)
        for _, value in ast.iter_fields(node)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt)
    ]


@dataclass
class Bounds:
    """How many blank lines may stand before a row, at least and at most."""

    least: int
    most: int

    def raised(self, least: int) -> None:
        self.least = min(max(self.least, least), self.most)


class _Layout:
    """The blank lines before each row of a file."""

    def __init__(self, rows: Sequence[Row], tree: ast.Module) -> None:
        self.rows = rows
        self.bounds = [Bounds(0, _most(row)) for row in rows]
        for suite, owner in suites(tree):
            self.begin(suite, owner)
            for before, after in pairwise(suite):
                if first_row(after) >= (before.end_lineno or before.lineno):
                    self.seam(before, after, owner, first=before is suite[0])

    def lines(self, index: int) -> tuple[Line, ...]:
        """Return a row's line after the blank lines that belong before it."""
        row, bounds = self.rows[index], self.bounds[index]
        own = row.blanks[: bounds.most]
        return (*own, *[ADDED] * (bounds.least - len(own)), row.line)

    def begin(self, suite: list[ast.stmt], owner: ast.AST) -> None:
        """Bound the blank lines at the start of a suite, if it begins a line."""
        start = place = first_row(suite[0])
        text = self.rows[start].line.text
        if len(text) - len(text.lstrip()) < suite[0].col_offset:
            return
        while place and self.is_comment(place - 1):
            place -= 1
        defined = isinstance(suite[0], DEFINITIONS)
        opened = defined and not isinstance(owner, (ast.Module, *DEFINITIONS))
        self.bounds[place].most = int(opened and place == start)
        self.bounds[place].raised(1)
        if defined and isinstance(owner, ast.Module):
            self.bounds[self.glued(start)].raised(MANY)

    def seam(
        self, before: ast.stmt, after: ast.stmt, owner: ast.AST, *, first: bool
    ) -> None:
        """Bound the blank lines between two statements of a suite.

        What `before` asks for goes above the first comment between the two, what
        `after` asks for above the comments glued to it.
        """
        many = MANY if isinstance(owner, ast.Module) else 1
        start = first_row(after)
        upper, lower = self.above(start, after.col_offset), self.glued(start)
        defined = isinstance(after, DEFINITIONS)
        if (
            first
            and is_docstring(before)
            and isinstance(owner, ast.Module | ast.ClassDef)
        ):
            for index in range(upper, lower if defined else start + 1):
                self.bounds[index].most = 1
            self.bounds[upper].raised(1)
        if _ends_with_definition(before):
            self.bounds[upper].raised(many)
        if defined:
            self.bounds[lower].raised(many)
        if isinstance(before, IMPORTS):
            if upper != start or not isinstance(after, IMPORTS):
                self.bounds[upper].raised(1)
        elif isinstance(after, IMPORTS):
            self.bounds[lower].raised(1)

    def above(self, index: int, column: int) -> int:
        """Return the first of the comments between a statement and the one before."""
        place = index
        while index and self.is_comment(index - 1):
            index -= 1
            text = self.rows[index].line.text
            if len(text) - len(text.lstrip()) == column:
                place = index
        return place

    def glued(self, index: int) -> int:
        """Return the first of the comments that stand directly above a statement."""
        while not self.rows[index].blanks and index and self.is_comment(index - 1):
            index -= 1
        return index

    def is_comment(self, index: int) -> bool:
        row = self.rows[index]
        return not row.inside and row.line.text.lstrip().startswith("#")


def _most(row: Row) -> int:
    return 1 if row.line.text[:1] in (" ", "\t") else MANY


def _ends_with_definition(statement: ast.stmt) -> bool:
    """Return whether a statement is a def or class, or a block that ends with one."""
    if isinstance(statement, DEFINITIONS):
        return True
    inner = [node for node in ast.walk(statement) if isinstance(node, ast.stmt)]
    last = max(inner, key=lambda node: (node.end_lineno or 0, node.lineno))
    return (
        False
        if last is statement
        else any(
            isinstance(node, DEFINITIONS) and node.end_lineno == statement.end_lineno
            for node in inner
        )
    )
