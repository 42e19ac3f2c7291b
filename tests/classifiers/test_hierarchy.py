import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers import hierarchy

NAMES = ["", "A", "B", "C", "D", "E"]


def joined(tree, vectors, n_labels=5, *, all_levels=True):
    return hierarchy.joined(tree, n_labels, np.array(vectors, float), all_levels=all_levels)


def test_without_anything_given_all_labels_stand_below_class_0():
    assert hierarchy.given(NAMES[:4], {}) == (-1, 0, 0, 0)


@pytest.mark.parametrize(
    ("above", "tree"),
    [
        ({"A": "X", "B": "X"}, (-1, 6, 6, 0, 0, 0, 0)),
        ({"A": "X", "B": "X", "X": "Y", "C": "Y"}, (-1, 6, 6, 7, 0, 0, 7, 0)),
        ({"A": "X", "B": "Y"}, (-1, 0, 0, 0, 0, 0)),  # nothing to join
        ({"A": "X", "B": "X", "X": "Y"}, (-1, 6, 6, 0, 0, 0, 0)),
        ({"A": "C", "B": "C"}, (-1, 6, 6, 6, 0, 0, 0)),  # C joins, and is a label
        ({"A": "B"}, (-1, 6, 6, 0, 0, 0, 0)),
        (dict.fromkeys("ABCDE", "X"), (-1, 0, 0, 0, 0, 0)),  # class 0 joins them already
        ({"A": "X", "B": "X", "Q": "X", "P": "Q"}, (-1, 6, 6, 0, 0, 0, 0)),
    ],
)
def test_trees_by_hand(above, tree):
    assert hierarchy.given(NAMES, above) == tree


def test_two_classes_of_one_name_stand_below_the_same():
    assert hierarchy.given(["", "A", "A", "B"], {"A": "X"}) == (-1, 4, 4, 0, 0)


@pytest.mark.parametrize("above", [{"A": "A"}, {"A": "X", "X": "Y", "Y": "X"}])
def test_circles_are_refused(above):
    with pytest.raises(ValueError, match=r"in the hierarchy A < .* cannot stand above itself"):
        hierarchy.given(NAMES, above)


@given(st.dictionaries(st.sampled_from("ABCDEXYZ"), st.sampled_from("ABCDEXYZ")))
@strategies.THOROUGH
def test_a_class_has_the_labels_whose_chains_go_through_it(above):
    def chain(name):
        found = [name]
        while found[-1] in above:
            found.append(above[found[-1]])
            if len(found) > 9:
                return None
        return found

    chains = {label: chain(label) for label in NAMES[1:]}
    if None in chains.values():
        with pytest.raises(ValueError, match="above itself"):
            hierarchy.given(NAMES, above)
        return
    tree = hierarchy.given(NAMES, above)
    sets = {frozenset(k for k in range(1, 6) if name in chains[NAMES[k]]) for name in "ABCDEXYZ"}
    joins = {labels for labels in sets if 1 < len(labels) < 5}
    found = [frozenset(np.flatnonzero(row)) for row in hierarchy.members(tree, 6)]
    assert found[0] == {1, 2, 3, 4, 5}
    assert found[1:6] == [{1}, {2}, {3}, {4}, {5}]
    assert set(found[6:]) == joins and len(found[6:]) == len(joins)
    for child, parent in enumerate(tree):  # the smallest one around it
        around = [k for k, labels in enumerate(found) if labels > found[child]]
        assert parent == min(around, key=lambda k: len(found[k]), default=-1)


def test_the_two_most_similar_are_joined_first():
    vectors = [[0, 0], [1, 0], [0, 1], [4, 1], [1, 3]]
    assert joined((-1, 0, 0, 0, 0), vectors) == (-1, 5, 6, 5, 6, 0, 0)


def test_joins_go_on_with_the_sum_of_both():
    vectors = [[0, 0], [10, 1], [10, 0], [0, 1], [-2, -1]]  # 1 and 2, then these and 3
    assert joined((-1, 0, 0, 0, 0), vectors) == (-1, 5, 5, 6, 0, 6, 0)


def test_zero_vectors_are_similar_to_none():
    assert joined((-1, 0, 0, 0), [[0, 0], [0, 0], [1, 1], [1, 0]], 4) == (-1, 0, 4, 4, 0)


GIVEN = (-1, 6, 6, 6, 0, 0, 0)  # 1, 2, 3 below 6; 4, 5 and 6 below 0
VECTORS = [[0, 0], [1, 0], [5, 1], [0, 1], [1, 0], [1, 5], [1, 1]]


def test_the_lowest_level_alone():
    found = joined(GIVEN, VECTORS, 6, all_levels=False)
    assert found == (-1, 8, 8, 6, 7, 7, 0, 0, 6)


def test_all_levels():
    assert joined(GIVEN, VECTORS, 6) == (-1, 8, 8, 6, 0, 7, 7, 0, 6)


@given(st.integers(2, 7), st.integers(0, 99), st.booleans())
@strategies.QUICK
def test_trees_stay_trees_with_two_children_at_most(n_labels, seed, all_levels):
    vectors = np.random.default_rng(seed).normal(size=(n_labels, 4))
    found = hierarchy.joined(
        (-1,) + (0,) * (n_labels - 1), n_labels, vectors, all_levels=all_levels
    )
    assert sorted(hierarchy.top_down(found)) == list(range(len(found)))
    assert max(np.bincount(found[1:])) <= 2
    below = hierarchy.members(found, n_labels)
    assert (below[:, 1:].sum(axis=1) >= 1).all()


def test_parents_come_first():
    assert list(hierarchy.top_down((-1, 4, 0, 4, 0))) == [0, 2, 4, 1, 3]
    assert list(hierarchy.top_down(hierarchy.flat(3))) == [0, 1, 2]
