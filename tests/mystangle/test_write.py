"""Writing a set of files: what is written, what is refused, what is left alone."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from killer import COUNTED, Meter

from mystangle import disk
from mystangle.disk import DiskError
from mystangle.problems import HandEditError, MystangleError, SettingsError
from mystangle.record import Journal, format_record, parse_record
from mystangle.targets import TargetError, require_portable
from mystangle.write import Drift, Outcome, drift, export_tree, write_tree

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


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root whose tree was tangled, and which holds a file that was not."""
    tangle(tmp_path, FILES)
    (tmp_path / "src/pkg/py.typed").write_bytes(b"mine")
    return tmp_path


# What is written


def test_a_fresh_tree_is_written_and_recorded(tmp_path: Path) -> None:
    outcome = tangle(tmp_path, FILES)
    assert outcome == Outcome(written=tuple(sorted(FILES)))
    assert {p: d for p, d in contents(tmp_path).items() if p != LOCK} == {
        f"src/{path}": data for path, data in FILES.items()
    }
    assert (tmp_path / LOCK).read_text() == "".join(
        f"{hashlib.sha256(FILES[path]).hexdigest()}  {path}\n" for path in sorted(FILES)
    )
    assert os.listdir(tmp_path / ".mystangle") in ([], ["lock"])


def test_a_second_run_touches_nothing(root: Path) -> None:
    before = times(root)
    assert tangle(root, FILES) == Outcome(unchanged=tuple(sorted(FILES)))
    assert times(root) == before
    assert not drifted(root, FILES)


def test_only_what_changed_is_written(root: Path) -> None:
    before = times(root)
    outcome = tangle(root, CHANGED)
    assert (outcome.written, outcome.removed) == (("pkg/a.py",), ())
    after = times(root)
    assert (
        before[str(root / "src/pkg/sub/b.py")] == after[str(root / "src/pkg/sub/b.py")]
    )
    assert contents(root)["src/pkg/a.py"] == b"a = 2\n"


def test_a_deleted_target_comes_back(root: Path) -> None:
    (root / "src/pkg/a.py").unlink()
    assert drifted(root, FILES) == Drift(missing=("pkg/a.py",))
    assert tangle(root, FILES).written == ("pkg/a.py",)


def test_a_missing_lock_file_adopts_what_is_as_wanted(root: Path) -> None:
    (root / LOCK).unlink()
    assert drifted(root, FILES) == Drift(lock=True)
    before = times(root / "src")
    assert tangle(root, FILES).written == ()
    assert times(root / "src") == before
    assert not drifted(root, FILES)
    assert tangle(root, CHANGED).written == ("pkg/a.py",)


