"""Chapters as MyST-NB reads them, with chunks marked and the other cells run.

MyST-NB has no event between reading a notebook and running it.  This parser gives it
a reader of its own (its public `nb_custom_formats`), which hands over a notebook that
has been run already, and turns MyST-NB's own execution off for that chapter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml  # type: ignore[import-untyped]
from docutils.nodes import document  # type: ignore[import-untyped]
from myst_nb.core.config import NbParserConfig  # type: ignore[import-untyped]
from myst_nb.core.read import (  # type: ignore[import-untyped]
    MystMetadataParsingError,
    is_myst_markdown_notebook,
    read_myst_markdown_notebook,
)
from myst_nb.sphinx_ import Parser as NotebookParser  # type: ignore[import-untyped]
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from sphinx.util import logging

from ..markdown import Cell, Chapter
from .kernel import Code, Runner, new_notebook
from .strict import machine_path
from .weaving import WEAVINGS, Weaving

LOG = logging.getLogger(__name__)
# A cell's metadata: its index in the chapter, where it is a piece of a chunk.
PIECE = "mystangle-piece"
HIDING = frozenset({"remove-cell", "remove_cell", "remove-input", "remove_input"})
MISSING = re.compile(
    r"No module named '([\w.]+)'|cannot import name '(\w+)' from '([\w.]+)'"
)
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}


class ChapterParser(NotebookParser):  # type: ignore[misc]
    """MyST-NB's parser; the chapters of the book are run here instead of there."""

    def parse(self, inputstring: str, document: document) -> None:
        """Parse a page into `document`."""
        env: Any = document.settings.env  # MyST-NB keeps its settings on it
        weaving = WEAVINGS.get(env.app)
        chapter = weaving.chapters.get(env.docname) if weaving else None
        if (
            weaving is None
            or chapter is None
            or not is_myst_markdown_notebook(inputstring)
        ):
            super().parse(inputstring, document)
            return
        reading = Reading(weaving, chapter, env.myst_config, env.mystnb_config)
        with reading.announced(env):
            super().parse(inputstring, document)


def read_chapter(text: str, reading: Reading) -> NotebookNode:
    """Return a chapter as a notebook that has been run; MyST-NB calls this."""
    return reading.notebook(text)


@dataclass(frozen=True)
class Reading:
    """The reading of one chapter."""

    weaving: Weaving
    chapter: Chapter
    markdown: MdParserConfig
    config: NbParserConfig

    @contextmanager
    def announced(self, env: Any) -> Iterator[None]:
        """Have MyST-NB read pages with this reading, and run nothing itself."""
        suffix = PurePosixPath(self.chapter.path).suffix
        reader = (f"{__name__}.{read_chapter.__name__}", {"reading": self}, False)
        changed = self.config.copy(
            custom_formats={suffix: reader}, execution_mode="off"
        )
        env.mystnb_config = changed
        try:
            yield
        finally:
            env.mystnb_config = self.config

    def notebook(self, text: str) -> NotebookNode:
        """Return the chapter as a notebook with its outputs."""
        try:
            notebook: NotebookNode = read_myst_markdown_notebook(
                text, config=self.markdown, add_source_map=True, path=self._file
            )
        except (MystMetadataParsingError, yaml.YAMLError) as error:
            self._warn(1, "cell", str(error))
            return new_notebook([], {"source_map": []})
        notebook.metadata["source_map"] = _mended(notebook.metadata["source_map"], text)
        notebook.metadata["language_info"] = LANGUAGE
        notebook.metadata.setdefault(
            "kernelspec", {"name": "python3", "display_name": "Python 3"}
        )
        self._run(self._cells_to_run(notebook))
        return notebook

    @property
    def _file(self) -> Path:
        return self.weaving.settings.root / self.chapter.path

    def _cells_to_run(self, notebook: NotebookNode) -> list[tuple[Cell, NotebookNode]]:
        """Mark the pieces of chunks; return the other code cells."""
        found = []
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell, shown in zip(self.chapter.cells, cells, strict=True):
            tags = shown.metadata.setdefault("tags", [])
            if self.weaving.piece(self.chapter.docname, cell.index):
                shown.metadata[PIECE] = cell.index
                if HIDING.intersection(tags):
                    self._warn(cell.line, "tag", f"a chunk must be seen, got {tags}")
                tags.append("skip-execution")
            elif "skip-execution" not in tags and cell.source.strip():
                found.append((cell, shown))
            if "raises-exception" in tags:
                text = "a cell that must fail names its error: `:raises: ValueError`"
                self._warn(cell.line, "tag", f"{text}, got the tag raises-exception")
        return found

    def _run(self, cells: list[tuple[Cell, NotebookNode]]) -> None:
        """Give the cells their outputs; warn of each that did not do what it must."""
        if not cells or self.config.execution_mode == "off":
            return
        codes = [Code(c.source, _text(s.metadata.get("raises"))) for c, s in cells]
        result = self._runner().run(codes, str(self._file))
        how = "run" if result.ran else "outputs from the cache"
        LOG.info("mystangle: %s: %d cells %s", self.chapter.path, len(cells), how)
        faulty = {fault.index for fault in result.faults}
        for index, (cell, shown) in enumerate(cells):
            shown.outputs = result.outputs[index]
            if index not in faulty:  # a traceback may well show paths
                self._refuse_machine_paths(cell, shown.outputs)
        for fault in result.faults:
            cell = cells[fault.index][0]
            text = fault.message + self._hint(fault.message)
            self._warn(cell.source_line + fault.row, "cell", text)

    def _hint(self, message: str) -> str:
        """Return what to add where a cell asks for a module that is still to come."""
        match = MISSING.search(message)
        if match is None:
            return ""
        name = match[1] or f"{match[3]}.{match[2]}"
        begun = self.weaving.begun_in(name)
        hint = f" ({name} is begun in {begun}; this page stands before it)"
        return hint if begun else ""

    def _runner(self) -> Runner:
        folder = self.weaving.folder
        return Runner(
            python_path=self.weaving.view(self.chapter).export(folder / "views"),
            digest=self.weaving.outputs_key(self.chapter),
            cache=self._cache if self.config.execution_mode == "cache" else None,
            folder=None if self.config.execution_in_temp else self._file.parent,
            timeout=self.config.execution_timeout,
            state=folder,
        )

    @property
    def _cache(self) -> Path:
        return Path(self.config.execution_cache_path)

    def _refuse_machine_paths(self, cell: Cell, outputs: list[NotebookNode]) -> None:
        path = machine_path(repr(outputs), self.weaving.settings.root)
        if path:
            text = f"an output must show no path of this machine, got {path!r}"
            self._warn(cell.source_line, "path", text)

    def _warn(self, line: int, kind: str, text: str) -> None:
        place = (self.chapter.docname, line)
        LOG.warning("%s", text, location=place, type="mystangle", subtype=kind)


def _mended(starts: list[int], text: str) -> list[int]:
    """Return the first lines of a notebook's cells, so that MyST-NB reports them.

    It counts one too many, and leaves blank lines out before text.
    """
    lines = [*text.splitlines(), "end"]
    return [
        next(row for row in range(start, len(lines)) if lines[row].strip()) - 1
        for start in starts
    ]


def _text(value: object) -> str | None:
    return str(value) if value else None
