from collections import deque
from itertools import pairwise

import numpy as np
import pytest
import strategies
from hypothesis import given

from spacy_klsh.trees import tree_paths


def naive_path(governors, start, end):
    """(node, lower node of the arc that enters it) by breadth-first search; [] if there is none."""
    queue, seen = deque([[(start, -1)]]), {start}
    while queue:
        path = queue.popleft()
        node = path[-1][0]
        if node == end:
            return path
        steps = [(governors[node], node), *((i, i) for i, g in enumerate(governors) if g == node)]
        for step in steps:
            if step[0] not in seen:
                seen.add(step[0])
                queue.append([*path, step])
    return []


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
    assert paths(governors, pairs) == [naive_path(governors, i, j) for i, j in pairs]


@pytest.mark.parametrize("governors", [[], [0], [1, 1]])
def test_no_pairs_have_no_paths(governors):
    assert paths(governors, []) == []
