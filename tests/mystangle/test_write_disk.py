"""Disks that fail, and two runs at once."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from killer import COUNTED, Meter
from trees import CHANGED, FILES, LOCK, POSIX, contents, drifted, planted, tangle

from mystangle import disk
from mystangle.disk import DiskError
from mystangle.write import Drift, Outcome


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return planted(tmp_path)


def failing(monkeypatch: pytest.MonkeyPatch, n: int, lasting: bool) -> Meter:
    """Make the n-th call of the system fail, and those after it too if `lasting`."""

    def strike(name: str, number: int, when: str, args: tuple[Any, ...]) -> None:
        makes = name in ("write", "mkdir") or (name == "open" and args[1] & os.O_CREAT)
        if when == "before" and (number == n or (lasting and number > n and makes)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *args[:1])

    meter = Meter(strike)
    for name in COUNTED:
        monkeypatch.setattr(os, name, meter.wrap(name))
    return meter


@pytest.mark.parametrize("lasting", [False, True])
def test_after_any_failure_the_next_run_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool
) -> None:
    wanted = {"pkg/a.py": b"a = 2\n", "pkg/new/c.py": b"c\n"}
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # nobody pulls the plug
    failed = 0
    for n in range(1, 200):
        root = tmp_path / str(n)
        tangle(root, FILES)
        (root / "src/pkg/a.py").write_bytes(b"by hand\n")
        with monkeypatch.context() as patch:
            meter = failing(patch, n, lasting)
            try:
                tangle(root, wanted, force=True)
            except DiskError as error:
                failed += 1
                assert os.strerror(errno.ENOSPC) in str(error)
                assert str(root) not in str(error)
                assert "run mystangle again" in str(error)
        tangle(root, wanted, force=True)
        tree = contents(root)
        tree.pop(LOCK)
        assert tree == {f"src/{path}": data for path, data in wanted.items()}, n
        kept = root / ".mystangle/edited/src/pkg/a.py"
        assert kept.read_bytes() == b"by hand\n"
        assert not drifted(root, wanted)
        assert not (root / ".mystangle/journal").exists()
        if len(meter.calls) < n:
            break
    assert failed > 40 and n < 199


def test_on_a_read_only_file_system_drift_and_an_idle_run_work(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in COUNTED:
        monkeypatch.setattr(os, name, refuse)
    assert drifted(root, CHANGED) == Drift(stale=("pkg/a.py",))
    assert tangle(root, FILES).written == ()
    with pytest.raises(DiskError, match=re.escape(os.strerror(errno.EROFS))):
        tangle(root, CHANGED)


def test_windows_is_asked_again_while_another_program_holds_a_file(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, asked = os.replace, []

    def held(*args: Any) -> None:
        asked.append(args)
        if len(asked) < 3:
            raise PermissionError(errno.EACCES, "held")
        plain(*args)

    monkeypatch.setattr(os, "replace", held)
    monkeypatch.setattr(disk, "RETRIES", (0.0, 0.0, 0.0))
    assert tangle(root, CHANGED).written == ("pkg/a.py",)


def test_a_disk_that_takes_a_few_bytes_at_a_time_gets_them_all(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: plain(handle, data[:3]))
    tangle(root, {"pkg/long.py": b"0123456789" * 10})
    assert contents(root)["src/pkg/long.py"] == b"0123456789" * 10
    assert not drifted(root, {"pkg/long.py": b"0123456789" * 10})


@POSIX
def test_the_disk_has_each_file_and_folder_before_the_next_step(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, names = [], {}
    plain_open, plain_sync, plain_replace = os.open, os.fsync, os.replace

    def opened(path: Any, *args: Any, **kwargs: Any) -> int:
        handle = plain_open(path, *args, **kwargs)
        names[handle] = Path(path).relative_to(root).as_posix()
        return handle

    def synced(handle: int) -> None:
        plain_sync(handle)
        log.append(f"sync {names[handle]}")

    def replaced(old: Any, new: Any) -> None:
        plain_replace(old, new)
        log.append(f"replace {Path(new).relative_to(root).as_posix()}")

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    tangle(root, {"pkg/__init__.py": b"", "pkg/a.py": b"a = 2\n"})
    assert log == [
        "sync .mystangle/.journal.mystangle-tmp",
        "replace .mystangle/journal",
        "sync .mystangle",
        "sync src/pkg/.a.py.mystangle-tmp",
        "replace src/pkg/a.py",
        "sync src/pkg",  # the folder `sub` is gone
        "sync src/pkg",
        "sync .mystangle.lock.mystangle-tmp",
        "replace mystangle.lock",
        "sync .",
    ]


def test_an_idle_run_removes_what_a_killed_one_left(root: Path) -> None:
    left = [
        root / ".mystangle/.journal.mystangle-tmp",
        root / "src/pkg/.a.py.mystangle-tmp",
        root / ".mystangle.lock.mystangle-tmp",
    ]
    for place in left:
        place.write_bytes(b"half")
    before = contents(root / "src/pkg/sub")
    assert tangle(root, FILES) == Outcome(unchanged=tuple(sorted(FILES)))
    assert [place for place in left if place.exists()] == []
    assert contents(root / "src/pkg/sub") == before


RUN = """
import json, sys
from pathlib import Path
from mystangle.write import write_tree
files = {f"p/{i}.py": b"%d" % i * 1000 for i in range(30)}
print(len(write_tree(Path(sys.argv[1]), "src", "mystangle.lock", files).written))
"""


def start(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(root)], stdout=subprocess.PIPE, text=True
    )


def test_two_runs_at_once_both_succeed(tmp_path: Path) -> None:
    for name in "abc":
        runs = [start(tmp_path / name) for _ in range(3)]
        written = [int(run.communicate(timeout=60)[0]) for run in runs]
        assert [run.returncode for run in runs] == [0, 0, 0]
        assert sorted(written) == [0, 0, 30]


def test_a_run_waits_for_another(tmp_path: Path) -> None:
    (tmp_path / ".mystangle").mkdir()
    with FileLock(tmp_path / ".mystangle/lock"):
        run = start(tmp_path)
        time.sleep(0.7)
        assert run.poll() is None
        assert not (tmp_path / "src").exists()
    assert run.communicate(timeout=60)[0] == "30\n"


def test_a_run_that_waits_too_long_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "PATIENCE", 0.05)
    with (
        FileLock(root / ".mystangle/lock"),
        pytest.raises(DiskError, match="only one mystangle may write here at a time"),
    ):
        tangle(root, CHANGED)
    assert contents(root)["src/pkg/a.py"] == FILES["pkg/a.py"]
