"""All that is refused: the chapters' tables of failures, gathered on one page.

A table counts if its column heads are those of `HEADS`.  The line `{contracts}` of a
page becomes a section for each chapter that has one, with the rows of its tables.
Each row has an id; how it looks on a phone, `stacked` says.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, new_document

from mystangle.sphinx.weaving import Weaving

from .names import link_names
from .stacked import body, heads
from .written import Written

HEADS = ("failure", "where it is stopped", "what a later discovery costs")
TABLE = re.compile(rf"^\| *{' *[|] *'.join(HEADS)} *\|$", re.M)
Rows = list[nodes.row]


class failures(nodes.General, nodes.Element):
    """The place of all rows of the page `docname`."""


class Failures(SphinxDirective):
    """`{failures} DOCNAME`: the rows of a page's tables of failures."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [failures(docname=self.arguments[0])]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and what gathers the rows."""
    app.add_node(failures)
    app.add_directive("failures", Failures)
    Written("contracts", sections).connect(app)
    app.connect("doctree-read", gather)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", fill, priority=400)  # links of rows come later
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def sections(weaving: Weaving, _: str) -> str:
    """Return a section for each chapter that has a table of failures."""
    return "\n\n".join(
        f"## {{chapter}}`{docname}#{table_id(1)}`\n\n```{{failures}} {docname}\n```"
        for docname, chapter in weaving.chapters.items()
        if TABLE.search(chapter.text)
    )


def table_id(number: int) -> str:
    """Return the id of a page's table; no heading's can be equal: it has no `--`."""
    return f"failures--{number}"


def found(env: BuildEnvironment) -> dict[str, Rows]:
    """Return the rows found so far, by the page that has them."""
    rows: dict[str, Rows] = env.__dict__.setdefault("contract_rows", {})
    return rows


def gather(app: Sphinx, doctree: nodes.document) -> None:
    """Give a page's tables of failures and their rows ids, and keep the rows."""
    rows: Rows = []
    tables = [each for each in doctree.findall(nodes.table) if heads(each) == HEADS]
    for number, table in enumerate(tables, 1):
        table["ids"].append(table_id(number))
        table["classes"].append("contracts")
        for row in body(table):
            rows.append(row)
            row["ids"].append(f"failure--{len(rows)}")
    if rows:
        found(app.env)[app.env.docname] = [row.deepcopy() for row in rows]


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop the rows of a page that is read again or gone."""
    found(env).pop(docname, None)


def merge(
    app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment
) -> None:
    """Take over the rows that another process found."""
    found(env).update({d: r for d, r in found(other).items() if d in docnames})


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the rows of a page where a directive asks for them; link names in tables."""
    for place in list(doctree.findall(failures)):
        rows = found(app.env).get(place["docname"], [])
        sheet = new_document(docname)
        sheet += table_of([copied(row) for row in rows])
        app.env.resolve_references(sheet, docname, app.builder)
        place.replace_self(sheet.children)
    link_names(app, doctree, docname)


def copied(row: nodes.row) -> nodes.row:
    """Return a row for another page: its id stays where it is."""
    copy = row.deepcopy()
    copy["ids"] = []
    return copy


def table_of(rows: Rows) -> nodes.table:
    """Return a table of failures."""
    head = [nodes.entry("", nodes.paragraph("", title)) for title in HEADS]
    group = nodes.tgroup("", cols=len(HEADS))
    group += [nodes.colspec(colwidth=1) for _ in HEADS]
    group += nodes.thead("", nodes.row("", *head))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, classes=["contracts", "stacked"])
