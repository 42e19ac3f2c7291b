"""Tokens marked as sentence starts, as a corpus gives them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from spacy.tokens import Doc


def mark_sentences(doc: Doc, starts: Collection[int]) -> list[int]:
    """Set ``is_sent_start`` of every token; returns the `starts` where no token begins.

    Those move to the next token. The parser keeps what is set.
    """
    offsets = np.array([token.idx for token in doc], np.int64)
    marks = np.full(len(doc), -1, np.int64)
    marks[:1] = 1
    rows = np.searchsorted(offsets, sorted(starts))
    marks[rows[rows < len(doc)]] = 1
    column: Any = marks.view(np.uint64)
    doc.from_array(["SENT_START"], column)
    return sorted(set(starts).difference(offsets.tolist()))
