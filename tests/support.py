"""What several test files share: where the repository is, how to run and to build."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*call: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python command line in the root; the caller judges its exit status."""
    environment: Mapping[str, str] = {**os.environ, "PYTHONUTF8": "1", **variables}
    return subprocess.run(
        [sys.executable, *map(str, call)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def build(folder: Path, *options: str) -> None:
    """Build the book in `folder` by the plain command and these options."""
    done = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", ".", *options],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
