import benchmark_classifiers as benchmark
import benchmark_neighbors
import benchmark_perceptron
import pytest
import spacy
from pipeline import sentences
from public import Corpus


@pytest.fixture
def chemprot(monkeypatch):
    """Docs made by hand in place of the corpus, and no model that parses."""
    nlp = spacy.blank("xx")
    docs = sentences.corpus(nlp.vocab, 28)
    splits = {"train": docs[:20], "test": docs[20:]}
    monkeypatch.setattr(Corpus, "splits", lambda *_: (splits, {}))
    monkeypatch.setitem(benchmark.CORPORA, "chemprot", Corpus(None, {}, sentences.SMALL))
    monkeypatch.setattr(benchmark.spacy, "load", lambda *_, **__: nlp)
    for module, name, value in (
        (benchmark, "N_TEST", 9),
        (benchmark_neighbors, "K", 3),
        (benchmark_neighbors, "REPEATS", 1),
        (benchmark_perceptron, "REPEATS", 1),
    ):
        monkeypatch.setattr(module, name, value)


def test_one_run_measures_all_on_all_of_training_and_as_much_of_the_test_as_asked_for(chemprot):
    figures = benchmark.classifiers(None)
    assert (figures["n_train_candidates"], figures["n_test_candidates"]) == (80, 12)
    assert figures["n_documents"] == 20 + 3  # of four candidates
    assert figures["sigma"] == benchmark.SIGMA and 0 <= figures["pke_changed"] <= 1
    for name in ("pki_speedup", "pke_speedup", "hamming_gbit_per_s", "perceptron_candidates_per_s"):
        assert figures[name] > 0
    assert figures["features_per_candidate"] > 5


@pytest.mark.parametrize(
    ("trained", "tested", "found"),
    [((0, 2, 1), (3, 2), [0, 0, 0, 2]), ((0, 1), (0, 2), [0, 0, 0, 1])],
    ids=["the same", "lacking in training"],
)
def test_labels_of_test_candidates_have_the_ids_of_training(trained, tested, found):
    nlp = sentences.build()
    docs = ([sentences.annotated(nlp.vocab, *numbers)] for numbers in (trained, tested))
    first, second = benchmark.encoded(nlp.get_pipe("klsh_relations"), *docs)
    assert set(first.y) == set(range(len(trained)))
    assert sorted(second.y) == found
    assert first.x.widths == second.x.widths == (128, 2**20)
