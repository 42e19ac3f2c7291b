"""Neighbours as the classifier of a component: trained, saved, restored, forged."""

import io

import numpy as np
import pytest
from pipeline import sentences
from pipeline.forgery import as_npy, files, members, npz, signed

from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.faiss_index import FaissIndex

CLASSIFIERS = {
    "codes": {"@misc": "spacy-klsh.hamming_knn.v1", "k": 3, "weights": "distance"},
    "kernel": {"@misc": "spacy-klsh.klsh_knn.v1", "k": 5, "bits_per_table": 4},
}


def build(kind, **config):
    return sentences.build(classifier=CLASSIFIERS[kind], **config)


@pytest.fixture(scope="module", params=CLASSIFIERS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def trained_with(kind):
    return sentences.train(build(kind))


def answers(nlp, docs):
    pipe = nlp.get_pipe("klsh_relations")
    found = pipe.pipe(sentences.bare(doc) for doc in docs)
    return [sentences.places(doc._.relations) for doc in found]


def test_it_finds_the_relations_of_training(trained_with):
    docs = sentences.corpus(trained_with.vocab)
    found = answers(trained_with, docs)
    gold = [[place[0] for place in sentences.places(doc._.relations)] for doc in docs]
    assert [[place[0] for place in relations] for relations in found] == gold


def test_the_answers_survive_bytes_and_disk(trained_with, kind, docs, tmp_path):
    expected = answers(trained_with, docs)
    assert any(expected)
    restored = build(kind)
    restored.get_pipe("klsh_relations").from_bytes(
        trained_with.get_pipe("klsh_relations").to_bytes()
    )
    assert answers(restored, docs) == expected
    trained_with.to_disk(tmp_path)
    assert answers(build(kind).from_disk(tmp_path), docs) == expected


def test_one_doc_at_a_time_gives_the_same(trained_with, docs):
    apart = [relations for doc in docs for relations in answers(trained_with, [doc])]
    assert apart == answers(trained_with, docs)


def test_several_labels_a_pair(kind, docs):
    nlp = sentences.train(build(kind, exclusive_classes=False))
    restored = build(kind, exclusive_classes=False)
    restored.get_pipe("klsh_relations").from_bytes(nlp.get_pipe("klsh_relations").to_bytes())
    assert answers(restored, docs) == answers(nlp, docs)


def test_other_settings_are_refused(trained_with, kind):
    other = sentences.build(classifier={**CLASSIFIERS[kind], "k": 6})
    with pytest.raises(ValueError, match="trained with other settings: classifier"):
        other.get_pipe("klsh_relations").from_bytes(
            trained_with.get_pipe("klsh_relations").to_bytes()
        )


def test_forged_arrays_are_refused(trained_with, kind):
    content = files(trained_with.get_pipe("klsh_relations").to_bytes())
    untrained = build(kind).get_pipe("klsh_relations")
    names = [name for name in members(content) if name.startswith("classifier/")]
    assert "classifier/words.npy" in names
    for name in names:
        array = np.load(io.BytesIO(members(content)[name]))
        for forged in (None, as_npy(array[..., None]), as_npy(array.astype(np.complex128))):
            with pytest.raises(ValueError, match="damaged"):
                untrained.from_bytes(signed(npz(content, **{name: forged})))
    assert untrained.labels == ()


def test_forked_processes_search_with_faiss_too():
    """They would wait for ever for threads that faiss had in the first process."""
    pytest.importorskip("faiss", reason="faiss is not installed: pip install faiss-cpu")
    nlp = sentences.train(sentences.build(classifier={**CLASSIFIERS["codes"], "index": "faiss"}))
    many = Codes.pack(np.random.default_rng(0).integers(2, size=(5000, 64), dtype=np.uint8))
    FaissIndex(many).nearest(many, 3)
    docs = sentences.corpus(nlp.vocab)
    found = nlp.pipe([sentences.bare(doc) for doc in docs], n_process=2, batch_size=4)
    assert [sentences.places(doc._.relations) for doc in found] == answers(nlp, docs)
