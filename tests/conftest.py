"""What several test files share: the repository, its book, and the built site."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

from mystangle import Book, Settings

sys.path.insert(0, str(ROOT / "book"))

from _ext.foot import record


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note a whole run that passed; the foot of the site's pages tells it."""
    config = session.config
    whole = (
        config.args_source is not config.ArgsSource.ARGS
        and not config.option.keyword
        and config.option.markexpr == "slow or not slow"
        and not config.option.deselect
    )
    if whole and exitstatus == 0 and not hasattr(config, "workerinput"):
        report = config.pluginmanager.get_plugin("terminalreporter")
        record(ROOT, len(report.stats.get("passed", ())))


@pytest.fixture(scope="session")
def book() -> Book:
    """The real book, read once."""
    return Book.read(Settings.load(ROOT))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real book, built by the plain command in a copy; tests share a worker.

    Mark the tests that use it with `pytest.mark.xdist_group("site")`.
    """
    copy = tmp_path_factory.mktemp("site") / "book"
    parts = (
        "_config.yml",
        "_toc.yml",
        "pyproject.toml",
        "mystangle.lock",
        "book",
        "src",
    )
    copy.mkdir()
    for part in parts:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, copy / part)
        else:
            shutil.copy(source, copy / part)
    done = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", "."],
        cwd=copy,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "_build" / "html"
