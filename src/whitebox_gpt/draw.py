"""Draw a computation graph as an SVG picture, in pure Python."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from .errors import WhiteboxError, brief
from .real import require_real
from .value import Value, topological_order

BOX_WIDTH, BOX_HEIGHT = 132, 64
COLUMN_WIDTH, ROW_HEIGHT = BOX_WIDTH + 76, BOX_HEIGHT + 20
STRAIGHT = 44  # the last piece of an edge, with room for a number above it

Spot = Value | tuple[Value, int, int]  # a box, or where an edge passes
Point = tuple[float, float]


class Edge(NamedTuple):
    """One operand of one consumer, and the spots on the way back to it.

    Source: book/stage_01_value_graph.md
    """

    consumer: Value
    side: int  # 0 for the left operand, 1 for the right one
    spots: list[Spot]


# Let notebooks show the picture
class Drawing(str):
    """The text of an SVG picture; notebooks and books show the picture.

    Source: book/stage_01_value_graph.md
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


# Draw every edge, then every box
def draw(root: Value, limit: int = 60) -> Drawing:
    """Return a picture of `root` and of all it was made from.

    Errors: those of `topological_order`.
    Source: book/stage_01_value_graph.md
    """
    order = topological_order(root, limit)
    steps = {node: step for step, node in enumerate(order, 1)}
    edges = _edges(order)
    corners = _corners(root, edges)
    parts = [_curve(edge, corners, steps) for edge in edges]
    parts += [_box(node, step, *corners[node]) for node, step in steps.items()]
    # Wrap the parts into one picture
    width = max(x for x, _ in corners.values()) + BOX_WIDTH + 4
    height = max(y for _, y in corners.values()) + BOX_HEIGHT + 4
    return Drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img"'
        f' aria-label="{_shown(in_words(order))}" width="{width:g}" height="{height:g}"'
        f' viewBox="-2 -2 {width:g} {height:g}" font-family="monospace" font-size="13"'
        f' fill="none" stroke="currentColor">{"".join(parts)}</svg>'
    )


# Give a long edge a spot in each column it passes
def _edges(order: list[Value]) -> list[Edge]:
    """Return every edge of the graph."""
    # Measure the longest way to the root
    depth = dict.fromkeys(order, 0)
    for node in reversed(order):
        for operand in node.parents:
            depth[operand] = max(depth[operand], depth[node] + 1)
    edges: list[Edge] = []
    for node in reversed(order):
        for side, operand in enumerate(node.parents):
            passed = range(depth[node] + 1, depth[operand])
            spots: list[Spot] = [(node, side, column) for column in passed]
            edges.append(Edge(node, side, [*spots, operand]))
    return edges


# Set each column beside the consumers it feeds
def _corners(root: Value, edges: list[Edge]) -> dict[Spot, Point]:
    """Return the upper left corner of every spot."""
    fed: dict[Spot, list[Spot]] = {root: []}
    for edge in edges:
        for consumer, spot in pairwise([edge.consumer, *edge.spots]):
            fed.setdefault(spot, []).append(consumer)
    rows: dict[Spot, float] = {}
    columns: list[list[Spot]] = []
    # Place every column whose consumers are placed
    while len(rows) < len(fed):
        ready = [s for s in fed if s not in rows and all(c in rows for c in fed[s])]
        ready.sort(key=lambda spot: fmean([rows[c] for c in fed[spot]] or [0.0]))
        rows |= {spot: place - (len(ready) - 1) / 2 for place, spot in enumerate(ready)}
        columns.append(ready)
    top = min(rows.values())
    return {
        spot: (number * COLUMN_WIDTH, (rows[spot] - top) * ROW_HEIGHT)
        for number, column in enumerate(reversed(columns))
        for spot in column
    }


