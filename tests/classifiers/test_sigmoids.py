import numpy as np
import pytest

from spacy_klsh.classifiers.platt import fit_platt, platt
from spacy_klsh.classifiers.sigmoids import MEMORY, Sigmoids, belongs


def problem(n=300, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(max(2, n_classes), size=n)
    return rng.normal(size=(n, n_classes)) + belongs(y, n_classes), y


def test_class_0_is_any_label_and_the_others_are_one():
    assert belongs(np.array([0, 2, 1]), 3).tolist() == [
        [False, False, False],
        [True, False, True],
        [True, True, False],
    ]
    assert belongs(np.array([0, 1]), 1).tolist() == [[False], [True]]


@pytest.mark.parametrize("n_classes", [1, 3, 4])
def test_probabilities_are_scaled_sigmoids(n_classes):
    outputs, y = problem(n_classes=n_classes)
    fitted = Sigmoids.of(outputs, y, 0)
    each = []
    for k, true in enumerate([y > 0, *(y == label for label in range(1, n_classes))]):
        a, b = fit_platt(outputs[:, k].copy(), true)
        assert fitted.curves[k].tolist() == [a, b]
        each.append(platt(outputs[:, k].copy(), a, b))
    expected = np.stack([1 - each[0], *(each[1:] or each)], axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    found = fitted.probabilities(outputs)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_do_not_depend_on_others_and_sum_to_1_at_the_ends_of_the_sigmoids():
    outputs, y = problem()
    fitted = Sigmoids.of(outputs, y, 0)
    found = fitted.probabilities(outputs)
    for i in (0, 7, 299):
        assert fitted.probabilities(outputs[i : i + 1]).tobytes() == found[i].tobytes()
    far = np.array([[1e9, -1e9, -1e9, -1e9], [-1e9, -1e9, -1e9, -1e9], [1e9, -1e9, 1e9, -1e9]])
    found = fitted.probabilities(far)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    assert found[1, 0] == found[2, 2] == 1


def test_new_outputs_push_out_the_oldest():
    outputs, y = problem(n=MEMORY + 50)
    first = Sigmoids.of(outputs[:40], y[:40], 0)
    later = first.after(outputs[40:90], y[40:90])
    assert sorted(later.outputs[:40, 0]) == sorted(outputs[:40, 0].astype(np.float32))
    assert (later.outputs[40:] == outputs[40:90].astype(np.float32)).all()
    assert (later.targets[40:] == y[40:90]).all() and len(first.targets) == 40
    full = later.after(outputs, y)
    assert (full.outputs == outputs[-MEMORY:].astype(np.float32)).all()
    fresh = Sigmoids.of(full.outputs.astype(np.float64), full.targets, 0)
    assert full.curves.tobytes() == fresh.curves.tobytes()
    assert len(Sigmoids.of(outputs, y, 0).targets) == MEMORY


def test_what_is_forgotten_changes_no_probability():
    outputs, y = problem()
    fitted = Sigmoids.of(outputs, y, 0)
    bare = fitted.forgotten()
    assert len(bare.targets) == len(bare.outputs) == 0
    assert (bare.probabilities(outputs) == fitted.probabilities(outputs)).all()


@pytest.mark.parametrize(
    ("name", "damaged"),
    [
        ("curves", np.zeros((3, 2))),
        ("curves", np.zeros((4, 1))),
        ("curves", np.full((4, 2), np.nan)),
        ("outputs", np.zeros((300, 3), np.float32)),
        ("outputs", np.zeros((299, 4), np.float32)),
        ("outputs", np.full((300, 4), np.inf, np.float32)),
        ("targets", np.full(300, 4, np.int32)),
        ("targets", np.full(300, -1, np.int32)),
    ],
)
def test_what_does_not_fit_together_is_not_sound(name, damaged):
    fitted = Sigmoids.of(*problem(), 0)
    arrays = {part: getattr(fitted, part) for part in ("curves", "outputs", "targets")}
    assert fitted.is_sound(4) and not fitted.is_sound(5)
    assert not Sigmoids(**{**arrays, name: damaged}).is_sound(4)


def test_more_than_the_memory_is_not_sound():
    outputs, y = problem(n=MEMORY + 1)
    curves = Sigmoids.of(outputs, y, 0).curves
    whole = outputs.astype(np.float32), y.astype(np.int32)
    assert not Sigmoids(curves, *whole).is_sound(4)
