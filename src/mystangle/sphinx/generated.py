"""The pages that no author wrote: tangled files as of each chapter, and the indexes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from . import indexes, tangled
from .expansion import texts
from .markup import Markup, is_site
from .states import FOLDER
from .weaving import WEAVINGS, Weaving

LOG = logging.getLogger(__name__)
Page = tuple[str, dict[str, Any], str]
Text = tuple[str, dict[str, str]]


def pages(app: Sphinx) -> Iterator[Page]:
    """Yield every generated page; remove those of states that are no more."""
    weaving = WEAVINGS.get(app)
    if weaving is None or not is_site(app.builder):
        return
    kept = set()
    for docname, shown in _pages(weaving, app):
        if docname in app.env.found_docs:
            text = f"a page must not have the name of a generated one, got {docname!r}"
            LOG.warning("%s", text, location=docname, type="mystangle", subtype="page")
            continue
        kept.add(Path(app.builder.get_outfilename(docname)))
        yield docname, {**shown, "parents": []}, "page.html"
    kept |= {Path(app.builder.get_outfilename(name)) for name in app.env.found_docs}
    for old in set(Path(app.outdir, FOLDER).rglob("*.html")) - kept:
        old.unlink()


def add_to_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give a page the texts that its references show, and links to the indexes."""
    weaving = WEAVINGS.get(app)
    if weaving is None or not is_site(app.builder):
        return
    chapter = weaving.chapters.get(pagename)
    if chapter and "body" in context:
        markup = Markup(app.builder, pagename)
        context["body"] += texts(weaving, chapter, markup)
    context["sidebars"] = [*(context.get("sidebars") or []), "mystangle-indexes.html"]
    context["mystangle_indexes"] = list(indexes.INDEXES.values())


def _pages(weaving: Weaving, app: Sphinx) -> Iterator[Text]:
    """Yield the name of each page, and its title and body; indexes have contents."""
    assert is_site(app.builder)
    for path in weaving.states.paths:
        for state in weaving.states.of(path):
            markup = Markup(app.builder, state.docname)
            body = tangled.body(state, weaving.states, weaving.links, markup)
            yield state.docname, {"title": tangled.title(state), "body": body}
    for link, write in (
        (indexes.CHUNKS, indexes.chunks),
        (indexes.IDENTIFIERS, indexes.identifiers),
    ):
        index = write(weaving, Markup(app.builder, link.docname))
        text = {"title": index.title, "body": index.html(), "toc": index.contents()}
        yield link.docname, text
