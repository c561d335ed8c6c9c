"""The table `[tool.mystangle]` of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from .problems import SettingsError, shortened

PATHS = ("toc", "config", "source", "lock")
GLOBS = ("support", "data")
LONGEST = 200  # characters in a path


@dataclass(frozen=True)
class Settings:
    """Where the book is and where its package goes; paths are relative to `root`.

    `support`: files (globs) that executed cells may import beside the package.
    `data`: files (globs) below `source` that belong to the package and are written by
            hand, such as tables; they are part of it as of every chapter.
    """

    root: Path
    toc: str = "_toc.yml"
    config: str = "_config.yml"
    source: str = "src"
    lock: str = "mystangle.lock"
    support: tuple[str, ...] = ()
    data: tuple[str, ...] = ()

    @classmethod
    def load(cls, root: Path | None = None) -> Settings:
        """Read the settings of `root`, or of the nearest folder above this one.

        Errors: SettingsError if no pyproject.toml has the table, or it is wrong.
        """
        folder = _nearest(Path.cwd()) if root is None else Path(root).resolve()
        table = _table(folder / "pyproject.toml")
        if table is None:
            raise SettingsError(
                "pyproject.toml: the book's root must hold a pyproject.toml with a "
                "table [tool.mystangle], got none. Add the table (it may be empty), "
                "or name the root with --root."
            )
        return cls(root=folder, **_checked(table))

    def data_files(self) -> dict[str, bytes]:
        """Return the package's data files by their path below `source`."""
        source = self.root / self.source
        found = {p for glob in self.data for p in source.glob(glob) if p.is_file()}
        return {p.relative_to(source).as_posix(): p.read_bytes() for p in sorted(found)}


def _nearest(start: Path) -> Path:
    """Return the nearest folder from `start` upward that has settings, or `start`."""
    folders = (start, *start.parents)
    return next((f for f in folders if _table(f / "pyproject.toml") is not None), start)


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        data = read_toml(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    tool = inner_table(path.name, data, "tool")
    return inner_table(path.name, tool, "mystangle") if "mystangle" in tool else None


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds.

    Errors: SettingsError if it cannot be read; FileNotFoundError, NotADirectoryError.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{path.name}: must be readable TOML in UTF-8, got: {error}. Mend it."
        ) from None


def inner_table(file: str, table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a table inside another, empty if it is not there.

    Errors: SettingsError if `key` stands for anything else.
    """
    inner = table.get(key)
    if inner is None:
        return {}
    if not isinstance(inner, dict):
        raise SettingsError(
            f"{file}: {key} must be a table, got {inner!r}. Mend it or remove it."
        )
    return inner


def whole_number(text: str) -> int | None:
    """Return the number that up to nine ASCII digits spell, None for other text."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def _checked(table: Mapping[str, Any]) -> dict[str, Any]:
    known = (*PATHS, *GLOBS)
    for key in table:
        if key not in known:
            raise SettingsError(
                f"pyproject.toml: [tool.mystangle] knows the keys {', '.join(known)}, "
                f"got {key!r}. Remove it or mend its spelling."
            )
    checked: dict[str, Any] = {
        key: _inside(key, table[key]) for key in PATHS if key in table
    }
    for key in (key for key in GLOBS if key in table):
        globs = table[key]
        if not isinstance(globs, list):
            raise SettingsError(
                f"pyproject.toml: [tool.mystangle] {key} must be a list of file "
                f"patterns, got {globs!r}."
            )
        checked[key] = tuple(_inside(key, glob) for glob in globs)
    return checked


def _inside(key: str, value: object) -> str:
    """Return `value` if it is a relative path that stays below the root."""
    if isinstance(value, str) and 0 < len(value) <= LONGEST:
        path = PurePosixPath(value)
        absolute = path.is_absolute() or PureWindowsPath(value).anchor
        if not absolute and ".." not in path.parts and path.parts and "\\" not in value:
            return str(path)
    raise SettingsError(
        f"pyproject.toml: [tool.mystangle] {key} must be a path below the root, "
        f"with / between its parts, no '..' and at most {LONGEST} characters, got "
        f"{shortened(repr(value))}."
    )
