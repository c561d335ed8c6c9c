"""The foot of every page: what it was built from and with, and what was tested.

`extra_footer` of the theme leaves an empty line; it is filled in the finished pages, so
that another commit or day does not make Sphinx write them all again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from html import escape
from pathlib import Path, PurePosixPath
from posixpath import relpath

PLACE = re.compile(r'<p class="built">.*?</p>', re.S)
TESTED = (
    Path("_build") / "tests.json"
)  # written by a whole run of the suite that passed
SOURCES = ("book/**/*.md", "book/**/*.py", "src/**/*.py", "tests/**/*.py")


def footed(text: str, page: PurePosixPath, facts: str) -> str:
    """Return a page whose foot says `facts`, with links that lead from this page."""
    home = relpath("book/errata.html", str(page.parent))
    links = (
        f'<a href="{home}#how-to-cite">How to cite</a> · '
        f'<a href="{home}#where-to-report">Where to report an error</a>'
    )
    return PLACE.sub(lambda _: f'<p class="built">{facts}<br/>{links}</p>', text)


def facts(root: Path) -> str:
    """Return what is true of all pages of this build, as HTML."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    library = " ".join(platform.libc_ver()).strip() or platform.system()
    parts = (
        f"Built {day()} from {commit(root)}",
        f"{python}, {library}",
        tested(root),
    )
    return " · ".join(map(escape, parts))


def day() -> str:
    """Return the day of the build; SOURCE_DATE_EPOCH sets another."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    when = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return f"{when:%Y-%m-%d}"


def commit(root: Path) -> str:
    """Return the commit, and whether the book or its program differ from it."""
    call = ("git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12")
    try:
        done = subprocess.run(
            [*call, "--exclude=*"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    name, _, changed = done.stdout.strip().partition("-")
    return f"commit {name}" + (", with changes" if changed else "")


def digest(root: Path) -> str:
    """Return a digest of all that the tests judge."""
    found = {file for glob in SOURCES for file in root.glob(glob)}
    total = hashlib.sha256()
    for file in sorted(found):
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def tested(root: Path) -> str:
    """Return how many tests passed on exactly these sources, if they were run."""
    try:
        record = json.loads((root / TESTED).read_text("utf-8"))
    except (OSError, ValueError):
        record = {}
    if record.get("digest") != digest(root):
        return "tests not yet run on this state"
    return f"{record['passed']} tests passed on this state"


def record(root: Path, passed: int) -> None:
    """Note that the whole suite passed on the sources as they are."""
    file = root / TESTED
    file.parent.mkdir(exist_ok=True)
    text = json.dumps({"digest": digest(root), "passed": passed})
    file.write_text(text + "\n", "utf-8")
