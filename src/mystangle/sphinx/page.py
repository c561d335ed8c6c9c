"""The chunks on a page: a figure with a caption, its references as links."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

from .captions import Caption, Listing
from .links import Link
from .markup import Markup, is_site
from .parser import PIECE
from .weaving import WEAVINGS

AROUND = "mystangle-around"  # the class of the line of links below a chunk's code


class chunk(nodes.container):  # type: ignore[misc]
    """A figure that holds a chunk's caption, its code and its links."""


class chunk_caption(nodes.paragraph):  # type: ignore[misc]
    """The line above a chunk's code."""


class chunk_place(nodes.inline):  # type: ignore[misc]
    """A path; `place` is where the chunk lands in that file as of its chapter."""


class chunk_code(nodes.literal_block):  # type: ignore[misc]
    """The code; `hooks` are the references in it."""


class chunk_replaced(nodes.container):  # type: ignore[misc]
    """What a chunk replaces: folded until a reader asks for it."""


class ShowChunks(SphinxTransform):
    """Give every cell that is a piece of a chunk its caption, and hide its options."""

    default_priority = 250

    def apply(self, **kwargs: Any) -> None:
        """Change the document."""
        weaving = WEAVINGS.get(self.app)
        if weaving is None:
            return
        for cell in list(self.document.findall(nodes.container)):
            index = cell.get("cell_metadata", {}).get(PIECE)
            piece = None
            if index is not None:
                piece = weaving.piece(self.env.docname, index)
            block = next(iter(cell.findall(nodes.literal_block)), None)
            if piece and block is not None:
                caption = weaving.captions.caption(piece)
                text = "\n".join(piece.body)
                block.replace_self(_figure(caption, text, block, self.env.docname))


def _figure(
    caption: Caption, text: str, block: nodes.literal_block, docname: str
) -> chunk:
    code = chunk_code(text, text, language=block["language"], hooks=caption.hooks)
    code.source, code.line = block.source, block.line
    head = chunk_caption("", "", *_head(caption, docname))
    figure = chunk("", head, code, classes=["mystangle-chunk"], ids=[caption.anchor])
    around = _around(caption, docname)
    if around:
        figure.append(nodes.paragraph("", "", *around, classes=[AROUND]))
    if caption.replaced:
        old = (node for shown in caption.replaced for node in _old(shown, docname))
        figure.append(chunk_replaced("", *old, classes=["mystangle-replaced"]))
    return figure


def _old(shown: Listing, docname: str) -> Iterator[nodes.Node]:
    link = _reference(docname, shown.link, nodes.inline("", shown.link.text))
    yield nodes.paragraph("", "", nodes.Text("From "), link)
    yield chunk_code(shown.text, shown.text, language="python3", hooks=shown.hooks)


def _head(caption: Caption, docname: str) -> Iterator[nodes.Node]:
    """Yield a chunk's name and what it does to it, its files, and on a line why."""
    if caption.is_file:
        name = chunk_place("", "", nodes.literal("", caption.name), place=caption.place)
    else:
        name = nodes.inline("", caption.name)
    name["classes"].append("mystangle-name")
    yield name
    if caption.status:
        yield nodes.Text(" ")
        yield nodes.inline("", f"· {caption.status}", classes=["mystangle-status"])
    for file in caption.files:
        shown = _reference(docname, file, nodes.literal("", file.text))
        here = caption.place and caption.place.text == file.text
        place = caption.place if here else None
        yield nodes.Text(" ")
        yield chunk_place("", "", shown, place=place, classes=["mystangle-file"])
    if caption.because:
        yield nodes.Text(" ")
        yield nodes.inline("", caption.because, classes=["mystangle-because"])


def _around(caption: Caption, docname: str) -> list[nodes.Node]:
    after = caption.following
    near = after and after.docname == docname
    groups = [
        ("continued from ", [caption.previous] if caption.previous else []),
        (f"continues {'' if near else 'in '}", [after] if after else []),
        ("replaced in ", [caption.replaced_in] if caption.replaced_in else []),
        ("used in ", list(caption.uses)),
    ]
    found: list[nodes.Node] = []
    for lead, links in groups:
        for number, link in enumerate(links):
            before = ", " if number else (" · " if found else "") + lead
            found.append(nodes.Text(before))
            found.append(_reference(docname, link, nodes.inline("", link.text)))
    return found


def _reference(docname: str, link: Link, shown: nodes.Element) -> addnodes.pending_xref:
    return addnodes.pending_xref(
        "",
        shown,
        refdomain="mystangle",
        reftype="piece",
        reftarget=f"{link.docname}#{link.anchor}",
        refdoc=docname,
        reftitle=link.title,
        refexplicit=True,
        refwarn=True,
    )


def visit_chunk(self: HTML5Translator, node: chunk) -> None:
    """Open the figure."""
    self.body.append(self.starttag(node, "figure"))


def depart_chunk(self: HTML5Translator, node: chunk) -> None:
    """Close the figure."""
    self.body.append("</figure>\n")


def visit_caption(self: HTML5Translator, node: chunk_caption) -> None:
    """Open the caption."""
    self.body.append(self.starttag(node, "figcaption", ""))


def depart_caption(self: HTML5Translator, node: chunk_caption) -> None:
    """Close the caption, with a link to the chunk itself."""
    self.add_permalink_ref(node.parent, "Link to this chunk")
    self.body.append("</figcaption>\n")


def visit_place(self: HTML5Translator, node: chunk_place) -> None:
    """Open a path: on the site a link to the file as the chapter leaves it."""
    place: Link | None = node["place"]
    self.body.append(self.starttag(node, "span", ""))
    if place and is_site(self.builder):
        node[:] = list(node.findall(nodes.literal))
        markup = Markup(self.builder, self.builder.current_docname)
        self.body.append(markup.opening(place, 'class="mystangle-place"'))


def depart_place(self: HTML5Translator, node: chunk_place) -> None:
    """Close the path."""
    linked = node["place"] and is_site(self.builder)
    self.body.append("</a></span>" if linked else "</span>")


def visit_replaced(self: HTML5Translator, node: chunk_replaced) -> None:
    """Open the fold."""
    self.body.append(self.starttag(node, "details"))
    self.body.append("<summary>What this replaces</summary>\n")


def depart_replaced(self: HTML5Translator, node: chunk_replaced) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def visit_code(self: HTML5Translator, node: chunk_code) -> None:
    """Write the highlighted code; each reference becomes a link, and expands."""
    start = len(self.body)
    with suppress(nodes.SkipNode):
        self.visit_literal_block(node)
    before, opening, code = "".join(self.body[start:]).partition("<pre>")
    markup = Markup(self.builder, self.builder.current_docname)
    lines = markup.hooked(code.split("\n"), node["hooks"])
    self.body[start:] = [before + opening + "\n".join(lines)]
    raise nodes.SkipNode
