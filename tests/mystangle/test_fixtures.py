"""Every case of `fixtures/*.md`: what a small book tangles to, or what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from casebook import Case, cases

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.md"))
CASES = [
    pytest.param(case, id=f"{path.stem}: {case.title}")
    for path in FIXTURES
    for case in cases(path)
]


def matches(expected: str, told: str) -> bool:
    """Return whether a told line is as expected, `...` standing for any text."""
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, told) is not None


@pytest.mark.parametrize("case", CASES)
def test_the_book_gives_what_the_case_says(case: Case, tmp_path: Path) -> None:
    book = case.read(tmp_path)
    told = case.told(book)
    assert len(told) == len(case.problems), "\n".join(told)
    for expected, problem in zip(case.problems, told, strict=True):
        assert matches(expected, problem), f"{expected}\n{problem}"
    if case.problems:
        return
    for (name, through), text in case.files.items():
        assert book.snapshot(through).files[name].text == text
    whole = {name for name, through in case.files if through is None}
    assert set(book.snapshot().files) == whole


def test_every_case_expects_something() -> None:
    assert len(CASES) > 80
    for param in CASES:
        case = param.values[0]
        assert case.chapters, case.title
        assert not (case.problems and case.files), case.title
