"""The first step of a build: read the book, refuse its mistakes, tangle."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

from ..book import Book
from ..problems import HandEditError, MystangleError
from ..settings import Settings
from ..write import write_tree
from .strict import stop
from .weaving import WEAVINGS, Weaving

LOG = logging.getLogger(__name__)


def tangle(app: Sphinx) -> None:
    """Write the package, or end the build and leave it as it was."""
    try:
        settings = Settings.load(Path(app.srcdir))
        book = Book.read(settings)
        book.require_sound()
        files = {path: file.data for path, file in book.snapshot().files.items()}
        outcome = write_tree(settings.root, settings.source, settings.lock, files)
    except HandEditError as error:
        edited = (f"{settings.source}/{path}" for path in error.files)
        last = [f"{path}: was edited by hand. See above." for path in edited]
        stop("\n".join([str(error), *last]))
    except MystangleError as error:
        stop(str(error))
    changed = [*outcome.written, *outcome.removed]
    LOG.info("mystangle: %d files, %d written", len(files), len(changed))
    WEAVINGS[app] = Weaving(book, Path(app.outdir).parent / ".mystangle")
