"""What chunks and files may be called."""

from __future__ import annotations

import re
import unicodedata

from . import targets
from .problems import shortened

LONGEST = 60
DIRECTIVE = re.compile(
    r"(noqa|nosec|nopep8|noinspection|pragma|coding|(end)?region)\b|%%|!|\|",
    re.IGNORECASE,
)
COLON = re.compile(r"[^\W\d][\w-]*\s*:")
ENCODING = re.compile(r"coding[:=]")
PART = re.compile(r"(?!-)[\w.-]+")


def canonical(name: str) -> str:
    """Return a name as it is compared: in Unicode's NFC, white space folded."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def is_file(name: str) -> bool:
    """Return whether `name` is the path of a file rather than a chunk's name."""
    return name.endswith(".py")


def name_fault(name: str) -> str | None:
    """Return why a canonical name cannot be that of a chunk, and the mend, or None."""
    reasons = (
        (not name.isprintable(), "hold printable characters only"),
        (len(name) > LONGEST, f"have at most {LONGEST} characters"),
        (
            any(part in name for part in ("<<", ">>", "#", "/")),
            "hold none of `<<`, `>>`, `#`, `/`",
        ),
        (name.endswith("."), "not end with a full stop"),
        (name.casefold().endswith(".py"), "not end like a file"),
        (
            COLON.match(name),
            "not begin with a word and a colon: it becomes a comment, which a tool may "
            "take for a directive, as `flake8: noqa` is",
        ),
        (
            DIRECTIVE.match(name) or ENCODING.search(name),
            "not read like a directive to a tool, since it becomes a comment",
        ),
    )
    for wrong, must in reasons:
        if wrong:
            got = shortened(name)
            return f"a chunk's name must {must}, got {got!r}. Choose another name."
    return None


def file_fault(path: str) -> str | None:
    """Return why a file cannot be tangled to `path` below the source, or None.

    Beside the rules for every target it must be a module, whose name needs no quoting.
    """
    fault = targets.name_fault(path)
    if fault is None and not all(map(PART.fullmatch, path.split("/"))):
        fault = (
            "must hold only letters, digits, `_`, `-`, `.` and `/`, and no part that "
            "begins with `-`"
        )
    if fault is None and not is_file(path):
        fault = "must end with `.py`"
    if fault is None:
        return None
    return f"a file's path {fault}, got {shortened(path)!r}. Name another file."
