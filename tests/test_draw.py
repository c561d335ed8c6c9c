"""Pictures of graphs: every node a box, every operand an edge, nothing overlapping."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_stage_01_value_graph import first_graph, graphs, ladder

from whitebox_gpt import KindError, ResourceBudgetError, Value, topological_order
from whitebox_gpt.draw import draw
from whitebox_gpt.errors import brief

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


def parsed(root: Value) -> ElementTree.Element:
    """Return the picture as XML; a picture that is not well formed is an error."""
    return ElementTree.fromstring(draw(root))


def boxes(picture: ElementTree.Element) -> list[Box]:
    """Return the boxes, one for each node in topological order."""
    found = []
    for rect in picture.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        found.append(Box(x, y, x + w, y + h))
    return found


def curves(picture: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """Return the points that each edge runs through, from operand to consumer."""
    edges = []
    for path in picture.iter(f"{SVG}path"):
        shaft = path.attrib["d"].partition("m")[0]
        points: list[tuple[float, float]] = []
        for command, text in re.findall(r"([MHC])([^MHC]*)", shaft):
            numbers = [float(number) for number in NUMBER.findall(text)]
            x, y = numbers[-2:] if command != "H" else (numbers[0], points[-1][1])
            points.append((x, y))
        edges.append(points)
    return edges


def texts(picture: ElementTree.Element) -> list[list[str]]:
    """Return the lines of text in each box."""
    return [
        [text.text or "" for text in group.iter(f"{SVG}text")]
        for group in picture.iter(f"{SVG}g")
    ]


@given(graphs())
def test_every_node_is_a_box_and_every_operand_an_edge(root: Value) -> None:
    order, picture = topological_order(root), parsed(root)
    found = boxes(picture)
    assert len(found) == len(order)
    drawn: Counter[tuple[int, int]] = Counter()
    for (start_x, start_y), *_, (tip_x, tip_y) in curves(picture):
        (operand,) = (
            i
            for i, box in enumerate(found)
            if box.right == start_x and box.top < start_y < box.bottom
        )
        (consumer,) = (
            i
            for i, box in enumerate(found)
            if box.left == tip_x and box.top < tip_y < box.bottom
        )
        drawn[operand, consumer] += 1
    place = {node: i for i, node in enumerate(order)}
    meant = Counter((place[p], place[node]) for node in order for p in node.parents)
    assert drawn == meant


@given(graphs())
def test_no_two_boxes_overlap_and_all_are_in_view(root: Value) -> None:
    picture = parsed(root)
    found = boxes(picture)
    for a, b in combinations(found, 2):
        apart = a.right < b.left or b.right < a.left
        assert apart or a.bottom < b.top or b.bottom < a.top
    left, top, width, height = map(float, picture.attrib["viewBox"].split())
    assert min(b.left for b in found) > left
    assert min(b.top for b in found) > top
    assert max(b.right for b in found) < left + width
    assert max(b.bottom for b in found) < top + height


@given(graphs())
def test_no_edge_runs_through_a_box_or_to_the_left(root: Value) -> None:
    picture = parsed(root)
    found = boxes(picture)
    for points in curves(picture):
        for (x, y), (to_x, to_y) in pairwise(points):
            assert x <= to_x
            between = [b for b in found if b.left < to_x and x < b.right]
            low, high = min(y, to_y), max(y, to_y)
            assert not [b for b in between if b.top < high and low < b.bottom]


def test_an_operand_used_twice_has_two_edges_to_two_places() -> None:
    a = Value(3.0, "a")
    one, other = curves(parsed(a * a))
    assert one[0] == other[0]
    assert one[-1] != other[-1]


def test_an_edge_that_passes_a_column_keeps_clear_of_its_boxes() -> None:
    a = Value(3.0, "a")
    picture = parsed(a * a + a)
    assert sorted(map(len, curves(picture))) == [4, 4, 4, 6]


@given(graphs())
def test_an_edge_ends_in_a_straight_piece_with_room_for_five_letters(
    root: Value,
) -> None:
    for *_, (x, y), (tip_x, tip_y) in curves(parsed(root)):
        assert y == tip_y
        assert tip_x - 9 - x > 5 * 6.6  # a head, and letters of 11 px


def test_a_box_tells_label_operation_and_data() -> None:
    found = texts(parsed(first_graph()[-1]))
    assert [lines[0] for lines in found] == ["x", "y", "product *", "bias", "z +"]
    data = ["data 2", "data -3", "data -6", "data 10", "data 4"]
    assert [lines[1] for lines in found] == data
    assert texts(parsed(Value(0.5)))[0][:2] == ["number", "data 0.5"]


def test_a_long_label_is_cut_and_the_operation_stays() -> None:
    text = draw((Value(2.0) + 3.0).named("a label of many letters"))
    assert ">a label of man +<" in text


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        *(("3", "'3'"), (None, "None"), (True, "True"), (1j, "1j")),
        *((10**400, "an integer of"), (10**5000, "an integer of")),
        *((3, "3"), (Fraction(1, 2), "0.5"), (float("nan"), "nan")),
    ],
    ids=type,
)
def test_what_was_written_over_a_number_is_drawn(thing: Any, shown: str) -> None:
    a = Value(2.0, "a")
    z = a + 1.0
    a.data = thing
    assert texts(parsed(z))[0][1] == f"data {shown}"
    assert f"a is {shown}" in parsed(z).attrib["aria-label"]
    a.data, a.grad = 2.0, thing
    assert texts(parsed(z))[0][1:] in (["data 2"], ["data 2", f"grad {shown}"])


@pytest.mark.parametrize("label", [None, 5, 10**5000, b"text"], ids=type)
def test_what_was_written_over_a_label_is_drawn(label: Any) -> None:
    a = Value(2.0, "a")
    z = a + 1.0
    a.label = label
    assert texts(parsed(z))[0][0] == brief(label)[:15].strip()
    assert f"{brief(label)} is 2;" in parsed(z).attrib["aria-label"]


def test_leaves_have_round_ends_and_operations_corners() -> None:
    rectangles = parsed(first_graph()[-1]).iter(f"{SVG}rect")
    round_ends = [float(rectangle.attrib["rx"]) > 10 for rectangle in rectangles]
    assert round_ends == [True, True, False, True, False]


def test_the_picture_says_the_graph_in_words() -> None:
    picture = parsed(first_graph()[-1])
    assert picture.attrib["role"] == "img"
    assert picture.attrib["aria-label"] == (
        "Computation graph: x is 2; y is -3; product is -6, by * of x and y; "
        "bias is 10; z is 4, by + of product and bias. "
        "Gradients: z 0; bias 0, by 1 from z; product 0, by 1 from z; "
        "y 0, by 2 from product; x 0, by -3 from product."
    )


def test_the_words_say_every_gradient_and_the_slopes_it_came_by() -> None:
    square = (a := Value(3.0, "a")) * a
    root = (square + a).named("z")
    root.backward()
    said = parsed(root).attrib["aria-label"].partition("Gradients: ")[2]
    assert said == (
        "z 1; node 2 1, by 1 from z; "
        "a 7, by 1 from z, by 3 from node 2, by 3 from node 2."
    )


@given(graphs())
def test_boxes_and_edges_are_numbered_by_topological_order(root: Value) -> None:
    order, picture = topological_order(root), parsed(root)
    nodes = list(picture.iter(f"{SVG}g"))
    assert [node.attrib["data-step"] for node in nodes] == [
        str(step) for step, _ in enumerate(order, 1)
    ]
    for kind in ("path", "text"):  # the edges, and the slopes at their heads
        marks = Counter(
            int(edge.attrib["data-step"]) for edge in picture.findall(f"{SVG}{kind}")
        )
        assert marks == +Counter({i: len(n.parents) for i, n in enumerate(order, 1)})


@given(graphs())
def test_slopes_stand_in_the_order_in_which_backward_uses_them(root: Value) -> None:
    order = topological_order(root)
    steps = {node: str(step) for step, node in enumerate(order, 1)}
    found = [
        (slope.attrib["data-step"], slope.attrib["data-from"], slope.text)
        for slope in parsed(root).findall(f"{SVG}text")
    ]
    assert found == [
        (steps[node], steps[operand], f"{slope:.3g}")
        for node in reversed(order)
        for operand, slope in zip(node.parents, node.local_derivatives, strict=True)
    ]


def test_a_box_has_the_name_that_a_page_calls_it_by() -> None:
    root = Value(2.0, '"two" & <more>') * Value(3.0)
    names = [group.attrib["data-name"] for group in parsed(root).iter(f"{SVG}g")]
    assert names == ['"two" & <more>', "number", "*"]


@given(st.text(st.characters(), max_size=12))
def test_any_label_leaves_the_picture_well_formed(label: str) -> None:
    picture = parsed(Value(1.0, label) + 1.0)
    if label.isprintable() and label.strip() == label != "":
        assert texts(picture)[0][0] == label
        assert f"{label} is 1;" in picture.attrib["aria-label"]


def test_colours_are_the_page_s_own() -> None:
    picture = parsed(first_graph()[-1])
    used = {e.get(k) for e in picture.iter() for k in ("fill", "stroke")} - {None}
    assert used == {"currentColor", "none"}


def test_a_notebook_is_given_the_picture_itself() -> None:
    picture = draw(Value(1.0))
    assert picture._repr_html_() == picture
    assert picture.startswith("<svg ")


def test_sixty_nodes_are_drawn_and_one_more_is_refused() -> None:
    assert len(boxes(parsed(ladder(59)))) == 60
    with pytest.raises(ResourceBudgetError, match="at most 60 nodes"):
        draw(ladder(60))
    assert len(boxes(ElementTree.fromstring(draw(ladder(60), limit=61)))) == 61


@pytest.mark.parametrize("root", [2.0, None, "graph"])
def test_only_a_value_can_be_drawn(root: Any) -> None:
    with pytest.raises(KindError, match="root must be a Value"):
        draw(root)
