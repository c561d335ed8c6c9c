"""What to tell when tangling would overwrite what a person wrote."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from .plan import Change
from .record import digest

SHOWN = 12  # lines of difference for each file
LONGEST = 200_000  # bytes: larger files are not compared


def describe(change: Change, name: str, lock: str) -> str:
    """Say what is wrong with an edited target, and show the lines that differ."""
    if _only_line_ends(change):
        return (
            f"{name}: must have LF line ends as tangled, got CRLF: git rewrote them. "
            "Put `* text=auto eol=lf` in .gitattributes for this folder, delete the "
            "file, and tangle again."
        )
    if not change.known:
        what = f"must be absent or as tangled, got a file that {lock} does not list."
    elif change.new is None:
        what = "is no longer in the book, but was edited by hand since it was tangled."
    else:
        what = "must be as it was last tangled, got a file edited by hand."
    return "\n".join([f"{name}: {what}", *_difference(change)])


def _only_line_ends(change: Change) -> bool:
    plain = (change.old or b"").replace(b"\r\n", b"\n")
    return plain == change.new or digest(plain) in change.known


def _difference(change: Change) -> Sequence[str]:
    """Return the first lines that differ: `-` as tangled now, `+` as on disk."""
    if change.old is None or change.new is None:
        return []
    if max(len(change.old), len(change.new)) > LONGEST:
        return []
    try:
        ours, theirs = change.new.decode(), change.old.decode()
    except UnicodeDecodeError:
        return []
    compared = difflib.unified_diff(
        ours.split("\n"), theirs.split("\n"), n=0, lineterm=""
    )
    lines = [f"    {_printable(line)}" for line in compared][2:]
    more = len(lines) - SHOWN
    return lines if more <= 0 else [*lines[:SHOWN], f"    … {more} more lines"]


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)
