import joblib
import numpy as np
import pytest
from classifiers.item_samples import N_BITS, WIDTH, N, fitted, sample
from naive import platt_probability

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.one_vs_rest import OneVsRest
from spacy_klsh.classifiers.polynomial import METHODS, PolynomialClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

EXACT = {"sigma": 0.0, "max_sets": 100_000}


@pytest.mark.parametrize("labels", [(0, 1), (1, 4), (0, 1, 2), (1, 4, 6), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("method", METHODS)
def test_probabilities_are_normalized_sigmoids_of_the_scores(labels, method):
    classifier, (new, _) = fitted(8, labels, method=method, **EXACT), sample(seed=1)
    found = classifier.predict_proba(new)
    assert found.dtype == np.float32 and found.shape == (N, 8)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    assert not np.delete(found, labels, axis=1).any()
    scores = classifier.machines_.scores(new.features) + classifier.biases_
    assert scores.shape == (N, 1 if len(labels) == 2 else len(labels))
    for row, answer in zip(scores, found, strict=True):
        p = [platt_probability(*z) for z in zip(row, *classifier.sigmoids_.T, strict=True)]
        p = [1 - p[0], p[0]] if len(labels) == 2 else p
        np.testing.assert_allclose(answer[list(labels)], np.array(p) / sum(p), rtol=1e-5)


@pytest.mark.parametrize("inputs", ["codes", "features", "both"])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_all_methods_answer_alike(inputs, degree):
    new, _ = sample(seed=1)
    basic, index, expansion = (
        fitted(inputs=inputs, degree=degree, method=method, **EXACT).predict_proba(new)
        for method in METHODS
    )
    assert index.tobytes() == basic.tobytes()
    np.testing.assert_allclose(expansion, basic, rtol=0, atol=1e-5)


def test_it_learns_what_only_pairs_of_items_tell():
    dense = np.random.default_rng(0).random((120, 8)) < 0.5
    y = (dense[:, 0] ^ dense[:, 1]).astype(int)
    features = Features.from_sets([np.flatnonzero(row).tolist() for row in dense], 8)
    x = Encoded(Codes.pack(np.zeros((120, 1), np.uint8)), features, {})
    linear, square = (
        PolynomialClassifier(degree=degree, C=0.1).fit(x[:80], y[:80]).predict_proba(x[80:])
        for degree in (1, 2)
    )
    right = [(found.argmax(axis=1) == y[80:]).mean() for found in (linear, square)]
    assert right[0] < 0.7 and right[1] > 0.85


def test_the_sigmoids_are_fitted_out_of_fold():
    x, _ = sample()
    y = np.random.default_rng(5).integers(2, size=N)  # nothing to learn, but easy to remember
    classifier = PolynomialClassifier(degree=3).fit(x, y)
    inside = classifier.machines_.scores(x.features) + classifier.biases_
    assert ((inside[:, 0] > 0) == y).all()
    assert classifier.predict_proba(x).max() < 0.8


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_do_not_depend_on_the_block(method):
    classifier, (x, _) = fitted(method=method, sigma=0.0), sample(seed=2)
    whole = classifier.predict_proba(x)
    for size in (1, 7, 500):
        blocks = [classifier.predict_proba(x[i : i + size]) for i in range(0, len(x), size)]
        assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert classifier.predict_proba(x[::-1]).tobytes() == whole[::-1].tobytes()


def test_the_seed_decides_the_folds():
    first, same, other = (fitted(seed=seed).state() for seed in (3, 3, 4))
    with joblib.parallel_config("threading", n_jobs=2):
        threads = fitted(seed=3).state()
    for name in first:
        assert first[name].tobytes() == same[name].tobytes() == threads[name].tobytes()
        if name != "sigmoids":
            assert first[name].tobytes() == other[name].tobytes()
    assert first["sigmoids"].tobytes() != other["sigmoids"].tobytes()


def test_weights_of_labels_are_factors_of_the_cost():
    heavy, plain = fitted(C=0.02, class_weight={1: 4.0}), fitted(C=0.02)
    most = np.abs(heavy.machines_.support.weights).max(axis=0)
    assert most[1] > 0.02 and most.max() <= 0.08 * (1 + 1e-9)
    assert np.abs(plain.machines_.support.weights).max() <= 0.02 * (1 + 1e-9)


def test_balanced_weights_give_both_sides_the_same_cost():
    x, y = sample(labels=(0, 1))
    balanced = PolynomialClassifier(C=1e-6, class_weight="balanced").fit(x, y)
    share = y.mean()
    weights = balanced.machines_.support.weights[:, 0]
    assert weights.max() == pytest.approx(0.5e-6 / share)
    assert weights.min() == pytest.approx(-0.5e-6 / (1 - share))


def test_a_label_of_one_candidate_is_learned():
    x, y = sample(labels=(0, 1))
    y[-1] = 2
    found = PolynomialClassifier(n_folds=5).fit(x, y).predict_proba(x)
    assert np.isfinite(found).all() and found.shape == (N, 3)
    assert found[:, 2].argmax() == N - 1


def test_of_many_candidates_some_are_drawn_and_the_sigmoids_know_it(caplog):
    features = Features.from_sets([{i % 4, 4 + i // 4 % 3} for i in range(400)], 7)
    x = Encoded(Codes.pack(np.zeros((400, 1), np.uint8)), features, {})
    y = np.where(np.arange(400) % 4 == 0, np.arange(400) % 3 == 0, 0).astype(int)  # a third of 100
    few, every = PolynomialClassifier(max_training_candidates=100), PolynomialClassifier()
    found, expected = (each.fit(x, y).predict_proba(x)[:, 1] for each in (few, every))
    assert "trains on 100 of 400 candidates" in caplog.text and len(caplog.records) == 1
    assert few.machines_.support.weights.shape[0] <= 100
    np.testing.assert_allclose(found.mean(), y.mean(), rtol=0.2)  # not the 34 of 100 drawn
    np.testing.assert_allclose(found, expected, atol=0.1)


def test_more_folds_than_candidates():
    x, _ = sample(4)
    found = PolynomialClassifier(n_folds=9).fit(x, np.array([0, 1, 1, 0])).predict_proba(x)
    assert np.isfinite(found).all()


def test_one_label_is_refused_with_the_count():
    with pytest.raises(ValueError, match=rf"all {N} training .* \(ids \[2\]\)"):
        fitted(labels=[2])


@pytest.mark.parametrize(("labels", "n_labels"), [((-1, 0), None), ((-1, 0), 2), ((1, 2), 2)])
def test_labels_outside_are_refused(labels, n_labels):
    with pytest.raises(ValueError, match="set n_labels"):
        fitted(n_labels, labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"degree": d}, f"degree = {d}, .* choose 1, 2 or 3") for d in (0, 4, 2.5)),
        ({"inputs": "views"}, "inputs = 'views'"),
        ({"method": "index "}, "method = 'index '"),
        *(({"C": c}, f"C = {c}, .* must be finite") for c in (0, -1, np.inf, np.nan)),
        *(({"sigma": s}, f"sigma = {s}, ") for s in (-0.1, np.inf, np.nan)),
        ({"n_folds": 1}, "n_folds = 1"),
        ({"max_sets": 0}, "max_sets = 0"),
        ({"max_training_candidates": 1}, "max_training_candidates = 1"),
        *(({"class_weight": {1: w}}, "class_weight holds") for w in (0.0, -1.0, np.nan, np.inf)),
        ({"class_weight": "even"}, "class_weight = 'even'"),
    ],
)
def test_senseless_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PolynomialClassifier(**settings)


def test_candidates_without_features_are_refused():
    x, y = sample()
    with pytest.raises(ValueError, match="the candidates have no features"):
        PolynomialClassifier().fit(Encoded(x.codes, None, {}), y)


@pytest.mark.parametrize(
    ("inputs", "widths"),
    [("codes", (N_BITS, 0)), ("features", (0, WIDTH)), ("both", (N_BITS, WIDTH))],
)
def test_other_widths_are_refused(inputs, widths):
    classifier, (x, _) = fitted(inputs=inputs), sample(3)
    assert classifier.widths_ == widths
    codes = Codes.pack(np.zeros((3, N_BITS + 1), np.uint8))
    features = Features(x.features.columns, x.features.offsets, WIDTH + 1)
    for other, looked_at in (
        (Encoded(codes, x.features, {}), widths[0]),
        (Encoded(x.codes, features, {}), widths[1]),
    ):
        if looked_at:
            with pytest.raises(ValueError, match=r"bits and features, but training had \("):
                classifier.predict_proba(other)
        else:
            assert len(classifier.predict_proba(other)) == 3


@pytest.mark.parametrize("call", [lambda c: c.predict_proba(sample()[0]), lambda c: c.state()])
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no machines, .* call fit\(\)"):
        call(PolynomialClassifier())


def test_several_labels_a_candidate():
    x, y = sample()
    both = np.stack([y == 0, y == 1, y == 2], axis=1)
    found = OneVsRest(PolynomialClassifier()).fit(x, both).predict_proba(x)
    alone = PolynomialClassifier().fit(x, (y == 1).astype(int), 2).predict_proba(x)
    assert (found[:, 1] == alone[:, 1]).all()
