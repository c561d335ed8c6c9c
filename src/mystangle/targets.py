"""Which paths may be targets, judged by their names alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from .problems import MystangleError, shortened

RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.I)
FORBIDDEN = frozenset('\\:*?"<>|')
UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
LONGEST = 200  # bytes in a path: every system can write it, below most roots


class TargetError(MystangleError):
    """A target cannot be written where it is said to be."""

    exit_code = 2


def fold(path: str) -> str:
    """Return what a file system that ignores case and composition makes of `path`."""
    composed = unicodedata.normalize("NFC", path)
    return unicodedata.normalize("NFC", composed.casefold())


def name_fault(path: str) -> str | None:
    """Return what is wrong with a target's path below the source, None if nothing is.

    A good path works on every system, stays below the source and is not hidden.
    """
    if not path:
        return "must not be empty"
    if any(unicodedata.category(character) in UNPRINTABLE for character in path):
        return "must be printable text on one line"
    if len(path.encode()) > LONGEST:
        return f"must be at most {LONGEST} bytes long"
    found = sorted(FORBIDDEN.intersection(path))
    if found:
        return f"must be relative, with `/` between names, and hold no {found[0]}"
    if path.startswith("/"):
        return "must be relative to the source folder, not absolute"
    return next((f for name in path.split("/") if (f := _part_fault(name))), None)


def _part_fault(name: str) -> str | None:
    """Return what is wrong with one name between two slashes."""
    if name in ("", ".", ".."):
        return f"must hold only names between its slashes, not {name!r}"
    if name.startswith(".") or fold(name) == "__pycache__":
        return f"must not be hidden or a tool's own folder, as {name!r} is"
    if name != name.strip() or name.endswith("."):
        return f"must hold no name with outer blanks or a final dot, as {name!r} has"
    if RESERVED.fullmatch(name.split(".")[0].rstrip()):
        return f"must hold no name that Windows reserves, as {name!r} is"
    return None


def set_faults(paths: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each pair of targets that cannot live side by side."""
    spelled: dict[str, str] = {}
    files = sorted(paths)
    folders = {prefix for path in files for prefix in _folders(path)}
    for path in [*files, *sorted(folders)]:
        other = spelled.setdefault(fold(path), path)
        if other != path:
            yield (
                f"{path}: must differ from {other} by more than case or Unicode "
                "composition. Rename one of them."
            )
        elif path in folders and path in files:
            yield f"{path}: must be a file or a folder, got both. Rename the file."


def _folders(path: str) -> Iterator[str]:
    names = path.split("/")
    return ("/".join(names[:end]) for end in range(1, len(names)))


def require_portable(paths: Iterable[str]) -> None:
    """Refuse targets whose names are not safe everywhere, all of them at once.

    Errors: TargetError.
    """
    known = sorted(paths)
    faults = [
        f"{shortened(path)!r}: a target's path {fault}. Rename the file."
        for path in known
        if (fault := name_fault(path))
    ]
    faults = faults or list(set_faults(known))
    if faults:
        raise TargetError("\n".join(faults))
