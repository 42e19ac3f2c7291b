"""Tokens marked as sentence starts, as a corpus gives them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

from spacy.tokens import Doc


def mark_sentences(doc: Doc, starts: Collection[int]) -> list[int]:
    """Set ``is_sent_start`` of every token; returns the `starts` where no token begins.

    Those move to the next token. The parser keeps what is set.
    """
    ordered = sorted(starts)
    previous = -1
    for token in doc:
        is_start = bisect_right(ordered, token.idx) > bisect_right(ordered, previous)
        token.is_sent_start = token.i == 0 or is_start
        previous = token.idx
    return sorted(set(starts) - {token.idx for token in doc})
