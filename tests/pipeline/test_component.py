import logging
from itertools import cycle, islice

import pytest
import spacy
from pipeline import sentences
from pipeline.sentences import PATTERNS, SMALL, answers, bare, build, corpus, parsed, places
from spacy.tokens import Doc, Span

FOUNDED = PATTERNS[0][0]


def unparsed(vocab):
    doc = Doc(vocab, words=["Ada", "founded", "Lumen"])
    doc.ents = [Span(doc, 0, 1, label="PERSON"), Span(doc, 2, 3, label="ORG")]
    return doc


def alone(nlp, docs):
    """Answers to every Doc on its own."""
    return answers([nlp(bare(doc)) for doc in docs])


@pytest.mark.parametrize("text", ["", "   ", "\n", "Ada slept."])
def test_a_text_without_entities_has_no_relations(trained, text):
    doc = trained(text)
    assert doc._.relations == () and doc._.relations_data == []
    assert doc._.relations_skipped == {}


def test_a_single_entity_has_no_relations(trained):
    assert answers([trained(parsed(trained.vocab, "P:ROOT:0"))]) == [([], {})]


def test_a_batch_in_which_no_doc_has_a_pair_comes_back(trained):
    stream = [trained.make_doc(""), parsed(trained.vocab, "P:ROOT:0"), trained.make_doc("a b")]
    assert list(trained.pipe(stream)) == stream
    assert answers(stream) == [([], {})] * 3


def test_an_empty_stream_is_empty(trained):
    assert list(trained.pipe([])) == []


def test_relations_of_a_new_doc_are_found(trained):
    doc = trained(parsed(trained.vocab, FOUNDED, person="Zoe", firm="Nimbus"))
    (relation,) = doc._.relations
    assert (relation.label, relation.head.text, relation.tail.text) == ("FOUNDED", "Zoe", "Nimbus")
    assert 0 < relation.score <= 1


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_answers_do_not_depend_on_the_batch_size(trained, docs, batch_size):
    found = trained.pipe(map(bare, docs), batch_size=batch_size)
    assert answers(found) == alone(trained, docs)


def test_answers_do_not_depend_on_the_order(trained, docs):
    assert answers(trained.pipe(map(bare, docs[::-1])))[::-1] == alone(trained, docs)


def test_the_same_doc_twice_in_a_batch_is_annotated_once(trained, docs):
    assert answers(trained.pipe([docs[0]] * 2)) == alone(trained, docs[:1]) * 2


def test_processing_twice_gives_the_same_not_a_double(trained, docs):
    once = answers(trained.pipe(docs))
    assert answers(trained.pipe(docs)) == once


def test_new_answers_replace_old_ones(trained, docs):
    trained(docs[0])
    assert docs[0]._.relations
    docs[0].ents = []
    assert answers([trained(docs[0])]) == [([], {})]


def test_equal_candidates_are_compared_once(copied, docs, monkeypatch):
    component = copied.get_pipe("klsh_relations")
    sizes = []

    def counting(gram, encode=component.hashing.encode):
        sizes.append(len(gram))
        return encode(gram)

    monkeypatch.setattr(component.hashing, "encode", counting)
    once, thrice = component.predict(docs), component.predict(docs * 3)
    assert sizes[0] == sizes[1] > 1
    assert thrice == once * 3


def test_pipe_asks_for_no_more_docs_than_a_batch(component, docs):
    stream = islice(cycle(docs), 1000)
    first = list(islice(component.pipe(stream, batch_size=4), 4))
    assert len(first) == 4 and len(list(stream)) == 996


def test_predict_writes_nothing(component, docs):
    before = [doc.to_bytes() for doc in docs]
    assert any(prediction.records for prediction in component.predict(docs))
    assert [doc.to_bytes() for doc in docs] == before


def test_predictions_are_what_is_written(component, docs):
    predictions = component.predict(docs)
    component.set_annotations(docs, predictions)
    for doc, prediction in zip(docs, predictions, strict=True):
        assert [(r.label, r.score) for r in doc._.relations] == [
            (r.label, r.score) for r in prediction.records
        ]
        assert doc._.relations_skipped == prediction.skipped


