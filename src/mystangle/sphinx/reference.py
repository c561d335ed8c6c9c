"""The way from a chunk to what the book's reference says of the names it defines.

Any page may document the package in Sphinx's domain for Python, by hand or by autodoc.
Where it does, the chunks that define a name lead to its entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

from ..language import Piece
from .page import AROUND, chunk
from .weaving import WEAVINGS, Weaving


def lead_to_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add to each chunk of a page links to the entries of the names it defines."""
    weaving = WEAVINGS.get(app)
    if weaving is None or docname not in weaving.chapters:
        return
    pieces = _pieces(weaving, docname)
    for figure in list(doctree.findall(chunk)):
        piece = pieces.get(figure["ids"][0])
        links = list(_links(app, weaving, piece, docname)) if piece else []
        if links:
            around = _around(figure)
            lead = " · API: " if around.children else "API: "
            for number, link in enumerate(links):
                around += [nodes.Text(", " if number else lead), link]


def _pieces(weaving: Weaving, docname: str) -> dict[str, Piece]:
    """Return the pieces of a page by the ids of their figures."""
    return {
        weaving.links.anchor(piece): piece
        for piece in weaving.book.pieces
        if piece.chapter.docname == docname
    }


def _links(
    app: Sphinx, weaving: Weaving, piece: Piece, docname: str
) -> Iterator[nodes.reference]:
    """Yield a link to each entry of a name that a piece defines."""
    objects = _objects(app.env)
    for identifier in weaving.identifiers:
        entry = objects.get(identifier.full)
        if entry and piece in identifier.definitions:
            shown = nodes.literal("", identifier.name)
            there = (entry.docname, entry.node_id)
            yield make_refnode(app.builder, docname, *there, shown)


def _objects(env: BuildEnvironment) -> dict[str, Any]:
    """Return what the pages of this build document in the domain for Python."""
    objects = env.get_domain("py").data["objects"]
    return {name: e for name, e in objects.items() if e.docname in env.found_docs}


def _around(figure: chunk) -> nodes.paragraph:
    """Return the line below a chunk's code, new if it has none."""
    for child in figure.children:
        if AROUND in child.get("classes", ()):
            return child
    paragraph = nodes.paragraph(classes=[AROUND])
    figure.insert(2, paragraph)
    return paragraph
