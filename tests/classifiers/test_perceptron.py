import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import naive_perceptron as naive
import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_klsh.classifiers.averaged import MAX_CELLS
from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.one_vs_rest import OneVsRest
from spacy_klsh.classifiers.perceptron import PerceptronClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

WIDTH, N_BITS = 50, 9
QUICK = {"max_passes": 4, "n_averaged": 2, "n_replicates": 3}
LONG = pytest.mark.skipif(not strategies.JIT, reason="takes minutes without numba")
NAMES, ABOVE = ["", "A", "B", "C", "D"], {"A": "X", "B": "X"}


def problem(n=200, n_labels=5, seed=0):
    """Candidates whose label is the strongest of hidden weights; half have label 0."""
    hidden = np.random.default_rng(99).normal(size=(WIDTH, n_labels))
    rng = np.random.default_rng(seed)
    rows = [set(rng.choice(WIDTH, 8, replace=False).tolist()) for _ in range(n)]
    bits = rng.integers(2, size=(n, N_BITS), dtype=np.uint8)
    x = Encoded(Codes.pack(bits), Features.from_sets(rows, WIDTH), {})
    scores = x.features.dense() @ hidden
    scores[:, 0] += 3
    return x, scores.argmax(axis=1)


def classifier(**settings):
    return PerceptronClassifier(**{**QUICK, "inputs": "features", **settings})


def fitted(n=200, n_labels=5, seed=0, **settings):
    x, y = problem(n, n_labels, seed)
    model = classifier(**settings)
    if settings.get("hierarchy"):
        model.arrange(NAMES, settings["hierarchy"])
    return model.fit(x, y, n_labels)


def accuracy(model, n_labels=5):
    x, y = problem(600, n_labels, seed=7)
    return float((model.predict_proba(x).argmax(axis=1) == y).mean())


@pytest.mark.parametrize("inputs", ["codes", "features", "both"])
@pytest.mark.parametrize(
    ("strategy", "tree"), [("flat", (-1,) * 5), ("given", (-1, 5, 5, 0, 0, 0))]
)
def test_the_weights_are_those_of_the_slow_twin(inputs, strategy, tree):
    x, y = problem(32)  # 32 candidates: means without rounding
    settings = {"strategy": strategy, "hierarchy": ABOVE if strategy == "given" else {}}
    model = classifier(inputs=inputs, **settings)
    model.arrange(NAMES, ABOVE)
    model.fit(x, y, 5)
    items = x.items(inputs)
    rows = [set(items[i].columns.tolist()) for i in range(32)]
    classes = [{1, 2, 3, 4}, {1}, {2}, {3}, {4}, {1, 2}][: len(tree)]
    each = []
    for replicate in range(3):
        drawn = np.random.default_rng((0, replicate)).integers(32, size=32)
        found = naive.top_down(
            [rows[i] for i in drawn], classes, y[drawn], tree, most=4, averaged=2
        )
        each.append([naive.dense(w, items.width) for w in found[:5]])
    np.testing.assert_allclose(model.weights_.mean, np.mean(each, axis=0), rtol=1e-4, atol=1e-4)
    assert model.widths_ == (N_BITS * (inputs != "features"), WIDTH * (inputs != "codes"))


@LONG
@pytest.mark.parametrize("strategy", ["flat", "given", "lowest", "all"])
@pytest.mark.parametrize("n_labels", [2, 5])
def test_it_learns(strategy, n_labels):
    model = fitted(400, n_labels, strategy=strategy)
    _, y = problem(600, n_labels, seed=7)
    assert accuracy(model, n_labels) > np.bincount(y).max() / len(y) + 0.1
    found = model.predict_proba(problem(50, n_labels)[0])
    assert found.dtype == np.float32 and found.shape == (50, n_labels) == (50, model.n_labels_)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)


@LONG
def test_each_strategy_finds_other_weights():
    names = ("flat", "given", "lowest", "all")
    found = {
        name: fitted(strategy=name, hierarchy={} if name == "flat" else ABOVE).weights_.mean
        for name in names
    }
    assert len({weights.tobytes() for weights in found.values()}) == len(names)


def test_labels_that_training_lacks_are_improbable():
    x, y = problem()
    model = classifier(strategy="all").fit(x, np.where(y == 3, 0, y), 7)
    found = model.predict_proba(problem(seed=1)[0])
    assert found.shape[1] == 7 and found[:, [3, 5, 6]].max() < 0.05


def test_the_seed_decides():
    first, same, other = (classifier(seed=s).fit(*problem(), 5) for s in (3, 3, 4))
    assert first.weights_.mean.tobytes() == same.weights_.mean.tobytes()
    assert first.weights_.mean.tobytes() != other.weights_.mean.tobytes()


