"""From a line of the package to its line in the book, and back."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from .book import Book
from .expand import TangledFile
from .problems import Location, SettingsError, shortened
from .settings import whole_number


def locate(book: Book, place: Location) -> tuple[Location, ...]:
    """Return the lines in the book, or in the package, that belong to a line.

    `place.path` is relative to the root.  A line that layout put in belongs to the
    next line that someone wrote.  A file edited by hand is compared with what was
    tangled, and a changed line belongs to the unchanged one above it.
    Errors: SettingsError if there is no such file or line, or nothing belongs to it;
    ChapterError if the book is not sound.
    """
    book.require_sound()
    chapter = next((c for c in book.chapters if c.path == place.path), None)
    if chapter is not None:
        _require_line(place, chapter.text.count("\n") + 1)
        return _tangled(book, place)
    source = PurePosixPath(book.settings.source)
    path = PurePosixPath(place.path)
    files = book.snapshot().files
    name = path.relative_to(source).as_posix() if path.is_relative_to(source) else ""
    if name not in files:
        raise SettingsError(
            f"{place.path}: must be a chapter of {book.settings.toc} or a tangled file "
            f"below {source}/, got neither. Check the path; it is taken from the root."
        )
    return (_written(files[name], _as_tangled(book, files[name], place)),)


def _tangled(book: Book, place: Location) -> tuple[Location, ...]:
    source = PurePosixPath(book.settings.source)
    found = tuple(
        Location((source / name).as_posix(), number)
        for name, file in book.snapshot().files.items()
        for number, line in enumerate(file.lines, start=1)
        if line.location == place
    )
    if not found:
        raise SettingsError(f"{place}: {_why_not(book, place)}")
    return found


def _why_not(book: Book, place: Location) -> str:
    """Return why a line of a chapter is not in the package."""
    for piece in book.pieces:
        first, last = piece.body_line, piece.body_line + len(piece.body)
        if piece.chapter.path == place.path and first <= place.line < last:
            later = [p for p in book.history(piece.name) if p.key == "replace"]
            newer = [p for p in later if p.chapter.number > piece.chapter.number]
            if newer:
                return (
                    "must be in the package, but its chunk was replaced at "
                    f"{newer[-1].location}. Locate a line there."
                )
    return "must be a line of a chunk that is in the package. Choose such a line."


def _require_line(place: Location, last: int) -> None:
    if not 1 <= place.line <= last:
        raise SettingsError(
            f"{place}: must be a line of the file, which has {last}. Check the number."
        )


def _as_tangled(book: Book, file: TangledFile, place: Location) -> int:
    """Return the number of the tangled line that a line on disk stands for."""
    try:
        disk = (book.settings.root / place.path).read_bytes().decode("utf-8")
    except (OSError, ValueError):
        disk = file.text
    lines = disk.removesuffix("\n").split("\n")
    _require_line(place, len(lines))
    tangled = [line.text for line in file.lines]
    return place.line if lines == tangled else _matched(tangled, lines, place.line)


def _matched(tangled: Sequence[str], lines: Sequence[str], number: int) -> int:
    matcher = SequenceMatcher(None, tangled, lines, autojunk=False)
    nearest = 1
    for ours, theirs, size in matcher.get_matching_blocks():
        if theirs < number and size:
            nearest = ours + min(number - theirs, size)
    return nearest


def _written(file: TangledFile, number: int) -> Location:
    """Return the place in the book of a line, or of the next one that has a place."""
    for line in file.lines[number - 1 :]:
        if line.location is not None:
            return line.location
    raise SettingsError(f"{file.path}:{number}: has no line in the book.")


def parse_place(text: str, root: Path) -> Location:
    """Return the location that `PATH:LINE` means, from the root or from here.

    Errors: SettingsError if it is not of that form.
    """
    path, _, digits = text.rpartition(":")
    number = whole_number(digits)
    if number is None or not path:
        raise SettingsError(
            f"{shortened(text)}: must be PATH:LINE, such as src/package/module.py:57. "
            "Name both."
        )
    given = Path(path)
    candidate = given if given.is_absolute() else Path.cwd() / given
    inside = candidate.resolve()
    if inside.is_file() and inside.is_relative_to(root.resolve()):
        return Location(inside.relative_to(root.resolve()).as_posix(), number)
    return Location(PurePosixPath(path.replace("\\", "/")).as_posix(), number)
