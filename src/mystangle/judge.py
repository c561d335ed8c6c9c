"""What must hold between the pieces of a book, judged once per chapter.

Chapter N is judged on the pieces of chapters 1..N: what a reader has seen by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from itertools import groupby

from .expand import Chunks
from .language import Piece, Reference, is_file
from .names import file_fault, name_fault
from .problems import Problem
from .targets import fold


def active(pieces: Sequence[Piece], number: int) -> dict[str, tuple[Piece, ...]]:
    """Return the pieces of each chunk and file that hold as of a chapter."""
    chunks: dict[str, tuple[Piece, ...]] = {}
    for piece in pieces:
        if piece.chapter.number > number:
            break
        known = piece.name in chunks
        if piece.key in ("file", "id") and not known:
            chunks[piece.name] = (piece,)
        elif piece.key == "append" and known:
            chunks[piece.name] += (piece,)
        elif piece.key == "replace" and known:
            chunks[piece.name] = (piece,)
    return chunks


def judge(
    pieces: Sequence[Piece], chapters: int, mentioned: Set[str] = frozenset()
) -> Iterator[Problem]:
    """Yield every problem between the pieces of a book of so many chapters.

    `mentioned`: names to which cells refer that are no pieces, being wrong.
    """
    yield from _definitions(pieces)
    yield from _clashes(pieces)
    yield from _undefined(pieces)
    used = set(mentioned)
    reached: set[str] = set()
    for number in range(1, chapters + 1):
        chunks = active(pieces, number)
        references = _references(chunks)
        yield from _twice(references)
        yield from _cycles(chunks)
        now = contents(chunks, *filter(is_file, chunks))
        yield from _retired(pieces, number, reached - now)
        used |= references.keys() & chunks.keys()
        reached |= now
    yield from _unused(pieces, used)


def _definitions(pieces: Sequence[Piece]) -> Iterator[Problem]:
    """Yield what is wrong with the order of definitions, appendices, replacements."""
    last: dict[str, Piece] = {}
    first: dict[str, Piece] = {}
    for piece in pieces:
        before = last.get(piece.name)
        message = _order_fault(piece, first.get(piece.name), before)
        if message:
            yield Problem(piece.location, message, "definition")
        elif before is None or piece.key in ("append", "replace"):
            last[piece.name] = piece
            first.setdefault(piece.name, piece)


def _order_fault(piece: Piece, first: Piece | None, before: Piece | None) -> str | None:
    if piece.key in ("file", "id"):
        if first is None:
            return None
        return (
            f"a chunk must be defined once, got a second definition of {piece.name!r} "
            f"(first at {first.location}). Continue it with `append:`, supersede it "
            "with `replace:`, or choose another name."
        )
    if first is None or before is None:
        return (
            f"`{piece.key}` must name what was defined before, got {piece.name!r}. "
            "Define it first, with `id:` or `file:`, or mend the name."
        )
    if piece.key == "replace" and piece.is_file:
        return (
            f"`replace` must name a chunk, got the file {piece.name!r}. Give what "
            "changes a chunk of its own, and replace that."
        )
    if piece.key == "replace" and before.chapter is piece.chapter:
        return (
            "`replace` must supersede pieces of earlier chapters, got "
            f"{piece.name!r}, which this chapter itself wrote to at {before.location}. "
            "Change that piece instead."
        )
    return None


def _clashes(pieces: Sequence[Piece]) -> Iterator[Problem]:
    """Yield names that some file system, or reader, would take for one."""
    spelled: dict[str, tuple[str, Piece]] = {}
    sound = [p for p in pieces if not (file_fault if p.is_file else name_fault)(p.name)]
    for piece in sound:
        for name in _prefixes(piece):
            other, first = spelled.setdefault(fold(name), (name, piece))
            if other != name:
                yield Problem(
                    piece.location,
                    f"names must differ by more than case, got {name!r} and {other!r} "
                    f"(at {first.location}). Spell both alike or choose another name.",
                    "clash",
                )
    files = {fold(piece.name): piece for piece in sound if piece.is_file}
    for piece in files.values():
        for folder in _prefixes(piece)[:-1]:
            other_file = files.get(fold(folder))
            if other_file is not None:
                yield Problem(
                    piece.location,
                    f"a file cannot also be a folder, got {piece.name!r} below "
                    f"{other_file.name!r} (at {other_file.location}). Rename one.",
                    "clash",
                )


def _prefixes(piece: Piece) -> list[str]:
    """Return the folders above a file and the file, or just the name of a chunk."""
    parts = piece.name.split("/") if piece.is_file else [piece.name]
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _undefined(pieces: Sequence[Piece]) -> Iterator[Problem]:
    names = {p.name for p in pieces if p.key == "id"}
    for piece in pieces:
        for reference in piece.references:
            if reference.name not in names and not name_fault(reference.name):
                close = get_close_matches(reference.name, names, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                yield Problem(
                    reference.location,
                    "a reference must name a chunk that the book defines, got "
                    f"{reference.name!r}.{hint} Define it with `#| id:` or mend the "
                    "name.",
                    "undefined",
                )


def _references(chunks: Chunks) -> dict[str, list[Reference]]:
    found: dict[str, list[Reference]] = {}
    for pieces in chunks.values():
        for piece in pieces:
            for reference in piece.references:
                found.setdefault(reference.name, []).append(reference)
    return found


def _twice(references: Mapping[str, list[Reference]]) -> Iterator[Problem]:
    for name, found in references.items():
        first, *others = found
        for other in others:
            yield Problem(
                other.location,
                f"a chunk must be referred to once, got {name!r} again (first at "
                f"{first.location}). Make it a function, or write a second chunk.",
                "twice",
            )


def _edges(chunks: Chunks, name: str) -> list[Reference]:
    return [r for piece in chunks.get(name, ()) for r in piece.references]


def _cycles(chunks: Chunks) -> Iterator[Problem]:
    """Yield each chunk that refers to itself, directly or through others, once."""
    done: set[str] = set()
    for start in chunks:
        path: list[str] = []
        stack = [(start, iter(_edges(chunks, start)))] if start not in done else []
        while stack:
            name, edges = stack[-1]
            if len(path) < len(stack):
                path.append(name)
            reference = next(edges, None)
            if reference is None:
                done.add(path.pop())
                stack.pop()
            elif reference.name in path:
                around = [*path[path.index(reference.name) :], reference.name]
                yield Problem(
                    reference.location,
                    "a chunk must not contain itself, got "
                    f"{' -> '.join(around)}. Remove one of these references.",
                    "cycle",
                )
            elif reference.name in chunks and reference.name not in done:
                stack.append((reference.name, iter(_edges(chunks, reference.name))))


def contents(chunks: Chunks, *names: str) -> set[str]:
    """Return `names` and those of the chunks in them, however deep."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and name in chunks:
            found.add(name)
            waiting.extend(reference.name for reference in _edges(chunks, name))
    return found


def _retired(
    pieces: Sequence[Piece], number: int, retired: set[str]
) -> Iterator[Problem]:
    """Yield the pieces that a chapter adds to chunks that no file contains any more."""
    for piece in pieces:
        if piece.chapter.number == number and piece.name in retired:
            yield Problem(
                piece.location,
                f"`{piece.key}` must name a chunk that is in use, and {piece.name!r} "
                f"is retired: a replacement dropped the reference to it. Refer to it "
                "again or write a new chunk.",
                "retired",
            )


def _unused(pieces: Sequence[Piece], used: set[str]) -> Iterator[Problem]:
    named = [piece for piece in pieces if piece.key == "id"]
    for name, found in groupby(sorted(named, key=_by_name), key=_by_name):
        if name not in used and not name_fault(name):
            yield Problem(
                next(found).location,
                f"a chunk must be used, and nothing refers to {name!r}. Write "
                f"`# <<{name}>>` where it belongs, or remove it.",
                "unused",
            )


def _by_name(piece: Piece) -> str:
    return piece.name
