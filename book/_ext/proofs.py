"""Set the word that opens a proof in italics: it names what follows."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_proof.nodes import proof_node

LEAD = "Proof."


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what changes each page."""
    app.connect("doctree-read", mark)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Mark the word in each proof; sphinx_proof writes it into the first sentence."""
    for proof in doctree.findall(proof_node):
        first = next(iter(proof.findall(nodes.Text)))
        if first.startswith(LEAD):
            line, place = first.parent, first.parent.index(first)
            word = nodes.emphasis("", LEAD, classes=["proof-lead"])
            line[place : place + 1] = [word, nodes.Text(first.removeprefix(LEAD))]
