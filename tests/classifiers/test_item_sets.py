import naive_polynomial as naive
import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_klsh.classifiers.item_set_mining import SUBSET_WEIGHTS
from spacy_klsh.classifiers.item_sets import ItemSets
from spacy_klsh.classifiers.support_examples import InvertedIndex, SupportExamples
from spacy_klsh.hashing.features import Features

WIDTH = 9
ROWS = st.lists(st.sets(st.integers(0, WIDTH - 1), max_size=6), min_size=1, max_size=8)
DEGREES = st.sampled_from([1, 2, 3])
WEIGHT = st.integers(-8, 8).map(lambda eighths: eighths / 8)  # sums have no rounding


@st.composite
def supports(draw):
    rows, n_machines = draw(ROWS), draw(st.integers(1, 3))
    row = st.lists(WEIGHT, min_size=n_machines, max_size=n_machines)
    return rows, draw(st.lists(row, min_size=len(rows), max_size=len(rows)))


def packed(rows):
    return Features.from_sets(rows, WIDTH)


def machines(drawn, degree):
    rows, weights = drawn
    return SupportExamples(packed(rows), np.array(weights, np.float64), degree)


def sets_of(trie):
    """The sets of a trie with their weights, by walking up from every node."""
    starts, n_roots = trie.starts, trie.starts[0]
    found = {}
    for node, weights in enumerate(trie.weights.tolist()):
        items, above = [], node
        while above >= n_roots:
            items.append(trie.columns[above])
            above = np.searchsorted(starts, above, side="right") - 1
        found[frozenset([*items, trie.columns[above]])] = weights
    assert len(found) == len(trie.columns)
    return found


