import json
import pickle

import numpy as np
import pytest
from pipeline import sentences
from pipeline.sentences import PATTERNS, bare, build, parsed
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_klsh import Relation
from spacy_klsh.pipeline.comparison import compare, judge
from spacy_klsh.pipeline.evidence import Evidence
from spacy_klsh.pipeline.explanation import explain, near_misses
from spacy_klsh.views import take

FOUNDED, WORKS_FOR = PATTERNS[0][0], PATTERNS[2][0]
DATA_KEYS = {"label", "score", "arguments"}


def all_evidence(docs):
    return [doc._.relations_evidence for doc in docs]


def attached(nlp, docs):
    """Every relation found in `docs`, with its Doc."""
    found = [(doc, relation) for doc in nlp.pipe(docs) for relation in doc._.relations]
    assert len(found) > 5
    return found


def row_of(component, doc, relation):
    """Views of the candidate that the relation was made of."""
    (candidates,), views = judge(component, [doc])
    head, tail = ([span.start, span.end] for span in (relation.head, relation.tail))
    rows = candidates.spans.tolist()
    row = rows.index(head + tail if head + tail in rows else tail + head)
    return take(views, [row])


def test_the_path_is_that_of_the_candidate(trained, component, docs):
    for doc, relation in attached(trained, docs):
        words = row_of(component, doc, relation)["path"].words(0)
        assert relation.evidence.path == tuple(words)


def test_the_vote_is_the_probabilities_of_the_candidate(trained, component, docs):
    for doc, relation in attached(trained, docs):
        (expected,) = component.probabilities(row_of(component, doc, relation)).tolist()
        labels = [label for label, _ in component.scheme.classes]
        vote = relation.evidence.vote
        assert {label: vote.get(label, 0.0) for label in labels} == dict(
            zip(labels, expected, strict=True)
        )
        assert vote[relation.label] == relation.score
        assert list(vote.values()) == sorted(vote.values(), reverse=True)
        assert all(vote.values())


def with_settings(trained, **config):
    """The trained component again with settings that training does not depend on."""
    nlp = build(**config)
    nlp.get_pipe("klsh_relations").from_bytes(trained.get_pipe("klsh_relations").to_bytes())
    return nlp


def naive_nearest(component, views, label, n):
    """(similarity, label, path) of the nearest references, and of the nearest of `label`."""
    (row,) = component.hashing.similarities(views).tolist()
    path = component.hashing.reference_["path"]
    labels = [", ".join(names) for names in component.reference_labels]
    order = sorted((j for j in range(len(row)) if row[j] > 0), key=lambda j: (-row[j], j))
    shown = {*order[:n], *[j for j in order if labels[j] == label][:1]}
    return [(row[j], labels[j], tuple(path.words(j))) for j in order if j in shown]


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_the_nearest_are_those_of_the_gram_row(trained, docs, n):
    nlp = with_settings(trained, n_evidence=n)
    component = nlp.get_pipe("klsh_relations")
    for doc, relation in attached(nlp, docs):
        views = row_of(component, doc, relation)
        found = [(near.similarity, near.label, near.path) for near in relation.evidence.nearest]
        assert found == naive_nearest(component, views, relation.label, n)


def test_the_nearest_of_the_own_label_is_there_in_any_case(trained, docs):
    nlp = with_settings(trained, n_evidence=1, threshold=0.0)
    found = [relation for _, relation in attached(nlp, docs)]
    labels = [[near.label for near in relation.evidence.nearest] for relation in found]
    assert all(relation.label in seen for relation, seen in zip(found, labels, strict=True))
    assert {len(seen) for seen in labels} == {1, 2}


def test_relations_of_one_path_show_references_of_their_own_labels(trained, component, docs):
    candidates, views = judge(component, [docs[0]] * 4)
    compared = compare(component, views)
    labels = [*component.labels[:2]] * 2
    first = component.scheme.attached(
        candidates, compared.probabilities, dict.fromkeys(component.labels, 0.0)
    )
    named = [
        [each._replace(record=each.record._replace(label=label)) for each in part]
        for part, label in zip(first, labels, strict=True)
    ]
    evidence = explain(component, compared, candidates, named)
    for part, label, found in zip(named, labels, evidence, strict=True):
        for each, data in zip(part, found, strict=True):
            nearest = [tuple(near[:3]) for near in Evidence.from_data(data).nearest]
            expected = naive_nearest(component, take(views, [each.row]), label, 3)
            assert nearest == [(name, similarity, path) for similarity, name, path in expected]
    assert evidence[0] == evidence[2] != evidence[1]


