"""Characters to token ids and back, and one BOS token around every document."""

from __future__ import annotations

import json
import reprlib
import unicodedata
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from os import fsencode, fspath
from pathlib import Path

from .errors import KindError, TextError, VocabularyError, describe
from .inputs import iterate, require_index

FORMAT, VERSION = "whitebox_gpt.tokenizer", 1  # of the file that `save` writes


# Say which character it is
def _named(character: str) -> str:
    """Return a character with its code point and its name in Unicode."""
    name = unicodedata.name(character, "no name")
    return f"{character!r} (U+{ord(character):04X} {name})"


# Refuse text that cannot be a document
def _require_document(where: str, what: str, text: object) -> str:
    if not isinstance(text, str):
        raise KindError(where, f"{what} must be text", describe(text))
    if not text:
        raise TextError(where, f"{what} must hold a character", "an empty text")
    # Refuse half of a surrogate pair
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        rule = f"{what} must not hold half of a surrogate pair"
        got = f"{_named(text[error.start])} at position {error.start}"
        raise TextError(where, rule, got) from None
    # Refuse text that is not composed
    composed = unicodedata.normalize("NFC", text)
    if text != composed:
        both = zip(text, composed, strict=False)
        t = next(t for t, (had, has) in enumerate(both) if had != has)
        rule = f"{what} must be in NFC, which has {_named(composed[t])} at position {t}"
        mend = 'Compose it with unicodedata.normalize("NFC", text).'
        raise TextError(where, rule, _named(text[t]), mend)
    return text


# Take characters only if they are sorted
def _require_characters(where: str, characters: Iterable[str]) -> tuple[str, ...]:
    rule = "the characters must stand in a fixed order, as in a list"
    checked = tuple(iterate(where, rule, characters, (Mapping, Set)))
    if not checked:
        raise VocabularyError(where, "a vocabulary must hold a character", "none")
    for i, character in enumerate(checked):
        _require_document(where, f"character {i}", character)
        # Refuse a character of several code points
        if len(character) != 1:
            rule = f"character {i} must be one code point"
            got = f"{len(character)}: {describe(character)}"
            raise VocabularyError(where, rule, got)
    for left, right in pairwise(checked):
        if left >= right:
            rule = "characters must be sorted by code point, each once"
            got = f"{_named(right)} after {_named(left)}"
            raise VocabularyError(where, rule, got)
    return checked


# Refuse what is no name of a file
def _require_path(where: str, path: str | Path) -> Path:
    try:
        name: object = fspath(path)
    except TypeError:
        name = None
    if not isinstance(name, str):
        raise KindError(where, "the path must be text or a Path", describe(path))
    try:
        fit = b"\0" not in fsencode(name)
    except UnicodeEncodeError:  # half of a surrogate pair
        fit = False
    if not fit:
        raise TextError(where, "the path must be one that can exist", describe(path))
    return Path(name)


