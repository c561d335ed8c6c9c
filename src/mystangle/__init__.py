"""Tangle and weave a Jupyter Book: the chapters are the source of the package.

The public names are loaded when they are first used, so that a part which needs
only the standard library (`mystangle.write`) does not pay for a Markdown parser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .book import Book, Snapshot
    from .expand import Line, TangledFile
    from .language import Piece, Reference
    from .markdown import Cell, Chapter
    from .problems import (
        ChapterError,
        HandEditError,
        Location,
        MystangleError,
        Problem,
        SettingsError,
    )
    from .settings import Settings

_HOMES = {
    "Book": "book",
    "Cell": "markdown",
    "Chapter": "markdown",
    "ChapterError": "problems",
    "HandEditError": "problems",
    "Line": "expand",
    "Location": "problems",
    "MystangleError": "problems",
    "Piece": "language",
    "Problem": "problems",
    "Reference": "language",
    "Settings": "settings",
    "SettingsError": "problems",
    "Snapshot": "book",
    "TangledFile": "expand",
}

__all__ = [
    "Book",
    "Cell",
    "Chapter",
    "ChapterError",
    "HandEditError",
    "Line",
    "Location",
    "MystangleError",
    "Piece",
    "Problem",
    "Reference",
    "Settings",
    "SettingsError",
    "Snapshot",
    "TangledFile",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
