"""What chunks and files may be called."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PureWindowsPath

LONGEST = 60
DIRECTIVE = re.compile(
    r"(type:|noqa\b|fmt:|ruff:|isort:|mypy:|pylint:|pragma\b|%%|!|coding\b|region\b"
    r"|endregion\b|\|)",
    re.IGNORECASE,
)
ENCODING = re.compile(r"coding[:=]")
# Names that Windows keeps for devices, with any suffix.
DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{device}{n}" for device in ("com", "lpt") for n in "0123456789¹²³"
}


def canonical(name: str) -> str:
    """Return a name as it is compared: in Unicode's NFC, white space folded."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def folded(name: str) -> str:
    """Return what two names share that a file system without case cannot tell apart."""
    return unicodedata.normalize("NFC", name.casefold())


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
            DIRECTIVE.match(name) or ENCODING.search(name),
            "not read like a directive to a tool, since it becomes a comment",
        ),
    )
    for wrong, must in reasons:
        if wrong:
            return f"a chunk's name must {must}, got {name!r}. Choose another name."
    return None


def file_fault(path: str) -> str | None:
    """Return why a file cannot be tangled to `path` below the source, or None."""
    parts = path.split("/")
    reasons = (
        (not path.isprintable(), "hold printable characters only"),
        ("\\" in path, "have / between its parts"),
        (path.startswith("/") or PureWindowsPath(path).anchor, "be relative"),
        ("" in parts or "." in parts, "have no empty part"),
        (".." in parts, "stay below the source, without `..`"),
        (
            any(p.startswith((".", "~")) for p in parts),
            "have no part that begins with `.` or `~`",
        ),
        (
            any(p != p.strip() or p.endswith(".") for p in parts),
            "have no part that begins or ends with a blank or ends with `.`",
        ),
        (any(c in path for c in '<>:"|?*'), 'hold none of the characters <>:"|?*'),
        (
            any(p.split(".")[0].strip().casefold() in DEVICES for p in parts),
            "not be the name of a Windows device",
        ),
        (not path.endswith(".py") or parts[-1] == ".py", "end with `.py`"),
    )
    for wrong, must in reasons:
        if wrong:
            return f"a file's path must {must}, got {path!r}. Name another file."
    return None
