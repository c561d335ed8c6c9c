"""Say under each entry of the bibliography which pages cite it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what adds the pages; by then the entries stand and have their ids."""
    app.connect("doctree-resolved", lead_back)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def lead_back(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add links to the citing pages to each entry that this page has."""
    domain: Any = app.env.get_domain("cite")
    pages = citing(domain)
    keys = {citation.citation_id: citation.key for citation in domain.citations}
    for entry in doctree.findall(nodes.citation):
        found = [pages[keys[name]] for name in entry["ids"] if keys.get(name) in pages]
        for where in found:
            line = nodes.inline("", " Cited in ", classes=["cited"])
            for number, page in enumerate(where):
                title = app.env.titles[page].astext()
                uri = app.builder.get_relative_uri(docname, page)
                line += nodes.Text("; " if number else "")
                line += nodes.reference("", title, refuri=uri, internal=True)
            line += nodes.Text(".")
            entry.children[-1].append(line)


def citing(domain: Any) -> dict[str, list[str]]:
    """Return the pages that cite each key, in the order of their names."""
    pages: dict[str, set[str]] = {}
    for reference in domain.citation_refs:
        for target in reference.targets:
            pages.setdefault(target.key, set()).add(reference.docname)
    return {key: sorted(found) for key, found in pages.items()}
