"""The page of a tangled file as it stands after a chapter."""

from __future__ import annotations

from html import escape

from ..expand import Line
from .links import Link, Links, title_of
from .markup import Markup
from .states import State, States, line_id


def title(state: State) -> str:
    """Return the page's title."""
    return f"{state.path} after {title_of(state.chapter)}"


def body(state: State, states: States, links: Links, markup: Markup) -> str:
    """Return the page's text as HTML.

    Every line has a number that links to its chunk; lines that the chapter added
    have a plus sign, unless all are new.
    """
    heading = (
        f"<code>{escape(state.path)}</code> after {escape(title_of(state.chapter))}"
    )
    chapter = markup.link(Link(state.chapter.docname, "", title_of(state.chapter)))
    steps = _steps(state, states, markup)
    return (
        f'<section class="mystangle-state">\n<h1>{heading}</h1>\n'
        f"<p>{summary(state, chapter)}</p>\n{steps}"
        f'<div class="highlight-python3 notranslate"><div class="highlight">'
        '<pre tabindex="0"><span class="mystangle-lines">'
        f"{_rows(state, links, markup)}</span></pre></div></div>\n"
        "</section>\n"
    )


def summary(state: State, chapter: str) -> str:
    """Return how many lines a file has and what became of it in `chapter`, as HTML."""
    count = len(state.file.lines)
    was = _are("of the lines before it", state.removed)
    gone = f" {was} gone." if state.removed else ""
    if _marked(state):
        new = (
            f"{chapter} added the {_are('that', len(state.added))} marked "
            'with <span class="mystangle-mark">+</span>'
        )
    else:
        new = f"{'all new in' if state.added else 'none new in'} {chapter}"
    return (
        f"{count} line{'s' * (count != 1)}; {new}.{gone} "
        "A line's number leads to the chunk that the line comes from."
    )


def _are(subject: str, count: int) -> str:
    return f"{count} {subject} {'is' if count == 1 else 'are'}"


def _marked(state: State) -> frozenset[int]:
    """Return the rows that have a mark: where all are new it would tell nothing."""
    return state.added if len(state.added) < len(state.file.lines) else frozenset()


def _steps(state: State, states: States, markup: Markup) -> str:
    """Return links to the file before and after."""
    known = states.of(state.path)
    position = known.index(state)
    links = []
    for lead, rel, step in (("Before", "prev", -1), ("Next", "next", 1)):
        if 0 <= position + step < len(known):
            other = known[position + step]
            to = Link(other.docname, "", f"after {title_of(other.chapter)}")
            link = markup.link(to, attributes=f'rel="{rel}"')
            links.append(f"<span>{lead}: {link}</span>")
    label = escape(f"Other states of {state.path}")
    inner = " ".join(links) or "No other chapter changes this file."
    return f'<nav class="mystangle-steps" aria-label="{label}">{inner}</nav>\n'


def _rows(state: State, links: Links, markup: Markup) -> str:
    shown = markup.lines(state.file.text)
    width = len(str(len(shown)))
    marked = _marked(state)
    rows = []
    for row, (line, html) in enumerate(zip(state.file.lines, shown, strict=True)):
        kind = "mystangle-line mystangle-added" if row in marked else "mystangle-line"
        mark = "+" if row in marked else " "
        number = _number(line, row, width, links, markup)
        gutter = f'<span class="mystangle-gutter">{number} {mark} </span>'
        rows.append(f'<span class="{kind}" id="{line_id(row)}">{gutter}{html}\n</span>')
    return "".join(rows)


def _number(line: Line, row: int, width: int, links: Links, markup: Markup) -> str:
    number = str(row + 1)
    indent = " " * (width - len(number))
    if line.piece is None:
        return indent + number
    there = f'title="{escape(line.piece.name)}"'
    return indent + markup.link(links.to(line.piece), number, there)
