"""The index of errors, made from the package's code and the chapters' tables.

The line `{errors} PACKAGE` of a page becomes the tree of all error classes, and then a
section for each: what it means, where it is defined and raised, and which failures
name it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, new_document
from sphinx.util.nodes import make_refnode

from mystangle.language import Piece
from mystangle.sphinx.weaving import WEAVINGS, Weaving

from .contracts import found
from .raising import ErrorClass, Errors
from .written import Written


class named(nodes.General, nodes.Element):
    """The place of links to all rows that hold the code `name`, below a `lead`."""


class Named(SphinxDirective):
    """`{named} NAME`: the failures that name an error, under `:lead:` if there are."""

    required_arguments = 1
    option_spec = {"lead": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        return [named(name=self.arguments[0], lead=self.options["lead"])]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what writes the index."""
    app.add_node(named)
    app.add_directive("named", Named)
    Written("errors", lambda weaving, package: Index(weaving, package).text()).connect(
        app
    )
    app.connect("doctree-resolved", fill, priority=400)  # chapters get numbers later
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class Index:
    """The Markdown of the index."""

    def __init__(self, weaving: Weaving, package: str) -> None:
        self.weaving = weaving
        self.errors = Errors(weaving, package)

    def text(self) -> str:
        """Return the tree and the sections, each class before those that extend it."""
        roots = self.errors.roots()
        ordered = [each for root in roots for each in self._with_below(root)]
        sections = ["\n\n".join(self._section(each)) for each in ordered]
        return "\n\n".join(["\n".join(self._tree(roots, "")), *sections])

    def _with_below(self, error: ErrorClass) -> Iterator[ErrorClass]:
        yield error
        for each in self.errors.below(error.full):
            yield from self._with_below(each)

    def _tree(self, level: Iterable[ErrorClass], indent: str) -> Iterator[str]:
        for each in level:
            own = [f"`{b}`" for b in each.bases if b not in self.errors.classes]
            also = f" ({', '.join(own)})" if own else ""
            yield f"{indent}- [`{each.name}`](#{each.name.casefold()}){also}"
            yield from self._tree(self.errors.below(each.full), f"{indent}  ")

    def _section(self, error: ErrorClass) -> Iterator[str]:
        yield f"## {error.name}"
        yield error.meaning
        bases = " and ".join(map(self._base, error.bases))
        yield (
            f"{{py:obj}}`{error.full} <{error.full}>` extends {bases}.\n"
            f"Defined in {{chapter}}`{error.piece.chapter.docname}`, "
            f"chunk {self._piece(error.piece)}."
        )
        raised = self.errors.raised[error.full]
        if raised:
            yield "Raised by:"
            yield "\n".join(self._by_chapter(raised))
        elif self.errors.below(error.full):
            yield "Never raised itself: it stands for all that extend it."
        yield f"```{{named}} {error.name}\n:lead: Named by these failures:\n```"

    def _base(self, base: str) -> str:
        known = self.errors.classes.get(base)
        return f"[`{known.name}`](#{known.name.casefold()})" if known else f"`{base}`"

    def _by_chapter(self, pieces: list[Piece]) -> Iterator[str]:
        for docname, group in groupby(pieces, key=lambda p: p.chapter.docname):
            count: Counter[str] = Counter()
            links = []
            for piece in group:
                count[piece.name] += 1
                links.append(self._piece(piece, count[piece.name]))
            yield f"- {{chapter}}`{docname}`: {', '.join(links)}"

    def _piece(self, piece: Piece, number: int = 1) -> str:
        """Return a link to a piece, with its number among those of its name."""
        there = f"{piece.chapter.docname}#{self.weaving.links.anchor(piece)}"
        shown = piece.name.replace("`", "").replace("<", r"\<")
        again = f" ({number})" if number > 1 else ""
        return f"{{mystangle:piece}}`{shown}{again} <{there}>`"


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put links to the rows that name an error where a directive asks for them."""
    rows = found(app.env)
    for place in list(doctree.findall(named)):
        items = [
            item
            for page in WEAVINGS[app].chapters
            if page in rows
            for item in naming(app, docname, page, place["name"])
        ]
        sheet = new_document(docname)
        if items:
            sheet += nodes.paragraph("", place["lead"])
            sheet += nodes.bullet_list("", *items)
        app.env.resolve_references(sheet, docname, app.builder)
        place.replace_self(sheet.children)


def naming(
    app: Sphinx, docname: str, page: str, name: str
) -> Iterator[nodes.list_item]:
    """Yield, if a page has rows that name an error, an item with links to them."""
    line = nodes.paragraph()
    for row in found(app.env)[page]:
        if name in (code.astext() for code in row.findall(nodes.literal)):
            line += nodes.Text("; " if line.children else ": ")
            what = nodes.inline("", "", *failure(row))
            line += make_refnode(app.builder, docname, page, row["ids"][0], what)
    if line.children:
        title = app.env.titles[page].astext()
        line.insert(0, nodes.inline("", title, chapter=page))
        yield nodes.list_item("", line)


def failure(row: nodes.row) -> list[nodes.Node]:
    """Return what a row calls the failure, without links of its own."""
    cell = row.children[0].deepcopy()
    for link in [*cell.findall(nodes.reference), *cell.findall(pending_xref)]:
        link.replace_self(link.children)
    return [inline for paragraph in cell.children for inline in paragraph.children]
