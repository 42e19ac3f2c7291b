"""The pieces of a text that a mention covers: starts and ends, exclusive, in characters."""

from __future__ import annotations

from typing import TypeAlias

Pieces: TypeAlias = tuple[tuple[int, int], ...]


def covered(text: str, pieces: Pieces) -> list[str]:
    """What each piece covers; nothing if one of them is empty or not in `text`."""
    inside = all(0 <= start < end <= len(text) for start, end in pieces)
    return [text[start:end] for start, end in pieces] if inside else []


def agrees(text: str, pieces: Pieces, wanted: str | None) -> bool:
    """True if there are pieces and they cover `wanted`, with a space or nothing between.

    None is covered by all pieces in `text`.
    """
    found = covered(text, pieces)
    return bool(found) and wanted in (None, " ".join(found), "".join(found))


def shift(pieces: Pieces, by: int) -> Pieces:
    """The pieces so many characters further on."""
    return tuple((start + by, end + by) for start, end in pieces)
