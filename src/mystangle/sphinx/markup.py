"""HTML that no docutils node stands for: links, and code line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeGuard

from sphinx.builders import Builder
from sphinx.builders.html import StandaloneHTMLBuilder

from .captions import Hook, Listing
from .links import Link

COMMENT = re.compile(r'<span class="c1?">[^<]*</span>$')
PRE = re.compile(r"<pre>(?:<span></span>)?(.*?)\n?</pre>", re.DOTALL)


def is_site(builder: Builder) -> TypeGuard[StandaloneHTMLBuilder]:
    """Return whether a builder makes pages for a browser, one for each document.

    Only there are pages generated, and only there do scripts run.
    """
    return isinstance(builder, StandaloneHTMLBuilder) and builder.name in (
        "html",
        "dirhtml",
    )


@dataclass(frozen=True)
class Markup:
    """Writes HTML for the page `here`."""

    builder: StandaloneHTMLBuilder
    here: str

    def href(self, link: Link) -> str:
        """Return the address of a link, escaped."""
        same = link.docname == self.here
        page = "" if same else self.builder.get_relative_uri(self.here, link.docname)
        return escape(f"{page}#{link.anchor}" if link.anchor else page)

    def link(self, link: Link, inner: str = "", attributes: str = "") -> str:
        """Return a link; `inner` is HTML to show in place of its text."""
        return f"{self.opening(link, attributes)}{inner or escape(link.text)}</a>"

    def opening(self, link: Link, attributes: str = "") -> str:
        """Return the tag that opens a link."""
        said = [f'href="{self.href(link)}"', *filter(None, [attributes])]
        if link.title:
            title = escape(link.title)
            said.append(f'title="{title}" aria-label="{title}"')
        return f"<a {' '.join(said)}>"

    def number(self, docname: str) -> str:
        """Return the number that the site gives to a page, if it gives one."""
        numbers = self.builder.env.toc_secnumbers.get(docname, {}).get("", ())
        return ".".join(map(str, numbers))

    def lines(self, text: str) -> list[str]:
        """Return Python highlighted, an element for each of its lines."""
        block = self.builder.highlighter.highlight_block(text, "python3")
        found = PRE.search(block)
        assert found is not None
        return found[1].split("\n")

    def listing(self, listing: Listing) -> str:
        """Return the lines of a piece; its references are links and expand."""
        return "\n".join(self.hooked([*self.lines(listing.text), ""], listing.hooks))

    def hooked(self, lines: Sequence[str], hooks: Iterable[Hook]) -> list[str]:
        """Return highlighted lines with their references made links.

        A line that expands is an element, its end included: what is shown in place
        can stand after it.  There must be a line after the last reference.
        """
        changed = list(lines)
        behind = []
        for hook in hooks:
            row = hook.line_index
            changed[row] = self._linked(hook, lines[row])
            if hook.sources and is_site(self.builder):
                element = f'<span class="mystangle-row">{changed[row]}'
                changed[row] = f"{element}{_button(hook)}"
                behind.append(row + 1)
        for row in behind:  # where the next element may begin
            changed[row] = f"</span>{changed[row]}"
        return changed

    def _linked(self, hook: Hook, line: str) -> str:
        def reference(comment: re.Match[str]) -> str:
            return self.link(hook.link, comment[0], 'class="mystangle-ref"')

        linked = COMMENT.sub(reference, line)
        if not hook.later:
            return linked
        later = escape(f"filled in {hook.later}")
        return f'{linked}<span class="mystangle-later"> {later}</span>'


def _button(hook: Hook) -> str:
    """Return the button that shows a chunk in place; its sign is in the style sheet."""
    return (
        '<button type="button" class="mystangle-expand" aria-expanded="false" '
        f'aria-label="Show here: {escape(hook.link.text)}" '
        f'data-from="{" ".join(hook.sources)}" data-indent="{hook.indent}"></button>'
    )