def test_probabilities_do_not_depend_on_the_block():
    model, (x, _) = fitted(), problem(300, seed=1)
    whole = model.predict_proba(x)
    for size in (1, 7, 200):
        blocks = [model.predict_proba(x[i : i + size]) for i in range(0, 300, size)]
        assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert model.predict_proba(x[:0]).shape == (0, 5)


@LONG
def test_probabilities_are_calibrated():
    model, (x, y) = fitted(2000, max_passes=10), problem(2000, seed=5)
    found = model.predict_proba(x)
    for k in range(5):
        assert found[:, k].mean() == pytest.approx((y == k).mean(), abs=0.04)
    sure = found.max(axis=1) > 0.8
    assert (found.argmax(axis=1) == y)[sure].mean() > 0.75


@LONG
def test_updates_improve_it_without_another_fit():
    model, (x, y) = fitted(60), problem(1500, seed=3)
    before, reached = accuracy(model), []
    for i in range(0, 1500, 50):
        model.update(x[i : i + 50], y[i : i + 50])
        reached.append(accuracy(model))
    assert reached[0] > before - 0.05 and reached[-1] > before + 0.08


@LONG
def test_an_update_with_one_candidate_changes_little():
    model, (x, y) = fitted(1500), problem(40, seed=3)
    before = model.predict_proba(problem(300, seed=4)[0])
    assert sum(model.update(x[i : i + 1], y[i : i + 1]) for i in range(40)) > 0
    change = np.abs(model.predict_proba(problem(300, seed=4)[0]) - before)
    assert 0 < change.mean() < 0.02


@LONG
@given(st.lists(st.integers(0, 60), max_size=4), st.integers(0, 9))
@strategies.QUICK
def test_weights_after_updates_are_those_of_the_same_sequence_at_once(cuts, seed):
    x, y = problem(60, seed=seed)
    whole, parts = fitted(50), fitted(50)
    n_errors = whole.update(x, y)
    ends = [0, *sorted(cuts), 60]
    found = [parts.update(x[a:b], y[a:b]) for a, b in pairwise(ends)]
    assert sum(found) == n_errors
    assert parts.weights_.mean.tobytes() == whole.weights_.mean.tobytes()


def test_updates_are_steps_of_the_slow_twin():
    model, (x, y) = fitted(40), problem(50, seed=3)
    start = model.weights_.mean.copy()
    model.update(x[:20], y[:20])
    model.update(x[20:], y[20:])
    rows = [set(x.features[i].columns.tolist()) for i in range(50)]
    for k, labels in enumerate([{1, 2, 3, 4}, {1}, {2}, {3}, {4}]):
        first = naive.defaultdict(float, {"": float(start[k, WIDTH])})
        first.update(enumerate(start[k, :WIDTH].astype(float)))
        signs = [1 if label in labels else -1 for label in y]
        many = [first] * 40 + list(naive.states(first, rows, signs))
        expected = naive.dense(naive.mean(many), WIDTH)
        np.testing.assert_allclose(model.weights_.mean[k], expected, rtol=1e-4, atol=1e-4)


def test_the_sigmoids_are_refitted_to_outputs_from_before_the_update():
    model, (x, y) = fitted(), problem(30, seed=3)
    weights, old = model.weights_.mean.copy(), model.sigmoids_
    model.update(x, y)
    expected = x.features.dense() @ weights[:, :-1].T + weights[:, -1]
    np.testing.assert_allclose(model.sigmoids_.outputs[-30:], expected, rtol=1e-4, atol=1e-4)
    assert (model.sigmoids_.targets[-30:] == y).all()
    assert (model.sigmoids_.curves != old.curves).all()


def test_nothing_learned_at_first_leaves_all_to_updates():
    x, y = problem(400)
    model = classifier(max_passes=0, n_averaged=5).fit(x, y, 5)
    assert not model.weights_.mean.any() and not len(model.sigmoids_.targets)
    shares = np.bincount(y, minlength=5) / 400
    np.testing.assert_allclose(model.predict_proba(x[:3]), np.tile(shares, (3, 1)), atol=0.03)
    model.update(x[:0], y[:0])
    np.testing.assert_allclose(model.predict_proba(x[:1])[0], shares, atol=0.03)
    errors = [model.update(x, y) for _ in range(6)]
    assert errors[-1] < errors[0] and accuracy(model) > shares.max() + 0.1


