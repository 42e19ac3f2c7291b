import itertools

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from spacy_klsh.structures import Structures
from spacy_klsh.views import concat_views, distinct, take

CAT, DOG = ("dep=", "lemma=cat"), ("dep=conj>", "lemma=dog")
PATHS = [[CAT, DOG], [], [DOG], [CAT, DOG, CAT]]


def words(structures):
    return [structures.words(i) for i in range(len(structures))]


def parents(structures):
    if structures.parents is None:
        return None
    return np.split(structures.parents, structures.offsets[1:-1])


def vectors(structures):
    return dict(zip(structures.symbols, structures.vectors.tolist(), strict=True))


def assert_same(structures, other, rows):
    """`structures` are the `rows` of `other` in words, parents and vectors."""
    assert words(structures) == [other.words(i) for i in rows]
    assert vectors(structures).items() <= vectors(other).items()
    if other.parents is None:
        assert structures.parents is None
    elif rows:
        expected = [parents(other)[i] for i in rows]
        assert list(map(list, parents(structures))) == list(map(list, expected))


@given(strategies.paths(3))
@strategies.THOROUGH
def test_from_symbols_keeps_the_words(paths):
    packed = Structures.from_symbols(paths, n_attributes=3)
    assert words(packed) == paths
    assert packed.lengths.tolist() == [len(path) for path in paths]
    assert len(packed) == len(paths)
    assert packed.shape == (len(paths),)


@given(strategies.vectors())
@strategies.QUICK
def test_from_symbols_gives_a_symbol_its_vector_and_zeros_to_others(table):
    packed = strategies.pack([[("dep=unknown", "lemma=cat")]], table)
    assert packed.vectors[0].tolist() == [0.0, 0.0, 0.0]
    assert packed.vectors[1].tolist() == table["lemma=cat"].tolist()


@pytest.mark.parametrize("paths", [[], [[]], [[], []]])
def test_from_symbols_without_a_node_has_the_attributes_asked_for(paths):
    packed = Structures.from_symbols(paths, n_attributes=5)
    assert packed.nodes.shape == (0, 5)
    assert len(packed) == len(paths)


@given(strategies.structures(), st.data())
@strategies.THOROUGH
def test_slices_are_those_of_a_list(structures, data):
    chosen = data.draw(st.slices(len(structures)))
    assert_same(structures[chosen], structures, list(range(len(structures)))[chosen])


@pytest.mark.parametrize(
    "index",
    [
        lambda rows, n: rows,
        lambda rows, n: np.array(rows, np.int64),
        lambda rows, n: np.array(rows, np.int32) - n,
        lambda rows, n: (np.array(rows, np.int64), ...),
    ],
    ids=["list", "array", "negative", "scikit-learn"],
)
@given(strategies.structures(min_size=1), st.data())
@strategies.QUICK
def test_index_arrays_choose_in_their_order_with_repetition(index, structures, data):
    n = len(structures)
    rows = data.draw(st.lists(st.integers(0, n - 1)))
    assert_same(structures[index(rows, n)], structures, rows)


@given(strategies.structures(), st.data())
@strategies.QUICK
def test_boolean_masks_choose_the_true_ones(structures, data):
    n = len(structures)
    mask = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    rows = np.flatnonzero(mask).tolist()
    assert_same(structures[np.array(mask, bool)], structures, rows)


@pytest.mark.parametrize("i", [0, 3, -1, np.int64(2)])
def test_an_integer_chooses_one_structure(i):
    assert words(Structures.from_symbols(PATHS)[i]) == [PATHS[i]]


@pytest.mark.parametrize("index", [4, -5, [0, 4], np.zeros(3, bool)])
def test_an_index_out_of_range_is_an_error(index):
    with pytest.raises(IndexError):
        Structures.from_symbols(PATHS)[index]


def test_a_choice_keeps_only_the_symbols_that_it_uses():
    assert set(Structures.from_symbols(PATHS)[2:3].symbols) == set(DOG)


