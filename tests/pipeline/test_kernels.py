"""Components whose kernel is combined of others, or learns from labels."""

import io
from copy import copy

import numpy as np
import pytest
import spacy
from pipeline.forgery import files, npz, signed
from pipeline.sentences import answers, bare, build, corpus, examples, parsed, train

from spacy_klsh import Relation
from spacy_klsh.kernels.combine import CombinedKernel
from spacy_klsh.pipeline import training
from spacy_klsh.pipeline.comparison import encode
from spacy_klsh.pipeline.training import collect, out_of_fold

PATH = {"@misc": "spacy-klsh.subsequence_kernel.v1"}
BETWEEN = {**PATH, "view": "between", "interleaved": False}
COMBINED = {"@misc": "spacy-klsh.combined_kernel.v1", "weights": {"between": 0.5}}
LEARNING = {**PATH, "learn_weights": True}
KERNELS = {
    "combined": {**COMBINED, "kernels": {"between": BETWEEN, "path": PATH}},
    "product": {**COMBINED, "operation": "product", "kernels": {"between": BETWEEN, "path": PATH}},
    "learning": LEARNING,
    "both": {**COMBINED, "kernels": {"path": LEARNING, "between": BETWEEN}},
}


@pytest.fixture(scope="module", params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture(scope="module")
def pipeline(kernel):
    return train(build(kernel=kernel))


def component_of(nlp):
    return nlp.get_pipe("klsh_relations")


def found(nlp):
    return answers(nlp.pipe(map(bare, corpus(nlp.vocab))))


def test_it_finds_what_it_was_taught(pipeline):
    scores = pipeline.evaluate(examples(corpus(pipeline.vocab)))
    assert scores["rel_micro_f"] > 0.9


def test_a_saved_pipeline_gives_equal_answers_and_equal_bytes(pipeline, tmp_path):
    pipeline.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert component_of(again).to_bytes() == component_of(pipeline).to_bytes()
    assert found(again) == found(pipeline)
    assert sum(len(relations) for relations, _ in found(again)) > 5


@pytest.mark.parametrize("batch_size", [1, 5])
def test_answers_and_evidence_do_not_depend_on_the_batch_size(pipeline, batch_size):
    docs = [
        list(pipeline.pipe(map(bare, corpus(pipeline.vocab)), batch_size=size))
        for size in (batch_size, 128)
    ]
    assert answers(docs[0]) == answers(docs[1])
    evidence = [[doc._.relations_evidence for doc in part] for part in docs]
    assert evidence[0] == evidence[1]


def test_evidence_shows_the_path(pipeline):
    doc = pipeline(parsed(pipeline.vocab, "P:nsubj:1 founded:ROOT:1 O:dobj:1 .:punct:1"))
    evidence = doc._.relations[0].evidence
    assert str(evidence).startswith("PERSON <-nsubj- founded -dobj-> ORG")
    assert any(near.matches for near in evidence.nearest)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": None},
        {"operation": "product"},
        {"kernels": {"between": {**BETWEEN, "decay": 0.5}, "path": PATH}},
        {"kernels": {"path": PATH}},
    ],
)
def test_other_settings_of_any_kernel_are_refused(change):
    content = component_of(train(build(kernel=KERNELS["combined"]))).to_bytes()
    other = component_of(build(kernel={**KERNELS["combined"], "weights": None, **change}))
    with pytest.raises(ValueError, match="trained with other settings: kernel was"):
        other.from_bytes(content)


def test_a_kernel_that_learned_is_another_kernel():
    content = component_of(train(build(kernel=LEARNING))).to_bytes()
    with pytest.raises(ValueError, match="trained with other settings: kernel was"):
        component_of(build(kernel=PATH)).from_bytes(content)


def array(values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


@pytest.mark.parametrize("kernel_block", [KERNELS["both"], KERNELS["combined"], PATH])
def test_arrays_of_no_learning_kernel_are_refused(kernel_block):
    content = component_of(train(build(kernel=kernel_block))).to_bytes()
    forged = npz(files(content), **{"kernel/other/weights.npy": array(np.ones(1, np.float32))})
    empty = component_of(build(kernel=kernel_block))
    with pytest.raises(ValueError, match="damaged"):
        empty.from_bytes(signed(forged))
    assert empty.labels == ()


def test_a_pair_without_a_path_is_compared_by_the_words_between():
    settings = {"candidates": {"@misc": "spacy-klsh.entity_pairs.v1", "max_sentences": 2}}
    two = ("P:nsubj:1 smiled:ROOT:1 .:punct:1", "It:nsubj:1 founded:ROOT:1 O:dobj:1 .:punct:1")
    none = ("P:nsubj:1 slept:ROOT:1 .:punct:1", "It:nsubj:1 sued:ROOT:1 O:dobj:1 .:punct:1")
    nlp = build(kernel=KERNELS["combined"], **settings)
    docs = corpus(nlp.vocab)
    for patterns in (two, none) * 3:
        docs.append(parsed(nlp.vocab, *patterns))
        head, tail = docs[-1].ents
        docs[-1]._.relations = [Relation("FOUNDED", head=head, tail=tail)] * (patterns == two)
    doc = train(nlp, docs)(parsed(nlp.vocab, *two))
    (relation,) = doc._.relations
    assert (relation.label, relation.head.text, relation.tail.text) == ("FOUNDED", "Ada", "Lumen")
    assert "no path" in str(relation.evidence).splitlines()[0]
    path_alone = train(build(**settings), docs)(parsed(nlp.vocab, *two))
    assert (path_alone._.relations, path_alone._.relations_skipped) == ((), {"no_path": 1})


def test_the_order_of_the_blocks_does_not_matter():
    turned = dict(reversed(KERNELS["both"]["kernels"].items()))
    contents = [
        component_of(train(build(kernel={**COMBINED, "kernels": kernels}))).to_bytes()
        for kernels in (KERNELS["both"]["kernels"], turned)
    ]
    assert contents[0] == contents[1]


def test_codes_of_a_fold_know_no_label_of_it(monkeypatch):
    nlp = build(kernel=KERNELS["both"])
    component, docs = component_of(nlp), corpus(nlp.vocab)
    data = collect(component, examples(docs), None)
    component.scheme = data.scheme
    component.hashing.fit(data.views, data.y)
    x = encode(component, component.hashing.transform(data.views), data.views)
    seen, fit = [], CombinedKernel.fit
    monkeypatch.setattr(CombinedKernel, "fit", lambda *a: (seen.append(a[2]), fit(*a))[1])
    kernel = copy(component.hashing.kernel)
    out_of_fold(component, x, data)
    folds = training.document_folds(data.groups)
    expected = [data.y[folds != fold].tolist() for fold in range(training.N_FOLDS)]
    assert [y.tolist() for y in seen] == expected
    assert component.hashing.kernel == kernel
