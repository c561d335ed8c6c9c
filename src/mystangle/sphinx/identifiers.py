"""Every name of the program: the pieces that define it, and the pieces that use it."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..book import Book
from ..language import Piece
from .imports import module_of
from .mentions import Mentions, mentions_in
from .states import State, States

# The kind of a name that the book imports from elsewhere.
OUTSIDE = "from elsewhere"


@dataclass(frozen=True)
class Identifier:
    """A name with its module's; pieces are in reading order, none is in both.

    `definitions` holds every piece that ever defined the name, also those that a
    later one replaced.
    """

    module: str
    name: str
    kind: str
    definitions: tuple[Piece, ...]
    uses: tuple[Piece, ...]

    @property
    def full(self) -> str:
        """The name by which a program would import it."""
        return f"{self.module}.{self.name}" if self.module else self.name


def identifiers_of(book: Book, states: States) -> tuple[Identifier, ...]:
    """Return the identifiers of all states of all files, sorted by name."""
    index = _Index(
        _Module.of(state) for path in states.paths for state in states.of(path)
    )
    order = {piece: n for n, piece in enumerate(book.pieces)}

    def sort(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
        return tuple(sorted(pieces, key=order.__getitem__))

    found = []
    for full in index.definitions.keys() | index.uses.keys():
        defined = index.definitions.get(full, set())
        module, kind = index.kinds.get(full, ("", OUTSIDE))
        name = full.removeprefix(f"{module}.") if module else full
        used = sort(index.uses.get(full, set()) - defined)
        found.append(Identifier(module, name, kind, sort(defined), used))
    return tuple(sorted(found, key=_by_name))


def _by_name(entry: Identifier) -> tuple[str, str]:
    """Return what entries are sorted by: marks of privacy count last."""
    return entry.name.strip("_").casefold(), entry.full


@dataclass(frozen=True)
class _Module:
    """A state of a file as a module."""

    name: str
    mentions: Mentions
    state: State

    @classmethod
    def of(cls, state: State) -> _Module:
        module = module_of(state.path, state.file.data)
        return cls(module.name, mentions_in(module), state)

    def piece(self, line: int) -> Piece:
        """Return whose a line of code is, from 1."""
        piece = self.state.file.lines[line - 1].piece
        assert piece is not None
        return piece


class _Index:
    """The pieces that define and use each full name."""

    def __init__(self, modules: Iterable[_Module]) -> None:
        self.modules = list(modules)
        self.kinds: dict[str, tuple[str, str]] = {}
        self.definitions: dict[str, set[Piece]] = defaultdict(set)
        self.uses: dict[str, set[Piece]] = defaultdict(set)
        self.aliases: dict[str, dict[str, str]] = defaultdict(dict)
        for module in self.modules:
            self.aliases[module.name].update(module.mentions.aliases)
            for definition in module.mentions.definitions:
                self.kinds[definition.name] = (module.name, definition.kind)
                self.definitions[definition.name].add(module.piece(definition.line))
        methods = _sole_methods(self.kinds)
        for module in self.modules:
            for use in module.mentions.uses:
                full = methods.get(use.attribute) or self.resolved(use.name)
                if full:
                    self.uses[full].add(module.piece(use.line))

    def resolved(self, name: str) -> str:
        """Return the defined name that a dotted name reaches, through re-exports.

        A name that leads out of the book is returned as it is, and one that names
        only a module of the book as nothing.
        """
        for _ in range(10):
            parts = name.split(".")
            heads = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
            known = next((head for head in heads if head in self.kinds), "")
            module = next((head for head in heads if head in self.aliases), "")
            if known or not module:
                return known or name
            rest = name.removeprefix(f"{module}.").partition(".")
            target = self.aliases[module].get(rest[0]) if module != name else None
            if target is None:
                return ""
            name = "".join([target, rest[1], rest[2]])
        return ""


def _sole_methods(kinds: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return, by its bare name, each method that cannot be taken for another.

    That is so if one class defines it, and no type that Python has built in.
    """
    taken = {name for kind in vars(builtins).values() for name in dir(kind)}
    found: dict[str, list[str]] = defaultdict(list)
    for full, (_, kind) in kinds.items():
        if kind == "method":
            found[full.rpartition(".")[2]].append(full)
    return {
        n: full[0] for n, full in found.items() if len(full) == 1 and n not in taken
    }
