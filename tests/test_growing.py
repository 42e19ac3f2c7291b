import json
from types import SimpleNamespace

import growing
import numpy as np
import pytest
import strategies
from growing_plot import draw
from sklearn.svm import SVC

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.kernel_neighbors import KernelNeighbors
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.views import distinct, take


def part(n, seed=0):
    """Paths with labels, as `learning_curve.read` gives them."""
    words, table = strategies.corpus(n, seed=seed, n_words=12)
    views = {"path": strategies.pack([path or [("dep=", "lemma=0")] for path in words], table)}
    related = np.random.default_rng(seed).random(n) < 0.5
    return SimpleNamespace(data=SimpleNamespace(views=views, y=np.stack([~related, related], 1)))


TRAIN, TEST = part(90), part(30, seed=1)
Y = TRAIN.data.y[:, 1].astype(np.int64)


def test_exact_neighbors_are_those_of_a_neighborhood_of_all():
    codes = Codes.pack(np.zeros((len(Y), 8), np.uint8))
    x = Encoded(codes, None, TRAIN.data.views, growing.KERNEL)
    nearest = KernelNeighbors(neighborhood=len(Y)).fit(x, Y)
    new = Encoded(codes[: len(TEST.data.y)], None, TEST.data.views, growing.KERNEL)
    found = growing.ExactNeighbors(TRAIN.data.views, Y)(TEST.data.views)
    assert found.tobytes() == nearest.predict_proba(new)[:, 1].tobytes()


def test_the_exact_machine_is_that_of_scikit_learn():
    views, new = TRAIN.data.views, TEST.data.views
    machine = SVC(kernel="precomputed").fit(growing.KERNEL.gram(views, views), Y)
    expected = machine.decision_function(growing.KERNEL.gram(new, views))
    found = growing.ExactVectorMachine(views, Y)(new)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(growing, "SIZES", (40, 60, 1000))
    parts = {"BioInfer-train.xml": TRAIN, "BioInfer-test.xml": TEST}
    monkeypatch.setattr(growing, "read", lambda nlp, path: parts[path.name])
    monkeypatch.setattr(growing.spacy, "load", lambda *_, **__: None)


def test_every_method_is_measured_at_every_size(small, tmp_path, capsys):
    growing.main(tmp_path, json_file=tmp_path / "deep" / "growing.json")
    figures = json.loads((tmp_path / "deep" / "growing.json").read_text("utf-8"))
    assert figures["n_test"] == 30
    found = [(row["size"], row["method"]) for row in figures["rows"]]
    assert found == [(size, name) for size in (40, 60, 90) for name in growing.METHODS]
    assert all(row["predict_s"] > 0 and 0 <= row["auc"] <= 1 for row in figures["rows"])
    assert all(("bytes_on_disk" in row) == ("KLSH" in row["method"]) for row in figures["rows"])
    assert "30 held-out candidates" in capsys.readouterr().out


def test_scores_are_those_of_each_held_out_candidate():
    first, places = distinct(TEST.data.views)
    assert len(first) < len(places)
    for method in growing.METHODS.values():
        model = method(TRAIN.data.views, Y)
        each = model(take(TEST.data.views, np.arange(len(places))))
        np.testing.assert_allclose(model(take(TEST.data.views, first))[places], each, atol=1e-6)


def test_the_same_figures_are_drawn_as_the_same_file(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    rows = [
        {"method": name, "size": size, "train_s": size * 1e-4, "predict_s": 0.1 + k}
        for size in (250, 500)
        for k, name in enumerate(growing.METHODS)
    ]
    files = [tmp_path / "deep" / "a.svg", tmp_path / "b.svg"]
    for path in files:
        draw(rows, 1623, path)
    content = files[0].read_text("utf-8")
    assert content == files[1].read_text("utf-8")
    assert all(name in content for name in [*growing.METHODS, "predict 1,623"])
