"""Stage 04: characters, and a token for the edge.

Oracles: `unicodedata` for normal forms, plain dictionaries and `bytes.split` for the
rest.  Everything here is exact, but for one logarithm (2 ulp).
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import os
import pickle
import random
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whitebox_gpt.tokenizer
from whitebox_gpt.errors import KindError, TextError, VocabularyError, WhiteboxError
from whitebox_gpt.stages import observe
from whitebox_gpt.tokenizer import Tokenizer, first_names, read_documents

STAGE = "whitebox_gpt.stages.stage_04_characters_bos"
JIMIN = "\uc9c0\ubbfc"
JIMIN_APART = "\u110c\u1175\u1106\u1175\u11ab"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HEAD = '{"format": "whitebox_gpt.tokenizer", "version": '
NAMES_FILE = Path(whitebox_gpt.tokenizer.__file__).parent / "data" / "first_names.txt"

# Many marks, letters that compose, jamo, halves of pairs, and anything else.
pieces = st.sampled_from(
    "aeo\u0301\u0323\u0302\u1ecd\u1100\u1161\u11a8\uac00\u212b\u0958\ufb01\u200d\U0001f468\r\0"
)
texts = st.text(pieces | st.characters(), max_size=12)
documents = st.text(pieces | st.characters(codec="utf-8"), min_size=1, max_size=12).map(
    lambda text: unicodedata.normalize("NFC", text)
)
corpora = st.lists(documents, min_size=1, max_size=6)


def run(code: str, **variables: str) -> str:
    """Return what a program of its own prints."""
    done = subprocess.run(
        [sys.executable, *code.split(" ", 1)],
        env={**os.environ, "PYTHONUTF8": "1", **variables},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


# The figures of the stage


def test_the_vocabulary_is_sorted_and_bos_comes_after_it() -> None:
    tokenizer = Tokenizer.of(["hannah", "bob"])
    assert tokenizer.characters == ("a", "b", "h", "n", "o")
    assert tokenizer.bos == len(tokenizer.characters) == 5
    assert tokenizer.size == 6


def test_the_order_is_that_of_code_points() -> None:
    mixed = ["e", "z", "é", "Z", "지", "\U0001f600", "~", "\uff5e"]
    found = Tokenizer.of(mixed).characters
    assert [ord(c) for c in found] == sorted(ord(c) for c in mixed)
    assert found.index("\uff5e") < found.index("\U0001f600")  # not so in UTF-16


def test_bos_stands_on_both_sides_of_a_document() -> None:
    tokenizer = Tokenizer(LETTERS)
    assert tokenizer.encode("anna") == [0, 13, 13, 0]
    assert tokenizer.frame("anna") == [26, 0, 13, 13, 0, 26]


def test_pairs_are_each_token_with_the_one_that_follows() -> None:
    pairs = Tokenizer(LETTERS).pairs("anna")
    assert pairs == [(26, 0), (0, 13), (13, 13), (13, 0), (0, 26)]
    assert Tokenizer("x").pairs("x") == [(1, 0), (0, 1)]


@given(corpora)
def test_every_document_comes_back(corpus: list[str]) -> None:
    tokenizer = Tokenizer.of(corpus)
    for document in corpus:
        ids = tokenizer.encode(document)
        assert all(type(i) is int and 0 <= i < tokenizer.bos for i in ids)
        assert tokenizer.decode(ids) == document
        assert tokenizer.encode(tokenizer.decode(ids)) == ids


@given(corpora)
def test_the_vocabulary_is_what_the_documents_use(corpus: list[str]) -> None:
    assert Tokenizer.of(corpus).characters == tuple(sorted(set("".join(corpus))))


@given(corpora, st.randoms(use_true_random=False))
def test_the_order_of_reading_does_not_matter(
    corpus: list[str], chance: random.Random
) -> None:
    shuffled = corpus * 2
    chance.shuffle(shuffled)
    assert Tokenizer.of(shuffled) == Tokenizer.of(corpus)


@given(documents)
def test_frame_and_pairs_of_any_document(document: str) -> None:
    tokenizer = Tokenizer.of([document])
    frame, pairs = tokenizer.frame(document), tokenizer.pairs(document)
    assert frame == [tokenizer.bos, *tokenizer.encode(document), tokenizer.bos]
    assert len(pairs) == len(document) + 1
    assert [source for source, _ in pairs] == frame[:-1]
    assert [target for _, target in pairs] == frame[1:]
    assert [s for s, _ in pairs].count(tokenizer.bos) == 1
    assert [t for _, t in pairs].count(tokenizer.bos) == 1


def test_ids_do_not_depend_on_the_hash_seed() -> None:
    code = "from whitebox_gpt.tokenizer import Tokenizer as T; "
    code += "print(T.of(['hannah', 'bob']).encode('hannah'))"
    seen = {run(f"-c {code}", PYTHONHASHSEED=seed) for seed in "0123"}
    assert seen == {"[2, 0, 3, 3, 0, 2]\n"}


# Normal forms


def test_one_hangul_name_has_two_spellings_and_one_is_refused() -> None:
    assert unicodedata.normalize("NFD", JIMIN) == JIMIN_APART
    assert (len(JIMIN), len(JIMIN_APART)) == (2, 5)
    tokenizer = Tokenizer.of([JIMIN])
    assert tokenizer.encode(JIMIN) == [1, 0]
    with pytest.raises(TextError) as caught:
        tokenizer.encode(JIMIN_APART)
    assert str(caught.value) == (
        "encode: the document must be in NFC,"
        " which has '지' (U+C9C0 HANGUL SYLLABLE JI) at position 0,"
        " got '\u110c' (U+110C HANGUL CHOSEONG CIEUC)."
        ' Compose it with unicodedata.normalize("NFC", text).'
    )


def test_an_accent_that_composes_is_no_token_and_one_that_cannot_is() -> None:
    assert unicodedata.normalize("NFC", "e\u0301") == "\u00e9"
    with pytest.raises(TextError, match="at position 3, got 'e' "):
        Tokenizer.of(["Jose\u0301"])
    yoruba = "Ad\u00e9b\u00e1y\u1ecd\u0300"
    tokenizer = Tokenizer.of([yoruba])
    assert len(tokenizer.encode(yoruba)) == 8
    assert "\u0300" in tokenizer.characters


def test_an_emoji_of_seven_code_points_is_seven_tokens() -> None:
    tokenizer = Tokenizer.of([FAMILY])
    assert tokenizer.encode(FAMILY) == [3, 0, 4, 0, 2, 0, 1]
    assert tokenizer.decode(tokenizer.encode(FAMILY)) == FAMILY


@given(texts)
def test_a_text_is_a_document_just_if_an_oracle_says_so(text: str) -> None:
    surrogate = any(0xD800 <= ord(c) < 0xE000 for c in text)
    if text and not surrogate and unicodedata.is_normalized("NFC", text):
        assert Tokenizer.of([text]).decode(Tokenizer.of([text]).encode(text)) == text
    else:
        with pytest.raises(TextError):
            Tokenizer.of([text])


@given(st.text(pieces, min_size=1, max_size=12))
def test_the_first_place_that_is_not_composed_is_named(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    if composed == text:
        return
    t = next(t for t in range(len(text)) if text[t] != composed[t])
    with pytest.raises(TextError) as caught:
        Tokenizer.of([text])
    assert f"U+{ord(composed[t]):04X}" in caught.value.expected
    assert caught.value.expected.endswith(f"at position {t}")
    assert f"U+{ord(text[t]):04X}" in caught.value.got


def test_every_code_point_is_a_character_or_is_refused_for_a_reason() -> None:
    fit, unfit = [], []
    for code in range(sys.maxunicode + 1):
        composed = unicodedata.normalize("NFC", chr(code)) == chr(code)
        is_fit = composed and not 0xD800 <= code < 0xE000
        (fit if is_fit else unfit).append(chr(code))
    assert Tokenizer(fit).size == len(fit) + 1
    assert len(unfit) > 2048
    for character in unfit:
        with pytest.raises(TextError, match=r"must be in NFC|half of a surrogate"):
            Tokenizer([character])


@given(documents, st.data())
def test_a_piece_of_a_document_is_a_document(
    document: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(document) - 1))
    stop = data.draw(st.integers(start + 1, len(document)))
    piece = document[start:stop]
    tokenizer = Tokenizer.of([document])
    assert tokenizer.encode(piece) == tokenizer.encode(document)[start:stop]


def test_decode_may_write_what_encode_refuses() -> None:
    tokenizer = Tokenizer(["\u1100", "\u1161"])
    assert tokenizer.decode([0, 1]) == "\u1100\u1161"
    with pytest.raises(TextError, match="must be in NFC"):
        tokenizer.encode(tokenizer.decode([0, 1]))


# What is no vocabulary, document, corpus or id


@pytest.mark.parametrize(
    ("characters", "error", "text"),
    [
        ([], VocabularyError, "a vocabulary must hold a character, got none"),
        ("", VocabularyError, "a vocabulary must hold a character, got none"),
        (["b", "a"], VocabularyError, r"sorted by code point, each once, got 'a'"),
        (["a", "a"], VocabularyError, r"got 'a' \(U\+0061 .*\) after 'a'"),
        ("é~", VocabularyError, "sorted by code point"),
        (["a", "ch"], VocabularyError, "character 1 must be one code point, got 2"),
        (["\u1ecd\u0300"], VocabularyError, "must be one code point, got 2"),
        (["e\u0301"], TextError, "character 0 must be in NFC"),
        (["\u212b"], TextError, "got '\u212b' .U.212B ANGSTROM SIGN"),
        (["a", ""], TextError, "character 1 must hold a character"),
        (["\ud83d"], TextError, "half of a surrogate pair"),
        (["a", 5], KindError, "character 1 must be text, got 5"),
        ([b"a"], KindError, "character 0 must be text"),
        (b"ab", KindError, "character 0 must be text, got 97"),
        ({"a"}, KindError, "must stand in a fixed order"),
        (frozenset("ab"), KindError, "must stand in a fixed order"),
        ({"a": 0}, KindError, "must stand in a fixed order"),
        (None, KindError, "must stand in a fixed order, as in a list, got None"),
        (7, KindError, "must stand in a fixed order"),
        (np.array(3), KindError, "must stand in a fixed order"),
        (np.array("ab"), KindError, "must stand in a fixed order"),
    ],
)
def test_a_malformed_vocabulary_is_refused(
    characters: object, error: type[WhiteboxError], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        Tokenizer(characters)  # type: ignore[arg-type]
    assert caught.value.where == "Tokenizer"


@pytest.mark.parametrize(
    ("corpus", "error", "text"),
    [
        ([], TextError, "a corpus must hold a document, got none"),
        (iter([]), TextError, "a corpus must hold a document, got none"),
        (["ann", ""], TextError, "document 1 must hold a character, got an empty text"),
        (["ann", 3], KindError, "document 1 must be text, got 3"),
        (["ann", None], KindError, "document 1 must be text, got None"),
        ([b"ann"], KindError, "document 0 must be text"),
        ([["ann"]], KindError, "document 0 must be text"),
        ("ann", KindError, "must be several texts, as in a list, got 'ann'"),
        ("", KindError, "must be several texts"),
        (b"ann", KindError, "document 0 must be text, got 97"),
        ({"ann": 1}, KindError, "must be several texts"),
        (5, KindError, "must be several texts"),
        (["ann", "\udc80x"], TextError, r"document 1 .* got '\\udc80' .*position 0"),
    ],
)
def test_a_malformed_corpus_is_refused(
    corpus: object, error: type[WhiteboxError], text: str
) -> None:
    with pytest.raises(error, match=text):
        Tokenizer.of(corpus)  # type: ignore[arg-type]


def test_a_corpus_may_be_a_generator_or_a_set() -> None:
    assert Tokenizer.of(name for name in ("bob", "ann")) == Tokenizer("abno")
    assert Tokenizer.of({"bob", "ann"}) == Tokenizer("abno")


@pytest.mark.parametrize("method", ["encode", "frame", "pairs"])
@pytest.mark.parametrize(
    ("document", "error", "text"),
    [
        ("", TextError, "the document must hold a character, got an empty text"),
        ("an\ud83dn", TextError, r"got '\\ud83d' \(U\+D83D no name\) at position 2"),
        ("e\u0301", TextError, "must be in NFC"),
        ("annZ", VocabularyError, r"got 'Z' \(U\+005A LATIN CAPITAL LETTER Z\).* 3"),
        ("an\tn", VocabularyError, r"got '\\t' \(U\+0009 no name\) at position 2"),
        (JIMIN, VocabularyError, r"U\+C9C0 HANGUL SYLLABLE JI\) at position 0"),
        (None, KindError, "the document must be text, got None"),
        (["a"], KindError, "the document must be text"),
        (b"ann", KindError, "the document must be text"),
    ],
)
def test_a_bad_document_is_refused(
    method: str, document: object, error: type[WhiteboxError], text: str
) -> None:
    with pytest.raises(error, match=text):
        getattr(Tokenizer(LETTERS), method)(document)


def test_the_text_of_an_unknown_character() -> None:
    with pytest.raises(VocabularyError) as caught:
        Tokenizer(LETTERS).encode("zo\u00eb")
    assert str(caught.value) == (
        "encode: each character must be one of the 26 known ones,"
        " got 'ë' (U+00EB LATIN SMALL LETTER E WITH DIAERESIS) at position 2"
    )


@given(st.integers())
def test_an_id_is_decoded_just_if_it_is_a_characters(token: int) -> None:
    tokenizer = Tokenizer("abc")
    if token in (0, 1, 2):
        assert tokenizer.decode([token]) == "abc"[token]
    else:
        with pytest.raises(VocabularyError, match="the id at position 1 must be"):
            tokenizer.decode([0, token])


@pytest.mark.parametrize("token", [-4, -3, -1, 4, 2**200])
def test_ids_out_of_range_are_refused(token: int) -> None:
    with pytest.raises(VocabularyError, match="must be at least 0 and below 3"):
        Tokenizer("abc").decode([token])


def test_bos_inside_a_decode_is_refused_with_its_place_and_the_mend() -> None:
    tokenizer = Tokenizer("abc")
    with pytest.raises(VocabularyError) as caught:
        tokenizer.decode([0, 3, 1])
    assert str(caught.value) == (
        "decode: the id at position 1 must be a character's, got BOS, 3."
        " Cut the frame off first, as in decode(ids[1:-1])."
    )
    assert tokenizer.decode(tokenizer.frame("cab")[1:-1]) == "cab"


@pytest.mark.parametrize(
    "token",
    [
        *(True, False, 1.0, 0.0, math.nan, "0", "a", None, [0], np.float64(1)),
        *(np.bool_(1), int, np.array([1]), np.array([1, 2]), np.array(1.0)),
    ],
    ids=repr,
)
def test_an_id_of_another_kind_is_refused(token: object) -> None:
    with pytest.raises(KindError, match="the id at position 1 must be an int"):
        Tokenizer("abc").decode([0, token])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "ids", [{0, 1}, {0: 1}, frozenset([0]), None, 0, np.array(0), int], ids=repr
)
def test_ids_without_an_order_are_refused(ids: object) -> None:
    with pytest.raises(KindError, match="the ids must stand in a fixed order"):
        Tokenizer("abc").decode(ids)  # type: ignore[arg-type]


def test_an_error_inside_a_generator_of_ids_is_its_own() -> None:
    def broken() -> Iterator[int]:
        yield 0
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        Tokenizer("abc").decode(broken())


def test_a_table_of_ids_is_refused() -> None:
    with pytest.raises(KindError, match="the id at position 0 must be an int"):
        Tokenizer("abc").decode(np.array([[0, 1], [1, 2]]))


NO_PATHS: list[tuple[object, type[WhiteboxError]]] = [
    (None, KindError),
    (3, KindError),
    (True, KindError),
    (b"v.json", KindError),
    (["v.json"], KindError),
    (Path, KindError),
    ("a\0b", TextError),
    (Path("a\0b"), TextError),
]


@pytest.mark.parametrize(("path", "error"), NO_PATHS, ids=repr)
def test_what_is_no_path_is_refused_before_a_file_is_touched(
    path: Any, error: type[WhiteboxError]
) -> None:
    calls: dict[str, Callable[[Any], object]] = {
        "Tokenizer.save": Tokenizer("ab").save,
        "Tokenizer.load": Tokenizer.load,
        "read_documents": read_documents,
    }
    for where, call in calls.items():
        with pytest.raises(error, match="the path must be") as caught:
            call(path)
        assert caught.value.where == where


def test_ids_may_come_from_numpy_a_generator_or_nowhere() -> None:
    tokenizer = Tokenizer("abc")
    assert tokenizer.decode(np.array([2, 0, 1])) == "cab"
    assert tokenizer.decode([np.array(2), np.int64(0)]) == "ca"
    assert tokenizer.decode(i for i in (2, 0, 1)) == "cab"
    assert tokenizer.decode([]) == ""


def test_every_refusal_is_also_the_builtin_that_a_caller_would_catch() -> None:
    assert issubclass(TextError, ValueError)
    assert issubclass(VocabularyError, ValueError)
    assert issubclass(KindError, TypeError)


# One vocabulary, for ever


def test_a_tokenizer_does_not_change() -> None:
    tokenizer = Tokenizer("abc")
    with pytest.raises(dataclasses.FrozenInstanceError):
        tokenizer.characters = ("x",)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        tokenizer.bos = 7  # type: ignore[misc]
    source = ["a", "b"]
    kept = Tokenizer(source)
    source.append("c")
    assert kept.characters == ("a", "b")


def test_equal_characters_make_equal_tokenizers() -> None:
    assert Tokenizer("abc") == Tokenizer(["a", "b", "c"])
    assert hash(Tokenizer("abc")) == hash(Tokenizer(("a", "b", "c")))
    assert Tokenizer("abc") != Tokenizer("abd")


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_works_like_its_original(
    again: Callable[[Tokenizer], Tokenizer],
) -> None:
    tokenizer = again(Tokenizer("abc"))
    assert tokenizer == Tokenizer("abc")
    assert tokenizer.frame("cab") == [3, 2, 0, 1, 3]


# Saved and loaded


@given(corpora)
def test_what_is_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[str]
) -> None:
    path = tmp_path_factory.mktemp("v") / "v.json"
    tokenizer = Tokenizer.of(corpus)
    tokenizer.save(path)
    assert Tokenizer.load(path) == tokenizer
    assert Tokenizer.load(str(path)).encode(corpus[0]) == tokenizer.encode(corpus[0])
    data = path.read_bytes()
    assert data.isascii() and data.endswith(b"}\n") and b"\r" not in data
    assert json.loads(data) == {
        "format": "whitebox_gpt.tokenizer",
        "version": 1,
        "characters": "".join(tokenizer.characters),
    }


def test_a_saved_file_survives_normalization(tmp_path: Path) -> None:
    tokenizer = Tokenizer(["\u1100", "\u1161"])
    assert len(unicodedata.normalize("NFC", "".join(tokenizer.characters))) == 1
    tokenizer.save(tmp_path / "v.json")
    text = unicodedata.normalize("NFC", (tmp_path / "v.json").read_text("utf-8"))
    (tmp_path / "v.json").write_text(text, "utf-8")
    assert Tokenizer.load(tmp_path / "v.json") == tokenizer


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the file must be JSON, got Expecting value"),
        (b"\xff", "the file must be JSON, got 'utf-8' codec can't decode byte 0xff"),
        (b"[" * 100_000, "the file must be JSON"),
        (b"1" * 10_000, "the file must be JSON"),
        (b"null", "one object of format, version and characters, got None"),
        (b"{}", r"got the keys \[\]"),
        (b"[]", r"got \[\] \(list\)"),
        (
            b'[["format", "whitebox_gpt.tokenizer"], ["version", 1],'
            b' ["characters", "ab"]]',
            r"one object .* \(list\)",
        ),
        (b'{"characters": "ab"}', r"got the keys \['characters'\]"),
        (f'{HEAD}1, "characters": "ab", "x": 0}}', "got the keys"),
        (f'{HEAD}1, "characters": "ab", "characters": "abc"}}', "got the keys"),
        (f'{HEAD}2, "characters": "ab"}}', "version must be 1, got 2"),
        (f'{HEAD}true, "characters": "ab"}}', "version must be 1, got True"),
        (f'{HEAD}1.0, "characters": "ab"}}', "version must be 1, got 1.0"),
        (
            '{"format": "other", "version": 1, "characters": "ab"}',
            "format must be 'whitebox_gpt.tokenizer', got 'other'",
        ),
        (f'{HEAD}1, "characters": ["a", "b"]}}', "characters must be text, got"),
        (f'{HEAD}1, "characters": null}}', "characters must be text, got None"),
        (f'{HEAD}1, "characters": ""}}', "a vocabulary must hold a character"),
        (f'{HEAD}1, "characters": "ba"}}', "sorted by code point, each once"),
        (f'{HEAD}1, "characters": "aa"}}', "sorted by code point, each once"),
        (f'{HEAD}1, "characters": "\\ud83d"}}', "half of a surrogate pair"),
        (f'{HEAD}1, "characters": "a\\u212b"}}', "character 1 must be in NFC"),
    ],
)
def test_a_malformed_file_is_refused_by_name(
    tmp_path: Path, content: bytes | str, text: str
) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(VocabularyError, match=text) as caught:
        Tokenizer.load(path)
    assert caught.value.where == str(path)


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    Tokenizer("ab\u00e9\U0001f600").save(path)
    whole = path.read_bytes()
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(VocabularyError):
            Tokenizer.load(path)


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError):
        read_documents(tmp_path / "none.txt")


# A file of documents


lines = st.text(
    pieces.filter(lambda c: c not in "\r\0")
    | st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff")
    | st.sampled_from("\u2028\u2029\x0b\x0c\x1c\x85 "),
    min_size=1,
    max_size=8,
).filter(lambda line: line.strip())


@given(
    st.lists(lines, min_size=1, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_documents_are_the_lines_composed(
    tmp_path_factory: pytest.TempPathFactory,
    written: list[str],
    end: str,
    ends_last: bool,
    has_mark: bool,
) -> None:
    path = tmp_path_factory.mktemp("d") / "d.txt"
    text = end.join(written) + end * ends_last
    path.write_bytes(b"\xef\xbb\xbf" * has_mark + text.encode())
    expected = [unicodedata.normalize("NFC", line) for line in written]
    assert read_documents(path) == read_documents(str(path)) == expected
    Tokenizer.of(expected)


@pytest.mark.parametrize(
    ("data", "line", "text"),
    [
        (b"", "", "a corpus must hold a document, got an empty file"),
        (b"\xef\xbb\xbf", "", "a corpus must hold a document, got an empty file"),
        (b"\n", ":1", "a document must hold more than white space, got ''"),
        (b"a\n\nb\n", ":2", "more than white space, got '' .* Remove the line"),
        (b"a\r\n\r\nb", ":2", "more than white space"),
        (b"a\nb\n\n", ":3", "more than white space"),
        (b"a\n \t\n", ":2", "more than white space"),
        ("a\n\u3000\n".encode(), ":2", "more than white space"),
        (b"a\rb\r", ":1", r"must not hold '\\r' \(U\+000D no name\), got 2 of it"),
        (b"a\nb\r", ":2", r"must not hold '\\r' .* got 1 of it"),
        ("ab\nc\n".encode("utf-16-le"), ":1", r"must not hold '\\x00' .* got 2 of it"),
        ("ab".encode("utf-16"), ":1", "must be UTF-8, got 0xFF at byte 0 of the line"),
        ("a\nzo\u00eb\n".encode("latin-1"), ":2", "got 0xEB at byte 2 of the line"),
        (b"a\nb\xed\xa0\x80", ":2", "got 0xED at byte 1"),  # half of a pair
        (b"a\xc0\x80", ":1", "got 0xC0 at byte 1"),  # a NUL in two bytes
        ("\uc9c0".encode()[:2], ":1", "got 0xEC at byte 0"),  # cut off
    ],
)
def test_a_malformed_file_of_documents_is_refused_by_line(
    tmp_path: Path, data: bytes, line: str, text: str
) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes(data)
    with pytest.raises(TextError, match=text) as caught:
        read_documents(path)
    assert caught.value.where == f"{path}{line}"


@given(st.lists(lines, min_size=1, max_size=4), st.data())
def test_a_wrong_byte_is_found_where_it_is(
    tmp_path_factory: pytest.TempPathFactory, written: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("d") / "d.txt"
    whole = "\n".join(written)
    place = data.draw(st.integers(0, len(whole)))
    broken = whole[:place].encode() + b"\xff" + whole[place:].encode()
    path.write_bytes(broken)
    with pytest.raises(TextError, match="must be UTF-8, got 0xFF at byte ") as caught:
        read_documents(path)
    line = int(caught.value.where.rpartition(":")[2])
    byte = int(caught.value.got.split()[3])
    assert broken.split(b"\n")[line - 1][byte] == 0xFF


def test_reading_composes_one_name_spelled_twice(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes(f"{JIMIN}\n{JIMIN_APART}\n".encode())
    assert read_documents(path) == [JIMIN, JIMIN]


# The names that come with the package


def test_the_first_names_are_the_lines_of_the_file() -> None:
    names = NAMES_FILE.read_text("ascii").splitlines()
    assert first_names() == names
    assert len(names) == len(set(names)) == 5163
    assert names == sorted(names)


def test_the_counts_that_the_chapter_states() -> None:
    text = NAMES_FILE.read_text("ascii")
    names = first_names()
    tokenizer = Tokenizer.of(names)
    assert "".join(tokenizer.characters) == LETTERS
    assert (tokenizer.bos, tokenizer.size) == (26, 27)
    pairs = [pair for name in names for pair in tokenizer.pairs(name)]
    assert len(pairs) == len(text) == 36_122
    assert sum(len(tokenizer.frame(name)) for name in names) == 41_285
    assert [tokenizer.decode(tokenizer.encode(name)) for name in names] == names
    # BOS is a target once a name, as the newline stands once a name in the file.
    for k, character in enumerate([*LETTERS, "\n"]):
        assert sum(target == k for _, target in pairs) == text.count(character)


def test_the_uniform_guess_costs_the_logarithm_of_the_size() -> None:
    exact = 3.295836866004329  # log 27 = 3 log 3 = 3.29583686600432907...
    size = Tokenizer.of(first_names()).size
    mean = sum(-math.log(1 / size) for _ in range(100)) / 100
    assert abs(math.log(size) - exact) <= 2 * math.ulp(exact)
    # A hundred sums may each round by half an ulp of a number below 512.
    assert abs(mean - exact) <= 100 * math.ulp(512.0) / 100


def test_the_demonstration_prints_what_it_checks() -> None:
    shown = run(f"-m {STAGE}").splitlines()
    assert shown[-1] == "sanity check: PASS"
    for line in (
        "documents = 5163",
        f"characters = {LETTERS}",
        "BOS = 26",
        "size = 27",
        "frame of anna = [26, 0, 13, 13, 0, 26]",
        "pairs of anna = [(26, 0), (0, 13), (13, 13), (13, 0), (0, 26)]",
        "every name comes back = True",
        "tokens = 41285",
        "pairs = 36122",
        "code points of Jimin in NFC and NFD = [2, 5]",
        "Jimin in NFD = TextError",
        "tokens of one family = 7",
        "a character twice = VocabularyError",
    ):
        assert line in shown
    assert "\n".join(shown).isascii()
    assert max(map(len, shown)) <= 84


def test_an_observation_is_wrapped_at_spaces_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, name = " ".join(["to-be"] * 20), "n" * 100
    observe("words", words, words)
    observe("a name", name, name)
    printed = capsys.readouterr().out
    assert printed.split() == f"words = {words} a name = {name}".split()
    assert [len(line) <= 84 for line in printed.splitlines()] == [
        *[True] * 3,
        False,
    ]
