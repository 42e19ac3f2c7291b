"""How the time of kernels of trees grows, on trees made by hand."""

import dependency_trees
import numpy as np
import pytest
import tree_growth

TREES, VECTORS = dependency_trees.corpus(60)
SENTENCES = dependency_trees.view(TREES, VECTORS)


def test_the_exponent_is_that_of_the_law_behind_the_times():
    sizes = np.array([2.0, 10.0, 50.0])
    assert tree_growth.exponent((sizes, 3 * sizes**0.75)) == pytest.approx(0.75)


def test_all_alike_means_that_every_node_matches_every_other():
    alike = tree_growth.all_alike(SENTENCES)
    assert alike.parents is SENTENCES.parents
    assert {word for i in range(len(alike)) for _, word in alike.words(i)} == {"lemma=a"}
    kernel = tree_growth.KERNELS["graph"]
    filled = np.flatnonzero(alike.lengths)
    assert (kernel.gram({"subtree": alike[filled]}, {"subtree": alike[filled]}) > 0).all()


def test_curves_of_both_kernels_are_measured_and_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(tree_growth, "N_GROUPS", 2)
    monkeypatch.setattr(tree_growth, "REPEATS", 1)
    monkeypatch.setattr(tree_growth, "aimed_views", lambda *_, **__: {"sentence": SENTENCES})
    found = tree_growth.curves(SENTENCES)
    assert list(found) == [
        name + kind for name in tree_growth.KERNELS for kind in ("", tree_growth.ALIKE)
    ]
    for sizes, times in found.values():
        assert sizes[0] < sizes[1] and (times > 0).all()
    pytest.importorskip("matplotlib")
    tree_growth.main(tmp_path, svg=tmp_path / "deep" / "growth.svg")
    assert "|T1||T2|" in (tmp_path / "deep" / "growth.svg").read_text("utf-8")
