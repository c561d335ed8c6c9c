"""A run that is killed anywhere is completed by the next, and loses nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from killer import LOCK, Killer
from trees import tangle, times

from mystangle.problems import HandEditError
from mystangle.write import drift

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="one process per call needs os.fork"
)

OLD = {
    "pkg/__init__.py": b"",
    "pkg/a.py": b"a = 1\n",
    "pkg/b.py": b"b = 1\n",
    "pkg/old/gone.py": b"gone = 1\n",
}
NEW = {
    "pkg/__init__.py": b"",
    "pkg/a.py": b"a = 2\n",
    "pkg/b.py": b"b = 2\n",
    "pkg/deep/new.py": b"new = 1\n",
}
LATER = {"pkg/a.py": b"a = 3\n", "pkg/later.py": b"later = 1\n"}
EDIT = b"a = 'by hand'\n"


@dataclass(frozen=True)
class Scenario:
    """A tree before a run, and what the run is to do."""

    before: Mapping[str, bytes]
    files: Mapping[str, bytes]
    edits: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def force(self) -> bool:
        return bool(self.edits)

    def prepare(self, root: Path) -> Path:
        (root / "src/pkg").mkdir(parents=True)
        (root / "src/pkg/py.typed").write_bytes(b"mine\n")
        if self.before:
            tangle(root, self.before)
        for path, data in self.edits.items():
            (root / "src" / path).write_bytes(data)
        return root


SCENARIOS = {
    "fresh": Scenario({}, NEW),
    "change": Scenario(OLD, NEW),
    "force": Scenario(
        OLD, NEW, {"pkg/a.py": EDIT, "pkg/old/gone.py": b"gone = 'by hand'\n"}
    ),
}


def contents(root: Path) -> dict[str, bytes | None]:
    """Return everything below `root`, folders as None, but for the lock's own file."""
    return {
        place.relative_to(root).as_posix(): place.read_bytes()
        if place.is_file()
        else None
        for place in root.rglob("*")
        if place.relative_to(root).as_posix() != ".mystangle/lock"
    }


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """A killed process loses nothing that the system has, so nothing need be synced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    killer = Killer()
    yield killer
    killer.close()


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """A folder in memory where the system has one: hundreds of trees are made in it."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path(scratch: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=scratch))


class Bench:
    """Copies of one scenario, to be killed at every call in turn."""

    def __init__(self, killer: Killer, scenario: Scenario, folder: Path) -> None:
        self.killer, self.scenario, self.folder = killer, scenario, folder
        self.start = scenario.prepare(folder / "start")
        whole = self.copy()
        self.run = killer.run(whole, scenario.files, force=scenario.force)
        assert self.run.status == 0, self.run.text
        self.wanted = contents(whole)

    def copy(self) -> Path:
        shutil.rmtree(self.folder / "copy", ignore_errors=True)
        return shutil.copytree(self.start, self.folder / "copy")

    def killed(self, *moments: str) -> Iterator[tuple[str, Path]]:
        """Yield a name and a root for each place where a run can be killed.

        After one call is before the next: one of the two moments is enough for most.
        """
        for n, call in enumerate(self.run.calls, start=1):
            for when in (*moments, "torn") if call == "write" else moments:
                root = self.copy()
                files, force = self.scenario.files, self.scenario.force
                run = self.killer.run(root, files, force=force, n=n, when=when)
                assert run.killed, (n, call, when)
                yield f"{when} {call} {n}", root

    def is_whole(self, root: Path) -> bool:
        return (root / LOCK).read_bytes() == self.wanted[LOCK]

    def lost(self, root: Path) -> list[str]:
        """Return the edits that are neither in place nor kept."""
        return [
            path
            for path, data in self.scenario.edits.items()
            if not any(
                place.is_file() and place.read_bytes() == data
                for place in (
                    root / "src" / path,
                    root / ".mystangle/edited/src" / path,
                )
            )
        ]


@pytest.fixture(params=SCENARIOS)
def bench(request: pytest.FixtureRequest, killer: Killer, tmp_path: Path) -> Bench:
    return Bench(killer, SCENARIOS[request.param], tmp_path)


def test_every_change_on_disk_is_a_counted_call(bench: Bench) -> None:
    assert bench.run.uncounted == ()
    assert {"open", "write", "fsync", "replace", "unlink"} <= set(bench.run.calls)
    assert len(bench.run.calls) > 30


def test_the_next_run_gives_the_tree_of_a_run_that_was_not_killed(bench: Bench) -> None:
    scenario = bench.scenario
    for name, root in bench.killed("before", "after"):
        assert not bench.lost(root), name
        tangle(root, scenario.files, force=scenario.force)
        assert contents(root) == bench.wanted, name
    settled = times(root)
    assert bench.killer.run(root, scenario.files).calls == ()
    assert times(root) == settled


def test_a_crash_is_no_hand_edit_even_if_the_book_has_changed_since(
    bench: Bench,
) -> None:
    last = bench.copy()
    force = bench.scenario.force
    bench.killer.run(last, bench.scenario.files, force=force)
    bench.killer.run(last, LATER)
    wanted = contents(last / "src")
    for name, root in bench.killed("before"):
        begun = (root / ".mystangle/journal").exists()
        before = contents(root)
        edited = drift(root, "src", LOCK, LATER).edited
        assert contents(root) == before, name
        if force and not begun and contents(root)["src/pkg/a.py"] == EDIT:
            assert edited == ("pkg/a.py", "pkg/old/gone.py"), name
            with pytest.raises(HandEditError):
                tangle(root, LATER)
        else:
            assert edited == (), name
            tangle(root, LATER)
            assert contents(root / "src") == wanted, name
            assert not drift(root, "src", LOCK, LATER), name


