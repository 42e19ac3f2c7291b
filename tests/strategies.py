"""Hypothesis strategies for the numeric engine, and larger corpora by seed."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numba import config

from spacy_klsh.similarity import EDGES as EDGE_KINDS
from spacy_klsh.similarity import TOKENS
from spacy_klsh.structures import Structures

JIT = not config.DISABLE_JIT
THOROUGH = settings(max_examples=60 if JIT else 30, deadline=None)
QUICK = settings(max_examples=30 if JIT else 10, deadline=None)

EDGES = ("dep=", "dep=nsubj<", "dep=conj<", "dep=conj>")
WORDS = ("lemma=bind", "lemma=cat", "lemma=dog")
TAGS = ("pos=NOUN", "pos=VERB")
COLUMNS = (EDGES, WORDS, TAGS)


def unit(row):
    """The row scaled to length 1; a zero row stays one."""
    return np.array(row, np.float32) / np.float32(np.linalg.norm(row) or 1.0)


def pack(paths, table=None, *, n_attributes=2):
    """Structures of paths of words, with their rows of `table`."""
    dim = len(next(iter(table.values()))) if table else 0
    return Structures.from_symbols(paths, table, n_attributes=n_attributes, dim=dim)


def vectors(dim=3):
    """A row for every symbol, many of them zero, opposite, equal or orthogonal."""
    row = st.tuples(*[st.integers(-2, 2)] * dim)
    rows = st.tuples(*[st.one_of(st.just((0,) * dim), row)] * len(EDGES + WORDS + TAGS))
    return rows.map(lambda drawn: dict(zip(EDGES + WORDS + TAGS, map(unit, drawn), strict=True)))


def nodes(n_attributes):
    return st.tuples(*map(st.sampled_from, COLUMNS[:n_attributes]))


@st.composite
def paths(draw, n_attributes=2, *, min_size=0, max_size=4, max_nodes=4):
    """Lists of nodes as words: empty, one node, several; some of them repeated."""
    sizes = st.sampled_from((*range(max_nodes + 1), max_nodes))
    path = sizes.flatmap(lambda n: st.lists(nodes(n_attributes), min_size=n, max_size=n))
    drawn = draw(st.lists(path, min_size=min_size, max_size=max_size))
    repeats = draw(st.lists(st.sampled_from(drawn), max_size=2)) if drawn else []
    return drawn + repeats


@st.composite
def forests(draw, n):
    """Parents of `n` nodes without circles; a parent may stand before or behind its child."""
    order = draw(st.permutations(range(n)))
    places = [draw(st.integers(-1, place - 1)) for place in range(n)]
    above = dict(zip(order, [-1 if k < 0 else order[k] for k in places], strict=True))
    return [above[node] for node in range(n)]


@st.composite
def structures(draw, **sizes):
    """Structures with or without vectors, with or without parents."""
    n_attributes = draw(st.integers(1, 3))
    sequences = pack(
        draw(paths(n_attributes, **sizes)),
        draw(st.one_of(st.just({}), vectors())),
        n_attributes=n_attributes,
    )
    if draw(st.booleans()):
        return sequences
    parents = [parent for n in sequences.lengths for parent in draw(forests(n))]
    return Structures(
        sequences.nodes,
        sequences.offsets,
        sequences.symbols,
        sequences.vectors,
        np.array(parents, np.int32),
    )


def token_kernels(**settings):
    """Arguments of TokenKernel; `settings` are strategies that replace the usual ones."""
    usual = {
        "tokens": st.sampled_from(TOKENS),
        "threshold": st.sampled_from((0.0, 0.25, 0.4, 0.9, 1.0)),
        "bandwidth": st.sampled_from((0.5, 1.0, 4.0)),
        "edges": st.sampled_from(EDGE_KINDS),
    }
    return st.fixed_dictionaries({**usual, **settings})


def kernel_parameters(n_attributes=2):
    """Arguments of SubsequenceKernel for nodes of `n_attributes` columns."""
    weight = st.sampled_from((0.0, 0.5, 1.0, 3.0))

    def weights(n):
        return st.one_of(st.none(), st.tuples(*[weight] * n).filter(any))

    paths = st.integers(1, 4).flatmap(
        lambda max_length: st.fixed_dictionaries(
            {
                "decay": st.sampled_from((0.1, 0.5, 0.9, 1.0)),
                "max_length": st.just(max_length),
                "length_weights": weights(max_length),
                "attribute_weights": weights(n_attributes - 1),
                "sigma": st.one_of(
                    st.none(), st.fixed_dictionaries({"conj": weight}, optional={"nsubj": weight})
                ),
                "interleaved": st.booleans(),
            }
        )
    )
    return st.tuples(paths, token_kernels()).map(lambda drawn: {**drawn[0], **drawn[1]})


class Problem(NamedTuple):
    """Two sets of paths, as words and packed, and the arguments of a kernel."""

    x_words: list[Any]
    y_words: list[Any]
    x: dict[str, Structures]
    y: dict[str, Structures]
    vectors: dict[str, Any]
    parameters: dict[str, Any]


@st.composite
def kernel_problems(draw, *, soft=None, max_size=3):
    """Problems for the path kernel; `soft` False: equality only, True: word vectors."""
    n_attributes = draw(st.integers(2, 3))
    soft = draw(st.booleans()) if soft is None else soft
    table = draw(vectors()) if soft else {}
    words = [draw(paths(n_attributes, min_size=2, max_size=max_size)) for _ in range(2)]
    x, y = ({"path": pack(part, table, n_attributes=n_attributes)} for part in words)
    return Problem(*words, x, y, table, draw(kernel_parameters(n_attributes)))


def corpus(n, *, seed=0, n_words=60, dim=20):
    """`n` paths of 0 to 7 nodes, every tenth of them a repetition, and word vectors.

    Every fifth word has no vector, and the others lie in a few clusters; the vectors do
    not depend on the seed.
    """
    rng = np.random.default_rng(0)
    lexicon = [f"lemma={i}" for i in range(n_words)]
    rows = rng.normal(size=(6, dim))[np.arange(n_words) % 6]
    rows += rng.normal(scale=0.6, size=rows.shape)
    table = {word: unit(rows[i]) for i, word in enumerate(lexicon) if i % 5}
    rng = np.random.default_rng(seed)
    drawn = []
    for i in range(n):
        size = int(rng.integers(8))
        edges = EDGES[:1] + tuple(rng.choice(EDGES[1:], size))
        path = [
            (str(edge), lexicon[word])
            for edge, word in zip(edges, rng.integers(n_words, size=size), strict=False)
        ]
        drawn.append(drawn[int(rng.integers(i))] if i % 10 == 9 else path)
    return drawn, table


def npz_round_trip(packed, path):
    """The same structures after saving to and loading from an .npz file."""
    np.savez(
        path,
        nodes=packed.nodes,
        offsets=packed.offsets,
        symbols=np.array(packed.symbols),
        vectors=packed.vectors,
    )
    with np.load(path, allow_pickle=False) as arrays:
        return Structures(
            arrays["nodes"],
            arrays["offsets"],
            tuple(map(str, arrays["symbols"])),
            arrays["vectors"],
        )


SHORT_WORDS = st.text("xy", max_size=2)


@st.composite
def governors(draw, max_size=10):
    """Governors of one or more random trees, their nodes in any order; a root is its own."""
    n = draw(st.integers(1, max_size))
    order = draw(st.permutations(range(n)))
    found = list(range(n))
    for position, node in enumerate(order[1:], start=1):
        found[node] = draw(st.sampled_from([*order[:position], node]))
    return found
