"""MyST text as plain Markdown, which Jupyter shows without any extension.

Directives become quotes under a bold name, solutions fold, and roles become the text
that the page has: numbers of equations and theorems, values out of cells, names of
authors.  Links lose their targets, which lie on the site.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

OPEN = re.compile(r"^(:{3,}|`{3,})\{([\w:-]+)\}[ \t]*(.*)$")
FENCE = re.compile(r"^(`{3,}|~{3,})")
OPTION = re.compile(r"^:([\w-]+):[ \t]*(.*)$")
NO_TEXT = re.compile(r"^(?:\([\w-]+\)=|%.*)$")
EQUATION = re.compile(r"\$\$[ \t]*\(([\w-]+)\)$")
DISPLAY = re.compile(r"\$\$.+?\$\$", re.S)
ROLE = re.compile(r"\{([\w:-]+)\}`([^`]+)`")
TITLED = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.S)
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\((?:#[\w-]+|[\w./-]+\.md(?:#[\w-]+)?)\)")


@dataclass
class Facts:
    """What the build knows, and the text of a chapter does not say."""

    numbers: dict[str, str] = field(default_factory=dict)  # by id: "Theorem 5.1"
    values: dict[str, Any] = field(default_factory=dict)  # by the name of a glue
    authors: dict[str, tuple[str, str]] = field(default_factory=dict)  # and the year
    titles: dict[str, str] = field(default_factory=dict)  # of the pages

    @classmethod
    def of(cls, app: Sphinx, page: str) -> Facts:
        """Return the facts of a page, as the build has them by now."""
        facts = cls()
        for kinds in app.env.toc_fignumbers.values():
            for kind, numbered in kinds.items():
                for name, number in numbered.items():
                    said = f"{kind.capitalize()} {'.'.join(map(str, number))}"
                    facts.numbers[name] = said
        glued = Path(app.outdir).parent / "jupyter_execute" / f"{page}.glue.json"
        if glued.is_file():
            for name, value in json.loads(glued.read_text("utf-8")).items():
                facts.values[name] = value["data"].get("text/plain", "")
        cite: Any = app.env.get_domain("cite")
        for each in cite.citations:
            people = each.entry.persons.get("author", [])
            names = [" ".join(person.last_names) for person in people]
            facts.authors[each.key] = (listed(names), each.entry.fields.get("year", ""))
        facts.titles = {name: t.astext() for name, t in app.env.titles.items()}
        return facts


def listed(names: list[str]) -> str:
    """Return the names of authors as a text has them."""
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def readable(text: str, facts: Facts) -> str:
    """Return MyST text as plain Markdown."""
    return "\n".join(lines_of(iter(text.split("\n")), "", facts))


def lines_of(lines: Iterator[str], end: str, facts: Facts) -> list[str]:
    """Return the lines up to `end` as plain Markdown; an empty `end` is the text's."""
    made: list[str] = []
    for line in lines:
        if end and line.strip() == end:
            break
        if found := OPEN.match(line):
            made += block(found, lines, facts)
        elif fence := FENCE.match(line):
            made += [line, *code(lines, fence[1])]
        elif not NO_TEXT.match(line):
            made.append(plain(line, facts))
    return made


def code(lines: Iterator[str], end: str) -> list[str]:
    """Return the lines of a block of code, its end included."""
    made: list[str] = []
    for line in lines:
        made.append(line)
        if line.strip() == end:
            break
    return made


def block(found: re.Match[str], lines: Iterator[str], facts: Facts) -> list[str]:
    """Return what a directive becomes: code, a folded solution or a quote."""
    marker, name, argument = found.groups()
    if name == "code-block":
        return [f"{marker}{argument}", *code(lines, marker)]
    body = lines_of(lines, marker, facts)
    options: dict[str, str] = {}
    while body and (option := OPTION.match(body[0])):
        options[option[1]] = option[2]
        del body[0]
    inner = DISPLAY.sub(one_line, "\n".join(body).strip("\n")).split("\n")
    if name == "solution":
        fold = "<details><summary>Solution</summary>"
        return [fold, "", *inner, "", "</details>"]
    title = title_of(
        name.removeprefix("prf:"), argument, options.get("label", ""), facts
    )
    head = [f"**{title}**", ""] if title else []
    return [f"> {line}".rstrip() for line in (*head, *inner)]


def one_line(formula: re.Match[str]) -> str:
    """Return a formula in one line: Jupyter would show a quote's marks in it."""
    return " ".join(formula[0].split())


def title_of(kind: str, argument: str, label: str, facts: Facts) -> str:
    """Return the bold words above a quote; a note of the margin has none."""
    if kind in ("margin", "glue"):
        return ""
    said = plain(argument, facts)
    if kind == "admonition":
        return said
    number = facts.numbers.get(label, kind.capitalize())
    return f"{number} ({said})" if said else number


def plain(line: str, facts: Facts) -> str:
    """Return a line of text with nothing that only MyST understands."""
    line = EQUATION.sub(
        lambda found: f"{tag(facts.numbers.get(f'equation-{found[1]}', ''))}$$", line
    )
    line = ROLE.sub(lambda found: role(found[1], found[2], facts), line)
    return LINK.sub(lambda found: linked(found, facts), line)


def tag(number: str) -> str:
    """Return what numbers a displayed equation."""
    return f"\\tag{{{number.split()[-1]}}} " if number else ""


def linked(found: re.Match[str], facts: Facts) -> str:
    """Return the words of a link; without any, the title of its page."""
    if found[1]:
        return found[1]
    page = found[0].partition("(")[2].partition(".md")[0]
    titles = [t for name, t in facts.titles.items() if name.endswith(f"/{page}")]
    return titles[0] if titles else page


def role(name: str, content: str, facts: Facts) -> str:
    """Return the text that a role shows."""
    titled = TITLED.match(content)
    if titled:
        return titled[1]
    make = ROLES.get(name)
    return make(content, facts) if make else content


def glued(content: str, facts: Facts) -> str:
    """Return a value out of a cell, in the format that the text asks for."""
    name, _, form = content.partition(":")
    value = str(facts.values.get(name, name))
    try:
        held = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value
    return format(held, form) if form else str(held)


def numbered(content: str, facts: Facts) -> str:
    return facts.numbers.get(content, content)


def equation(content: str, facts: Facts) -> str:
    number = facts.numbers.get(f"equation-{content}", content)
    return f"({number.split()[-1]})"


def cited(content: str, facts: Facts, form: str) -> str:
    """Return authors and years of what is cited, by the keys of the bibliography."""
    pairs = [facts.authors.get(key.strip(), (key, "")) for key in content.split(",")]
    return "; ".join(form.format(*pair) for pair in pairs)


ROLES: dict[str, Callable[[str, Facts], str]] = {
    "glue:text": glued,
    "eq": equation,
    "prf:ref": numbered,
    "numref": numbered,
    "cite:t": lambda content, facts: cited(content, facts, "{} ({})"),
    "cite:p": lambda content, facts: f"({cited(content, facts, '{} {}')})",
}
