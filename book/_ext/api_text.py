"""A docstring of the package, read, and as Markdown with links.

A docstring has paragraphs and then fields, `Shape:  (n,) -> (m,)`, which go on in
indented lines.  Its first paragraph has no field, whatever it looks like.  A field may
hold a list: on each line a name, two blanks or more, and what the name stands for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import cleandoc
from textwrap import dedent

FIELD = re.compile(r"^([A-Z]\w+): +(.*)$")
ITEM = re.compile(r"^(\S+) {2,}(.+)$")
SENTENCE = re.compile(r"(?<=[.!?])\s")
# Code, and text that is a value of the language.
CODE = re.compile(r"""(`[^`]*`|"\w+")""")
# A chapter, a source by authors and year, a word that may be a name, and what Markdown
# would take for its own.
TOKEN = re.compile(
    r"\bbook/(?P<page>\w+)\.md\b"
    r"|\b(?P<author>[A-Z]\w+)(?:(?:,| and) \w+)* \((?P<year>\d{4})\)"
    r"|(?P<word>[A-Za-z]\w*(?:\.\w+)*)"
    r"|(?P<sign>[\\*_<>\[\]$|~])"
)
MIXED = re.compile(r"[A-Z]\w*[a-z]\w*[A-Z]|_")  # no word of English looks so
POINTED = re.compile(r"\b(?:as for|those of|that of) $")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Docstring:
    """The text of a docstring, and its fields by name."""

    text: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, node: Documented) -> Docstring:
        """Read the docstring of a definition or of a module."""
        text: list[str] = []
        fields: dict[str, list[str]] = {}
        current = text
        for line in cleandoc(ast.get_docstring(node) or "").splitlines():
            found = FIELD.match(line) if "" in text else None
            if found:
                current = fields[found[1]] = [" " * found.start(2) + found[2]]
            elif not line.startswith(" "):
                current = text
                current.append(line)
            else:
                current.append(line)
        joined = {name: dedent("\n".join(lines)) for name, lines in fields.items()}
        return cls("\n".join(text).strip(), joined)

    @property
    def first(self) -> str:
        """The first sentence."""
        return SENTENCE.split(self.text.replace("\n", " "))[0]

    def items(self, name: str) -> list[tuple[str, str]]:
        """Return the list that a field holds, empty if it holds other text."""
        found: list[tuple[str, str]] = []
        for line in self.fields.get(name, "").splitlines():
            item = ITEM.match(line)
            if item:
                found.append((item[1], item[2]))
            elif found and line.startswith(" "):
                found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
            else:
                return []
        return [(term, text.rstrip(";")) for term, text in found]


def listed(rows: list[tuple[str, str]], kind: str, colons: int) -> str:
    """Return a list of terms and what they stand for, with a class for its style."""
    entries = "\n\n".join(f"{term}\n: {text}" for term, text in rows)
    fence = ":" * colons
    return f"{fence}{{rst-class}} {kind}\n\n{entries}\n{fence}" if rows else ""


@dataclass(frozen=True)
class Writer:
    """Makes Markdown of plain text.

    `named` gives the full name that a word stands for, if it does; `is_class` tells
    of what kind it is; `chapter` links to a chapter by the name of its file, `source`
    to a source by its first author and year.
    """

    named: Callable[[str], str]
    is_class: Callable[[str], bool]
    chapter: Callable[[str], str]
    source: Callable[[str, str], str]

    def marked(self, text: str) -> str:
        """Return text as Markdown that shows it, names and chapters as links."""
        return "".join(self._parts(" ".join(text.split("\n"))))

    def paragraphs(self, text: str) -> str:
        """Return paragraphs, their lines joined."""
        return "\n\n".join(map(self.marked, re.split(r"\n\s*\n", text)))

    def name(self, text: str) -> str:
        """Return code, as a link if it names an entry."""
        full = self.named(text.removesuffix("()"))
        return f"{{py:obj}}`{text} <{full}>`" if full else f"`{text}`"

    def _parts(self, text: str) -> Iterator[str]:
        for part in CODE.split(text):
            if CODE.fullmatch(part):
                yield self.name(part.strip("`"))
            else:
                yield TOKEN.sub(self._token, part)

    def _token(self, found: re.Match[str]) -> str:
        page, author, year, word, sign = found.groups()
        if page:
            return self.chapter(page) or escaped(found[0])
        if author:
            return self.source(author, year) or escaped(found[0])
        if sign:
            return f"\\{sign}"
        return self.name(word) if self._is_name(found) else escaped(word)

    def _is_name(self, found: re.Match[str]) -> bool:
        """Return whether a word of plain text is meant as a name, not as English."""
        full = self.named(found[0])
        before = found.string[: found.start()]
        starts = not before.strip() or before.rstrip().endswith(".")
        return bool(full) and (
            bool(MIXED.search(found[0]) or POINTED.search(before))
            or (self.is_class(full) and not starts)
        )


def escaped(text: str) -> str:
    """Return plain text with what Markdown would take for its own escaped."""
    return text.replace("_", "\\_")
