"""Calibrated probabilities: curves, their form, their arrays."""

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spacy_klsh.classifiers.calibration import METHODS, Calibrated
from spacy_klsh.classifiers.platt import fit_platt, platt


class Said:
    """A classifier that answers what its input says."""

    widths_ = (3, 4)
    n_labels_ = 0

    def fit(self, x, *targets):
        self.n_labels_, self.targets = x.shape[1], targets
        return self

    def predict_proba(self, x):
        return x

    def state(self):
        return {"n": np.array(self.n_labels_)}

    def restore(self, state):
        self.n_labels_ = int(state["n"])
        return self


@st.composite
def answers(draw, exclusive=True):
    """Probabilities, float32 (n, n_labels), and what is true, bool (n, n_labels)."""
    n, k = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    scores = draw(arrays(np.float32, (n, k), elements=st.sampled_from([0, 0.125, 0.25, 0.5, 1])))
    if exclusive:
        scores[:, 0] += scores.sum(axis=1) == 0
        scores /= scores.sum(axis=1, keepdims=True)
        return scores, draw(arrays(np.int64, n, elements=st.integers(0, k - 1)))[:, None] == range(
            k
        )
    y = draw(arrays(bool, (n, k)))
    y[:, 0] = ~y[:, 1:].any(axis=1)
    scores[:, 0] = np.prod(1 - scores[:, 1:], axis=1)
    return scores, y


def calibrated(scores, y, method, exclusive=True):
    member = Said().fit(scores)
    return Calibrated(member, method, exclusive=exclusive).calibrate(scores, y)


def naive_rising(scores, y):
    """The rising sequence with the least squares, by its closed form; equal scores are one."""
    levels = np.unique(scores)
    means = [y[scores == level].mean() for level in levels]
    sizes = [(scores == level).sum() for level in levels]

    def mean(a, b):
        return np.average(means[a:b], weights=sizes[a:b])

    n = len(levels)
    values = [
        max(min(mean(a, b) for b in range(i + 1, n + 1)) for a in range(i + 1)) for i in range(n)
    ]
    return np.array(values)[np.searchsorted(levels, scores)]


def naive_curve(scores, y, method):
    scores = scores.astype(np.float64)
    return platt(scores, *fit_platt(scores, y)) if method == "platt" else naive_rising(scores, y)


@strategies.THOROUGH
@given(answers(), st.sampled_from(METHODS))
def test_exclusive_labels_are_calibrated_one_by_one_and_sum_to_one(answered, method):
    scores, y = answered
    found = calibrated(scores, y, method).predict_proba(scores)
    each = np.stack(
        [
            naive_curve(np.ascontiguousarray(s), t, method)
            for s, t in zip(scores.T, y.T, strict=True)
        ],
        axis=1,
    )
    total = each.sum(axis=1, keepdims=True)
    assert found.dtype == np.float32
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-6)
    possible = total[:, 0] > 1e-12
    assert found[possible] == pytest.approx((each / total)[possible], abs=1e-6)
    assert (found[~possible] == np.eye(scores.shape[1])[0]).all()


@strategies.THOROUGH
@given(answers(exclusive=False), st.sampled_from(METHODS))
def test_other_labels_are_calibrated_on_their_own(answered, method):
    scores, y = answered
    found = calibrated(scores, y, method, exclusive=False).predict_proba(scores)
    for k in range(1, scores.shape[1]):
        expected = naive_curve(np.ascontiguousarray(scores[:, k]), y[:, k], method)
        assert found[:, k] == pytest.approx(expected, abs=1e-6)
    assert found[:, 0] == pytest.approx(np.prod(1 - found[:, 1:], axis=1), abs=1e-5)


@strategies.THOROUGH
@given(answers(), answers(), st.sampled_from(METHODS), st.booleans())
def test_an_answer_does_not_depend_on_the_others(learned, asked, method, exclusive):
    scores, y = learned
    model = calibrated(scores, y, method, exclusive)
    rows = np.resize(asked[0], (9, scores.shape[1])).astype(np.float32)
    together = model.predict_proba(rows)
    alone = np.concatenate([model.predict_proba(row[None]) for row in rows])
    assert together.tobytes() == alone.tobytes()
    assert model.predict_proba(rows[:0]).shape == (0, scores.shape[1])


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_that_are_too_sure_become_honest(method):
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.1, 0.6, 4000)
    y = rng.uniform(size=4000) < truth
    sure = np.where(truth > 0.35, 1 - (1 - truth) ** 3, truth**3)
    scores, y = (np.stack([1 - a, a], axis=1) for a in (sure.astype(np.float32), y))
    y[:, 0] = ~y[:, 1].astype(bool)
    found = calibrated(scores[:2000], y[:2000].astype(bool), method).predict_proba(scores[2000:])
    before, after = (np.abs(p - truth[2000:]).mean() for p in (sure[2000:], found[:, 1]))
    assert after < before / 3


