"""Optimization of the codes as a part of training."""

import pickle

import numpy as np
import pytest
import spacy
from pipeline import sentences
from pipeline.forgery import files, signed
from pipeline.sentences import PATTERNS, answers, bare, corpus, examples, parsed
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import load_config_from_str

from spacy_klsh.optimization.alternation import STAGES
from spacy_klsh.pipeline.evidence import label_words
from spacy_klsh.pipeline.optimizing import label_ids
from spacy_klsh.pipeline.page import render

FEW = {"hashing": {"@misc": "spacy-klsh.klsh.v1", "n_references": 6, "n_bits": 64}}
CONFIG = """
[nlp]
lang = "xx"
pipeline = ["klsh_relations"]
[components]
[components.klsh_relations]
factory = "klsh_relations"
[components.klsh_relations.hashing]
@misc = "spacy-klsh.klsh.v1"
n_references = 6
n_bits = 64
[components.klsh_relations.classifier]
@misc = "spacy-klsh.linear.v1"
inputs = "codes"
[training]
[initialize]
[initialize.components]
[initialize.components.klsh_relations]
optimize = "references"
"""


def trained_with(docs=None, **settings):
    nlp = sentences.build(**FEW)
    component = nlp.get_pipe("klsh_relations")
    docs = corpus(nlp.vocab, 28) if docs is None else docs
    component.initialize(lambda: examples(docs), nlp=nlp, **settings)
    return nlp, component


@pytest.fixture(scope="module")
def optimized():
    """A pipeline of which everything was learned that can be."""
    return trained_with(optimize="all")


@pytest.fixture
def unlabelled(tmp_path):
    """Sentences that training does not have, without relations."""
    nlp = sentences.build()
    patterns = [f"P:nsubj:1 {verb}:ROOT:1 O:dobj:1" for verb in ("bought", "left", "likes")]
    docs = [parsed(nlp.vocab, pattern) for pattern in patterns for _ in range(3)]
    path = tmp_path / "unlabelled.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.mark.parametrize("what", STAGES)
def test_the_trace_holds_every_proposal(what):
    _, component = trained_with(optimize=what)
    kinds = {record["stage"] for record in component.trace} - {"check"}
    assert kinds == set(STAGES[what])
    checked = [record["of"] for record in component.trace if record["stage"] == "check"]
    assert set(checked) == set(STAGES[what])
    doc = component(parsed(component.vocab, PATTERNS[0][0]))
    assert [relation.label for relation in doc._.relations] == ["FOUNDED"]


def test_without_optimization_everything_is_as_it_was():
    one, two = trained_with(), trained_with(optimize="none")
    assert one[1].to_bytes() == two[1].to_bytes() and one[1].trace == []


def test_what_was_learned_survives(optimized, tmp_path):
    nlp, component = optimized
    accepted = [r["of"] for r in component.trace if r["stage"] == "check" and r["accepted"]]
    assert accepted, "nothing was learned, so that nothing can be lost"
    docs = [bare(doc) for doc in corpus(nlp.vocab, 9)]
    expected = answers(nlp.pipe(doc.copy() for doc in docs))
    nlp.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        restored = other.get_pipe("klsh_relations")
        assert restored.hashing.kernel == component.hashing.kernel
        assert restored.kernel == component.kernel
        assert restored.to_bytes() == component.to_bytes()
        again = DocBin(docs=docs).get_docs(other.vocab)
        assert answers(other.pipe(again)) == expected


def test_learned_parameters_are_no_settings(optimized):
    """A model with them loads into the component of its config, and training anew forgets them."""
    _, component = optimized
    fresh = sentences.build(**FEW).get_pipe("klsh_relations")
    fresh.hashing.kernel = component.hashing.kernel
    fresh.initialize(lambda: examples(corpus(fresh.vocab, 28)))
    assert fresh.hashing.kernel == fresh.kernel == component.kernel


@pytest.mark.parametrize(
    "learned", [{"decay": 3.0}, {"view": "words"}, {"sigma": {"a": "b"}}, ["decay"], {"nothing": 1}]
)
def test_forged_parameters_are_refused(optimized, learned):
    content = optimized[1].to_bytes()
    fresh = sentences.build(**FEW).get_pipe("klsh_relations")
    with pytest.raises(ValueError, match="damaged"):
        fresh.from_bytes(signed(files(content), learned=learned))
    assert not fresh.labels


def test_references_may_be_unlabelled_and_are_shown_so(unlabelled, tmp_path):
    nlp, component = trained_with(
        optimize="references", objective="mutual_information", unlabelled=str(unlabelled)
    )
    assert None in component.reference_labels
    rows = component.hashing.reference_rows_
    assert [named is None for named in component.reference_labels] == (rows < 0).tolist()
    component.n_evidence = 6
    doc = nlp(parsed(nlp.vocab, "P:nsubj:1 founded:ROOT:1 O:dobj:1"))
    nearest = doc._.relations[0].evidence.nearest
    assert None in [near.label for near in nearest]
    assert "not labelled" in str(doc._.relations[0].evidence)
    assert "not labelled" in render(doc, doc._.relations, doc.ents)
    nlp.to_disk(tmp_path / "model")
    restored = spacy.load(tmp_path / "model").get_pipe("klsh_relations")
    assert restored.reference_labels == component.reference_labels


def test_unlabelled_docs_without_a_candidate_are_refused(tmp_path):
    nlp = sentences.build()
    path = tmp_path / "empty.spacy"
    DocBin(docs=[parsed(nlp.vocab, "P:ROOT:0")]).to_disk(path)
    with pytest.raises(ValueError, match=r"1 Docs without any candidate; give it entities.*PERSON"):
        trained_with(optimize="references", unlabelled=str(path))
    with pytest.raises(ValueError, match=r"no \.spacy file"):
        trained_with(optimize="references", unlabelled=str(tmp_path / "none.spacy"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimize": "bits"}, "optimize is 'bits'; choose one of none, references"),
        ({"optimize": "sigma", "objective": "f1"}, "objective is 'f1'; choose one of leave_one"),
        ({"unlabelled": "more.spacy"}, r"'more.spacy', but with optimize = none nobody"),
    ],
)
def test_unknown_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        trained_with(**settings)


def test_both_measures_and_several_labels_a_pair():
    for objective in ("leave_one_out", "mutual_information"):
        nlp = sentences.build(**FEW, exclusive_classes=False)
        component = nlp.get_pipe("klsh_relations")
        component.initialize(
            lambda: examples(corpus(nlp.vocab, 14)),  # noqa: B023
            optimize="references",
            objective=objective,
        )
        assert len(component.trace) == 6 + 1


def test_sets_of_labels_are_numbered():
    y = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 1, 1]], bool)
    ids = label_ids(y)
    assert ids[1] == ids[3] and len(set(ids.tolist())) == 3
    assert label_words(None) == "not labelled"


def test_the_config_of_spacy_train_sets_it():
    nlp = spacy.util.load_model_from_config(load_config_from_str(CONFIG), auto_fill=True)
    docs = corpus(nlp.vocab, 14)
    nlp.initialize(lambda: [Example(bare(doc), doc) for doc in docs])
    component = nlp.get_pipe("klsh_relations")
    assert [record["stage"] for record in component.trace] == ["references"] * 6 + ["check"]
