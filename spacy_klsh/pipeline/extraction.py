"""Doc and Candidates -> views: the structures that kernels compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..structures import Float32, Structures
from .candidates import Candidates

ATTRIBUTES: dict[str, Callable[[Token], str]] = {
    "lemma": lambda token: token.lemma_ or token.lower_,
    "lower": lambda token: token.lower_,
    "norm": lambda token: token.norm_,
    "pos": lambda token: token.pos_,
    "tag": lambda token: token.tag_,
    "ent_type": lambda token: token.ent_type_,
}
WORDLIKE = ("lemma", "lower", "norm")
NAMES = ("path",)
MAX_CACHED_VECTORS = 20_000

Node = tuple[str, ...]


@dataclass(kw_only=True)
class ViewExtractor:
    """Turns candidates into the views that the kernel compares.

    The ``path`` view is the shortest path in the dependency tree from the head's
    syntactic root to the tail's. Column 0 of a node is the arc by which the path
    enters it: ``dep=nsubj<`` from child to governor, ``dep=nsubj>`` from governor to
    child, ``dep=`` for the first node. No path (two sentences): no nodes.

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
        ValueError
            If there are candidates but `doc` has no dependency parse.
        """
        if len(candidates) and not doc.has_annotation("DEP"):
            raise ValueError(
                f"a Doc with {len(candidates)} candidate pairs has no dependency parse "
                f"({doc.text[:40]!r}…); add a parser before klsh_relations in the pipeline."
            )
        describe = _Describer(doc, candidates, self.attributes, blind=self.blind)
        paths = [describe.path(head, tail) for head, tail in candidates.arguments]
        symbols = {symbol for path in paths for node in path for symbol in node}
        structures = Structures.from_symbols(
            paths,
            self._vectors.of(doc.vocab, symbols),
            n_attributes=1 + len(self.attributes),
            dim=doc.vocab.vectors_length,
        )
        return {"path": structures}


class _Describer:
    """Paths between the entities of one Doc as tuples of symbols."""

    def __init__(
        self, doc: Doc, candidates: Candidates, attributes: Sequence[str], *, blind: bool
    ) -> None:
        self._doc = doc
        self._attributes = [(f"{name}=", ATTRIBUTES[name]) for name in attributes]
        self._roots = [span.root.i for span in candidates.entities]
        offsets = doc.to_array("HEAD").view(np.int64)  # relative, unsigned as spaCy gives them
        self._governors: list[int] = (np.arange(len(doc)) + offsets).tolist()
        self._arcs: dict[int, tuple[str, str]] = {}
        self._symbols: dict[int, Node] = {}
        self._blinded: dict[int, Node] = {}
        self._labels: list[Node] = []
        if blind:
            for span in candidates.entities:
                label = (f"label={span.label_}",) * len(attributes)
                self._labels.append(label)
                for i in range(span.start, span.end):
                    self._blinded.setdefault(i, label)

    def path(self, head: int, tail: int) -> list[Node]:
        """Nodes on the way from entity `head` to entity `tail`."""
        up, down = _shortest_path(self._governors, self._roots[head], self._roots[tail])
        if not up:
            return []
        edges = ["dep=", *(self._arc(i)[0] for i in up[:-1]), *(self._arc(i)[1] for i in down)]
        nodes = [self._node(i) for i in (*up, *down)]
        if self._labels:
            nodes[0], nodes[-1] = self._labels[head], self._labels[tail]
        return [(edge, *node) for edge, node in zip(edges, nodes, strict=True)]

    def _arc(self, i: int) -> tuple[str, str]:
        """Symbols of the arc between token `i` and its governor, upwards and downwards."""
        if i not in self._arcs:
            dep = self._doc[i].dep_
            self._arcs[i] = f"dep={dep}<", f"dep={dep}>"
        return self._arcs[i]

    def _node(self, i: int) -> Node:
        if i in self._blinded:
            return self._blinded[i]
        if i not in self._symbols:
            token = self._doc[i]
            self._symbols[i] = tuple(prefix + read(token) for prefix, read in self._attributes)
        return self._symbols[i]


def _shortest_path(governors: Sequence[int], start: int, end: int) -> tuple[list[int], list[int]]:
    """Tokens from `start` up to the lowest common governor, and from there down to `end`.

    Both lists are empty if the two have no common governor.
    """
    up = [start]
    while governors[up[-1]] != up[-1]:
        up.append(governors[up[-1]])
    height = {token: position for position, token in enumerate(up)}
    down: list[int] = []
    token = end
    while token not in height:
        down.append(token)
        if governors[token] == token:
            return [], []
        token = governors[token]
    return up[: height[token] + 1], down[::-1]


class _VectorCache:
    """Unit vectors of symbols, kept for the vector table that was seen last."""

    def __init__(self) -> None:
        self._seen: tuple[Any, dict[str, Float32]] = (None, {})

    def of(self, vocab: Vocab, symbols: set[str]) -> dict[str, Float32]:
        """A row for every symbol; nothing if `vocab` has no vectors."""
        if not vocab.vectors_length:
            return {}
        table, rows = self._seen
        if table is not vocab.vectors or len(rows) > MAX_CACHED_VECTORS:
            rows = {}
            self._seen = (vocab.vectors, rows)
        for symbol in symbols:
            if symbol not in rows:
                rows[symbol] = _unit_vector(vocab, symbol)
        return {symbol: rows[symbol] for symbol in symbols}


def _unit_vector(vocab: Vocab, symbol: str) -> Float32:
    attribute, _, word = symbol.partition("=")
    for form in (word, word.lower()) if attribute in WORDLIKE else ():
        vector = np.asarray(vocab.get_vector(form), np.float64)
        norm = np.sqrt((vector * vector).sum())
        if norm > 0:
            unit: Float32 = (vector / norm).astype(np.float32)
            return unit
    return np.zeros(vocab.vectors_length, np.float32)