@given(supports(), DEGREES, ROWS)
@strategies.THOROUGH
def test_scores_are_sums_over_support_examples(drawn, degree, rows):
    support, x = machines(drawn, degree), packed(rows)
    found = support.scores(x)
    assert found.dtype == np.float64
    expected = [naive.scores(*drawn, degree, row) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert InvertedIndex(support).scores(x).tobytes() == found.tobytes()


@given(supports(), DEGREES, ROWS)
@strategies.THOROUGH
def test_all_item_sets_together_give_the_same_scores(drawn, degree, rows):
    support, x = machines(drawn, degree), packed(rows)
    assume(naive.item_sets(*drawn, degree, 0))
    found = ItemSets.of(support, 0.0, 1000).scores(x)
    np.testing.assert_allclose(found, support.scores(x), rtol=1e-6, atol=1e-4)


@given(supports(), DEGREES, st.sampled_from([0.0, 0.5, 2.0, 6.0, 20.0]))
@strategies.THOROUGH
def test_the_large_sets_are_found_and_no_others(drawn, degree, sigma):
    expected = naive.item_sets(*drawn, degree, sigma)
    assume(expected)
    trie = ItemSets.of(machines(drawn, degree), sigma, 1000)
    found = sets_of(trie)
    assert {s: w for s, w in found.items() if any(w)} == expected
    frequency = {c: sum(c in row for row in drawn[0]) for c in range(WIDTH)}
    for s in found:  # a node without weight leads to a set with one, which holds it
        above = [other for other in expected if s <= other]
        assert above
        rarest = sorted(s, key=lambda c: (frequency[c], c))
        assert any(rarest == sorted(o, key=lambda c: (frequency[c], c))[: len(s)] for o in above)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_subset_weights_are_those_of_the_paper(degree):
    sizes = range(degree + 1)
    assert SUBSET_WEIGHTS[degree] == tuple(naive.subset_weight(degree, r) for r in sizes)


@given(supports(), DEGREES)
@strategies.QUICK
def test_the_limit_is_the_number_of_nodes(drawn, degree):
    support = machines(drawn, degree)
    assume(naive.item_sets(*drawn, degree, 0))
    n = len(ItemSets.of(support, 0.0, 1000).columns)
    # a node that leads to nothing may have been needed for a moment
    assert len(ItemSets.of(support, 0.0, 2 * n + 3).columns) == n
    assume(n > 1)
    with pytest.raises(ValueError, match=rf"more than max_sets = {n - 1} .* sigma = 0.0; raise"):
        ItemSets.of(support, 0.0, n - 1)


def test_no_set_at_all_is_refused():
    with pytest.raises(ValueError, match=r"reaches sigma = 9\.0; lower sigma"):
        ItemSets.of(machines(([{1, 2}], [[0.5]]), 2), 9.0, 10)


def test_a_trie_by_hand():
    rows, weights = [{0, 1, 2}, {1, 2}, {2}], [[0.5], [-0.25], [1.0]]
    trie = ItemSets.of(machines((rows, weights), 2), 0.0, 100)
    assert trie.columns.tolist() == [0, 1, 2, 1, 2, 2]
    assert trie.starts.tolist() == [3, 5, 6, 6, 6, 6, 6]
    assert trie.weights[:, 0].tolist() == [1.5, 0.75, 3.75, 1.0, 1.0, 0.5]
    assert trie.empty.tolist() == [1.25]
    found = trie.scores(packed([set(), {0}, {8}, {0, 2}, {1, 2}, {0, 1, 2}]))
    assert found[:, 0].tolist() == [1.25, 2.75, 1.25, 7.5, 6.25, 9.75]


@pytest.mark.parametrize("method", ["support", "index", "sets"])
def test_a_row_does_not_care_about_the_others(method):
    rng = np.random.default_rng(0)
    rows = [set(rng.choice(WIDTH, 5).tolist()) for _ in range(60)]
    support, x = machines((rows[:20], rng.normal(size=(20, 3))), 3), packed(rows)
    kinds = {"support": support, "index": InvertedIndex(support)}
    kind = kinds.get(method) or ItemSets.of(support, 0.5, 1000)
    whole = kind.scores(x)
    assert whole.shape == (60, 3)
    assert kind.scores(x[::-1]).tobytes() == whole[::-1].tobytes()
    for i in range(60):
        assert kind.scores(x[i : i + 1]).tobytes() == whole[i].tobytes()


def trie_by_hand():
    return ItemSets.of(machines(([{0, 1}, {1, 2}], [[0.5, 1.0], [-0.25, 1.0]]), 2), 0.0, 9)


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("columns", lambda a: changed(a, 0, WIDTH), "no trie"),
        ("columns", lambda a: changed(a, -1, -1), "no trie"),
        ("columns", lambda a: changed(a, 0, a[1]), "no trie"),
        ("columns", lambda a: a[:-1], "no trie"),
        ("columns", lambda a: a.astype(np.int64), "are needed"),
        ("starts", lambda a: changed(a, 0, -1), "no trie"),
        ("starts", lambda a: changed(a, 0, a[0] + 1), "no trie"),
        ("starts", lambda a: changed(a, 0, 2**40), "no trie"),
        ("starts", lambda a: changed(a, 1, 0), "no trie"),
        ("starts", lambda a: changed(a, -1, a[-1] + 1), "no trie"),
        ("starts", lambda a: changed(a, -2, 2**40), "no trie"),
        ("starts", lambda a: np.arange(len(a)), "no trie"),
        ("starts", lambda a: a[:-1], "no trie"),
        ("starts", lambda a: a[:0], "no trie"),
        ("weights", lambda a: changed(a, 0, np.nan), "no trie"),
        ("weights", lambda a: a[:-1], "no trie"),
        ("weights", lambda a: a[:, :1], "no trie"),
        ("empty", lambda a: a[:1], "no trie"),
        ("empty", lambda a: changed(a, 0, np.inf), "no trie"),
        ("empty", lambda a: a.astype(np.float32), "are needed"),
        ("more", lambda a: np.zeros(1), "are needed"),
    ],
)
def test_a_damaged_trie_is_refused(name, change, message):
    state = trie_by_hand().state()
    state[name] = change(state.get(name))
    with pytest.raises(ValueError, match=message):
        ItemSets.restore(state, WIDTH, 2)


def test_a_trie_of_another_degree_or_width_is_refused():
    state = trie_by_hand().state()
    for width, degree in ((WIDTH, 1), (2, 2)):
        with pytest.raises(ValueError, match="no trie"):
            ItemSets.restore(state, width, degree)


def test_a_restored_trie_gives_the_same_scores():
    trie = trie_by_hand()
    again = ItemSets.restore(
        {n: np.asarray(a, order="F") for n, a in trie.state().items()}, WIDTH, 2
    )
    x = packed([{0, 1}, {1, 2, 4}])
    assert again.scores(x).tobytes() == trie.scores(x).tobytes()
    assert again.nbytes == sum(array.nbytes for array in trie.state().values())


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("columns", lambda a: a[::-1], "do not rise"),
        ("columns", lambda a: a + np.int32(WIDTH), "set width"),
        ("columns", lambda a: a.astype(float), "are needed"),
        ("offsets", lambda a: a + 1, "must rise from 0"),
        ("weights", lambda a: a[:-1], "2 support examples have 1 rows"),
        ("weights", lambda a: a * np.nan, "needs finite ones"),
        ("more", lambda a: np.zeros(1), "are needed"),
    ],
)
def test_damaged_support_examples_are_refused(name, change, message):
    state = machines(([{0, 1}, {1, 2}], [[0.5], [1.0]]), 2).state()
    state[name] = change(state.get(name))
    with pytest.raises(ValueError, match=message):
        SupportExamples.restore(state, WIDTH, 2)
