"""Views of a candidate's sentence: words before, between and after its entities, and all."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..structures import Int32, Int64
from .token_table import Layout, TokenTable

NAMES = ("before", "between", "after", "words")


class Contexts:
    """Tokens before the first entity of each candidate, up to its last one, behind it, and all.

    Parameters
    ----------
    table : TokenTable
    blind : bool
        Show tokens of entities as their label.
    window : int
        Most tokens before and after.
    """

    def __init__(self, table: TokenTable, *, blind: bool, window: int) -> None:
        self._table, self._blind, self._window = table, blind, window
        arguments = table.candidates.arguments
        absent = arguments < 0
        # an absent argument stands behind all others and has no width
        starts, ends = table.starts[arguments], table.ends[arguments]
        n_tokens = len(table.governors)
        self._starts = np.where(absent, n_tokens, starts)
        self._ends = np.where(absent, n_tokens, ends)
        self._first = self._starts.min(axis=1, initial=n_tokens)
        self._last = np.where(absent, 0, ends).max(axis=1, initial=0)

    def layout(self, name: str) -> Layout:
        """The nodes of one of `NAMES`."""
        if name == "between":
            return self._with_arguments(self._first, self._last)
        sentences = self._table.sentences
        start = sentences[np.searchsorted(sentences, self._first, side="right") - 1]
        end = sentences[np.searchsorted(sentences, self._last - 1, side="right")]
        if name == "words":
            return self._with_arguments(start, end)
        if name == "before":
            return self._plain(np.maximum(start, self._first - self._window), self._first)
        return self._plain(self._last, np.minimum(end, self._last + self._window))

    def _plain(self, starts: Int64, ends: Int64) -> Layout:
        """The tokens from each start to its end."""
        tokens, _, offsets = spread(starts, ends)
        return Layout(tokens, self._edges(tokens), self._shown(tokens), offsets)

    def _with_arguments(self, starts: Int64, ends: Int64) -> Layout:
        """The tokens from each start to its end, but each argument as one node with its role."""
        tokens, owners, _ = spread(starts, ends)
        is_word = np.ones(len(tokens), bool)
        for start, end in zip(self._starts.T, self._ends.T, strict=True):
            is_word &= (tokens < start[owners]) | (tokens >= end[owners])
        tokens, owners = tokens[is_word], owners[is_word]
        candidates, places, arguments = self._arguments
        before = np.searchsorted(self._places(owners, tokens), places, side="right")
        owners = np.insert(owners, before, candidates)
        return Layout(
            np.insert(tokens, before, arguments.tokens),
            np.insert(self._edges(tokens), before, arguments.edges),
            np.insert(self._shown(tokens), before, arguments.labels),
            np.searchsorted(owners, np.arange(len(self._first) + 1)).astype(np.int64),
        )

    @cached_property
    def _arguments(self) -> tuple[Int64, Int64, Layout]:
        """The candidate of each argument, its place among all of them, and their nodes."""
        table = self._table
        arguments = table.candidates.arguments
        candidates, roles = np.nonzero(arguments >= 0)
        named = arguments[candidates, roles].astype(np.int64)
        places = self._places(candidates, table.starts[named])
        order = np.argsort(places, kind="stable")  # roles of one start in their order
        candidates, roles, named = candidates[order], roles[order], named[order]
        shown = table.labels[named] if self._blind else np.full(len(named), -1)
        offsets = np.searchsorted(candidates, np.arange(len(arguments) + 1))
        nodes = Layout(table.roots[named], table.roles[roles], shown, offsets)
        return candidates, places[order], nodes

    def _places(self, candidates: Int64, tokens: Int64) -> Int64:
        """Numbers that rise with the candidate, and with the token of one."""
        return candidates * len(self._table.governors) + tokens

    def _edges(self, tokens: Int64) -> Int32:
        return np.full(len(tokens), self._table.row("dep="), np.int32)

    def _shown(self, tokens: Int64) -> Int64:
        return self._table.shown_labels(tokens, blind=self._blind)


def spread(starts: Int64, ends: Int64) -> tuple[Int64, Int64, Int64]:
    """All numbers from each start to its end (exclusive), whose they are, and where each begins.

    Returns
    -------
    numbers, owners : int64 arrays (n_numbers,)
    offsets : int64 array (n + 1,)
    """
    lengths = np.maximum(ends - starts, 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    owners = np.repeat(np.arange(len(starts)), lengths)
    return np.arange(offsets[-1]) - offsets[owners] + starts[owners], owners, offsets
