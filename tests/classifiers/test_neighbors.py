import sys

import naive
import naive_neighbors
import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.neighbors import HammingNeighbors
from spacy_klsh.hashing.codes import Codes

ARRAYS = ("words", "n_bits", "counts")
CHANGE = st.tuples(st.sampled_from(ARRAYS), st.integers(0), st.integers(1, 255))


def encode(bits):
    return Encoded(Codes.pack(bits), None, {})


def sample(n=60, n_bits=70, n_labels=3, seed=0):
    """Codes, many of them equal, and labels."""
    rng = np.random.default_rng(seed)
    distinct = rng.integers(2, size=(max(1, n // 2), n_bits), dtype=np.uint8)
    return distinct[rng.integers(len(distinct), size=n)], rng.integers(n_labels, size=n)


def fitted(n_labels=None, seed=0, **settings):
    bits, y = sample(seed=seed)
    return HammingNeighbors(**settings).fit(encode(bits), y, n_labels)


@given(
    st.integers(2, 25), st.integers(1, 70), st.integers(1, 30), st.integers(0, 2**32 - 1), st.data()
)
@strategies.THOROUGH
def test_probabilities_are_the_votes_of_the_nearest(n, n_bits, k, seed, data):
    bits, y = sample(n, n_bits, seed=seed)
    assume(len(set(y)) > 1)
    weights, smoothing = data.draw(
        st.tuples(st.sampled_from(["uniform", "distance"]), st.sampled_from([0.1, 1.0, 20.0]))
    )
    new = np.concatenate([bits, 1 - bits, sample(5, n_bits, seed=seed + 1)[0]])
    settings = {"k": k, "weights": weights, "smoothing": smoothing}
    found = HammingNeighbors(**settings).fit(encode(bits), y, 4).predict_proba(encode(new))
    assert found.dtype == np.float32 and found.shape == (len(new), 4)
    groups = naive_neighbors.grouped(bits, y)
    stored, prior = list(groups), naive_neighbors.prior(y, 4)
    for code, row in zip(new, found, strict=True):
        order = naive_neighbors.nearest([code], stored, k)[0]
        distances = naive.hamming([code], [stored[i] for i in order])[0]
        votes = [1 if weights == "uniform" else 1 / (1 + d) for d in distances]
        near = [groups[stored[i]] for i in order]
        expected = naive_neighbors.shares(near, votes, prior, k, smoothing)
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_probabilities_do_not_depend_on_the_block(weights):
    classifier, x = fitted(k=7, weights=weights), encode(sample(n=90, seed=1)[0])
    whole = classifier.predict_proba(x)
    for size in (1, 7):
        blocks = [classifier.predict_proba(x[i : i + size]) for i in range(0, len(x), size)]
        assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert classifier.predict_proba(x[::-1]).tobytes() == whole[::-1].tobytes()
    assert classifier.predict_proba(x[:0]).shape == (0, 3)


def test_one_label_and_labels_outside_are_refused():
    bits, _ = sample(n=17)
    with pytest.raises(ValueError, match=r"all 17 training .* \(ids \[2\]\)"):
        HammingNeighbors().fit(encode(bits), np.full(17, 2))
    for y, n_labels in [(-1, 2), (2, 2)]:
        with pytest.raises(ValueError, match="set n_labels"):
            HammingNeighbors().fit(encode(bits), np.array([y] + [0] * 16), n_labels)


@pytest.mark.parametrize(
    "settings",
    [
        *({"k": k} for k in (0, -1)),
        *({"smoothing": s} for s in (0.0, -1.0, np.nan, np.inf)),
        {"weights": "near"},
        {"index": "tree"},
    ],
)
def test_senseless_settings_are_refused(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} (=|is)"):
        HammingNeighbors(**settings)


def test_codes_of_another_width_are_refused():
    for n_bits in (69, 71, 128):
        with pytest.raises(ValueError, match=f"codes have {n_bits} bits but training had 70"):
            fitted().predict_proba(encode(np.zeros((2, n_bits), np.uint8)))


@pytest.mark.parametrize(
    "call", [lambda c: c.predict_proba(encode(sample()[0])), lambda c: c.state()]
)
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no stored candidates, .*; call fit\(\) first"):
        call(HammingNeighbors())


def test_restored_neighbors_predict_the_same(tmp_path):
    classifier, x = fitted(k=5, n_labels=6), encode(sample(seed=1)[0])
    assert (classifier.widths_, classifier.n_labels_) == ((70, 0), 6)
    state = {name: np.asarray(array, order="F") for name, array in classifier.state().items()}
    assert tuple(state) == ARRAYS
    np.savez(tmp_path / "codes.npz", **state)
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as arrays:
        restored = HammingNeighbors(k=5).restore(dict(arrays))
    assert (restored.widths_, restored.n_labels_) == ((70, 0), 6)
    assert restored.predict_proba(x).tobytes() == classifier.predict_proba(x).tobytes()


@pytest.mark.parametrize("index", ["scan", "faiss"])
def test_faiss_gives_the_same_probabilities(index):
    pytest.importorskip("faiss", reason="faiss is not installed: pip install faiss-cpu")
    classifier, x = fitted(k=5), encode(sample(seed=1)[0])
    other = HammingNeighbors(k=5, index=index).restore(classifier.state())
    assert other.predict_proba(x).tobytes() == classifier.predict_proba(x).tobytes()


def test_without_faiss_fit_and_restore_tell_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    for call in (lambda: fitted(index="faiss"), lambda: restored_by_faiss(fitted().state())):
        with pytest.raises(ModuleNotFoundError, match=r'pip install "spacy-klsh\[faiss\]"'):
            call()


def restored_by_faiss(state):
    return HammingNeighbors(index="faiss").restore(state)


def by_hand():
    """Two codes of three bits, the first of two candidates."""
    codes = Codes.pack(np.array([[1, 0, 1], [0, 1, 0]], np.uint8))
    counts = np.array([[1, 1], [0, 2]], np.int32)
    return {"words": codes.words.copy(), "n_bits": np.array(3), "counts": counts}


def test_votes_by_hand():
    knn = HammingNeighbors(k=3, weights="uniform", smoothing=4.0).restore(by_hand())
    found = knn.predict_proba(encode(np.array([[1, 0, 1], [0, 1, 0]], np.uint8)))
    assert found.tolist() == pytest.approx(
        np.array([[(1 + 1) / 7, (1 + 1 + 3) / 7], [(0.5 + 1) / 7, (2.5 + 3) / 7]])
    )


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("counts", (1, 0), count) for count in (-1, -3, -(2**31))),
        ("counts", 0, 0),
        ("words", (0, 0), 8),
        *(("n_bits", (), n_bits) for n_bits in (2, 0, -1, 65, 2**40)),
    ],
)
def test_damaged_values_are_refused(name, place, value):
    state = by_hand()
    state[name][place] = value
    with pytest.raises(ValueError, match="damaged, train again"):
        HammingNeighbors().restore(state)


