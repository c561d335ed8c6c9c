"""What a module has for others to use, read from its source.

An `Entry` is what Sphinx's domain for Python calls an object: its kind, and its head
and options in the words of that domain's directives.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .api_text import Docstring

Function = ast.FunctionDef | ast.AsyncFunctionDef
FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)
COMMENT = re.compile(r"\s*#\s*(.+)$")
LONGEST_VALUE = 60  # letters; of a longer value only the type and comment are shown
# What a class lets its objects stand in.
FORMS = {
    "add": "a + b",
    "sub": "a - b",
    "mul": "a * b",
    "truediv": "a / b",
    "matmul": "a @ b",
    "pow": "a ** b",
    "neg": "-a",
    "eq": "a == b",
    "lt": "a < b",
    "call": "a(...)",
    "len": "len(a)",
    "getitem": "a[i]",
    "contains": "x in a",
    "iter": "for x in a",
    "enter": "with a",
}


@dataclass(frozen=True)
class Entry:
    """A name that others may use; `path` is its name within `module`."""

    module: str
    path: str
    kind: str
    line: int
    head: str
    docstring: Docstring
    options: dict[str, str] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    members: tuple[Entry, ...] = ()

    @property
    def full(self) -> str:
        """The name by which a program would import it."""
        return f"{self.module}.{self.path}"

    @property
    def parameters(self) -> set[str]:
        """The names of what it takes."""
        parsed = ast.parse(f"def {self.head}: ..." if "(" in self.head else "")
        return {node.arg for node in ast.walk(parsed) if isinstance(node, ast.arg)}

    def all(self) -> Iterator[Entry]:
        """Yield the entry and its members."""
        yield self
        yield from self.members


class Module:
    """A module of the package."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = text.splitlines()
        self.tree = ast.parse(text)
        self.docstring = Docstring.of(self.tree)
        classes = (node for node in self.tree.body if isinstance(node, ast.ClassDef))
        self.classes = {node.name: node for node in classes}
        self.aliases = {
            names[0]: value
            for names, _, value in map(assigned, self.tree.body)
            if len(names) == 1 and value is not None
        }
        self.entries = tuple(self._entries())

    def exported(self, package: str) -> dict[str, str]:
        """Return what `__all__` lists, with the full names that it comes from."""
        origins = {
            alias.asname or alias.name: f"{package}.{node.module}.{alias.name}"
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        listed = [
            ast.literal_eval(value)
            for names, _, value in map(assigned, self.tree.body)
            if names == ["__all__"] and value is not None
        ]
        return {name: origins[name] for names in listed for name in names}

    def _entries(self) -> Iterator[Entry]:
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef):
                found = [self._class(node)]
            elif isinstance(node, FunctionNode):
                found = [self._function(node)]
            else:
                found = list(self._constants(node))
            yield from (each for each in found if not each.path.startswith("_"))

    def _class(self, node: ast.ClassDef) -> Entry:
        methods = [each for each in node.body if isinstance(each, FunctionNode)]
        public = [each for each in methods if not each.name.startswith("_")]
        bases = map(ast.unparse, node.bases)
        return Entry(
            self.name,
            node.name,
            "class",
            node.lineno,
            node.name + self._construction(node),
            Docstring.of(node),
            bases=tuple(base for base in bases if not base.startswith("_")),
            forms=tuple(self._forms(methods)),
            members=(
                *self._attributes(node),
                *(self._method(each, node) for each in public),
            ),
        )

    def _construction(self, node: ast.ClassDef) -> str:
        """Return the parameters with which an object is made, None being unknown."""
        made = {each.name: each for each in node.body if isinstance(each, FunctionNode)}
        written = made.get("__init__") or made.get("__new__")
        if written:
            return f"({parameters(written, method=True)})"
        marks = " ".join(map(ast.unparse, [*node.decorator_list, *node.bases]))
        if not re.search(r"\b(dataclass|NamedTuple)\b", marks):
            return ""
        return f"({', '.join(map(ast.unparse, fields(node)))})"

    def _forms(self, methods: list[Function]) -> Iterator[str]:
        """Yield what special methods let an object stand in."""
        names = [each.name.strip("_") for each in methods if is_special(each.name)]
        for name in filter(names.__contains__, FORMS):
            yield FORMS[name]
            if name == "getitem":
                yield from self._several_indices(methods)

    def _several_indices(self, methods: list[Function]) -> Iterator[str]:
        """Yield the forms of a key that is a tuple, of which an overload tells."""
        for method in methods:
            key = method.args.args[-1].annotation
            if method.name == "__getitem__" and key:
                meant = self.aliases.get(ast.unparse(key), key)
                pair = re.fullmatch(r"tuple\[(.+)\]", ast.unparse(meant))
                if pair:
                    count = pair[1].count(",") + 1
                    yield f"a[{', '.join('ijkl'[:count])}]"

    def _attributes(self, node: ast.ClassDef) -> Iterator[Entry]:
        """Yield the fields of an object, also those that a private base gives it."""
        told = dict(Docstring.of(node).items("Fields"))
        private = [self.classes.get(ast.unparse(base)) for base in node.bases]
        owners = [each for each in private if each and each.name.startswith("_")]
        typed = [each for owner in [*owners, node] for each in annotated(owner)]
        types = {ast.unparse(each.target): each for each in typed}
        for name in dict.fromkeys([*types, *told]):
            if not name.startswith("_"):
                at = types.get(name)
                text = told.get(name) or (self._comment(at) if at else "")
                options = {"type": ast.unparse(at.annotation)} if at else {}
                line = at.lineno if at else node.lineno
                path = f"{node.name}.{name}"
                yield Entry(
                    self.name, path, "attribute", line, name, Docstring(text), options
                )

    def _method(self, node: Function, owner: ast.ClassDef) -> Entry:
        marks = {ast.unparse(each) for each in node.decorator_list}
        path = f"{owner.name}.{node.name}"
        docstring = Docstring.of(node)
        if marks & {"property", "cached_property"}:
            options = {"type": ast.unparse(node.returns)} if node.returns else {}
            return Entry(
                self.name, path, "property", node.lineno, node.name, docstring, options
            )
        options = {
            each: "" for each in ("classmethod", "staticmethod") if each in marks
        }
        bound = "staticmethod" not in marks
        head = signature(node, method=bound)
        return Entry(self.name, path, "method", node.lineno, head, docstring, options)

    def _function(self, node: Function) -> Entry:
        head, docstring = signature(node), Docstring.of(node)
        return Entry(self.name, node.name, "function", node.lineno, head, docstring)

    def _constants(self, node: ast.stmt) -> Iterator[Entry]:
        """Yield the names that a statement of the module gives a value."""
        names, annotation, value = assigned(node)
        values = value.elts if isinstance(value, ast.Tuple) else []
        each = values if len(names) == len(values) > 1 else [value] * len(names)
        for name, given in zip(names, each, strict=True):
            options = {"type": ast.unparse(annotation)} if annotation else {}
            shown = given and ast.get_source_segment("\n".join(self.lines), given)
            if shown and len(shown) <= LONGEST_VALUE and "\n" not in shown:
                options["value"] = shown
            text = Docstring(self._comment(node))
            yield Entry(self.name, name, "data", node.lineno, name, text, options)

    def _comment(self, node: ast.stmt) -> str:
        """Return the comment behind a statement."""
        line = self.lines[(node.end_lineno or node.lineno) - 1].encode()
        found = COMMENT.match(line[node.end_col_offset or 0 :].decode())
        return found[1] if found else ""


def is_special(name: str) -> bool:
    """Return whether a name is one of those that Python itself calls."""
    return name.startswith("__") and name.endswith("__")


def assigned(node: ast.stmt) -> tuple[list[str], ast.expr | None, ast.expr | None]:
    """Return the names to which a statement assigns, their type and their value."""
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)], node.annotation, node.value
    if not isinstance(node, ast.Assign):
        return [], None, None
    (target,) = node.targets[:1]
    several = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [each.id for each in several if isinstance(each, ast.Name)]
    return names, None, node.value


def annotated(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """Return the fields that a class declares."""
    return [each for each in node.body if isinstance(each, ast.AnnAssign)]


def fields(node: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Yield the fields that are given when an object is made."""
    for each in annotated(node):
        if "init=False" not in (ast.unparse(each.value) if each.value else ""):
            yield each


def signature(node: Function, *, method: bool = False) -> str:
    """Return a name with its parameters and result, as the source has them."""
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({parameters(node, method=method)}){result}"


def parameters(node: Function, *, method: bool) -> str:
    """Return the parameters of a function, without the object of a method."""
    found = ast.unparse(node.args)
    return re.sub(r"^(self|cls)(, /)?(, )?", "", found) if method else found
