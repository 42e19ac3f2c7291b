import naive_trees
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.forest import Forest
from spacy_klsh.classifiers.linear_members import LinearMembers
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes

BASES = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(min_samples_leaf=4, class_weight="balanced", max_depth=3),
    ExtraTreeClassifier(),
    LogisticRegression(),
    LogisticRegression(C=0.1, class_weight="balanced", fit_intercept=False),
]


def sample(n=120, n_bits=70, labels=(0, 1), seed=0):
    """Bits and labels that two of the bits often decide; each label occurs."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(2, size=(n, n_bits), dtype=np.uint8)
    y = np.where(rng.random(n) < 0.5, bits[:, 0] + 2 * bits[:, -1], rng.integers(9, size=n))
    y[: len(labels)] = range(len(labels))
    return bits, np.array(labels)[y % len(labels)]


def fitted(base, bits, y, n_labels=8, **settings):
    settings = {"n_members": 8, "bits_per_member": 9, **settings}
    return SubspaceClassifier(base=base, **settings).fit(encode(bits), y, n_labels)


def encode(bits):
    return Encoded(Codes.pack(bits), None, {})


def oracle(classifier, bits, y):
    """The scikit-learn ensemble and the labels of its classes."""
    labels, y = np.unique(y, return_inverse=True)
    n_own = min(classifier.bits_per_member or bits.shape[1], bits.shape[1])
    bagging = BaggingClassifier(
        classifier.base, classifier.n_members, max_features=n_own, random_state=classifier.seed
    )
    return bagging.fit(bits, y), labels


@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2, 3, 4), (1, 4, 6)])
@pytest.mark.parametrize("base", BASES, ids=repr)
def test_probabilities_are_those_of_scikit_learn(base, labels):
    bits, y = sample(labels=labels)
    new, _ = sample(seed=1)
    classifier = fitted(base, bits, y)
    ensemble, labels = oracle(classifier, bits, y)
    found = classifier.predict_proba(encode(new))
    assert found.dtype == np.float32 and found.shape == (len(new), 8)
    np.testing.assert_allclose(found[:, labels], ensemble.predict_proba(new), rtol=0, atol=2e-6)
    assert not np.delete(found, labels, axis=1).any()


@pytest.mark.parametrize("bits_per_member", [1, 64, None])
@pytest.mark.parametrize("n_bits", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("base", BASES[::3], ids=repr)
def test_any_width_of_codes_and_subspaces(base, n_bits, bits_per_member):
    bits, y = sample(n=40, n_bits=n_bits)
    classifier = fitted(base, bits, y, 2, n_members=3, bits_per_member=bits_per_member)
    expected = oracle(classifier, bits, y)[0].predict_proba(bits)
    np.testing.assert_allclose(classifier.predict_proba(encode(bits)), expected, rtol=0, atol=2e-6)


@given(
    st.sampled_from(BASES),
    st.integers(0, 2**32 - 1),
    st.integers(20, 40),
    st.integers(1, 20),
    st.lists(st.integers(0, 6), min_size=2, max_size=4, unique=True),
)
@strategies.QUICK
def test_members_read_in_plain_python_agree(base, seed, n, n_bits, labels):
    bits, y = sample(n, n_bits, labels, seed)
    y = np.tile(y, 15)  # so that no member misses a label
    bits = np.tile(bits, (15, 1))
    classifier = fitted(base, bits, y, 7, n_members=2, seed=seed, bits_per_member=5)
    ensemble, labels = oracle(classifier, bits, y)
    new = np.concatenate([bits[:n], 1 - bits[:n]])
    expected = naive_trees.probabilities(ensemble, new.tolist(), labels, 7)
    np.testing.assert_allclose(classifier.predict_proba(encode(new)), expected, rtol=0, atol=2e-6)


class Member:
    """A fitted linear model of some of the labels."""

    def __init__(self, classes, coef):
        self.classes_, self.coef_ = np.array(classes), np.array(coef, float)
        self.intercept_ = np.zeros(len(coef))


def test_a_label_that_a_member_did_not_learn_has_probability_0_there():
    members = [Member([0, 2], [[np.log(3)]]), Member([0, 1, 2], [[0], [0], [np.log(2)]])]
    flat = LinearMembers.of_scikit_learn(members, [np.array([0]), np.array([1])], 3)
    words = Codes.pack(np.array([[0, 0], [1, 1]], np.uint8)).words
    expected = [[(1 / 2 + 1 / 3) / 2, 1 / 6, (1 / 2 + 1 / 3) / 2], [0.25, 0.125, 0.625]]
    np.testing.assert_allclose(flat.predict_proba(words), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("base", "labels", "message"),
    [
        (BernoulliNB(), (0, 1), r"BernoulliNB\(\) has neither tree_ nor coef_"),
        (Perceptron(), (0, 1), r"Perceptron\(.*\) are no softmax"),
        (SGDClassifier(loss="log_loss"), (0, 1, 2), r"SGDClassifier\(.*\) are no softmax"),
    ],
)
def test_a_base_that_flat_arrays_cannot_stand_for_is_refused(base, labels, message):
    with pytest.raises(ValueError, match=f"{message}.* give a "):
        fitted(base, *sample(labels=labels))


def test_the_base_stays_unfitted():
    base = LogisticRegression()
    assert isinstance(fitted(base, *sample()).members_, LinearMembers)
    assert not hasattr(base, "coef_")
    assert isinstance(fitted(DecisionTreeClassifier(), *sample()).members_, Forest)


@pytest.mark.parametrize("setting", [{"min_samples_leaf": 2}, {"class_weight": "balanced"}])
def test_settings_of_own_trees_are_refused_beside_a_base(setting):
    with pytest.raises(ValueError, match=r"base = Log.*give such settings to the base"):
        SubspaceClassifier(base=LogisticRegression(), **setting)
