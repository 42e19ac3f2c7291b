import math

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.inputs import BitInputs, most_informative
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features


def information(column, y):
    """Mutual information of a column of a dense matrix and the labels, a sum over both."""
    n, found = len(y), 0.0
    for bit in (0, 1):
        for label in set(y):
            both = sum(b == bit and k == label for b, k in zip(column, y, strict=True))
            if both:
                found += both / n * math.log(both * n / (column.count(bit) * y.count(label)))
    return found


@st.composite
def problems(draw):
    """Rows of features, their width, and labels of which each occurs."""
    width = draw(st.integers(1, 12))
    rows = draw(st.lists(st.sets(st.integers(0, width - 1)), min_size=2, max_size=12))
    y = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    return Features.from_sets(rows, width), np.unique(y, return_inverse=True)[1]


@given(problems(), st.integers(1, 12))
@strategies.THOROUGH
def test_the_most_informative_columns_are_kept(problem, n):
    features, y = problem
    kept = most_informative(features, y, n)
    assert kept.dtype == np.int32 and (np.diff(kept) > 0).all()
    dense = features.dense().T.tolist()
    told = {column: information(dense[column], y.tolist()) for column in set(features.columns)}
    assert len(kept) == min(n, len(told)) and set(kept) <= set(told)
    left = [told[column] for column in set(told) - set(kept)]
    assert min((told[column] for column in kept), default=1) >= max(left, default=0) - 1e-9


def test_of_equal_columns_the_first_are_kept():
    features = Features.from_sets([{7, 2, 5, 9}, {9}, {7, 2, 5}, set()], 20)
    assert most_informative(features, np.array([1, 0, 1, 0]), 2).tolist() == [2, 5]


def encoded(problem, n_bits, seed=0):
    bits = np.random.default_rng(seed).integers(2, size=(len(problem[0]), n_bits), dtype=np.uint8)
    return Encoded(Codes.pack(bits), problem[0], {})


@given(problems(), st.integers(1, 12), st.sampled_from([1, 63, 64, 65]))
@strategies.THOROUGH
def test_features_are_bits_behind_the_code(problem, n, n_bits):
    features, y = problem
    x = encoded(problem, n_bits)
    if len(features.columns):
        for inputs in ("features", "both"):
            found = BitInputs.choose(x, y, inputs, n)
            dense = features.dense()[:, found.columns]
            expected = np.hstack([x.codes.bits(), dense]) if inputs == "both" else dense
            assert len(found) == expected.shape[1]
            assert found.words(x).tolist() == Codes.pack(expected).words.tolist()
            assert found.fits(inputs) and not found.fits("codes")
    codes = BitInputs.choose(x, y, "codes", n)
    assert codes.words(x) is x.codes.words and codes.fits("codes")


def test_without_features_inputs_that_want_some_are_refused():
    for features in (None, Features.from_sets([set(), set()], 9)):
        x = Encoded(Codes.pack(np.eye(2, dtype=np.uint8)), features, {})
        for inputs in ("features", "both"):
            with pytest.raises(ValueError, match=f'inputs are "{inputs}", but .* set inputs ='):
                BitInputs.choose(x, np.array([0, 1]), inputs, 3)


def test_other_widths_than_in_training_are_refused():
    problem = Features.from_sets([{0}, {1}], 5), np.array([0, 1])
    inputs = BitInputs.choose(encoded(problem, 8), problem[1], "both", 3)
    with pytest.raises(ValueError, match="codes have 9 bits but training had 8"):
        inputs.words(encoded(problem, 9))
    for features, width in [(None, 0), (Features.from_sets([{0}, {1}], 6), 6)]:
        with pytest.raises(ValueError, match=f"have {width} features but training had 5"):
            inputs.words(Encoded(encoded(problem, 8).codes, features, {}))


@pytest.mark.parametrize(
    "wrong",
    [
        (0, 9, [1]),
        (-1, 9, [1]),
        (4, 0, []),
        (4, 9, []),
        (4, -9, [1]),
        (4, 9, [9]),
        (4, 9, [-1]),
        (4, 9, [2, 2]),
        (4, 9, [2, 1]),
        (4, 0, [0]),
    ],
)
def test_inconsistent_ones_do_not_fit(wrong):
    n_bits, width, columns = wrong
    assert BitInputs(4, 9, np.array([1, 8], np.int32)).fits("both")
    assert not BitInputs(n_bits, width, np.array(columns, np.int32)).fits("both")
