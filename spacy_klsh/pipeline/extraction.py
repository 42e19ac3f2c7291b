"""Doc and Candidates -> views: the structures that kernels compare."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..structures import Float32, Int32, Int64, Structures, concat_views
from ..trees import tree_paths
from .candidates import Candidates
from .subtrees import RolePaths

Uint64: TypeAlias = NDArray[np.uint64]

ATTRIBUTES = ("lemma", "lower", "norm", "pos", "tag", "ent_type")
WORDLIKE = ("lemma", "lower", "norm")
NAMES = ("path", "subtree")
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
    tree; see `subtrees.RolePaths`.

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
    """

    names: Sequence[str] = NAMES
    attributes: Sequence[str] = ("lemma",)
    blind: bool = True
    _vectors: _VectorCache = field(default_factory=lambda: _VectorCache(), repr=False)

    def __post_init__(self) -> None:
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
        shifts = np.cumsum([0, *(len(found.entities) for found in candidates)])
        role_paths = RolePaths(_joined(candidates, shifts))
        paths = _Paths(docs, np.diff(shifts), role_paths.pairs)
        nodes = paths.nodes(self.attributes, blind=self.blind)
        structures = Structures(
            nodes=np.concatenate([paths.edges()[:, None], nodes], axis=1),
            offsets=paths.offsets,
            symbols=tuple(paths.symbols),
            vectors=self._vectors.of(docs[0].vocab, paths.symbols),
        )
        return {
            name: role_paths.path(structures)
            if name == "path"
            else role_paths.subtree(structures, paths.tokens)
            for name in self.names
        }


def _joined(candidates: Sequence[Candidates], shifts: Int64) -> Candidates:
    """Candidates of all Docs, over the entities of all of them."""
    arguments = [
        np.where(found.arguments < 0, -1, found.arguments + shift).astype(np.int32)
        for found, shift in zip(candidates, shifts[:-1], strict=True)
    ]
    entities = tuple(chain.from_iterable(found.entities for found in candidates))
    return Candidates(candidates[0].roles, entities, np.concatenate(arguments))


class _Paths:
    """Paths from heads to tails in Docs with one vocab, as rows of their own symbols.

    All tokens stand in one row; `n_entities` tells whose the entities of `pairs` are.
    """

    def __init__(self, docs: Sequence[Doc], n_entities: Int64, pairs: Candidates) -> None:
        self.symbols: dict[str, int] = {}
        self._strings = docs[0].vocab.strings
        columns = ["head", "dep", *ATTRIBUTES]
        ids: list[int | str] = [name.upper() for name in columns]  # as spaCy spells them
        tables = [doc.to_array(ids).reshape(-1, len(ids)) for doc in docs]
        self._columns = dict(zip(columns, np.concatenate(tables).T, strict=True))
        lemmas = self._columns["lemma"]
        lemmas[lemmas == 0] = self._columns["lower"][lemmas == 0]
        self._entities, self._arguments = pairs.entities, pairs.arguments
        first = np.cumsum([0, *map(len, tables)])[:-1]
        self._shifts = np.repeat(first, n_entities)  # of the tokens of each entity
        roots = self._shifts + np.array([_root(span) for span in self._entities], np.int64)
        offsets = self._columns["head"].view(np.int64)  # to the governor, unsigned in spaCy
        self.tokens, self._arcs, self.offsets = tree_paths(
            np.arange(len(offsets)) + offsets, *roots[self._arguments.T]
        )

    def edges(self) -> Int32:
        """Symbol of the arc by which each node is entered, int32 (n_nodes,)."""
        down, start = self._arcs == self.tokens, self._arcs < 0
        out = np.full(len(down), self._row("dep="), np.int32)
        for mark, chosen in ((">", down), ("<", ~(down | start))):
            out[chosen] = self._rows("dep", self._arcs[chosen], "dep={}" + mark)
        return out

    def nodes(self, attributes: Sequence[str], *, blind: bool) -> Int32:
        """Symbols of the attributes of each node, int32 (n_nodes, n_attributes)."""
        shown = self._labels() if blind else np.full(len(self.tokens), -1)
        out = np.repeat(shown[:, None].astype(np.int32), len(attributes), axis=1)
        for column, name in zip(out.T, attributes, strict=True):
            column[shown < 0] = self._rows(name, self.tokens[shown < 0], f"{name}={{}}")
        return out

    def _labels(self) -> Int64:
        """Symbol of the entity that a node belongs to, int64 (n_nodes,); -1: none.

        At the ends that is the candidate's own one, elsewhere the first one that holds
        the token.
        """
        labels = np.array([self._row(f"label={span.label_}") for span in self._entities], np.int64)
        of_token = np.full(len(self._columns["head"]), -1)
        spans = list(zip(self._entities, self._shifts.tolist(), labels.tolist(), strict=True))
        for span, shift, label in reversed(spans):
            of_token[span.start + shift : span.end + shift] = label
        out = of_token[self.tokens]
        filled = np.diff(self.offsets) > 0
        heads, tails = labels[self._arguments[filled].T]
        out[self.offsets[:-1][filled]], out[self.offsets[1:][filled] - 1] = heads, tails
        return out

    def _rows(self, attribute: str, tokens: Int64, template: str) -> Int32:
        """Symbol of an attribute of each token, int32 (n,)."""
        column = self._columns[attribute]
        chosen = np.zeros(len(column), bool)
        chosen[tokens] = True  # each token once: there are many fewer than nodes
        ids, places = np.unique(column[chosen], return_inverse=True)
        rows = [self._row(template.format(self._strings[id])) for id in ids.tolist()]
        of_token = np.empty(len(column), np.int32)
        of_token[chosen] = np.array(rows, np.int32)[places]
        return of_token[tokens]

    def _row(self, symbol: str) -> int:
        return self.symbols.setdefault(symbol, len(self.symbols))


def _root(span: Span) -> int:
    return span.start if span.end == span.start + 1 else span.root.i  # the latter is slow


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
