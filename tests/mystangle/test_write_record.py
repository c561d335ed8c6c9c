"""The lock file, the journal, and exports."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from trees import CHANGED, FILES, LOCK, contents, drifted, planted, tangle, times

from mystangle.problems import HandEditError, MystangleError, SettingsError
from mystangle.record import Journal, format_record, parse_record
from mystangle.write import export_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return planted(tmp_path)


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
