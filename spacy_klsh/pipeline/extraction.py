"""Doc and Candidates -> views: the structures that kernels compare."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..structures import Float32, Structures
from ..views import concat_views
from .candidates import Candidates
from .contexts import NAMES as CONTEXTS
from .contexts import Contexts
from .factory import VIEWS
from .paths import Paths, RolePaths
from .subtrees import NAMES as TREES
from .subtrees import Trees
from .token_table import ATTRIBUTES, Layout, TokenTable

WORDLIKE = ("lemma", "lower", "norm")
NAMES = ("path", "dependents", *TREES, *CONTEXTS)
MAX_CACHED_VECTORS = 20_000


class UnparsedDocError(ValueError):
    """A Doc with candidates has no dependency parse."""


@dataclass(kw_only=True)
class ViewExtractor:
    """Turns candidates into the views that the kernel compares.

    ``path`` is the shortest path in the dependency tree from the head's syntactic root to the
    tail's. Column 0 of a node is the arc by which the path enters it: ``dep=nsubj<`` from child
    to governor, ``dep=nsubj>`` from governor to child, ``dep=`` for the first node. No path (two
    sentences): no nodes. With more than two roles these are the paths from the first role to
    each other one, in their order; see `paths.RolePaths`. ``dependents`` are the tokens that hang
    on each path, but for those of its two entities, entered by their arc.

    ``subtree`` is the same path, or all these paths, as a tree with the first role's token as
    its root, and with the dependents of its tokens to a `depth`. ``sentence`` is the tree of
    all tokens of the sentence. Below the token of each other role hangs a leaf, ``role=`` and
    its name. Of the candidate's own entities only tokens on the paths are nodes; what hangs on
    others of them is left out too. See `subtrees.Trees`.

    ``before``, ``between`` and ``after`` are the words of the sentence before the first argument,
    from the first to the last one, and behind it; their edges are empty but for the arguments
    between, each one node whose edge is ``role=`` and the name of its role. ``words`` are all
    words of the sentence, or of several from that of the first argument to that of the last
    one, with the arguments as in ``between``.

    Each of them can also be had with one attribute of its own: ``words.pos`` are all words of
    the sentence as their parts of speech.

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
    depth : int
        How many arcs below the path a dependent in ``subtree`` may be; 0: the path alone.

    Raises
    ------
    ValueError
        If a name is unknown, none is given, the window is below 1 or the depth below 0.
    """

    names: Sequence[str] = tuple(VIEWS)
    attributes: Sequence[str] = ("lemma",)
    blind: bool = True
    window: int = 5
    depth: int = 0
    _vectors: _VectorCache = field(default_factory=lambda: _VectorCache(), repr=False)

    def __post_init__(self) -> None:
        if self.window < 1:
            raise ValueError(f"window is {self.window}; give at least 1 token.")
        if self.depth < 0:
            raise ValueError(f"depth is {self.depth}; give at least 0 arcs, for the path alone.")
        _check("view", [name.partition(".")[0] for name in self.names], NAMES)
        own = [name.partition(".")[2] for name in self.names if "." in name]
        for attributes in (self.attributes, own or ATTRIBUTES):
            _check("attribute", attributes, ATTRIBUTES)

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
        named = {name: name.partition(".")[::2] for name in self.names}
        own = [attribute for _, attribute in named.values() if attribute]
        table = TokenTable(docs, candidates, {*self.attributes, *own})
        role_paths = RolePaths(table)
        kinds = dict.fromkeys(kind for kind, _ in named.values())
        layouts = dict(zip(kinds, self._layouts(kinds, table, role_paths), strict=True))
        nodes = {
            name: table.nodes(layouts[kind], (attribute,) if attribute else self.attributes)
            for name, (kind, attribute) in named.items()
        }
        symbols = tuple(table.symbols)
        vectors = self._vectors.of(docs[0].vocab, symbols)
        of_pairs = {"path": role_paths.path, "dependents": role_paths.joined}
        views = {}
        for name, (kind, _) in named.items():
            layout = layouts[kind]
            view = Structures(nodes[name], layout.offsets, symbols, vectors, layout.parents)
            views[name] = of_pairs[kind](view) if kind in of_pairs else view
        return views

    def _layouts(
        self, kinds: Iterable[str], table: TokenTable, role_paths: RolePaths
    ) -> Iterator[Layout]:
        """The nodes of views of these kinds; those of a path are of `role_paths.pairs`."""
        paths = Paths(table, role_paths.pairs)
        contexts = Contexts(table, blind=self.blind, window=self.window)
        trees = Trees(table, paths, role_paths, blind=self.blind, depth=self.depth)
        for kind in kinds:
            if kind == "path":
                yield paths.layout(blind=self.blind)
            elif kind == "dependents":
                yield paths.dependents(blind=self.blind)
            else:
                yield (trees if kind in TREES else contexts).layout(kind)


def _check(kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    if not given or not set(given) <= set(known):
        raise ValueError(f"{kind}s are {list(given)}; choose at least one of {', '.join(known)}.")


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
