"""The option lines that a chunk begins with: `#| key: value`, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from .names import canonical, file_fault, is_file, name_fault

Key = Literal["file", "id", "append", "replace"]
KEYS: tuple[Key, ...] = get_args(Key)
BECAUSE = "because"

OPTION = re.compile(r"# ?\|(?P<text>.*)")
SETTING = re.compile(r"\s*(?P<key>[^\s:]+)\s*:(?P<value>.*)")
# A comment that was meant as an option line, wherever it stands.
MEANT = re.compile(rf"#+\s*\|\s*({'|'.join((*KEYS, BECAUSE))})\s*:.*")

# A row of a cell's source, counted from 0, the kind of a problem, and its message.
Fault = tuple[int, str, str]


@dataclass(frozen=True)
class Option:
    """An option line; `value` is the plain text, white space folded, in NFC."""

    key: str
    value: str
    row: int


@dataclass(frozen=True)
class Options:
    """The option lines that a cell begins with, `count` of them.

    `unread` are the lines among them, as (row, text), that are not `key: value`.
    """

    items: tuple[Option, ...]
    count: int
    unread: tuple[tuple[int, str], ...]

    def get(self, key: str) -> str | None:
        """Return the value of an option, or None."""
        return next((item.value for item in self.items if item.key == key), None)

    @property
    def definition(self) -> tuple[Key, Option] | None:
        """What the cell defines: the key and its line, if there is just one."""
        found = [(key, o) for o in self.items for key in KEYS if o.key == key]
        return found[0] if len({key for key, _ in found}) == 1 else None


def options_of(source: str) -> Options:
    """Return the option lines at the top of a cell, `#|` and `# |` alike."""
    items: list[Option] = []
    unread = []
    count = 0
    for line in source.split("\n"):
        match = OPTION.fullmatch(line)
        if match is None:
            break
        setting = SETTING.fullmatch(match["text"])
        value = canonical(setting["value"]) if setting else ""
        if setting is None or not value:
            unread.append((count, line))
        else:
            items.append(Option(setting["key"], value, count))
        count += 1
    return Options(tuple(items), count, tuple(unread))


def option_faults(options: Options) -> Iterator[Fault]:
    """Yield everything wrong with the option lines of a cell."""
    for row, line in options.unread:
        yield (
            row,
            "option",
            f"an option line must be `#| key: value`, got {line!r}. Mend the line.",
        )
    yield from _key_faults(options)
    kinds = [key for key in KEYS if options.get(key) is not None]
    if len(kinds) > 1 or (not kinds and not options.unread):
        got = " and ".join(kinds) or "none"
        yield (
            0,
            "option",
            f"a chunk must have exactly one of {', '.join(KEYS)}, got {got}. Keep the "
            "one that is meant.",
        )
    yield from _because_faults(options)
    if options.definition is not None:
        yield from _name_faults(*options.definition)


def _key_faults(options: Options) -> Iterator[Fault]:
    seen: set[str] = set()
    for option in options.items:
        if option.key not in (*KEYS, BECAUSE):
            yield (
                option.row,
                "option",
                f"an option must be one of {', '.join(KEYS)}, {BECAUSE}, got "
                f"{option.key!r}. Mend its spelling or remove the line.",
            )
        elif option.key in seen:
            yield (
                option.row,
                "option",
                f"an option must be given once, got {option.key!r} twice. Remove one "
                "of the two lines.",
            )
        seen.add(option.key)


def _because_faults(options: Options) -> Iterator[Fault]:
    reasons = [option for option in options.items if option.key == BECAUSE]
    replacement = [option for option in options.items if option.key == "replace"]
    if replacement and not reasons:
        yield (
            replacement[0].row,
            "option",
            "`replace` must come with its reason, got none. Add `#| because: …`.",
        )
    elif reasons and not replacement:
        yield (
            reasons[0].row,
            "option",
            "`because` must come with `replace`, got it without. Remove the line.",
        )


def _name_faults(key: Key, option: Option) -> Iterator[Fault]:
    of_file = key == "file" or (key in ("append", "replace") and is_file(option.value))
    fault = file_fault(option.value) if of_file else name_fault(option.value)
    if fault:
        yield option.row, "file" if of_file else "name", fault