@LONG
def test_each_label_on_its_own_learns_from_updates():
    x, y = problem(60)
    more, labels = problem(900, seed=2)
    member = classifier()
    model = OneVsRest(member).fit(x, y[:, None] == np.arange(6))
    new, truth = problem(500, seed=7)

    def errors():
        return int(
            ((model.predict_proba(new)[:, 1:5] > 0.5) != (truth[:, None] == np.arange(1, 5))).sum()
        )

    before, expected = errors(), 0
    twins = [classifier().fit(x, (y == k).astype(int), 2) for k in range(1, 5)]
    expected = sum(twin.update(more, (labels == k).astype(int)) for k, twin in enumerate(twins, 1))
    assert model.update(more, labels[:, None] == np.arange(6)) == expected
    assert errors() < before
    assert (model.predict_proba(new)[:, 5] == 0).all()  # no candidate of fit had it
    assert (model.predict_proba(new)[:, 1] == twins[0].predict_proba(new)[:, 1]).all()


def test_a_saved_one_answers_and_goes_on_the_same(tmp_path):
    x, y = problem(300, seed=1)
    for model in (fitted(), fitted(n_labels=2), fitted(max_passes=0)):
        part = np.minimum(y, model.n_labels_ - 1)
        for _ in range(2):  # before and after an update
            state = {name: np.asarray(array, order="F") for name, array in model.state().items()}
            np.savez(tmp_path / "weights.npz", **state)
            with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
                again = classifier().restore(arrays)
            assert again.predict_proba(x).tobytes() == model.predict_proba(x).tobytes()
            assert again.update(x[:50], part[:50]) == model.update(x[:50], part[:50])
            assert again.predict_proba(x).tobytes() == model.predict_proba(x).tobytes()
        assert {**again.state()}.keys() == state.keys()
        assert (again.widths_, again.n_labels_) == (model.widths_, model.n_labels_)


def test_predicting_needs_no_scikit_learn(tmp_path):
    model, (x, _) = fitted(), problem(seed=1)
    features = {"columns": x.features.columns, "offsets": x.features.offsets}
    np.savez(tmp_path / "weights.npz", words=x.codes.words, **features, **model.state())
    program = f"""if True:
        import sys, numpy as np
        from spacy_klsh.classifiers.encoded import Encoded
        from spacy_klsh.classifiers.perceptron import PerceptronClassifier
        from spacy_klsh.hashing.codes import Codes
        from spacy_klsh.hashing.features import Features
        state = dict(np.load(sys.argv[1]))
        features = Features(state.pop("columns"), state.pop("offsets"), {WIDTH})
        x = Encoded(Codes(state.pop("words"), {N_BITS}), features, {{}})
        model = PerceptronClassifier(inputs="features").restore(state)
        np.save(sys.argv[2], model.predict_proba(x))
        sys.exit("sklearn" in sys.modules)
    """
    files, root = [tmp_path / "weights.npz", tmp_path / "found.npy"], Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program, *files], cwd=root, check=True)
    assert np.load(files[1]).tobytes() == model.predict_proba(x).tobytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "deep"}, "strategy is 'deep'; choose one of flat, given, lowest, all"),
        ({"inputs": "bits"}, "inputs is 'bits'; choose one of codes, features, both"),
        ({"hierarchy": {"A": "B"}}, 'strategy is "flat", which uses none'),
        ({"max_passes": -1}, "max_passes = -1, n_averaged = 2"),
        ({"n_averaged": 0}, "n_averaged = 0"),
        ({"n_averaged": 5}, "no more averaged passes than passes"),
        ({"n_replicates": 0}, "n_replicates = 0"),
    ],
)
def test_senseless_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        classifier(**settings)


def test_one_label_is_refused_with_the_count():
    x, _ = problem(17)
    with pytest.raises(ValueError, match=r"all 17 training .* \(ids \[2\]\)"):
        classifier().fit(x, np.full(17, 2))


@pytest.mark.parametrize(("labels", "n_labels"), [((-1, 0), None), ((-1, 0), 2), ((1, 2), 2)])
def test_labels_outside_are_refused(labels, n_labels):
    x, y = problem()
    with pytest.raises(ValueError, match="set n_labels"):
        classifier().fit(x, np.array(labels)[y % 2], n_labels)
    with pytest.raises(ValueError, match="set n_labels"):
        fitted(n_labels=3).update(x, y)


def test_names_without_labels_are_refused():
    model = classifier(strategy="given", hierarchy=ABOVE)
    with pytest.raises(ValueError, match=r"0 of 5 labels have one; call arrange\(\)"):
        model.fit(*problem(), 5)
    model.arrange(NAMES[:4], ABOVE)
    with pytest.raises(ValueError, match="4 of 5 labels"):
        model.fit(*problem(), 5)


