from itertools import pairwise

import naive_paths
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.trees import join_paths, tree_paths


def paths(governors, pairs):
    starts, ends = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    nodes, arcs, offsets = tree_paths(np.array(governors, np.int64), starts, ends)
    steps = list(zip(nodes.tolist(), arcs.tolist(), strict=True))
    assert offsets[0] == 0 and offsets[-1] == len(steps)
    return [steps[a:b] for a, b in pairwise(offsets)]


@strategies.THOROUGH
@given(strategies.governors(12))
def test_paths_are_those_of_a_breadth_first_search(governors):
    pairs = [(i, j) for i in range(len(governors)) for j in range(len(governors))]
    assert paths(governors, pairs) == [naive_paths.path(governors, i, j) for i, j in pairs]


@pytest.mark.parametrize("governors", [[], [0], [1, 1]])
def test_no_pairs_have_no_paths(governors):
    assert paths(governors, []) == []


@strategies.THOROUGH
@given(st.data())
def test_joined_paths_are_the_union_of_their_nodes(data):
    governors = np.array(data.draw(strategies.governors(12)), np.int64)
    node = st.integers(0, len(governors) - 1)
    trees = data.draw(st.lists(st.tuples(node, st.lists(node, min_size=1, max_size=4)), max_size=4))
    pairs = [(start, end) for start, ends in trees for end in ends]
    starts, ends = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    order = np.array(data.draw(st.permutations(range(len(pairs)))), np.int64)
    rows = np.argsort(order)  # the paths of the pairs may stand anywhere
    nodes, _, offsets = tree_paths(governors, starts[order], ends[order])
    marks = np.array([data.draw(st.sampled_from((-1, 500 + k))) for k in range(len(pairs))], int)
    bounds = np.cumsum([0, *(len(ends) for _, ends in trees)])
    steps, parents, bounds = join_paths(nodes, offsets, rows, bounds, marks)
    assert bounds[0] == 0 and bounds[-1] == len(steps) == len(parents)
    k = 0
    for (start, ends), (a, b) in zip(trees, pairwise(bounds), strict=True):
        found = [naive_paths.path(governors.tolist(), start, end) for end in ends]
        expected = naive_paths.tree([[node for node, _ in path] for path in found])
        leaves = [(mark, end) for mark, end in zip(marks[k:], ends, strict=False) if mark >= 0]
        places = [nodes[step] if step < 500 else step for step in steps[a:b]]
        above = [places[parent] if parent >= 0 else None for parent in parents[a:b]]
        both = list(zip(places, above, strict=True))
        assert [one for one in both if one[0] < 500] == expected
        assert [one for one in both if one[0] >= 500] == (leaves if expected else [])
        k += len(ends)
