"""One table of all that is refused, gathered from the chapters' own tables.

A chapter's table counts if its column heads are those of `HEADS`.  The directive
`{contracts}` puts all their rows, each with a link to its chapter, into one table.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, new_document

HEADS = ("failure", "where it is stopped", "what a later discovery costs")


class contracts(nodes.General, nodes.Element):
    """The place of the table; filled when every chapter has been read."""


class Contracts(SphinxDirective):
    """`{contracts}`: the table of every failure that the book stops."""

    def run(self) -> list[nodes.Node]:
        return [contracts()]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and what gathers its rows."""
    app.add_node(contracts)
    app.add_directive("contracts", Contracts)
    app.connect("doctree-read", gather)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def found(env: BuildEnvironment) -> dict[str, list[nodes.row]]:
    """Return the rows found so far, by the page that has them."""
    return env.__dict__.setdefault("contract_rows", {})


def gather(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the rows of a page's tables of failures."""
    rows = [
        row.deepcopy()
        for table in doctree.findall(nodes.table)
        if heads(table) == HEADS
        for row in next(iter(table.findall(nodes.tbody))).children
    ]
    if rows:
        found(app.env)[app.env.docname] = rows


def heads(table: nodes.table) -> tuple[str, ...]:
    """Return the texts of a table's column heads."""
    return tuple(
        entry.astext()
        for head in table.findall(nodes.thead)
        for entry in head.findall(nodes.entry)
    )


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop the rows of a page that is read again or gone."""
    found(env).pop(docname, None)


def merge(
    app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment
) -> None:
    """Take over the rows that another process found."""
    found(env).update({d: r for d, r in found(other).items() if d in docnames})


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the table where the directive stands, its rows in the order of the book."""
    for place in list(doctree.findall(contracts)):
        pages = found(app.env)
        order = [page for page in reading_order(app.env) if page in pages]
        rows = [linked(app, docname, p, row) for p in order for row in pages[p]]
        sheet = new_document(docname)
        sheet += table_of(("chapter", *HEADS), rows)
        app.env.resolve_references(sheet, docname, app.builder)
        place.replace_self(sheet.children)


def reading_order(env: BuildEnvironment) -> list[str]:
    """Return every page in the order of the table of contents."""
    order: list[str] = []
    waiting = [env.config.root_doc]
    while waiting:
        page = waiting.pop(0)
        if page not in order:
            order.append(page)
            waiting[:0] = env.toctree_includes.get(page, [])
    return order


def linked(app: Sphinx, docname: str, page: str, row: nodes.row) -> nodes.row:
    """Return a copy of a row that begins with a link to its page."""
    title = app.env.titles[page].astext()
    uri = app.builder.get_relative_uri(docname, page)
    link = nodes.reference("", title, refuri=uri, internal=True)
    return nodes.row(
        "", nodes.entry("", nodes.paragraph("", "", link)), *row.deepcopy()
    )


def table_of(titles: tuple[str, ...], rows: list[nodes.row]) -> nodes.table:
    """Return a table with these column heads and rows."""
    head = [nodes.entry("", nodes.paragraph("", title)) for title in titles]
    group = nodes.tgroup("", cols=len(titles))
    group += [nodes.colspec(colwidth=1) for _ in titles]
    group += nodes.thead("", nodes.row("", *head))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, classes=["contracts"])
