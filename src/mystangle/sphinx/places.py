"""Where in the book a warning is about, however little its sender says of that.

Some extensions name a page without its suffix, some name no line, some nothing at all.
What then helps is the label or the role that the message names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docutils.nodes import Node  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.util.nodes import get_node_line, get_node_source

from ..problems import Location

PLACE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d*))?:?")
NAMED = re.compile(r"""\b(?:label:?|role) ["']?([\w:.-]*\w)""")
UNKNOWN = "_config.yml"


def place_of(app: Sphinx, where: object, text: str) -> Location:
    """Return the file and the line that a warning is about; `where` is Sphinx's."""
    path, line = _told(app, where)
    if line:
        return Location(path, line)
    named = NAMED.search(text)
    found = _sought(app, path, named[1]) if named else None
    return found or Location(path, 1)


def _told(app: Sphinx, where: object) -> tuple[str, int]:
    """Return the file and the line that the sender told; 0 is no line."""
    line: int | None = None
    if isinstance(where, Node):
        where, line = get_node_source(where), get_node_line(where)
    elif isinstance(where, tuple):
        where, line = where
    match = PLACE.fullmatch(str(where or UNKNOWN))
    assert match is not None
    return _relative(app, match["path"]), line or int(match["line"] or 0)


def _relative(app: Sphinx, path: str) -> str:
    """Return a path as the book says it; a page has its own suffix."""
    root = Path(app.srcdir)
    full = Path(path) if Path(path).is_absolute() else root / path
    if not full.is_relative_to(root):
        return path
    inside = full.relative_to(root).as_posix()
    for docname in (inside, inside.removesuffix(".rst")):
        if docname in app.env.found_docs:
            return str(app.env.doc2path(docname, False))
    return inside


def _sought(app: Sphinx, path: str, name: str) -> Location | None:
    """Return the last line that gives a label, or else the first that asks for it."""
    word = re.compile(rf"(?:[`{{]|\}} *|:label: *){re.escape(name)}(?![\w-])")
    for page, lines in _pages(app, path):
        found = [number for number, line in enumerate(lines, 1) if word.search(line)]
        given = [number for number in found if ":label:" in lines[number - 1]]
        if found:
            return Location(page, given[-1] if given else found[0])
    return None


def _pages(app: Sphinx, first: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each page and its lines, one of them before the others."""
    pages = {str(app.env.doc2path(name, False)) for name in app.env.found_docs}
    for page in sorted(pages, key=lambda page: (page != first, page)):
        file = Path(app.srcdir, page)
        yield page, file.read_text("utf-8").splitlines() if file.is_file() else []
