"""A line under each chapter's title: what to read before, and how long this one takes.

A page has it if its front matter says what it `needs`: a list of pages beside it, which
may be empty.  The time is counted from the page as it stands, up to its exercises.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

WORDS = 200  # of prose, that a reader takes in a minute
LINES = 30  # of code and of what it prints
STEP = 5  # minutes: no count is better than this


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what adds the line."""
    app.connect("doctree-read", introduce)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def introduce(app: Sphinx, doctree: nodes.document) -> None:
    """Put the line under the title of a page that says what it needs."""
    page = app.env.docname
    needs = app.env.metadata[page].get("needs")
    if needs is None:
        return
    pages = json.loads(needs) if isinstance(needs, str) else needs
    line = nodes.paragraph(classes=["reading"])
    for number, name in enumerate(pages):
        line += nodes.Text("; " if number else "After ")
        line += link(page, str(PurePosixPath(page).with_name(name)))
    about = "about" if pages else "About"
    time = f"{about} {minutes(doctree)} minutes, without the exercises"
    line += nodes.Text(f" · {time}" if pages else time)
    title = next(iter(doctree.findall(nodes.title)))
    title.parent.insert(title.parent.index(title) + 1, line)


def link(page: str, target: str) -> pending_xref:
    """Return a link to a page that shows its title; Sphinx warns if there is none."""
    shown = nodes.inline("", target, classes=["doc", "std", "std-doc"])
    return pending_xref(
        "",
        shown,
        refdoc=page,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{target}",
        refexplicit=False,
        refwarn=True,
    )


def minutes(doctree: nodes.document) -> int:
    """Return how long a page takes up to its exercises, in whole steps."""
    words = lines = 0
    for text in doctree.findall(nodes.Text):
        block = text.parent
        if isinstance(block, nodes.title) and text == "Exercises":
            break
        if isinstance(block, nodes.literal_block):
            lines += len(text.splitlines())
        elif not isinstance(block, nodes.raw | nodes.math | nodes.math_block):
            words += len(text.split())
    return max(1, round((words / WORDS + lines / LINES) / STEP)) * STEP
