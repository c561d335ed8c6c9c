"""The texts from which the search page takes its excerpts.

Sphinx's search fetches every page that it found to show a few words of it, and a
browser fetches nothing for a site opened from a folder.  Here the words of all pages
are one script, `searchtexts.js`, which the search page loads when it has a query.  It
is made from the finished pages, so it is right however few of them a build wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

Row = tuple[()] | tuple[str, str, str, int, str]

TEXTS = "searchtexts.js"
VOID = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
# What is no text of the book: by element, and by class.
SILENT = {"annotation", "button", "script", "style", "svg"}
QUIET = {"headerlink", "reading", "toctree-wrapper"} | {
    f"mystangle-{part}" for part in ("around", "later", "place", "status")
}
HEADS = {"h1", "h2", "h3", "h4", "h5", "h6", "figcaption"}
# Elements that may stand within a word; all others part words.
WITHIN = {"a", "code", "em", "math", "semantics", "span", "strong", "wbr"} | {
    *("mi", "mn", "mo", "mrow", "ms", "mtext", "mstyle", "msqrt", "msup", "msub"),
    *("msubsup", "mover", "munder", "munderover", "mfrac", "mpadded"),
}
# What a formula shows by place, its plain text says by a sign.
SIGNS = dict.fromkeys(("msup", "mover"), "^") | dict.fromkeys(("msub", "munder"), "_")
SIGNS |= {"mfrac": "/", "msubsup": "_^", "munderover": "_^"}
# A line of code in the text of a part stands on a line of its own, behind a tab.
CODE, PROSE = "\x02", "\x03"  # until the text is folded
INVISIBLE = {ord(sign): None for sign in "\u200b\u2061\u2062\u2063\u2064"}
# What a result may lead to, by class or tag, and what it is called there.
KINDS = {
    "sig": "API",
    "mystangle-chunk": "Chunk",
    "exercise": "Exercise",
    "solution": "Solution",
    "proof": "Statement",
    "dt": "Term",
    "section": "Section",
}


@dataclass
class Element:
    """An element of a page, and what is in it."""

    tag: str
    anchor: str = ""
    classes: set[str] = field(default_factory=set)
    children: list[Element | str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What the element is to a reader who is led to it; most are nothing."""
        names = {*self.classes, self.tag}
        return next((KINDS[k] for k in KINDS if self.anchor and k in names), "")

    @property
    def silent(self) -> bool:
        return self.tag in SILENT or bool(self.classes & QUIET)

    def taken_title(self) -> str:
        """Return what a part calls itself; its text shall not say it again."""
        if self.kind == "API":
            return self.anchor
        if self.tag == "dt":
            heads = [each for each in self.children if not is_meaning(each)]
        else:
            heads = [each for each in self.children if is_title(each)][:1]
        self.children = [each for each in self.children if each not in heads]
        within = [each for head in heads for each in elements(head)]
        named = [each for each in within if "mystangle-name" in each.classes]
        return plain(Element("", children=[*(named or heads)]), 0, [])


def elements(child: Element | str) -> Iterator[Element]:
    """Yield an element and all elements in it."""
    if isinstance(child, Element):
        yield child
        for each in child.children:
            yield from elements(each)


def is_title(child: Element | str) -> bool:
    """Return whether a child of a part is its title."""
    return isinstance(child, Element) and (
        child.tag in HEADS or "admonition-title" in child.classes
    )


def is_meaning(child: Element | str) -> bool:
    """Return whether a child of a term says what the term means."""
    return isinstance(child, Element) and child.tag == "dd"


class Tree(HTMLParser):
    """Reads the article of a page as a tree of elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[Element] = [Element("body")]
        article = html.partition('<article class="bd-article">')[2]
        self.feed(article.partition("</article>")[0])
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        around = self.open[-1]
        if tag == "dt" and around.tag == "dt":
            self.open.pop()
        elif tag == "dd" and around.tag == "dl":
            # What a term means belongs to it.
            terms = [each for each in around.children if isinstance(each, Element)]
            self.open += terms[-1:]
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            element = self.open[-1].children[-1]
            assert isinstance(element, Element)
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        classes = set(said.get("class", "").split())
        self.open[-1].children.append(Element(tag, said.get("id", ""), classes))

    def handle_endtag(self, tag: str) -> None:
        places = [n for n, each in enumerate(self.open) if n and each.tag == tag]
        if places:
            del self.open[places[-1] :]

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what writes the texts, and the script that shows them."""
    app.connect("config-inited", fetch_nothing)
    app.connect("html-page-context", equip)
    app.connect("build-finished", finish, priority=950)  # the pages are repaired
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def fetch_nothing(app: Sphinx, config: Config) -> None:
    """Have Sphinx's own script show no excerpts, for which it would fetch pages."""
    config.html_show_search_summary = False


def equip(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Give the search page the script and the style of what was found."""
    if page == "search":
        app.add_js_file("search-excerpts.js", loading_method="defer")
        app.add_css_file("search-excerpts.css")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the texts of all pages that can be found."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    texts = {
        page: parts((out / f"{page}.html").read_text("utf-8"))
        for page in sorted(app.env.found_docs)
    }
    said = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
    (out / TEXTS).write_text(f"Search.texts = {said};\n", "utf-8")


def parts(html: str) -> list[Row]:
    """Return a page's sections, chunks and so on: anchor, kind, title, depth and text.

    A part's text is what stands in it outside of the parts below it, which follow it.
    """
    rows: list[Row] = []
    plain(Tree(html).open[0], 0, rows)
    return rows


def plain(element: Element, depth: int, rows: list[Row]) -> str:
    """Return an element's own text; the parts in it go into `rows`."""
    said: list[str] = []
    signs = iter(SIGNS.get(element.tag, ""))
    for child in element.children:
        if isinstance(child, str):
            said.append(child)
        elif child.kind:
            row = len(rows)
            rows.append(())
            title = child.taken_title()
            text = plain(child, depth + 1, rows)
            rows[row] = (child.anchor, child.kind, folded(title), depth, folded(text))
        elif not child.silent:
            border = "" if child.tag in WITHIN else " "
            sign = next(signs, "") if any(said) else ""
            text = plain(child, depth, rows)
            text = in_lines(text) if child.tag == "pre" else text
            said += [sign, border, bracketed(child, element, text), border]
    return "".join(said)


def bracketed(child: Element, around: Element, text: str) -> str:
    """Return the text of an element, kept apart from what follows it in a formula."""
    if around.tag in SIGNS:
        inside = {each.tag for each in child.children if isinstance(each, Element)}
        return f"({text})" if child.tag == "mrow" and "mo" in inside else text
    apart = around.tag == "mrow" and child is not around.children[-1]
    return f"{text} " if apart and child.tag in SIGNS else text


def in_lines(code: str) -> str:
    """Return code with marks where its lines begin, and one where prose goes on."""
    lines = [line.strip() for line in code.splitlines()]
    return "".join(f"{CODE}{line}" for line in lines if line) + PROSE


def folded(text: str) -> str:
    """Return prose in one line, code line by line, without signs that nobody sees."""
    line = " ".join(text.translate(INVISIBLE).split())
    line = re.sub(rf" ?{PROSE} ?", "\n", re.sub(rf" ?{CODE} ?", "\n\t", line))
    return re.sub(r"\n(?=\n|$)", "", line).removeprefix("\n")
