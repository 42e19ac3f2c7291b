"""Several labels a pair, symmetric labels and negative labels, from training to scores."""

import pytest
from pipeline import sentences
from pipeline.sentences import PATTERNS, annotated, build, corpus, parsed, places

from spacy_klsh import Relation
from spacy_klsh.pipeline.labels import DIRECTIONS

FOUNDED, IGNORED = PATTERNS[0][0], PATTERNS[1][0]


def with_labels(docs, change):
    """The Docs with what `change` makes of each gold relation."""
    for doc in docs:
        doc._.relations = [new for old in doc._.relations for new in change(old)]
    return docs


def both(relation):
    """Who founded a firm leads it, too."""
    if relation.label == "FOUNDED":
        yield Relation("LEADS", head=relation.head, tail=relation.tail)
    yield relation


@pytest.fixture(scope="module", params=DIRECTIONS)
def multilabel(request):
    nlp = build(exclusive_classes=False, direction=request.param)
    return sentences.train(nlp, with_labels(corpus(nlp.vocab), both))


def test_a_pair_gets_both_labels(multilabel):
    relations = multilabel(parsed(multilabel.vocab, FOUNDED))._.relations
    assert sorted(relation.label for relation in relations) == ["FOUNDED", "LEADS"]
    assert len({(r.head.start, r.tail.start) for r in relations}) == 1
    assert multilabel(parsed(multilabel.vocab, IGNORED))._.relations == ()
    assert set(multilabel.get_pipe("klsh_relations").report) <= {"cross_sentence"}


def test_gold_with_two_labels_is_scored_as_two(multilabel):
    docs = with_labels(corpus(multilabel.vocab, 7), both)
    scores = multilabel.evaluate(sentences.examples(docs))
    assert scores["rel_micro_f"] > 0.9
    assert set(scores["rel_per_type"]) == {"FOUNDED", "LEADS", "WORKS_FOR"}


def test_several_labels_survive_saving(multilabel, tmp_path):
    component = multilabel.get_pipe("klsh_relations")
    docs = [parsed(multilabel.vocab, pattern) for pattern, _ in PATTERNS]
    expected = [places(multilabel(doc)._.relations) for doc in docs]
    other = build(exclusive_classes=False, direction=component.scheme.direction)
    other.get_pipe("klsh_relations").from_bytes(component.to_bytes())
    assert [places(other(doc)._.relations) for doc in docs] == expected
    with pytest.raises(ValueError, match="other settings: exclusive_classes was False"):
        build(direction=component.scheme.direction).get_pipe("klsh_relations").from_bytes(
            component.to_bytes()
        )


def test_with_exclusive_classes_the_second_label_is_counted():
    nlp = build()
    component = sentences.train(nlp, with_labels(corpus(nlp.vocab), both)).get_pipe(
        "klsh_relations"
    )
    n_founded = sum(
        label == "FOUNDED" for d in corpus(nlp.vocab) for label, *_ in places(d._.relations)
    )
    assert component.report["second_label"] == n_founded > 0


def one_way(relation):
    """Whoever works for somebody is their colleague; annotators write either order."""
    if relation.label == "WORKS_FOR":
        yield Relation("COLLEAGUE", head=relation.tail, tail=relation.head)
    else:
        yield relation


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_symmetric_label_is_found_once_whatever_order_was_annotated(direction):
    nlp = build(symmetric_labels=["COLLEAGUE"], direction=direction)
    sentences.train(nlp, with_labels(corpus(nlp.vocab), one_way))
    for pattern in (PATTERNS[2][0], PATTERNS[6][0]):
        (relation,) = nlp(parsed(nlp.vocab, pattern))._.relations
        assert relation.label == "COLLEAGUE"
        assert relation.head.start < relation.tail.start
    docs = with_labels(corpus(nlp.vocab, 7), one_way)
    turned = with_labels(
        corpus(nlp.vocab, 7),
        lambda r: [
            Relation("COLLEAGUE", head=r.head, tail=r.tail) if r.label == "WORKS_FOR" else r
        ],
    )
    first, second = (nlp.evaluate(sentences.examples(gold)) for gold in (docs, turned))
    assert first["rel_micro_f"] == second["rel_micro_f"] > 0.9


def test_a_label_annotated_in_one_direction_only_is_learned_in_that_one():
    nlp = build(direction="label")
    docs = [annotated(nlp.vocab, i, j) for i in (0, 1) for j in (5, 6, 1)]
    sentences.train(nlp, docs)
    (relation,) = nlp(parsed(nlp.vocab, FOUNDED))._.relations
    assert (relation.label, relation.head.label_) == ("FOUNDED", "PERSON")


def test_negative_labels_teach_nothing_and_are_never_scored():
    nlp, plain = build(negative_labels=["NOT"]), build()
    docs = corpus(nlp.vocab)
    expected = sentences.train(plain, docs).get_pipe("klsh_relations")
    marked = corpus(nlp.vocab)
    for doc in marked:
        first, second, *_ = doc.ents
        taken = {(r.head.start, r.tail.start) for r in doc._.relations}
        if (first.start, second.start) not in taken:
            doc._.relations = [*doc._.relations, Relation("NOT", head=first, tail=second)]
    component = sentences.train(nlp, marked).get_pipe("klsh_relations")
    assert any("NOT" in str(doc._.relations_data) for doc in marked)
    assert component.labels == expected.labels == ("FOUNDED", "WORKS_FOR")
    assert (component.hashing.subsets_ == expected.hashing.subsets_).all()
    assert component.thresholds == expected.thresholds
    scores, plain_scores = (
        n.evaluate(sentences.examples(d)) for n, d in ((nlp, marked), (plain, docs))
    )
    assert scores["rel_per_type"] == plain_scores["rel_per_type"]


def test_fewer_gold_entities_lower_the_score(trained):
    docs = corpus(trained.vocab, 7)
    whole = trained.evaluate(sentences.examples(docs))
    some = sentences.examples(docs)
    for example in some:
        example.predicted.ents = example.predicted.ents[:2]
    part = trained.evaluate(some)
    assert 0 < part["rel_micro_f"] < whole["rel_micro_f"]
    assert part["rel_candidate_recall"] < whole["rel_candidate_recall"] == 1
