"""Write a set of files below a source folder, and never over what a person wrote.

Plan everything, check everything, then write. The digest of each target as last
tangled is in the lock file; a target with other bytes was edited by hand, and nothing
is written. A journal tells the next run what a killed one may have left on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from . import disk
from .edits import describe
from .plan import Change, Plan, make_plan
from .problems import HandEditError
from .record import Journal, merged
from .targets import TargetError, require_portable
from .tree import STATE, Tree

ADVICE = (
    "Nothing was written. (Lines with `-` are the book's, with `+` the file's.) Copy "
    "what is worth keeping into the chapter, then run `mystangle tangle` again; or run "
    "`mystangle tangle --force`, which overwrites the edits and puts a copy of each "
    f"below {STATE}/edited/."
)
EXPORT_ADVICE = "Nothing was written. Name a folder that is new or empty."


@dataclass(frozen=True)
class Outcome:
    """What a run did, as paths below the source; `saved`: copies of overwritten edits,
    as paths below the root."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drift:
    """How the disk differs from what would be tangled, as paths below the source.

    `stale`: as tangled once, but not now. `missing`. `orphans`: tangled once, no longer
    in the book. `edited`: by hand. `lock`: only the lock file is out of date.
    """

    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    lock: bool = False

    def __bool__(self) -> bool:
        return self != Drift()


def write_tree(
    root: Path,
    source: str,
    lock: str,
    files: Mapping[str, bytes],
    *,
    force: bool = False,
) -> Outcome:
    """Make the targets below `root`/`source` exactly `files` (path -> bytes).

    Files that an earlier run wrote and that are no longer wanted are removed; all
    others stay. With `force`, edits are overwritten and a copy of each is kept.
    Errors: HandEditError, TargetError, SettingsError (nothing was written); DiskError
    (the next run completes what was begun).
    """
    return _settle(Tree.at(root, source, lock), files, force, ADVICE)


def drift(root: Path, source: str, lock: str, files: Mapping[str, bytes]) -> Drift:
    """Return what `write_tree` would find to do, and write nothing.

    Errors: TargetError, SettingsError, DiskError (nothing can be read).
    """
    tree = Tree.at(root, source, lock)
    require_portable(files)
    plan = make_plan(tree, files, tree.read_journal())
    sound = [change for change in plan.changes if change not in plan.refused]
    kept = [change for change in sound if change.new is not None]
    return Drift(
        stale=tuple(change.path for change in kept if change.old is not None),
        missing=tuple(change.path for change in kept if change.old is None),
        orphans=tuple(change.path for change in sound if change.new is None),
        edited=tuple(sorted(change.path for change in plan.refused)),
        lock=plan.lock_is_stale and not plan.changes,
    )


def export_tree(directory: Path, files: Mapping[str, bytes]) -> None:
    """Make `directory` hold exactly `files`, beside a hidden folder of our own.

    Errors: HandEditError if it holds anything that an export did not write there;
    TargetError if it is no folder to write in, or for a bad path; DiskError.
    """
    try:
        _export(directory, files)
    except disk.DiskError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        raise TargetError(
            f"{directory}: must be a folder that can be written, got: "
            f"{error.__cause__.strerror}. Name another folder."
        ) from error


def _export(directory: Path, files: Mapping[str, bytes]) -> None:
    tree = Tree(Path(os.path.realpath(directory)), "", f"{STATE}/exported")
    ours = {*files, *merged(tree.read_lock()[1], tree.read_journal().tangled)}
    strange = (path for path in _contents(tree.root) if path not in ours)
    if foreign := list(islice(strange, 10)):
        names = "".join(f"{path}: was not exported.\n" for path in foreign)
        raise HandEditError(foreign, names + EXPORT_ADVICE)
    _settle(tree, files, False, EXPORT_ADVICE)


def _contents(root: Path) -> Iterator[str]:
    """Yield every file and link below `root`, but for our state and Python's caches."""
    for where, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(Path(where, name))]
        folders[:] = [name for name in folders if name not in (STATE, "__pycache__")]
        for name in [*names, *links]:
            if not name.endswith(disk.TEMPORARY):
                yield Path(where, name).relative_to(root).as_posix()


