"""Stage 04: characters, and a token for the edge. Run it with `python -m`."""

import math
import unicodedata

from ..tokenizer import Tokenizer, first_names
from . import observe, refusal


def main() -> None:
    """Print the observations of stage 04, checking each."""
    # Number the characters of the first names
    names = first_names()
    tokenizer = Tokenizer.of(names)
    observe("documents", len(names), 5163)
    observe("characters", "".join(tokenizer.characters), "abcdefghijklmnopqrstuvwxyz")
    observe("BOS", tokenizer.bos, 26)
    observe("size", tokenizer.size, 27)
    # Frame a name and undo it
    ids = tokenizer.frame("anna")
    observe("frame of anna", ids, [26, 0, 13, 13, 0, 26])
    pairs = [(26, 0), (0, 13), (13, 13), (13, 0), (0, 26)]
    observe("pairs of anna", tokenizer.pairs("anna"), pairs)
    observe("decoded without its frame", tokenizer.decode(ids[1:-1]), "anna")
    back = [tokenizer.decode(tokenizer.encode(name)) for name in names]
    observe("every name comes back", back == names, True)
    # Count what a model will be trained on
    observe("tokens", sum(len(tokenizer.frame(name)) for name in names), 41285)
    observe("pairs", sum(len(tokenizer.pairs(name)) for name in names), 36122)
    uniform = math.log(tokenizer.size)
    observe("loss of a uniform guess", uniform, 3.295836866004329, ulps=2)
    # Look at a name in two spellings
    composed = "\uc9c0\ubbfc"
    apart = unicodedata.normalize("NFD", composed)
    observe("code points of Jimin in NFC and NFD", [len(composed), len(apart)], [2, 5])
    hangul = Tokenizer.of([composed])
    observe("Jimin in NFC", hangul.encode(composed), [1, 0])
    kind, _, _ = refusal(lambda: hangul.encode(apart)).partition(":")
    observe("Jimin in NFD", kind, "TextError")
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    observe("tokens of one family", len(Tokenizer.of([family]).encode(family)), 7)
    # Refuse what has no number, and what is no document
    observe(
        "a digit in a name",
        refusal(lambda: tokenizer.encode("anna7")),
        "VocabularyError: encode: each character must be one of the 26 known ones,"
        " got '7' (U+0037 DIGIT SEVEN) at position 4",
    )
    observe(
        "BOS inside a decode",
        refusal(lambda: tokenizer.decode(ids)),
        "VocabularyError: decode: the id at position 0 must be a character's,"
        " got BOS, 26. Cut the frame off first, as in decode(ids[1:-1]).",
    )
    # Refuse an id, a document, a corpus and a vocabulary
    observe(
        "id 27",
        refusal(lambda: tokenizer.decode([27])),
        "VocabularyError: decode: the id at position 0 must be at least 0 and below 26,"
        " got 27",
    )
    observe(
        "an empty document",
        refusal(lambda: tokenizer.encode("")),
        "TextError: encode: the document must hold a character, got an empty text",
    )
    observe(
        "an empty corpus",
        refusal(lambda: Tokenizer.of([])),
        "TextError: Tokenizer.of: a corpus must hold a document, got none",
    )
    kind, _, _ = refusal(lambda: Tokenizer("aa")).partition(":")
    observe("a character twice", kind, "VocabularyError")
    print("sanity check: PASS")


if __name__ == "__main__":
    main()
