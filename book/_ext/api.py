"""The API reference, made from the package as the last chapter leaves it.

The line `{api} PACKAGE` of a page becomes a list of what the package exports, and then
a section for each module, in the order in which the chapters begin them.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.roles import XRefRole
from sphinx.util.docutils import SphinxRole
from sphinx.writers.html5 import HTML5Translator

from mystangle.sphinx.links import title_of
from mystangle.sphinx.weaving import WEAVINGS

from .api_reference import Reference
from .written import Written

# Sphinx makes the rows of a long signature a list of definitions without terms.
ROWS = {
    "<dl>": '<span class="sig-rows">',
    "<dd>": '<span class="sig-row">',
    "</dd>": "</span>",
    "</dl>": "</span>",
}


class ToChapter(SphinxRole):
    """`{chapter}`: a link to a chapter, or a place in it, with its number and title."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return what becomes the link when the chapters are numbered."""
        docname, _, anchor = self.text.partition("#")
        title = title_of(WEAVINGS[self.env.app].chapters[docname])
        return [nodes.inline("", title, chapter=docname, anchor=anchor)], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what writes the reference."""
    app.add_role_to_domain("mystangle", "piece", XRefRole(innernodeclass=nodes.inline))
    app.add_role("chapter", ToChapter())
    visitors = (visit_signature, depart_signature)
    app.add_node(desc_signature, override=True, html=visitors)
    written(app).connect(app)
    app.connect("doctree-read", point)
    app.connect("doctree-resolved", number)
    app.connect("html-page-context", fold)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def reference(app: Sphinx, package: str) -> Reference:
    """Return the reference of a package as the book and its bibliography are now."""
    cited: Any = app.env.domains.get("cite")
    sources = cited.bibdata.data.entries if cited else ()
    return Reference(WEAVINGS[app], package, frozenset(sources))


def written(app: Sphinx) -> Written:
    """Return what puts a reference where a page asks for it."""
    return Written("api", lambda _, package: reference(app, package).text())


def point(app: Sphinx, doctree: nodes.document) -> None:
    """Have the types in signatures lead to their entries, whatever their module."""
    pages = written(app).known(app.env)
    if app.env.docname in pages:
        known = reference(app, pages[app.env.docname][0])
        for link in doctree.findall(pending_xref):
            if link["refdomain"] == "py":
                here = link.get("py:module") or ""
                full = known.named(link["reftarget"], here)
                if full:
                    link["reftarget"] = full
                    link.attributes.pop("refspecific", None)  # that is, not exact


def number(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make the links to chapters, now that these have numbers."""
    for place in list(doctree.findall(nodes.inline)):
        chapter = place.get("chapter")
        if chapter:
            numbers = app.env.toc_secnumbers.get(chapter, {}).get("") or ()
            shown = "".join(f"{each}." for each in numbers)
            text = "\N{NO-BREAK SPACE}".join(filter(None, [shown, place.astext()]))
            uri = app.builder.get_relative_uri(docname, chapter)
            anchor = place.get("anchor")
            uri = f"{uri}#{anchor}" if anchor else uri
            place.replace_self(nodes.reference("", text, refuri=uri, internal=True))


def fold(
    app: Sphinx, page: str, template: str, context: dict[str, Any], _: Any
) -> None:
    """Have the contents of a page show what is in a module when a reader is there."""
    if page in written(app).known(app.env):
        context["theme_show_toc_level"] = 1


def visit_signature(self: HTML5Translator, node: desc_signature) -> None:
    """Open a signature."""
    node["start"] = len(self.body)
    HTML5Translator.visit_desc_signature(self, node)


def depart_signature(self: HTML5Translator, node: desc_signature) -> None:
    """Close a signature, its parameters in rows that are no list."""
    HTML5Translator.depart_desc_signature(self, node)
    text = "".join(self.body[node["start"] :])
    for tag, row in ROWS.items():
        text = text.replace(tag, row)
    self.body[node["start"] :] = [text]
