"""Where the targets, the lock file and the state folder are; is each as it must be?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import disk
from .problems import SettingsError
from .record import Journal, parse_record
from .targets import TargetError, fold, name_fault

STATE = ".mystangle"


@dataclass(frozen=True)
class Tree:
    """A root with a folder of targets and the file that records their digests.

    `source` and `lock` are relative to `root`; `source` is "" if all of `root` is ours.
    """

    root: Path
    source: str
    lock: str

    @classmethod
    def at(cls, root: Path, source: str, lock: str) -> Tree:
        """Return the tree of a book. Errors: SettingsError for a bad source or lock."""
        for key, path in (("source", source), ("lock", lock)):
            if fault := name_fault(path):
                raise SettingsError(
                    f"{key} = {path!r}: a path here {fault}. Change it."
                )
        if f"{fold(lock)}/".startswith(f"{fold(source)}/"):
            raise SettingsError(
                f"lock = {lock!r}: must not be the source {source!r} or lie in it, "
                "whose files are tangled. Move it."
            )
        return cls(Path(os.path.realpath(root)), source, lock)

    @property
    def base(self) -> Path:
        return self.root / self.source

    @property
    def state(self) -> Path:
        return self.root / STATE

    @property
    def journal(self) -> Path:
        return self.state / "journal"

    @property
    def hiding(self) -> Path:
        return self.state / ".gitignore"

    @property
    def lock_place(self) -> Path:
        return self.root / self.lock

    def place(self, path: str) -> Path:
        return self.base / path

    def name(self, path: str) -> str:
        """Return how messages call a target: its path below the root."""
        return f"{self.source}/{path}" if self.source else path

    def read(self, path: str) -> bytes | None:
        """Return a target's bytes on disk, None if it is missing. Errors: DiskError."""
        with disk.explained(self.name(path)):
            return disk.read(self.place(path))

    def read_lock(self) -> tuple[bytes, dict[str, frozenset[str]]]:
        """Return the lock file's bytes and meaning; a missing one is empty."""
        with disk.explained(self.lock):
            data = disk.read(self.lock_place) or b""
        return data, parse_record(data, self.lock)

    def read_journal(self) -> Journal:
        """Return what an interrupted run left to know, mostly nothing."""
        name = f"{STATE}/journal"
        with disk.explained(name):
            data = disk.read(self.journal)
        return Journal() if data is None else Journal.parse(data, name)

    def interrupted(self) -> bool:
        """Has a run begun to write here, and not ended?"""
        begun = disk.temporary(self.journal), disk.temporary(self.hiding)
        left = (self.journal, *begun)
        return any(os.path.lexists(place) for place in left)

    def hide_state(self) -> None:
        """Have git ignore the state folder, unless someone has decided otherwise."""
        with disk.explained(f"{STATE}/{self.hiding.name}"):
            if not os.path.lexists(self.hiding):
                disk.write(self.hiding, b"*\n")

    def require_plain(self, paths: Iterable[str]) -> None:
        """Refuse targets, present or to be, that are no plain files in plain folders.

        The same holds for the lock file and the state folder.  None may be a symbolic
        link, which could lead anywhere.  Errors: TargetError.
        """
        names = [*(self.name(path) for path in sorted(paths)), self.lock]
        names.append(f"{STATE}/journal")
        faults = dict.fromkeys(f for name in names if (f := self._plain_fault(name)))
        if faults:
            raise TargetError("\n".join(faults))

    def _plain_fault(self, name: str) -> str | None:
        for place, is_file in _downwards(self.root, name):
            shown = place.relative_to(self.root).as_posix()
            if _is_link(place):
                return f"{shown}: must not be a link. Put a real file or folder there."
            if not os.path.lexists(place):
                return None
            mode = place.lstat().st_mode
            if not (stat.S_ISREG(mode) if is_file else stat.S_ISDIR(mode)):
                kind = "file" if is_file else "folder"
                return f"{shown}: must be a {kind}. Move away what is there."
        return None

    def require_writable(self, paths: Iterable[str]) -> None:
        """Refuse to replace or to remove what is read-only. Errors: TargetError."""
        faults = [
            f"{name}: must be writable to be tangled, got a read-only {kind}. Give "
            "write permission to it."
            for name in [*(self.name(path) for path in paths), self.lock]
            if (kind := _read_only(self.root / name))
        ]
        if faults:
            raise TargetError("\n".join(faults))


def _downwards(root: Path, name: str) -> Iterator[tuple[Path, bool]]:
    """Yield each place from the root down to `name`, and whether it is the last."""
    parts = name.split("/")
    for end in range(1, len(parts) + 1):
        yield root.joinpath(*parts[:end]), end == len(parts)


def _is_link(place: Path) -> bool:
    """Is a place, whose parents are no links, a symbolic link or a junction?"""
    real = os.path.normcase(os.path.realpath(place))
    return os.path.islink(place) or real != os.path.normcase(place)


def _read_only(place: Path) -> str | None:
    """Return which is read-only, the file or the folder it is in or will be in."""
    if place.exists() and not place.stat().st_mode & 0o222:
        return "file"
    folder = next(parent for parent in place.parents if parent.exists())
    return None if os.access(folder, os.W_OK) else "folder"