def test_a_doc_without_a_parse_raises_and_asks_for_a_parser(trained, docs):
    with pytest.raises(ValueError, match="add a parser"):
        list(trained.pipe([docs[0], unparsed(trained.vocab)]))
    with pytest.raises(ValueError, match="add a parser"):
        trained(unparsed(trained.vocab))


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_with_an_error_handler_the_other_docs_of_the_batch_come_back(copied, docs, batch_size):
    failed = []
    copied.set_error_handler(lambda name, pipe, docs, error: failed.append((name, docs, error)))
    bad = [unparsed(copied.vocab), unparsed(copied.vocab)]
    expected = alone(copied, docs)
    found = list(copied.pipe([*docs[:4], bad[0], *docs[4:], bad[1]], batch_size=batch_size))
    assert found == docs and answers(found) == expected
    assert [(name, docs) for name, docs, _ in failed] == [("klsh_relations", [doc]) for doc in bad]
    assert all(isinstance(error, ValueError) for *_, error in failed)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_bad_docs_may_be_skipped_counted_and_logged_once_a_kind(
    component, docs, batch_size, caplog
):
    nlp = build(on_error="skip")
    other = nlp.get_pipe("klsh_relations").from_bytes(component.to_bytes())
    expected = alone(nlp, docs)
    other.report.clear()
    bad = [unparsed(nlp.vocab), unparsed(nlp.vocab)]
    with caplog.at_level(logging.WARNING, "spacy_klsh"):
        found = list(nlp.pipe([bad[0], *docs, bad[1]], batch_size=batch_size))
        nlp(unparsed(nlp.vocab))
    assert answers(found[1:-1]) == expected
    assert answers(bad) == [([], {"UnparsedDocError": 1})] * 2
    assert other.report["UnparsedDocError"] == 3
    (record,) = caplog.records
    assert "skips Docs with UnparsedDocError" in record.message and "add a parser" in record.message


def test_an_untrained_component_is_no_doc_to_skip():
    nlp = build(on_error="skip")
    for call in (nlp, lambda text: list(nlp.pipe([text]))):
        with pytest.raises(ValueError, match=r"is not trained.*spacy_klsh.load_demo"):
            call("Ada founded Lumen.")


def test_on_error_raises_or_skips():
    with pytest.raises(ValueError, match="on_error is 'ignore'; choose raise or skip"):
        build(on_error="ignore")


@pytest.mark.parametrize("text", ["", "Ada founded Lumen."])
def test_an_untrained_component_asks_for_training(text):
    nlp = build()
    for call in (nlp, lambda text: list(nlp.pipe([text]))):
        with pytest.raises(ValueError, match=r"'klsh_relations' is not trained.*spacy train"):
            call(text)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -1, 1.5, "0.5", True, [0.5]])
def test_a_threshold_must_be_a_probability(threshold):
    with pytest.raises(ValueError, match="threshold"):
        build(threshold=threshold)


@pytest.mark.parametrize("threshold", ["0.5", True])
def test_a_threshold_is_checked_without_the_config_too(component, threshold):
    with pytest.raises(ValueError, match="give a number in"):
        sentences.by_hand(component, threshold=threshold)


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match="choose one of ordered, label, none"):
        build(direction="both")


def test_an_attr_of_somebody_else_is_refused():
    Doc.set_extension("taken", default=[])
    try:
        with pytest.raises(ValueError, match="choose another attr"):
            build(attr="taken")
    finally:
        Doc.remove_extension("taken")


@pytest.mark.parametrize(("threshold", "n"), [(0, 2), (0.0, 2), (1, 0)])
def test_a_number_in_the_config_overrides_the_chosen_thresholds(component, threshold, n):
    nlp = build(threshold=threshold)
    other = nlp.get_pipe("klsh_relations").from_bytes(component.to_bytes())
    assert other.thresholds == component.thresholds
    assert other.effective_thresholds == dict.fromkeys(component.labels, threshold)
    doc = nlp(parsed(nlp.vocab, FOUNDED))
    assert len(doc._.relations) == n


def test_each_label_has_its_own_threshold(copied):
    component = copied.get_pipe("klsh_relations")
    doc = parsed(copied.vocab, FOUNDED, PATTERNS[2][0])
    assert [r.label for r in copied(doc)._.relations] == ["FOUNDED", "WORKS_FOR"]
    component.thresholds = {"FOUNDED": 1.0, "WORKS_FOR": 0.5}
    assert [r.label for r in copied(doc)._.relations] == ["WORKS_FOR"]


