"""What the cells of a page may import: the package as tangled through its chapter.

A view is a folder to put first on `PYTHONPATH`, and a key that changes with anything
in it.  It does not follow what the cells import: code has too many ways to reach code.
What later chapters begin is not there, and does not change the key.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from ..book import Book
from ..write import export_tree


@dataclass(frozen=True)
class View:
    """What exists as of a chapter.

    `files`: the package, by path below the source.  `support`: the files beside it, by
    path below `root`.  `later`: the top-level modules that later chapters begin.
    """

    files: Mapping[str, bytes]
    support: Mapping[str, bytes]
    later: frozenset[str]
    root: Path

    @cached_property
    def key(self) -> str:
        """A digest of all that outputs may depend on beside the cells of the page.

        That is every file, and the versions of Python and of every distribution that
        is installed: which of them the cells use cannot be known for certain.
        """
        return _digest([*_listed(self.files), *_listed(self.support), *_versions()])

    @cached_property
    def exported(self) -> dict[str, bytes]:
        """The files of the folder: those of the package, and some that hide others.

        An installed copy of the package must not leak in.  So a folder has an
        `__init__`, without which it would lose against an installed one, and a module
        to come is missing in Python's own words: an output does not depend on it.
        """
        folders = {_top(path) for path in self.files if "/" in path} - self.later
        hiding = {f"{folder}/__init__.py": b"" for folder in folders}
        for name in self.later:
            said = f"No module named {name!r}"
            text = f"raise ModuleNotFoundError({said!r}, name={name!r})\n"
            hiding[f"{name}.py"] = text.encode()
        return {**hiding, **self.files}

    @cached_property
    def name(self) -> str:
        """A name for the folder; equal contents, equal name."""
        return _digest(_listed(self.exported))

    @cached_property
    def support_roots(self) -> list[Path]:
        """The folders from which the support files are imported."""
        return sorted({_import_root(self.root / path) for path in self.support})

    def export(self, folder: Path) -> list[Path]:
        """Write the files below `folder`; return what goes first on `PYTHONPATH`."""
        target = folder / self.name
        export_tree(target, self.exported)
        return [target, *self.support_roots]


def view_of(book: Book, chapter: int, support: Mapping[str, bytes]) -> View:
    """Return what the pages of a chapter may import."""
    tangled = book.snapshot(chapter).files
    files = {path: file.data for path, file in tangled.items()}
    files = {**book.settings.data_files(), **files}
    later = {_top(path) for path in book.snapshot().files} - {_top(p) for p in tangled}
    return View(files, support, frozenset(later), book.settings.root)


def prune(folder: Path, keep: set[str]) -> None:
    """Remove the folders of views that no page uses any more."""
    for old in folder.iterdir() if folder.is_dir() else ():
        if old.is_dir() and old.name not in keep:
            shutil.rmtree(old, ignore_errors=True)


def _top(path: str) -> str:
    """Return the top-level module that a file belongs to."""
    return path.partition("/")[0].removesuffix(".py")


def _import_root(path: Path) -> Path:
    """Return the nearest folder above `path` that is no package."""
    root = path.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    return root


@cache
def _versions() -> tuple[str, ...]:
    """Return what runs the cells, and with what, a line each."""
    found = {f"{d.metadata['Name']} {d.version}" for d in metadata.distributions()}
    return (sys.platform, platform.python_version(), *sorted(found))


def _listed(files: Mapping[str, bytes]) -> list[str]:
    return [f"{path} {_digest(data)}" for path, data in sorted(files.items())]


def _digest(content: bytes | Iterable[str]) -> str:
    data = content if isinstance(content, bytes) else "\n".join(content).encode()
    return hashlib.sha256(data).hexdigest()[:20]
