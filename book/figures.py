"""Plots that live in the page: inline SVG, page colours, a text for every reader.

Cells of the book import this file; the package never does.
"""

from __future__ import annotations

import io
import re
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

# Text and axes take the page's own colour: this ink is replaced by `currentColor`.
INK = "#010203"
# Each is told apart from white and from the dark page at 3 : 1 or better.
PALETTE = ("#2f7fc1", "#c4622d", "#3d9a50", "#9a6fd0", "#8a8a8a")

mpl.rcParams.update(
    {
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.prop_cycle": mpl.cycler(color=PALETTE),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.frameon": False,
        "svg.fonttype": "none",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
)


class Inline:
    """An SVG picture with a text that says what it shows."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        return self.svg


def axes(width: float = 6.4, height: float = 3.8) -> tuple[Figure, mpl.axes.Axes]:
    """Return a figure of the given size in inches, with one set of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def inline(figure: Figure, alt: str) -> Inline:
    """Return `figure` as SVG for the page; `alt` says what it shows and means."""
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": alt}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    used = set(re.findall(r"[(\"]#([\w.-]+)", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda m: m[0] * (m[1] in used), svg)
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    attributes = f' class="plot" role="img" aria-label="{escape(alt)}"'
    return Inline(svg.replace("<svg", "<svg" + attributes, 1))
