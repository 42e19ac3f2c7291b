"""Hypothesis strategies for kernels of trees, and larger corpora of trees by seed."""

import numpy as np
import strategies
from hypothesis import strategies as st

from spacy_klsh.structures import Structures


def pack(trees, table=None, *, n_attributes=2):
    """Structures of trees ``(nodes as words, parents)``, with their rows of `table`."""
    words = strategies.pack([nodes for nodes, _ in trees], table, n_attributes=n_attributes)
    parents = [parent for _, above in trees for parent in above]
    return Structures(
        words.nodes, words.offsets, words.symbols, words.vectors, np.array(parents, np.int32)
    )


def parents(n):
    """Parents that stand before their children, the first node as the root of all."""
    return st.tuples(*[st.just(-1), *(st.integers(0, i - 1) for i in range(1, n))][:n]).map(list)


@st.composite
def trees(draw, n_attributes=2, *, max_size=3, max_nodes=6, forests=True):
    """Trees with a root, children and grandchildren, some empty; and now and then a forest."""
    drawn = draw(strategies.paths(n_attributes, max_size=max_size, max_nodes=max_nodes))
    kinds = (parents, strategies.forests) if forests else (parents,)
    above = [draw(st.one_of(kind(len(nodes)) for kind in kinds)) for nodes in drawn]
    return list(zip(drawn, above, strict=True))


def graph_parameters(n_attributes=2):
    """Arguments of GraphKernel; no cosine of `strategies.vectors` equals a threshold.

    Nodes that match barely count as much as others, so rounding must not decide it.
    """
    weight = st.sampled_from((0.0, 0.5, 1.0, 3.0))
    return st.fixed_dictionaries(
        {
            "decay": st.sampled_from((0.1, 0.5, 0.9)),
            "contiguous": st.booleans(),
            "tokens": st.sampled_from(("cosine", "equality", "gaussian", "sigmoid")),
            "bandwidth": st.sampled_from((0.5, 2.0)),
            "edges": st.sampled_from(("label", "direction", "any")),
            "threshold": st.sampled_from((0.0, 0.25, 0.35, 0.9, 1.0)),
            "attribute_weights": st.one_of(
                st.none(), st.tuples(*[weight] * (n_attributes - 1)).filter(any)
            ),
            "sigma": st.one_of(
                st.none(), st.fixed_dictionaries({"conj": weight}, optional={"nsubj": weight})
            ),
        }
    )


@st.composite
def graph_problems(draw, *, soft=None, n_attributes=None, max_size=3, forests=True):
    """Problems for the graph kernel; `soft` False: equality only, True: word vectors."""
    n_attributes = n_attributes or draw(st.integers(2, 3))
    soft = draw(st.booleans()) if soft is None else soft
    table = draw(strategies.vectors()) if soft else {}
    words = [draw(trees(n_attributes, max_size=max_size, forests=forests)) for _ in range(2)]
    x, y = ({"subtree": pack(part, table, n_attributes=n_attributes)} for part in words)
    return strategies.Problem(*words, x, y, table, draw(graph_parameters(n_attributes)))


def corpus(n, *, seed=0):
    """The nodes of `strategies.corpus` as trees, and word vectors."""
    words, table = strategies.corpus(n, seed=seed, n_words=12)
    rng = np.random.default_rng(seed)
    return [
        (nodes, [-1, *(int(rng.integers(i)) for i in range(1, len(nodes)))][: len(nodes)])
        for nodes in words
    ], table
