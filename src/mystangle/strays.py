"""Chunks that a reader would never see, and blocks that swallow what follows.

MyST-NB shows a code cell only if it stands at the top level of a notebook and is
spelled as it likes.  A chunk anywhere else would be lost to the page, so it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from markdown_it.token import Token

from .markdown import (
    CODE_CELL,
    Fence,
    MarkdownReader,
    fence_of,
    first_line,
    is_cell,
    normal,
    top_level,
)
from .options import MEANT

# A line, the kind of a problem, and its message.
Fault = tuple[int, str, str]

UNCLOSED = "unclosed"
DIRECTIVE = re.compile(r"\s*\{\s*(?P<name>[^\s{}]+)\s*\}?(?P<argument>.*)")
CELL_NAMES = {"codecell", "codecells", "codecel", "cell", "ipythoncell"}
# Directives whose text is not Markdown.
VERBATIM = {
    "code",
    "code-block",
    "sourcecode",
    "literalinclude",
    "parsed-literal",
    "raw",
    "raw-cell",
    "math",
    "mermaid",
    "eval-rst",
    "toctree",
}
# Blocks whose text is not Markdown either, by the type of their token.
SWALLOWERS = {
    "math_block": "mathematics",
    "math_block_label": "mathematics",
    "amsmath": "mathematics",
    "html_block": "HTML",
}
# HTML that CommonMark lets run to the end of the document, and what would end it.
HTML_ENDS = (
    (re.compile(r"<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[cdata\["), "]]>"),
    (re.compile(r"<script(?![^\s>])"), "</script>"),
    (re.compile(r"<pre(?![^\s>])"), "</pre>"),
    (re.compile(r"<style(?![^\s>])"), "</style>"),
    (re.compile(r"<textarea(?![^\s>])"), "</textarea>"),
)


def strays(
    reader: MarkdownReader, tokens: Sequence[Token], notebook: bool, folder: Path
) -> Iterator[Fault]:
    """Yield the chunks that the page drops, and the blocks that are never closed.

    `folder`: where the chapter's `{include}`s are looked up.
    """
    for token in top_level(tokens):
        yield from _unclosed(token)
    for fence, top in _fences(reader, tokens):
        reason = _dropped(fence, top, notebook)
        if reason and _is_tagged(fence.content):
            yield fence.line, "dropped", reason
        elif _directive(fence) == "include":
            yield from _included(fence, folder)


def _unclosed(token: Token) -> Iterator[Fault]:
    fence = fence_of(token)
    if fence and not fence.closed:
        yield (
            fence.line,
            UNCLOSED,
            "a fence must be closed, got one that runs to the end of the chapter. "
            f"Close it with a line of {token.markup} alone.",
        )
    for opening, end in _endless(token):
        yield (
            first_line(token),
            UNCLOSED,
            f"HTML must be closed, got `{opening}` that runs to the end of the "
            f"chapter. Close it with `{end}`.",
        )


def _endless(token: Token) -> Iterator[tuple[str, str]]:
    """Yield how HTML begins that runs to the end of the chapter, and what is missing.

    Such HTML swallows all that follows, which is not told again.
    """
    content = token.content.lstrip().casefold()
    for begin, end in HTML_ENDS if token.type == "html_block" else ():
        opening = begin.match(content)
        if opening and end not in content:
            yield opening[0], end


def _fences(
    reader: MarkdownReader, tokens: Sequence[Token], offset: int = 0, depth: int = 0
) -> Iterator[tuple[Fence, bool]]:
    """Yield every fence, also inside other blocks, and whether it is at the top.

    `offset`: the lines before the text that `tokens` stand for.
    """
    shown = {id(token) for token in top_level(tokens)} if depth == 0 else set()
    for token in tokens:
        fence = fence_of(token) or _swallower(token)
        if fence is not None:
            fence = replace(fence, line=fence.line + offset)
            yield fence, id(token) in shown
            if not is_cell(token) and _is_markdown(fence):
                inner = reader.tokens(fence.content)
                yield from _fences(reader, inner, fence.line, depth + 1)


def _swallower(token: Token) -> Fence | None:
    """Return a block of mathematics or HTML, in which a fence is mere text.

    A comment is not one: what stands in it is meant to be hidden.
    """
    hidden = token.content.lstrip().startswith("<!--")
    if token.type not in SWALLOWERS or hidden or any(_endless(token)):
        return None
    before = token.content.partition(CODE_CELL)[0].count("\n")
    return Fence(token.type, first_line(token) + before, token.content, True, False)


def _directive(fence: Fence) -> str:
    """Return the directive that a fence names, or nothing."""
    match = DIRECTIVE.fullmatch(fence.info)
    return match["name"] if match else ""


def _is_markdown(fence: Fence) -> bool:
    name = _directive(fence)
    return name not in VERBATIM if name else fence.colon


def _dropped(fence: Fence, top: bool, notebook: bool) -> str | None:
    """Return why the page would not show a fence that is meant as a cell, or None."""
    if fence.info in SWALLOWERS or _directive(fence) == "math":
        return (
            f"a chunk must stand at the top level of its chapter, got one inside "
            f"{SWALLOWERS.get(fence.info, 'mathematics')}, where its text is no code. "
            "Move it out."
        )
    name = re.sub(r"[^a-z]", "", _directive(fence).casefold())
    if name not in CELL_NAMES:
        return None
    if not fence.info.startswith("{code-cell}"):
        return (
            "a chunk must be fenced as ```{code-cell} python, got "
            f"{fence.info.strip()!r}, which MyST-NB does not take for a cell. Spell it "
            "so, with nothing before the brace."
        )
    if fence.colon:
        return (
            "a chunk must be fenced with ``` or ~~~, got `:::`, and MyST-NB would drop "
            "it. Change the fence."
        )
    if not top:
        return (
            "a chunk must stand at the top level of its chapter, got one inside a "
            "list, a quote or another block, where MyST-NB drops it. Move it out."
        )
    if not notebook:
        return (
            "a chapter with chunks must begin with front matter that holds "
            "`file_format: mystnb`, got none, so MyST-NB would drop this cell. Add it."
        )
    return None


def _is_tagged(content: str) -> bool:
    lines = content.split("\n")
    return any(MEANT.match(line.strip()) for line in lines)


def _included(fence: Fence, folder: Path) -> Iterator[Fault]:
    """Yield the chunks that an included file would lose: it contributes no cells."""
    match = DIRECTIVE.fullmatch(fence.info)
    name = match["argument"].strip() if match else ""
    try:
        text = normal((folder / name).read_bytes().decode("utf-8"))
    except (OSError, ValueError):
        return
    if "{code-cell}" in text and _is_tagged(text):
        yield (
            fence.line,
            "dropped",
            f"an included file contributes no cells, and {name!r} holds chunks. Make "
            "it a chapter of `_toc.yml`, or move its chunks here.",
        )
