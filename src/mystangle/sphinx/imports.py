"""Which modules a piece of Python can see: the ones it imports, and theirs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

# Code that can import what its text does not name.
DYNAMIC_MODULES = frozenset(
    {"importlib", "multiprocessing", "pkgutil", "runpy", "subprocess"}
)
DYNAMIC_FUNCTIONS = frozenset({"__import__", "compile", "eval", "exec"})


@dataclass(frozen=True)
class Module:
    """A module that cells may import; `package` is what its relative imports mean."""

    name: str
    package: str
    data: bytes


@dataclass(frozen=True)
class Reach:
    """The names of the modules that some code can see, and of those outside them."""

    inside: frozenset[str]
    outside: frozenset[str]


def module_of(path: str, data: bytes) -> Module:
    """Return the module in a file whose path is relative to its import root."""
    parts = path.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        name = package = ".".join(parts[:-1])
    else:
        name, package = ".".join(parts), ".".join(parts[:-1])
    return Module(name, package, data)


def reach(modules: Mapping[str, Module], sources: Iterable[str]) -> Reach:
    """Return what the code of `sources` can see, all of it where that is unsure."""
    inside: set[str] = set()
    outside: set[str] = set()
    waiting = [(source, "") for source in sources]
    while waiting:
        names = imported_names(*waiting.pop())
        if names is None:
            names = frozenset(modules)
        for name in names:
            found = [p for p in _prefixes(name) if p in modules]
            if not found:
                outside.add(name.partition(".")[0])
            for prefix in found:
                if prefix not in inside:
                    inside.add(prefix)
                    module = modules[prefix]
                    text = module.data.decode("utf-8", "replace")
                    waiting.append((text, module.package))
    return Reach(frozenset(inside), frozenset(outside))


@lru_cache(maxsize=4096)
def imported_names(source: str, package: str) -> frozenset[str] | None:
    """Return the absolute names that `source` imports; None if it may import any."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # IPython's own syntax, for one
        return None
    names = set(_names(tree, package))
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    heads = {name.partition(".")[0] for name in names}
    if heads & DYNAMIC_MODULES or called & DYNAMIC_FUNCTIONS:
        return None
    return frozenset(names)


def _names(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(package, node.level, node.module)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def absolute(package: str, level: int, module: str | None) -> str:
    """Return the absolute name of the module that a `from` import names."""
    if level == 0:
        return module or ""
    parts = package.split(".")
    kept = parts[: max(len(parts) - level + 1, 0)]
    return ".".join([*kept, module] if module else kept)


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
