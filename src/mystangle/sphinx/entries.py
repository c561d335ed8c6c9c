"""The entries of the indexes: a name, and where it is made and used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby

from ..language import Piece
from ..markdown import Chapter
from .captions import STATUS
from .identifiers import OUTSIDE, Identifier
from .links import Link, numbered, title_of
from .markup import Markup
from .weaving import Weaving

TIE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Entries:
    """Writes entries as HTML.  A chapter is its number, or its title if it has none."""

    weaving: Weaving
    markup: Markup

    def file(self, path: str) -> str:
        """Return the entry of a file."""
        found = [self._pieces(path)]
        states = self.weaving.states.of(path)
        if states:
            after = (
                self._shown(state.chapter, Link(state.docname, "", ""), "after ")
                for state in states
            )
            links = ", ".join(self.markup.link(link) for link in after)
            found.append(f"as it stands after {links}")
        return _entry(f"<code>{escape(path)}</code>", found)

    def chunk(self, name: str) -> str:
        """Return the entry of a chunk."""
        users = dict.fromkeys(piece for piece, _ in self.weaving.book.uses(name))
        home = self.weaving.book.history(name)[0].chapter
        used = "; ".join(self._by_chapter([(user, False) for user in users], home))
        named = {user.name for user in users}
        paths = [p for p in self.weaving.captions.files(name) if p not in named]
        files = [f"<code>{escape(path)}</code>" for path in paths]
        where = [", ".join(files)] if files else []
        where += [self._pieces(name), f"used in {used}"]
        return _entry(f"<b>{escape(name)}</b>", where)

    def identifier(self, entry: Identifier, package: str) -> str:
        """Return the entry of a name; its module is named as from within `package`."""
        module = entry.module.removeprefix(package)
        of = f" of <code>{escape(module)}</code>" if module else ""
        kind = [] if entry.kind == OUTSIDE else [f"{entry.kind}{of}"]
        pieces = [(piece, True) for piece in entry.definitions]
        pieces += [(piece, False) for piece in entry.uses]
        pieces.sort(key=lambda m: (m[0].chapter.number, not m[1]))
        found = "; ".join(self._by_chapter(pieces))
        return _entry(f"<code>{escape(entry.name)}</code>", [*kind, found])

    def chapters(self) -> str:
        """Return which numbers stand for which chapters, if any do."""
        own = {piece.chapter.docname for piece in self.weaving.book.pieces}
        return "; ".join(
            f"{number}. {self.markup.link(Link(docname, '', title_of(chapter)))}"
            for docname, chapter in self.weaving.chapters.items()
            if docname in own and (number := self.markup.number(docname))
        )

    def _shown(self, chapter: Chapter, to: Link, lead: str = "") -> Link:
        """Return a link that shows a chapter: its number, or its title."""
        number, title = self.markup.number(chapter.docname), title_of(chapter)
        if not number:
            return replace(to, text=title)
        return replace(to, text=number, title=f"{lead}{number}. {title}")

    def _pieces(self, name: str) -> str:
        """Return where a chunk is defined, continued and replaced."""
        found: list[str] = []
        count: Counter[str] = Counter()
        before: Piece | None = None
        for piece in self.weaving.book.history(name):
            count[piece.chapter.docname] += 1
            found.append(self._piece(piece, before, count[piece.chapter.docname]))
            before = piece
        return ", ".join(found)

    def _piece(self, piece: Piece, before: Piece | None, count: int) -> str:
        """Return a link to one piece, and what was not just said of the one before."""
        status = STATUS.get(piece.key, "defined")
        to = self._shown(piece.chapter, self.weaving.links.to(piece))
        link = self.markup.link(numbered(to, count))
        if before is None or before.chapter is not piece.chapter:
            return f"{status} in{TIE}{link}"
        return link if before.key == piece.key else f"{status} {link}"

    def _by_chapter(
        self, marked: Iterable[tuple[Piece, bool]], home: Chapter | None = None
    ) -> Iterator[str]:
        """Yield, chapter by chapter, links to pieces, the marked ones in bold.

        The chapter `home` need not be named.
        """
        for _, group in groupby(marked, key=lambda m: m[0].chapter.docname):
            found = list(group)
            chapter = found[0][0].chapter
            names = list(dict.fromkeys(piece.name for piece, _ in found))
            found.sort(key=lambda m: names.index(m[0].name))
            links = ", ".join(self._mentions(found))
            if chapter is home:
                yield links
            else:
                sign = "." if self.markup.number(chapter.docname) else ":"
                to = self._shown(chapter, Link(chapter.docname, "", ""))
                yield f"{self.markup.link(to)}{sign}{TIE}{links}"

    def _mentions(self, found: list[tuple[Piece, bool]]) -> Iterator[str]:
        """Yield a link to each piece: only the first of several has the name."""
        count: Counter[str] = Counter()
        for piece, is_marked in found:
            count[piece.name] += 1
            to = self.weaving.links.to(piece, piece.name)
            link = self.markup.link(numbered(to, count[piece.name]))
            yield f"<strong>{link}</strong>" if is_marked else link


def _entry(term: str, found: list[str]) -> str:
    where = ";</dd> <dd>".join(found)
    return f"<div><dt>{term}</dt> <dd>{where}</dd></div>\n"