def _settle(
    tree: Tree, files: Mapping[str, bytes], force: bool, advice: str
) -> Outcome:
    """Make the tree's targets `files`; take the lock only if there is work to do."""
    require_portable(files)
    tree.require_plain(())
    if not tree.interrupted():
        with suppress(disk.DiskError):  # it may be another run's doing: ask again
            plan = make_plan(tree, files, Journal())
            if plan.is_done:
                return Outcome(unchanged=plan.unchanged)
    with disk.locked(tree.state / "lock", f"{STATE}/lock"):
        with disk.explained(tree.source or "."):
            _sweep(tree)
        tree.hide_state()
        plan = make_plan(tree, files, tree.read_journal())
        if not force:
            _refuse(tree, plan.refused, advice)
        tree.require_writable(change.path for change in plan.changes)
        return _apply(tree, plan)


def _sweep(tree: Tree) -> None:
    """Remove what a killed run left half-written."""
    disk.sweep(tree.base)
    disk.sweep(tree.state)
    disk.discard(disk.temporary(tree.lock_place))


def _refuse(tree: Tree, edits: Sequence[Change], advice: str) -> None:
    """Refuse to lose a person's work. Errors: HandEditError if there is any."""
    if edits:
        found = {e.path: describe(e, tree.name(e.path), tree.lock) for e in edits}
        texts = [found[path] for path in sorted(found)]
        raise HandEditError(sorted(found), "\n".join([*texts, advice]))


def _apply(tree: Tree, plan: Plan) -> Outcome:
    """Carry out a plan that was checked; the caller holds the lock.

    Killed anywhere, it leaves a journal with which the next run's plan is sound.
    """
    saved: list[str] = []
    if not plan.is_done:
        with disk.explained(f"{STATE}/journal"):
            disk.write(tree.journal, plan.journal.data())
            disk.sync_folder(tree.state)
        saved = [_keep(tree, edit) for edit in plan.edits]
        for change in plan.changes:
            with disk.explained(tree.name(change.path)):
                _carry_out(tree, change)
    _finish(tree, plan)
    return Outcome(
        written=tuple(c.path for c in plan.changes if c.new is not None),
        removed=tuple(c.path for c in plan.changes if c.new is None),
        unchanged=plan.unchanged,
        saved=tuple(saved),
    )


def _finish(tree: Tree, plan: Plan) -> None:
    """Tidy the folders, then say in the lock file that all is done."""
    with disk.explained(tree.source or "."):
        for path in plan.orphans:
            disk.prune(tree.place(path).parent, tree.base)
        for folder in sorted({tree.place(c.path).parent for c in plan.changes}):
            disk.sync_folder(folder)
    with disk.explained(tree.lock):
        if plan.lock_is_stale:
            disk.write(tree.lock_place, plan.lock_data)
            disk.sync_folder(tree.lock_place.parent)
    with disk.explained(f"{STATE}/journal"):
        disk.discard(tree.journal)


def _carry_out(tree: Tree, change: Change) -> None:
    """Write or remove one target, if it still is as it was planned."""
    place = tree.place(change.path)

    def require_unchanged() -> None:
        if disk.read(place) not in (None, change.old):
            raise HandEditError(
                [change.path],
                f"{tree.name(change.path)}: must not change while tangle runs, got new "
                "bytes. They are still there; run `mystangle tangle` again.",
            )

    if change.new is not None:
        disk.write(place, change.new, require_unchanged)
    else:
        require_unchanged()
        disk.discard(place)


def _keep(tree: Tree, edit: Change) -> str:
    """Save the text of an edit that will be overwritten; return where, from the root.

    Never over another text: the folders are `edited`, `edited-2`, and so on.
    """
    data, name = edit.old or b"", tree.name(edit.path)
    for number in count(1):
        kept = f"{STATE}/edited{f'-{number}' if number > 1 else ''}/{name}"
        place = tree.root / kept
        if place.is_file() and disk.read(place) == data:
            break
        if _is_free(place):
            with disk.explained(kept):
                disk.write(place, data)
                disk.sync_folder(place.parent)
            break
    return kept


def _is_free(place: Path) -> bool:
    """Is there neither a file at `place` nor one where a folder above must be?"""
    above = (p.is_dir() or not os.path.lexists(p) for p in place.parents)
    return not os.path.lexists(place) and all(above)
