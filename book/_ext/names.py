"""Code that is a public name of the package leads to the name's entry.

So it is in the tables that say what is given and refused: those whose first column
holds names or failures.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

NAME = re.compile(r"([\w.]+)(?:\(\))?")
CALL = re.compile(r"([\w.]+)(?:\(.*\))?")  # where a column holds signatures


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make links of the names in a page's tables."""
    entries = unmistakable(app.env)
    for table in doctree.findall(nodes.table):
        first = next(iter(table.findall(nodes.entry)), None)
        kind = first.astext() if first else ""
        if kind in ("name", "failure"):
            for row in table.findall(nodes.row):
                for column, cell in enumerate(row.children):
                    form = CALL if kind == "name" and column == 0 else NAME
                    link_in(cell, form, entries, app, docname)


def link_in(
    cell: nodes.entry,
    form: re.Pattern[str],
    entries: dict[str, Any],
    app: Sphinx,
    docname: str,
) -> None:
    """Make links of the names in a cell."""
    for code in list(cell.findall(nodes.literal)):
        named = form.fullmatch(code.astext())
        entry = entries.get(named[1]) if named else None
        if entry and not isinstance(code.parent, nodes.reference):
            there = (entry.docname, entry.node_id)
            link = make_refnode(app.builder, docname, *there, code.deepcopy())
            code.replace_self(link)


def unmistakable(env: BuildEnvironment) -> dict[str, Any]:
    """Return the entries by full name, and by each end of it that no other has.

    A module is known by its full name alone, an attribute not by its bare one, and
    what is private by none.
    """
    found: dict[str, list[Any]] = defaultdict(list)
    for full, entry in env.get_domain("py").data["objects"].items():
        parts = full.split(".")
        is_public = not any(part.startswith("_") for part in parts)
        if is_public and not entry.aliased and entry.docname in env.found_docs:
            hidden = {"module": len(parts) - 1, "attribute": 1, "property": 1}
            for start in range(len(parts) - hidden.get(entry.objtype, 0)):
                found[".".join(parts[start:])].append(entry)
    return {name: entries[0] for name, entries in found.items() if len(entries) == 1}
