"""What the modules of the package are called, and what their imports mean."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Module:
    """A module of the package; `package` is what its relative imports mean."""

    name: str
    package: str
    data: bytes


def module_of(path: str, data: bytes) -> Module:
    """Return the module in a file whose path is relative to its import root."""
    parts = path.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        name = package = ".".join(parts[:-1])
    else:
        name, package = ".".join(parts), ".".join(parts[:-1])
    return Module(name, package, data)


def absolute(package: str, level: int, module: str | None) -> str:
    """Return the absolute name of the module that a `from` import names."""
    if level == 0:
        return module or ""
    parts = package.split(".")
    kept = parts[: max(len(parts) - level + 1, 0)]
    return ".".join([*kept, module] if module else kept)
