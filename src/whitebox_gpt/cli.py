"""The command line: run a stage's demonstration, draw a graph of arithmetic."""

from __future__ import annotations

import argparse
import ast
import operator
import os
import pkgutil
import reprlib
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from . import stages
from .draw import draw
from .errors import GrammarError, WhiteboxError
from .value import Value

OPERATORS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS = {"exp": Value.exp, "log": Value.log, "relu": Value.relu}


# Read a program and return its root
def read(program: str) -> Value:
    """Return the last value of a program of arithmetic.

    A statement is `name = expression` or, at the end, an expression: numbers,
    names, + - * / **, and exp, log and relu of one operand.
    Errors: GrammarError for anything else; DomainError and KindError as Value's.
    Source: book/command_line.md
    """
    names: dict[str, Value] = {}
    try:
        *steps, last = _statements(program)
        for step in steps:
            # Make a node and name it
            match step:
                case ast.Assign(targets=[ast.Name(id=name)], value=expression):
                    names[name] = _value(expression, names).named(name)
                case _:
                    raise _refusal("a line must be `name = expression`", step)
        # Make the root
        if not isinstance(last, ast.Expr):
            raise _refusal("the last line must be an expression", last)
        return _value(last.value, names)
    except RecursionError:
        rule = "the program must be nested less deeply"
        raise GrammarError("graph", rule, "more levels than Python can go") from None


# Split a program into statements
def _statements(program: str) -> list[ast.stmt]:
    try:
        statements = ast.parse(program.strip()).body
    except (SyntaxError, ValueError, MemoryError) as error:
        got = getattr(error, "msg", None) or str(error) or "too many levels"
        raise GrammarError("graph", "the program must be arithmetic", got) from None
    if not statements:
        raise GrammarError("graph", "the program must hold an expression", "nothing")
    return statements


# Turn an expression into nodes
def _value(expression: ast.expr, names: dict[str, Value]) -> Value:
    match expression:
        case ast.Constant(value=int() | float() as number) if not _is_bool(number):
            return Value(number)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _value(base, names) ** _constant(exponent)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            apply = OPERATORS[type(op)]
            return apply(_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]) if (
            name in FUNCTIONS
        ):
            return FUNCTIONS[name](_value(operand, names))
    raise _refusal("only numbers, known names, + - * / **, exp, log, relu", expression)


def _is_bool(number: float) -> bool:
    return isinstance(number, bool)


# Read an exponent as a constant
def _constant(expression: ast.expr) -> float:
    match expression:
        case ast.Constant(value=int() | float() as number) if not _is_bool(number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_constant(operand)
    raise _refusal("an exponent must be a number", expression)


# Refuse a place in a program
def _refusal(rule: str, place: ast.expr | ast.stmt) -> GrammarError:
    where = f"graph: line {place.lineno}, column {place.col_offset + 1}"
    try:
        piece = reprlib.repr(ast.unparse(place))
    except (ValueError, RecursionError):  # an integer too long to print, say
        piece = f"a piece of kind {type(place).__name__}"
    return GrammarError(where, rule, piece)


# Find the demonstration of a stage
def _demonstration(number: int) -> Callable[[], None]:
    names = [module.name for module in pkgutil.iter_modules(stages.__path__)]
    stage = {int(name.split("_")[1]): name for name in names}
    if number not in stage:
        rule = f"N must be one of {', '.join(map(str, sorted(stage)))}"
        raise GrammarError("stage", rule, str(number))
    module = import_module(f"{stages.__name__}.{stage[number]}")
    demonstration: Callable[[], None] = module.main
    return demonstration


# Choose the command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run `whitebox-gpt` and return its exit status.

    0: done. 1: the package refused, or an observation was wrong. 2: the command or
    the program was not understood.
    Errors: SystemExit, with status 2, if the command was not understood.
    Source: book/command_line.md
    """
    options = _parser().parse_args(arguments)
    try:
        if options.command == "stage":
            _demonstration(options.number)()
        else:
            _graph(options.program, options.output, options.limit)
    except (WhiteboxError, OSError) as error:
        print(f"whitebox-gpt: {error}", file=sys.stderr)
        return 2 if isinstance(error, GrammarError) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="whitebox-gpt", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    stage = commands.add_parser("stage", help="run the demonstration of a stage")
    stage.add_argument("number", type=int, metavar="N", help="the stage's number")
    graph = commands.add_parser("graph", help="draw a graph of arithmetic as SVG")
    graph.add_argument("program", help="lines of arithmetic, or a file that holds them")
    graph.add_argument("-o", "--output", type=Path, help="the file to write")
    graph.add_argument("--limit", type=int, default=60, help="most nodes to draw")
    return parser


def _graph(program: str, output: Path | None, limit: int) -> None:
    root = read(_text(program))
    root.backward(limit)
    picture = draw(root, limit)
    if output is None:
        print(picture.encode("ascii", "xmlcharrefreplace").decode())
    else:
        output.write_text(picture, encoding="utf-8")


def _text(program: str) -> str:
    if not os.path.exists(program):
        return program
    try:
        return Path(program).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        rule, got = "the file must be UTF-8", f"{error.reason} at byte {error.start}"
        raise GrammarError(f"graph: {program}", rule, got) from None


if __name__ == "__main__":
    sys.exit(main())
