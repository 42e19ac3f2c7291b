"""Dependency trees as lists, hypothesis strategies for them, and how candidates show them."""

from typing import Any, NamedTuple

import naive_common_paths
import numpy as np
import strategies
from hypothesis import strategies as st

from spacy_klsh.structures import Structures

LABELS = ("nsubj", "conj")
ROLES = ("tail", "cause")


class Tree(NamedTuple):
    """Words (tuples of attributes), the governor and the label of each, and the arguments.

    A top is its own governor. `arguments` are (role, node) pairs; the first role is "".
    """

    words: list[Any]
    governors: list[int]
    labels: list[str]
    arguments: list[Any]


def rooted(tree):
    """Nodes as symbols and their parents, as the tree of a candidate has them."""
    if not tree.words:
        return [], []
    (_, first), *others = tree.arguments
    nodes, parents = [], []

    def add(edge, attributes, parent):
        nodes.append((edge, *attributes))
        parents.append(parent)
        return len(nodes) - 1

    def visit(word, edge, parent, origin):
        place = add(edge, tree.words[word], parent)
        for role, at in others:
            if at == word:
                add(f"role={role}", (f"role={role}",) * len(tree.words[word]), place)
        for other, governor in enumerate(tree.governors):
            if other in (word, origin):
                continue
            if governor == word:
                visit(other, f"dep={tree.labels[other]}>", place, word)
            elif tree.governors[word] == other:
                visit(other, f"dep={tree.labels[word]}<", place, word)

    visit(first, "dep=", -1, None)
    return nodes, parents


def view(trees, table=None, *, n_attributes=2):
    """Structures with parents; `table` has rows of vectors."""
    drawn = [rooted(tree) for tree in trees]
    packed = strategies.pack([nodes for nodes, _ in drawn], table, n_attributes=n_attributes)
    parents = np.array([parent for _, parents in drawn for parent in parents], np.int32)
    return with_parents(packed, parents)


def with_parents(structures, parents):
    return Structures(
        structures.nodes,
        structures.offsets,
        structures.symbols,
        structures.vectors,
        np.array(parents, np.int32),
    )


def line(tree):
    """The part of a tree between its first and its second argument, and its nodes as symbols."""
    if not tree.words:
        return tree, []
    (_, start), (_, end) = tree.arguments[:2]
    up, down = naive_common_paths.path(tree, start, end)
    order = up + down
    governors = [min(i + 1, len(up) - 1) for i in range(len(up))]
    governors += range(len(up) - 1, len(order) - 1)
    words, labels = ([column[node] for node in order] for column in (tree.words, tree.labels))
    part = Tree(words, governors, labels, [("", 0), ("tail", len(order) - 1)])
    edges = ["dep=", *(f"dep={label}<" for label in labels[: len(up) - 1])]
    edges += [f"dep={label}>" for label in labels[len(up) :]]
    return part, [(edge, *word) for edge, word in zip(edges, words, strict=True)]


@st.composite
def trees(draw, n_attributes=2, *, max_nodes=5):
    """One tree: empty, one word, several; arguments may share a word."""
    n = draw(st.sampled_from((*range(max_nodes + 1), max_nodes)))
    if not n:
        return Tree([], [], [], [])
    order = draw(st.permutations(range(n)))
    governors = [order[0]] * n
    for place, node in enumerate(order[1:], start=1):
        governors[node] = order[draw(st.integers(max(0, place - 3), place - 1))]
    columns = strategies.COLUMNS[1:n_attributes]
    words = draw(st.lists(st.tuples(*map(st.sampled_from, columns)), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n))
    roles = ["", ROLES[0], *draw(st.sampled_from(((), ROLES[1:])))]
    arguments = [(role, draw(st.integers(0, n - 1))) for role in roles]
    return Tree(words, governors, labels, arguments)


def parameters(n_attributes=2):
    """Arguments of CommonPathsKernel for nodes of `n_attributes` columns."""
    weight = st.sampled_from((0.0, 0.5, 1.0, 3.0))
    sigma = st.fixed_dictionaries({"conj": weight}, optional={"nsubj": weight})
    labels = st.fixed_dictionaries(
        {
            "edges": st.sampled_from(("label", "direction", "any")),
            "sigma": st.one_of(st.none(), sigma),
        }
    )
    others = st.fixed_dictionaries(
        {
            "alpha": st.sampled_from((0.1, 0.25, 0.9, 1.0)),
            "anchors": st.sampled_from(("any", "arguments")),
            "threshold": st.sampled_from((0.0, 0.25, 0.4, 0.9, 1.0)),
            "attribute_weights": st.one_of(
                st.none(), st.tuples(*[weight] * (n_attributes - 1)).filter(any)
            ),
        }
    )
    return st.builds(lambda a, b: {**a, **b}, others, labels)


class Problem(NamedTuple):
    """Two sets of trees, as lists and packed, and the arguments of a kernel."""

    x_trees: list[Any]
    y_trees: list[Any]
    x: dict[str, Structures]
    y: dict[str, Structures]
    vectors: dict[str, Any]
    parameters: dict[str, Any]


@st.composite
def problems(draw, *, soft=None, max_size=3):
    """Problems for the common-paths kernel; `soft` False: equality only, True: word vectors."""
    n_attributes = draw(st.integers(2, 3))
    soft = draw(st.booleans()) if soft is None else soft
    table = draw(strategies.vectors()) if soft else {}
    sides = [draw(st.lists(trees(n_attributes), min_size=1, max_size=max_size)) for _ in range(2)]
    x, y = ({"subtree": view(side, table, n_attributes=n_attributes)} for side in sides)
    return Problem(*sides, x, y, table, draw(parameters(n_attributes)))


def corpus(n, *, seed=0, max_nodes=6):
    """`n` trees of 0 to `max_nodes` words, and the vectors of these."""
    _, table = strategies.corpus(0)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(n):
        size = int(rng.integers(max_nodes + 1))
        governors = [int(rng.integers(max(0, i - 3), max(i, 1))) for i in range(size)]
        words = [(f"lemma={i}",) for i in rng.integers(60, size=size)]
        labels = [LABELS[i] for i in rng.integers(len(LABELS), size=size)]
        ends = rng.integers(max(size, 1), size=2).tolist()
        arguments = list(zip(("", ROLES[0]), ends, strict=True)) if size else []
        drawn.append(Tree(words, governors, labels, arguments))
    return drawn, table
