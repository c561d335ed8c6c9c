"""What this site does to its theme: less weight, and nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import sha256
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from .foot import facts, footed
from .weight import lighten

STATIC = Path(__file__).parent / "static"
FORWARD = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8" />
<title>{title}</title>
<meta http-equiv="Refresh" content="0; url={page}" />
</head>
<body><p><a href="{page}">{title}</a></p></body>
</html>
"""
# Of a long name in a line of text: where it may break.
CODE = re.compile(r"<code\b.*?</code>", re.S)
SHOWN = re.compile(r"(?<=>)[^<]+")
LONG_NAME = re.compile(r"[\w./]{20,}")
JOINT = re.compile(r"(?<=[\w./][_/])(?=[^\W_])")
# The theme's script looks for the first of these names, and marks no section that is
# reached by a jump, from below, or near the page's end; `contents.js` marks them all.
CONTENTS = ('id="pst-page-toc-nav"', 'id="page-contents"')
# The theme's script says at once what the reader wants; without script pages are light.
THEME = ('data-theme="auto"', 'data-theme="light"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the site's style sheet, its scripts and its repairs."""
    app.connect("config-inited", add_static)
    app.connect("env-get-outdated", outdated)
    for sheet in ("site.css", "code.css"):
        app.add_css_file(sheet)
    for script in ("contents.js", "graph-steps.js", "paper.js"):
        app.add_js_file(script, loading_method="defer")
    app.connect("build-finished", finish, priority=900)  # the theme writes before it
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def add_static(app: Sphinx, config: Config) -> None:
    """Have Sphinx copy the site's own files."""
    config.html_static_path.append(str(STATIC))


def outdated(app: Sphinx, env: BuildEnvironment, *changed: set[str]) -> list[str]:
    """Return the front page if a file changed: Sphinx copies none if no page did."""
    last: str = env.__dict__.get("static_digest", "")
    now = env.__dict__["static_digest"] = digest(STATIC)
    return [] if now == last else [env.config.root_doc]


def digest(folder: Path) -> str:
    """Return a digest of the names and the bytes of a folder's files."""
    made = sha256()
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = file.relative_to(folder).as_posix()
        made.update(f"{name}\0{sha256(file.read_bytes()).hexdigest()}\n".encode())
    return made.hexdigest()


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Repair the pages when all are written."""
    if not exception and app.builder.name == "html":
        out = Path(app.outdir)
        remove_old(out, app.env.found_docs)
        lighten(out)
        said = facts(Path(app.confdir))
        for file in out.rglob("*.html"):
            text = file.read_text("utf-8")
            page = PurePosixPath(file.relative_to(out).as_posix())
            right = breakable(text.replace(*CONTENTS).replace(*THEME, 1))
            file.write_text(footed(right, page, said), "utf-8")
        (out / "index.html").write_text(forward(app.config), "utf-8")


def remove_old(out: Path, known: Collection[str]) -> None:
    """Remove what is left of pages that the book no longer has.

    Each page has a copy of its source; what the build makes by itself has none.
    """
    sources = out / "_sources"
    for source in sources.rglob("*.md"):
        page = source.relative_to(sources).with_suffix("")
        if page.as_posix() not in known:
            for file in (source, source.with_suffix(".ipynb"), out / f"{page}.html"):
                file.unlink(missing_ok=True)


def forward(config: Config) -> str:
    """Return the page at the site's root: it leads to the first."""
    page, title = f"{config.root_doc}.html", escape(config.html_title)
    return FORWARD.format(title=title, language=config.language, page=page)


def breakable(text: str) -> str:
    """Let long names in code break after a slash or an underscore, not in a word."""

    def joints(name: re.Match[str]) -> str:
        return JOINT.sub("<wbr/>", name[0])

    def words(shown: re.Match[str]) -> str:
        return LONG_NAME.sub(joints, shown[0])

    return CODE.sub(lambda code: SHOWN.sub(words, code[0]), text)