@given(strategies.structures(), st.data())
@strategies.THOROUGH
def test_concat_of_slices_gives_back_the_whole(structures, data):
    n = len(structures)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=3)))
    parts = [structures[a:b] for a, b in itertools.pairwise([0, *cuts, n])]
    assert_same(Structures.concat(parts), structures, list(range(n)))


@given(strategies.paths(), strategies.paths(), strategies.vectors())
@strategies.QUICK
def test_concat_joins_over_one_dictionary(first, second, table):
    parts = [strategies.pack(paths, table) for paths in ([[CAT]], first, second)]
    joined = Structures.concat(parts)
    assert words(joined) == [[CAT], *first, *second]
    assert len(set(joined.symbols)) == len(joined.symbols)
    assert vectors(joined) == {symbol: table[symbol].tolist() for symbol in joined.symbols}


def test_concat_refuses_two_vectors_of_one_symbol():
    unit = np.eye(2, dtype=np.float32)
    parts = [
        Structures.from_symbols([[CAT], [DOG]], {"lemma=cat": unit[0], "lemma=dog": x}, dim=2)
        for x in unit
    ]
    with pytest.raises(ValueError, match="'lemma=dog' has two different vectors, one expected"):
        Structures.concat([parts[0], parts[0][:1], parts[1]])
    assert len(Structures.concat([parts[0], parts[1][:1]])) == 3


def runs_in_a_circle(parents):
    """Whether a walk from some node meets a node twice."""
    for node in range(len(parents)):
        met = set()
        while node != -1 and node not in met:
            met.add(node)
            node = parents[node]
        if node != -1:
            return True
    return False


@st.composite
def any_parents(draw):
    n = draw(st.integers(1, 6))
    return draw(st.lists(st.integers(-1, n - 1), min_size=n, max_size=n))


@strategies.THOROUGH
@given(st.lists(st.one_of(any_parents(), strategies.forests(5)), max_size=3))
def test_parents_that_run_in_a_circle_are_refused(drawn):
    flat = np.array(list(itertools.chain(*drawn)), np.int32)
    lengths = [len(parents) for parents in drawn]
    trees = fields(
        nodes=np.zeros((len(flat), 2), np.int32),
        offsets=np.cumsum([0, *lengths]).astype(np.int64),
        parents=flat,
    )
    bad = [i for i, parents in enumerate(drawn) if runs_in_a_circle(parents)]
    if not bad:
        assert Structures(**trees).parents is flat
        return
    with pytest.raises(ValueError, match=f"the parents of structure {bad[0]} run in a circle"):
        Structures(**trees)


def test_take_and_concat_views_treat_every_view_alike():
    views = {name: Structures.from_symbols(p) for name, p in (("a", PATHS), ("b", PATHS[::-1]))}
    joined = concat_views([take(views, slice(1)), take(views, [3, 2])])
    assert {name: words(view) for name, view in joined.items()} == {
        "a": [PATHS[i] for i in (0, 3, 2)],
        "b": [PATHS[i] for i in (3, 0, 1)],
    }


def fields(**changed):
    return {
        "nodes": np.array([[0, 1], [2, 3], [0, 1]], np.int32),
        "offsets": np.array([0, 2, 2, 3], np.int64),
        "symbols": ("dep=", "lemma=cat", "dep=conj>", "lemma=dog"),
        "vectors": np.zeros((4, 2), np.float32),
        "parents": np.array([1, -1, -1], np.int32),
    } | changed


