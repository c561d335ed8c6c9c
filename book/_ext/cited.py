"""The list of sources: its labels are what the chapters say, and who cites each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle
from sphinxcontrib.bibtex.style.template import join, year


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels as `bibtex_reference_style: author_year` refers to an entry."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterator[str]:
        """Yield the label of each entry."""
        style = AuthorYearReferenceStyle()
        names = style.person.author_or_editor_or_title(full=False)
        shown = join(sep=style.author_year_sep)[names, year]
        for entry in sorted_entries:
            yield str(shown.format_data({"entry": entry, "style": style}))


class AuthorYear(Style):  # type: ignore[misc]
    """The plain style, with these labels."""

    default_label_style = AuthorYearLabels


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what adds the pages; by then the entries stand and have their ids."""
    register_plugin("pybtex.style.formatting", "author_year", AuthorYear, force=True)
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
