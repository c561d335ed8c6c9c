"""The texts that a page keeps, so that its references can be expanded in place."""

from __future__ import annotations

from collections.abc import Iterator

from ..judge import active, contents
from ..markdown import Chapter
from .markup import Markup
from .weaving import Weaving


def texts(weaving: Weaving, chapter: Chapter, markup: Markup) -> str:
    """Return the templates of a chapter's page, from which the script takes texts.

    There is one for each chunk that a reference on the page can show, directly or
    inside another, with all its pieces as of this chapter.
    """
    chunks = active(weaving.book.pieces, chapter.number)
    found = []
    for name in sorted(_shown(weaving, chapter)):
        listings = map(weaving.captions.listing, chunks[name])
        code = "".join(map(markup.listing, listings))
        text_id = weaving.links.text_id(name)
        found.append(f'<template id="{text_id}">{code}</template>\n')
    return "".join(found)


def _shown(weaving: Weaving, chapter: Chapter) -> Iterator[str]:
    """Yield the names that the pieces of a page refer to, and those inside them."""
    pieces = [p for p in weaving.book.pieces if p.chapter is chapter]
    replaced = {p.name for p in pieces if p.key == "replace"}
    before = active(weaving.book.pieces, chapter.number - 1)
    pieces += [old for name in replaced for old in before[name]]
    named = (reference.name for piece in pieces for reference in piece.references)
    yield from contents(active(weaving.book.pieces, chapter.number), *named)