# Curve an edge to an arrow head at its consumer
def _curve(edge: Edge, corners: dict[Spot, Point], steps: dict[Value, int]) -> str:
    """Return an edge, drawn backwards from its arrow head."""
    tip_x, tip_y = corners[edge.consumer]
    tip_y += BOX_HEIGHT * (edge.side + 1) / (len(edge.consumer.parents) + 1)
    to_x, to_y, path = tip_x - STRAIGHT, tip_y, f"H{tip_x:g}m-7,-4l7,4l-7,4"
    for spot in edge.spots:
        x, y = corners[spot][0] + BOX_WIDTH, corners[spot][1] + BOX_HEIGHT / 2
        half = (x + to_x) / 2
        path = f"H{x:g}C{half:g},{y:g} {half:g},{to_y:g} {to_x:g},{to_y:g}{path}"
        to_x, to_y = x - BOX_WIDTH, y
    # Return the curve
    slope = edge.consumer.local_derivatives[edge.side]
    step = f'data-step="{steps[edge.consumer]}"'
    operand = f'data-from="{steps[edge.consumer.parents[edge.side]]}"'
    return (
        f'<path {step} d="M{x:g},{y:g}{path}"/>'
        f'<text {step} {operand} x="{tip_x - 9:g}" y="{tip_y - 4:g}" font-size="12"'
        f' text-anchor="end" fill="currentColor" stroke="none">{slope:.3g}</text>'
    )


# Put the facts of a node into a box
def _box(node: Value, step: int, x: float, y: float) -> str:
    """Return a node's box; a leaf has round ends."""
    radius = 3 if node.operation else BOX_HEIGHT / 2
    lines = _facts(node)
    middle = x + BOX_WIDTH / 2
    first = y + BOX_HEIGHT / 2 + 5 - 9 * (len(lines) - 1)
    texts = "".join(
        f'<text x="{middle:g}" y="{first + 18 * row:g}">{_shown(line)}</text>'
        for row, line in enumerate(lines)
    )
    # Return the box
    name = _shown(_label(node) or node.operation or "number")
    return (
        f'<g data-step="{step}" data-name="{name}" fill="currentColor" stroke="none"'
        f' text-anchor="middle"><rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}"'
        f' height="{BOX_HEIGHT}" rx="{radius:g}" fill="none" stroke="currentColor"/>'
        f"{texts}</g>"
    )


# Choose the facts
def _facts(node: Value) -> list[str]:
    data, grad = _number(node.data), _number(node.grad)
    return [_title(node), f"data {data:.13}", f"grad {grad:.13}"]


# Name the node in its box
def _title(node: Value) -> str:
    room = max(0, 15 - len(node.operation))
    title = f"{_label(node)[:room]} {node.operation}".strip() or "number"
    return title[:16]


# Write a number, or what stands in its place
def _number(thing: object) -> str:
    try:
        return f"{require_real('draw', 'a number', thing):.6g}"
    except WhiteboxError:
        return brief(thing)


# Write a label, or what stands in its place
def _label(node: Value) -> str:
    return node.label if isinstance(node.label, str) else brief(node.label)


# Say the graph in words
def in_words(order: list[Value]) -> str:
    """Return the graph as a sentence, for those who see no picture.

    `order` is that of `topological_order`.
    Source: book/stage_01_value_graph.md
    """
    names = {node: _label(node) or f"node {i}" for i, node in enumerate(order, 1)}
    facts = []
    for node in order:
        operands = " and ".join(names[operand] for operand in node.parents)
        made = f", by {node.operation} of {operands}" if operands else ""
        facts.append(f"{names[node]} is {_number(node.data)}{made}")
    # Return what was said
    arrived: dict[Value, str] = dict.fromkeys(order, "")
    for node in reversed(order):
        for operand, slope in zip(node.parents, node.local_derivatives, strict=True):
            arrived[operand] += f", by {slope:.3g} from {names[node]}"
    gradients = [f"{names[n]} {_number(n.grad)}{arrived[n]}" for n in reversed(order)]
    return f"Computation graph: {'; '.join(facts)}. Gradients: {'; '.join(gradients)}."


# Keep to characters that can be shown
def _shown(text: str) -> str:
    """Return `text` for XML, with a mark for what has no shape."""
    mark = "\N{REPLACEMENT CHARACTER}"
    return escape("".join(c if c.isprintable() else mark for c in text))
