"""Parts of pages that the build writes, as Markdown, from the book itself.

Where a page has the line `{word} ARGUMENTS`, the text of a `Written` takes its place.
A page is read again when that text would now be another.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from mystangle.sphinx.weaving import WEAVINGS, Weaving


@dataclass(frozen=True)
class Written:
    """What the build writes for a word; `make` is given what follows the word."""

    word: str
    make: Callable[[Weaving, str], str]

    def connect(self, app: Sphinx) -> None:
        """Have Sphinx ask for the text."""
        app.connect("source-read", self.write)
        app.connect("env-get-outdated", self.outdated)

    def write(self, app: Sphinx, docname: str, source: list[str]) -> None:
        """Put the text where the page asks for it."""
        place = re.compile(rf"^\{{{self.word}\}} *(.*)$", re.M)
        wanted = place.search(source[0])
        if wanted:
            text = self.make(WEAVINGS[app], wanted[1])
            self.known(app.env)[docname] = wanted[1], text
            source[0] = place.sub(lambda _: text, source[0], count=1)

    def outdated(
        self, app: Sphinx, env: BuildEnvironment, *changed: set[str]
    ) -> list[str]:
        """Return the pages whose text would now be another."""
        return [
            docname
            for docname, (given, text) in self.known(env).items()
            if docname in env.found_docs and text != self.make(WEAVINGS[app], given)
        ]

    def known(self, env: BuildEnvironment) -> dict[str, tuple[str, str]]:
        """Return for each page what it asked with, and the text that it got."""
        found: dict[str, tuple[str, str]]
        found = env.__dict__.setdefault(f"written_{self.word}", {})
        return found
