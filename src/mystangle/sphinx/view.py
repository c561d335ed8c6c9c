"""What the cells of a page may import: the package as tangled through its chapter.

A view is a folder to put first on `PYTHONPATH`, and a digest of as much of it as the
cells can see.  A module that a later chapter begins is not there: a stand-in that
says so takes its place, or an installed copy of the package would leak in.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path, PurePosixPath

from ..book import Book
from ..write import export_tree
from .imports import Module, module_of, reach

# They turn values into outputs, on every page.
SHOWN_BY = ("ipykernel", "ipython")


@dataclass(frozen=True)
class View:
    """`files` by path, and the `support` files beside them by absolute path."""

    files: Mapping[str, bytes]
    support: Mapping[Path, bytes]

    @cached_property
    def name(self) -> str:
        """A name for the folder that holds `files`; equal files, equal name."""
        return _digest(f"{path} {_digest(data)}" for path, data in _sorted(self.files))

    @cached_property
    def support_roots(self) -> dict[Path, Path]:
        """For each support file the folder from which it is imported."""
        return {path: _import_root(path) for path in self.support}

    @cached_property
    def modules(self) -> dict[str, Module]:
        """Every module that a cell can import from this view, by name."""
        modules = ((p, data) for p, data in self.files.items() if p.endswith(".py"))
        found = [module_of(path, data) for path, data in modules]
        for path, data in self.support.items():
            if path.suffix == ".py":
                relative = path.relative_to(self.support_roots[path]).as_posix()
                found.append(module_of(relative, data))
        return {module.name: module for module in found}

    def digest(self, sources: Iterable[str]) -> str:
        """Return a digest of all that the outputs of these cells may depend on.

        That is the modules they import, directly or not, the data and support files
        that are no modules, and the versions of Python and of what else they import.
        """
        seen = reach(self.modules, sources)
        lines = [f"{n} {_digest(self.modules[n].data)}" for n in sorted(seen.inside)]
        tables = [*_sorted(self.files)]
        tables += [(path.name, data) for path, data in sorted(self.support.items())]
        lines += [f"{p} {_digest(data)}" for p, data in tables if not p.endswith(".py")]
        lines.append(platform.python_version())
        for name in sorted({*seen.outside, *SHOWN_BY} - sys.stdlib_module_names):
            lines.append(f"{name} {_version(name)}")
        return _digest(lines)

    def export(self, folder: Path) -> list[Path]:
        """Write the files below `folder`; return what goes first on `PYTHONPATH`."""
        target = folder / self.name
        export_tree(target, self.files)
        return [target, *sorted(set(self.support_roots.values()))]


def view_of(book: Book, chapter: int, support: Mapping[Path, bytes]) -> View:
    """Return what the pages of a chapter may import."""
    tangled = book.snapshot(chapter).files
    files = {path: file.data for path, file in tangled.items()}
    files = {**book.settings.data_files(), **files}
    return View({**files, **dict(_stand_ins(book, set(tangled)))}, support)


def prune(folder: Path, keep: set[str]) -> None:
    """Remove the folders of views that no page uses any more."""
    for old in folder.iterdir() if folder.is_dir() else ():
        if old.is_dir() and old.name not in keep:
            shutil.rmtree(old, ignore_errors=True)


def _stand_ins(book: Book, present: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield a file for each module that is begun after the files `present`."""
    for path in set(book.snapshot().files) - present:
        folder = path.removesuffix("__init__.py")
        begun_package = folder != path and any(p.startswith(folder) for p in present)
        if not begun_package:
            name = module_of(path, b"").name
            chapter = PurePosixPath(book.history(path)[0].chapter.docname).name
            text = f"{name} is begun in {chapter}; this page stands before it"
            yield path, f"raise ImportError({text!r}, name={name!r})\n".encode()
    # Without an __init__ the folder would lose against an installed package.
    for folder in {path.partition("/")[0] for path in present if "/" in path}:
        if f"{folder}/__init__.py" not in present:
            yield f"{folder}/__init__.py", b""


def _import_root(path: Path) -> Path:
    """Return the nearest folder above `path` that is no package."""
    root = path.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    return root


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "?"


def _sorted(files: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    return sorted(files.items())


def _digest(content: bytes | Iterable[str]) -> str:
    data = content if isinstance(content, bytes) else "\n".join(content).encode()
    return hashlib.sha256(data).hexdigest()[:20]
