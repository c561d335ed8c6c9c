"""The API reference, made from the package as the last chapter leaves it.

The line `{api} PACKAGE` of a page becomes a section for each module, in the order in
which the chapters begin them.  Each public name has its signature, its docstring, and a
link to the chunk that defines it; nothing is listed by hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.roles import XRefRole

from mystangle.expand import TangledFile
from mystangle.sphinx.links import title_of
from mystangle.sphinx.weaving import WEAVINGS, Weaving

PLACE = re.compile(r"^\{api\} (\w+)$", re.M)
FIELD = re.compile(r"^([A-Z]\w+): +(.*)$")
CHAPTER = re.compile(r"\bbook/(\w+)\.md\b")
# What Markdown would take for its own, outside code.
CODE = re.compile(r"(`[^`]*`)")
SPECIAL = re.compile(r"([\\*_<>\[\]$|])")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what writes the reference."""
    app.add_role_to_domain("mystangle", "piece", XRefRole(innernodeclass=nodes.inline))
    app.connect("source-read", write)
    app.connect("env-get-outdated", outdated)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the reference where a page asks for it."""
    wanted = PLACE.search(source[0])
    if wanted:
        text = reference(WEAVINGS[app], wanted[1])
        written(app.env)[docname] = wanted[1], text
        source[0] = PLACE.sub(lambda _: text, source[0])


def outdated(app: Sphinx, env: BuildEnvironment, *changed: set[str]) -> list[str]:
    """Return the pages whose reference would now be another."""
    return [
        docname
        for docname, (package, text) in written(env).items()
        if docname in env.found_docs and text != reference(WEAVINGS[app], package)
    ]


def written(env: BuildEnvironment) -> dict[str, tuple[str, str]]:
    """Return the package and the text of the reference on each page that has one."""
    found: dict[str, tuple[str, str]] = env.__dict__.setdefault("api_written", {})
    return found


def reference(weaving: Weaving, package: str) -> str:
    """Return the Markdown of all modules of `package`, in reading order."""
    files = weaving.book.snapshot().files
    begun = dict.fromkeys(p.name for p in weaving.book.pieces if p.is_file)
    return "\n\n".join(
        line
        for path in begun
        if path in files and path.startswith(f"{package}/") and "/stages/" not in path
        for line in Module(weaving, files[path]).lines()
    )


class Module:
    """A module of the package, and where the book makes each of its lines."""

    def __init__(self, weaving: Weaving, file: TangledFile) -> None:
        self.weaving, self.file = weaving, file
        self.name = file.path.removesuffix(".py").replace("/", ".")
        self.name = self.name.removesuffix(".__init__")
        self.tree = ast.parse(file.text)

    def lines(self) -> Iterator[str]:
        """Yield the section of this module, if it has anything to import."""
        entries = public(self.tree.body)
        if not entries:
            return
        yield f"## {self.name}\n\n```{{py:module}} {self.name}\n```"
        yield prose(ast.get_docstring(self.tree) or "", self.weaving)
        for entry in entries:
            yield self.entry(entry, 6)

    def entry(self, node: Definition, colons: int) -> str:
        """Return the Markdown of a class or a function, its members inside it."""
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        body = [prose(ast.get_docstring(node) or "", self.weaving), self.origin(node)]
        if isinstance(node, ast.ClassDef):
            body += [self.member(each) for each in public(node.body)]
        return directive(kind, signature(node), body, colons)

    def member(self, node: Definition) -> str:
        """Return the Markdown of a method or a property."""
        names = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
        kind = "property" if "property" in names else "method"
        body = [prose(ast.get_docstring(node) or "", self.weaving), self.origin(node)]
        return directive(kind, signature(node, method=True), body, 4)

    def origin(self, node: Definition) -> str:
        """Return a link to the chunk in which a definition stands."""
        piece = self.file.lines[node.lineno - 1].piece
        if piece is None:
            return ""
        chapter = piece.chapter
        place = f"{chapter.docname}#{self.weaving.links.anchor(piece)}"
        title = title_of(chapter).replace("`", "")
        return f"Derived in {{mystangle:piece}}`{title} <{place}>`"


def public(body: list[ast.stmt]) -> list[Definition]:
    """Return what a module or class defines for others to use."""
    found = (node for node in body if isinstance(node, Definition))
    return [node for node in found if not node.name.startswith("_")]


def signature(node: Definition, *, method: bool = False) -> str:
    """Return a name with its parameters and result, as the source has them."""
    if isinstance(node, ast.ClassDef):
        made = (each for each in node.body if isinstance(each, ast.FunctionDef))
        init = next((each for each in made if each.name == "__init__"), None)
        return node.name + (f"({parameters(init, method=True)})" if init else "")
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({parameters(node, method=method)}){result}"


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, *, method: bool) -> str:
    """Return the parameters of a function, without the object of a method."""
    found = ast.unparse(node.args)
    return re.sub(r"^(self|cls)(, /)?(, )?", "", found) if method else found


def directive(kind: str, head: str, body: list[str], colons: int) -> str:
    """Return an entry of Sphinx's own domain for Python."""
    fence = ":" * colons
    return (
        f"{fence}{{py:{kind}}} {head}\n"
        + "\n\n".join(filter(None, body))
        + f"\n{fence}"
    )


def prose(docstring: str, weaving: Weaving) -> str:
    """Return a docstring as Markdown: paragraphs, then its fields as a list."""
    paragraphs: list[str] = []
    field: list[str] = []
    for line in [*cleandoc(docstring).splitlines(), ""]:
        found = FIELD.match(line)
        if found:
            paragraphs.append(f"\n{found[1]}\n: {marked(found[2], weaving)}")
            field = paragraphs
        elif field and line.startswith(" "):
            paragraphs.append(f"  {marked(line.strip(), weaving)}")
        else:
            field = []
            paragraphs.append(marked(line, weaving))
    return "\n".join(paragraphs).strip()


def marked(text: str, weaving: Weaving) -> str:
    """Return plain text as Markdown that shows it, chapters as links."""
    parts = CODE.split(text)
    parts[::2] = [SPECIAL.sub(r"\\\1", part) for part in parts[::2]]

    def link(found: re.Match[str]) -> str:
        page = found[1].replace("\\", "")
        chapter = weaving.chapters.get(f"book/{page}")
        return f"[{title_of(chapter)}]({page}.md)" if chapter else found[0]

    return re.sub(r"\bbook/((?:\w|\\_)+)\.md\b", link, "".join(parts))
