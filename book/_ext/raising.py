"""The error classes of a package, and the statements that raise them, from its code."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from mystangle.expand import TangledFile
from mystangle.language import Piece
from mystangle.sphinx.imports import module_of
from mystangle.sphinx.mentions import Mentions, mentions_in
from mystangle.sphinx.weaving import Weaving


@dataclass(frozen=True)
class ErrorClass:
    """A public class of errors; `bases` are full names, or those of Python's own."""

    full: str
    bases: tuple[str, ...]
    meaning: str
    piece: Piece

    @property
    def name(self) -> str:
        """The name without its module's."""
        return self.full.rpartition(".")[2]


class Module:
    """A module: its tree, what its names mean, and whose its lines are."""

    def __init__(self, file: TangledFile) -> None:
        module = module_of(file.path, file.data)
        self.file, self.name = file, module.name
        self.tree = ast.parse(file.text)
        self.mentions: Mentions = mentions_in(module)
        self.defined = {
            f"{self.name}.{node.name}": node
            for node in self.tree.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
        }

    def piece(self, node: ast.stmt) -> Piece:
        """Return the piece that a statement stands in."""
        piece = self.file.lines[node.lineno - 1].piece
        assert piece is not None
        return piece


class Errors:
    """The errors of a package as the last chapter leaves it."""

    def __init__(self, weaving: Weaving, package: str) -> None:
        files = weaving.book.snapshot().files
        begun = dict.fromkeys(p.name for p in weaving.book.pieces if p.is_file)
        modules = (
            Module(files[path])
            for path in begun
            if path in files and path.startswith(f"{package}/")
        )
        self.modules = {module.name: module for module in modules}
        self.order = {piece: n for n, piece in enumerate(weaving.book.pieces)}
        self.classes = {each.full: each for each in self._classes()}
        self.raised: dict[str, list[Piece]] = {full: [] for full in self.classes}
        for full, piece in sorted(self._raised(), key=lambda e: self.order[e[1]]):
            if piece not in self.raised[full]:
                self.raised[full].append(piece)

    def below(self, full: str) -> list[ErrorClass]:
        """Return the classes that derive directly from one, as the book has them."""
        found = [each for each in self.classes.values() if full in each.bases]
        return sorted(found, key=lambda each: self.order[each.piece])

    def roots(self) -> list[ErrorClass]:
        """Return the classes that derive from none of the package."""
        every = self.classes.values()
        return [each for each in every if not {*each.bases} & {*self.classes}]

    def _classes(self) -> Iterator[ErrorClass]:
        """Yield each public class that is, through its bases, one of exceptions."""
        for module in self.modules.values():
            for full, node in module.defined.items():
                if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                    continue
                if self._is_error(full):
                    bases = tuple(self._resolved(b, module) for b in node.bases)
                    meaning = (ast.get_docstring(node) or "").partition("\n\n")[0]
                    yield ErrorClass(full, bases, meaning, module.piece(node))

    def _is_error(self, full: str) -> bool:
        own = getattr(builtins, full, None)
        if isinstance(own, type):
            return issubclass(own, BaseException)
        module, node = self._found(full)
        if module is None or not isinstance(node, ast.ClassDef):
            return False
        return any(self._is_error(self._resolved(b, module)) for b in node.bases)

    def _raised(self) -> Iterator[tuple[str, Piece]]:
        """Yield each class with each piece that raises it."""
        for module in self.modules.values():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Raise) and node.exc is not None:
                    full = self._class_of(node.exc, module)
                    if full in self.classes:
                        yield full, module.piece(node)

    def _class_of(self, raised: ast.expr, module: Module) -> str:
        """Return the class of what is raised, "" if that cannot be known.

        It may be named, called, or what a function says that it returns.
        """
        named = raised.func if isinstance(raised, ast.Call) else raised
        full = self._resolved(named, module)
        home, node = self._found(full)
        if home and isinstance(node, ast.FunctionDef) and node.returns:
            return self._resolved(node.returns, home)
        return full

    def _resolved(self, named: ast.expr, module: Module) -> str:
        """Return the full name that an expression stands for, through re-exports."""
        head, _, rest = ast.unparse(named).partition(".")
        while f"{module.name}.{head}" not in module.defined:
            full = module.mentions.aliases.get(head)
            if full is None:
                return ".".join(filter(None, [head, rest]))
            if full in self.modules and rest:
                head, _, rest = rest.partition(".")
                module = self.modules[full]
                continue
            home, _, head = full.rpartition(".")
            if home not in self.modules:
                return ".".join(filter(None, [full, rest]))
            module = self.modules[home]
        return ".".join(filter(None, [module.name, head, rest]))

    def _found(self, full: str) -> tuple[Module | None, ast.stmt | None]:
        """Return the module that defines a full name, and the definition."""
        module = self.modules.get(full.rpartition(".")[0])
        return module, module.defined.get(full) if module else None
