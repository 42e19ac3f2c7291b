"""The tokens and entities of many Docs as one table, and the symbols that stand for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..structures import Int32, Int64
from .candidates import Candidates, joined

Uint64: TypeAlias = NDArray[np.uint64]

ATTRIBUTES = ("lemma", "lower", "norm", "pos", "tag", "ent_type")
COLUMNS = ("head", "dep", "sent_start", "lower")  # whatever the attributes are


class Layout(NamedTuple):
    """The nodes of a view of each candidate, before attributes describe them.

    Parameters
    ----------
    tokens : int64 array (n_nodes,)
    edges : int32 array (n_nodes,)
        Symbol of the edge by which each is entered.
    labels : int64 array (n_nodes,)
        Symbol that a node shows in the place of its token; -1: none.
    offsets : int64 array (n + 1,)
    parents : int32 array (n_nodes,), optional
        Of trees.
    """

    tokens: Int64
    edges: Int32
    labels: Int64
    offsets: Int64
    parents: Int32 | None = None


class TokenTable:
    """Docs with one vocab: their tokens in one row, their entities in another.

    Parameters
    ----------
    docs : sequence of Doc
    candidates : sequence of Candidates
        Of each Doc.
    attributes : collection of str
        Those of `ATTRIBUTES` that nodes will show.

    Attributes
    ----------
    candidates : Candidates
        Those of all Docs, over the entities of all of them.
    starts, ends, roots : int64 arrays (n_entities,)
        First token of each entity, the one behind its last, and its syntactic root.
    governors : int64 array (n_tokens,)
        A root is its own.
    symbols : dict of symbol to row
    """

    def __init__(
        self, docs: Sequence[Doc], candidates: Sequence[Candidates], attributes: Collection[str]
    ) -> None:
        self.symbols: dict[str, int] = {}
        self._rows: dict[str, Int32] = {}  # of each token for a template, -1: not looked up yet
        self._strings = docs[0].vocab.strings
        names = list(dict.fromkeys((*COLUMNS, *attributes)))
        ids: list[int | str] = [name.upper() for name in names]  # as spaCy spells them
        tables = [doc.to_array(ids).reshape(-1, len(ids)) for doc in docs]
        self._columns = dict(zip(names, np.concatenate(tables).T, strict=True))
        if "lemma" in names:
            lemmas = self._columns["lemma"]
            lemmas[lemmas == 0] = self._columns["lower"][lemmas == 0]
        offsets = self._columns["head"].view(np.int64)  # to the governor, unsigned in spaCy
        self.governors = np.arange(len(offsets)) + offsets
        self.candidates = joined(candidates)
        entities = self.candidates.entities
        first = np.cumsum([0, *map(len, tables)])[:-1]
        shifts = np.repeat(first, [len(found.entities) for found in candidates])
        bounds = np.array([(s.start, s.end, _root(s)) for s in entities], np.int64)
        self.starts, self.ends, self.roots = (bounds.reshape(-1, 3) + shifts[:, None]).T
        self._first = first

    @cached_property
    def labels(self) -> Int64:
        """Symbol of the label of each entity, int64 (n_entities,)."""
        entities = self.candidates.entities
        return np.array([self.row(f"label={span.label_}") for span in entities], np.int64)

    @cached_property
    def roles(self) -> Int32:
        """Symbol of each role, int32 (n_roles,)."""
        return np.array([self.row(f"role={name}") for name in self.candidates.roles], np.int32)

    @cached_property
    def entity_labels(self) -> Int64:
        """Symbol of the label of the first entity that holds each token; -1: none."""
        out = np.full(len(self.governors), -1)
        bounds = zip(self.starts.tolist(), self.ends.tolist(), self.labels.tolist(), strict=True)
        for start, end, label in reversed(list(bounds)):
            out[start:end] = label
        return out

    @cached_property
    def sentences(self) -> Int64:
        """Where the sentences start, and the number of tokens, int64 (n_sentences + 1,)."""
        is_start = self._columns["sent_start"] == 1
        is_start[self._first[self._first < len(is_start)]] = True
        return np.append(np.flatnonzero(is_start), len(is_start))

    def shown_labels(self, tokens: Int64, *, blind: bool) -> Int64:
        """`entity_labels` of `tokens` if these are to be `blind`, else -1; int64 (n,)."""
        return self.entity_labels[tokens] if blind else np.full(len(tokens), -1)

    def nodes(self, layout: Layout, attributes: Sequence[str]) -> Int32:
        """Edges and attributes of the nodes, int32 (n_nodes, 1 + n_attributes)."""
        out = np.empty((len(layout.tokens), 1 + len(attributes)), np.int32)
        out[:, 0] = layout.edges
        for column, name in enumerate(attributes, 1):
            words = self._looked_up(name, layout.tokens, f"{name}={{}}", layout.labels < 0)
            out[:, column] = np.where(layout.labels < 0, words, layout.labels)
        return out

    def rows(self, attribute: str, tokens: Int64, template: str) -> Int32:
        """Symbol of an attribute of each token, int32 (n,)."""
        return self._looked_up(attribute, tokens, template, np.True_)

    def _looked_up(
        self, attribute: str, tokens: Int64, template: str, wanted: NDArray[np.bool_] | np.bool_
    ) -> Int32:
        """`rows` of the `wanted` tokens, of the others -1 unless they are known anyway."""
        column = self._columns[attribute]
        if template not in self._rows:
            self._rows[template] = np.full(len(column), -1, np.int32)
        of_token = self._rows[template]
        found = of_token[tokens]
        missing = (found < 0) & wanted
        if not missing.any():
            return found
        new = np.zeros(len(column), bool)
        new[tokens[missing]] = True  # each token once: there are many fewer than nodes
        ids, places = np.unique(column[new], return_inverse=True)
        before, behind = template.split("{}")
        strings, row = self._strings, self.row
        rows = [row(before + strings[id] + behind) for id in ids.tolist()]
        of_token[new] = np.array(rows, np.int32)[places]
        return of_token[tokens]

    def row(self, symbol: str) -> int:
        """Row of a symbol, a new one if need be."""
        return self.symbols.setdefault(symbol, len(self.symbols))


def _root(span: Span) -> int:
    return span.start if span.end == span.start + 1 else span.root.i  # the latter is slow
