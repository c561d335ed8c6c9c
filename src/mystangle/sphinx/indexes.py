"""The index of chunks and the index of identifiers: pages, letters and contents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import groupby

from ..language import is_file
from .entries import Entries
from .identifiers import OUTSIDE
from .links import Link
from .markup import Markup
from .weaving import Weaving

CHUNKS = Link("chunks", "", "Index of chunks")
IDENTIFIERS = Link("identifiers", "", "Index of identifiers")
INDEXES = {link.docname: link for link in (CHUNKS, IDENTIFIERS)}


@dataclass(frozen=True)
class Part:
    """A part of an index: its entries as HTML by name, under letters or without."""

    anchor: str
    heading: str
    entries: tuple[tuple[str, str], ...]
    has_letters: bool = False

    @property
    def letters(self) -> list[str]:
        """The letters with which names of this part begin."""
        if not self.has_letters:
            return []
        return sorted({_letter(name) for name, _ in self.entries})

    def html(self) -> str:
        """Return the part as HTML."""
        heading = f'<h2 id="{self.anchor}">{self.heading}</h2>\n'
        if not self.has_letters:
            return heading + _listed(entry for _, entry in self.entries)
        ordered = sorted(self.entries, key=lambda entry: _letter(entry[0]))
        lists = [
            f'<h3 id="{_anchor(letter)}">{letter}</h3>\n{_listed(e for _, e in group)}'
            for letter, group in groupby(ordered, key=lambda entry: _letter(entry[0]))
        ]
        return heading + "".join(lists)


@dataclass(frozen=True)
class Index:
    """The page of an index."""

    title: str
    lead: str
    parts: tuple[Part, ...]

    def html(self) -> str:
        """Return the page's text."""
        parts = "".join(part.html() for part in self.parts)
        return (
            f'<section class="mystangle-indexes">\n<h1>{self.title}</h1>\n'
            f"{self.lead}{self._jumps()}{parts}</section>\n"
        )

    def contents(self) -> str:
        """Return the page's contents, as Sphinx makes those of other pages."""
        inner = "".join(
            f"<li>{_jump(part.anchor, part.heading)}{_letters(part)}</li>"
            for part in self.parts
        )
        return f"<ul><li>{_jump('', self.title)}<ul>{inner}</ul></li></ul>"

    def _jumps(self) -> str:
        links = [
            f"<li>{link}</li>"
            for part in self.parts
            for link in [_jump(part.anchor, part.heading), *_letter_jumps(part)]
        ]
        label = f"Parts of the {_lowered(self.title)}"
        return (
            f'<nav class="mystangle-jumps" aria-label="{label}">'
            f"<ul>{''.join(links)}</ul></nav>\n"
        )


def chunks(weaving: Weaving, markup: Markup) -> Index:
    """Return the index of files and chunks."""
    names = sorted(weaving.links.names, key=lambda n: (_plain(n).casefold(), n))
    write = Entries(weaving, markup)
    files = tuple((name, write.file(name)) for name in names if is_file(name))
    others = tuple((name, write.chunk(name)) for name in names if not is_file(name))
    return _index(
        CHUNKS,
        "Files are put together from chunks; a chunk is written in one piece or more.",
        [Part("files", "Files", files), Part("named", "Chunks", others, True)],
        write,
    )


def identifiers(weaving: Weaving, markup: Markup) -> Index:
    """Return the index of identifiers: definitions in bold, then uses."""
    write = Entries(weaving, markup)
    modules = {i.module for i in weaving.identifiers if i.kind != OUTSIDE}
    package = _package(modules)
    own, far = (
        tuple(
            (entry.name, write.identifier(entry, package))
            for entry in weaving.identifiers
            if (entry.kind == OUTSIDE) is outside
        )
        for outside in (False, True)
    )
    return _index(
        IDENTIFIERS,
        "Chunks in <strong>bold</strong> define the name, the others use it.",
        [
            Part("defined", "Defined in this book", own, True),
            Part("imported", "Imported from elsewhere", far),
        ],
        write,
    )


def _index(link: Link, lead: str, parts: list[Part], write: Entries) -> Index:
    other = IDENTIFIERS if link is CHUNKS else CHUNKS
    see = f"See also the {write.markup.link(other, _lowered(other.text))}."
    text = f"<p>{lead} {see}</p>\n"
    chapters = write.chapters()
    if chapters:
        text += f"<p>Numbers stand for chapters: {chapters}.</p>\n"
    return Index(link.text, text, tuple(part for part in parts if part.entries))


def _package(modules: set[str]) -> str:
    """Return what all modules begin with, if they share a package."""
    heads = {module.partition(".")[0] for module in modules}
    return f"{heads.pop()}." if len(heads) == 1 else ""


def _plain(name: str) -> str:
    """Return a name from its first letter or digit on, its accents apart."""
    plain = re.sub(r"^[\W_]+", "", name) or name
    return unicodedata.normalize("NFKD", plain)


def _letter(name: str) -> str:
    """Return the letter under which a name stands; all but letters share a sign."""
    first = _plain(name)[0].upper()
    return first if first.isalpha() else "#"


def _anchor(letter: str) -> str:
    return f"letter-{'sign' if letter == '#' else letter}"


def _lowered(title: str) -> str:
    return title[0].lower() + title[1:]


def _listed(entries: Iterable[str]) -> str:
    return f'<dl class="simple mystangle-index">\n{"".join(entries)}</dl>\n'


def _jump(anchor: str, text: str) -> str:
    return f'<a class="reference internal" href="#{anchor}">{escape(text)}</a>'


def _letter_jumps(part: Part) -> list[str]:
    return [
        f'<a class="reference internal" href="#{_anchor(letter)}" '
        f'aria-label="{letter}: {escape(part.heading)}">{letter}</a>'
        for letter in part.letters
    ]


def _letters(part: Part) -> str:
    links = "".join(f"<li>{link}</li>" for link in _letter_jumps(part))
    return f'<ul class="mystangle-letters">{links}</ul>' if links else ""
