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
# Every file of the book, also a new one, but nothing that was made from them.
FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


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
    return " · ".join(escape(part) for part in parts if part)


def day() -> str:
    """Return the day of the build; SOURCE_DATE_EPOCH sets another."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    when = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return f"{when:%Y-%m-%d}"


def git(root: Path, *call: str) -> str | None:
    """Return what git prints, or nothing where there is no git or no repository."""
    command = ["git", "-C", str(root), *call]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def commit(root: Path) -> str:
    """Return the commit, and whether the book or its program differ from it."""
    call = ("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    said = git(root, *call)
    if said is None:
        return "no commit"
    name, _, changed = said.strip().partition("-")
    return f"commit {name}" + (", with changes" if changed else "")


def digest(root: Path) -> str | None:
    """Return a digest of all files, as git knows them: the tests may judge any."""
    listed = git(root, *FILES)
    if listed is None:
        return None
    total = hashlib.sha256()
    for name in sorted({*listed.split("\0")} - {""}):
        file = root / name
        if file.is_file():
            total.update(name.encode("utf-8", "surrogateescape") + b"\0")
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def tested(root: Path) -> str:
    """Return how many tests passed on exactly these files, if that can be known."""
    here = digest(root)
    if here is None:
        return ""
    try:
        record = json.loads((root / TESTED).read_text("utf-8"))
    except (OSError, ValueError):
        record = {}
    if record.get("digest") != here:
        return "tests not yet run on this state"
    return f"{record['passed']} tests passed on this state"


def record(root: Path, passed: int) -> None:
    """Note that the whole suite passed on the files as they are."""
    file = root / TESTED
    file.parent.mkdir(exist_ok=True)
    text = json.dumps({"digest": digest(root), "passed": passed})
    file.write_text(text + "\n", "utf-8")
