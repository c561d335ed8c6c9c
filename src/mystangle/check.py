"""Everything wrong with a book and its package, found without writing anything.

What ruff would say of each file of each snapshot is told at the line of the chapter
that it comes from.  Files that are the same in several snapshots are looked at once.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .book import Book
from .expand import Line, TangledFile
from .problems import Location, MystangleError, Problem, SettingsError
from .settings import Settings, inner_table, read_toml

CONFIGS = (".ruff.toml", "ruff.toml", "pyproject.toml")


class NoRuffError(MystangleError):
    """Ruff is not installed."""


@dataclass(frozen=True)
class Draft:
    """A file as of the first chapter that has it so, and its copy for ruff to read."""

    file: TangledFile
    chapter: str
    copy: Path

    def problem(self, row: int, kind: str, message: str) -> Problem:
        """Return a problem at the place in the book of the 0-based `row`."""
        place = _place(self.file.lines, row) or Location(self.chapter, 1)
        return Problem(
            place, f"{message} ({self.file.path} as of {self.chapter})", kind
        )


def style(book: Book) -> list[Problem]:
    """Return what ruff would change in any snapshot, at the book's lines.

    Errors: NoRuffError; SettingsError if ruff refuses its settings; ChapterError if
    the book is not sound.
    """
    book.require_sound()
    ruff = _command()
    with tempfile.TemporaryDirectory(prefix="mystangle-") as folder:
        root = Path(folder).resolve()
        drafts = _drafts(book, root)
        if not drafts:
            return []
        options = _options(book.settings, root)
        found = [*_lint(ruff, options, root, drafts)]
        found += _format(ruff, options, root, drafts)
    first = {
        (p.location, p.kind, p.message.rpartition(" (")[0]): p for p in found[::-1]
    }
    return sorted(first.values())


def _command() -> list[str]:
    if importlib.util.find_spec("ruff") is not None:
        return [sys.executable, "-m", "ruff"]
    program = shutil.which("ruff")
    if program is None:
        raise NoRuffError(
            "ruff: is not installed, so the style of the chunks was not checked. "
            "Install it with `pip install ruff`."
        )
    return [program]


def _drafts(book: Book, root: Path) -> list[Draft]:
    """Write each distinct file of each snapshot below `root` once."""
    drafts: dict[tuple[str, str], Draft] = {}
    counts: dict[str, int] = {}
    for chapter in book.chapters:
        for name, file in book.snapshot(chapter.number).files.items():
            if (name, file.text) not in drafts:
                number = counts[name] = counts.get(name, -1) + 1
                copy = root / str(number) / book.settings.source / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.data)
                drafts[name, file.text] = Draft(file, chapter.path, copy)
    return list(drafts.values())


def _options(settings: Settings, root: Path) -> list[str]:
    """Return the options that make ruff read the project's settings for the copies.

    Which imports are the project's own is found out below `src`, so the first copies
    (each package has some in folder 0) stand for the sources.
    """
    config = next((c for c in CONFIGS if (settings.root / c).is_file()), None)
    if config is None:
        return ["--isolated"]
    path = settings.root / config
    table = read_toml(path)
    if config == "pyproject.toml":
        table = inner_table(config, inner_table(config, table, "tool"), "ruff")
    sources = table.get("src")
    if not isinstance(sources, list):
        sources = [".", "src"]
    places = [str(base / s) for s in sources for base in (root / "0", settings.root)]
    options = ["--config", str(path), "--config", f"src={json.dumps(places)}"]
    ignores = inner_table(config, table, "per-file-ignores")
    lint = inner_table(config, table, "lint")
    ignores = {**ignores, **inner_table(config, lint, "per-file-ignores")}
    if ignores:
        moved = {f"*/{p}" if "/" in p else p: codes for p, codes in ignores.items()}
        pairs = (f"{json.dumps(p)}={json.dumps(codes)}" for p, codes in moved.items())
        options += ["--config", f"lint.per-file-ignores={{{','.join(pairs)}}}"]
    return options


def _run(ruff: list[str], root: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*ruff, *arguments, "--no-cache", "."],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SettingsError(f"ruff: must run, got: {done.stderr.strip()}")
    return done.stdout


def _lint(
    ruff: list[str], options: list[str], root: Path, drafts: Sequence[Draft]
) -> Iterator[Problem]:
    copies = {draft.copy: draft for draft in drafts}
    output = _run(ruff, root, "check", "--no-fix", "--output-format=json", *options)
    for finding in json.loads(output):
        draft = copies[Path(finding["filename"]).resolve()]
        row = finding["location"]["row"] - 1
        message = f"ruff check must find nothing, got {finding['code'] or ''} "
        message += finding["message"].rstrip(".") + _depth(draft, row, finding["code"])
        yield draft.problem(row, "lint", f"{message}. Mend the chunk.")


def _depth(draft: Draft, row: int, code: str | None) -> str:
    """Say how much of a long line is the depth at which its chunk lands."""
    line = draft.file.lines[row] if row < len(draft.file.lines) else None
    if code != "E501" or line is None or line.piece is None or line.location is None:
        return ""
    index = line.location.line - line.piece.body_line
    depth = len(line.text) - len(line.piece.body[index])
    return f", {depth} of it the depth at which the chunk lands" if depth > 0 else ""


def _format(
    ruff: list[str], options: list[str], root: Path, drafts: Sequence[Draft]
) -> Iterator[Problem]:
    _run(ruff, root, "format", *options)
    for draft in drafts:
        wanted = draft.copy.read_bytes().decode("utf-8")
        if wanted != draft.file.text:
            yield from _differences(draft, wanted.removesuffix("\n").split("\n"))


def _differences(draft: Draft, wanted: Sequence[str]) -> Iterator[Problem]:
    lines = [line.text for line in draft.file.lines]
    matcher = difflib.SequenceMatcher(None, lines, wanted, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            new = " ⏎ ".join(f"`{text}`" for text in wanted[k:m]) or "nothing"
            if not any(text.strip() for text in [*lines[i:j], *wanted[k:m]]):
                new = f"{_blanks(m - k)} here instead of {_blanks(j - i)}"
            yield draft.problem(
                i,
                "format",
                f"ruff format must change nothing, but would write {new}. Write it so.",
            )


def _blanks(count: int) -> str:
    return f"{count or 'no'} blank line{'' if count == 1 else 's'}"


def _place(lines: Sequence[Line], row: int) -> Location | None:
    """Return the book's place of a row, or of the nearest one that has a place."""
    around = [*lines[row:], *reversed(lines[:row])]
    return next((line.location for line in around if line.location is not None), None)
