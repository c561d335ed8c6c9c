"""Mathematics as MathML Core, made while the site is built.

A page needs no script and asks nobody for a font.  The TeX stays in the page as an
annotation, so that a reader can copy it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)
# Sphinx numbers equations; an environment that does so too is made one that does not.
QUIET = {
    "align": "aligned",
    "split": "aligned",
    "multline": "gathered",
    "gather": "gathered",
}
NUMBERED = re.compile(r"\\(begin|end)\{(align|split|multline|gather|equation)\*?\}")
INNER = re.compile(r"\\begin\{(\w+)\}.*?\\end\{\1\}", re.DOTALL)
PLACE = re.compile(r"(\d+): (.*)", re.DOTALL)
CLOSING = re.compile(r"[.,;:!?)\]]+")
UNSEEN = re.compile(r"<annotation\b.*?</annotation>|<[^>]*>", re.DOTALL)
LONG = 24  # signs in a line that a phone may not hold


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; `html_math_renderer: mathml` chooses it."""
    app.add_config_value("mathml_macros", {}, "html")
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.add_post_transform(KeepPunctuation)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class KeepPunctuation(SphinxPostTransform):
    """Keep what closes a formula on its line: browsers break the line between them."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            around = formula.parent
            place = next(i for i, node in enumerate(around) if node is formula) + 1
            after = around[place] if place < len(around) else None
            closing = CLOSING.match(after) if isinstance(after, nodes.Text) else None
            if closing:
                formula["closing"] = closing[0]
                around[place] = nodes.Text(after[closing.end() :])


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands in a line of text; a long one may have to scroll."""
    mathml = to_mathml(self, node, node.astext(), display=False)
    closing = self.encode(node.get("closing", ""))
    long = len(unescape(UNSEEN.sub("", mathml))) >= LONG
    reach = ' tabindex="0"' if long else ""
    self.body.append(
        f'<span class="mathml notranslate nohighlight"{reach}>{mathml}{closing}</span>'
    )
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, which scrolls if it is wider than the page."""
    self.body.append(
        self.starttag(node, "div", "", CLASS="mathml-block notranslate nohighlight")
    )
    mathml = to_mathml(self, node, node.astext(), display=True)
    self.body.append(f'<div class="mathml-scroll" tabindex="0">{mathml}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def to_mathml(
    self: HTML5Translator, node: nodes.Element, tex: str, *, display: bool
) -> str:
    """Return the MathML of `tex`; warn if it has a mistake, and show it as it is."""
    macros: dict[str, str] = self.config.mathml_macros
    body, lead = aligned(tex) if display else (tex, 0)
    try:
        mathml = converter(tuple(sorted(macros.items()))).convert_with_local_state(
            body, displaystyle=display
        )
    except LatexError as error:
        place = PLACE.fullmatch(str(error))
        offset, text = (int(place[1]), place[2]) if place else (0, str(error))
        row = tex[: max(offset - lead, 0)].count("\n")
        LOG.warning(
            "formula: %s In: %s",
            text,
            " ".join(tex.split()),
            location=(self.builder.current_docname, (node.line or 1) + row),
            type="mathml",
            subtype="tex",
        )
        return f"<code>{escape(tex)}</code>"
    return mathml


def aligned(tex: str) -> tuple[str, int]:
    """Return display mathematics that math-core breaks into lines as LaTeX would.

    Also returned is how many characters were put before it.
    """
    quiet = NUMBERED.sub(_quiet, tex)
    outside = INNER.sub("", quiet)
    if r"\\" not in outside:
        return quiet, 0
    name = "aligned" if "&" in outside else "gathered"
    begin = rf"\begin{{{name}}}"
    return rf"{begin}{quiet}\end{{{name}}}", len(begin)


def _quiet(found: re.Match[str]) -> str:
    name = QUIET.get(found[2])
    return rf"\{found[1]}{{{name}}}" if name else ""


@lru_cache
def converter(macros: tuple[tuple[str, str], ...]) -> LatexToMathML:
    """Return the converter that knows these macros."""
    return LatexToMathML(macros=dict(macros), annotation=True, fancy_error=False)
