"""Compare the targets on disk with those wanted; nothing is written here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .record import Journal, Record, digest, folded, format_record, merged, record_of
from .targets import fold
from .tree import Tree


@dataclass(frozen=True)
class Change:
    """What a run would do to one target: its bytes as they are and as they will be.

    `old` is None if there is no file, `new` is None if there shall be none. `known`
    are the digests under which tangle has written this target.
    """

    path: str
    old: bytes | None
    new: bytes | None
    known: frozenset[str]

    @property
    def is_edit(self) -> bool:
        """Would the change overwrite bytes that tangle did not write?"""
        if self.old is None or self.old == self.new:
            return False
        return digest(self.old) not in self.known


@dataclass(frozen=True)
class Plan:
    """What a run has to do; `journal` must be on disk before it begins."""

    changes: tuple[Change, ...]  # removals first
    edits: tuple[Change, ...]  # those of `changes` that overwrite a person's work
    refused: tuple[Change, ...]  # edits that no interrupted run had leave to overwrite
    unchanged: tuple[str, ...]
    orphans: tuple[str, ...]  # present or not
    journal: Journal
    lock_data: bytes
    lock_is_stale: bool

    @property
    def is_done(self) -> bool:
        return not self.changes and not self.lock_is_stale


def make_plan(tree: Tree, files: Mapping[str, bytes], journal: Journal) -> Plan:
    """Return what makes the tree's targets exactly `files` (path -> bytes).

    Errors: TargetError, SettingsError (a malformed lock file), DiskError.
    """
    lock_data, listed = tree.read_lock()
    owned, wanted = merged(listed, journal.tangled), record_of(files)
    orphans = tuple(sorted(owned.keys() - files.keys()))
    tree.require_plain([*files, *orphans])
    changes = _compare(tree, files, orphans, folded(owned))
    edits = tuple(c for c in changes if c.is_edit)
    found = record_of({c.path: c.old for c in edits if c.old is not None})
    return Plan(
        changes=changes,
        edits=edits,
        refused=tuple(c for c in edits if not _has_leave(found, journal, c.path)),
        unchanged=tuple(sorted(files.keys() - {c.path for c in changes})),
        orphans=orphans,
        journal=Journal(merged(owned, wanted), found),
        lock_data=format_record(wanted).encode(),
        lock_is_stale=format_record(wanted).encode() != lock_data,
    )


def _compare(
    tree: Tree, files: Mapping[str, bytes], orphans: Iterable[str], known: Record
) -> tuple[Change, ...]:
    """Return the changes to make; `known` is by folded path."""

    def change(path: str, new: bytes | None) -> Change:
        return Change(path, tree.read(path), new, known.get(fold(path), frozenset()))

    removed = [c for path in orphans if (c := change(path, None)).old is not None]
    # A new spelling of a removed name may be the same file: write it in any case.
    respelled = {fold(c.path) for c in removed}
    compared = [change(path, files[path]) for path in sorted(files)]
    written = [c for c in compared if c.old != c.new or fold(c.path) in respelled]
    return (*removed, *written)


def _has_leave(found: Record, journal: Journal, path: str) -> bool:
    """Did an interrupted run have leave to overwrite this text of `path`?"""
    return found[path] <= journal.released.get(path, frozenset())
