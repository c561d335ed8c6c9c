"""What can be wrong with a book, where, and the exit status that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, order=True)
class Location:
    """A line (from 1) of a file; `path` is relative to the root, with `/`."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake: where it is, what must hold, what came, how to mend it.

    `kind` says what the mistake is about.  The table of contents: toc.  A chapter's
    file: encoding.  Cells and fences: altered, cell, dropped, unclosed.  A chunk:
    comment, file, name, option, reference, syntax.  Chunks together: clash, cycle,
    definition, depth, retired, twice, undefined, unused.  A tangled file: compile,
    format, lint.
    """

    location: Location
    message: str
    kind: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message} [mystangle.{self.kind}]"


class MystangleError(Exception):
    """The root of everything that mystangle refuses to do."""

    exit_code: ClassVar[int] = 4


class SettingsError(MystangleError):
    """The settings, the command line or the files they name are wrong."""

    exit_code = 2


class HandEditError(MystangleError):
    """Tangled files were edited by hand; `files` names them, below the source."""

    exit_code = 3

    def __init__(self, files: Iterable[str], message: str) -> None:
        super().__init__(message)
        self.files = tuple(files)


class ChapterError(MystangleError):
    """Chapters have mistakes; `problems` lists every one of them."""

    exit_code = 4

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def shortened(text: str, most: int = 200) -> str:
    """Return a person's text as an error quotes it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