@pytest.mark.parametrize("name", ARRAYS)
def test_damaged_arrays_are_refused(name):
    state = by_hand()
    classifier = HammingNeighbors().restore(state)
    array = state.pop(name)
    swapped, wide = array.astype(array.dtype.newbyteorder(">")), array.astype(np.complex128)
    for damaged in (None, "text", array[None], array[..., None], swapped, wide):
        with pytest.raises(ValueError, match="damaged, train again"):
            HammingNeighbors().restore({**state, name: damaged})
    with pytest.raises(ValueError, match="damaged, train again"):
        classifier.restore(state)
    assert classifier.state()[name].tobytes() == array.tobytes()  # still the former codes


@pytest.mark.parametrize("kept", [np.s_[:0], np.s_[:1], np.s_[:, :0]])
def test_truncated_arrays_are_refused(kept):
    state = by_hand()
    for name in ("words", "counts"):
        with pytest.raises(ValueError, match="damaged, train again"):
            HammingNeighbors().restore({**state, name: state[name][kept]})
    empty = {name: array[:0] if array.ndim else array for name, array in state.items()}
    with pytest.raises(ValueError, match="damaged, train again"):
        HammingNeighbors().restore(empty)


def test_an_additional_array_is_refused():
    with pytest.raises(ValueError, match=r"the arrays \['x'\].* damaged, train again"):
        HammingNeighbors().restore({**by_hand(), "x": np.zeros(3)})


@given(st.lists(CHANGE, min_size=1))
@strategies.THOROUGH
def test_changed_bytes_are_refused_or_harmless(changes):
    state = by_hand()
    for name, place, change in changes:
        raw = state[name].reshape(-1).view(np.uint8)
        raw[place % len(raw)] ^= change
    try:
        classifier = HammingNeighbors().restore(state)
    except ValueError:
        return
    found = classifier.predict_proba(encode(np.eye(2, classifier.widths_[0], dtype=np.uint8)))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
