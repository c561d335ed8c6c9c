"""What is written, what counts as an edit by hand, and which orphans go."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from trees import (
    CHANGED,
    FILES,
    LOCK,
    POSIX,
    contents,
    drifted,
    planted,
    refused,
    tangle,
    times,
)

from mystangle import disk
from mystangle.problems import HandEditError
from mystangle.write import Drift, Outcome


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return planted(tmp_path)


def test_a_fresh_tree_is_written_and_recorded(tmp_path: Path) -> None:
    outcome = tangle(tmp_path, FILES)
    assert outcome == Outcome(written=tuple(sorted(FILES)))
    assert {p: d for p, d in contents(tmp_path).items() if p != LOCK} == {
        f"src/{path}": data for path, data in FILES.items()
    }
    assert (tmp_path / LOCK).read_text() == "".join(
        f"{hashlib.sha256(FILES[path]).hexdigest()}  {path}\n" for path in sorted(FILES)
    )
    assert set(os.listdir(tmp_path / ".mystangle")) - {"lock"} == {".gitignore"}
    assert (tmp_path / ".mystangle/.gitignore").read_bytes() == b"*\n"
    (tmp_path / ".mystangle/.gitignore").write_bytes(b"mine\n")
    tangle(tmp_path, CHANGED)
    assert (tmp_path / ".mystangle/.gitignore").read_bytes() == b"mine\n"


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