def test_a_fresh_clone_knows_what_was_tangled(root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    for path, data in contents(root).items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_bytes(data)
    assert tangle(clone, CHANGED).written == ("pkg/a.py",)


@POSIX
def test_a_new_file_obeys_the_umask_and_an_old_one_keeps_its_mode(root: Path) -> None:
    (root / "src/pkg/a.py").chmod(0o751)
    before = os.umask(0o027)
    try:
        tangle(root, {**CHANGED, "pkg/new.py": b""})
    finally:
        os.umask(before)
    modes = {n: (root / "src/pkg" / n).stat().st_mode for n in ("a.py", "new.py")}
    assert {n: stat.S_IMODE(mode) for n, mode in modes.items()} == {
        "a.py": 0o751,
        "new.py": 0o640,
    }


def test_drift_names_each_kind(root: Path) -> None:
    (root / "src/pkg/__init__.py").write_bytes(b"edited")
    wanted = {"pkg/__init__.py": b"", "pkg/a.py": b"a = 2\n", "pkg/c.py": b""}
    before = times(root)
    found = drifted(root, wanted)
    assert found == Drift(
        stale=("pkg/a.py",),
        missing=("pkg/c.py",),
        orphans=("pkg/sub/b.py",),
        edited=("pkg/__init__.py",),
    )
    assert found and times(root) == before


# What was edited by hand


@pytest.mark.parametrize(
    "edit",
    [
        b"a = 3\n",
        b"a = 1",
        b"a = 1\n\n",
        b"a = 1\n ",
        b"\xef\xbb\xbfa = 1\n",
        b"\xff\0",
        b"",
    ],
)
def test_an_edit_is_refused_whether_or_not_the_chapter_changed(
    root: Path, edit: bytes
) -> None:
    (root / "src/pkg/a.py").write_bytes(edit)
    for files in (FILES, CHANGED, {**FILES, "pkg/other.py": b"1\n"}):
        error = refused(root, files)
        assert error.files == ("pkg/a.py",)
        assert "src/pkg/a.py: must be as it was last tangled" in str(error)
        assert "mystangle tangle --force" in str(error)
        assert "chapter" in str(error)


def test_every_edited_file_is_named_with_its_difference(root: Path) -> None:
    (root / "src/pkg/a.py").write_bytes(b"a = 3\r\x1b[2J\n")
    (root / "src/pkg/sub/b.py").write_bytes(b"".join(b"%d\n" % i for i in range(40)))
    error = refused(root, CHANGED)
    assert error.files == ("pkg/a.py", "pkg/sub/b.py")
    assert "    -a = 2\n    +a = 3\\r\\x1b[2J\n" in str(error)
    assert "… 30 more lines" in str(error)


def test_an_edit_that_the_chapter_has_caught_up_with_is_adopted(root: Path) -> None:
    (root / "src/pkg/a.py").write_bytes(b"a = 2\n")
    assert tangle(root, CHANGED).written == ()
    assert tangle(root, FILES).written == ("pkg/a.py",)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("files", [FILES, CHANGED])
def test_a_checkout_with_crlf_is_told_apart(
    root: Path, listed: bool, files: Mapping[str, bytes]
) -> None:
    (root / "src/pkg/sub/b.py").write_bytes(b"b = 1\r\n")
    if not listed:
        (root / LOCK).unlink()
    error = refused(root, {**files, "pkg/a.py": b"a = 1\n"})
    assert "CRLF" in str(error) and ".gitattributes" in str(error)
    assert "last tangled" not in str(error)


def test_a_lock_file_with_crlf_is_read_and_mended(root: Path) -> None:
    lock = (root / LOCK).read_bytes()
    (root / LOCK).write_bytes(lock.replace(b"\n", b"\r\n"))
    assert drifted(root, FILES) == Drift(lock=True)
    tangle(root, FILES)
    assert (root / LOCK).read_bytes() == lock


def test_a_file_that_tangle_did_not_write_is_not_overwritten(root: Path) -> None:
    error = refused(root, {**FILES, "pkg/py.typed": b""})
    assert error.files == ("pkg/py.typed",)
    assert "mystangle.lock does not list" in str(error)


def test_force_overwrites_and_keeps_every_version_of_the_edit(root: Path) -> None:
    place, kept = root / "src/pkg/a.py", ".mystangle/{}/src/pkg/a.py"
    folders = ("edited", "edited", "edited-2", "edited-3", "edited-2")
    texts = (b"first", b"first", b"second", b"third", b"second")
    for folder, text in zip(folders, texts, strict=True):
        place.write_bytes(text)
        outcome = tangle(root, CHANGED, force=True)
        assert outcome.saved == (kept.format(folder),)
        assert (root / outcome.saved[0]).read_bytes() == text
        assert place.read_bytes() == b"a = 2\n"
    assert (root / kept.format("edited")).read_bytes() == b"first"


def test_a_kept_edit_is_not_in_the_way_of_another(root: Path) -> None:
    for path in ("pkg/x", "pkg/x/y"):
        files = {**FILES, path: b"new"}
        place = root / "src" / path
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(path.encode())
        saved = tangle(root, files, force=True).saved
        assert (root / saved[0]).read_bytes() == path.encode()
        tangle(root, FILES)


def test_a_file_that_changes_while_tangle_runs_is_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = disk._write_through

    def slow(place: Path, data: bytes, mode: int | None) -> None:
        plain(place, data, mode)
        if "a.py" in place.name:
            (root / "src/pkg/a.py").write_bytes(b"saved in the editor just now\n")

    monkeypatch.setattr(disk, "_write_through", slow)
    with pytest.raises(HandEditError, match="must not change while tangle runs"):
        tangle(root, CHANGED)
    monkeypatch.undo()
    assert refused(root, CHANGED).files == ("pkg/a.py",)
    assert contents(root)["src/pkg/a.py"] == b"saved in the editor just now\n"


# Orphans


def test_an_untouched_orphan_and_its_empty_folders_go(root: Path) -> None:
    wanted = {path: data for path, data in FILES.items() if "sub" not in path}
    assert tangle(root, wanted).removed == ("pkg/sub/b.py",)
    assert not (root / "src/pkg/sub").exists()
    assert tangle(root, {}).removed == ("pkg/__init__.py", "pkg/a.py")
    assert contents(root) == {"src/pkg/py.typed": b"mine", LOCK: b""}


def test_the_source_folder_itself_stays(tmp_path: Path) -> None:
    tangle(tmp_path, FILES)
    tangle(tmp_path, {})
    assert list((tmp_path / "src").iterdir()) == []


def test_an_edited_orphan_is_refused(root: Path) -> None:
    (root / "src/pkg/sub/b.py").write_bytes(b"mine\n")
    wanted = {path: data for path, data in CHANGED.items() if "sub" not in path}
    error = refused(root, wanted)
    assert error.files == ("pkg/sub/b.py",)
    assert "no longer in the book" in str(error)
    saved = tangle(root, wanted, force=True).saved
    assert [(root / path).read_bytes() for path in saved] == [b"mine\n"]
    assert not (root / "src/pkg/sub").exists()


def test_an_orphan_that_is_gone_is_forgotten_with_its_folder(root: Path) -> None:
    (root / "src/pkg/sub/b.py").unlink()
    wanted = {path: data for path, data in FILES.items() if "sub" not in path}
    assert drifted(root, wanted) == Drift(lock=True)
    assert tangle(root, wanted).removed == ()
    assert "sub" not in (root / LOCK).read_text()
    assert not (root / "src/pkg/sub").exists()


# Targets


BAD_PATHS = (
    *("", "/etc/x", "//host/x", "../x", "a/../x", "a/..", "./x", "a//x", "a/", "a/./x"),
    *("C:/x", "c:x", "C:\\x", "a\\b", "a\\..\\b", "\\\\host\\x", "x.py:stream"),
    *("con", "a/NUL.py", "aux.tar.gz", "Com1.py", "lpt9", "com¹", "CONIN$", "prn .py"),
    *("a.", "a./x", "a /x", " x", "x ", "a\0", "a\nb", "a\rb", "a\x7f", "a\u2028b"),
    *("a\ud800", "a\x85b", "*.py", "a?", "a|b", "<a>", 'a"b', "a" * 201, "é" * 101),
    *(".git/hooks/x", "a/.x", ".mystangle/x", "a/__pycache__/x.py", "__PYCACHE__/x"),
)
GOOD_PATHS = (
    *("x.py", "a..b.py", "a/b/c/d.py", "console.py", "auxiliary/nul_.py", "com.py"),
    *(
        "a b.py",
        "né.py",
        "日本.py",
        "a" * 200,
        "con_.py",
        "com10.py",
        "~x",
        "a-b+c=d.py",
    ),
)
BAD_SETS = (
    ("foo.py", "Foo.py"),
    ("Pkg/a.py", "pkg/b.py"),
    ("n\u00e9.py", "ne\u0301.py"),
    ("stra\u00dfe.py", "STRASSE.py"),
    ("s", "s/x.py"),
    ("S", "s/x.py"),
    ("a/b/c.py", "a/b"),
)


@pytest.mark.parametrize("path", BAD_PATHS, ids=ascii)
def test_a_bad_path_is_refused_before_anything_is_written(
    root: Path, path: str
) -> None:
    before = contents(root.parent)
    for run in (tangle, drifted):
        with pytest.raises(TargetError, match="a target's path must") as caught:
            run(root, {**CHANGED, path: b""})
        assert caught.value.exit_code == 2
        assert ascii(path)[:3] in ascii(str(caught.value))
    with pytest.raises(TargetError):
        export_tree(root / "out", {path: b""})
    assert contents(root.parent) == before


def test_good_paths_are_written(tmp_path: Path) -> None:
    files = {path: path.encode() for path in GOOD_PATHS}
    assert tangle(tmp_path, files).written == tuple(sorted(files))
    assert not drifted(tmp_path, files)
    assert tangle(tmp_path, {}).removed == tuple(sorted(files))


@pytest.mark.parametrize("paths", BAD_SETS, ids=ascii)
def test_targets_that_clash_are_refused(root: Path, paths: tuple[str, ...]) -> None:
    with pytest.raises(TargetError):
        tangle(root, {**FILES, **dict.fromkeys(paths, b"")})
    with pytest.raises(TargetError):
        require_portable(reversed(paths))
    for path in paths:
        require_portable([path])


def test_all_bad_paths_are_named_at_once() -> None:
    with pytest.raises(TargetError) as caught:
        require_portable(["../a", "ok.py", "nul"])
    assert str(caught.value).splitlines() == [
        "'../a': a target's path must hold only names between its slashes, not '..'. "
        "Rename the file.",
        "'nul': a target's path must hold no name that Windows reserves, as 'nul' is. "
        "Rename the file.",
    ]


@POSIX
@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("src/pkg/sub", "outside"),
        ("src/pkg/sub", "src/inside"),
        ("src", "outside"),
        ("src/pkg/a.py", "outside/a.py"),
        ("src/pkg/a.py", "nowhere"),
        ("src/pkg/a.py", "src/pkg/a.py"),
        (LOCK, "outside/lock"),
    ],
)
def test_links_are_refused_even_with_force(
    tmp_path: Path, link: str, target: str
) -> None:
    root = tmp_path / "root"
    for folder in ("src/inside", "src/pkg", "outside"):
        (root / folder).mkdir(parents=True)
    (root / "outside/a.py").write_bytes(b"a = 0\n")
    (root / "outside/lock").write_bytes(b"")
    place = root / link
    if place.is_dir():
        place.rename(root / "away")
    place.symlink_to(root / target)
    before = contents(root)
    for run in (lambda: tangle(root, FILES, force=True), lambda: drifted(root, FILES)):
        with pytest.raises(TargetError, match=f"^{link}: must not be a link"):
            run()
    assert contents(root) == before


