"""Features of candidates within the component."""

import numpy as np
import pytest
import spacy
from pipeline import sentences

from spacy_klsh import Relation

BLOCK = {"@misc": "spacy-klsh.features.v1", "width": 4096, "max_lengths": {"path": 2, "between": 3}}
LINEAR = {"@misc": "spacy-klsh.linear.v1", "inputs": "features"}


def build(**config):
    return sentences.build(**{"features": BLOCK, "classifier": LINEAR, **config})


@pytest.fixture(scope="module")
def trained():
    return sentences.train(build())


def test_a_saved_component_gives_equal_answers(trained, tmp_path):
    docs = [sentences.bare(doc) for doc in sentences.corpus(trained.vocab)]
    expected = sentences.answers(trained.pipe(doc.copy() for doc in docs))
    assert sum(len(found) for found, _ in expected) > 10
    trained.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), build().from_bytes(trained.to_bytes())):
        assert sentences.answers(other.pipe(doc.copy() for doc in docs)) == expected


@pytest.mark.parametrize("size", [1, 3, 100])
def test_answers_do_not_depend_on_the_batch(trained, size):
    docs = [sentences.bare(doc) for doc in sentences.corpus(trained.vocab)]
    alone = sentences.answers(trained(doc.copy()) for doc in docs)
    assert sentences.answers(trained.pipe((d.copy() for d in docs), batch_size=size)) == alone


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({**BLOCK, "width": 4097}, "features was .*4096.* is .*4097"),
        ({**BLOCK, "max_lengths": {"path": 2, "between": 2}}, "features was .*3.* is .*2"),
        ({**BLOCK, "max_lengths": {"path": 2}}, "features was .*between"),
        (None, "features was .* is None now"),
    ],
)
def test_other_features_than_in_training_are_refused(trained, features, message):
    component = build(features=features).get_pipe("klsh_relations")
    with pytest.raises(ValueError, match=f"trained with other settings: {message}"):
        component.from_bytes(trained.get_pipe("klsh_relations").to_bytes())
    assert component.labels == ()


def test_another_window_than_in_training_is_refused(trained):
    views = {"@misc": "spacy-klsh.views.v1", "window": 4}
    component = build(views=views).get_pipe("klsh_relations")
    with pytest.raises(ValueError, match=r"other settings: views was .*'window': 5.* is .*4"):
        component.from_bytes(trained.get_pipe("klsh_relations").to_bytes())


def test_views_that_the_features_lack_are_named_in_training():
    nlp = build(views={"@misc": "spacy-klsh.views.v1", "names": ["path"]})
    with pytest.raises(ValueError, match=r"the views \['between'\], but only \['path'\] were"):
        sentences.train(nlp)


def test_a_classifier_of_features_without_features_is_refused():
    with pytest.raises(ValueError, match=r'inputs are "features", but .* no features'):
        sentences.train(build(features=None))


def test_codes_alone_need_no_features():
    nlp = build(features=None, classifier={**LINEAR, "inputs": "codes"})
    component = sentences.train(nlp).get_pipe("klsh_relations")
    assert component.classifier.widths_ == (128, 0)


def test_words_beside_the_path_are_learned(trained):
    """Two sentences of one path, told apart by a word that hangs on neither entity."""
    component = trained.get_pipe("klsh_relations")
    default = sentences.build().get_pipe("klsh_relations")
    docs = [
        sentences.parsed(trained.vocab, f"{word}:dep:2 P:nsubj:2 met:ROOT:2 O:dobj:2")
        for word in ("Happily", "Never")
    ]
    found = [component.candidates(doc, ordered=True) for doc in docs]
    views = default.views(docs, found)
    half = len(found[0])
    assert [views["path"].words(i) for i in range(half)] == [
        views["path"].words(half + i) for i in range(half)
    ]
    full = default.features(views).dense()
    assert (full[:half] != full[half:]).any(axis=1).all()


EVENTS = {
    "@misc": "spacy-klsh.role_candidates.v1",
    "roles": {"trigger": ["EVENT"], "Agent": ["PERSON"], "Theme": ["ORG"]},
    "optional": ["Theme"],
}


def event(vocab, verb, related, dep):
    doc = sentences.parsed(vocab, f"P:nsubj:1 {verb}:ROOT:1 O:{dep}:1")
    person, firm = doc.ents
    doc.ents = [person, spacy.tokens.Span(doc, 1, 2, label="EVENT"), firm]
    roles = dict(zip(("Agent", "trigger", "Theme"), doc.ents, strict=True))
    doc._.relations = [Relation("EVENT", arguments=roles)] if related else []
    return doc


def test_events_are_learned_from_all_default_views():
    nlp = sentences.build(candidates=EVENTS, classifier={"@misc": "spacy-klsh.linear.v1"})
    kinds = [(verb, dep) for verb in ("Met", "Saw") for dep in ("dobj", "pobj", "iobj")] * 2
    docs = [event(nlp.vocab, verb, dep != "pobj", dep) for verb, dep in kinds]
    sentences.train(nlp, docs)
    found = nlp(sentences.bare(docs[0]))._.relations
    assert [set(relation.arguments) for relation in found] == [{"trigger", "Agent", "Theme"}]
    assert np.isfinite(found[0].score)
