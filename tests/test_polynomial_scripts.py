"""The scripts that measure polynomial kernel machines, on few candidates."""

import json

import benchmark_polynomial
import numpy as np
import polynomial
import pytest
import spacy
from benchmark_polynomial import micro_f1
from pipeline import sentences
from polynomial_plot import draw
from public import Corpus
from spacy.tokens import DocBin

from spacy_klsh.hashing.features import Features


def sample(n, seed):
    rng = np.random.default_rng(seed)
    dense = rng.random((n, 12)) < 0.4
    y = np.where(dense[:, 0], 1, 2 * (dense[:, 1] & dense[:, 2]))
    return Features.from_sets([np.flatnonzero(row).tolist() for row in dense], 12), y


def test_everything_stays_without_a_sigma():
    figures = benchmark_polynomial.polynomial(*sample(60, 0), *sample(30, 1), sigma=0.0, degree=3)
    assert figures["pke_changed"] == 0 and figures["pke_f1"] == figures["exact_f1"] > 0.5
    for name in ("pki", "pke"):
        speedup = figures["pkb_us"] / figures[f"{name}_us"]
        assert figures[f"{name}_speedup"] == pytest.approx(speedup)
    assert 0 < figures["n_support"] <= 60 < figures["n_sets"] < figures["pke_bytes"]


def test_a_large_sigma_changes_decisions():
    figures = benchmark_polynomial.polynomial(*sample(60, 0), *sample(30, 1), sigma=0.3)
    assert 0 < figures["pke_changed"] < 1 and figures["n_sets"] < 60


def test_f1_counts_candidates_with_a_relation():
    gold, found = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 0, 2, 1])
    assert micro_f1(found, gold) == pytest.approx(2 * 2 / (4 + 4))
    assert micro_f1(np.zeros(2, int), np.zeros(2, int)) == 0


def test_the_script_writes_a_row_for_each_sigma(tmp_path, monkeypatch, capsys):
    nlp = spacy.blank("xx")
    for part, n in (("train", 12), ("test", 6)):
        docs = sentences.corpus(nlp.vocab, n)
        DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / f"few_{part}.spacy")
    monkeypatch.setitem(polynomial.CORPORA, "few", Corpus(None, {}, sentences.SMALL))
    monkeypatch.setattr(polynomial.spacy, "load", lambda *_, **__: nlp)
    path = tmp_path / "deep" / "few.json"
    polynomial.main("few", tmp_path, sigma=[9.0, 0.01, 0.0], json_file=path)
    figures = json.loads(path.read_text("utf-8"))
    assert [row["sigma"] for row in figures["rows"]] == [0.0, 0.01]  # at 9 there is no set
    assert figures["rows"][0]["changed"] == 0
    assert figures["rows"][0]["f1"] == figures["exact_f1"] > 0.5
    assert "exact" in capsys.readouterr().out


def test_the_same_figures_are_drawn_as_the_same_file(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    rows = [
        {"sigma": sigma, "changed": sigma, "f1": 0.7 - sigma, "bytes": 1e6 / (1 + sigma)}
        for sigma in (0.0, 0.001, 0.01, 0.1)
    ]
    files = [tmp_path / "deep" / "a.svg", tmp_path / "b.svg"]
    for path in files:
        draw(rows, 0.71, path)
    content, again = (path.read_bytes() for path in files)
    assert content == again
    for text in ("exact", "decisions changed", "F1", "MB of item sets", "log scale"):
        assert text.encode() in content