@POSIX
def test_an_orphan_behind_a_link_is_not_removed(root: Path) -> None:
    (root / "src/pkg/sub").rename(root / "elsewhere")
    (root / "src/pkg/sub").symlink_to(root / "elsewhere")
    with pytest.raises(TargetError, match="src/pkg/sub: must not be a link"):
        tangle(root, {"pkg/a.py": b"a = 1\n"})
    assert (root / "elsewhere/b.py").exists()


@POSIX
def test_a_root_that_is_reached_by_a_link_is_fine(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert tangle(tmp_path / "alias", CHANGED).written == ("pkg/a.py",)
    assert not drifted(root, CHANGED)


def test_a_target_must_be_a_file_in_folders(root: Path) -> None:
    for path, what in (("pkg/sub", "file"), ("pkg/py.typed/x", "folder")):
        with pytest.raises(TargetError, match=f"must be a {what}"):
            tangle(root, {"pkg/a.py": b"", path: b""}, force=True)
    assert contents(root)["src/pkg/a.py"] == FILES["pkg/a.py"]


def test_a_path_too_long_for_the_system_is_a_clear_error(root: Path) -> None:
    path = "/".join(["d" * 200] * 30)
    for run in (tangle, drifted):
        with pytest.raises(DiskError, match="d: must be readable and writable, got"):
            run(root, {**CHANGED, path: b""})
    assert contents(root)["src/pkg/a.py"] == FILES["pkg/a.py"]


@POSIX
def test_a_pipe_is_not_read(root: Path) -> None:
    os.mkfifo(root / "src/pkg/pipe")
    with pytest.raises(TargetError, match="src/pkg/pipe: must be a file"):
        tangle(root, {**FILES, "pkg/pipe": b""})


@pytest.mark.parametrize("force", [False, True])
def test_a_read_only_target_is_refused_and_nothing_is_written(
    root: Path, force: bool
) -> None:
    (root / "src/pkg/sub/b.py").chmod(0o444)
    before = contents(root)
    for files in ({**CHANGED, "pkg/sub/b.py": b"b = 2\n"}, {"pkg/a.py": b"a = 2\n"}):
        with pytest.raises(TargetError, match=r"src/pkg/sub/b.py: .*read-only file"):
            tangle(root, files, force=force)
    assert contents(root) == before
    assert tangle(root, CHANGED).written == ("pkg/a.py",)


def test_a_read_only_folder_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, plain = str(root / "src/pkg/sub"), os.access
    monkeypatch.setattr(os, "access", lambda p, m: str(p) != folder and plain(p, m))
    with pytest.raises(TargetError, match=r"src/pkg/sub/new/c.py: .*read-only folder"):
        tangle(root, {**CHANGED, "pkg/sub/new/c.py": b""})
    assert contents(root)["src/pkg/a.py"] == FILES["pkg/a.py"]


@pytest.mark.parametrize(
    ("source", "lock"),
    [("../src", LOCK), ("", LOCK), (".", LOCK), ("/src", LOCK), (".git", LOCK)]
    + [
        ("src", bad) for bad in ("src/lock", "SRC/lock", "../lock", "", ".git/x", "src")
    ],
)
def test_the_source_and_the_lock_file_lie_below_the_root(
    tmp_path: Path, source: str, lock: str
) -> None:
    with pytest.raises(SettingsError):
        write_tree(tmp_path, source, lock, FILES)
    assert list(tmp_path.iterdir()) == []


# Names that differ by case


def test_a_new_spelling_by_case_replaces_the_old(tmp_path: Path) -> None:
    tangle(tmp_path, {"foo.py": b"1\n", "bar.py": b"1\n"})
    outcome = tangle(tmp_path, {"Foo.py": b"1\n", "Bar.py": b"2\n"})
    assert (outcome.written, outcome.removed) == (
        ("Bar.py", "Foo.py"),
        ("bar.py", "foo.py"),
    )
    assert sorted(p.name for p in (tmp_path / "src").iterdir()) == ["Bar.py", "Foo.py"]


def test_a_new_spelling_by_case_on_a_disk_that_ignores_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert str(tmp_path).endswith(tmp_path.name.lower())

    def lower(path: Any) -> Any:
        if isinstance(path, int):
            return path
        text = os.fspath(path)
        return str(tmp_path) + text.removeprefix(str(tmp_path)).lower()

    def folding(plain: Callable[..., Any], paths: int) -> Callable[..., Any]:
        return lambda *a, **k: plain(*map(lower, a[:paths]), *a[paths:], **k)

    for name in ("open", "stat", "lstat", "unlink", "chmod"):
        monkeypatch.setattr(os, name, folding(getattr(os, name), 1))
    monkeypatch.setattr(os, "replace", folding(os.replace, 2))
    monkeypatch.setattr(os.path, "lexists", folding(os.path.lexists, 1))
    plain_read = disk.read
    monkeypatch.setattr(disk, "read", lambda place: plain_read(Path(lower(place))))
    tangle(tmp_path, {"foo.py": b"1\n", "bar.py": b"1\n"})
    tangle(tmp_path, {"Foo.py": b"1\n", "Bar.py": b"2\n"})
    wanted = {"src/foo.py": b"1\n", "src/bar.py": b"2\n"}
    found = contents(tmp_path)
    assert [line[66:] for line in found.pop(LOCK).decode().splitlines()] == [
        "Bar.py",
        "Foo.py",
    ]
    assert found == wanted


# The lock file and the journal


CONFLICT = "<<<<<<< HEAD\n{a}  pkg/a.py\n=======\n{b}  pkg/a.py\n>>>>>>> branch\n"


@pytest.mark.parametrize(
    ("line", "mend"),
    [
        ("<<<<<<< HEAD", "keep the lines of both sides"),
        ("||||||| base", "keep the lines of both sides"),
        ("=======", "keep the lines of both sides"),
        (">>>>>>> branch", "keep the lines of both sides"),
        ("", "Restore"),
        ("abc  pkg/a.py", "Restore"),
        ("0" * 64 + " pkg/a.py", "Restore"),
        ("0" * 64 + "  ../a.py", "Restore"),
        ("0" * 64 + "  /etc/passwd", "Restore"),
        ("A" * 64 + "  a.py", "Restore"),
        ("0" * 64 + "  a\udcff.py", "Restore"),
        ("\ufeff" + "0" * 64 + "  a.py", "Restore"),
    ],
)
def test_a_malformed_lock_file_is_named_with_its_line(
    root: Path, line: str, mend: str
) -> None:
    data = f"{'0' * 64}  ok.py\n{line}\n".encode("utf-8", "surrogateescape")
    (root / LOCK).write_bytes(data)
    before = contents(root)
    for run in (tangle, drifted):
        with pytest.raises(
            SettingsError, match=r"^mystangle\.lock:2: a line must"
        ) as e:
            run(root, CHANGED)
        assert mend in str(e.value)
    assert contents(root) == before


def test_a_merge_that_keeps_both_sides_is_understood(root: Path) -> None:
    digests = [hashlib.sha256(d).hexdigest() for d in (b"a = 1\n", b"a = 9\n")]
    (root / LOCK).write_text("".join(f"{d}  pkg/a.py\n" for d in digests))
    for side in (b"a = 1\n", b"a = 9\n"):
        (root / "src/pkg/a.py").write_bytes(side)
        assert drifted(root, CHANGED).stale == ("pkg/a.py",)
    tangle(root, CHANGED)
    assert len((root / LOCK).read_text().splitlines()) == len(CHANGED)


def test_records_survive_a_round_trip() -> None:
    record = {"b": frozenset({"0" * 64, "1" * 64}), "a/é": frozenset({"2" * 64})}
    assert parse_record(format_record(record).encode(), "x") == record
    journal = Journal(record, {"c": frozenset({"3" * 64})})
    assert Journal.parse(journal.data(), "x") == journal
    assert Journal.parse(Journal().data(), "x") == Journal()


def test_a_damaged_journal_says_how_to_go_on(root: Path) -> None:
    whole = Journal({"pkg/a.py": frozenset({"0" * 64})}).data()
    (root / "src/pkg/.a.py.mystangle-tmp").write_bytes(b"half")
    for damaged in (
        b"",
        b"junk",
        whole[:-1],
        whole[:70],
        whole + b"x",
        b"\xff" + whole,
    ):
        (root / ".mystangle/journal").write_bytes(damaged)
        for run in (tangle, drifted):
            with pytest.raises(
                SettingsError, match=r"\.mystangle/journal: .*Delete it"
            ):
                run(root, CHANGED)
    assert contents(root)["src/pkg/a.py"] == FILES["pkg/a.py"]
    (root / ".mystangle/journal").unlink()
    assert tangle(root, CHANGED).written == ("pkg/a.py",)
    assert not any("-tmp" in path for path in contents(root))


# Disks that fail


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


# Two runs at once


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


# Exports


def test_an_export_is_a_plain_folder(tmp_path: Path) -> None:
    export_tree(tmp_path / "a/b", FILES)
    assert contents(tmp_path / "a/b") == FILES
    before = times(tmp_path)
    export_tree(tmp_path / "a/b", FILES)
    assert times(tmp_path) == before


def test_an_export_replaces_an_export_and_allows_for_python_caches(
    tmp_path: Path,
) -> None:
    export_tree(tmp_path, FILES)
    (tmp_path / "pkg/__pycache__").mkdir()
    (tmp_path / "pkg/__pycache__/a.pyc").write_bytes(b"")
    export_tree(tmp_path, {"other.py": b"1\n", "pkg/a.py": b"a = 5\n"})
    assert contents(tmp_path) == {
        "other.py": b"1\n",
        "pkg/a.py": b"a = 5\n",
        "pkg/__pycache__/a.pyc": b"",
    }


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("notes.txt", b""),
        ("pkg/mine.py", b""),
        ("pkg/a.py", b"edited"),
        (".git/x", b""),
    ],
)
def test_an_export_refuses_a_folder_that_holds_other_files(
    tmp_path: Path, path: str, data: bytes
) -> None:
    export_tree(tmp_path, FILES)
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_bytes(data)
    before = contents(tmp_path)
    for files in (FILES, {"x.py": b""}):
        with pytest.raises(HandEditError, match="Name a folder that is new") as caught:
            export_tree(tmp_path, files)
        assert caught.value.files == (path,)
    assert contents(tmp_path) == before


def test_an_export_refuses_the_source_folder_of_a_book(root: Path) -> None:
    with pytest.raises(HandEditError):
        export_tree(root / "src", {"other.py": b""})
    export_target = root / "src/pkg/py.typed"
    with pytest.raises(MystangleError):
        export_tree(export_target, FILES)
    assert export_target.read_bytes() == b"mine"


# The module


def test_writing_needs_no_markdown_parser() -> None:
    code = (
        "import sys, mystangle.write\n"
        "heavy = {'markdown_it', 'myst_parser', 'sphinx', 'yaml', 'filelock'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"
