"""What is left out of the built site is what nothing shows."""

from __future__ import annotations

import pytest
from _ext import weight

CSS = (
    '[data-theme="light"] .highlight{background: #fff; color: #080808}'
    '[data-theme="light"] .highlight .n{color: #080808}'
    '[data-theme="light"] .highlight .k{color: #6730C5}'
    '[data-theme="dark"] .highlight{color: #eee}'
    '[data-theme="dark"] .highlight .n{color: #eee}'
    '[data-theme="dark"] .highlight .k{color: #eee}'
    ".sig-param.n{font-style: italic}"
)
CODE = '<span class="k">def</span> <span class="n">add</span><span class="p">(</span>'


def test_code_keeps_the_marks_that_some_theme_tells_apart() -> None:
    told = weight.tokens(CSS)
    assert "k" in told and "n" not in told
    assert weight.unmarked(CODE, told) == '<span class="k">def</span> add('
    assert weight.unmarked('<span class="note">add</span>', told).startswith("<span")


@pytest.mark.parametrize("rule", [".n{color: red}", "@media print{pre .n{color: red}}"])
def test_any_other_rule_keeps_a_mark(rule: str) -> None:
    assert "n" in weight.tokens(CSS + rule)


def test_a_property_that_nothing_reads_is_dropped() -> None:
    css = 'a{--used:1px;--icon:url("a;b}");--last:2px}b{width:var(--used)}'
    assert weight.without(css, {"--used"}) == "a{--used:1px;}b{width:var(--used)}"


def test_a_sign_written_as_itself_is_asked_of_the_font() -> None:
    found = weight.ICON.findall('a{--pst-icon:"\uf0eb"}b{content:"\\f105"}')
    assert found == [("", "\uf0eb"), ("f105", "")]
