"""Doc and Candidates -> views: the structures that kernels compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..structures import Float32, Int32, Structures
from ..trees import tree_paths
from .candidates import Candidates
from .subtrees import Pieces

ATTRIBUTES: dict[str, Callable[[Token], str]] = {
    "lemma": lambda token: token.lemma_ or token.lower_,
    "lower": lambda token: token.lower_,
    "norm": lambda token: token.norm_,
    "pos": lambda token: token.pos_,
    "tag": lambda token: token.tag_,
    "ent_type": lambda token: token.ent_type_,
}
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
    tree; see `subtrees.Pieces`.

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
            ("attribute", self.attributes, tuple(ATTRIBUTES)),
        ):
            unknown = [name for name in given if name not in known]
            if unknown or not given:
                raise ValueError(
                    f"{kind}s are {list(given)}; choose at least one of {', '.join(known)}."
                )

    def __call__(self, doc: Doc, candidates: Candidates) -> dict[str, Structures]:
        """The views of `candidates`, each with one structure a candidate.

        Raises
        ------
        UnparsedDocError
            If there are candidates but `doc` has no dependency parse.
        """
        if len(candidates) and not doc.has_annotation("DEP"):
            raise UnparsedDocError(
                f"a Doc with {len(candidates)} candidates has no dependency parse "
                f"({doc.text[:40]!r}…); add a parser before klsh_relations in the pipeline."
            )
        pieces = Pieces(candidates)
        path = _Path(doc, pieces.pairs)
        edges = path.edges()
        nodes = path.nodes(self.attributes, blind=self.blind)
        structures = Structures(
            nodes=np.concatenate([edges[:, None], nodes], axis=1),
            offsets=path.offsets,
            symbols=tuple(path.symbols),
            vectors=self._vectors.of(doc.vocab, path.symbols),
        )
        views = {}
        for name in self.names:
            views[name] = (
                pieces.path(structures)
                if name == "path"
                else pieces.subtree(structures, path._tokens)
            )
        return views


class _Path:
    """Paths between the entities of one Doc, as rows of its own dictionary of symbols."""

    def __init__(self, doc: Doc, candidates: Candidates) -> None:
        self.symbols: dict[str, int] = {}
        self._doc = doc
        self._entities, self._arguments = candidates.entities, candidates.arguments
        roots = np.array([span.root.i for span in candidates.entities], np.int64)
        offsets = doc.to_array("HEAD").view(np.int64)  # relative, unsigned as spaCy gives them
        heads, tails = roots[self._arguments[:, 0]], roots[self._arguments[:, 1]]
        self._tokens, self._arcs, self.offsets = tree_paths(
            np.arange(len(doc)) + offsets, heads, tails
        )

    def edges(self) -> Int32:
        """Symbol of the arc by which each node is entered, int32 (n_nodes,)."""
        down = self._arcs == self._tokens
        rows = map(cache(self._edge), self._arcs.tolist(), down.tolist())
        return np.array(list(rows), np.int32)

    def _edge(self, arc: int, down: bool) -> int:
        return self._row(f"dep={self._doc[arc].dep_}{'<>'[down]}" if arc >= 0 else "dep=")

    def nodes(self, attributes: Sequence[str], *, blind: bool) -> Int32:
        """Symbols of the attributes of each node, int32 (n_nodes, n_attributes)."""
        readers = [(f"{name}=", ATTRIBUTES[name]) for name in attributes]
        labels: list[int] = []
        shown: dict[int, list[int]] = {}
        for span in self._entities if blind else ():
            labels.append(self._row(f"label={span.label_}"))
            for i in range(span.start, span.end):
                shown.setdefault(i, labels[-1:] * len(attributes))
        used, places = np.unique(self._tokens, return_inverse=True)
        rows = [shown.get(i) or self._describe(i, readers) for i in used.tolist()]
        nodes = np.array(rows, np.int32).reshape(len(rows), len(attributes))[places]
        if blind:
            filled = np.diff(self.offsets) > 0
            ends = np.array(labels, np.int32)[self._arguments[filled]]
            nodes[self.offsets[:-1][filled]] = ends[:, :1]
            nodes[self.offsets[1:][filled] - 1] = ends[:, 1:]
        return nodes

    def _describe(self, i: int, readers: Sequence[tuple[str, Callable[[Token], str]]]) -> list[int]:
        token = self._doc[i]
        return [self._row(prefix + read(token)) for prefix, read in readers]

    def _row(self, symbol: str) -> int:
        return self.symbols.setdefault(symbol, len(self.symbols))


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