def test_matches_name_equal_symbols_without_word_vectors(trained, docs):
    for _, relation in attached(trained, docs):
        for near in relation.evidence.nearest:
            assert near.matches
            for own, reference, similarity, part in near.matches:
                column = {"edge": 0, "node": 1}[part]
                assert relation.evidence.path[own][column] == near.path[reference][column]
                assert similarity == 1


def test_similar_words_match_by_their_vectors():
    nlp = sentences.with_vectors(build())
    docs = sentences.corpus(nlp.vocab)
    sentences.train(nlp, docs)
    doc = nlp(parsed(nlp.vocab, FOUNDED.replace("founded", "hired")))
    soft = [
        ((relation.evidence.path[match.own][1], near.path[match.reference][1]), match.similarity)
        for relation in doc._.relations
        for near in relation.evidence.nearest
        for match in near.matches
        if match.similarity < 1
    ]
    cosine = 1 / np.sqrt(2)
    expected = (cosine - 0.4) / 0.6 * cosine
    assert {words for words, _ in soft} == {("lemma=hired", "lemma=founded")}
    assert [similarity for _, similarity in soft] == pytest.approx([expected] * len(soft))


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_evidence_does_not_depend_on_the_batch_size(trained, docs, batch_size):
    expected = all_evidence(trained(bare(doc)) for doc in docs)
    found = trained.pipe(map(bare, docs), batch_size=batch_size)
    assert all_evidence(found) == expected and any(expected)


def test_evidence_does_not_depend_on_the_order(trained, docs):
    expected = all_evidence(trained.pipe(map(bare, docs)))
    assert all_evidence(trained.pipe(map(bare, docs[::-1])))[::-1] == expected


def test_stored_relations_keep_their_keys(trained, docs):
    for doc in trained.pipe(docs):
        assert all(set(relation) == DATA_KEYS for relation in doc._.relations_data)


def through_bytes(doc):
    return Doc(Vocab()).from_bytes(doc.to_bytes())


def through_docbin(doc):
    content = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return next(DocBin().from_bytes(content).get_docs(Vocab()))


def through_pickle(doc):
    return pickle.loads(pickle.dumps(doc))


def through_json(doc):
    names = ["relations_data", "relations_evidence"]
    return Doc(Vocab()).from_json(json.loads(json.dumps(doc.to_json(underscore=names))))


TRAVELS = [through_bytes, through_docbin, through_pickle, through_json, Doc.copy]


@pytest.mark.parametrize("travel", TRAVELS)
def test_evidence_survives(trained, travel):
    doc = trained(parsed(trained.vocab, FOUNDED, WORKS_FOR))
    expected = [relation.evidence for relation in doc._.relations]
    assert len(expected) == 2 and all(expected)
    found = travel(doc)
    assert [relation.evidence for relation in found._.relations] == expected


def test_evidence_comes_from_other_processes(trained, docs):
    expected = all_evidence(trained.pipe(map(bare, docs)))
    assert all_evidence(trained.pipe(map(bare, docs), n_process=2, batch_size=2)) == expected


def plain(value):
    """Whether `value` is of nothing but plain lists, dicts, strings and numbers."""
    if type(value) is dict:
        return all(type(key) is str and plain(item) for key, item in value.items())
    return all(map(plain, value)) if type(value) is list else type(value) in (str, float, int)


def test_stored_evidence_is_plain_and_parallel(trained, docs):
    for doc in trained.pipe(docs):
        assert plain(doc._.relations_evidence)
        assert len(doc._.relations_evidence) == len(doc._.relations_data)


def test_merging_tokens_afterwards_keeps_the_evidence(trained):
    doc = trained(parsed(trained.vocab, FOUNDED))
    (before,) = doc._.relations
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert [relation.evidence for relation in doc._.relations] == [before.evidence]


def test_without_n_evidence_nothing_is_stored_and_the_relations_are_the_same(trained, docs):
    nlp = with_settings(trained, n_evidence=0)
    found = list(nlp.pipe(map(bare, docs)))
    assert all_evidence(found) == [None] * len(docs)
    assert sentences.answers(found) == sentences.answers(trained.pipe(map(bare, docs)))
    assert not any(relation.evidence for doc in found for relation in doc._.relations)


@pytest.mark.parametrize("n", [-1, 1.5, "3", None])
def test_n_evidence_is_a_number_of_references(component, n):
    with pytest.raises(ValueError, match="n_evidence"):
        build(n_evidence=n)
    with pytest.raises(ValueError, match="give a number of references"):
        sentences.by_hand(component, n_evidence=n)


