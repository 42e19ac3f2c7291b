import naive_features as naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.linear import LinearClassifier
from spacy_klsh.classifiers.one_vs_rest import OneVsRest
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

WIDTH, N_BITS = 30, 9
INPUTS = ("codes", "features", "both")


def problem(n=60, labels=(0, 1, 2), seed=0):
    """Candidates with rare and frequent items; the labels hang on some of these."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, WIDTH)) < np.linspace(0.01, 0.9, WIDTH)
    dense[: n // 10] = False
    bits = rng.integers(2, size=(n, N_BITS), dtype=np.uint8)
    kinds = (dense[:, 20].astype(int) + 2 * bits[:, 0] + (rng.random(n) < 0.1)) % len(labels)
    kinds[: len(labels)] = range(len(labels))
    features = Features.from_sets([np.flatnonzero(row).tolist() for row in dense], WIDTH)
    return Encoded(Codes.pack(bits), features, {}), np.array(labels)[kinds]


def fitted(n_labels=None, labels=(0, 1, 2), **settings):
    return LinearClassifier(**settings).fit(*problem(labels=labels), n_labels)


def dense(x, inputs="both"):
    return x.items(inputs).dense().astype(float)


SETTINGS = st.fixed_dictionaries(
    {
        "C": st.sampled_from((0.1, 5.0)),
        "min_count": st.sampled_from((1, 2, 7)),
        "class_weight": st.sampled_from((None, "balanced", {1: 5.0}, {0: 0.5, 2: 3.0})),
        "seed": st.integers(0, 3),
    }
)


@strategies.QUICK
@given(
    SETTINGS,
    st.sampled_from(INPUTS),
    st.sampled_from([(0, 1), (0, 1, 2), (1, 2), (0, 2, 3)]),
    st.integers(0, 9),
)
def test_probabilities_are_those_of_dense_rows(settings, inputs, labels, seed):
    x, y = problem(labels=labels, seed=seed)
    model = LinearClassifier(inputs=inputs, **settings).fit(x, y, 5)
    twin = naive.Linear(dense(x, inputs), y, **settings)
    others, _ = problem(30, seed=99)
    found = model.predict_proba(others)
    assert (found.dtype, found.shape) == (np.float32, (30, 5))
    np.testing.assert_allclose(found, twin.predict_proba(dense(others, inputs), 5), atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    assert (found[:, sorted({0, 1, 2, 3, 4}.difference(labels))] == 0).all()


@strategies.QUICK
@given(st.lists(st.integers(0, 29), max_size=9), st.sampled_from(INPUTS))
def test_a_candidate_has_the_same_answer_in_any_batch(rows, inputs):
    others, _ = problem(30, seed=99)
    model = MODELS[inputs]
    whole = model.predict_proba(others)
    chosen = np.array(rows, int)
    assert model.predict_proba(others[chosen]).tobytes() == whole[chosen].tobytes()


MODELS = {inputs: fitted(inputs=inputs) for inputs in INPUTS}


def test_no_candidates_have_no_answers():
    x, _ = problem()
    assert MODELS["both"].predict_proba(x[:0]).shape == (0, 3)


def test_a_candidate_without_items_has_the_answer_of_the_biases():
    x = Encoded(Codes.pack(np.zeros((1, N_BITS), np.uint8)), Features.from_sets([[]], WIDTH), {})
    each = 1 / (1 + np.exp(-MODELS["both"].biases_))
    np.testing.assert_allclose(MODELS["both"].predict_proba(x)[0], each / each.sum(), rtol=1e-6)


def test_items_below_min_count_have_no_weights_but_count_in_the_length():
    x, y = problem()
    counts = dense(x).sum(axis=0)
    model = LinearClassifier(min_count=7, inputs="both").fit(x, y)
    assert model.columns_.tolist() == np.flatnonzero(counts >= 7).tolist()
    rare = int(np.flatnonzero(counts < 7)[0]) - N_BITS
    assert rare in range(WIDTH)
    one, two = ([{20, 25, *more}] for more in ((), (rare,)))
    answers = [
        model.predict_proba(Encoded(x.codes[:1], Features.from_sets(row, WIDTH), {}))
        for row in (one, two)
    ]
    assert np.abs(answers[0] - answers[1]).max() > 1e-4


def test_a_weight_makes_its_label_likelier():
    x, y = problem()
    plain, heavy = (
        LinearClassifier(class_weight=weight).fit(x, y).predict_proba(x)[:, 2].mean()
        for weight in (None, {2: 9.0})
    )
    assert heavy > plain + 0.1


def test_the_same_seed_gives_the_same_weights():
    assert fitted().weights_.tobytes() == fitted().weights_.tobytes()
    assert fitted().weights_.flags.c_contiguous


def test_one_vs_rest_of_it():
    x, y = problem()
    targets = np.stack([y == k for k in range(4)], axis=1)
    model = OneVsRest(LinearClassifier()).fit(x, targets)
    again = OneVsRest(LinearClassifier()).restore(model.state())
    assert again.predict_proba(x).tobytes() == model.predict_proba(x).tobytes()
    alone = LinearClassifier().fit(x, (y == 1).astype(int)).predict_proba(x)[:, 1]
    assert model.predict_proba(x)[:, 1].tobytes() == alone.tobytes()


# --- refused ---


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"C": C}, "give a finite C above 0") for C in (0, -1.0, np.inf, np.nan)),
        *(({"min_count": count}, "a count of at least 1") for count in (0, -1)),
        ({"inputs": "bits"}, "one of codes, features, both"),
        *(({"class_weight": {1: w}}, "finite weights above 0") for w in (0, -1.0, np.inf, np.nan)),
        ({"class_weight": "even"}, 'class_weight = .even.; give "balanced"'),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        LinearClassifier(**settings)


def test_one_label_is_refused_with_the_count():
    x, _ = problem(17)
    with pytest.raises(ValueError, match=r"all 17 training .* \(ids \[2\]\)"):
        LinearClassifier().fit(x, np.full(17, 2))


@pytest.mark.parametrize(("labels", "n_labels"), [((-1, 0), None), ((0, 2), 2)])
def test_labels_outside_are_refused(labels, n_labels):
    with pytest.raises(ValueError, match="set n_labels"):
        fitted(n_labels, labels)


@pytest.mark.parametrize("min_count", [61, 10**9])
def test_training_without_frequent_items_is_refused(min_count):
    with pytest.raises(ValueError, match=f"no item is set in {min_count} of 60 .*lower min_count"):
        fitted(min_count=min_count)


@pytest.mark.parametrize("inputs", ["features", "both"])
def test_training_without_features_is_refused(inputs):
    x, y = problem()
    with pytest.raises(ValueError, match=f'inputs are "{inputs}", but .* no features'):
        LinearClassifier(inputs=inputs).fit(Encoded(x.codes, None, {}), y)


@pytest.mark.parametrize("inputs", INPUTS)
def test_candidates_of_another_width_are_refused(inputs):
    x, _ = problem(5)
    wide = Features(x.features.columns, x.features.offsets, WIDTH + 1)
    few = Codes.pack(np.ones((5, N_BITS - 1), np.uint8))
    model = MODELS[inputs]
    model.predict_proba(x)
    for other, seen in (
        (Encoded(x.codes, wide, {}), "features"),
        (Encoded(x.codes, None, {}), "features"),
        (Encoded(few, x.features, {}), "codes"),
    ):
        if inputs in (seen, "both"):
            with pytest.raises(ValueError, match=r"bits and features, but training had"):
                model.predict_proba(other)
        else:
            assert model.predict_proba(other).tobytes() == model.predict_proba(x).tobytes()


@pytest.mark.parametrize("call", ["predict_proba", "state"])
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no weights, .* call fit\(\)"):
        getattr(LinearClassifier(), call)(*[problem()[0]] * (call == "predict_proba"))


# --- stored ---


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize(("labels", "n_labels"), [((0, 1), 2), ((0, 1, 2), 3), ((1, 3), 6)])
def test_a_restored_one_gives_the_same_answers(inputs, labels, n_labels):
    model = fitted(n_labels, labels, inputs=inputs)
    other = LinearClassifier(inputs=inputs).restore(model.state())
    x, _ = problem(20, seed=5)
    assert other.predict_proba(x).tobytes() == model.predict_proba(x).tobytes()
    assert (other.n_labels_, other.widths_) == (n_labels, model.widths_)
    for name, array in model.state().items():
        assert array.dtype != object and other.state()[name].tobytes() == array.tobytes()
