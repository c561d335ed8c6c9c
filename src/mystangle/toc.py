"""The order of the chapters: the files of `_toc.yml`, as Jupyter Book reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml  # type: ignore[import-untyped]

from .problems import Location, Problem, SettingsError, shortened
from .settings import Settings

LISTS = ("parts", "chapters", "sections", "subtrees", "entries", "items")
OTHER_SOURCES = (".ipynb", ".rst", ".txt")


@dataclass(frozen=True)
class Entry:
    """A file that the table of contents names, without its suffix, and where."""

    docname: str
    line: int


def read_toc(settings: Settings) -> tuple[list[str], list[Problem]]:
    """Return the docnames of the book's Markdown chapters in order, and problems.

    Entries in other formats (notebooks, reStructuredText) hold no chunks and are
    passed over.  Errors: SettingsError if the table itself cannot be read.
    """
    docnames: dict[str, int] = {}
    problems = []
    for entry in _expanded(settings, _entries(_compose(settings))):
        message = _wrong(settings, entry, docnames)
        if message:
            place = Location(settings.toc, entry.line)
            problems.append(Problem(place, message, "toc"))
        elif (settings.root / f"{entry.docname}.md").is_file():
            docnames[entry.docname] = entry.line
    return list(docnames), problems


def _compose(settings: Settings) -> yaml.MappingNode:
    path = settings.root / settings.toc
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader)
    except FileNotFoundError:
        raise SettingsError(
            f"{settings.toc}: the book needs a table of contents, got no such file. "
            "Write it as for Jupyter Book, or set `toc` in [tool.mystangle]."
        ) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SettingsError(
            f"{settings.toc}:{line}: must be YAML, got: {error.problem}."
        ) from None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise SettingsError(f"{settings.toc}: cannot be read: {error}.") from None
    if isinstance(node, yaml.MappingNode) and any(
        key == "root" and isinstance(value, yaml.ScalarNode)
        for key, value in _pairs(node)
    ):
        return node
    raise SettingsError(
        f"{settings.toc}:1: must be a mapping with `root:`, as Jupyter Book wants it "
        "(`format: jb-book`). Begin it with `root: <first page>`."
    )


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node]]:
    for key, value in node.value:
        yield str(key.value), value


def _entries(node: yaml.Node) -> Iterator[tuple[str, str, int]]:
    """Yield (`file` or `glob`, value, line) in the order of the pages."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _entries(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in _pairs(node):
            if key in ("root", "file", "glob") and isinstance(value, yaml.ScalarNode):
                kind = "glob" if key == "glob" else "file"
                yield kind, str(value.value), value.start_mark.line + 1
        for key, value in _pairs(node):
            if key in LISTS:
                yield from _entries(value)


def _expanded(
    settings: Settings, entries: Iterable[tuple[str, str, int]]
) -> Iterator[Entry]:
    for kind, value, line in entries:
        if kind == "glob":
            for docname in _matches(settings.root, value):
                yield Entry(docname, line)
        else:
            suffix = PurePosixPath(value).suffix
            known = suffix in (".md", *OTHER_SOURCES)
            yield Entry(value.removesuffix(suffix) if known else value, line)


def _matches(root: Path, pattern: str) -> list[str]:
    """Return the docnames that a `glob:` stands for, numbers in natural order.

    A pattern that cannot be below the root stands for itself, and will be refused.
    """
    try:
        paths = {p.relative_to(root) for p in root.glob(pattern + ".md")}
        paths |= {p.relative_to(root) for p in root.glob(pattern) if p.suffix == ".md"}
    except (NotImplementedError, ValueError):
        return [pattern]
    names = [path.with_suffix("").as_posix() for path in paths]
    return sorted(
        names,
        key=lambda name: [(t.isdigit(), t.zfill(20)) for t in re.split(r"(\d+)", name)],
    )


def _wrong(settings: Settings, entry: Entry, seen: dict[str, int]) -> str | None:
    path = PurePosixPath(entry.docname)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.docname:
        return (
            f"a chapter must lie below the root, got {shortened(entry.docname)!r}. "
            "Move the file into the book."
        )
    if entry.docname in seen:
        return (
            f"a chapter must be listed once, got {entry.docname!r} again (first at "
            f"{settings.toc}:{seen[entry.docname]}). Remove one of the two."
        )
    base = settings.root / entry.docname
    names = [base.name + suffix for suffix in (".md", *OTHER_SOURCES)]
    # Unlike `Path.is_file`, it takes a name that no file can have for just that.
    if not any(os.path.isfile(base.with_name(name)) for name in names):
        shown = shortened(entry.docname)
        return (
            f"an entry must name a file, got {shown!r}, and there is no {shown}.md. "
            "Write the chapter or remove the entry."
        )
    return None