def test_gold_relations_have_no_evidence(trained):
    doc = trained(parsed(trained.vocab, FOUNDED))
    (found,) = doc._.relations
    doc._.relations = [found]
    assert doc._.relations_evidence is None
    (gold,) = doc._.relations
    assert gold.evidence is None and gold == found
    assert Relation("X", head=doc[0:1]).evidence is None


@pytest.mark.parametrize("change", [list.clear, lambda data: data.append(data[0])])
def test_evidence_that_does_not_fit_any_more_is_not_shown(trained, change):
    doc = trained(parsed(trained.vocab, FOUNDED))
    change(doc._.relations_evidence)
    assert [relation.evidence for relation in doc._.relations] == [None]


def test_evidence_stays_with_its_relation_if_another_cannot_be_read(trained):
    doc = trained(parsed(trained.vocab, FOUNDED, WORKS_FOR))
    expected = doc._.relations[1].evidence
    doc._.relations_data[0]["arguments"][0]["start"] = 900
    (left,) = doc._.relations
    assert left.label == "WORKS_FOR" and left.evidence == expected


@pytest.fixture(scope="module", params=["ordered", "label", "none"])
def directed(request):
    nlp = build(direction=request.param)
    return sentences.train(nlp), request.param


def test_every_direction_has_evidence_for_its_own_order(directed):
    nlp, direction = directed
    component = nlp.get_pipe("klsh_relations")
    turned = parsed(nlp.vocab, PATTERNS[4][0])
    for doc in (nlp(parsed(nlp.vocab, FOUNDED)), nlp(turned)):
        (relation,) = doc._.relations
        evidence = relation.evidence
        assert evidence.path == tuple(row_of(component, doc, relation)["path"].words(0))
        assert evidence.vote["FOUNDED"] == relation.score == max(evidence.vote.values())
        assert sum(evidence.vote.values()) == pytest.approx(1)
        others = set(evidence.vote) - {"", *component.labels}
        assert others <= {f"{label} (reversed)" for label in component.labels}
        assert direction == "label" or not others


def test_the_other_order_has_a_vote_of_its_own():
    nlp = sentences.train(build(direction="label", threshold=0.0))
    component = nlp.get_pipe("klsh_relations")
    doc = nlp(parsed(nlp.vocab, PATTERNS[4][0]))
    (relation,) = doc._.relations
    assert relation.head.start > relation.tail.start
    (expected,) = component.probabilities(row_of(component, doc, relation)).tolist()
    named = {
        (label if tail_first or not label else f"{label} (reversed)"): p
        for (label, tail_first), p in zip(component.scheme.classes, expected, strict=True)
    }
    assert relation.evidence.vote == {label: p for label, p in named.items() if p}


def test_equal_spans_in_a_group_have_evidence_too(trained):
    group = {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "names"}
    nlp = with_settings(trained, candidates=group, threshold=0.0)
    doc = parsed(nlp.vocab, FOUNDED)
    doc.spans["names"] = [*doc.ents, *doc.ents]
    relations = nlp(doc)._.relations
    assert len(relations) == 12
    for relation in relations:
        assert relation.evidence.vote.get(relation.label, 0.0) == relation.score


def test_near_misses_are_the_best_of_what_was_not_attached(trained):
    nlp = with_settings(trained, threshold=0.9)
    component = nlp.get_pipe("klsh_relations")
    doc = nlp(parsed(nlp.vocab, *(pattern for pattern, _ in PATTERNS)))
    before = doc.to_bytes()
    misses = near_misses(component, doc, limit=1000)
    assert doc.to_bytes() == before and misses and doc._.relations
    _, views = judge(component, [doc])
    best = component.probabilities(views)[:, 1:].max(axis=1).tolist()
    scores = [miss.relation.score for miss in misses]
    assert (
        scores
        == sorted(scores, reverse=True)
        == sorted((p for p in best if 0 < p < np.float32(0.9)), reverse=True)
    )
    for relation, threshold in misses:
        assert relation.score < threshold == 0.9
        assert relation.evidence.vote[relation.label] == relation.score
    assert near_misses(component, doc, limit=1) == misses[:1]
    assert near_misses(component, doc, limit=0) == []


def test_a_doc_without_pairs_has_no_near_misses(trained, component):
    assert near_misses(component, trained(parsed(trained.vocab, "P:ROOT:0"))) == []
