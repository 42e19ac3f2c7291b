import dependency_trees
import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.kernels.governed import governed
from spacy_klsh.structures import Structures

BOTH = st.booleans()


def named(tree):
    """The tree with words that tell its nodes apart."""
    return tree._replace(words=[(f"lemma={node}",) for node in range(len(tree.words))])


def arcs(structures, i):
    """(governor, arc, word) of all nodes of a turned tree, the governor of a top being None."""
    rows = slice(*structures.offsets[i : i + 2])
    words = structures.words(i)
    parents = structures.parents[rows].tolist()
    return [(None if p < 0 else words[p][1], *word) for p, word in zip(parents, words, strict=True)]


def expected_arcs(tree):
    return [
        (
            None if governor == node else f"lemma={governor}",
            "dep=" if governor == node else f"dep={tree.labels[node]}>",
            f"lemma={node}",
        )
        for node, governor in enumerate(tree.governors)
    ]


def leads_to_argument(tree):
    found = set()
    for _, node in tree.arguments:
        while node not in found:
            found.add(node)
            node = tree.governors[node]
    return found


@given(st.lists(dependency_trees.trees(max_nodes=7), max_size=4))
@strategies.THOROUGH
def test_all_arcs_lead_from_governors_to_dependents(drawn):
    trees = list(map(named, drawn))
    turned = governed(dependency_trees.view(trees), anchored=False).structures
    assert len(turned) == len(trees)
    for i, tree in enumerate(trees):
        assert sorted(arcs(turned, i), key=str) == sorted(expected_arcs(tree), key=str)


@given(st.lists(dependency_trees.trees(max_nodes=7), max_size=4))
@strategies.THOROUGH
def test_anchored_only_what_leads_to_arguments_is_left_with_a_leaf_for_each(drawn):
    trees = list(map(named, drawn))
    turned = governed(dependency_trees.view(trees), anchored=True).structures
    for i, tree in enumerate(trees):
        kept = leads_to_argument(tree)
        leaves = [(f"lemma={node}", f"role={r}", f"role={r}") for r, node in tree.arguments]
        expected = [arc for node, arc in enumerate(expected_arcs(tree)) if node in kept]
        assert sorted(arcs(turned, i), key=str) == sorted(expected + leaves, key=str)


@given(st.lists(dependency_trees.trees(max_nodes=7), max_size=4), BOTH)
@strategies.THOROUGH
def test_children_are_the_nodes_with_that_parent_and_stand_behind_it(drawn, anchored):
    turned, children = governed(dependency_trees.view(drawn), anchored=anchored)
    for i in range(len(turned)):
        rows = slice(*turned.offsets[i : i + 2])
        parents = turned.parents[rows]
        for node, (start, end) in enumerate(children[rows].tolist()):
            assert np.flatnonzero(parents == node).tolist() == list(range(start, end))
            assert parents[node] < node


@given(st.lists(dependency_trees.trees(max_nodes=7), max_size=4), BOTH)
@strategies.THOROUGH
def test_paths_become_the_trees_they_are(drawn, anchored):
    parts = [dependency_trees.line(named(tree)) for tree in drawn]
    paths = strategies.pack([nodes for _, nodes in parts])
    trees = dependency_trees.view([tree for tree, _ in parts])
    turned, expected = (governed(each, anchored=anchored).structures for each in (paths, trees))
    for i in range(len(drawn)):
        assert sorted(arcs(turned, i), key=str) == sorted(arcs(expected, i), key=str)


@given(st.lists(dependency_trees.trees(), min_size=1, max_size=3), BOTH)
@strategies.QUICK
def test_a_tree_does_not_depend_on_its_neighbours(drawn, anchored):
    view = dependency_trees.view(drawn)
    together, children = governed(view, anchored=anchored)
    for i in range(len(drawn)):
        alone, own_children = governed(view[i], anchored=anchored)
        rows = slice(*together.offsets[i : i + 2])
        assert alone.words(0) == together.words(i)
        assert naive.same_bits(alone.parents, together.parents[rows].copy())
        assert naive.same_bits(own_children, children[rows].copy())


def test_arcs_have_no_vectors_and_words_keep_theirs():
    unit = np.array([1.0, 0.0], np.float32)
    table = {"dep=x<": unit, "dep=x>": unit, "dep=": unit, "b": unit}
    path = Structures.from_symbols([[("dep=", "a"), ("dep=x<", "b")]], table, dim=2)
    turned = governed(path, anchored=False).structures
    vectors = dict(zip(turned.symbols, turned.vectors.tolist(), strict=True))
    assert vectors["b"] == [1.0, 0.0]
    assert [vectors[name] for name in ("dep=", "dep=x>", "a")] == [[0.0, 0.0]] * 3


def path(*edges, parents=None):
    found = Structures.from_symbols([[], [(edge, "a") for edge in edges]])
    return found if parents is None else dependency_trees.with_parents(found, parents)


@pytest.mark.parametrize(
    ("structures", "message"),
    [
        (path("dep=", "dep="), r"node 1 of structure 1 is entered by 'dep='"),
        (path("dep=x>", "dep=x>"), r"node 0 of structure 1 is entered by 'dep=x>', expected dep= "),
        (path("dep=", "role=cause"), "node 1 of structure 1 is entered by 'role=cause'"),
        (path("dep=", "lemma=>", parents=[-1, 0]), "compare a tree, such as the view subtree"),
        (path("dep=", "dep=", parents=[-1, 0]), "node 1 of structure 1"),
        (path("dep=", "dep=x>", "dep=y<"), "structure 1 has two governors, expected one at most"),
        (path("dep=", "dep=x<", "dep=y<", parents=[-1, 0, 0]), "structure 1 has two governors"),
    ],
    ids=["no arc", "no root", "several paths", "no dep", "root below", "down and up", "two up"],
)
def test_what_is_no_dependency_tree_is_refused(structures, message):
    with pytest.raises(ValueError, match=message):
        governed(structures, anchored=False)


def test_several_trees_in_one_structure_stay_several():
    structures = path("dep=", "dep=x>", "dep=", "dep=x<", parents=[-1, 0, -1, 2])
    turned, children = governed(structures, anchored=False)
    assert turned.parents.tolist() == [-1, -1, 0, 1]
    assert children.tolist() == [[2, 3], [3, 4], [4, 4], [4, 4]]
