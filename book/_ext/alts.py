"""Refuse a picture that is not described in words of its own.

Judged are the pictures of Markdown, those in raw HTML, and those that cells draw.  Who
does not see them has only these words: so there are some, they are no file's name, and
no two pictures have the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.nodes import get_node_line

LOGGER = logging.getLogger(__name__)
FILE_NAME = re.compile(r"[\w./-]+\.\w{2,5}")
ELSEWHERE = re.compile(r"(?:https?:)?//")
# Of the forms of one output, the first of these is shown.
FORMS = ("text/html", "image/svg+xml", "image/png", "image/gif", "image/jpeg")


class Picture(NamedTuple):
    """What stands for a picture, where its file is, and in which line it is shown."""

    words: str
    file: str
    line: int


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what notes the pictures of each page and judges all of them."""
    app.connect("doctree-read", note)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-check-consistency", judge)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def known(env: BuildEnvironment) -> dict[str, list[Picture]]:
    """Return the pictures of each page."""
    found: dict[str, list[Picture]] = env.__dict__.setdefault("pictures", {})
    return found


def note(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the pictures of a page."""
    known(app.env)[app.env.docname] = [
        Picture(words, file, get_node_line(node) or 1)
        for node in doctree.findall()
        if isinstance(node, nodes.image | nodes.raw) and shown(node)
        for words, file in described(node)
    ]


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop what a page had."""
    known(env).pop(docname, None)


def merge(
    app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    """Take over the pages that another process read."""
    known(env).update({name: known(other).get(name, []) for name in docnames})


def judge(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each picture whose words will not do."""
    first: dict[str, str] = {}
    for docname, found in sorted(known(env).items()):
        for words, file, line in found:
            fault = wrong(words, file)
            if not fault and words in first:
                fault = f"words of its own, got those of {first[words]}: {words!r}"
            if fault:
                text = f"a picture must have {fault}"
                LOGGER.warning(
                    text, location=(docname, line), type="book", subtype="alt"
                )
            first.setdefault(words, f"{env.doc2path(docname, False)}:{line}")


def wrong(words: str, file: str) -> str:
    """Return what a picture must have and has not; empty if all is well."""
    if ELSEWHERE.match(file):
        return f"a file of the book, got {file!r}"
    if not words or FILE_NAME.fullmatch(words):
        return f"a description for those who do not see it, got {words!r}"
    return ""


def pictures(soup: BeautifulSoup) -> list[Tag]:
    """Return the pictures in HTML.

    An SVG is one, or holds some, or is hidden from those who listen.
    """
    silent = 'svg:not([role=img], [aria-hidden="true"], :has([role=img]))'
    return list(soup.select(f"img, svg[role=img], g[role=img], {silent}"))


def spoken(tag: Tag) -> str:
    """Return the words that stand for a picture."""
    title = tag.find("title", recursive=False)
    words = tag.get("alt") or tag.get("aria-label") or (title and title.get_text())
    return str(words or "").strip()


def shown(node: nodes.Node) -> bool:
    """Return whether a page shows this: of an output it shows one form."""
    form = node.parent
    if "mime_type" not in getattr(form, "attributes", {}):
        return True
    forms = [each.get("mime_type") for each in form.parent.children]
    return bool(form["mime_type"] == next((f for f in FORMS if f in forms), None))


def described(node: nodes.Element) -> Iterator[tuple[str, str]]:
    """Yield for each picture of a node its words and its file."""
    if isinstance(node, nodes.image):
        yield node.get("alt", "").strip(), node["uri"]
    elif "html" in node.get("format", ""):
        soup = BeautifulSoup(node.astext(), "html.parser")
        for tag in pictures(soup):
            yield spoken(tag), str(tag.get("src", ""))
