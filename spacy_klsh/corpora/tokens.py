"""Tokens made to fit a corpus: split at given characters, marked as sentence starts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from itertools import pairwise

from spacy.tokens import Doc


def split_tokens(doc: Doc, cuts: Collection[int]) -> Doc:
    """Doc of the same text with tokens split at the character offsets `cuts`.

    Only words, spaces and norms (the tokenizer knows that "n't" is "not") are carried over;
    without a cut inside a token it is `doc` itself.
    """
    ordered = sorted(cuts)
    words: list[str] = []
    spaces: list[bool] = []
    for token in doc:
        end = token.idx + len(token)
        inside = ordered[bisect_right(ordered, token.idx) : bisect_left(ordered, end)]
        edges = [edge - token.idx for edge in (token.idx, *inside, end)]
        words += [token.text[a:b] for a, b in pairwise(edges)]
        spaces += [False] * len(inside) + [bool(token.whitespace_)]
    if len(words) == len(doc):
        return doc
    split = Doc(doc.vocab, words=words, spaces=spaces)
    norms = {(token.idx, len(token)): token.norm_ for token in doc}
    for token in split:
        token.norm_ = norms.get((token.idx, len(token)), token.norm_)
    return split


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
