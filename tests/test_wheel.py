"""The wheel holds what the package needs beside its modules."""

from __future__ import annotations

import zipfile
from pathlib import Path

from support import ROOT, run

DATA = ("py.typed", "data/README.md", "data/first_names.txt")


def test_the_wheel_holds_the_data_files(tmp_path: Path) -> None:
    done = run("-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in DATA:
            path = f"whitebox_gpt/{name}"
            assert archive.read(path) == (ROOT / "src" / path).read_bytes()