def test_a_run_without_force_ends_what_a_killed_forced_run_began(
    killer: Killer, tmp_path: Path
) -> None:
    bench = Bench(killer, SCENARIOS["force"], tmp_path)
    ends = set()
    for name, root in bench.killed("before"):
        begun = (root / ".mystangle/journal").exists() or bench.is_whole(root)
        ends.add(begun)
        if begun:
            tangle(root, NEW)
            assert contents(root) == bench.wanted, name
        else:
            with pytest.raises(HandEditError):
                tangle(root, NEW)
            assert contents(root / "src") == contents(bench.start / "src"), name
        assert not bench.lost(root), name
    assert ends == {False, True}


def test_recoveries_may_be_killed_too(killer: Killer, tmp_path: Path) -> None:
    bench = Bench(killer, SCENARIOS["change"], tmp_path)
    for first, (name, root) in enumerate(bench.killed("after")):
        for second in (7 + 5 * first % 40, 3 + 11 * first % 40):
            killer.run(root, LATER, n=second, when="after")
        for other in ({}, dict.fromkeys(OLD, b"other\n")):
            assert drift(root, "src", LOCK, other).edited == (), name
        tangle(root, NEW)
        assert contents(root) == bench.wanted, name


def test_an_edit_made_after_a_crash_is_still_an_edit(
    killer: Killer, tmp_path: Path
) -> None:
    bench = Bench(killer, SCENARIOS["change"], tmp_path)
    for name, root in bench.killed("before"):
        (root / "src/pkg/b.py").write_bytes(EDIT)
        before = contents(root / "src")
        with pytest.raises(HandEditError) as caught:
            tangle(root, NEW)
        assert caught.value.files == ("pkg/b.py",), name
        after = contents(root / "src")
        assert after == {p: d for p, d in before.items() if ".mystangle-tmp" not in p}


VERSIONS = (
    {},
    {"a.py": b"a 1\n", "p/b.py": b"b 1\n", "p/q/c.py": b"c 1\n"},
    {"a.py": b"a 2\n", "p/b.py": b"b 1\n"},
    {"p/b.py": b"b 3\n", "p/q/c.py": b"c 1\n", "p/q/d.py": b"d 3\n"},
    {"A.py": b"a 2\n", "p/q/c.py": b"c 4\n"},
)
PATHS = sorted({path for files in VERSIONS for path in files})
VERSION = st.sampled_from(VERSIONS)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tangle"), VERSION, st.booleans()),
        st.tuples(st.just("kill"), VERSION, st.booleans(), st.integers(1, 90)),
        st.tuples(st.just("edit"), st.sampled_from(PATHS)),
        st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    ),
    min_size=3,
    max_size=12,
)


class Model:
    """A tree, and the texts in it that a person wrote and did not take back."""

    def __init__(self, killer: Killer, root: Path) -> None:
        self.killer, self.root = killer, root
        self.texts: dict[bytes, str] = {}
        self.written = 0

    def edit(self, path: str) -> None:
        self.delete(path)
        self.written += 1
        text = b"by hand %d\n" % self.written
        place = self.root / "src" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)
        self.texts[text] = path

    def delete(self, path: str) -> None:
        place = self.root / "src" / path
        if place.exists():
            self.texts.pop(place.read_bytes(), None)
            place.unlink()

    def kill(self, files: Mapping[str, bytes], force: bool, n: int) -> None:
        when = ("before", "after", "torn")[n % 3]
        self.killer.run(self.root, files, force=force, n=n, when=when)

    def tangle(self, files: Mapping[str, bytes], force: bool) -> None:
        before = contents(self.root / "src")
        edited = set(drift(self.root, "src", LOCK, files).edited)
        by_hand = {p for t, p in self.texts.items() if before.get(p) == t}
        assert edited <= by_hand
        try:
            tangle(self.root, files, force=force)
        except HandEditError as error:
            assert not force and set(error.files) == edited
            after = contents(self.root / "src")
            assert {p: d for p, d in before.items() if "-tmp" not in p} == after
        else:
            assert force or not edited
            self.require_settled(files)

    def require_settled(self, files: Mapping[str, bytes]) -> None:
        assert not drift(self.root, "src", LOCK, files)
        left = contents(self.root)
        unlisted = {f"src/{p}" for t, p in self.texts.items()}
        found = {
            p: d for p, d in left.items() if p.startswith("src/") and d is not None
        }
        for path, data in files.items():
            assert found.pop(f"src/{path}") == data
        assert set(found) <= unlisted
        assert ".mystangle/journal" not in left
        assert not any("-tmp" in path for path in left)

    def require_nothing_lost(self) -> None:
        there = set(contents(self.root).values())
        assert [text for text in self.texts if text not in there] == []


@settings(max_examples=60)
@given(steps=STEPS)
def test_nothing_written_by_hand_is_ever_lost(
    steps: list[tuple[object, ...]],
    killer: Killer,
    scratch: Path,
) -> None:
    model = Model(killer, Path(tempfile.mkdtemp(dir=scratch)))
    for name, *args in steps:
        getattr(model, str(name))(*args)
        model.require_nothing_lost()
    model.tangle(VERSIONS[1], True)
    model.require_nothing_lost()
