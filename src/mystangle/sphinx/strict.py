"""Every warning fails the build, and its last lines say where.

Sphinx warns only while it reads or writes a page, so an unchanged page keeps silent
on the next run.  A build that does not end well therefore leaves a mark, and the next
one reads every page again (the outputs come from the execution cache).
"""

from __future__ import annotations

import logging as standard_logging
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NoReturn

from docutils.nodes import Element  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxWarning
from sphinx.util import logging

from ..problems import Location
from .places import place_of


def stop(text: str) -> NoReturn:
    """End the process; `text` is the last that it prints."""
    sys.stdout.flush()
    raise SystemExit(text)


class Collector(logging.WarningStreamHandler):
    """Keeps each warning as `book/x.md:line: message`, in the order of the pages."""

    def __init__(self, app: Sphinx) -> None:
        super().__init__(StringIO())
        self.app = app
        self.found: set[tuple[Location, str]] = set()
        self.setLevel(standard_logging.WARNING)

    def emit(self, record: standard_logging.LogRecord) -> None:
        """Note a warning."""
        kind, subkind = getattr(record, "type", ""), getattr(record, "subtype", "")
        ignored = getattr(self.app.config, "suppress_warnings", [])
        if logging.is_suppressed_warning(kind, subkind, ignored):
            return
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        label = f" [{kind}.{subkind}]" if kind and subkind else ""
        if label not in text:
            text += label
        where = getattr(record, "location", None)
        self.found.add((place_of(self.app, where, text), text))

    def messages(self) -> list[str]:
        """Return all that was noted, a line each."""
        return [f"{place}: {text}" for place, text in sorted(self.found)]


def install(app: Sphinx) -> Collector:
    """Listen to Sphinx's warnings, before anything else does."""
    collector = Collector(app)
    logger = standard_logging.getLogger(logging.NAMESPACE)
    logger.handlers.insert(0, collector)
    return collector


def pages_to_repeat(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Return every page if the last build did not end well; mark this one as begun."""
    marks = list(Path(app.doctreedir).glob(_mark(app, "*").name))
    _mark(app, app.builder.name).touch()
    return list(env.found_docs) if marks else []


def finish(app: Sphinx, collector: Collector, exception: Exception | None) -> None:
    """Fail the build if anything was wrong; its messages are the last lines."""
    if exception is None and app.builder.format == "html":
        _refuse_machine_paths(app, collector)
    if collector.found and (exception is None or isinstance(exception, SphinxWarning)):
        stop("\n".join(collector.messages()))
    if exception is None:
        _mark(app, app.builder.name).unlink(missing_ok=True)


def want_python_names(
    app: Sphinx, env: BuildEnvironment, node: Element, text: Element
) -> None:
    """Have Sphinx warn of a Python name that an author asked for and nothing describes.

    A role leaves `refwarn`; what signatures name is not asked for by anybody.
    """
    if node.get("refdomain") == "py" and "refwarn" in node:
        node["refwarn"] = True


def machine_path(text: str, root: Path) -> str | None:
    """Return the folder of this machine that `text` shows, if it does.

    Looked for are the book's root, the home, the folder for temporary files, and where
    Python and its libraries are installed.
    """
    places = "|".join(map(re.escape, _machine_folders(root)))
    plain = re.sub(r"\\+", "/", text)
    found = re.search(rf"(?<![\w.~-])(?:{places})(?![\w.-])", plain)
    return found[0] if found else None


@cache
def _machine_folders(root: Path) -> tuple[str, ...]:
    """Return the folders that no page may show, inner ones before outer ones."""
    installed = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    folders = [root, Path.home(), Path(tempfile.gettempdir()), *map(Path, installed)]
    if sys.prefix != sys.base_prefix:  # otherwise it may be just /usr
        folders.append(Path(sys.prefix))
    every = {f for folder in folders for f in (folder, folder.resolve())}
    shown = {folder.as_posix() for folder in every if folder != Path(folder.anchor)}
    return tuple(sorted(shown, key=lambda text: (-len(text), text)))


def _refuse_machine_paths(app: Sphinx, collector: Collector) -> None:
    root = Path(app.srcdir)
    label = "[mystangle.path]"
    labels = (label, "[mystangle.cell]")  # whose outputs will be others when mended
    told = {place.path for place, text in collector.found if text.endswith(labels)}
    for docname in sorted(app.env.found_docs):
        page = Path(app.builder.get_outfilename(docname))  # type: ignore[attr-defined]
        path = machine_path(page.read_text("utf-8"), root) if page.is_file() else None
        source = Path(app.env.doc2path(docname)).relative_to(root).as_posix()
        if path and source not in told:
            text = f"a page must show no path of this machine, got {path!r} {label}"
            collector.found.add((Location(source, 1), text))


def _mark(app: Sphinx, builder: str) -> Path:
    """Return the file that is there while a build has not ended well.

    Builders share what was read, but each has written pages of its own.
    """
    return Path(app.doctreedir, f"mystangle-unfinished.{builder}")
