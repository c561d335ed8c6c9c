"""A small book of two chapters, built by the real command, and what it refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LITTLE = Path(__file__).parent / "weave"
GREET = "book/stage_01_greet.md"
SHOUT = "book/stage_02_shout.md"

pytestmark = pytest.mark.xdist_group("little-book")


@dataclass(frozen=True)
class Built:
    """A finished `jupyter-book build`."""

    folder: Path
    status: int
    lines: list[str]

    @property
    def ran(self) -> list[str]:
        """The chapters whose cells were run."""
        text = "\n".join(self.lines)
        return re.findall(r"mystangle: (\S+): \d+ cells run", text)

    def page(self, name: str) -> str:
        return self.html(f"book/{name}")

    def html(self, path: str) -> str:
        return (self.folder / f"_build/html/{path}.html").read_text("utf-8")

    def last(self, count: int) -> list[str]:
        return self.lines[-count:]


class Book:
    """A copy of the little book that a test may spoil."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def edit(self, path: str, old: str, new: str) -> int:
        """Replace a text that stands once; return its line, from 1."""
        file = self.folder / path
        text = file.read_text("utf-8")
        assert text.count(old) == 1, old
        file.write_text(text.replace(old, new), "utf-8", newline="\n")
        return text[: text.index(old)].count("\n") + 1

    def build(self) -> Built:
        """Build with the plain command; both streams are read as one."""
        command = shutil.which("jupyter-book", path=str(Path(sys.executable).parent))
        assert command
        done = subprocess.run(
            [command, "build", str(self.folder)],
            env={**os.environ, "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).rstrip().split("\n")
        return Built(self.folder, done.returncode, lines)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The little book with this site's settings, built once."""
    folder = tmp_path_factory.mktemp("weave") / "book"
    shutil.copytree(LITTLE, folder)
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ROOT / "book/_ext", folder / "book/_ext")
    for named_by_the_settings in (ROOT / "book").glob("*.bib"):
        shutil.copy(named_by_the_settings, folder / "book")
    result = Book(folder).build()
    assert result.status == 0, "\n".join(result.lines)
    return result


@pytest.fixture
def book(built: Built, tmp_path: Path) -> Book:
    """A copy of the built book, its caches included."""
    return Book(shutil.copytree(built.folder, tmp_path / "book"))


def text_of(html: str) -> str:
    """Return what a reader sees of some HTML."""
    plain = re.sub(r"<[^>]+>", "", html)
    for name, character in (("lt", "<"), ("gt", ">"), ("quot", '"'), ("amp", "&")):
        plain = plain.replace(f"&{name};", character)
    return " ".join(plain.replace("&#39;", "'").split())


def chunk(page: str, anchor: str) -> str:
    found = re.search(rf'<figure[^>]* id="{anchor}">.*?</figure>', page, re.DOTALL)
    assert found, anchor
    return found[0]


def shown_by(page: str, name: str) -> list[str]:
    """Return the code that the button for a chunk shows, piece by piece."""
    buttons = re.findall(rf"<button [^>]*Show here: {name}[^>]*></button>", page)
    assert len(buttons) == 1
    from_ids = re.search(r'data-from="([^"]*)"', buttons[0])
    assert from_ids
    found = []
    for wanted in from_ids[1].split():
        kept = re.findall(rf'<template id="{wanted}">.*?</template>', page, re.DOTALL)
        (code,) = (
            kept or re.findall("<pre>.*?</pre>", chunk(page, wanted), re.DOTALL)[:1]
        )
        found.append(str(code))
    return found


def entry_of(index: str, term: str) -> str:
    """Return the entry of a term in an index, and what is said of it."""
    entries = re.findall(r"<dt>.*?(?=<dt>|</dl>)", index, re.DOTALL)
    (found,) = (e for e in entries if re.match(rf"{term}( |$)", text_of(e)))
    return str(found)


def test_the_package_is_written_before_pages_are_read(built: Built) -> None:
    hello = (built.folder / "src/little/hello.py").read_text("utf-8")
    assert 'text = "hello " + name * up(0.5)\n    text += "."\n' in hello
    assert (built.folder / "mystangle.lock").is_file()


def test_a_caption_names_chunk_file_and_status(built: Built) -> None:
    one, two = built.page("stage_01_greet"), built.page("stage_02_shout")
    caption = "Say hello little/hello.py# "
    assert text_of(chunk(one, "chunk--say-hello")).startswith(caption)
    again = text_of(chunk(two, "chunk--say-hello"))
    because = "the import has another name"
    status = "replaces an earlier one"
    assert again.startswith(f"Say hello · {status} little/hello.py {because}")
    assert "· continued" in text_of(chunk(two, "chunk--say-hello--2"))
    assert text_of(chunk(one, "chunk--little-hello-py")).startswith("little/hello.py# ")


def test_pieces_link_to_their_neighbours_and_uses(built: Built) -> None:
    first = chunk(built.page("stage_01_greet"), "chunk--say-hello")
    assert 'href="stage_02_shout.html#chunk--say-hello"' in first
    assert "replaced in Stage 02 · A shout" in text_of(first)
    assert "used in little/hello.py" in text_of(first)
    assert first.count('href="#chunk--little-hello-py"') == 1
    last = chunk(built.page("stage_02_shout"), "chunk--say-hello--2")
    assert 'href="#chunk--say-hello"' in last
    assert "continued from above" in text_of(last)


def test_a_reference_is_a_link_and_says_who_fills_it(built: Built) -> None:
    root = chunk(built.page("stage_01_greet"), "chunk--little-hello-py")
    linked = r'<a href="#chunk--say-hello" [^>]*><span[^>]*># &lt;&lt;Say'
    assert re.search(linked, root)
    later = re.search(r'href="stage_02_shout.html#chunk--refuse[^\n]*', root)
    assert later
    assert "filled in Stage 02 · A shout" in text_of(later[0])
    assert root.count("filled in") == 1


def test_options_are_hidden_and_the_copy_is_clean(built: Built) -> None:
    for name in ("stage_01_greet", "stage_02_shout"):
        assert "#|" not in text_of(built.page(name))
    button = built.folder / "_build/html/_static/copybutton.js"
    for kept_out in (".mystangle-later", ".mystangle-inset", ".mystangle-gutter"):
        assert kept_out in button.read_text("utf-8")


def test_chunks_are_shown_and_not_run(built: Built) -> None:
    figure = chunk(built.page("stage_01_greet"), "chunk--little-hello-py")
    assert "cell_output" not in figure
    assert re.search(r"stage_01_greet.md: 3 cells run", "\n".join(built.lines))


def test_outputs_come_from_the_package_as_of_the_chapter(built: Built) -> None:
    one, two = built.page("stage_01_greet"), built.page("stage_02_shout")
    assert "'hello '" in text_of(one)
    assert "It said hello Ada." in text_of(one)
    assert "'HELLO ADA.'" in text_of(two)


def test_a_later_module_is_not_there_yet(built: Built) -> None:
    page = text_of(built.page("stage_01_greet"))
    assert "ModuleNotFoundError: No module named 'little.shout'" in page


def test_an_error_is_shown_short(built: Built) -> None:
    page = text_of(built.page("stage_02_shout"))
    assert "ValueError: greet: name must not be empty" in page
    assert "Traceback" not in page


def test_a_picture_comes_through_whole(built: Built) -> None:
    assert '<svg role="img" aria-label="a dot"' in built.page("stage_01_greet")


def test_formulas_are_mathml_with_their_tex(built: Built) -> None:
    page = built.page("stage_02_shout")
    assert page.count("<math") == 2
    assert 'tabindex="0"><math display="block">' in page
    assert r"C h^2 + \frac{\varepsilon}{h}" in page
    assert "By (1) and" in text_of(page)


def test_chunks_are_found_by_the_search_and_by_roles(built: Built) -> None:
    index = (built.folder / "_build/html/searchindex.js").read_text("utf-8")
    assert "Say hello" in index
    assert re.search(r'"little\.hello": \[\[1, \d+, 1, "[^"]*", "greet"\]\]', index)
    assert 'href="stage_01_greet.html#chunk--say-hello"' in built.page("index")


def test_a_reference_can_be_expanded_in_place(built: Built) -> None:
    one, two = built.page("stage_01_greet"), built.page("stage_02_shout")
    root = chunk(one, "chunk--little-hello-py")
    # The copy button takes the text of a line: nothing may stand after the comment.
    button = re.search(r"&lt;&lt;Say hello&gt;&gt;</span></a><button [^>]*>", root)
    assert button
    assert 'aria-expanded="false"' in button[0]
    assert 'data-indent="4"' in button[0]
    # There is no button where there is nothing yet to show.
    assert root.count("<button") == 2
    assert text_of(shown_by(one, "Say hello")[0]).startswith('text = "hello " + name')
    (outer,) = shown_by(two, "Shout the greeting")
    assert outer.startswith("<pre>")  # it stands on this page
    (inner,) = shown_by(two, "Raise the voice")
    assert inner.startswith("<template")  # it stands on another one
    assert text_of(inner) == "loud = greet(name).upper()"
    assert re.match(r'<pre><span class="mystangle-row">(<span></span>)?<a ', outer)
    assert "<template" not in one
    # No file holds that chunk before the second chapter.
    assert "mystangle-place" not in chunk(one, "chunk--raise-the-voice")
    assert re.search(r'<script defer="defer" src="[^"]*mystangle.js', one)
    script = built.folder / "_build/html/_static/mystangle.js"
    assert script.stat().st_size < 5_000


def test_a_chunk_shows_what_it_replaces(built: Built) -> None:
    one, two = built.page("stage_01_greet"), built.page("stage_02_shout")
    new = chunk(two, "chunk--say-hello")
    fold = re.search(r"<details .*</details>", new, re.DOTALL)
    assert fold
    assert "From Stage 01 · A greeting" in text_of(fold[0])
    assert "name * math.ceil(0.5)" in text_of(fold[0])
    assert 'href="stage_01_greet.html#chunk--say-hello"' in fold[0]
    old = text_of(chunk(one, "chunk--say-hello"))
    assert "replaced in Stage 02 · A shout" in old
    assert "continues" not in old
    assert one.count("<details class") == 0


def test_a_caption_leads_to_the_file_as_of_its_chapter(built: Built) -> None:
    for name, row in (("stage_01_greet", 9), ("stage_02_shout", 12)):
        figure = chunk(built.page(name), "chunk--say-hello")
        page = f"../tangled/little/hello/{name}.html"
        assert f'href="{page}#L{row}" class="mystangle-place"' in figure
        state = built.html(f"tangled/little/hello/{name}")
        line = re.search(rf'<span class="([^"]*)" id="L{row}">(.*)', state)
        assert line
        new = name == "stage_02_shout"  # not the whole file, of which no line is marked
        assert line[1] == "mystangle-line" + " mystangle-added" * new
        assert f'href="../../../book/{name}.html#chunk--say-hello"' in line[2]
        sign = r" \+" * new
        assert re.match(rf' *{row}{sign} +text = "hello " \+ name', text_of(line[2]))


def test_the_page_of_a_file_says_what_its_chapter_changed(built: Built) -> None:
    state = built.html("tangled/little/hello/stage_02_shout")
    text = text_of(state)
    assert "little/hello.py after Stage 02 · A shout" in text
    assert "14 lines; Stage 02 · A shout added the 6 that are marked with +." in text
    assert state.count("mystangle-added") == 6
    assert '"stage_01_greet.html" rel="prev">after Stage 01' in state
    before = built.html("tangled/little/hello/stage_01_greet")
    assert '"stage_02_shout.html" rel="next">after Stage 02' in before
    assert "lines; all new in Stage 01 · A greeting. A line's number" in text_of(before)
    assert "mystangle-added" not in before
    code = re.search(r"<pre[^>]*>.*</pre>", state, re.DOTALL)
    assert code
    plain = re.sub(r'<span class="mystangle-gutter">.*?</span>', "", code[0])
    plain = unescape(re.sub(r"<[^>]+>", "", plain))
    assert plain == (built.folder / "src/little/hello.py").read_text("utf-8")


def test_roles_lead_to_files_and_names(built: Built) -> None:
    hello = "../tangled/little/hello"
    assert f'href="{hello}/stage_01_greet.html"' in built.page("stage_01_greet")
    assert f'href="{hello}/stage_02_shout.html"' in built.page("index")
    assert re.search(r'href="../chunks.html"><span[^>]*>index<', built.page("index"))
    paragraph = re.search(r"<p>The file is now.*", built.page("stage_01_greet"))
    assert paragraph
    assert 'href="#chunk--little-hello-py"' in paragraph[0]


def test_every_page_leads_to_the_indexes(built: Built) -> None:
    for page in ("book/index", "tangled/little/hello/stage_02_shout", "chunks"):
        up = "../" * page.count("/")
        assert f'href="{up}identifiers.html"' in built.html(page), page


def test_the_index_of_chunks_lists_every_piece(built: Built) -> None:
    index = built.html("chunks")
    entry = text_of(entry_of(index, "Say hello"))
    assert entry == (
        "Say hello defined in Stage 01 · A greeting, replaced in Stage 02 · A shout, "
        "continued (2); used in little/hello.py"
    )
    again = 'title="Stage 02 · A shout (2)" aria-label="Stage 02 · A shout (2)">(2)</a>'
    assert again in entry_of(index, "Say hello")
    inner = text_of(entry_of(index, "Raise the voice"))
    assert inner == (
        "Raise the voice little/shout.py; defined in Stage 01 · A greeting; "
        "used in Stage 02 · A shout: Shout the greeting"
    )
    states = entry_of(index, "little/hello.py")
    assert "as it stands after Stage 01 · A greeting, Stage 02" in text_of(states)
    assert 'href="tangled/little/hello/stage_02_shout.html"' in states


def test_the_index_of_identifiers_has_definitions_and_uses(built: Built) -> None:
    entry = entry_of(built.html("identifiers"), "greet")
    assert text_of(entry) == (
        "greet function of hello; "
        "Stage 01 · A greeting: little/hello.py, Raise the voice"
    )
    assert entry.count("<strong>") == 1
    assert "<strong><a" in entry
    uses = "Stage 01 · A greeting: Say hello; Stage 02 · A shout: Say hello"
    assert text_of(entry_of(built.html("identifiers"), "math.ceil")).endswith(uses)


def test_an_index_has_jumps_to_its_letters_above_and_beside_it(built: Built) -> None:
    index = built.html("chunks")
    letters = re.findall(r'<h3 id="letter-(.)">(.)</h3>', index)
    # (imports) stands under I; files have no letters.
    assert letters == [(letter, letter) for letter in "IRS"]
    article, beside = (
        re.search(rf"<{start}.*?</(?:nav|ul)>", index, re.DOTALL)
        for start in ('nav class="mystangle-jumps', 'ul class="mystangle-letters')
    )
    assert article and beside
    ids = ["letter-I", "letter-R", "letter-S"]
    assert re.findall(r'href="#([^"]+)"', article[0]) == ["files", "named", *ids]
    assert re.findall(r'href="#([^"]+)"', beside[0]) == ids
    assert 'aria-label="R: Chunks"' in article[0]


def test_no_page_asks_another_host_or_shows_the_machine(built: Built) -> None:
    loads = r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"(?:https?:)?//"
    for file in (built.folder / "_build/html").rglob("*.html"):
        text = file.read_text("utf-8")
        assert not re.search(loads, text), file
        assert str(built.folder) not in text
        assert "fontawesome.js" not in text
        assert "thebe" not in text.lower()


def test_a_second_build_runs_no_cell_and_writes_no_file(built: Built) -> None:
    files = [*(built.folder / "src").rglob("*.py"), built.folder / "mystangle.lock"]
    before = {file: file.stat().st_mtime_ns for file in files}
    again = Book(built.folder).build()
    assert again.status == 0
    assert again.ran == []
    assert "outputs from the cache" not in "\n".join(again.lines)  # nothing was read
    assert {file: file.stat().st_mtime_ns for file in files} == before


def test_a_changed_chunk_reruns_only_pages_that_see_it(book: Book) -> None:
    book.edit(SHOUT, 'text += "."', 'text += "!"')
    result = book.build()
    assert result.status == 0
    assert result.ran == [SHOUT]
    assert "'HELLO ADA!'" in text_of(result.page("stage_02_shout"))


def test_a_new_piece_rewrites_the_captions_of_other_pages(book: Book) -> None:
    replaced = "#| replace: (imports)\n#| because: a shout needs no more of it\n"
    book.edit(SHOUT, replaced, "#| append: (imports)\n")
    result = book.build()
    assert result.status == 0
    # What page 1 sees is as before: its caption changes, its outputs do not.
    assert result.ran == [SHOUT]
    book.edit(SHOUT, "# Stage 02 · A shout", "# Stage 02 · A cry")
    result = book.build()
    assert result.ran == []
    first = chunk(result.page("stage_01_greet"), "chunk--imports")
    assert "continues in Stage 02 · A cry" in text_of(first)


def test_outputs_follow_the_package_however_it_is_reached(book: Book) -> None:
    book.edit(
        GREET,
        'greet("")\n',
        "import pydoc\n\npydoc.locate('little.hello.greet')('Bo')\n",
    )
    assert "'hello Bo'" in text_of(book.build().page("stage_01_greet"))
    book.edit(GREET, '"hello " + name * math', '"good day " + name * math')
    result = book.build()
    assert result.ran == [GREET]  # the second chapter replaces that chunk
    assert "'good day Bo'" in text_of(result.page("stage_01_greet"))


def test_a_new_file_of_a_later_chapter_reruns_that_chapter_alone(book: Book) -> None:
    more = "```{code-cell} python\n#| file: little/more.py\nMORE = 1\n```\n\n"
    book.edit(SHOUT, "# Stage 02 · A shout\n", f"# Stage 02 · A shout\n\n{more}")
    result = book.build()
    assert (result.status, result.ran) == (0, [SHOUT])


def test_prose_and_tags_rerun_nothing(book: Book) -> None:
    book.edit(GREET, "Now it runs:", "Now, at last, it runs:")
    book.edit(GREET, "from pictures", ":tags: [hide-input]\n\nfrom pictures")
    result = book.build()
    assert (result.status, result.ran) == (0, [])


def test_a_changed_helper_reruns_every_page(book: Book) -> None:
    book.edit("book/helpers/pictures.py", "a dot", "a spot")
    result = book.build()
    assert result.ran == [GREET, SHOUT]
    assert 'aria-label="a spot"' in result.page("stage_01_greet")


def test_a_broken_link_fails_twice(book: Book) -> None:
    line = book.edit(GREET, "Now it runs:", "Now [it](nowhere.md) runs:")
    for _ in range(2):
        result = book.build()
        assert result.status != 0
        assert result.last(1)[0].startswith(f"{GREET}:{line}: ")
        assert "nowhere.md" in result.last(1)[0]
        assert "Traceback" not in "\n".join(result.lines)


def test_a_link_that_loses_its_target_fails(book: Book) -> None:
    book.edit(SHOUT, "# Stage 02 · A shout", "# Stage 02 · A shout\n\n## Loud")
    here = book.edit(GREET, "Now it runs:", "Now it [runs](stage_02_shout.md#loud):")
    assert book.build().status == 0
    book.edit(SHOUT, "## Loud", "## Louder")
    result = book.build()
    assert result.status != 0
    assert result.last(1)[0].startswith(f"{GREET}:{here}: ")


def test_warnings_of_every_kind_fail(book: Book) -> None:
    hidden = book.edit(SHOUT, "#| append: Say", ":tags: [remove-cell]\n#| append: Say")
    tex = book.edit(SHOUT, r"&\ge 0", r"&\nope 0")
    glue = book.edit(GREET, "text}`greeting`.", "text}`no`.")
    role = book.edit("book/index.md", "`Say hello`", "`Say no`")
    result = book.build()
    assert result.status != 0
    index, one, two, three = result.last(4)
    assert index.startswith(f"book/index.md:{role}: ")
    assert one.startswith(f"{GREET}:{glue}: No key 'no'")
    assert two.startswith(f"{SHOUT}:{hidden - 1}: a chunk must be seen")
    assert three.startswith(f'{SHOUT}:{tex}: formula: Unknown command "\\nope"')


def test_a_warning_that_names_no_line_is_placed_all_the_same(book: Book) -> None:
    index = "book/index.md"
    proof = "\n\n```{prf:theorem}\n:label: thm-a\nSo it is.\n```"
    end = "see the {mystangle:index}`index <chunks>`."
    here = book.edit(index, end, end + proof * 2 + "\n\nBy {prf:ref}`thm-a`, {foo}`x`")
    name = book.edit(GREET, "Now it runs:", "Now {py:obj}`little.Nope` and `Nope` run:")
    gone = book.edit(SHOUT, "we are done.", "{prf:ref}`thm-nothing` we are done.")
    result = book.build()
    assert result.status != 0
    twice, role, missing, label = result.last(4)
    assert twice.startswith(f"{index}:{here + 8}: duplicate theorem label 'thm-a'")
    assert role.startswith(f"{index}:{here + 12}: Unknown interpreted text role")
    assert missing.startswith(f"{GREET}:{name}: py:obj reference target not found")
    assert label.startswith(f"{SHOUT}:{gone}: label 'thm-nothing' not found.")


def test_a_picture_without_words_of_its_own_fails(book: Book) -> None:
    index, picture = "book/index.md", '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    for name in "ab":
        (book.folder / f"book/{name}.svg").write_text(picture, "utf-8")
    end = "see the {mystangle:index}`index <chunks>`."
    shown = (
        "![](a.svg)",
        "![A good one](a.svg)",
        "![a.svg](a.svg)",
        "![A good one](b.svg)",
        '<img src="a.svg">',
        "![From afar](https://example.org/a.svg)",
        f'<svg role="img" aria-label="Drawn here"></svg>{picture}',
    )
    line = book.edit(index, end, "\n\n".join((end, *shown))) + 2
    book.edit("book/helpers/pictures.py", "a dot", "")
    dot = book.edit(GREET, "from pictures import Dot", "from pictures import Dot")
    result = book.build()
    assert result.status != 0
    found = [each for each in result.lines if each.endswith("[book.alt]")]
    places = [f"{index}:{line + below}" for below in (0, 4, 6, 8, 10, 12)]
    assert [each.split(": ")[0] for each in found] == [*places, f"{GREET}:{dot}"]
    assert f"got those of {index}:{line + 2}" in found[2]


def test_failing_cells_are_all_listed(book: Book) -> None:
    named = book.edit(SHOUT, "raises: ValueError", "raises: KeyError")
    fails = book.edit(GREET, 'greet("")\n', "x = 1\n1 / 0\n")
    never = book.edit(GREET, "\nimport little.shout", "\nimport little.hello")
    bare = book.edit(
        GREET, "from pictures", ":tags: [raises-exception]\n\nfrom pictures"
    )
    for _ in range(2):
        result = book.build()
        assert result.status != 0
        # A run that failed is not kept; outputs from the cache are judged again.
        assert result.ran == [GREET]
        one, two, three, four = result.last(4)
        error = "ZeroDivisionError: division by zero"
        assert one.startswith(f"{GREET}:{fails + 1}: `1 / 0` must run, got {error}")
        assert two.startswith(f"{GREET}:{never + 1}: ")
        assert "must raise ModuleNotFoundError, got no error" in two
        assert three.startswith(f"{GREET}:{bare - 1}: a cell that must fail names")
        assert four.startswith(f"{SHOUT}:{named + 2}: the cell must raise KeyError")
        assert "got ValueError: greet: name must not be empty" in four


def test_a_chunk_error_leaves_the_package_as_it_was(book: Book) -> None:
    file = book.folder / "src/little/hello.py"
    before = file.read_bytes()
    one = book.edit(GREET, "#| id: Say hello", "#| id: Say hullo")
    two = book.edit(SHOUT, "#| append: Say hello", "#| attach: Say hello")
    result = book.build()
    assert result.status != 0
    text = "\n".join(result.lines)
    assert f"{GREET}:{one}: " in text
    assert result.last(1)[0].startswith(f"{SHOUT}:")
    assert f"{SHOUT}:{two}: " in text
    assert "Traceback" not in text
    assert file.read_bytes() == before


def test_a_hand_edit_is_refused(book: Book) -> None:
    edited = 'def greet() -> None: "mine"\n'
    book.folder.joinpath("src/little/hello.py").write_text(edited, "utf-8")
    result = book.build()
    assert result.status != 0
    assert "src/little/hello.py" in "\n".join(result.lines)
    assert "mystangle tangle --force" in "\n".join(result.lines)
    assert result.last(1)[0].startswith("src/little/hello.py: was edited by hand")
    assert "Traceback" not in "\n".join(result.lines)
    assert book.folder.joinpath("src/little/hello.py").read_text("utf-8") == edited


def test_a_page_that_asks_for_what_is_to_come_says_so_once(book: Book) -> None:
    early = book.edit(GREET, ":raises: ModuleNotFoundError\n\n", "")
    book.edit(GREET, "from pictures import Dot\n\n", "")
    gone = book.edit(GREET, "Dot()\n", "raise SystemExit('gone')\n")
    result = book.build()
    assert result.status != 0
    one, two = (x for x in result.lines if x.startswith(f"{GREET}:"))
    assert one == (
        f"{GREET}:{early}: `import little.shout` must run, got ModuleNotFoundError: No "
        "module named 'little.shout' (little.shout is begun in book/stage_02_shout; "
        "this page stands before it) [mystangle.cell]"
    )
    assert two.startswith(f"{GREET}:{gone}: `raise SystemExit('gone')` must run")


def test_a_path_of_the_machine_is_refused(book: Book) -> None:
    shown = book.edit(GREET, 'greet("")\n', "import little\nlittle.__file__\n")
    book.edit(SHOUT, "we are done.", f"we are done in {book.folder.as_posix()}/x.")
    result = book.build()
    assert result.status != 0
    lines = [line for line in result.lines if line.endswith("[mystangle.path]")]
    assert any(
        re.match(rf"{GREET}:{shown - 5}: an output must show no", x) for x in lines
    )
    assert any(x.startswith(f"{SHOUT}:1: a page must show no path") for x in lines)
