"""Chunks and tangled files as things that pages, searches and other books link to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from docutils.nodes import Element  # type: ignore[import-untyped]
from sphinx.addnodes import pending_xref
from sphinx.builders import Builder
from sphinx.domains import Domain, ObjType
from sphinx.environment import BuildEnvironment
from sphinx.roles import XRefRole
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import RoleFunction

from ..language import is_file
from .indexes import INDEXES
from .links import Link
from .markup import is_site
from .weaving import WEAVINGS, Weaving


class ChunkDomain(Domain):
    """Where chunks are: read from the book.  `data` holds what each page has shown."""

    name = "mystangle"
    label = "Literate code"
    object_types: dict[str, ObjType] = {  # noqa: RUF012
        "chunk": ObjType("chunk", "chunk"),
        "file": ObjType("tangled file", "chunk"),
        "name": ObjType("identifier", "name"),
    }
    roles: dict[str, RoleFunction | XRefRole] = {  # noqa: RUF012
        "chunk": XRefRole(warn_dangling=True),
        "file": XRefRole(warn_dangling=True),
        "name": XRefRole(warn_dangling=True),
        "index": XRefRole(warn_dangling=True, innernodeclass=nodes.inline),
    }
    initial_data: dict[str, Any] = {"keys": {}}  # noqa: RUF012
    # Whether this build has read or removed a page.
    changed = False

    @property
    def keys(self) -> dict[str, str]:
        """For each page the digest of what it showed, as of when it was read."""
        keys: dict[str, str] = self.data["keys"]
        return keys

    @property
    def weaving(self) -> Weaving:
        """What this build knows of the book."""
        return WEAVINGS[self.env.app]

    def clear_doc(self, docname: str) -> None:
        """Forget a page, since it is read again or gone."""
        self.changed = True
        self.keys.pop(docname, None)

    def merge_domaindata(
        self, docnames: Iterable[str], otherdata: dict[str, Any]
    ) -> None:
        """Take over the pages that another process has read."""
        keys = otherdata["keys"].items()
        self.keys.update({name: key for name, key in keys if name in set(docnames)})

    def process_doc(self, env: BuildEnvironment, docname: str, document: Any) -> None:
        """Note what a page shows now."""
        self.keys[docname] = self.weaving.page_key(docname)

    def outdated(self) -> list[str]:
        """Return the pages on which outputs or captions are no longer right."""
        fresh = self.weaving.page_key
        return [name for name, key in self.keys.items() if fresh(name) != key]

    def resolve_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        typ: str,
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> Element | None:
        """Return the link that a reference stands for."""
        if typ == "index" and target in INDEXES and not is_site(builder):
            return contnode
        link = self._target(typ, target, fromdocname, builder)
        if link is None:
            return None
        if link.docname not in env.found_docs and not is_site(builder):
            return contnode  # a generated page
        there = (link.docname, link.anchor)
        title = node.get("reftitle") or None
        return make_refnode(builder, fromdocname, *there, contnode, title)

    def _target(
        self, typ: str, target: str, fromdocname: str, builder: Builder
    ) -> Link | None:
        if typ == "piece":
            docname, _, anchor = target.partition("#")
            return Link(docname, anchor, "")
        if typ == "index":
            return INDEXES.get(target)
        if typ == "name":
            return self._definitions.get(target)
        chapter = self.weaving.chapters.get(fromdocname)
        if typ == "file" and is_site(builder):
            number = chapter.number if chapter else len(self.weaving.book.chapters)
            state = self.weaving.states.after(target, number)
            return Link(state.docname, "", "") if state else None
        return self.weaving.links.first(target)

    @property
    def _definitions(self) -> dict[str, Link]:
        """For each identifier of the book a link to where it is first defined."""
        return {
            entry.full: self.weaving.links.to(entry.definitions[0], entry.name)
            for entry in self.weaving.identifiers
            if entry.definitions
        }

    def resolve_any_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> list[tuple[str, Element]]:
        """Return the link that a reference without a role stands for, if it does."""
        found = self.resolve_xref(
            env, fromdocname, builder, "chunk", target, node, contnode
        )
        return [("mystangle:chunk", found)] if found is not None else []

    def get_type_name(self, type: ObjType, primary: bool = False) -> str:
        """Return what a search calls a thing: "Chunk", not "Literate code chunk"."""
        return str(type.lname).capitalize()

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Yield chunks, files and identifiers, for the search and for other books."""
        found = [("name", name, link) for name, link in self._definitions.items()]
        for name in self.weaving.links.names:
            link = self.weaving.links.first(name)
            assert link is not None
            found.append(("file" if is_file(name) else "chunk", name, link))
        for kind, name, link in found:
            if link.docname in self.env.found_docs:
                yield name, name, kind, link.docname, link.anchor, 1
