"""Doc and Candidates -> views: the structures that kernels compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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

Node = tuple[int, ...]


class UnparsedDocError(ValueError):
    """A Doc with candidates has no dependency parse."""


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
        UnparsedDocError
            If there are candidates but `doc` has no dependency parse.
        """
        if len(candidates) and not doc.has_annotation("DEP"):
            raise UnparsedDocError(
                f"a Doc with {len(candidates)} candidate pairs has no dependency parse "
                f"({doc.text[:40]!r}…); add a parser before klsh_relations in the pipeline."
            )
        paths = _Paths(doc, candidates, self.attributes, blind=self.blind)
        width = 1 + len(self.attributes)
        rows: list[int] = []
        offsets = [0]
        for head, tail in candidates.arguments.tolist():
            rows += paths.between(head, tail)
            offsets.append(len(rows) // width)
        structures = Structures(
            nodes=np.array(rows, np.int32).reshape(-1, width),
            offsets=np.array(offsets, np.int64),
            symbols=tuple(paths.symbols),
            vectors=self._vectors.of(doc.vocab, paths.symbols),
        )
        return {"path": structures}


class _Climb(NamedTuple):
    """The way from a token up to the root of its tree."""

    tokens: list[int]
    heights: dict[int, int]
    up: list[int]  # the governors, each as entered from the token below it
    down: list[int]  # from the top, the tokens as entered from their governors


class _Paths:
    """Paths between the entities of one Doc, as rows of its own dictionary of symbols."""

    def __init__(
        self, doc: Doc, candidates: Candidates, attributes: Sequence[str], *, blind: bool
    ) -> None:
        self.symbols: dict[str, int] = {}
        self._doc = doc
        self._attributes = [(f"{name}=", ATTRIBUTES[name]) for name in attributes]
        self._first = self._row("dep=")
        self._roots = [span.root.i for span in candidates.entities]
        offsets = doc.to_array("HEAD").view(np.int64)  # relative, unsigned as spaCy gives them
        self._governors: list[int] = (np.arange(len(doc)) + offsets).tolist()
        self._climbs: dict[int, _Climb] = {}
        self._steps: dict[int, tuple[Node, Node]] = {}
        self._described: dict[int, Node] = {}
        self._labels: list[Node] = []
        if blind:
            for span in candidates.entities:
                label = (self._row(f"label={span.label_}"),) * len(attributes)
                self._labels.append(label)
                for i in range(span.start, span.end):
                    self._described.setdefault(i, label)

    def between(self, head: int, tail: int) -> list[int]:
        """Nodes on the way from entity `head` to entity `tail`; none if there is no way."""
        start, end = self._climb(self._roots[head]), self._climb(self._roots[tail])
        below = next((i for i, token in enumerate(end.tokens) if token in start.heights), None)
        if below is None:
            return []
        nodes = [self._first, *self._describe(self._roots[head])]
        width = len(nodes)
        nodes += start.up[: start.heights[end.tokens[below]] * width]
        nodes += end.down[len(end.down) - below * width :]
        if self._labels:
            nodes[1:width] = self._labels[head]
            nodes[1 - width :] = self._labels[tail]
        return nodes

    def _climb(self, start: int) -> _Climb:
        if start not in self._climbs:
            tokens, steps = [start], []
            while (governor := self._governors[tokens[-1]]) != tokens[-1]:
                steps.append(self._step(tokens[-1], governor))
                tokens.append(governor)
            self._climbs[start] = _Climb(
                tokens,
                heights={token: height for height, token in enumerate(tokens)},
                up=[symbol for up, _ in steps for symbol in up],
                down=[symbol for _, down in reversed(steps) for symbol in down],
            )
        return self._climbs[start]

    def _step(self, token: int, governor: int) -> tuple[Node, Node]:
        """The governor as entered from the token, and the token as entered from there."""
        if token not in self._steps:
            arc = f"dep={self._doc[token].dep_}"
            self._steps[token] = (
                (self._row(arc + "<"), *self._describe(governor)),
                (self._row(arc + ">"), *self._describe(token)),
            )
        return self._steps[token]

    def _describe(self, i: int) -> Node:
        """Attributes of token `i`, or the label of the entity that it belongs to."""
        if i not in self._described:
            token = self._doc[i]
            symbols = [prefix + read(token) for prefix, read in self._attributes]
            self._described[i] = tuple(map(self._row, symbols))
        return self._described[i]

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
