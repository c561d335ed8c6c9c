"""What the indexes and the foot of a chunk count, and where names stand by letter."""

from __future__ import annotations

from pathlib import Path

import pytest
import smallbook

from mystangle import Book, Settings
from mystangle.sphinx.captions import Captions
from mystangle.sphinx.indexes import Part
from mystangle.sphinx.links import Link, Links, numbered
from mystangle.sphinx.states import States

CELL = "```{{code-cell}} python\n#| {0}\n{1}\n```\n"
ONE = {"file: p.py": "# <<Outer>>", "id: Outer": "a = 1\n# <<Inner>>", "id: Inner": "b"}
TWO = {"replace: Outer\n#| because: c": "a = 2\n# <<Inner>>"}


def test_a_foot_counts_the_pieces_of_a_chunk_that_uses_another(tmp_path: Path) -> None:
    texts = {
        name: f"\n# {name}\n\n"
        + "\n".join(CELL.format(*cell) for cell in cells.items())
        for name, cells in {"one": ONE, "two": TWO}.items()
    }
    book = Book.read(Settings.load(smallbook.write(tmp_path, **texts)))
    book.require_sound()
    captions = Captions(book, Links(book), States(book))
    (inner,) = book.history("Inner")
    first, second = captions.caption(inner).uses
    assert (first.docname, first.text, first.title) == ("book/one", "Outer", "")
    assert (second.docname, second.text, second.title) == (
        "book/two",
        "(2)",
        "Outer (2)",
    )


def test_a_counted_link_keeps_what_its_title_says() -> None:
    link = Link("page", "", "3", "3. The edges")
    assert numbered(link, 1) is link
    assert numbered(link, 2) == Link("page", "", "(2)", "3. The edges (2)")


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("(imports)", "I"),
        ("__private", "P"),
        ("Écrire", "E"),
        ("λ of x", "Λ"),
        ("3 things", "#"),
        ("...", "#"),
    ],
)
def test_a_name_stands_under_its_first_letter(name: str, letter: str) -> None:
    assert Part("a", "b", ((name, ""),), True).letters == [letter]


def test_each_letter_has_one_list_in_order() -> None:
    names = ["b", "É", "_B", "7", "e"]
    part = Part("named", "Names", tuple((n, f"[{n}]") for n in names), True)
    lists = part.html().split("<h3 ")[1:]
    assert [each.split(">")[1][0] for each in lists] == ["#", "B", "E"]
    assert "[b][_B]" in lists[1] and "[É][e]" in lists[2]
    assert '<h3 id="letter-sign">' in part.html()
