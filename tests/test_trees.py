from itertools import pairwise

import naive_paths
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.trees import rooted_trees, tree_paths


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


def neighbours(governors):
    """What each node governs or is governed by, one behind the other, and where each begins."""
    arcs = [(i, g) for i, g in enumerate(governors) if i != g]
    both = sorted(arcs + [(g, i) for i, g in arcs])
    bounds = [sum(a < i for a, _ in both) for i in range(len(governors) + 1)]
    return np.array([b for _, b in both], np.int64), np.array(bounds, np.int64)


@strategies.THOROUGH
@given(st.data(), st.integers(0, 3), st.booleans())
def test_trees_around_paths_are_what_is_near_by_definition(data, depth, upwards):
    governors = data.draw(strategies.governors(12))
    node = st.integers(0, len(governors) - 1)
    arguments = st.lists(st.tuples(node, st.integers(0, 3), st.booleans()), max_size=3)
    drawn = data.draw(st.lists(st.tuples(node, st.lists(node), arguments), max_size=4))
    depth = len(governors) if upwards else depth
    steps, ends, spans, expected = [], [0], [], []
    for start, others, own in drawn:
        found = [
            [step for step, _ in naive_paths.path(governors, start, end)]
            for end in (start, *others)
        ]
        steps += [step for path in found for step in path if all(found)]
        ends.append(len(steps))
        rows = [[a, a + width, a if bears else -1] for a, width, bears in own]
        leaves = {len(spans) + k + 100: row[2] for k, row in enumerate(rows)}
        closed = {i for a, b, _ in rows for i in range(a, b)}
        spans += rows
        expected.append(naive_paths.tree(governors, found, closed, leaves, depth, whole=upwards))
    bounds = np.cumsum([0, *(len(own) for *_, own in drawn)])
    nodes, met, leaves, parents, offsets = rooted_trees(
        np.array(governors, np.int64),
        *neighbours(governors),
        np.array(steps, np.int64),
        np.array(ends, np.int64),
        np.array(spans, np.int64).reshape(-1, 3),
        bounds,
        depth,
        upwards,
    )
    assert offsets[0] == 0 and offsets[-1] == len(nodes) and parents.dtype == np.int32
    shown = np.where(leaves >= 0, leaves + 100, nodes).tolist()
    above = [None if parent < 0 else parent for parent in parents.tolist()]
    both = list(zip(shown, above, strict=True))
    assert [both[a:b] for a, b in pairwise(offsets)] == expected
    for (a, b), (first, last) in zip(pairwise(offsets), pairwise(ends), strict=True):
        own = steps[first:last]
        first_met = [first + own.index(i) if i in own else -1 for i in nodes[a:b].tolist()]
        assert met[a:b].tolist() == first_met
        bearers = nodes[a:b][parents[a:b]][leaves[a:b] >= 0]
        assert nodes[a:b][leaves[a:b] >= 0].tolist() == bearers.tolist()
