"""What one build knows: the book, what each chapter may import, and the captions."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path, PurePosixPath
from weakref import WeakKeyDictionary

from sphinx.application import Sphinx

from ..book import Book
from ..language import Piece
from ..markdown import Chapter
from ..settings import Settings
from .captions import Captions
from .identifiers import Identifier, identifiers_of
from .imports import module_of
from .links import Links
from .states import States
from .view import View, view_of


class Weaving:
    """A sound book that is being woven; `folder` is for what the build keeps."""

    def __init__(self, book: Book, folder: Path) -> None:
        self.book = book
        self.folder = folder
        self.links = Links(book)
        self.states = States(book)
        self.captions = Captions(book, self.links, self.states)
        self.chapters = {chapter.docname: chapter for chapter in book.chapters}
        self._views: dict[int, View] = {}
        self._keys: dict[str, str] = {}

    @property
    def settings(self) -> Settings:
        """The settings of the book."""
        return self.book.settings

    @cached_property
    def identifiers(self) -> tuple[Identifier, ...]:
        """Every name that the tangled files define or import, and where it is used."""
        return identifiers_of(self.book, self.states)

    @cached_property
    def support(self) -> dict[str, bytes]:
        """The files that cells may read beside the package, by path below the root."""
        root = self.settings.root
        found = {p for glob in self.settings.support for p in root.glob(glob)}
        files = sorted(path for path in found if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}

    def view(self, chapter: Chapter) -> View:
        """Return what the cells of a chapter may import."""
        if chapter.number not in self._views:
            self._views[chapter.number] = view_of(
                self.book, chapter.number, self.support
            )
        return self._views[chapter.number]

    def piece(self, docname: str, cell: int) -> Piece | None:
        """Return the piece that a page's code cell contributes, if it does."""
        return self.book.piece_at(docname, cell)

    def outputs_key(self, chapter: Chapter) -> str:
        """Return a digest of what the outputs on a page depend on beside its cells.

        The page's folder is where they run.
        """
        folder = PurePosixPath(chapter.path).parent
        return f"{self.view(chapter).key} {folder}"

    def begun_in(self, module: str) -> str | None:
        """Return the chapter that begins a module, None if none does."""
        for piece in self.book.pieces:
            if piece.is_file and module_of(piece.name, b"").name == module:
                return piece.chapter.docname
        return None

    def page_key(self, docname: str) -> str:
        """Return a digest of what a page shows beside its own text."""
        if docname not in self._keys:
            chapter = self.chapters.get(docname)
            key = self.outputs_key(chapter) if chapter else ""
            key += self.captions.digest(docname)
            self._keys[docname] = hashlib.sha256(key.encode()).hexdigest()[:20]
        return self._keys[docname]


WEAVINGS: WeakKeyDictionary[Sphinx, Weaving] = WeakKeyDictionary()
