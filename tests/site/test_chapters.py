"""What every chapter has around its text: what to read before, exercises, sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.xdist_group("site")

CHAPTER = re.compile(r"book/(?:floats|stage_\d\d_\w+)\.html")


@pytest.fixture(scope="module")
def chapters(site: Path, pages: list[str]) -> dict[str, BeautifulSoup]:
    found = [page for page in pages if CHAPTER.fullmatch(page)]
    assert len(found) >= 8
    return {
        page: BeautifulSoup((site / page).read_text("utf-8"), "html.parser")
        for page in found
    }


def test_a_chapter_says_how_long_it_takes_and_what_comes_before(
    chapters: dict[str, BeautifulSoup],
) -> None:
    order = list(chapters)
    for page, soup in chapters.items():
        (line,) = soup.select("h1 + p.reading")
        minutes = re.search(r"bout (\d+) minutes", line.get_text())
        assert minutes and int(minutes[1]) % 5 == 0 and int(minutes[1]) > 0
        before = [f"book/{link['href']}" for link in line.select("a")]
        assert bool(before) == (page != "book/floats.html")
        assert all(order.index(each) < order.index(page) for each in before), page


def test_every_exercise_has_its_folded_solution(
    chapters: dict[str, BeautifulSoup],
) -> None:
    for page, soup in chapters.items():
        exercises = [str(tag["id"]) for tag in soup.select("div.exercise")]
        solutions = [str(tag["id"]) for tag in soup.select("div.solution.dropdown")]
        assert len(exercises) >= 4, page
        assert solutions == [each.replace("exercise", "solution") for each in exercises]