def test_the_fields_that_the_checks_start_from_are_valid():
    assert words(Structures(**fields())) == [[CAT, DOG], [], [CAT]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nodes": np.zeros((3, 2), np.int64)}, "nodes is 2-d int64, but .* 2-d int32"),
        ({"nodes": np.zeros(3, np.int32)}, "nodes is 1-d int32"),
        ({"nodes": np.zeros((2, 3), np.int32).T}, "nodes is .* C-ordered .*ascontiguousarray"),
        ({"nodes": np.full((3, 2), 4, np.int32)}, r"symbols 4\.\.4 but there are 4"),
        ({"nodes": np.full((3, 2), -1, np.int32)}, r"symbols -1\.\.-1 but there are 4"),
        ({"nodes": np.zeros((2, 2), np.int32)}, "offsets end at 3 but nodes has 2 rows"),
        ({"offsets": np.array([0, 3], np.int32)}, "offsets is 1-d int32, but .* 1-d int64"),
        ({"offsets": np.array([[0, 3]], np.int64)}, "offsets is 2-d"),
        ({"offsets": np.array([], np.int64)}, "offsets must start at 0 and never fall"),
        ({"offsets": np.array([1, 3], np.int64)}, "offsets must start at 0 and never fall"),
        ({"offsets": np.array([0, 2, 1, 3], np.int64)}, "offsets must start at 0 and never fall"),
        (  # its differences wrap around to numbers above 0
            {"offsets": np.array([0, 2**63 - 1, -2, 3], np.int64)},
            "offsets must start at 0 and never fall",
        ),
        ({"offsets": np.array([0, 2], np.int64)}, "offsets end at 2 but nodes has 3 rows"),
        ({"symbols": ("dep=", "lemma=cat")}, "vectors has 4 rows but there are 2 symbols"),
        ({"vectors": np.zeros((3, 2), np.float32)}, "vectors has 3 rows but there are 4 symbols"),
        ({"vectors": np.zeros((4, 2))}, "vectors is 2-d float64, but .* 2-d float32"),
        ({"vectors": np.zeros((2, 4), np.float32).T}, "vectors is .* C-ordered"),
        ({"parents": np.array([1, -1, -1])}, "parents is 1-d int64, but .* 1-d int32"),
        ({"parents": np.array([[1, -1, -1]], np.int32)}, "parents is 2-d"),
        ({"parents": np.array([1, -1], np.int32)}, "parents has 2 entries but nodes has 3 rows"),
        ({"parents": np.array([2, -1, -1], np.int32)}, "a parent points outside its structure"),
        ({"parents": np.array([-2, -1, -1], np.int32)}, "a parent points outside its structure"),
        ({"parents": np.array([-1, -1, 1], np.int32)}, "a parent points outside its structure"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        Structures(**fields(**changed))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Structures.from_symbols([[(*CAT, "pos=NOUN")]]), "attributes: 3 found, 2 expected"),
        (Structures(**fields()), "vector dimensions: 2 found, 0 expected"),
        (Structures(**fields(vectors=np.zeros((4, 0), np.float32))), "parents: True found, False"),
    ],
)
def test_concat_refuses_structures_of_another_kind(other, message):
    with pytest.raises(ValueError, match=message):
        Structures.concat([Structures.from_symbols(PATHS), other])


@pytest.mark.parametrize("concat", [Structures.concat, concat_views])
def test_concat_of_nothing_is_refused(concat):
    with pytest.raises(ValueError, match="got no parts; pass at least one"):
        concat([])


def test_concat_views_refuses_other_view_names():
    path = Structures.from_symbols(PATHS)
    with pytest.raises(ValueError, match=r"has the views \['between'\] but the first has \['path'"):
        concat_views([{"path": path}, {"between": path}])


def test_scikit_learn_splits_structures_with_their_labels():
    paths, table = strategies.corpus(40)
    structures, labels = strategies.pack(paths, table), np.arange(40)
    parts = train_test_split(structures, labels, random_state=0, stratify=labels % 2)
    for part, rows in (parts[0::2], parts[1::2]):
        assert_same(part, structures, rows.tolist())


@given(st.lists(st.tuples(strategies.SHORT_WORDS, strategies.SHORT_WORDS)))
def test_distinct_finds_the_first_of_each_candidate(pairs):
    views = {
        name: Structures.from_symbols([[("dep=", letter) for letter in word] for word in column])
        for name, column in zip("ab", zip(*pairs, strict=True) if pairs else ([], []), strict=True)
    }
    first, rows = distinct(views)
    assert [pairs[i] for i in first] == list(dict.fromkeys(pairs))
    assert [pairs[i] for i in first[rows]] == pairs
