"""The texts of other pages that a page keeps, to show its references in place."""

from __future__ import annotations

from collections.abc import Iterator

from ..judge import contents
from ..language import Piece
from ..markdown import Chapter
from .markup import Markup
from .weaving import Weaving


def texts(weaving: Weaving, chapter: Chapter, markup: Markup) -> str:
    """Return the templates of a chapter's page, from which the script takes texts.

    What stands on the page itself the script takes from there.
    """
    found = []
    for piece in _from_elsewhere(weaving, chapter):
        code = markup.listing(weaving.captions.listing(piece, chapter))
        text_id = weaving.links.text_id(piece)
        found.append(f'<template id="{text_id}">{code}</template>\n')
    return "".join(found)


def _from_elsewhere(weaving: Weaving, chapter: Chapter) -> Iterator[Piece]:
    """Yield the pieces of other pages that a reference on this one can show.

    It shows all of a chunk as of this chapter, and so do the references inside it.
    """
    here = [p for p in weaving.book.pieces if p.chapter is chapter]
    before = weaving.captions.active(chapter.number - 1)
    old = (p for new in here if new.key == "replace" for p in before[new.name])
    named = {
        reference.name for piece in [*here, *old] for reference in piece.references
    }
    chunks = weaving.captions.active(chapter.number)
    for name in sorted(contents(chunks, *named)):
        yield from (piece for piece in chunks[name] if piece.chapter is not chapter)
