"""The scripts of the project on Docs made by hand."""

import numpy as np
import ppi
import pytest
import spacy
from pipeline import sentences
from sklearn.metrics import f1_score, roc_auc_score
from spacy.training import Example
from yardstick import Yardstick

from spacy_klsh import Relation


@pytest.fixture(scope="module")
def examples():
    """Undirected relations of one label between spans of a group."""
    nlp = spacy.blank("en")
    docs = sentences.corpus(nlp.vocab)
    for doc in docs:
        doc._.relations = [Relation("PPI", head=r.head, tail=r.tail) for r in doc._.relations]
        doc.spans["entities"] = doc.ents
    return nlp, [Example(nlp.make_doc(""), doc) for doc in docs]


def test_scores_of_a_seed_are_those_of_its_answers(examples):
    nlp, docs = examples
    run = ppi.measured(nlp, [(docs[:10], docs[10:])], ppi.SETTINGS, 0)
    component = nlp.create_pipe("klsh_relations", config=ppi.SETTINGS)
    component.initialize(lambda: docs[:10])
    related, scores = ppi.answers(component, docs[10:])
    assert related.sum() == sum(len(e.reference._.relations) for e in docs[10:])
    found = scores >= component.thresholds["PPI"]
    assert run["precision"] == pytest.approx((found & related).sum() / found.sum())
    assert run["recall"] == pytest.approx((found & related).sum() / related.sum())
    assert run["auc"] == pytest.approx(roc_auc_score(related, scores))
    component.match_positive_share([e.reference for e in docs[10:]], float(related.mean()))
    assert run["f1_share"] == f1_score(related, scores >= component.thresholds["PPI"])
    assert isinstance(related, np.ndarray) and run["train_s"] > 0


def test_the_yardstick_answers_for_the_same_candidates(examples):
    nlp, docs = examples
    run = ppi.yardstick(nlp, [(docs[:10], docs[10:])], ppi.SETTINGS)
    component = nlp.create_pipe("klsh_relations", config=ppi.SETTINGS)
    data, new = (ppi.collect(component, part, None) for part in (docs[:10], docs[10:]))
    model = Yardstick(data, ppi.n_grams(docs[:10], data))
    scores = model.predict_proba(ppi.n_grams(docs[10:], new))[:, 1]
    assert run == ppi.figures([(new.y[:, 1], scores, model.thresholds["PPI"])])
    assert run["auc"] == pytest.approx(roc_auc_score(new.y[:, 1], scores)) and run["auc"] > 0.5


def test_each_part_has_a_threshold_of_its_own():
    first = np.array([True, False, False, False]), np.array([0.4, 0.3, 0.2, 0.1]), 0.25
    second = np.array([True, True]), np.array([0.9, 0.8]), 0.85
    found = ppi.figures([first, second])
    assert (found["precision"], found["recall"]) == pytest.approx((2 / 3, 2 / 3))
    assert found["f1_share"] == 1 and found["auc"] == 1


def test_a_summary_is_the_mean_over_the_seeds():
    runs = [{"f1": 0.2, "auc": 0.5}, {"f1": 0.4, "auc": 0.7}]
    expected = {"f1": 0.3, "auc": 0.6, "f1_sd": 0.02**0.5, "n_seeds": 2}
    assert ppi.summary(runs) == pytest.approx(expected)


def test_what_training_drops_is_not_found():
    nlp = spacy.blank("en")
    docs = [Example(nlp.make_doc(""), doc) for doc in sentences.corpus(nlp.vocab)]
    for example in docs:
        doc = example.reference
        doc._.relations = [Relation("PPI", head=r.head, tail=r.tail) for r in doc._.relations]
        person = next(span for span in doc.ents if span.label_ == "PERSON")
        doc.spans["entities"] = [*doc.ents, doc[person.start : person.end + 1]]
    component = nlp.create_pipe("klsh_relations", config=ppi.SETTINGS)
    component.initialize(lambda: docs)
    component.dropped = frozenset({"overlapping"})
    related, scores = ppi.answers(component, docs)
    overlapping = ppi.collect(component, docs, None).of_kinds({"overlapping"})
    assert overlapping.sum() == len(docs) and not scores[overlapping].any()
    assert scores[~overlapping].any() and len(related) == len(scores)
