"""Which lines of a text are data, the same on every supported Python.

Also run on its own by other interpreters: it needs only the standard library.
"""

from __future__ import annotations

import ast

from mystangle.lexical import compiles, lex, parse

# Text, the 0-based lines that are data, those that are documentation.
CASES: tuple[tuple[str, set[int], set[int]], ...] = (
    ("x = 1\ny = 2", set(), set()),
    ("s = '''a\nb\n'''\nt = 1", {1, 2}, set()),
    ("s = 'a\\\nb'\nt = 1", {1}, set()),
    ("s = b'''a\nb'''", {1}, set()),
    ("s = f'''a\n{x}\nb'''\nt = 1", {1, 2}, set()),
    ("s = f'''{\nx\n}'''", {1, 2}, set()),
    ("s = f'''{x:{\ny}}\n'''", {1, 2}, set()),
    ("s = f'''{f\"{x}\"}\n''' f'''b\n'''", {1, 2}, set()),
    ('s = f\'\'\'{f"""a\n{x}"""}\nb\'\'\'\nt = f"{x}"\nu = 1', {1, 2}, set()),
    ("s = rf'''\\{x}\n{{}}\n'''", {1, 2}, set()),
    ("s = ('''a'''\n'''b\n''')", {2}, set()),
    ('"""Doc\nmore\n"""', set(), {1, 2}),
    ('def f():\n    """Doc\n    more\n    """\n    """not\n    """', {5}, {2, 3}),
    ('class A:\n    """Doc\\\n    more\n    """', {2}, {3}),
    ('async def f():\n    r"""Doc\n    """', set(), {2}),
    ('def f():\n    f"""no\n    doc"""', {2}, set()),
    ('def f():\n    b"""no\n    doc"""', {2}, set()),
    ('def f():\n    ("""do"""\n    """c\n    """)', set(), {3}),
    ("if x:\n    '''no\n    doc'''", {2}, set()),
    ("x = 1 + \\\n    2\ny = [\n]", set(), set()),
    ("# '''\nx = '#'\n", set(), set()),
)


def test_lines_that_begin_inside_a_string() -> None:
    for text, data, documentation in CASES:
        lexed = lex(text, parse(text))
        assert lexed.data == data, text
        assert lexed.documentation == documentation, text


def test_comments_are_tokens() -> None:
    text = "# a\nx = '# b'  # c\ns = f'''\n# d {x}\n'''\n  # e"
    comments = lex(text, parse(text)).comments
    assert [(c.row, c.text, c.before) for c in comments] == [
        (0, "# a", ""),
        (1, "# c", "x = '# b'  "),
        (5, "# e", "  "),
    ]


def test_every_failure_is_a_syntax_error() -> None:
    for text in ("(", "x = '\0'", "(" * 500 + ")" * 500, "return 1", "# coding: utf-7"):
        try:
            compiles(text, "x.py")
        except SyntaxError:
            continue
        raise AssertionError(text)


def test_nothing_is_warned_about() -> None:
    assert isinstance(parse("s = '\\d'"), ast.Module)
    compiles("s = '\\d'\nassert (s, 1)\n", "x.py")


if __name__ == "__main__":
    test_lines_that_begin_inside_a_string()
    test_comments_are_tokens()
    test_every_failure_is_a_syntax_error()
    test_nothing_is_warned_about()
