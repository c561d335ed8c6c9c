"""Which names of a piece of Python are local: the rules of scopes, from its AST."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Scope = FunctionNode | ast.Lambda
NAMED = FunctionNode | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def local_names(scope: Scope) -> frozenset[str]:
    """Return the names that are local to a function or lambda.

    Names that it imports are left out: they stand for what is elsewhere.
    """
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    inside = [node for top in body for node in _own(top)]
    elsewhere = {
        name
        for node in inside
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    bound = {name for node in inside for name in _bound(node)}
    return frozenset((bound | argument_names(scope.args)) - elsewhere)


def argument_names(arguments: ast.arguments) -> set[str]:
    """Return the names of a function's arguments."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [a for a in (arguments.vararg, arguments.kwarg) if a]
    return {argument.arg for argument in [*plain, *starred]}


def comprehension_names(node: Comprehension) -> frozenset[str]:
    """Return the names that a comprehension binds for itself."""
    targets = (generator.target for generator in node.generators)
    return frozenset(name for t in targets for n in ast.walk(t) for name in _bound(n))


def module_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module or class, those under `if` and `try` too."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            handlers = [h.body for h in getattr(node, "handlers", ())]
            others = [getattr(node, "orelse", []), getattr(node, "finalbody", [])]
            for inner in [node.body, *handlers, *others]:
                yield from module_statements(inner)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, except the insides of other scopes."""
    yield node
    if isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
        return
    for child in ast.iter_child_nodes(node):
        yield from _own(child)


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, NAMED) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
