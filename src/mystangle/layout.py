"""The blank lines of a file, as PEP 8 and `ruff format` want them.

The author's blank lines are kept as far as PEP 8 allows; more are put in where
statements of different kinds meet.  One pass over the file's tree.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from .expand import Line, Row
from .lexical import first_row, is_docstring, parse, suites

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ADDED = Line("", None, None)


def laid_out(rows: Sequence[Row]) -> tuple[Line, ...]:
    """Return the lines of a file made of `rows`.

    Errors: SyntaxError, its line number counting the rows from 1.
    """
    tree = _tree(rows)
    settled = without_held(rows, tree)
    if len(settled) != len(rows):
        rows, tree = settled, _tree(settled)
    return tuple(line for group in _spaced(rows, tree) for line in group)


def _tree(rows: Sequence[Row]) -> ast.Module:
    return parse("".join(row.line.text + "\n" for row in rows))


def without_held(rows: Sequence[Row], tree: ast.Module) -> list[Row]:
    """Return `rows` without each `pass` whose suite holds anything else."""
    gone: set[int] = set()
    for suite in suites(tree):
        held = [n for s in suite if rows[n := s.lineno - 1].held]
        gone.update(held[len(held) == len(suite) :])
    kept: list[Row] = []
    blanks: tuple[Line, ...] = ()
    for index, row in enumerate(rows):
        blanks = max(blanks, row.blanks, key=len)
        if index not in gone:
            kept.append(Row(row.line, blanks, row.inside, row.held))
            blanks = ()
    return kept


def _spaced(rows: Sequence[Row], tree: ast.Module) -> list[tuple[Line, ...]]:
    """Return each row's line after as many blank lines as belong before it."""
    wanted = _wanted(rows, tree)
    spaced = []
    for index, row in enumerate(rows):
        most = 0 if index == 0 else 1 if row.line.text[:1] in (" ", "\t") else 2
        least = min(wanted.get(index, 0), most)
        own = row.blanks[: 0 if wanted.get(index) == -1 else most]
        added = (ADDED,) * (least - len(own))
        spaced.append((*own, *added, row.line))
    return spaced


def _wanted(rows: Sequence[Row], tree: ast.Module) -> dict[int, int]:
    """Return the least number of blank lines before rows; -1 where none may be."""
    wanted: dict[int, int] = {}
    for suite in suites(tree):
        wanted[_glued(rows, first_row(suite[0]), blanks=True)] = -1
        for before, after in pairwise(suite):
            start = first_row(after)
            if start >= (before.end_lineno or before.lineno):
                top = suite is tree.body
                documented = before is suite[0] and _is_documented(suite, tree)
                least = _gap(before, after, top=top, documented=documented)
                place = _glued(rows, start)
                wanted[place] = max(wanted.get(place, 0), least)
    return wanted


def _glued(rows: Sequence[Row], index: int, *, blanks: bool = False) -> int:
    """Return the first of the comment rows that stand directly above a statement.

    `blanks`: blank lines between the comments do not part them from it.
    """
    while index and (blanks or not rows[index].blanks) and _is_comment(rows[index - 1]):
        index -= 1
    return index


def _is_comment(row: Row) -> bool:
    return not row.inside and row.line.text.lstrip().startswith("#")


def _is_documented(suite: list[ast.stmt], tree: ast.Module) -> bool:
    """Return whether a suite is a module's or a class's and begins with a docstring."""
    if not is_docstring(suite[0]):
        return False
    owners = (node for node in ast.walk(tree) if getattr(node, "body", None) is suite)
    return isinstance(next(owners), ast.Module | ast.ClassDef)


def _gap(before: ast.stmt, after: ast.stmt, *, top: bool, documented: bool) -> int:
    if isinstance(before, DEFINITIONS) or isinstance(after, DEFINITIONS):
        return 2 if top else 1
    mixed = isinstance(before, IMPORTS) != isinstance(after, IMPORTS)
    return 1 if mixed or documented else 0
