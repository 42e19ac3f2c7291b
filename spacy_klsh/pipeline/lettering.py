"""How wide words are, and which way they run: what a drawing must know of letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby

NARROW, BROAD = set("iljtfrI.,:;'`|!()[]{}/-\\ יוזן"), set("mwMW@%—…")


def text_width(text: str, size: float) -> float:
    """About as wide as `text` is in a sans-serif face; the SVG then makes it exactly so."""
    return size * max(sum(map(_letter_width, text)), 0.3)


def _letter_width(letter: str) -> float:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in NARROW:
        return 0.31
    if letter in BROAD:
        return 0.86
    return 0.66 if letter.isupper() else 0.55


def is_from_right(text: str) -> bool:
    """Whether most letters of `text` belong to a script that runs from right to left."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")


def visual_order(words: Sequence[str], *, from_right: bool) -> list[int]:
    """Places of the words of a line from left to right; each script runs its own way."""
    sides = _sides(words, from_right)
    order: list[int] = []
    for side, run in groupby(range(len(words)), key=sides.__getitem__):
        places = list(run)
        order += places if side == from_right else places[::-1]
    return order[::-1] if from_right else order


def _sides(words: Sequence[str], from_right: bool) -> list[bool]:
    """Whether each word runs from the right; those without letters do as their neighbours."""
    own = [is_from_right(w) if any(map(str.isalpha, w)) else None for w in words]
    sides = []
    for k in range(len(words)):
        before = next((side for side in own[k::-1] if side is not None), from_right)
        after = next((side for side in own[k:] if side is not None), from_right)
        sides.append(before if before == after else from_right)
    return sides
