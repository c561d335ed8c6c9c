"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from support import ROOT

from mystangle import Book, Settings

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the contents of the README's fences in a language, without indentation."""
    fence = re.compile(rf"^( *)(`{{3,}}){language}\n(.*?)^\1\2$", re.M | re.S)
    return [re.sub(rf"^{m[1]}", "", m[3], flags=re.M) for m in fence.finditer(README)]


def test_the_session_prints_what_it_says() -> None:
    (session,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, "README", "README.md", 1)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted == 7 and result.failed == 0


def test_the_page_for_other_books_tangles_to_what_is_said(tmp_path: Path) -> None:
    (page,) = blocks("md")
    head = "---\nfile_format: mystnb\nkernelspec: {name: python3}\n---\n# Page\n\n"
    (tmp_path / "pyproject.toml").write_text("[tool.mystangle]\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text(head + page)
    book = Book.read(Settings.load(tmp_path))
    book.require_sound()
    assert book.snapshot().files["hello.py"].text == (
        "def hello(name):\n"
        "    # Refuse an empty name\n"
        "    if not name:\n"
        '        raise ValueError("name must not be empty")\n'
        '    return f"Hello, {name}."\n'
    )


def test_every_path_that_is_named_exists() -> None:
    table = README.partition("| path |")[2].partition("\n\n")[0]
    commands = "".join(line for line in README.splitlines(True) if "locate" in line)
    paths = re.findall(r"`([\w./]+)`", table.replace("make bench", ""))
    paths += re.findall(r"locate (\S+):", commands)
    assert len(paths) >= 9
    for path in paths:
        assert (ROOT / path).exists(), path
