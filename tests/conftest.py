"""What several test files share: the repository, its book, and the built site."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from support import ROOT, build

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
def book_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all that the site is built from; tests that build in it share it."""
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
    return copy


@pytest.fixture(scope="session")
def site(book_copy: Path) -> Path:
    """The real book, built by the plain command in a copy; tests share a worker.

    Mark the tests that use it with `pytest.mark.xdist_group("site")`.
    """
    build(book_copy)
    return book_copy / "_build" / "html"
