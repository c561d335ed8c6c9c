"""Where to report an error: at the address that the project names, if it names one.

The setting is `Issues` in the table `[project.urls]` of pyproject.toml.  Without it the
page says what a clone of the repository offers.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from .written import Written

TRACKER = "In the [issue tracker of the repository]({})."
CLONE = " ".join(
    (
        "The project has not published an address for reports yet.",
        "Until it does, report the way your copy came to you.",
        "In a clone of the repository, `git remote -v` says where it was cloned from:",
        "whoever keeps that repository can take the report or pass it on.",
        "If you have mended the error, commit the mend;",
        "`git format-patch -1` writes it to a file that you can send along.",
    )
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the line `{report}`."""
    Written("report", lambda weaving, _: where(weaving.settings.root)).connect(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def where(root: Path) -> str:
    """Return where to report an error, as Markdown."""
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    address = settings.get("project", {}).get("urls", {}).get("Issues", "")
    return TRACKER.format(address) if address else CLONE
