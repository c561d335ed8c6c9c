"""Reads the books and expectations of `fixtures/*.md`.

A fixture is a Markdown file.  Each `## Title` is a case, made of blocks fenced with
five backticks or more.  The words after the backticks say what a block is:

    md NAME            a chapter, in the order of the table of contents; without front
                       matter it gets that of a notebook, and its lines are counted
                       without it; with `raw` at the end, it gets none
    file PATH          a file of the package, exactly; `as of NAME` for a snapshot
    text problems      the problems, one a line; `...` stands for any text
    yaml config        the book's _config.yml

`<FF>`, `<TAB>`, `<CR>`, `<NUL>`, `<BOM>`, `<NBSP>`, `<U+2028>` in a chapter stand for
these characters.  A case that expects no file expects that there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mystangle import Book, Settings

FRONT = "---\nfile_format: mystnb\n---\n"
FENCE = re.compile(r"(?P<fence>`{5,})(?P<info>\w.*)")
NAMED = {
    "FF": "\f",
    "TAB": "\t",
    "CR": "\r",
    "NUL": "\0",
    "BOM": "\ufeff",
    "NBSP": "\xa0",
}
PLACE = re.compile(r"(?P<path>[\w/]+\.md):(?P<line>\d+)")
CHARACTER = re.compile(r"<(?:U\+(?P<code>[0-9A-F]{4,5})|(?P<name>[A-Z]{2,4}))>")


@dataclass
class Case:
    """A small book and what must come of it."""

    title: str
    line: int
    chapters: dict[str, str] = field(default_factory=dict)
    files: dict[tuple[str, str | None], str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    config: str | None = None

    def read(self, root: Path) -> Book:
        """Write the book below `root` and read it."""
        docnames = [name.removesuffix(".md") for name in self.chapters]
        lines = ["format: jb-book", f"root: {docnames[0]}"]
        if docnames[1:]:
            lines += ["chapters:", *(f"- file: {name}" for name in docnames[1:])]
        (root / "_toc.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if self.config is not None:
            (root / "_config.yml").write_text(self.config, encoding="utf-8")
        for name, text in self.chapters.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        return Book.read(Settings(root=root))

    def told(self, book: Book) -> list[str]:
        """Return the book's problems, lines counted without added front matter."""
        return [PLACE.sub(self._counted, str(problem)) for problem in book.problems]

    def _counted(self, match: re.Match[str]) -> str:
        added = self.chapters.get(match["path"], "").startswith(FRONT)
        line = int(match["line"]) - (FRONT.count("\n") if added else 0)
        return f"{match['path']}:{line}"


def cases(path: Path) -> list[Case]:
    """Return the cases of a fixture file."""
    found: list[Case] = []
    for line, title, info, content in _blocks(path.read_text(encoding="utf-8")):
        if not found or found[-1].title != title:
            found.append(Case(title, line))
        _add(found[-1], info.split(), content)
    return found


def _blocks(text: str) -> Iterator[tuple[int, str, str, str]]:
    title, fence, info, content = "", "", "", ""
    for number, line in enumerate(text.split("\n"), start=1):
        opening = FENCE.fullmatch(line)
        if fence and line == fence:
            yield number, title, info, content
            fence = ""
        elif fence:
            content += line + "\n"
        elif opening:
            fence, info, content = opening["fence"], opening["info"], ""
        elif line.startswith("## "):
            title = line.removeprefix("## ")


def _add(case: Case, info: list[str], content: str) -> None:
    kind, *words = info
    if kind == "md":
        text = CHARACTER.sub(_character, content)
        bare = text.startswith(("---", "\ufeff")) or words[1:] == ["raw"]
        case.chapters[words[0]] = text if bare else FRONT + text
    elif kind == "file":
        case.files[words[0], words[3] if words[1:3] == ["as", "of"] else None] = content
    elif kind == "text":
        case.problems = content.splitlines()
    elif kind == "yaml":
        case.config = content
    else:
        raise ValueError(f"{case.title}: what is a block {' '.join(info)!r}?")


def _character(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    return NAMED.get(match["name"], match[0])