def test_what_is_skipped_is_counted_on_the_doc_and_summed_in_the_report(copied, caplog):
    component = copied.get_pipe("klsh_relations")
    stream = [parsed(copied.vocab, FOUNDED, FOUNDED) for _ in range(3)]
    with caplog.at_level(logging.INFO, "spacy_klsh"):
        found = list(copied.pipe(stream))
    assert [doc._.relations_skipped for doc in found] == [{"cross_sentence": 4}] * 3
    assert component.report == {"cross_sentence": 12}
    assert len(caplog.records) == 1  # not once a Doc


def test_the_cap_on_candidates_is_counted_on_the_doc(component):
    capped = {"@misc": "spacy-klsh.entity_pairs.v1", "max_candidates": 2}
    nlp = build(candidates=capped)
    nlp.get_pipe("klsh_relations").from_bytes(component.to_bytes())
    doc = nlp(parsed(nlp.vocab, FOUNDED, FOUNDED))
    assert doc._.relations_skipped == {"cross_sentence": 4, "max_candidates": 1}
    assert len(doc._.relations) == 1


def test_strings_of_a_memory_zone_may_go(trained):
    expected = places(trained(parsed(trained.vocab, FOUNDED))._.relations)
    for _ in range(2):
        with trained.memory_zone():
            doc = trained(parsed(trained.vocab, FOUNDED.replace("founded", "zorkified")))
            data = doc._.relations_data
            del doc
        assert isinstance(data, list)
        assert places(trained(parsed(trained.vocab, FOUNDED))._.relations) == expected


def test_relations_of_a_memory_zone_outlive_it(trained):
    with trained.memory_zone():
        doc = trained(parsed(trained.vocab, FOUNDED, person="Xylomene", firm="Qwopify"))
        data = doc._.relations_data
        del doc
    (relation,) = data
    assert relation["label"] == "FOUNDED"
    assert [a["label"] for a in relation["arguments"]] == ["PERSON", "ORG"]


@pytest.fixture(scope="module", params=["ordered", "label", "none"])
def directed(request):
    """A component that tells head from tail, or does not, and what it learned from."""
    nlp = build(direction=request.param)
    docs = corpus(nlp.vocab)
    return sentences.train(nlp, docs), docs, request.param


def test_every_direction_learns_its_relations(directed):
    nlp, docs, _ = directed
    scores = nlp.evaluate(sentences.examples(docs))
    assert scores["rel_micro_f"] > 0.9 and scores["rel_candidate_recall"] == 1
    assert nlp.get_pipe("klsh_relations").labels == ("FOUNDED", "WORKS_FOR")


def test_head_and_tail_are_told_apart_unless_the_direction_is_none(directed):
    nlp, _, direction = directed
    for pattern in (FOUNDED, PATTERNS[4][0]):
        (relation,) = nlp(parsed(nlp.vocab, pattern))._.relations
        head_is_first = relation.head.start < relation.tail.start
        assert head_is_first == (pattern == FOUNDED or direction == "none")


def test_a_pair_is_two_candidates_only_if_ordered_and_doubles_labels_only_if_told(directed):
    nlp, _, direction = directed
    component = nlp.get_pipe("klsh_relations")
    doc = parsed(nlp.vocab, FOUNDED)
    views = component.views([doc], [component.candidates(doc, ordered=direction == "ordered")])
    assert component.probabilities(views).shape == (
        (2, 3) if direction == "ordered" else (1, 5 if direction == "label" else 3)
    )


def test_spans_of_a_group_may_be_arguments():
    candidates = {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "names"}
    nlp = build(candidates=candidates)
    docs = corpus(nlp.vocab)
    for doc in docs:
        doc.spans["names"], doc.ents = doc.ents, []
    scores = sentences.train(nlp, docs).evaluate(sentences.examples(docs))
    assert scores["rel_micro_f"] > 0.9


def test_it_offers_nothing_to_update(component):
    assert not component.is_trainable and not hasattr(component, "update")


def test_it_may_have_any_name():
    nlp = spacy.blank("en")
    nlp.add_pipe("klsh_relations", "links", config=SMALL)
    with pytest.raises(ValueError, match="'links' is not trained"):
        nlp("")