# Number the characters of a vocabulary
@dataclass(frozen=True, init=False, repr=False)
class Tokenizer:
    """A sorted vocabulary: id i is the i-th character, and the last id is BOS.

    A character is one code point of text in NFC.
    Errors: KindError, TextError, VocabularyError, each before anything is made.
    Source: book/stage_04_characters_bos.md
    """

    characters: tuple[str, ...]
    _ids: dict[str, int] = field(compare=False)

    def __init__(self, characters: Iterable[str]) -> None:
        checked = _require_characters("Tokenizer", characters)
        object.__setattr__(self, "characters", checked)
        object.__setattr__(self, "_ids", {c: i for i, c in enumerate(checked)})

    # Take the vocabulary from the documents
    @classmethod
    def of(cls, documents: Iterable[str]) -> Tokenizer:
        """Return the tokenizer whose vocabulary is what the documents use.

        Errors: KindError if they are one text, a mapping or not iterable, or one is
                not text; TextError if there is none, or one is empty, not in NFC
                or holds half of a surrogate pair.
        """
        rule = "the documents must be several texts, as in a list"
        several = iterate("Tokenizer.of", rule, documents, (str, Mapping))
        used: set[str] = set()
        for i, document in enumerate(several):
            used.update(_require_document("Tokenizer.of", f"document {i}", document))
        if not used:
            raise TextError("Tokenizer.of", "a corpus must hold a document", "none")
        return cls(sorted(used))

    # Give BOS the number after the last character
    @property
    def bos(self) -> int:
        """The id that begins and ends a document."""
        return len(self.characters)

    @property
    def size(self) -> int:
        """How many ids there are, BOS included."""
        return len(self.characters) + 1

    def __repr__(self) -> str:
        return f"Tokenizer({reprlib.repr(''.join(self.characters))}, size={self.size})"

    # Turn characters into numbers
    def encode(self, document: str) -> list[int]:
        """Return the id of each character; BOS is not added.

        Shape:  n characters -> n ids.
        Errors: KindError or TextError if it is no document, as for `Tokenizer.of`;
                VocabularyError at a character that is not known.
        """
        text = _require_document("encode", "the document", document)
        for t, character in enumerate(text):
            if character not in self._ids:
                rule = f"each character must be one of the {self.bos} known ones"
                got = f"{_named(character)} at position {t}"
                raise VocabularyError("encode", rule, got)
        return [self._ids[character] for character in text]

    # Turn numbers into characters
    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of some ids, none of which may be BOS; no ids, no text.

        Errors: KindError if they have no fixed order, or one is not an int;
                VocabularyError for BOS, and for an id that stands for nothing.
        """
        rule = "the ids must stand in a fixed order, as in a list"
        several = iterate("decode", rule, ids, (Mapping, Set))
        checked = [self._require_id(t, token) for t, token in enumerate(several)]
        return "".join(self.characters[token] for token in checked)

    def _require_id(self, t: int, token: object) -> int:
        place = f"the id at position {t}"
        k = require_index("decode", place, token)
        # Refuse an id that stands for no character
        if k == self.bos:
            mend = "Cut the frame off first, as in decode(ids[1:-1])."
            got = f"BOS, {self.bos}"
            raise VocabularyError("decode", f"{place} must be a character's", got, mend)
        if not 0 <= k < self.bos:
            rule = f"{place} must be at least 0 and below {self.bos}"
            raise VocabularyError("decode", rule, describe(token))
        return k

    # Frame a document, and cut it into pairs
    def frame(self, document: str) -> list[int]:
        """Return the ids of a document with BOS on both sides.

        Shape:  n characters -> n + 2 ids.
        Errors: those of `encode`.
        """
        return [self.bos, *self.encode(document), self.bos]

    def pairs(self, document: str) -> list[tuple[int, int]]:
        """Return each id of the framed document with the one that follows it.

        Shape:  n characters -> n + 1 pairs (input, target).
        Errors: those of `encode`.
        """
        return list(pairwise(self.frame(document)))

    # Write the vocabulary down
    def save(self, path: str | Path) -> None:
        """Write the vocabulary to a JSON file, in ASCII only.

        Errors: KindError or TextError if `path` is no name of a file; OSError.
        """
        file = _require_path("Tokenizer.save", path)
        characters = "".join(self.characters)
        content = {"format": FORMAT, "version": VERSION, "characters": characters}
        file.write_text(json.dumps(content) + "\n", "ascii", newline="\n")

    # Read it back
    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Return the tokenizer in a file that `save` wrote.

        Errors: VocabularyError, naming the file, if it holds anything else;
                KindError or TextError if `path` is no name of a file; OSError.
        """
        where, data = str(path), _require_path("Tokenizer.load", path).read_bytes()
        try:
            pairs = json.loads(data.decode("utf-8"), object_pairs_hook=tuple)
        except (ValueError, RecursionError) as error:
            raise VocabularyError(where, "the file must be JSON", str(error)) from None
        # Refuse what is not one object
        content = dict(pairs) if isinstance(pairs, tuple) else {}
        if sorted(content) != ["characters", "format", "version"] or len(pairs) != 3:
            rule = "the file must be one object of format, version and characters"
            is_object = isinstance(pairs, tuple)
            got = f"the keys {[k for k, _ in pairs]}" if is_object else describe(pairs)
            raise VocabularyError(where, rule, got)
        # Refuse another format or version
        for key, known in (("format", FORMAT), ("version", VERSION)):
            found, rule = content[key], f"{key} must be {known!r}"
            if type(found) is not type(known) or found != known:
                raise VocabularyError(where, rule, describe(found))
        # Refuse characters that are no vocabulary
        characters = content["characters"]
        if not isinstance(characters, str):
            got = describe(characters)
            raise VocabularyError(where, "characters must be text", got)
        try:
            _require_characters(where, characters)
        except TextError as error:
            raise VocabularyError(error.where, error.expected, error.got) from None
        return cls(characters)


# Read a file of documents, one a line
def read_documents(path: str | Path) -> list[str]:
    """Return the documents of a UTF-8 text file, one a line, composed to NFC.

    Lines end in LF or CRLF, the last in either or neither; a byte order mark goes.
    Errors: TextError, naming file and line, if a line is blank, holds NUL or a lone
            CR, or is not UTF-8; OSError; KindError or TextError for `path` itself.
    Source: book/stage_04_characters_bos.md
    """
    return _documents(str(path), _require_path("read_documents", path).read_bytes())


def _documents(name: str, data: bytes) -> list[str]:
    # Refuse a byte that is not UTF-8
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].split(b"\n")
        where = f"{name}:{len(before)}"
        got = f"0x{data[error.start]:02X} at byte {len(before[-1])} of the line"
        mend = "Save the file as UTF-8."
        raise TextError(where, "a line must be UTF-8", got, mend) from None
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise TextError(name, "a corpus must hold a document", "an empty file")
    return [_require_line(f"{name}:{n}", line) for n, line in enumerate(lines, 1)]


def _require_line(where: str, line: str) -> str:
    if not line.strip():
        rule = "a document must hold more than white space"
        raise TextError(where, rule, describe(line), "Remove the line.")
    for character in "\r\0":
        if character in line:
            rule = f"a line must not hold {_named(character)}"
            mend = "Save the file as UTF-8 with line ends of one kind, LF or CRLF."
            raise TextError(where, rule, f"{line.count(character)} of it", mend)
    return unicodedata.normalize("NFC", line)


# Read the names that come with the package
def first_names() -> list[str]:
    """Return the first names in the 1990 census of the United States, sorted.

    Errors: OSError if the package has lost the file; TextError if it is damaged.
    Source: book/stage_04_characters_bos.md
    """
    file = files("whitebox_gpt").joinpath("data", "first_names.txt")
    return _documents(file.name, file.read_bytes())
