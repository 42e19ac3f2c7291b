import subprocess
import sys

import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import MAX_WIDTH, Encoded
from spacy_klsh.classifiers.linear import LinearClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features


@pytest.mark.skipif(not strategies.JIT, reason="only what is imported matters")
def test_answers_need_no_scikit_learn(tmp_path):
    program = (
        "import sys, numpy as np\n"
        "from spacy_klsh.classifiers.linear import LinearClassifier\n"
        "from spacy_klsh.classifiers.encoded import Encoded\n"
        "from spacy_klsh.hashing.codes import Codes\n"
        "from spacy_klsh.hashing.features import Features\n"
        "state = dict(np.load(sys.argv[1]))\n"
        "x = Encoded(Codes.pack(np.ones((1, 3), np.uint8)), Features.from_sets([[1]], 4), {})\n"
        "LinearClassifier(inputs='both').restore(state).predict_proba(x)\n"
        "assert 'sklearn' not in sys.modules and 'scipy.sparse' not in sys.modules\n"
    )
    np.savez(tmp_path / "state.npz", **by_hand())
    subprocess.run([sys.executable, "-c", program, tmp_path / "state.npz"], check=True)


def by_hand():
    """Weights of one bit and two features of 3 bits and 4 features, for labels 0, 1 and 3."""
    return {
        "columns": np.array([1, 3, 6], np.int32),
        "squares": np.array([1.0, 4.0, 0.0, 2.0]),
        "weights": np.array([[1, 0, 2], [0, 3, 0], [1, 1, 1]], np.float32),
        "biases": np.array([0.0, 1.0, -1.0]),
        "labels": np.array([0, 1, 3]),
        "n_labels": np.array(4),
        "widths": np.array([3, 4]),
    }


def encoded(bits, *rows):
    return Encoded(Codes.pack(np.array(bits, np.uint8)), Features.from_sets(rows, 4), {})


def test_weights_by_hand():
    found = (
        LinearClassifier(inputs="both").restore(by_hand()).predict_proba(encoded([[0, 1, 1]], [0]))
    )
    length = np.sqrt(1 + 4 + 2)  # items 1 and 3, and item 2 without weights
    each = 1 / (1 + np.exp(-(np.array([1, 3, 2]) / length + [0, 1, -1])))
    np.testing.assert_allclose(found[0, [0, 1, 3]], each / each.sum(), rtol=1e-6)
    assert found[0, 2] == 0


@pytest.mark.parametrize("size", [900.0, 1e300])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_surest_answers_are_no_nan(size, sign):
    state = {**by_hand(), "biases": np.full(3, sign * size)}
    found = LinearClassifier(inputs="both").restore(state).predict_proba(encoded([[1, 1, 0]], [0]))
    np.testing.assert_allclose(found, [[1 / 3, 1 / 3, 0, 1 / 3]], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("columns", 1, column) for column in (1, 0, 6, -1, 7, 2**31 - 1, -(2**31))),
        *(("columns", 2, column) for column in (7, 3)),
        ("columns", 0, -1),
        *(("squares", 3, value) for value in (np.nan, np.inf, -1.0)),
        *(("weights", (1, 1), value) for value in (np.nan, np.inf, -np.inf)),
        *(("biases", 0, value) for value in (np.nan, -np.inf)),
        *(("labels", 1, label) for label in (0, 3, -1, 4)),
        *(("labels", 2, label) for label in (4, 2**62)),
        ("labels", 0, -1),
        *(("n_labels", (), n) for n in (3, 0, -1)),
        *(("widths", 1, width) for width in (0, 3, -1, 2**62, MAX_WIDTH)),
        *(("widths", 0, width) for width in (-1, -3, MAX_WIDTH)),
    ],
)
def test_damaged_values_are_refused(name, place, value):
    state = by_hand()
    state[name][place] = value
    with pytest.raises(ValueError, match="damaged, train again"):
        LinearClassifier(inputs="both").restore(state)


@pytest.mark.parametrize("inputs", ["codes", "features"])
def test_arrays_of_other_inputs_are_refused(inputs):
    with pytest.raises(ValueError, match="damaged, train again"):
        LinearClassifier(inputs=inputs).restore(by_hand())


@pytest.mark.parametrize("name", by_hand())
def test_damaged_arrays_are_refused(name):
    state = by_hand()
    model = LinearClassifier(inputs="both").restore(state)
    array = state.pop(name)
    swapped, wide = array.astype(array.dtype.newbyteorder(">")), array.astype(np.complex128)
    cut = array[..., :-1] if array.ndim else array[None]
    for damaged in (None, "text", array[None], array[..., None], swapped, wide, cut):
        with pytest.raises(ValueError, match="damaged, train again"):
            LinearClassifier(inputs="both").restore({**state, name: damaged})
    with pytest.raises(ValueError, match=f"'{name}': 'object 0d'.* damaged, train again"):
        model.restore(state)
    assert model.state()[name].tobytes() == array.tobytes()  # still the former ones
    with pytest.raises(ValueError, match=r"'x': 'float64 1d'.* damaged, train again"):
        model.restore({**by_hand(), "x": np.zeros(3)})


@pytest.mark.parametrize("labels", [[], [0], [0, 1], [0, 1, 2, 3]])
def test_machines_for_other_labels_are_refused(labels):
    with pytest.raises(ValueError, match="damaged, train again"):
        LinearClassifier(inputs="both").restore({**by_hand(), "labels": np.array(labels, np.int64)})


CHANGE = st.tuples(st.sampled_from(list(by_hand())), st.integers(0), st.integers(1, 255))


@given(st.lists(CHANGE, min_size=1))
@strategies.THOROUGH
def test_changed_bytes_are_refused_or_harmless(changes):
    state = by_hand()
    for name, place, change in changes:
        raw = state[name].reshape(-1).view(np.uint8)
        raw[place % len(raw)] ^= change
    assume(state["widths"].sum() < 10_000 and state["n_labels"] < 10_000)
    try:
        model = LinearClassifier(inputs="both").restore(state)
    except ValueError:
        return
    n_bits, width = model.widths_
    x = Encoded(
        Codes.pack(np.ones((2, n_bits), np.uint8)),
        Features.from_sets([set(), set(range(width))], width),
        {},
    )
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1, atol=1e-5)