@pytest.mark.parametrize("call", ["predict_proba", "update"])
def test_candidates_of_another_width_are_refused(call):
    x, y = problem(5)
    wide = Encoded(x.codes, Features(x.features.columns, x.features.offsets, WIDTH + 1), {})
    for other, message in (
        (wide, f"have .0, {WIDTH + 1}. bits"),
        (Encoded(x.codes, None, {}), ".0, 0."),
    ):
        with pytest.raises(ValueError, match=f"{message}.* training had .0, {WIDTH}."):
            getattr(fitted(), call)(other, *([y] if call == "update" else []))


@pytest.mark.parametrize("call", ["predict_proba", "update", "state"])
def test_before_fit_every_use_says_so(call):
    x, y = problem(5)
    arguments = {"predict_proba": (x,), "update": (x, y), "state": ()}[call]
    with pytest.raises(ValueError, match=r"no weights, .* call fit\(\) first"):
        getattr(classifier(), call)(*arguments)


def by_hand():
    """Three items and three labels, two of the items with weights."""
    return {
        "widths": np.array([0, 3]),
        "items": np.array([0, 2], np.int32),
        "current": np.array([[1.0, -1.0], [2.0, 0.0], [3.0, 0.0]], np.float32),
        "drift": np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
        "n_states": np.array(2),
        "curves": np.array([[-1.0, 0.0]] * 3),
        "outputs": np.zeros((2, 3), np.float32),
        "targets": np.array([0, 2], np.int32),
    }


def test_weights_by_hand():
    model = classifier().restore(by_hand())
    assert model.weights_.mean.tolist() == [[0.5, 0, -1, 0], [2, 0, 0, 0], [3, 0, 0, 0]]
    x = Encoded(Codes.pack(np.zeros((1, 5), np.uint8)), Features.from_sets([{0}], 3), {})
    each = np.array([1 / (1 + np.exp(0.5)), 1 / (1 + np.exp(-2)), 1 / (1 + np.exp(-3))])
    np.testing.assert_allclose(model.predict_proba(x)[0], each / each.sum(), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("widths", 1, width) for width in (1, -1, 2**62, MAX_CELLS)),
        *(("widths", 0, width) for width in (1, -3)),
        *(("items", 0, item) for item in (2, -1, 3, 2**31 - 1)),
        *(("items", 1, item) for item in (0, 4, -(2**31))),
        *(("current", (0, 0), value) for value in (np.nan, np.inf, -np.inf, 3e38)),
        *(("drift", (0, 0), value) for value in (np.nan, np.inf, -1e200)),
        *(("n_states", (), n) for n in (0, -1, 2**63 - 1)),
        *(("curves", (0, 1), value) for value in (np.nan, np.inf)),
        *(("targets", 0, label) for label in (3, -1)),
    ],
)
def test_damaged_values_are_refused(name, place, value):
    state = by_hand()
    state[name][place] = value
    with pytest.raises(ValueError, match="damaged, train again"):
        classifier().restore(state)


@pytest.mark.parametrize("name", by_hand())
def test_damaged_arrays_are_refused(name):
    state = by_hand()
    model = classifier().restore(state)
    array = state.pop(name)
    swapped, wide = array.astype(array.dtype.newbyteorder(">")), array.astype(np.complex128)
    cut = array[..., :-1] if array.ndim else array[None]
    for damaged in (None, "text", array[None], array[..., None], swapped, wide, cut):
        with pytest.raises(ValueError, match="damaged, train again"):
            classifier().restore({**state, name: damaged})
    with pytest.raises(ValueError, match=f"'{name}': 'object 0d'.* damaged, train again"):
        model.restore(state)
    assert model.weights_.mean[0].tolist() == [0.5, 0, -1, 0]  # still the former ones
    with pytest.raises(ValueError, match=r"'x': 'float64 1d'.* damaged, train again"):
        model.restore({**by_hand(), "x": np.zeros(3)})


CHANGE = st.tuples(st.sampled_from(list(by_hand())), st.integers(0), st.integers(1, 255))


@given(st.lists(CHANGE, min_size=1))
@strategies.THOROUGH
def test_changed_bytes_are_refused_or_harmless(changes):
    state = by_hand()
    for name, place, change in changes:
        raw = state[name].reshape(-1).view(np.uint8)
        raw[place % len(raw)] ^= change
    assume(state["widths"].sum() < 10_000)
    try:
        model = classifier(inputs="both" if state["widths"][0] else "features").restore(state)
    except ValueError:
        return
    n_bits, width = model.widths_
    x = Encoded(
        Codes.pack(np.ones((2, n_bits), np.uint8)),
        Features.from_sets([set(), set(range(width))], width),
        {},
    )
    model.update(x, np.array([0, 2]))
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1, atol=1e-5)
