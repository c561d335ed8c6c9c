"""A chunk leads to the entries of the names it defines, whatever page has them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import smallbook

SETTINGS = """\
title: Small
sphinx:
  extra_extensions: [mystangle.sphinx]
"""
ONE = """
# One

```{code-cell} python
#| file: pkg/hello.py
LOUD = 2

# <<Greet by name>>


class Bell:
    sound = "ding"

    # <<Ring once>>
```

```{code-cell} python
#| id: Greet by name
def hello(name: str) -> str:
    return f"Hello, {name}."
```

```{code-cell} python
#| id: Ring once
def ring(self) -> str:
    return self.sound
```
"""
TWO = """
# Two

```{code-cell} python
#| replace: Greet by name
#| because: people like it warmer
def hello(name: str) -> str:
    return f"Dear {name}!"
```
"""
BARE = "\n# Reference\n\nNothing is documented yet.\n"
HELLO = "\n```{py:function} pkg.hello.hello(name: str) -> str\nGreet.\n```\n"
BELL = """
:::::{py:class} pkg.hello.Bell
A bell.
::::{py:method} ring() -> str
Ring once.
::::
:::::
"""
REFERENCE = "api.html#pkg.hello"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A book of two chapters and a page that documents nothing, built once."""
    smallbook.write(tmp_path, one=ONE, two=TWO, api=BARE)
    (tmp_path / "_config.yml").write_text(SETTINGS, "utf-8")
    build(tmp_path)
    return tmp_path


def build(folder: Path) -> None:
    """Build with the plain command, in which any warning is an error."""
    done = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", "."],
        cwd=folder,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def document(folder: Path, text: str) -> None:
    (folder / "book" / "api.md").write_text(smallbook.FRONT + text, "utf-8")
    build(folder)


def entries(folder: Path, page: str) -> dict[str, list[str]]:
    """Return where each chunk of a page leads in the reference, by its anchor."""
    html = (folder / "_build" / "html" / "book" / f"{page}.html").read_text("utf-8")
    figures = re.findall(r'<figure[^>]* id="([^"]*)">(.*?)</figure>', html, re.S)
    assert figures
    return {
        anchor: re.findall(r'href="(api\.html[^"]*)"', inside)
        for anchor, inside in figures
    }


def test_chunks_follow_what_another_page_documents(small: Path) -> None:
    """The pages of the chapters stay as they are; only the reference changes."""
    none = {anchor: [] for anchor in entries(small, "one")}
    assert entries(small, "one") == none

    document(small, f"{BARE}{HELLO}{BELL}")
    assert entries(small, "one") == {
        "chunk--pkg-hello-py": [f"{REFERENCE}.Bell"],
        "chunk--greet-by-name": [f"{REFERENCE}.hello"],
        "chunk--ring-once": [f"{REFERENCE}.Bell.ring"],
    }
    assert entries(small, "two") == {"chunk--greet-by-name": [f"{REFERENCE}.hello"]}

    document(small, f"{BARE}{BELL}")
    assert entries(small, "one")["chunk--greet-by-name"] == []
    assert entries(small, "one")["chunk--ring-once"] == [f"{REFERENCE}.Bell.ring"]
