"""The Markdown of a package's reference: an overview, then module by module.

Each public name has its signature, its docstring, and links to the chunk that defines
it and to its line in the tangled file; nothing is listed by hand.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from mystangle.expand import TangledFile
from mystangle.language import is_file
from mystangle.sphinx.states import line_id
from mystangle.sphinx.weaving import Weaving

from .api_names import Entry, Module
from .api_text import Writer, listed

GROUPS = ("Classes", "Functions", "Errors", "Constants")


class Reference:
    """All modules of a package, and where the book makes each of their lines.

    `sources` are the keys of the bibliography: a first author and a year.
    """

    def __init__(
        self, weaving: Weaving, package: str, sources: Collection[str] = ()
    ) -> None:
        self.weaving, self.package, self.sources = weaving, package, sources
        files = weaving.book.snapshot().files
        begun = dict.fromkeys(p.name for p in weaving.book.pieces if p.is_file)
        self.modules: dict[Module, TangledFile] = {
            Module(module_name(path), files[path].text): files[path]
            for path in begun
            if path in files
            and path.startswith(f"{package}/")
            and "/stages/" not in path
        }
        tops = (entry for module in self.modules for entry in module.entries)
        self.entries = {each.full: each for top in tops for each in top.all()}
        self.paths: dict[str, list[str]] = {}
        for entry in self.entries.values():
            self.paths.setdefault(entry.path, []).append(entry.full)
        roots = (each for each in self.modules if each.name == package)
        self.exported: dict[str, str] = next(
            (root.exported(package) for root in roots), {}
        )

    def text(self) -> str:
        """Return the Markdown of the reference."""
        return "\n\n".join([*self._overview(), *self._sections()])

    def named(self, word: str, module: str, owner: str = "") -> str:
        """Return the full name that a word stands for in a module or class, or ""."""
        for inside in (f"{module}.{owner}.{word}", f"{module}.{word}", word):
            if inside in self.entries:
                return inside
        exported = self.exported.get(word, "")
        found = self.paths.get(word, [])
        return (
            exported
            if exported in self.entries
            else found[0]
            if len(found) == 1
            else ""
        )

    def _overview(self) -> Iterator[str]:
        """Yield a line for each name that the package exports."""
        if not self.exported:
            return
        yield "## At a glance"
        rows: dict[str, list[tuple[str, str]]] = {}
        for name, full in sorted(self.exported.items(), key=lambda e: e[0].casefold()):
            entry = self.entries[full]
            text = self._writer(entry).marked(entry.docstring.first)
            row = (f"{{py:obj}}`{name} <{full}>`", text)
            rows.setdefault(group(entry), []).append(row)
        for title in filter(rows.__contains__, GROUPS):
            yield f"**{title}**\n\n{listed(rows[title], 'api-names', 3)}"

    def _sections(self) -> Iterator[str]:
        """Yield the section of each module that has anything to import."""
        for module, file in self.modules.items():
            if module.entries:
                yield f"## {module.name}\n\n```{{py:module}} {module.name}\n```"
                first = module.entries[0]
                yield self._writer(first).paragraphs(module.docstring.text)
                for entry in module.entries:
                    yield self._entry(entry, file, 6)

    def _entry(self, entry: Entry, file: TangledFile, colons: int) -> str:
        """Return an entry as a directive of Sphinx's domain for Python."""
        fence = ":" * colons
        options = dict(entry.options)
        if entry.kind == "attribute":
            options["no-contents-entry"] = ""
        body = [
            "\n".join(f":{name}: {quoted(value)}" for name, value in options.items()),
            self._writer(entry).paragraphs(entry.docstring.text),
            listed(list(self._rows(entry, file)), "api-fields", 3),
            *(self._entry(each, file, 5) for each in entry.members),
        ]
        inside = "\n\n".join(filter(None, body))
        return f"{fence}{{py:{entry.kind}}} {entry.head}\n{inside}\n{fence}"

    def _rows(self, entry: Entry, file: TangledFile) -> Iterator[tuple[str, str]]:
        """Yield what is told of an entry in a word and a line each."""
        writer = self._writer(entry)
        if entry.bases:
            yield "Bases", ", ".join(map(writer.name, entry.bases))
        if entry.forms:
            yield "Allows", ", ".join(f"`{form}`" for form in entry.forms)
        origin = file.lines[entry.line - 1].piece
        chapter = origin.chapter.docname if origin else ""
        for name, text in entry.docstring.fields.items():
            items = entry.docstring.items(name)
            if items and entry.kind != "class":
                yield (
                    name,
                    "\n  ".join(
                        f"- `{term}`: {writer.marked(told)}" for term, told in items
                    ),
                )
            elif not items:
                parts = text.replace("\n", " ").split("; ")
                kept = [part for part in parts if part != f"{chapter}.md"]
                if kept:
                    yield name, writer.marked("; ".join(kept))
        if entry.kind != "attribute":
            yield from self._places(entry, file)

    def _places(self, entry: Entry, file: TangledFile) -> Iterator[tuple[str, str]]:
        """Yield how to import an entry, and where it comes from."""
        if "." not in entry.path and entry.full not in self.exported.values():
            yield "Import", f"`from {entry.module} import {entry.path}`"
        origin = file.lines[entry.line - 1].piece
        state = self.weaving.states.of(file.path)[-1]
        line = f"{state.docname}#{line_id(entry.line - 1)}"
        told = f"line {entry.line}"
        if origin is None or not is_file(origin.name):
            told = f"{PurePosixPath(file.path).name}, {told}"
        code = f"{{mystangle:piece}}`{told} <{line}>`"
        if origin is None:
            yield "Code", code
            return
        there = f"{origin.chapter.docname}#{self.weaving.links.anchor(origin)}"
        kind = "file" if is_file(origin.name) else "chunk"
        shown = origin.name.replace("`", "").replace("<", r"\<")
        yield (
            "Derived in",
            f"{{chapter}}`{origin.chapter.docname}`, {kind} "
            f"{{mystangle:piece}}`{shown} <{there}>` ({code})",
        )

    def _writer(self, entry: Entry) -> Writer:
        """Return what makes Markdown of the text of an entry."""
        owner = entry.path if entry.kind == "class" else entry.path.rpartition(".")[0]
        given = entry.parameters

        def named(word: str) -> str:
            full = "" if word in given else self.named(word, entry.module, owner)
            return "" if full == entry.full else full

        def is_class(full: str) -> bool:
            return self.entries[full].kind == "class"

        def chapter(page: str) -> str:
            docname = f"book/{page}"
            known = docname in self.weaving.chapters
            return f"{{chapter}}`{docname}`" if known else ""

        def source(author: str, year: str) -> str:
            key = f"{author.lower()}{year}"
            return f"{{cite:t}}`{key}`" if key in self.sources else ""

        return Writer(named, is_class, chapter, source)


def module_name(path: str) -> str:
    """Return the name of the module that a file is."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def quoted(value: str) -> str:
    """Return the value of an option as it is to be written, if it has one."""
    return json.dumps(value, ensure_ascii=False) if value else ""


def group(entry: Entry) -> str:
    """Return under which of GROUPS a name is found."""
    if entry.kind == "class":
        return "Errors" if entry.path.endswith("Error") else "Classes"
    return "Functions" if entry.kind == "function" else "Constants"
