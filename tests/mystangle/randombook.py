"""Random small books and modules, for properties that must hold of every one."""

from __future__ import annotations

from pathlib import Path
from random import Random

FRONT = "---\nfile_format: mystnb\n---\n\n# A chapter\n"
STATEMENTS = (
    "x = 1",
    "# why\nx = 1",
    "import os",
    's = """a\n  b\n\n"""',
    "s = f'''{x}\n {x!r}\n'''",
    "s = 'a\\\nb'",
    "t = [\n    1,\n\n    2,\n]",
    'def f(a):\n    """Doc.\n\n      More.\n    """\n\n    return a',
    "if x:\n    y = 1\n\nelse:\n    y = 2",
    "@f\nclass A:\n    y = 1",
)
SUITES = (
    "def g():\n    pass  # <<{}>>",
    "class B:\n    y = 1\n    # <<{}>>\n    z = 2",
    "if x:\n\n    # why\n    y = 1\n\n    # <<{}>>\nelse:\n    pass  # <<{}>>",
    "# <<{}>>",
)


class RandomBook:
    """A sound book of up to three chapters with one file, made from a seed.

    Chunks stand in any order and any chapter; the last chapter continues some of them
    and replaces some that refer to nothing.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = 0
        self.cells: list[list[str]] = [[] for _ in range(self.random.randint(1, 3))]
        self.leaves: list[str] = []
        self.add("file: pkg/x.py", depth=0)
        for cells in self.cells:
            self.random.shuffle(cells)
        for name in self.leaves:
            if self.random.random() < 0.3:
                key = f"replace: {name}\n#| because: it was wrong"
                self.cells[-1].append(self.cell(key, self.statement()))
            if self.random.random() < 0.3:
                self.cells[-1].append(self.cell(f"append: {name}", self.statement()))

    def write(self, root: Path) -> None:
        """Write the table of contents and the chapters below `root`."""
        root.mkdir(parents=True, exist_ok=True)
        names = [f"c{number}" for number in range(1, len(self.cells) + 1)]
        toc = [f"root: {names[0]}", "chapters:", *(f"- file: {n}" for n in names[1:])]
        (root / "_toc.yml").write_text("\n".join(toc if names[1:] else toc[:1]))
        for name, cells in zip(names, self.cells, strict=True):
            text = FRONT + "\nprose\n".join(["", *cells])
            (root / f"{name}.md").write_text(text, encoding="utf-8")

    def cell(self, option: str, body: str) -> str:
        return f"```{{code-cell}} python\n#| {option}\n{body}\n```\n"

    def add(self, option: str, depth: int) -> None:
        """Write a chunk, and its children, each into some chapter."""
        parts = [self.part(depth) for _ in range(self.random.randint(1, 4))]
        body = "\n".join(parts)
        chapter = self.random.randrange(len(self.cells))
        self.cells[chapter].append(self.cell(option, body))
        if "<<" not in body and "id: " in option and chapter < len(self.cells) - 1:
            self.leaves.append(option.removeprefix("id: "))

    def part(self, depth: int) -> str:
        """Return some statements, with references if there is depth left."""
        blank = "\n" * self.random.choice((0, 0, 1, 3))
        if depth > 2 or self.random.random() < 0.5:
            return self.statement() + blank
        pattern = self.random.choice(SUITES)
        return pattern.format(*self.children(pattern.count("{}"), depth)) + blank

    def statement(self) -> str:
        return self.random.choice(STATEMENTS)

    def children(self, count: int, depth: int) -> list[str]:
        names = []
        for _ in range(count):
            self.names += 1
            number = self.names
            silent = self.random.random() < 0.2
            names.append(f"({number})" if silent else f"Chunk {number}")
            self.add(f"id: {names[-1]}", depth + 1)
        return names


def random_module(random: Random, depth: int = 0, kind: str = "module") -> list[str]:
    """Return the lines of a suite of statements and comments, without blank lines."""
    indent = "    " * depth
    lines = []
    if kind in ("module", "class", "def") and random.random() < 0.5:
        lines.append(f'{indent}"""Doc."""')
    for _ in range(random.randint(1, 4)):
        for number in range(2):
            if random.random() < 0.2:
                lines.append(f"{indent}# comment {number}")
        lines += _statement(random, depth, indent)
    return lines


def _statement(random: Random, depth: int, indent: str) -> list[str]:
    choice = random.choice(
        ("x", "x", "import", "string", *(BLOCKS if depth < 3 else ()))
    )
    if choice == "x":
        return [f"{indent}x = 1"]
    if choice == "import":
        return [f"{indent}import os"]
    if choice == "string":
        return [f'{indent}s = """a', "", "  b", '"""']
    lines = []
    for header in choice.split("|"):
        kind = header.split()[0]
        lines.append(indent + header)
        if not header.startswith("@"):
            lines += random_module(random, depth + 1, kind)
    return lines


BLOCKS = (
    "def f(self):",
    "@decorated|def f(self):",
    "class A:",
    "if x:",
    "if x:|else:",
    "for x in y:|else:",
    "try:|except E:",
    "try:|finally:",
    "with x:",
    "async def f(self):",
)
