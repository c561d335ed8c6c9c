"""What tangle remembers: the digests of its files (committed), and of a run under way.

`mystangle.lock` has a line `digest  path` for each target, so that merges work line by
line. A merge that keeps both sides leaves two lines for a path: both count as tangled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .problems import SettingsError
from .targets import fold, name_fault

Record = Mapping[str, frozenset[str]]  # path below the source -> digests as tangled

LINE = re.compile(r"([0-9a-f]{64})  (.+)")
MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
RELEASED = "released:"  # no path has a colon


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()


def merged(*records: Record) -> dict[str, frozenset[str]]:
    """Return a record that knows what each of `records` knows."""
    paths = {path for record in records for path in record}
    nothing: frozenset[str] = frozenset()
    return {p: nothing.union(*(r.get(p, nothing) for r in records)) for p in paths}


def folded(record: Record) -> dict[str, frozenset[str]]:
    """Return the record by folded path: what a disk that ignores case would know."""
    result: dict[str, frozenset[str]] = {}
    for path, known in record.items():
        result[fold(path)] = result.get(fold(path), frozenset()) | known
    return result


def format_record(record: Record) -> str:
    """Return the lines of a record, sorted by path."""
    pairs = sorted((path, known) for path in record for known in record[path])
    return "".join(f"{known}  {path}\n" for path, known in pairs)


def parse_record(data: bytes, name: str) -> dict[str, frozenset[str]]:
    """Read a record back; `name` is how its file is called in errors.

    Errors: SettingsError with the line that is no digest and path.
    """
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    record: dict[str, frozenset[str]] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        match = LINE.fullmatch(line)
        if match and not name_fault(match[2]):
            record[match[2]] = record.get(match[2], frozenset()) | {match[1]}
        elif text:
            raise SettingsError(_malformed(f"{name}:{number}", line))
    return record


def _malformed(where: str, line: str) -> str:
    rule = (
        f"{where}: a line must be a SHA-256, two blanks and a path, got {line[:80]!a}."
    )
    if line.startswith(MARKERS):
        return (
            f"{rule} A merge left its markers here: delete the marker lines, keep the "
            "lines of both sides, and run `mystangle tangle`."
        )
    return f"{rule} Restore the file from version control, or delete the line."


@dataclass(frozen=True)
class Journal:
    """What a run under way may leave on disk if it is killed.

    `tangled`: digests beside those of the lock file; `released`: digests of edits that
    the user allowed to overwrite.
    """

    tangled: Record = field(default_factory=dict)
    released: Record = field(default_factory=dict)

    def data(self) -> bytes:
        """Return the bytes of the journal's file; the first line is their digest."""
        tangled, released = format_record(self.tangled), format_record(self.released)
        body = f"{tangled}{RELEASED}\n{released}".encode()
        return f"{digest(body)}\n".encode() + body

    @classmethod
    def parse(cls, data: bytes, name: str) -> Journal:
        """Read a journal back. Errors: SettingsError if it is damaged."""
        seal, _, body = data.partition(b"\n")
        if seal.decode("ascii", "replace") != digest(body):
            raise SettingsError(
                f"{name}: must be as an interrupted run wrote it, got damaged bytes. "
                "Delete it and run again: what that run had already written then "
                "counts as edited by hand."
            )
        tangled, _, released = body.partition(f"{RELEASED}\n".encode())
        return cls(parse_record(tangled, name), parse_record(released, name))


def record_of(files: Mapping[str, bytes]) -> dict[str, frozenset[str]]:
    """Return the record of files exactly as given."""
    return {path: frozenset({digest(data)}) for path, data in files.items()}
