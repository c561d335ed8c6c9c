"""Which names one module defines, imports and uses, and on which lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .imports import Module, absolute
from .scopes import (
    Comprehension,
    FunctionNode,
    comprehension_names,
    local_names,
    module_statements,
)


@dataclass(frozen=True)
class Definition:
    """A class, function, method or constant under its full name."""

    name: str
    kind: str
    line: int


@dataclass(frozen=True)
class Use:
    """A mention of a full name.

    `attribute` is set instead where only the name of an attribute is known.
    """

    name: str
    line: int
    attribute: str = ""


@dataclass(frozen=True)
class Mentions:
    """What a module says; `aliases` are the full names of what it imports."""

    definitions: tuple[Definition, ...]
    uses: tuple[Use, ...]
    aliases: Mapping[str, str]


def mentions_in(module: Module) -> Mentions:
    """Return the definitions and uses of a module.  Errors: SyntaxError."""
    tree = ast.parse(module.data)
    definitions = tuple(_definitions(tree, module.name))
    aliases = dict(_aliases(tree, module.package))
    reader = _Reader(module.name, {d.name for d in definitions}, aliases)
    reader.visit(tree)
    return Mentions(definitions, tuple(reader.uses), aliases)


def _definitions(tree: ast.Module, module: str) -> Iterator[Definition]:
    for node in module_statements(tree.body):
        if isinstance(node, FunctionNode):
            yield Definition(f"{module}.{node.name}", "function", node.lineno)
        elif isinstance(node, ast.ClassDef):
            yield Definition(f"{module}.{node.name}", "class", node.lineno)
            for inner in module_statements(node.body):
                if isinstance(inner, FunctionNode):
                    name = f"{module}.{node.name}.{inner.name}"
                    yield Definition(name, "method", inner.lineno)
        else:
            for name in _constants(node):
                yield Definition(f"{module}.{name}", "constant", node.lineno)


def _constants(node: ast.stmt) -> Iterator[str]:
    """Yield the names to which a statement assigns, those of Python's own left out."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield from () if inner.id.startswith("__") else (inner.id,)


def _aliases(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                head = alias.name.partition(".")[0]
                yield alias.asname or head, alias.name if alias.asname else head
        elif isinstance(node, ast.ImportFrom):
            base = absolute(package, node.level, node.module)
            for alias in node.names:
                yield alias.asname or alias.name, f"{base}.{alias.name}"


class _Reader(ast.NodeVisitor):
    """Collects the uses in a module; `locals` are those of the functions around."""

    def __init__(
        self, module: str, defined: set[str], aliases: Mapping[str, str]
    ) -> None:
        self.module = module
        self.defined = defined
        self.aliases = aliases
        self.uses: list[Use] = []
        self.locals: list[frozenset[str]] = []
        self.classes: list[str] = []
        self.itself: dict[str, str] = {}  # what `self` and `cls` stand for here

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(self._full(node), node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self._full(node)
        if full:
            self._use(full, node)
            return
        self.uses.append(Use("", node.end_lineno or node.lineno, node.attr))
        self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._inside(local_names(node), [node.body])

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outer in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(outer)
        self.classes.append(node.name)
        for inner in node.body:
            self.visit(inner)
        self.classes.pop()

    def _function(self, node: FunctionNode) -> None:
        """Read a function: what stands around its body belongs outside."""
        for outer in [*node.decorator_list, node.args, node.returns]:
            if outer is not None:
                self.visit(outer)
        before = self.itself
        if self.classes and not self.locals:
            self.itself = self._first_argument(node)
        self._inside(local_names(node), node.body)
        self.itself = before

    def _first_argument(self, node: FunctionNode) -> dict[str, str]:
        arguments = [*node.args.posonlyargs, *node.args.args]
        marks = [d.id for d in node.decorator_list if isinstance(d, ast.Name)]
        if not arguments or "staticmethod" in marks:
            return {}
        return {arguments[0].arg: f"{self.module}.{'.'.join(self.classes)}"}

    def _comprehension(self, node: Comprehension) -> None:
        self._inside(comprehension_names(node), ast.iter_child_nodes(node))

    def _inside(
        self,
        names: frozenset[str],
        nodes: Iterator[ast.AST] | list[ast.stmt] | list[ast.expr],
    ) -> None:
        self.locals.append(names)
        for node in nodes:
            self.visit(node)
        self.locals.pop()

    def _full(self, node: ast.expr) -> str:
        """Return the full name of what an expression names, if that can be known."""
        if isinstance(node, ast.Attribute):
            before = self._full(node.value)
            if not before and isinstance(node.value, ast.Name):
                before = self.itself.get(node.value.id, "")
                known = f"{before}.{node.attr}" in self.defined
                before = before if known else ""
            return f"{before}.{node.attr}" if before else ""
        if not isinstance(node, ast.Name):
            return ""
        if any(node.id in names for names in self.locals):
            return ""
        here = f"{self.module}.{node.id}"
        return here if here in self.defined else self.aliases.get(node.id, "")

    def _use(self, full: str, node: ast.expr) -> None:
        if full:
            self.uses.append(Use(full, node.end_lineno or node.lineno))
