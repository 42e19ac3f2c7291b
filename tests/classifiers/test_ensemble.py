import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.ensemble import LEAST, Ensemble
from spacy_klsh.classifiers.linear import LinearClassifier
from spacy_klsh.classifiers.one_vs_rest import OneVsRest
from spacy_klsh.classifiers.perceptron import PerceptronClassifier
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

WIDTH, N_BITS = 12, 8


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    rows = [set(rng.choice(WIDTH, 4, replace=False).tolist()) for _ in range(n)]
    codes = Codes.pack(rng.integers(2, size=(n, N_BITS), dtype=np.uint8))
    y = np.array([(0 in row) + (1 in row) for row in rows])
    return Encoded(codes, Features.from_sets(rows, WIDTH), {}), y


def members():
    return {
        "linear": LinearClassifier(inputs="features"),
        "trees": SubspaceClassifier(n_members=3, bits_per_member=4),
    }


def ensemble(weights=None):
    return Ensemble(members=members(), weights=weights)


@pytest.fixture(scope="module")
def fitted():
    return ensemble({"trees": 3.0}).fit(*problem(), 4)


class Fixed:
    """Answers what it was made with, also without training."""

    widths_ = (0, 0)

    def __init__(self, answers):
        self.answers = np.array(answers, np.float32)
        self.n_labels_ = self.answers.shape[1]

    def fit(self, x, y, n_labels):
        return self

    def predict_proba(self, x):
        return self.answers


@st.composite
def answers(draw):
    """Probabilities of two or three members, and a weight of each."""
    n_labels, n = draw(st.integers(2, 3)), draw(st.integers(0, 3))
    size = st.integers(0, 9) | st.just(10**7)
    row = st.lists(size, min_size=n_labels, max_size=n_labels).filter(any)
    rows = st.lists(row.map(lambda r: [v / sum(r) for v in r]), min_size=n, max_size=n)
    given = draw(st.lists(rows, min_size=2, max_size=3))
    weights = [draw(st.sampled_from([0.5, 1.0, 4.0])) for _ in given]
    return [np.reshape(r, (n, n_labels)) for r in given], weights


@strategies.THOROUGH
@given(answers())
def test_probabilities_are_geometric_means(drawn):
    given, weights = drawn
    names = "abc"[: len(given)]
    model = Ensemble(
        members={name: Fixed(p) for name, p in zip(names, given, strict=True)},
        weights=dict(zip(names, weights, strict=True)),
    )
    x, y = problem(len(given[0]))
    found = model.fit(x, y, 3).predict_proba(x)
    assert found.dtype == np.float32
    for i, row in enumerate(found):
        means = [
            np.prod(
                [
                    max(p[i, k], LEAST) ** (w / sum(weights))
                    for p, w in zip(given, weights, strict=True)
                ]
            )
            for k in range(len(row))
        ]
        np.testing.assert_allclose(row, np.array(means) / sum(means), rtol=1e-5)


def test_two_labels_get_the_mean_of_the_logits():
    model = Ensemble(members={"a": Fixed([[0.2, 0.8]]), "b": Fixed([[0.6, 0.4]])})
    x, y = problem(1)
    p = model.fit(x, y, 2).predict_proba(x)[0, 1]
    assert np.log(p / (1 - p)) == pytest.approx((np.log(4) + np.log(2 / 3)) / 2, abs=1e-5)


def test_a_member_without_weight_counts_once():
    x, y = problem()
    found = [ensemble(w).fit(x, y).predict_proba(x) for w in (None, {}, {"trees": 1.0})]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    assert found[0].tobytes() != ensemble({"trees": 2.0}).fit(x, y).predict_proba(x).tobytes()


def test_one_member_alone_answers_as_itself(fitted):
    x, y = problem()
    alone = LinearClassifier().fit(x, y)
    found = Ensemble(members={"linear": LinearClassifier()}).fit(x, y).predict_proba(x)
    np.testing.assert_allclose(found, np.maximum(alone.predict_proba(x), LEAST), atol=1e-3)


@strategies.QUICK
@given(st.lists(st.integers(0, 39), max_size=9))
def test_a_candidate_has_the_same_answer_in_any_batch(fitted, rows):
    x, _ = problem(seed=3)
    chosen = np.array(rows, int)
    whole = fitted.predict_proba(x)
    assert fitted.predict_proba(x[chosen]).tobytes() == whole[chosen].tobytes()
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-6)


