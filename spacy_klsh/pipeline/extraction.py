"""Doc and Candidates -> views: the structures that kernels compare."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..structures import Float32, Int32, Int64, Structures, concat_views
from ..trees import tree_paths
from .candidates import Candidates
from .contexts import NAMES as CONTEXTS
from .contexts import Contexts, spread
from .subtrees import RolePaths
from .token_table import ATTRIBUTES, TokenTable

WORDLIKE = ("lemma", "lower", "norm")
NAMES = ("path", "subtree", "dependents", *CONTEXTS)
MAX_CACHED_VECTORS = 20_000


class UnparsedDocError(ValueError):
    """A Doc with candidates has no dependency parse."""


@dataclass(kw_only=True)
class ViewExtractor:
    """Turns candidates into the views that the kernel compares.

    The ``path`` view is the shortest path in the dependency tree from the head's
    syntactic root to the tail's. Column 0 of a node is the arc by which the path
    enters it: ``dep=nsubj<`` from child to governor, ``dep=nsubj>`` from governor to
    child, ``dep=`` for the first node. No path (two sentences): no nodes. The ``subtree``
    view is the same path as a tree, rooted at its start. With more than two roles they
    are the paths from the first role to each other one, in their order or joined to one
    tree; see `subtrees.RolePaths`. The view ``dependents`` holds the tokens that hang on each
    path, but for those of its two entities, entered by their arc. The views ``before``,
    ``between`` and ``after`` hold the words of the sentence before the first argument, from
    the first to the last one, and behind it; their edges are empty but for the arguments
    between, each one node whose edge is ``role=`` and the name of its role.

    Parameters
    ----------
    names : list of str
        Views to extract.
    attributes : list of str
        What describes a node: lemma, lower, norm, pos, tag, ent_type. The word-like
        ones (lemma, lower, norm) carry the word vectors of the Doc's vocab, if any.
    blind : bool
        Show every token of a candidate entity as the entity's label alone, so that
        names are not learned by heart.
    window : int
        Most tokens in ``before`` and in ``after``.

    Raises
    ------
    ValueError
        If a name is unknown, none is given, or the window is below 1.
    """

    names: Sequence[str] = ("path", "dependents", *CONTEXTS)
    attributes: Sequence[str] = ("lemma",)
    blind: bool = True
    window: int = 5
    _vectors: _VectorCache = field(default_factory=lambda: _VectorCache(), repr=False)

    def __post_init__(self) -> None:
        if self.window < 1:
            raise ValueError(f"window is {self.window}; give at least 1 token.")
        for kind, given, known in (
            ("view", self.names, NAMES),
            ("attribute", self.attributes, ATTRIBUTES),
        ):
            unknown = [name for name in given if name not in known]
            if unknown or not given:
                raise ValueError(
                    f"{kind}s are {list(given)}; choose at least one of {', '.join(known)}."
                )

    def __call__(
        self, docs: Sequence[Doc], candidates: Sequence[Candidates]
    ) -> dict[str, Structures]:
        """The views of all candidates of all Docs, each with one structure a candidate.

        Raises
        ------
        UnparsedDocError
            If a Doc with candidates has no dependency parse.
        """
        for doc, found in zip(docs, candidates, strict=True):
            if len(found) and not doc.has_annotation("DEP"):
                raise UnparsedDocError(
                    f"a Doc with {len(found)} candidates has no dependency parse "
                    f"({doc.text[:40]!r}…); add a parser before klsh_relations in the pipeline."
                )
        pairs = zip(docs, candidates, strict=True)
        vocabs = groupby(pairs, lambda pair: id(pair[0].vocab))
        parts = [self._views(*zip(*group, strict=True)) for _, group in vocabs]
        return parts[0] if len(parts) == 1 else concat_views(parts)

    def _views(
        self, docs: Sequence[Doc], candidates: Sequence[Candidates]
    ) -> dict[str, Structures]:
        """The views of Docs with one vocab."""
        table = TokenTable(docs, candidates)
        role_paths = RolePaths(table)
        paths = _Paths(table, role_paths.pairs)
        contexts = Contexts(table, self.attributes, blind=self.blind, window=self.window)
        packed = {name: contexts.view(name) for name in self.names if name in CONTEXTS}
        packed["path"] = paths.nodes(self.attributes, blind=self.blind), paths.offsets
        if "dependents" in self.names:
            packed["dependents"] = paths.dependents(self.attributes, blind=self.blind)
        symbols = tuple(table.symbols)
        vectors = self._vectors.of(docs[0].vocab, symbols)
        views = {name: Structures(*nodes, symbols, vectors) for name, nodes in packed.items()}
        if "subtree" in self.names:
            views["subtree"] = role_paths.subtree(views["path"], paths.tokens)
        if "dependents" in self.names:
            views["dependents"] = role_paths.joined(views["dependents"])
        views["path"] = role_paths.path(views["path"])
        return {name: views[name] for name in self.names}


class _Paths:
    """Paths from heads to tails, as rows of the symbols of `table`."""

    def __init__(self, table: TokenTable, pairs: Candidates) -> None:
        self._table, self._arguments = table, pairs.arguments
        ends = table.roots[pairs.arguments.T]
        self.tokens, self._arcs, self.offsets = tree_paths(table.governors, *ends)

    def nodes(self, attributes: Sequence[str], *, blind: bool) -> Int32:
        """The edge by which each node is entered and its attributes.

        int32 (n_nodes, 1 + n_attributes).
        """
        labels = self._labels() if blind else np.full(len(self.tokens), -1)
        words = self._table.words(self.tokens, attributes, labels)
        return np.concatenate([self._edges()[:, None], words], axis=1)

    def _edges(self) -> Int32:
        down, start = self._arcs == self.tokens, self._arcs < 0
        out = np.full(len(down), self._table.row("dep="), np.int32)
        for mark, chosen in ((">", down), ("<", ~(down | start))):
            out[chosen] = self._table.rows("dep", self._arcs[chosen], "dep={}" + mark)
        return out

    def dependents(self, attributes: Sequence[str], *, blind: bool) -> tuple[Int32, Int64]:
        """Nodes of the tokens that hang on each path, not of its own entities, and their offsets.

        int32 (n_nodes, 1 + n_attributes) and int64 (n + 1,); in the order of the path, and
        those of one governor in that of the text.
        """
        table = self._table
        children = np.argsort(table.governors, kind="stable")
        children = children[table.governors[children] != children]  # a root hangs on nothing
        above = table.governors[children]
        places, steps, _ = spread(
            *(np.searchsorted(above, self.tokens, s) for s in ("left", "right"))
        )
        tokens = children[places]
        owners = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))[steps]
        hangs = np.ones(len(tokens), bool)
        for step in (steps - 1, steps + 1):  # a child on the path stands beside its governor
            step = np.clip(step, self.offsets[owners], self.offsets[owners + 1] - 1)
            hangs &= tokens != self.tokens[step]
        for entity in self._arguments[owners].T:
            hangs &= (tokens < table.starts[entity]) | (tokens >= table.ends[entity])
        tokens, owners = tokens[hangs], owners[hangs]
        labels = table.shown_labels(tokens, blind=blind)
        edges = table.rows("dep", tokens, "dep={}>")
        nodes = np.concatenate([edges[:, None], table.words(tokens, attributes, labels)], axis=1)
        return nodes, np.searchsorted(owners, np.arange(len(self.offsets))).astype(np.int64)

    def _labels(self) -> Int64:
        """Symbol of the entity that a node belongs to, int64 (n_nodes,); -1: none.

        At the ends that is the candidate's own one, elsewhere the first one that holds
        the token.
        """
        out = self._table.entity_labels[self.tokens]
        filled = np.diff(self.offsets) > 0
        heads, tails = self._table.labels[self._arguments[filled].T]
        out[self.offsets[:-1][filled]], out[self.offsets[1:][filled] - 1] = heads, tails
        return out


class _VectorCache:
    """Unit vectors of symbols, kept for the vector table that was seen last."""

    def __init__(self) -> None:
        self._seen: tuple[Any, dict[str, Float32]] = (None, {})

    def of(self, vocab: Vocab, symbols: Collection[str]) -> Float32:
        """A row for every symbol, float32 (n_symbols, ``vocab.vectors_length``)."""
        out = np.zeros((len(symbols), vocab.vectors_length), np.float32)
        if not vocab.vectors_length:
            return out
        table, rows = self._seen
        if table is not vocab.vectors or len(rows) > MAX_CACHED_VECTORS:
            rows = {}
            self._seen = (vocab.vectors, rows)
        for i, symbol in enumerate(symbols):
            if symbol not in rows:
                rows[symbol] = _unit_vector(vocab, symbol)
            out[i] = rows[symbol]
        return out


def _unit_vector(vocab: Vocab, symbol: str) -> Float32:
    attribute, _, word = symbol.partition("=")
    for form in (word, word.lower()) if attribute in WORDLIKE else ():
        vector = np.asarray(vocab.get_vector(form), np.float64)
        norm = np.sqrt((vector * vector).sum())
        if norm > 0:
            unit: Float32 = (vector / norm).astype(np.float32)
            return unit
    return np.zeros(vocab.vectors_length, np.float32)
