import subprocess
import sys
from pathlib import Path

import joblib
import naive_trees
import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes

ARRAYS = ("roots", "nodes", "values", "n_bits")
WEIGHTS = [{"class_weight": "balanced"}, {"class_weight": {1: 5.0, 3: 0.25}}]
SETTINGS = [{}, *WEIGHTS, {"min_samples_leaf": 6}, {"min_samples_leaf": 120}, {"n_members": 1}]
CHANGE = st.tuples(st.sampled_from(ARRAYS), st.integers(0), st.integers(1, 255))
CHOICES = {"bits_per_member": [1, 5, None], "min_samples_leaf": [1, 2, 5]}


def encode(bits):
    return Encoded(Codes.pack(bits), None, {})


def sample(n=120, n_bits=70, labels=(0, 1), seed=0):
    """Bits and labels of which half follow two of the bits."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(2, size=(n, n_bits), dtype=np.uint8)
    y = np.where(rng.random(n) < 0.5, bits[:, 0] + 2 * bits[:, -1], rng.integers(9, size=n))
    return bits, np.array(labels)[y % len(labels)]


def fitted(bits, y, n_labels=None, **settings):
    settings = {"n_members": 12, "bits_per_member": 9, **settings}
    return SubspaceClassifier(**settings).fit(encode(bits), y, n_labels)


def oracle(classifier, bits, y):
    """The scikit-learn ensemble and the labels of its classes."""
    labels, y = np.unique(y, return_inverse=True)
    return classifier.estimator(labels).fit(bits, y), labels


@pytest.mark.parametrize("bits_per_member", [9, None])
@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2, 3, 4), (1, 4, 6)])
@pytest.mark.parametrize("settings", SETTINGS)
def test_probabilities_are_those_of_scikit_learn(bits_per_member, labels, settings):
    bits, y = sample(labels=labels)
    new, _ = sample(seed=1)
    classifier = fitted(bits, y, n_labels=8, bits_per_member=bits_per_member, **settings)
    ensemble, labels = oracle(classifier, bits, y)
    found = classifier.predict_proba(encode(new))
    assert found.dtype == np.float32 and found.shape == (len(new), 8)
    np.testing.assert_allclose(found[:, labels], ensemble.predict_proba(new), rtol=0, atol=1e-6)
    assert not np.delete(found, labels, axis=1).any()


@pytest.mark.parametrize("bits_per_member", [1, 30, 64, 1000, None])
@pytest.mark.parametrize("n_bits", [1, 63, 64, 65, 128, 130])
def test_any_width_of_codes_and_subspaces(bits_per_member, n_bits):
    bits, y = sample(n=40, n_bits=n_bits)
    classifier = fitted(bits, y, n_members=4, bits_per_member=bits_per_member)
    expected = oracle(classifier, bits, y)[0].predict_proba(bits)
    np.testing.assert_allclose(classifier.predict_proba(encode(bits)), expected, rtol=0, atol=1e-6)


@given(st.data(), st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 70))
@strategies.QUICK
def test_trees_walked_node_by_node_agree(data, seed, n, n_bits):
    labels = data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=4, unique=True))
    settings = {name: data.draw(st.sampled_from(values)) for name, values in CHOICES.items()}
    bits, y = sample(n, n_bits, labels, seed)
    assume(len(np.unique(y)) > 1)
    classifier = fitted(bits, y, n_labels=7, n_members=3, seed=seed, **settings)
    ensemble, labels = oracle(classifier, bits, y)
    new = np.concatenate([bits, 1 - bits])
    expected = naive_trees.probabilities(ensemble, new.tolist(), labels, 7)
    np.testing.assert_allclose(classifier.predict_proba(encode(new)), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("bits_per_member", [9, None])
def test_probabilities_do_not_depend_on_the_block(bits_per_member):
    bits, y = sample(n=600, labels=(0, 1, 2))
    classifier = fitted(bits[:200], y[:200], bits_per_member=bits_per_member)
    x = encode(bits)
    whole = classifier.predict_proba(x)
    for size in (1, 7, 500):
        blocks = [classifier.predict_proba(x[i : i + size]) for i in range(0, len(x), size)]
        assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert classifier.predict_proba(x[::-1]).tobytes() == whole[::-1].tobytes()


@pytest.mark.parametrize("bits_per_member", [9, None])
def test_the_seed_decides_the_trees(bits_per_member):
    bits, y = sample()
    settings = {"bits_per_member": bits_per_member}
    first, same, other = (fitted(bits, y, seed=s, **settings).state() for s in (3, 3, 4))
    with joblib.parallel_config("threading", n_jobs=2):
        threads = fitted(bits, y, seed=3, **settings).state()
    for name in ARRAYS:
        assert first[name].tobytes() == same[name].tobytes() == threads[name].tobytes()
    assert first["nodes"].tobytes() != other["nodes"].tobytes()


def test_equal_distributions_are_stored_once():
    classifier = fitted(*sample(n=300, labels=(0, 1, 2)))
    values, n_leaves = classifier.values_, (classifier.nodes_[:, 0] < 0).sum()
    assert len(np.unique(values, axis=0)) == len(values) < n_leaves / 4


@pytest.mark.parametrize("weight", [0.2, 1.0, 9.0])
def test_a_leaf_that_must_hold_all_candidates_holds_their_weighted_shares(weight):
    bits, y = sample(labels=(1, 4))
    stumps = fitted(bits, y, min_samples_leaf=120, class_weight={4: weight}, n_members=50)
    assert (stumps.nodes_[:, 0] == -1).all()
    odds = weight * (y == 4).sum() / (y == 1).sum()
    assert stumps.values_[:, 4].mean() == pytest.approx(odds / (1 + odds), abs=0.03)


def test_one_label_is_refused_with_the_count():
    with pytest.raises(ValueError, match=r"all 17 training .* \(ids \[2\]\)"):
        fitted(*sample(n=17, labels=[2]))


@pytest.mark.parametrize(("labels", "n_labels"), [((-1, 0), None), ((-1, 0), 2), ((1, 2), 2)])
def test_labels_outside_are_refused(labels, n_labels):
    with pytest.raises(ValueError, match="set n_labels"):
        fitted(*sample(labels=labels), n_labels)


@pytest.mark.parametrize("name", ["n_members", "bits_per_member", "min_samples_leaf"])
def test_senseless_settings_are_refused(name):
    weights = [("class_weight", {0: 1.0, 1: w}) for w in (0.0, -1.0, np.nan, np.inf)]
    for setting, value in [(name, 0), (name, -3), *weights]:
        with pytest.raises(ValueError, match=f"{setting} (= {value}|holds .* finite)"):
            SubspaceClassifier(**{setting: value})


def test_codes_of_another_width_are_refused():
    classifier = fitted(*sample())
    for n_bits in (69, 71, 128):
        with pytest.raises(ValueError, match=f"codes have {n_bits} bits but training had 70"):
            classifier.predict_proba(encode(np.zeros((2, n_bits), np.uint8)))


@pytest.mark.parametrize(
    "call", [lambda c: c.predict_proba(encode(sample()[0])), lambda c: c.state()]
)
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no trees, 12 are expected; call fit\(\) first"):
        call(SubspaceClassifier(n_members=12))


def test_restored_trees_predict_the_same(tmp_path):
    bits, y = sample(labels=(0, 1, 2))
    classifier = fitted(bits, y)
    state = {name: np.asarray(array, order="F") for name, array in classifier.state().items()}
    np.savez(tmp_path / "trees.npz", **state)
    with np.load(tmp_path / "trees.npz", allow_pickle=False) as arrays:
        restored = SubspaceClassifier(n_members=12).restore(arrays)
    assert restored.nodes_.flags.c_contiguous and restored.values_.flags.c_contiguous
    found = restored.predict_proba(encode(bits))
    assert found.tobytes() == classifier.predict_proba(encode(bits)).tobytes()


def test_predicting_needs_no_scikit_learn(tmp_path):
    classifier, x = fitted(*sample()), encode(sample(seed=1)[0])
    np.savez(tmp_path / "trees.npz", words=x.codes.words, **classifier.state())
    program = """if True:
        import sys, numpy as np
        from spacy_klsh.classifiers.encoded import Encoded
        from spacy_klsh.classifiers.subspace import SubspaceClassifier
        from spacy_klsh.hashing.codes import Codes
        state = dict(np.load(sys.argv[1]))
        x = Encoded(Codes(state.pop("words"), int(state["n_bits"])), None, {})
        np.save(sys.argv[2], SubspaceClassifier(n_members=12).restore(state).predict_proba(x))
        sys.exit("sklearn" in sys.modules)
    """
    files, root = [tmp_path / "trees.npz", tmp_path / "found.npy"], Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program, *files], cwd=root, check=True)
    assert np.load(files[1]).tobytes() == classifier.predict_proba(x).tobytes()


def by_hand():
    """Two trees: bit 2 of 3 decides in the first, the second is one leaf."""
    return {
        "roots": np.array([0, 3]),
        "nodes": np.array([[2, 1], [-1, 0], [-1, 1], [-1, 1]], np.int32),
        "values": np.array([[1.0, 0.0], [0.25, 0.75]], np.float32),
        "n_bits": np.array(3),
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
    ],
)
def test_damaged_values_are_refused(name, place, value):
    state = by_hand()
    state[name][place] = value
    with pytest.raises(ValueError, match="damaged, train again"):
        SubspaceClassifier(n_members=2).restore(state)


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
    with pytest.raises(ValueError, match=r"2 consistent ones are .* damaged, train again"):
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
    if classifier.n_bits_ < 10_000:  # wider codes would be refused
        found = classifier.predict_proba(encode(np.eye(2, classifier.n_bits_, dtype=np.uint8)))
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
