"""The scripts of the project on Docs made by hand."""

import numpy as np
import ppi
import pytest
import spacy
from pipeline import sentences
from sklearn.metrics import roc_auc_score
from spacy.training import Example

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
    run = ppi.measured(nlp, docs[:10], docs[10:], seed=0)
    component = nlp.create_pipe("klsh_relations", config={**ppi.SETTINGS, "seed": 0})
    component.initialize(lambda: docs[:10])
    related, scores = ppi.answers(component, docs[10:])
    assert related.sum() == sum(len(e.reference._.relations) for e in docs[10:])
    found = scores >= component.thresholds["PPI"]
    assert run["precision"] == pytest.approx((found & related).sum() / found.sum())
    assert run["recall"] == pytest.approx((found & related).sum() / related.sum())
    assert run["auc"] == pytest.approx(roc_auc_score(related, scores))
    assert isinstance(related, np.ndarray) and run["train_s"] > 0


def test_a_summary_is_the_mean_over_the_seeds():
    runs = [{"f1": 0.2, "auc": 0.5}, {"f1": 0.4, "auc": 0.7}]
    expected = {"f1": 0.3, "auc": 0.6, "f1_sd": 0.02**0.5, "n_seeds": 2}
    assert ppi.summary(runs) == pytest.approx(expected)
