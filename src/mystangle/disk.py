"""Every change on disk goes through here: a file is there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .problems import MystangleError

TEMPORARY = ".mystangle-tmp"
PATIENCE = 60.0  # seconds to wait for another run to end
RETRIES = (0.01, 0.05, 0.2, 0.7) if os.name == "nt" else ()  # seconds between
NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF}


class DiskError(MystangleError):
    """The operating system refused to read or to write."""

    exit_code = 2


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn an OSError into a DiskError that names the file and how to go on."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DiskError(
            f"{name}: must be readable and writable, got: {reason}. Mend that, then "
            "run mystangle again: it completes what was begun."
        ) from error


def read(place: Path) -> bytes | None:
    """Return the bytes of a file, None if there is no such file."""
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


def temporary(place: Path) -> Path:
    """Return where the next contents of `place` are prepared: hidden, beside it."""
    return place.with_name(f".{place.name}{TEMPORARY}")


def write(place: Path, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Replace `place` by a file of `data`, atomically; folders are made as needed.

    An existing file's permissions are kept, a new one's follow the umask.
    `check` runs at the last moment and may raise to keep the old file.
    """
    make_folder(place.parent)
    prepared = temporary(place)
    try:
        _write_through(prepared, data, _mode(place))
        check()
        _patiently(lambda: os.replace(prepared, place))
    except BaseException:
        with suppress(OSError):
            discard(prepared)
        raise


def _write_through(place: Path, data: bytes, mode: int | None) -> None:
    """Make a new file of `data` and wait until the disk has it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(place, flags, 0o666)
    try:
        if mode is not None:
            os.chmod(place, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode(place: Path) -> int | None:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        return None


def discard(place: Path) -> None:
    """Remove a file; it may be gone already."""
    if os.path.lexists(place):
        _patiently(lambda: os.unlink(place))


def _patiently(operation: Callable[[], None]) -> None:
    """Try again for a second where Windows refuses files that others hold open."""
    for pause in RETRIES:
        try:
            return operation()
        except PermissionError:
            time.sleep(pause)
    return operation()


def make_folder(folder: Path) -> None:
    """Make a folder and those above it."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):
        os.mkdir(folder)
    sync_folder(folder.parent)


def prune(folder: Path, stop: Path) -> None:
    """Remove `folder` if empty, then those above it, but never `stop`, its ancestor."""
    while folder != stop:
        if folder.is_dir():
            with os.scandir(folder) as entries:
                if any(entries):
                    return
            os.rmdir(folder)
            sync_folder(folder.parent)
        folder = folder.parent


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the folder's entries, where the platform can."""
    if os.name == "nt" or not folder.is_dir():
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what a killed run left half-written below `folder`."""
    for where, _, names in os.walk(folder):
        for name in names:
            if name.startswith(".") and name.endswith(TEMPORARY):
                discard(Path(where, name))


@contextmanager
def locked(place: Path, name: str) -> Iterator[None]:
    """Hold the lock file `place`; the system frees it when its process dies.

    Errors: DiskError if another run holds it for PATIENCE seconds.
    """
    from filelock import FileLock, Timeout  # slow to import, needed only to write

    with explained(name):
        make_folder(place.parent)
        lock = FileLock(place, timeout=PATIENCE)
        try:
            lock.acquire()
        except Timeout:
            raise DiskError(
                f"{name}: only one mystangle may write here at a time, got another "
                f"that has not ended in {PATIENCE:g} s. Wait for it or stop it, then "
                "run again."
            ) from None
        except NotImplementedError:
            raise DiskError(
                f"{name}: must be on a file system that can lock files, got one that "
                "cannot. Work on a local disk."
            ) from None
    try:
        yield
    finally:
        lock.release()
