import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import THOROUGH

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features


@st.composite
def rows(draw, width=9):
    return draw(st.lists(st.sets(st.integers(0, width - 1)), max_size=5))


def dense(sets, width):
    return [[int(column in row) for column in range(width)] for row in sets]


@THOROUGH
@given(rows(), st.data())
def test_rows_are_chosen_like_those_of_a_matrix(sets, data):
    features = Features.from_sets(sets, 9)
    assert features.dense().tolist() == dense(sets, 9)
    chosen = data.draw(st.lists(st.sampled_from(range(len(sets))), max_size=4)) if sets else []
    index = np.array(chosen, np.int64)
    assert features[index].dense().tolist() == dense([sets[i] for i in chosen], 9)
    assert features[1:].dense().tolist() == dense(sets[1:], 9)


@THOROUGH
@given(rows(), st.sampled_from([1, 63, 64, 70, 128]), st.sampled_from([0.0, 0.5, 1.0]))
def test_codes_stand_before_features(sets, n_bits, share):
    features = Features.from_sets(sets, 9)
    bits = (np.random.default_rng(n_bits).random((len(sets), n_bits)) < share).astype(np.uint8)
    x = Encoded(Codes.pack(bits), features, {})
    assert x.widths == (n_bits, 9)
    assert x.items("codes").dense().tolist() == bits.tolist()
    assert x.items("features") is features
    assert x.items("both").dense().tolist() == np.hstack([bits, features.dense()]).tolist()
    assert x[:1].items("both").dense().tolist() == x.items("both").dense()[:1].tolist()


@THOROUGH
@given(rows())
def test_inverted_rows_are_those_of_each_column(sets):
    owners, starts = Features.from_sets(sets, 9).inverted()
    assert (owners.dtype, starts.dtype, len(starts)) == (np.int32, np.int64, 10)
    found = [owners[starts[column] : starts[column + 1]].tolist() for column in range(9)]
    assert found == [[i for i, row in enumerate(sets) if column in row] for column in range(9)]


def test_features_are_refused_where_there_are_none():
    x = Encoded(Codes.pack(np.ones((2, 5), np.uint8)), None, {})
    assert x.widths == (5, 0)
    for inputs in ("features", "both"):
        with pytest.raises(ValueError, match="no features; add a features block"):
            x.items(inputs)


@pytest.mark.parametrize("sets", [[[1]], [[1], [], [2]]])
def test_features_of_more_or_fewer_candidates_are_refused(sets):
    x = Encoded(Codes.pack(np.ones((2, 5), np.uint8)), Features.from_sets(sets, 3), {})
    with pytest.raises(ValueError, match=f"{len(sets)} rows of features cannot stand behind 2"):
        x.items("both")


@pytest.mark.parametrize(
    ("columns", "offsets", "message"),
    [
        (np.array([0, 9], np.int32), np.array([0, 2]), r"columns are 0\.\.9, but there are 9"),
        (np.array([-1], np.int32), np.array([0, 1]), "columns are -1"),
        (np.array([2, 1], np.int32), np.array([0, 2]), "do not rise"),
        (np.array([1, 1], np.int32), np.array([0, 2]), "do not rise"),
        (np.array([1, 2], np.int32), np.array([0, 1]), "offsets run from and to"),
        (np.array([1, 2], np.int32), np.array([0, 2, 1, 2]), "offsets run from and to"),
        (np.array([1], np.int32), np.array([], np.int64), "offsets run from and to"),
        (np.array([1]), np.array([0, 1]), "int32"),
    ],
)
def test_arrays_that_are_no_features_are_refused(columns, offsets, message):
    with pytest.raises(ValueError, match=message):
        Features(columns, offsets, 9)


def test_falling_columns_at_the_border_of_rows_are_fine():
    features = Features(np.array([5, 1], np.int32), np.array([0, 0, 1, 1, 2, 2]), 9)
    assert [row.columns.tolist() for row in (features[1], features[3])] == [[5], [1]]
