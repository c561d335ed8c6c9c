"""The Sphinx extension: tangle the book, run its cells, weave its pages.

Add `mystangle.sphinx` to the extensions of a Jupyter Book.  `jupyter-book build` then
tangles the chapters before it reads a page, runs the cells of a chapter against the
package as tangled through that chapter, and fails on any warning.

On the site each chunk has a caption, its references open in place, and pages are
added: each tangled file after each chapter that changed it, an index of chunks and one
of identifiers.  A chunk also leads to what any page says, in Sphinx's domain for
Python, of the names it defines.  Prose links by roles: {mystangle:chunk}`Name`,
{mystangle:file}`package/module.py` (as it stands after the page's chapter),
{mystangle:name}`package.module.name`, {mystangle:index}`chunks` and
{mystangle:index}`identifiers`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from .. import __version__
from . import generated, page, reference, strict
from .domain import ChunkDomain
from .parser import ChapterParser
from .tangling import tangle
from .view import prune
from .weaving import WEAVINGS

ASSETS = Path(__file__).parent.parent / "assets"
# What stands among the lines of code and is not part of the code.
NO_CODE = ".mystangle-later, .mystangle-inset, .mystangle-gutter"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx."""
    app.setup_extension("myst_nb")
    collector = strict.install(app)
    app.add_domain(ChunkDomain)
    app.add_source_parser(ChapterParser, override=True)
    app.add_transform(page.ShowChunks)
    app.add_node(page.chunk, html=(page.visit_chunk, page.depart_chunk))
    app.add_node(page.chunk_caption, html=(page.visit_caption, page.depart_caption))
    app.add_node(page.chunk_place, html=(page.visit_place, page.depart_place))
    app.add_node(page.chunk_code, html=(page.visit_code, None))
    app.add_node(page.chunk_replaced, html=(page.visit_replaced, page.depart_replaced))
    app.add_css_file("mystangle.css")
    app.add_js_file("mystangle.js", loading_method="defer")
    # Before sphinx_copybutton takes its settings over.
    app.connect("config-inited", _configure, priority=100)
    app.connect("builder-inited", tangle, priority=100)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-updated", _all_if_any)
    app.connect("missing-reference", strict.want_python_names)
    app.connect("doctree-resolved", reference.lead_to_entries)
    app.connect("html-collect-pages", generated.pages)
    app.connect("html-page-context", generated.add_to_page)
    app.connect("build-finished", _prune)
    # After every other handler: it may end the process.
    app.connect("build-finished", partial(_finish, collector), priority=10_000)
    return {
        "version": __version__,
        "env_version": 2,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


def _configure(app: Sphinx, config: Config) -> None:
    config.html_static_path.append(str(ASSETS / "static"))
    config.templates_path.append(str(ASSETS / "templates"))
    if "copybutton_exclude" in config:
        config.copybutton_exclude += f", {NO_CODE}"


def _outdated(
    app: Sphinx,
    env: BuildEnvironment,
    added: set[str],
    changed: set[str],
    removed: set[str],
) -> list[str]:
    found = {*_domain(env).outdated(), *strict.pages_to_repeat(app, env)}
    return sorted(found - removed)


def _all_if_any(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Write every page when one was read: a link on any may have lost its target."""
    return sorted(env.found_docs) if _domain(env).changed else []


def _domain(env: BuildEnvironment) -> ChunkDomain:
    domain = env.get_domain(ChunkDomain.name)
    assert isinstance(domain, ChunkDomain)
    return domain


def _prune(app: Sphinx, exception: Exception | None) -> None:
    weaving = WEAVINGS.get(app)
    if weaving and exception is None:
        keep = {weaving.view(chapter).name for chapter in weaving.book.chapters}
        prune(weaving.folder / "views", keep)


def _finish(collector: strict.Collector, app: Sphinx, exception: Any) -> None:
    strict.finish(app, collector, exception)
