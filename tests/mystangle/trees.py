"""What the tests of writing share: a small tree, and ways to look at it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from mystangle.problems import HandEditError
from mystangle.write import Drift, Outcome, drift, write_tree

LOCK = "mystangle.lock"
FILES = {"pkg/__init__.py": b"", "pkg/a.py": b"a = 1\n", "pkg/sub/b.py": b"b = 1\n"}
CHANGED = {**FILES, "pkg/a.py": b"a = 2\n"}
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions or links")


def tangle(root: Path, files: Mapping[str, bytes], *, force: bool = False) -> Outcome:
    return write_tree(root, "src", LOCK, files, force=force)


def drifted(root: Path, files: Mapping[str, bytes]) -> Drift:
    return drift(root, "src", LOCK, files)


def contents(root: Path) -> dict[str, bytes]:
    """Return the files below `root`, but for those of the state folder."""
    return {
        place.relative_to(root).as_posix(): place.read_bytes()
        for place in root.rglob("*")
        if place.is_file() and ".mystangle" not in place.relative_to(root).parts
    }


def times(root: Path) -> dict[str, int]:
    return {str(p): p.lstat().st_mtime_ns for p in [root, *root.rglob("*")]}


def refused(root: Path, files: Mapping[str, bytes]) -> HandEditError:
    """Return the refusal of a run, which has written nothing."""
    before = contents(root)
    with pytest.raises(HandEditError) as caught:
        tangle(root, files)
    assert contents(root) == before
    assert caught.value.exit_code == 3
    assert drifted(root, files).edited == caught.value.files
    assert str(root) not in str(caught.value)
    return caught.value


def planted(root: Path) -> Path:
    """Return `root` with a tree that was tangled, and a file that was not."""
    tangle(root, FILES)
    (root / "src/pkg/py.typed").write_bytes(b"mine")
    return root
