"""A small sound book on disk, for the tests of what is done with a book."""

from __future__ import annotations

from pathlib import Path

FRONT = "---\nfile_format: mystnb\n---\n"
SETTINGS = "[tool.mystangle]\n\n[tool.ruff.lint]\nselect = ['E', 'F', 'I']\n"
ONE = """
```{code-cell} python
#| file: pkg/value.py
\"\"\"A value.\"\"\"

# <<(imports)>>


def half(x: float) -> float:
    # <<Refuse what is not a number>>
    return x / 2
```

```{code-cell} python
#| id: (imports)
import math
```

```{code-cell} python
#| id: Refuse what is not a number
if math.isnan(x):
    raise ValueError(x)
```
"""
TWO = """
```{code-cell} python
#| file: pkg/twice.py
from pkg.value import half


def twice(x: float) -> float:
    return x * 4 * half(1)
```

```{code-cell} python
#| replace: Refuse what is not a number
#| because: infinities are no numbers either
if not math.isfinite(x):
    raise ValueError(x)
```
"""


def write(root: Path, settings: str = SETTINGS, **chapters: str) -> Path:
    """Write chapters `one` and `two`, or those given, and return `root`."""
    texts = chapters or {"one": ONE, "two": TWO}
    (root / "book").mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    entries = "".join(f"- file: book/{name}\n" for name in list(texts)[1:])
    toc = f"format: jb-book\nroot: book/{next(iter(texts))}\n"
    (root / "_toc.yml").write_text(toc + ("chapters:\n" + entries if entries else ""))
    for name, text in texts.items():
        (root / "book" / f"{name}.md").write_bytes((FRONT + text).encode())
    return root
