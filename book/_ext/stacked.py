"""Tables of sentences: on a phone each row stands as a list.

A table counts if it has three columns or more, words at their heads, and a sentence in
one of its cells.  Each cell knows the head of its column, which the style sheet shows
before it.  Tables of numbers stay tables, and scroll.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

COLUMNS = 3
SENTENCE = 24  # letters; what has more and a space needs more room than a phone has


class cell(nodes.entry):
    """A cell that knows the head of its column."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the cell and what finds the tables."""
    app.add_node(cell, html=(visit_cell, HTML5Translator.depart_entry))
    app.connect("doctree-read", stack, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def stack(app: Sphinx, doctree: nodes.document) -> None:
    """Mark a page's tables of sentences, and label their cells."""
    for table in doctree.findall(nodes.table):
        if of_sentences(table):
            table["classes"].append("stacked")
            for row in body(table):
                label(row, heads(table))


def of_sentences(table: nodes.table) -> bool:
    """Return whether a table is read, row by row, rather than looked up."""
    formulas = [part.next_node(nodes.math) for part in table.findall(nodes.thead)]
    wide = len(heads(table)) >= COLUMNS
    return wide and not any(formulas) and any(map(sentence, entries(table)))


def sentence(entry: nodes.entry) -> bool:
    """Return whether a cell holds more than a name or a number."""
    text = entry.astext()
    return len(text) > SENTENCE and " " in text


def label(row: nodes.row, titles: tuple[str, ...]) -> None:
    """Have each cell of a row know the head of its column; an empty one needs none."""
    cells = [
        cell(
            "", *entry.children, **entry.attributes, head=head if entry.astext() else ""
        )
        for head, entry in zip(titles, row, strict=True)
    ]
    row.clear()
    row += cells


def heads(table: nodes.table) -> tuple[str, ...]:
    """Return the texts of a table's column heads."""
    return tuple(
        entry.astext()
        for head in table.findall(nodes.thead)
        for entry in head.findall(nodes.entry)
    )


def entries(table: nodes.table) -> Iterator[nodes.entry]:
    """Yield the cells of a table, without its head."""
    for row in body(table):
        yield from row.findall(nodes.entry)


def body(table: nodes.table) -> Iterator[nodes.row]:
    """Yield the rows of a table, without its head."""
    for part in table.findall(nodes.tbody):
        yield from part.findall(nodes.row)


def visit_cell(self: HTML5Translator, node: cell) -> None:
    """Open a cell, with the head of its column."""
    start = len(self.body)
    self.visit_entry(node)
    if node["head"]:
        label = f'<td data-label="{escape(node["head"])}"'
        self.body[start:] = ["".join(self.body[start:]).replace("<td", label, 1)]