def test_fitting_passes_targets_on_and_forgets_the_curves():
    scores = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    model = calibrated(scores, np.array([[False, True], [True, False]]), "platt")
    assert model.predict_proba(scores) is not scores
    assert model.fit(scores, "y", 2) is model and model.member.targets == ("y", 2)
    assert model.predict_proba(scores) is scores
    assert (model.widths_, model.n_labels_) == ((3, 4), 2)
    with pytest.raises(ValueError, match=r"has no curves.*calibrate"):
        model.state()


def test_nothing_to_learn_from_and_no_method():
    with pytest.raises(ValueError, match=r"finds 0 candidates.*calibration = null"):
        calibrated(np.zeros((0, 2), np.float32), np.zeros((0, 2), bool), "platt")
    with pytest.raises(ValueError, match="calibration is 'beta'; choose one of platt, isotonic"):
        Calibrated(Said(), "beta", exclusive=True)


@strategies.THOROUGH
@given(answers(), st.sampled_from(METHODS), st.booleans())
def test_state_and_back(answered, method, exclusive):
    model = calibrated(*answered, method, exclusive)
    state = model.state()
    assert all(array.dtype != object for array in state.values())
    other = Calibrated(Said(), method, exclusive=exclusive)
    member = other.member
    assert other.restore(state) is other and other.member is not member  # which others may share
    assert other.n_labels_ == model.n_labels_
    assert other.predict_proba(answered[0]).tobytes() == model.predict_proba(answered[0]).tobytes()


def change(state, name, value, row=None):
    array = state[name].copy()
    if row is None:
        array = value(array) if callable(value) else value
    else:
        array[row] = value
    return {**state, name: array}


FORGED = [
    (lambda s: {k: v for k, v in s.items() if k != "knots"}, "knots and offsets are needed"),
    (lambda s: {k: v for k, v in s.items() if k != "offsets"}, "knots and offsets are needed"),
    (lambda s: {**s, "more": s["knots"]}, "'more'"),
    (lambda s: change(s, "knots", lambda a: a.astype(np.float32)), "float32 .* as knots"),
    (lambda s: change(s, "knots", lambda a: a.ravel()), "as knots"),
    (lambda s: change(s, "knots", lambda a: a[:, :1]), "as knots"),
    (lambda s: change(s, "knots", lambda a: a.astype(object)), "object .* as knots"),
    (lambda s: change(s, "knots", lambda a: a[:-1]), "a curve has some"),
    (lambda s: change(s, "knots", np.nan, (0, 0)), "no .* calibration makes"),
    (lambda s: change(s, "knots", np.inf, (0, 1)), "no .* calibration makes"),
    (lambda s: change(s, "offsets", lambda a: a.astype(np.int32)), "int32 .* as offsets"),
    (lambda s: change(s, "offsets", lambda a: a[:-1]), "as offsets"),
    (lambda s: change(s, "offsets", 1, 0), "a curve has some"),
    (lambda s: change(s, "offsets", lambda a: a[[0, 0, 2]]), "a curve has some"),
    (lambda s: change(s, "member/n", np.array(3)), "as offsets"),
]
FORGED_LINES = [
    (lambda s: change(s, "knots", -0.5, (0, 1)), "no isotonic calibration makes"),
    (lambda s: change(s, "knots", 1.5, (-1, 1)), "no isotonic calibration makes"),
    (lambda s: change(s, "knots", 0.9, (0, 0)), "no isotonic calibration makes"),
    (lambda s: change(s, "knots", 0.9, (0, 1)), "no isotonic calibration makes"),
]


@pytest.mark.parametrize(
    ("method", "forge", "match"),
    [(method, *forged) for method in METHODS for forged in FORGED]
    + [("isotonic", *forged) for forged in FORGED_LINES],
)
def test_forged_arrays_are_refused(method, forge, match):
    scores = np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75], [0.0, 1.0]], np.float32)
    y = np.array([[True, False], [True, False], [False, True], [False, True]])
    state = calibrated(scores, y, method).state()
    untouched = Calibrated(Said(), method, exclusive=True)
    with pytest.raises(ValueError, match=rf"{match}.*the file is damaged, train again"):
        untouched.restore(forge(state))
    assert untouched.curves_ == () and untouched.member.n_labels_ == 0


def test_a_sigmoid_has_two_numbers():
    scores = np.array([[0.75, 0.25], [0.25, 0.75]], np.float32)
    state = calibrated(scores, np.eye(2, dtype=bool), "platt").state()
    longer = {**state, "knots": state["knots"][[0, 0, 1]], "offsets": np.array([0, 2, 3])}
    with pytest.raises(ValueError, match="no platt calibration makes"):
        Calibrated(Said(), "platt", exclusive=True).restore(longer)
