"""Paths that a page must not show."""

from __future__ import annotations

import sysconfig
import tempfile
from pathlib import Path

import pytest

from mystangle.sphinx.strict import machine_path

ROOT = Path("/srv/books/white")


@pytest.mark.parametrize(
    "text",
    [
        "in /srv/books/white/src/x.py",
        "'/srv/books/white'",
        'href="file:///srv/books/white/a.html"',
        r"'\\srv\\books\\white\\x'",
        f"{Path.home()}/.cache",
        f"{tempfile.gettempdir()}/ipykernel_123/456.py:1: UserWarning",
        f"'{tempfile.gettempdir()}'",
        f"{tempfile.gettempdir()}/tmpabc/x",
        sysconfig.get_path("purelib") + "/numpy/core.py:3",
        sysconfig.get_path("stdlib") + "/json/decoder.py",
    ],
)
def test_a_path_is_found(text: str) -> None:
    assert machine_path(text, ROOT)


@pytest.mark.parametrize(
    "text",
    [
        "/srv/books/whiteness",
        "x/srv/books/white/y",
        f"square{Path.home().as_posix()}s",
        "/usr/bin/env python",
        "a page about src/whitebox_gpt/value.py",
    ],
)
def test_other_text_is_not(text: str) -> None:
    assert machine_path(text, ROOT) is None
