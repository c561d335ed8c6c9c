"""What the index of identifiers knows: definitions, and uses that are no locals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
import smallbook

from mystangle import Book, Settings
from mystangle.sphinx.identifiers import Identifier, identifiers_of
from mystangle.sphinx.imports import module_of
from mystangle.sphinx.mentions import mentions_in
from mystangle.sphinx.states import States
from mystangle.sphinx.tangled import summary


def uses(code: str) -> set[str]:
    """Return the full names that a module `p.m` uses."""
    data = dedent(code).encode()
    return {use.name for use in mentions_in(module_of("p/m.py", data)).uses if use.name}


def test_definitions_are_those_of_the_module_and_of_its_classes() -> None:
    code = """
    from x import y
    LIMIT: int = 3
    A, (B, C) = 1, (2, 3)
    __all__ = ["f"]
    class K(y):
        field = 1
        def method(self): inner = 2
    async def f():
        def g(): pass
    if LIMIT:
        def h(): pass
    try:
        D = 1
    except ValueError:
        E = 2
    """
    found = mentions_in(module_of("p/m.py", dedent(code).encode())).definitions
    assert {(d.name, d.kind) for d in found} == {
        *((f"p.m.{name}", "constant") for name in ("LIMIT", "A", "B", "C", "D", "E")),
        ("p.m.K", "class"),
        ("p.m.K.method", "method"),
        ("p.m.f", "function"),
        ("p.m.h", "function"),
    }
    assert {d.line for d in found if d.kind == "class"} == {6}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(): pass\nf()", {"p.m.f"}),
        ("import a.b\na.b.c(1)", {"a.b.c"}),
        ("import a.b as d\nd.c", {"a.b.c"}),
        ("from .n import c as e\ne", {"p.n.c"}),
        ("from . import n\nn.c", {"p.n.c"}),
        ("from a import T\ndef f(x: T) -> None: ...", {"a.T"}),
        ("from a import D\n@D\ndef f(): ...", {"a.D"}),
        ("from a import D\ndef f(D=D): return D", {"a.D"}),
        ("from a import b\nclass K(b, metaclass=b): ...", {"a.b"}),
        ("def f():\n    from a import b\n    return b", {"a.b"}),
        # Locals of every kind hide what has the same name.
        ("X = 1\ndef f(X): return X", set()),
        ("X = 1\ndef f(*X): return X", set()),
        ("X = 1\ndef f():\n    X = 2\n    return X", set()),
        ("X = 1\ndef f():\n    for X in (): print(X)", set()),
        ("X = 1\ndef f():\n    with a() as X: X", set()),
        ("X = 1\ndef f():\n    try: ...\n    except E as X: X", set()),
        ("X = 1\ndef f(v):\n    match v:\n        case [X, *_]: X", set()),
        ("X = 1\ndef f(v):\n    match v:\n        case {**X}: X", set()),
        ("X = 1\ndef f():\n    if (X := 2): X", set()),
        ("X = 1\ndef f(X):\n    def g(): return X", set()),
        ("X = 1\ny = lambda X: X", set()),
        ("X = 1\ny = [X for X in ()]", set()),
        ("X = 1\ny = {a: b for a, X in () for b in X}", set()),
        ("X = 1\ndef f():\n    class X: ...\n    return X", set()),
        # … and no more than that.
        ("X = 1\ndef f():\n    global X\n    X = 2\n    return X", {"p.m.X"}),
        ("X = 1\ndef f():\n    def g(X): ...\n    return X", {"p.m.X"}),
        ("X = 1\ndef f(): return [y for y in X]", {"p.m.X"}),
        ("class K:\n    def a(self): self.b()\n    def b(self): ...", {"p.m.K.b"}),
        ("class K:\n    def a(self): self.b()\n    b = 1", set()),
        ("class K:\n  @staticmethod\n  def a(x): x.a()", set()),
    ],
)
def test_uses_are_found_where_the_name_is_no_local(code: str, names: set[str]) -> None:
    assert uses(code) == names


CHAPTERS = {
    "one": {
        "file: p/__init__.py": "from .value import Value",
        "file: p/value.py": "# <<The class>>\n\n\ndef half(x: float) -> float:\n"
        "    # <<(how to halve)>>\n    return LIMIT * x\n\n\nLIMIT = 0.5",
        "id: The class": "class Value:\n    def backward(self) -> None:\n"
        '        """Go back."""\n\n    def index(self) -> None:\n'
        '        """Look up."""',
        "id: (how to halve)": "x = x + 0",
    },
    "two": {
        "file: p/use.py": "import math\n\nimport p\nfrom p import Value\n"
        "from p.value import half\n\n\ndef use(v: Value) -> float:\n"
        "    v.backward()\n    [].index(1)\n    # <<Use it>>\n"
        "    return math.pi * half(1)",
        "id: Use it": "p.Value()",
        "replace: The class\n#| because: b": "class Value:\n"
        '    def backward(self) -> None:\n        """Go."""',
    },
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    texts = {
        chapter: f"\n# Chapter {chapter}\n\n"
        + "\n".join(
            f"```{{code-cell}} python\n#| {option}\n{code}\n```\n"
            for option, code in cells.items()
        )
        for chapter, cells in CHAPTERS.items()
    }
    root = smallbook.write(tmp_path_factory.mktemp("names"), **texts)
    read = Book.read(Settings.load(root))
    read.require_sound()
    return read


@pytest.fixture(scope="module")
def names(book: Book) -> dict[str, Identifier]:
    return {entry.full: entry for entry in identifiers_of(book, States(book))}


def places(entry: Identifier) -> tuple[list[str], list[str]]:
    """Return where a name is defined and where it is used."""
    both = (entry.definitions, entry.uses)
    defined, used = ([f"{p.chapter.number} {p.name}" for p in ps] for ps in both)
    return defined, used


def test_every_definition_counts_and_uses_follow_across_chapters(
    names: dict[str, Identifier],
) -> None:
    assert places(names["p.value.half"]) == (["1 p/value.py"], ["2 p/use.py"])
    # A re-export and a module's attribute lead to the class itself.
    assert places(names["p.value.Value"]) == (
        ["1 The class", "2 The class"],
        ["2 p/use.py", "2 Use it"],
    )
    assert not {"p.Value", "p", "p.value"} & names.keys()


def test_a_method_is_found_by_its_name_only_if_that_is_unmistakable(
    names: dict[str, Identifier],
) -> None:
    assert places(names["p.value.Value.backward"])[1] == ["2 p/use.py"]
    assert places(names["p.value.Value.index"]) == (["1 The class"], [])


def test_imports_from_elsewhere_are_listed_by_use(names: dict[str, Identifier]) -> None:
    assert places(names["math.pi"]) == ([], ["2 p/use.py"])
    assert names["math.pi"].module == ""


def test_names_are_sorted_and_know_their_module(names: dict[str, Identifier]) -> None:
    shown = [(e.name, e.kind) for e in names.values() if e.module == "p.value"]
    assert shown == [
        ("half", "function"),
        ("LIMIT", "constant"),
        ("Value", "class"),
        ("Value.backward", "method"),
        ("Value.index", "method"),
    ]


def test_a_state_is_made_by_each_chapter_that_changes_a_file(book: Book) -> None:
    states = States(book)
    assert states.paths == ["p/__init__.py", "p/use.py", "p/value.py"]
    first, second = states.of("p/value.py")
    assert (first.docname, second.docname) == (
        "tangled/p/value/one",
        "tangled/p/value/two",
    )
    assert len(first.added) == len(first.file.lines)
    assert first.removed == 0
    changed = [second.file.lines[row].text.strip() for row in sorted(second.added)]
    assert changed == ['"""Go."""']
    assert second.removed == 4
    assert states.after("p/__init__.py", 2) is states.of("p/__init__.py")[0]
    assert states.after("p/value.py", 1) is first
    # On a page before the file begins, it is the file as it will be in the end.
    assert states.after("p/use.py", 1) is states.of("p/use.py")[0]
    assert states.after("p/none.py", 2) is None


def test_what_became_of_a_file_is_said_of_one_line_and_of_many(tmp_path: Path) -> None:
    states = States(Book.read(Settings.load(smallbook.write(tmp_path))))
    one, two = (summary(state, "it") for state in states.of("pkg/value.py"))
    assert one.startswith("10 lines; all new in it. A line's")
    assert two.startswith("10 lines; it added the 1 that is marked with <")
    assert ". 1 of the lines before it is gone. A line's" in two
    many = replace(states.of("pkg/value.py")[1], added=frozenset({1, 2}), removed=2)
    assert "it added the 2 that are marked" in summary(many, "it")
    assert "2 of the lines before it are gone." in summary(many, "it")


def test_a_piece_lands_in_the_state_of_its_chapter(book: Book) -> None:
    states = States(book)
    old, new = book.history("The class")
    for piece, state in zip((old, new), states.of("p/value.py"), strict=True):
        assert states.place(piece) == (state, 1)  # below the comment of its name
    (quiet,) = book.history("(how to halve)")
    found = states.place(quiet)
    assert found
    state, row = found
    assert state.file.lines[row].text == "    x = x + 0"
