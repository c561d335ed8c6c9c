"""What every docstring of the package says: a sentence, its chapter, its errors."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

import pytest
from support import ROOT

import whitebox_gpt.errors
from mystangle import Book, Settings

Definition = ast.ClassDef | ast.FunctionDef
BOOK = Book.read(Settings.load(ROOT))
FILES = {
    path: file
    for path, file in BOOK.snapshot().files.items()
    if path.startswith("whitebox_gpt/") and "/stages/" not in path
}
ERRORS = {name for name in vars(whitebox_gpt.errors) if name.endswith("Error")}
NAMES_ERRORS = re.compile(r"[A-Z]\w*Error\b|^Errors: (those of|as for) \S", re.M)


def definitions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, Definition]]:
    """Yield what a module or a class defines, by its name or CLASS.NAME."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, Definition):
            yield owner + each.name, each
            if isinstance(each, ast.ClassDef):
                yield from definitions(each, f"{each.name}.")


DEFINED = {p: dict(definitions(ast.parse(file.text))) for p, file in FILES.items()}
ALL = [
    pytest.param(path, name, id=f"{path.partition('/')[2]}:{name}")
    for path, found in DEFINED.items()
    for name in found
    if not re.search(r"(^|\.)_", name)
]
HOMES = {name: p for p, found in DEFINED.items() for name in found if "." not in name}


def docstring(path: str, name: str) -> str:
    return ast.get_docstring(DEFINED[path][name]) or ""


def acts(node: ast.AST) -> Iterator[ast.Raise | ast.Call]:
    """Yield what is raised and called, but where errors of the package are caught."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.Call) or (isinstance(each, ast.Raise) and each.exc):
            yield each
        handlers = each.handlers if isinstance(each, ast.Try) else []
        if not any(h.type and "WhiteboxError" in ast.unparse(h.type) for h in handlers):
            yield from acts(each)


def can_refuse(path: str, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Return if a function raises or calls what does; of a class, its special ones."""
    owner = name.partition(".")[0]
    used = [each for each in DEFINED[path] if each.startswith(f"{name}.__")]
    for act in (act for each in used or [name] for act in acts(DEFINED[path][each])):
        if isinstance(act, ast.Raise):
            return True
        called = re.sub(r"^(self|cls)\.", f"{owner}.", ast.unparse(act.func))
        home = path if called in DEFINED[path] else HOMES.get(called)
        if home and called not in seen and can_refuse(home, called, seen | {called}):
            return True
    return False


@pytest.mark.parametrize(("path", "name"), ALL)
def test_it_says_a_sentence_in_short_lines(path: str, name: str) -> None:
    text = docstring(path, name)
    assert re.match(r"[A-Z\d].*?[.](\s|$)", text.partition("\n\n")[0], re.S), text
    written = DEFINED[path][name].body[0]
    lines = FILES[path].text.splitlines()[written.lineno - 1 : written.end_lineno]
    assert max(map(len, lines)) <= 84
    assert {*re.findall(r"[A-Z]\w*Error\b", text)} <= ERRORS | {*dir(builtins)}


@pytest.mark.parametrize(("path", "name"), [p for p in ALL if p.values[1] in HOMES])
def test_its_source_is_a_chapter_that_defines_it(path: str, name: str) -> None:
    piece = FILES[path].lines[DEFINED[path][name].lineno - 1].piece
    versions = BOOK.history(piece.name) if piece else ()
    line = re.compile(rf"^ *(class|def) {name}\b", re.M)
    chapters = {v.chapter.path for v in versions if line.search("\n".join(v.body))}
    source = re.search(r"^Source: (book/\w+\.md)", docstring(path, name), re.M)
    assert source and source[1] in chapters, chapters


@pytest.mark.parametrize(("path", "name"), ALL)
def test_what_can_refuse_names_its_errors(path: str, name: str) -> None:
    if can_refuse(path, name):
        assert NAMES_ERRORS.search(docstring(path, name))
