"""The index of chunks and the index of identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby

from ..language import Piece, is_file
from .captions import STATUS
from .identifiers import OUTSIDE, Identifier
from .links import Link, title_of
from .markup import Markup
from .weaving import Weaving

CHUNKS = Link("chunks", "", "Index of chunks")
IDENTIFIERS = Link("identifiers", "", "Index of identifiers")
INDEXES = {link.docname: link for link in (CHUNKS, IDENTIFIERS)}


def chunks(weaving: Weaving, markup: Markup) -> str:
    """Return the index of files and chunks as HTML."""
    names = sorted(weaving.links.names, key=lambda n: (n.strip("(").casefold(), n))
    files = [_file(name, weaving, markup) for name in names if is_file(name)]
    others = [_chunk(name, weaving, markup) for name in names if not is_file(name)]
    return _page(
        CHUNKS.text,
        "Files are put together from chunks; a chunk is written in one piece or more.",
        [("Files", files), ("Chunks", others)],
        markup,
    )


def identifiers(weaving: Weaving, markup: Markup) -> str:
    """Return the index of identifiers as HTML: definitions in bold, then uses."""
    entries = [
        (i.kind == OUTSIDE, _identifier(i, weaving, markup))
        for i in weaving.identifiers
    ]
    return _page(
        IDENTIFIERS.text,
        "Chunks in <strong>bold</strong> define the name, the others use it.",
        [
            ("Defined in this book", [entry for far, entry in entries if not far]),
            ("Imported from elsewhere", [entry for far, entry in entries if far]),
        ],
        markup,
    )


def _page(
    title: str, lead: str, parts: Iterable[tuple[str, list[str]]], markup: Markup
) -> str:
    found = [f"<h1>{title}</h1>\n<p>{lead} {_other(markup)}</p>\n"]
    for heading, entries in parts:
        if entries:
            listed = "".join(entries)
            found.append(
                f'<h2>{heading}</h2>\n<dl class="mystangle-index">\n{listed}</dl>\n'
            )
    return f'<section class="mystangle-indexes">\n{"".join(found)}</section>\n'


def _other(markup: Markup) -> str:
    other = IDENTIFIERS if markup.here == CHUNKS.docname else CHUNKS
    return f"See also the {markup.link(other, other.text[0].lower() + other.text[1:])}."


def _file(name: str, weaving: Weaving, markup: Markup) -> str:
    states = [
        markup.link(Link(state.docname, "", title_of(state.chapter)))
        for state in weaving.states.of(name)
    ]
    whole = f"<dd>as it stands after {', '.join(states)}</dd>\n" if states else ""
    term = f"<dt><code>{escape(name)}</code></dt>\n"
    return term + _pieces(name, weaving, markup) + whole


def _chunk(name: str, weaving: Weaving, markup: Markup) -> str:
    files = [f"<code>{escape(path)}</code>" for path in weaving.captions.files(name)]
    term = f"<dt>{' · '.join([f'<b>{escape(name)}</b>', *files])}</dt>\n"
    uses = dict.fromkeys(piece for piece, _ in weaving.book.uses(name))
    links = (markup.link(weaving.links.to(u, _in_chapter(u))) for u in uses)
    return (
        f"{term}{_pieces(name, weaving, markup)}<dd>used in {', '.join(links)}</dd>\n"
    )


def _pieces(name: str, weaving: Weaving, markup: Markup) -> str:
    """Return where a chunk is defined, continued and replaced."""
    pieces = weaving.book.history(name)
    places = [
        f"{STATUS[p.key].removesuffix(' here')} in {markup.link(weaving.links.to(p))}"
        for p in pieces
    ]
    return f"<dd>{', '.join(places)}</dd>\n"


def _identifier(entry: Identifier, weaving: Weaving, markup: Markup) -> str:
    module = f" of <code>{escape(entry.module)}</code>" if entry.module else ""
    kind = "" if entry.kind == OUTSIDE else f" · {entry.kind}{module}"
    lines = "".join(_by_chapter(entry, weaving, markup))
    return f"<dt><code>{escape(entry.name)}</code>{kind}</dt>\n{lines}"


def _by_chapter(entry: Identifier, weaving: Weaving, markup: Markup) -> Iterator[str]:
    """Yield, chapter by chapter, the chunks that define or use a name."""
    marked = [(p, True) for p in entry.definitions] + [(p, False) for p in entry.uses]
    marked.sort(key=lambda m: (m[0].chapter.number, not m[1]))
    for _, group in groupby(marked, key=lambda m: m[0].chapter.number):
        found = list(group)
        names = list(dict.fromkeys(piece.name for piece, _ in found))
        found.sort(key=lambda m: names.index(m[0].name))
        title = escape(title_of(found[0][0].chapter))
        count: Counter[str] = Counter()
        links = []
        for piece, defines in found:
            count[piece.name] += 1
            link = _mention(piece, count[piece.name], weaving, markup)
            links.append(f"<strong>{link}</strong>" if defines else link)
        yield f"<dd>{title}: {', '.join(links)}</dd>\n"


def _mention(piece: Piece, number: int, weaving: Weaving, markup: Markup) -> str:
    """Return a link to a piece: only the first of several in a row has the name."""
    to = weaving.links.to(piece, piece.name)
    if number == 1:
        return markup.link(to)
    named = f'aria-label="{escape(piece.name)} ({number})"'
    return markup.link(to, f"({number})", named)


def _in_chapter(piece: Piece) -> str:
    return f"{piece.name} ({title_of(piece.chapter)})"