def test_it_looks_at_what_any_member_does(fitted):
    assert (fitted.widths_, fitted.n_labels_) == ((N_BITS, WIDTH), 4)


def test_training_leaves_the_given_members_as_they_were():
    model = ensemble().fit(*problem())
    assert not hasattr(model.members["linear"], "weights_")
    assert hasattr(model.members_["linear"], "weights_")


@pytest.mark.parametrize("member", [LinearClassifier(), ensemble()])
def test_an_ensemble_may_stand_in_an_ensemble_or_learn_each_label_alone(member):
    x, y = problem()
    outer = Ensemble(members={"a": member, "b": LinearClassifier(C=1.0)})
    again = Ensemble(members=outer.members).restore(outer.fit(x, y).state())
    assert again.predict_proba(x).tobytes() == outer.predict_proba(x).tobytes()
    targets = np.stack([y == k for k in range(4)], axis=1)
    each = OneVsRest(outer).fit(x, targets)
    again = OneVsRest(outer).restore(each.state())
    assert again.predict_proba(x).tobytes() == each.predict_proba(x).tobytes()
    assert each.predict_proba(x)[:, 3].max() == 0


# --- refused ---


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": {}}, "name a member or more"),
        ({"members": {"a/b": None}}, 'without "/"'),
        ({"members": {"a": None}, "weights": {"b": 1.0}}, r"weights for \['b'\]"),
        *(
            ({"members": {"a": None}, "weights": {"a": w}}, "finite ones above 0")
            for w in (0, -1.0, np.inf, np.nan)
        ),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Ensemble(**settings)


@pytest.mark.parametrize("call", ["predict_proba", "state"])
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"\['linear', 'trees'\] are not trained.* call fit\(\)"):
        getattr(ensemble(), call)(*[problem()[0]] * (call == "predict_proba"))


# --- stored ---


def test_a_restored_one_gives_the_same_answers(fitted):
    state = fitted.state()
    assert {name.partition("/")[0] for name in state} == {"linear", "trees"}
    other = ensemble({"trees": 3.0}).restore(state)
    x, _ = problem(seed=5)
    assert other.predict_proba(x).tobytes() == fitted.predict_proba(x).tobytes()
    assert all(other.state()[name].tobytes() == array.tobytes() for name, array in state.items())


@pytest.mark.parametrize("name", ["x", "other/weights", "linear", "linear/x", "/weights"])
def test_an_additional_array_is_refused(fitted, name):
    with pytest.raises(ValueError, match="damaged, train again"):
        ensemble().restore({**fitted.state(), name: np.zeros(3)})


def test_a_missing_array_is_refused(fitted):
    for name in fitted.state():
        state = fitted.state()
        del state[name]
        with pytest.raises(ValueError, match="damaged, train again"):
            ensemble().restore(state)


def other_members(x, y, n_labels):
    """State of members that were trained on these candidates each."""
    return ensemble().fit(x, y, n_labels).state()


def test_members_that_disagree_are_refused(fitted):
    x, y = problem()
    more_labels = other_members(x, y, 5)
    few = Encoded(Codes.pack(np.ones((40, 3), np.uint8)), x.features, {})
    both = {"a": LinearClassifier(inputs="both"), "b": LinearClassifier(inputs="codes")}
    fewer_bits = Ensemble(members=both).fit(few, y, 4).state()
    more_bits = Ensemble(members=both).fit(x, y, 4).state()
    mixed = {k: v for k, v in fewer_bits.items() if k.startswith("b/")}
    with pytest.raises(ValueError, match=r"\{8, 3\}|\{3, 8\}.* damaged, train again"):
        Ensemble(members=both).restore({**more_bits, **mixed})
    trees = {k: v for k, v in more_labels.items() if k.startswith("trees/")}
    with pytest.raises(ValueError, match=r"\{4, 5\} labels apart.* damaged, train again"):
        ensemble().restore({**fitted.state(), **trees})


def test_a_failed_restore_leaves_the_former_members(fitted):
    x, y = problem()
    model = ensemble().fit(x, y)
    before = model.predict_proba(x).tobytes()
    with pytest.raises(ValueError, match="damaged"):
        model.restore({**fitted.state(), "x": np.zeros(1)})
    assert model.predict_proba(x).tobytes() == before


def test_a_perceptron_in_it_is_no_online_classifier():
    assert not hasattr(Ensemble(members={"a": PerceptronClassifier()}), "update")
