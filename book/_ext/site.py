"""What this site does to its theme: less weight, and nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

STATIC = Path(__file__).parent / "static"
# The icons come with the theme's style sheet; this script (1.4 MB) draws them again.
ICON_SCRIPT = re.compile(
    r"\s*<(?:script|link)\b[^>]*\bfontawesome\.js[^>]*>(</script>)?"
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the site's style sheet and its repairs."""
    app.connect("config-inited", add_static)
    app.add_css_file("site.css")
    app.connect("build-finished", lighten)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def add_static(app: Sphinx, config: Config) -> None:
    """Have Sphinx copy the site's own files."""
    config.html_static_path.append(str(STATIC))


def lighten(app: Sphinx, exception: Exception | None) -> None:
    """Drop the script that no page needs, and the maps for the theme's makers."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        text = page.read_text("utf-8")
        light = ICON_SCRIPT.sub("", text)
        if light != text:
            page.write_text(light, "utf-8")
    for file in [*out.glob("_static/**/*.map"), *out.glob("_static/**/fontawesome.js")]:
        file.unlink()
