import json

from checking.made import TOKENIZER, annotated, counted, pair, pairs_block
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.relations import write_records


def test_what_docs_hold():
    docs = [
        annotated(
            "Ada met Bo . Cy ran",
            [(0, 1, "P"), (2, 3, "P"), (4, 5, "Q")],
            [("R", 0, 1), ("S", 1, 0)],
            starts=(0, 4),
        ),
        pair(None, starts=None),
        annotated("", [], None),
    ]
    counts = counted(docs)
    assert (counts.documents, counts.tokens, counts.sentences) == (3, 10, 3)
    assert (counts.unannotated, counts.unparsed, counts.unsplit) == (1, 2, 1)
    assert counts.entities == {"P": 4, "Q": 1}
    assert counts.relations == counts.gold == {"R": 1, "S": 1}
    assert counts.orders == {"R": {"head, tail": 1}, "S": {"tail, head": 1}}
    assert counts.positives == {"R": 1, "S": 1}
    assert (counts.candidates, counts.related) == (4, 2)
    assert counts.skipped == {"cross_sentence": 2}
    assert counts.per_document == {2: 1, 0: 2}


def test_what_is_said_of_the_same_spans():
    entities = [(0, 1, "P"), (1, 2, "P"), (2, 3, "P")]
    relations = [("R", 0, 1), ("R", 1, 0), ("S", 0, 1), ("S", 1, 2), ("R", 2, 1)]
    doc = annotated("a b c", entities, relations)
    counts = counted([doc])
    assert counts.both_ways == {"R": 1} and counts.several_labels == {"R + S": 1}
    assert counted([doc], direction="none").several_labels == {"R + S": 2}


def test_symmetric_and_negative_labels():
    entities = [(0, 1, "P"), (1, 2, "P")]
    doc = annotated("a b", entities, [("R", 0, 1), ("R", 1, 0), ("No", 1, 0)])
    counts = counted([doc], symmetric_labels=["R"], negative_labels=["No"])
    assert counts.relations == {"R": 2, "No": 1} and counts.gold == {"R": 1}
    assert counts.positives == {"R": 2} and counts.candidates == counts.related == 2


def test_labels_that_compete_for_a_pair():
    def clashes(*relations, **config):
        entities = [(i, i + 1, "P") for i in range(3)]
        return counted([annotated("a b c", entities, relations)], **config).several_labels

    assert clashes(("R", 0, 1), ("S", 0, 1), ("R", 1, 2)) == {"R + S": 1}
    assert clashes(("R", 0, 1), ("S", 1, 0)) == {}
    assert clashes(("R", 1, 0), ("S", 0, 1), symmetric_labels=["S"]) == {"R + S": 1}
    assert clashes(("S", 0, 1), ("T", 1, 0), symmetric_labels=["S", "T"]) == {"S + T": 1}
    assert clashes(("S", 0, 1), ("S", 1, 0), symmetric_labels=["S"]) == {}
    assert clashes(("R", 0, 1), ("NOT", 0, 1), negative_labels=["NOT"]) == {}


def test_texts_of_several_docs():
    counts = counted([pair(), pair("S"), pair(words="Ada met Cy ."), annotated("", [], [])] * 2)
    assert counts.repeated_texts == 4  # six in three Docs; the empty one is no text


def test_tokens_that_the_tokenizer_does_not_make():
    words = ["p", "53", "met", "Bo"]
    assert counted([annotated(words, [(1, 2, "P"), (3, 4, "P")], [])]).cut_tokens == 0
    doc = Doc(TOKENIZER.vocab, words=words, spaces=[False, True, True, False])
    doc.ents = [Span(doc, 1, 2, label="P"), Span(doc, 3, 4, label="P")]
    counts = counted([doc])
    assert (counts.cut_tokens, counts.cut_entities) == (1, 1)


def test_relations_that_cannot_be_read():
    good, bad, worse = pair(), pair(id="d2"), pair()
    bad._.relations_data = [{"label": "R"}]
    worse._.relations_data = [7]
    counts = counted([good, bad, worse])
    assert counts.broken == 2 and counts.gold == {"R": 1} and counts.unannotated == 0
    assert counts.examples["broken"][0].startswith("d2: KeyError")


def test_examples_are_few():
    docs = [annotated("a b", [(0, 1, "P"), (1, 2, "P")], [("R", 0, 1)], starts=(0, 1))] * 9
    assert len(counted(docs).examples["cross_sentence"]) == 5


def test_everything_is_json():
    doc = pair()
    write_records(doc, [])
    counts = counted([pair(), doc, pair("S")], **pairs_block(entity_pairs=[["Q", "P"]]))
    written = json.loads(json.dumps(counts.to_dict()))
    assert written["lost"] == {"R": {"entity_labels": 1}, "S": {"entity_labels": 1}}
    assert written["per_document"] == {"min": 0, "median": 1, "max": 1}
    assert written["skipped"] == {"entity_labels": 3} and written["repeated_texts"] == 2
    assert counted([]).to_dict()["per_document"] == {"min": 0, "median": 0, "max": 0}


def test_kinds_of_candidates_are_counted_with_what_is_related():
    entities = [(0, 1, "P"), (2, 3, "P"), (0, 3, "P"), (4, 5, "P")]
    docs = [
        annotated("Ada met ada or Bo", entities, links, key="e")
        for links in ([("R", 0, 1), ("R", 0, 2), ("S", 0, 2)], [("R", 0, 3)])
    ]
    kinds = counted(
        docs, exclusive_classes=False, direction="none", **pairs_block(spans_key="e")
    ).to_dict()["kinds"]
    assert kinds == {
        "overlapping": {"candidates": 4, "related": 1, "positives": {"R": 1, "S": 1}},
        "same_text": {"candidates": 2, "related": 1, "positives": {"R": 1, "S": 0}},
        "other": {"candidates": 6, "related": 1, "positives": {"R": 1, "S": 0}},
    }
