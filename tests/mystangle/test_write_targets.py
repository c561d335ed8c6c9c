"""Which targets are refused, whatever they hold."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trees import CHANGED, FILES, LOCK, POSIX, contents, drifted, planted, tangle

from mystangle import disk
from mystangle.disk import DiskError
from mystangle.problems import SettingsError
from mystangle.targets import TargetError, require_portable
from mystangle.write import export_tree, write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return planted(tmp_path)


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
        (".mystangle", "outside"),
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
def test_a_state_folder_behind_a_link_is_refused_also_after_a_crash(
    root: Path, tmp_path: Path
) -> None:
    (root / ".mystangle").rename(tmp_path / "elsewhere")
    (root / ".mystangle").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/journal").write_bytes(b"")
    before = sorted(os.listdir(tmp_path / "elsewhere"))
    with pytest.raises(TargetError, match=r"^\.mystangle: must not be a link"):
        tangle(root, CHANGED)
    assert sorted(os.listdir(tmp_path / "elsewhere")) == before


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


def test_a_path_too_long_is_a_short_error(root: Path) -> None:
    path = "/".join(["d" * 99] * 30)
    for run in (tangle, drifted):
        with pytest.raises(TargetError, match="d…': a target's path must") as caught:
            run(root, {**CHANGED, path: b""})
        assert len(str(caught.value)) < 300


def test_a_root_too_deep_for_the_system_is_a_clear_error(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(place: Path) -> bytes:
        raise OSError(errno.ENAMETOOLONG, "File name too long")

    monkeypatch.setattr(disk, "read", refuse)
    for run in (tangle, drifted):
        with pytest.raises(DiskError, match="must be readable and writable, got: File"):
            run(root, CHANGED)
    monkeypatch.undo()
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
