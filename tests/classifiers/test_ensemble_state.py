import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes

ARRAYS = ("roots", "nodes", "values", "n_bits", "width", "columns")
CHANGE = st.tuples(st.sampled_from(ARRAYS[:5]), st.integers(0), st.integers(1, 255))


def encode(bits):
    return Encoded(Codes.pack(bits), None, {})


def by_hand():
    """Two trees: bit 2 of 3 decides in the first, the second is one leaf."""
    return {
        "roots": np.array([0, 3]),
        "nodes": np.array([[2, 1], [-1, 0], [-1, 1], [-1, 1]], np.int32),
        "values": np.array([[1.0, 0.0], [0.25, 0.75]], np.float32),
        "n_bits": np.array(3),
        "width": np.array(0),
        "columns": np.zeros(0, np.int32),
    }


def test_trees_by_hand():
    trees, bits = SubspaceClassifier(n_members=2).restore(by_hand()), np.eye(3, dtype=np.uint8)
    found = trees.predict_proba(encode(bits))
    assert found.tolist() == [[0.625, 0.375], [0.625, 0.375], [0.25, 0.75]]
    assert trees.predict_proba(encode(bits[:0])).shape == (0, 2)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("nodes", (0, 1), child) for child in (0, -1, 3, 2**31 - 1, -(2**31))),
        *(("nodes", (0, 0), bit) for bit in (3, 64, 2**31 - 1, -2, -(2**31))),
        *(("nodes", (1, 1), row) for row in (2, -1, 2**31 - 1)),
        *(("roots", 1, root) for root in (4, -1, 2**62)),
        *(("values", (1, 0), value) for value in (np.nan, np.inf, -np.inf, 0.2, 0.26, 1e38)),
        *(("values", 1, row) for row in ([-1.0, 2.0], [0.0, 0.0], [np.inf, np.nan])),
        *(("n_bits", (), n_bits) for n_bits in (2, 0, -1)),
        *(("width", (), width) for width in (1, -1, 2**62)),
    ],
)
def test_damaged_values_are_refused(name, place, value):
    state = by_hand()
    state[name][place] = value
    with pytest.raises(ValueError, match="damaged, train again"):
        SubspaceClassifier(n_members=2).restore(state)


def linear_by_hand():
    """Two members on two of 3 bits, and on one of 4 features behind these."""
    return {
        "subspaces": np.array([[2, 3], [0, 1]], np.int32),
        "weights": np.zeros((2, 2, 2), np.float32),
        "intercepts": np.zeros((2, 2), np.float32),
        "n_bits": np.array(3),
        "width": np.array(4),
        "columns": np.array([2], np.int32),
    }


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("subspaces", (0, 1), bit) for bit in (4, -1, 2**31 - 1)),
        *(("weights", (1, 1, 1), value) for value in (np.nan, np.inf)),
        *(("intercepts", (1, 1), value) for value in (np.nan, -np.inf)),
        *(("columns", 0, column) for column in (4, -1)),
        *(("width", (), width) for width in (0, 2)),
        *(("n_bits", (), n_bits) for n_bits in (2, 0)),
    ],
)
def test_damaged_linear_members_are_refused(name, place, value):
    restore = SubspaceClassifier(n_members=2, inputs="both").restore
    restore(linear_by_hand())
    state = linear_by_hand()
    state[name][place] = value
    with pytest.raises(ValueError, match="damaged, train again"):
        restore(state)


@pytest.mark.parametrize("name", ["subspaces", "weights", "intercepts"])
def test_linear_members_of_other_shapes_are_refused(name):
    state = linear_by_hand()
    for axis in range(state[name].ndim):
        fewer = np.take(state[name], [0], axis)
        with pytest.raises(ValueError, match="damaged, train again"):
            SubspaceClassifier(n_members=2, inputs="both").restore({**state, name: fewer})


@pytest.mark.parametrize("name", ARRAYS)
def test_damaged_arrays_are_refused(name):
    state = by_hand()
    classifier = SubspaceClassifier(n_members=2).restore(state)
    array = state.pop(name)
    swapped, wide = array.astype(array.dtype.newbyteorder(">")), array.astype(np.complex128)
    for damaged in (None, "text", array[None], array[..., None], swapped, wide):
        with pytest.raises(ValueError, match="damaged, train again"):
            SubspaceClassifier(n_members=2).restore({**state, name: damaged})
    with pytest.raises(ValueError, match=f"'{name}': 'object 0d'.* damaged, train again"):
        classifier.restore(state)
    assert classifier.state()[name].tobytes() == array.tobytes()  # still the former trees


@pytest.mark.parametrize("kept", [np.s_[:0], np.s_[:1], np.s_[:, :1], np.s_[:, :0]])
def test_truncated_arrays_are_refused(kept):
    state = by_hand()
    for name, key in [("nodes", kept), ("values", kept), ("roots", np.s_[:0])]:
        with pytest.raises(ValueError, match="damaged, train again"):
            SubspaceClassifier(n_members=2).restore({**state, name: state[name][key]})


def test_an_additional_array_is_refused():
    with pytest.raises(ValueError, match=r"'x': 'float64 1d'.* damaged, train again"):
        SubspaceClassifier(n_members=2).restore({**by_hand(), "x": np.zeros(3)})


@pytest.mark.parametrize("roots", [[0], [3], [0, 3, 3], [3, 3], [0, 0], [3, 0]])
def test_fewer_more_or_repeated_trees_are_refused(roots):
    with pytest.raises(ValueError, match=r"2 consistent ones .* damaged, train again"):
        SubspaceClassifier(n_members=2).restore({**by_hand(), "roots": np.array(roots)})


@given(st.lists(CHANGE, min_size=1))
@strategies.THOROUGH
def test_changed_bytes_are_refused_or_harmless(changes):
    state = by_hand()
    for name, place, change in changes:
        raw = state[name].reshape(-1).view(np.uint8)
        raw[place % len(raw)] ^= change
    try:
        classifier = SubspaceClassifier(n_members=2).restore(state)
    except ValueError:
        return
    if classifier.widths_[0] < 10_000:  # wider codes would be refused
        found = classifier.predict_proba(encode(np.eye(2, classifier.widths_[0], dtype=np.uint8)))
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
