import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import strategies
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.extra_trees import ExtraTrees
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

ARRAYS = ("roots", "nodes", "values", "n_bits", "width", "columns")
MAKERS = {
    "subspace": lambda **s: SubspaceClassifier(n_members=12, bits_per_member=9, **s),
    "forest": lambda **s: SubspaceClassifier(n_members=12, bits_per_member=None, **s),
    "extra trees": lambda **s: ExtraTrees(n_trees=12, **s),
    "linear": lambda **s: SubspaceClassifier(
        n_members=12, bits_per_member=9, base=LogisticRegression(), **s
    ),
}
GROWN = ("subspace", "forest", "extra trees")


def encode(bits, inputs="codes"):
    """The bits as codes, the later half as features, or all as these."""
    n_bits = bits.shape[1]
    first = {"codes": n_bits, "features": 0, "both": n_bits // 2}[inputs]
    rows = [np.flatnonzero(row) for row in bits[:, first:]]
    features = Features.from_sets(rows, n_bits - first) if first < n_bits else None
    return Encoded(Codes.pack(bits[:, : first or 1]), features, {})


def sample(n=120, n_bits=70, labels=(0, 1), seed=0):
    """Bits and labels of which half follow two of the bits."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(2, size=(n, n_bits), dtype=np.uint8)
    y = np.where(rng.random(n) < 0.5, bits[:, 0] + 2 * bits[:, -1], rng.integers(9, size=n))
    return bits, np.array(labels)[y % len(labels)]


def fitted(bits, y, n_labels=None, **settings):
    settings = {"n_members": 12, "bits_per_member": 9, **settings}
    return SubspaceClassifier(**settings).fit(encode(bits), y, n_labels)


@pytest.mark.skipif(not strategies.JIT, reason="hundreds of trees")
@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("name", GROWN)
def test_ensembles_answer_as_those_of_scikit_learn(name, weight):
    (bits, y), (new, _) = sample(n=300, labels=(0, 1, 2)), sample(n=300, seed=1)
    y[(y > 0) & (np.arange(300) % 3 > 0)] = 0
    tree = DecisionTreeClassifier(class_weight=weight)
    split = DecisionTreeClassifier(class_weight=weight, max_features="sqrt")
    theirs = {
        "subspace": BaggingClassifier(tree, 400, max_features=9),
        "forest": BaggingClassifier(split, 400),  # RandomForestClassifier draws by weight
        "extra trees": ExtraTreesClassifier(400, class_weight=weight),
    }[name]
    one, other = (theirs.set_params(random_state=i).fit(bits, y).predict_proba(new) for i in (0, 1))
    classifier = MAKERS[name](class_weight=weight, inputs="codes")
    setattr(classifier, "n_trees" if name == "extra trees" else "n_members", 400)
    found = classifier.fit(encode(bits), y).predict_proba(encode(new))
    assert np.abs(found - one).mean() < 1.1 * np.abs(other - one).mean()


@pytest.mark.parametrize("inputs", ["codes", "features", "both"])
@pytest.mark.parametrize("name", MAKERS)
def test_probabilities_do_not_depend_on_the_block(name, inputs):
    bits, y = sample(n=600 if strategies.JIT else 210, labels=(0, 1, 2))
    x = encode(bits, inputs)
    classifier = MAKERS[name](inputs=inputs).fit(x[:200], y[:200])
    whole = classifier.predict_proba(x)
    for size in (1, 7, 500):
        blocks = [classifier.predict_proba(x[i : i + size]) for i in range(0, len(x), size)]
        assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert classifier.predict_proba(x[::-1]).tobytes() == whole[::-1].tobytes()


@pytest.mark.parametrize("name", GROWN)
def test_the_seed_decides_the_trees(name, monkeypatch):
    bits, y = sample()
    first, same, other = (
        MAKERS[name](seed=s, inputs="codes").fit(encode(bits), y).state() for s in (3, 3, 4)
    )
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    threads = MAKERS[name](seed=3, inputs="codes").fit(encode(bits), y).state()
    for array in ARRAYS:
        assert first[array].tobytes() == same[array].tobytes() == threads[array].tobytes()
    assert first["nodes"].tobytes() != other["nodes"].tobytes()


@pytest.mark.parametrize("name", MAKERS)
def test_features_say_what_bits_would(name):
    (bits, y), (new, _) = sample(n_bits=64), sample(n_bits=64, seed=1)
    codes, both = (
        MAKERS[name](inputs=inputs).fit(encode(bits, inputs), y) for inputs in ("codes", "both")
    )
    assert (codes.widths_, both.widths_) == ((64, 0), (32, 32))
    found = both.predict_proba(encode(new, "both"))
    assert found.tobytes() == codes.predict_proba(encode(new)).tobytes()


@pytest.mark.parametrize("name", MAKERS)
def test_features_that_are_not_kept_do_not_matter(name):
    (bits, y), (new, _) = sample(), sample(seed=1)
    bits[:, 69] = y
    settings = {"inputs": "features", "n_features_kept": 4}
    classifier = MAKERS[name](**settings).fit(encode(bits, "features"), y)
    kept = classifier.inputs_.columns
    assert 69 in kept and len(kept) == 4
    noisy = 1 - new
    noisy[:, kept] = new[:, kept]
    expected = classifier.predict_proba(encode(new, "features"))
    assert classifier.predict_proba(encode(noisy, "features")).tobytes() == expected.tobytes()
    assert (expected.argmax(axis=1) == new[:, 69]).mean() > 0.8


def test_equal_distributions_are_stored_once():
    classifier = fitted(*sample(n=300, labels=(0, 1, 2)))
    values, nodes = classifier.members_.values, classifier.members_.nodes
    assert len(np.unique(values, axis=0)) == len(values) < (nodes[:, 0] < 0).sum() / 4


@pytest.mark.parametrize("weight", [0.2, 1.0, 9.0])
def test_a_leaf_that_must_hold_all_candidates_holds_their_weighted_shares(weight):
    bits, y = sample(labels=(1, 4))
    stumps = fitted(bits, y, min_samples_leaf=120, class_weight={4: weight}, n_members=50)
    assert (stumps.members_.nodes[:, 0] == -1).all()
    odds = weight * (y == 4).sum() / (y == 1).sum()
    assert stumps.predict_proba(encode(bits))[0, 4] == pytest.approx(odds / (1 + odds), abs=0.03)


def test_one_label_is_refused_with_the_count():
    with pytest.raises(ValueError, match=r"all 17 training .* \(ids \[2\]\)"):
        fitted(*sample(n=17, labels=[2]))


@pytest.mark.parametrize(("labels", "n_labels"), [((-1, 0), None), ((-1, 0), 2), ((1, 2), 2)])
def test_labels_outside_are_refused(labels, n_labels):
    with pytest.raises(ValueError, match="set n_labels"):
        fitted(*sample(labels=labels), n_labels)


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_extreme_weights_give_probabilities(weight):
    bits, y = sample(labels=(0, 1, 2))
    found = fitted(bits, y, class_weight={1: weight}, min_samples_leaf=9).predict_proba(
        encode(bits)
    )
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


COUNTS = [
    *((SubspaceClassifier, name) for name in ("n_members", "bits_per_member")),
    *((ExtraTrees, name) for name in ("n_trees", "bits_per_split")),
    *(
        (c, n)
        for c in (SubspaceClassifier, ExtraTrees)
        for n in ("min_samples_leaf", "n_features_kept")
    ),
]


@pytest.mark.parametrize(("classifier", "name"), COUNTS)
def test_senseless_settings_are_refused(classifier, name):
    weights = [("class_weight", {0: 1.0, 1: w}) for w in (0.0, -1.0, np.nan, np.inf)]
    weights.append(("class_weight", "even"))
    for setting, value in [
        (name, 0),
        (name, -3),
        ("inputs", "code"),
        ("class_weight", "even"),
        *weights,
    ]:
        with pytest.raises(ValueError, match=f"{setting} (= .?{value}|holds .* finite)"):
            classifier(**{setting: value})


def test_codes_of_another_width_are_refused():
    classifier = fitted(*sample())
    for n_bits in (69, 71, 128):
        with pytest.raises(ValueError, match=f"codes have {n_bits} bits but training had 70"):
            classifier.predict_proba(encode(np.zeros((2, n_bits), np.uint8)))


@pytest.mark.parametrize(
    "call", [lambda c: c.predict_proba(encode(sample()[0])), lambda c: c.state()]
)
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no members, 12 are expected; call fit\(\) first"):
        call(SubspaceClassifier(n_members=12))


@pytest.mark.parametrize("inputs", ["codes", "features", "both"])
@pytest.mark.parametrize("name", MAKERS)
def test_restored_members_predict_the_same(name, inputs, tmp_path):
    bits, y = sample(labels=(0, 1, 2))
    x = encode(bits, inputs)
    classifier = MAKERS[name](inputs=inputs).fit(x, y, 5)
    state = {name: np.asarray(array, order="F") for name, array in classifier.state().items()}
    np.savez(tmp_path / "members.npz", **state)
    with np.load(tmp_path / "members.npz", allow_pickle=False) as arrays:
        restored = MAKERS[name](inputs=inputs).restore(arrays)
    assert all(array.flags.c_contiguous for array in restored.state().values())
    assert (restored.widths_, restored.n_labels_) == (x.widths, 5) or inputs == "features"
    assert restored.predict_proba(x).tobytes() == classifier.predict_proba(x).tobytes()
    other = "both" if inputs == "codes" else "codes"
    with pytest.raises(ValueError, match=f'inputs = "{other}" are .* damaged, train again'):
        MAKERS[name](inputs=other).restore(state)


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
