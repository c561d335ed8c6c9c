"""The command `mystangle`.

Exit codes: 0 fine, 1 drift, 2 usage, 3 hand edits, 4 a mistake in a chapter.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .problems import HandEditError, MystangleError, SettingsError
from .settings import Settings, whole_number

if TYPE_CHECKING:
    from .book import Book

Run = Callable[[Settings, argparse.Namespace], int]

DRIFT = 1
HAND_EDITS = HandEditError.exit_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        settings = Settings.load(getattr(options, "root", None))
        return int(options.run(settings, options))
    except MystangleError as error:
        _complain(str(error))
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    """Return the parser; `--root` may stand before or after the command."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--root",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="DIR",
        help="the folder of pyproject.toml (default: this one, or the nearest above)",
    )
    parser = argparse.ArgumentParser(
        prog="mystangle",
        description="Tangle a book's chapters into its package.",
        epilog="Exit codes: 0 fine, 1 drift, 2 usage, 3 hand edits, 4 mistakes.",
        parents=[common],
    )
    version = f"%(prog)s {__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Run, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, parents=[common])
        added.set_defaults(run=run)
        return added

    tangle = command("tangle", _tangle, "write the package from the book")
    tangle.add_argument(
        "--through", metavar="CHAPTER", help="only as of this chapter; needs --into"
    )
    tangle.add_argument(
        "--into", type=Path, metavar="DIR", help="a folder for a copy of the package"
    )
    tangle.add_argument(
        "--force", action="store_true", help="overwrite what was edited by hand"
    )
    command("check", _check, "tell everything wrong, and any drift; write nothing")
    locate = command(
        "locate", _locate, "from a line of the package to the book, and back"
    )
    locate.add_argument("place", metavar="PATH:LINE")
    return parser


def _tangle(settings: Settings, options: argparse.Namespace) -> int:
    from .book import Book
    from .write import export_tree, write_tree

    if options.through is not None and options.into is None:
        raise SettingsError(
            "--through must come with --into, for the package in "
            f"{settings.source}/ is that of the whole book. Add --into DIR."
        )
    if options.into is not None and options.force:
        raise SettingsError(
            "--force must not come with --into, where nothing is overwritten."
        )
    book = Book.read(settings)
    snapshot = book.snapshot(_chapter(options.through))
    files = {name: file.data for name, file in snapshot.files.items()}
    if options.into is not None:
        _require_apart(book, options.into)
        files = {**settings.data_files(), **files}
        export_tree(options.into, files)
        for name in files:
            _say(f"wrote {(options.into / name).as_posix()}")
        _say(f"{_count(len(files))} written.")
        return 0
    done = write_tree(
        settings.root, settings.source, settings.lock, files, force=options.force
    )
    for name in done.written:
        _say(f"wrote {settings.source}/{name}")
    for name in done.removed:
        _say(f"removed {settings.source}/{name}")
    for name in done.saved:
        _say(f"kept what was overwritten in {name}")
    _say(
        f"{_count(len(done.written))} written, {len(done.removed)} removed, "
        f"{len(done.unchanged)} unchanged."
    )
    return 0


def _require_apart(book: Book, folder: Path) -> None:
    """Refuse to export to where the project's own files are. Errors: SettingsError.

    The folder may lie in the root, but neither in nor around what must stay as it is.
    """
    root = book.settings.root.resolve()
    chapters = {(root / chapter.path).parent for chapter in book.chapters}
    kept = {root / book.settings.source, root / ".git", *chapters} - {root}
    place = folder.resolve()
    for own in (root, *sorted(kept)):
        if own.is_relative_to(place) or (own != root and place.is_relative_to(own)):
            name = own.relative_to(root).as_posix()
            raise SettingsError(
                f"--into {folder}: must be a folder apart from the project's own, got "
                f"one that is, holds or lies in {'its root' if own == root else name}. "
                "Name another, such as _build/package."
            )


def _chapter(text: str | None) -> int | str | None:
    number = None if text is None else whole_number(text)
    return text if number is None else number


def _check(settings: Settings, options: argparse.Namespace) -> int:
    from .book import Book
    from .check import NoRuffError, style
    from .problems import ChapterError
    from .write import drift

    book = Book.read(settings)
    book.require_sound()
    problems = []
    verdict = "all is well."
    try:
        problems = style(book)
    except NoRuffError as error:
        _complain(str(error))
        verdict = "no mistake and no drift; the style of the chunks was not checked."
    files = {name: file.data for name, file in book.snapshot().files.items()}
    found = drift(settings.root, settings.source, settings.lock, files)
    for text, names in (
        ("is out of date: run `mystangle tangle`", found.stale),
        ("is missing: run `mystangle tangle`", found.missing),
        ("is no longer in the book: run `mystangle tangle`", found.orphans),
        ("was edited by hand: move the edit into its chapter", found.edited),
    ):
        for name in names:
            _complain(f"{settings.source}/{name}: {text}")
    if found.lock:
        _complain(f"{settings.lock}: is out of date: run `mystangle tangle`")
    if problems:
        raise ChapterError(problems)
    if found.edited:
        return HAND_EDITS
    if found:
        return DRIFT
    _say(f"{_count(len(files))} of {len(book.chapters)} chapters: {verdict}")
    return 0


def _locate(settings: Settings, options: argparse.Namespace) -> int:
    from .book import Book
    from .locate import locate, parse_place

    place = parse_place(options.place, settings.root)
    for found in locate(Book.read(settings), place):
        _say(str(found))
    return 0


def _count(number: int) -> str:
    return f"{number} file" if number == 1 else f"{number} files"


def _say(text: str) -> None:
    """Print a line; a reader who has left (`| head`) does not stop the work."""
    try:
        print(text, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
