import pytest
from checking.made import TOKENIZER, annotated, findings, pair, pairs_block
from spacy.tokens import Doc

# Three entities, one relation; enough of them leave nothing to find but hints.
ENTITIES = [(0, 1, "P"), (2, 3, "P"), (4, 5, "P")]


def good(n=100, label="R", **settings):
    """`n` Docs with different texts and a relation each, in either order."""
    return [
        annotated(f"Ada met Bo{i} in Cy .", ENTITIES, [(label, i % 2, 1 - i % 2)], **settings)
        for i in range(n)
    ]


def codes(found, *levels):
    return [(f.level, f.code, f.data) for f in found if f.level in (levels or ("error", "warning"))]


def test_nothing_is_wrong_with_good_data():
    found = findings(good(), good())
    assert codes(found) == [("warning", "shared_texts", "b")]
    assert codes(findings(good())) == []
    assert codes(findings(good()), "info") == [("info", "no_parse", "a")]


@pytest.mark.parametrize(
    ("docs", "config", "code", "words"),
    [
        ([], {}, "no_documents", "no Doc"),
        ([pair(None)], {}, "no_relations", "store_user_data=True"),
        ([annotated("a b", [], None)], {}, "no_relations", "no Doc has relations in doc._.links"),
        (
            [pair("No")],
            {"negative_labels": ["No"]},
            "no_relations",
            "all relations have negative labels: No 1",
        ),
        (good(starts=range(6)), {}, "no_related_pair", "none of 0 candidates is related"),
        ([pair()], {"direction": "none"}, "no_unrelated_pair", "all 1 candidates are related"),
        (good(), {"negative_labels": ["No"]}, "unknown_negative_labels", "['No'], but"),
        (good(), {"symmetric_labels": ["S"]}, "unknown_symmetric_labels", "are ['R']"),
    ],
)
def test_errors(docs, config, code, words):
    if "links" in words:
        config = {"attr": "links"}
    found = findings(docs, **config)
    assert ("error", code) in [(f.level, f.code) for f in found]
    assert found[0].level == "error"
    assert any(words in finding.message for finding in found if finding.code == code)


def test_arguments_that_are_no_entities():
    docs = good()
    docs[0].ents = docs[0].ents[1:]
    (finding,) = (f for f in findings(docs) if f.level == "error")
    assert finding.code == "no_entity" and "Doc 1: R of head 'Ada'" in finding.message
    docs = good(key="all")
    found = findings(docs)
    assert codes(found) == [("error", "no_related_pair", "a"), ("warning", "other_spans", "a")]
    assert "set candidates.spans_key = 'all'" in found[1].message
    assert codes(findings(docs, **pairs_block(spans_key="all"))) == []


def test_broken_relations():
    docs = good()
    docs[0]._.relations_data = [{}]
    (finding,) = (f for f in findings(docs) if f.level == "error")
    assert finding.code == "broken_relations" and "Doc 1: KeyError" in finding.message


@pytest.mark.parametrize(
    ("more", "config", "code", "words"),
    [
        ([annotated("a", [], None)], {}, "unannotated", "of 1 Docs were never set"),
        (
            [pair(starts=(0, 1))],
            {},
            "lost_relations",
            "1 of 101 relations have no candidate of their own: cross_sentence 1 (Doc 101: R of",
        ),
        ([pair()], pairs_block(max_candidates=5), "max_candidates", "100 candidates over the cap"),
        (
            [annotated("a b", [(0, 1, "P"), (1, 2, "P")], [("R", 0, 1), ("S", 0, 1)])],
            {},
            "several_labels",
            "(R + S 1); exclusive_classes = true keeps one",
        ),
        ([pair(words="x x x"), pair(words="x x x")], {}, "repeated_texts", "1 Docs have"),
        ([pair("S")], {}, "few_examples", "fewer than 20 relations: S 1."),
        (
            [annotated("a " * 100, [(i, i + 1, "P") for i in range(100)], [])],
            {},
            "imbalance",
            "104 unrelated candidates for each related one",
        ),
        (
            [],
            pairs_block(entity_pairs=[["P", "P"], ["P", "Q"]]),
            "unknown_entity_labels",
            "has ['Q'], but entities are ['P']",
        ),
    ],
)
def test_warnings(more, config, code, words):
    found = findings(good() + more, **config)
    (finding,) = (f for f in found if f.code == code)
    assert finding.level == "warning" and words in finding.message
    assert not any(f.level == "error" for f in found)


def test_several_labels_are_all_right_if_they_are_wanted():
    more = annotated("a b", [(0, 1, "P"), (1, 2, "P")], [("R", 0, 1), ("S", 0, 1)])
    found = findings([*good(), more], exclusive_classes=False)
    assert [f.level for f in found if f.code == "several_labels"] == ["info"]


def test_without_sentence_starts_sentences_end_at_full_stops():
    words = "Ada met Bo . " * 2
    entities = [(i, i + 1, "P") for i in (0, 2, 4, 6)]
    doc = annotated(words, entities, [("R", 0, 1), ("R", 1, 2)], starts=None)
    found = findings([*good(), doc])
    (finding,) = (f for f in found if f.code == "no_sentences")
    assert finding.level == "info" and "1 Docs have no sentence starts" in finding.message
    assert "cross_sentence 1" in str(found)
    assert not doc.has_annotation("SENT_START")  # what is checked stays as it is


def test_few_relations():
    assert codes(findings(good(99))) == [("warning", "few_relations", "a")]


def test_labels_without_direction():
    both = [
        annotated(f"a b c{i}", [(i, i + 1, "P") for i in range(3)], [("R", 0, 1), ("R", 1, 0)])
        for i in range(50)
    ]
    assert codes(findings(both)) == [("warning", "both_ways", "a")]
    assert codes(findings(both + good(90))) == [("warning", "both_ways", "a")]
    assert codes(findings(both + good(110))) == []
    assert "both_ways" not in str(findings(both, symmetric_labels=["R"]))
    assert "both_ways" not in str(findings(both, direction="none"))


def test_labels_of_one_order():
    docs = good(200)[::2]
    assert ("info", "one_order", "a") in codes(findings(docs), "info")
    assert "one_order" not in str(findings(docs, direction="none"))
    assert "one_order" not in str(findings(docs[:19] + good(200)[1::2]))


def test_cut_tokens():
    doc = Doc(TOKENIZER.vocab, words=["p", "53"], spaces=[False, False])
    (finding,) = (f for f in findings([*good(), doc]) if f.code == "cut_tokens")
    assert finding.level == "info" and finding.message.startswith("1 tokens begin")


def test_what_only_some_of_the_data_have():
    other = annotated("x y z", [(0, 1, "Q"), (1, 2, "P"), (2, 3, "P")], [("S", 0, 1)])
    found = findings(good(), [other])
    assert codes(found) == [
        ("warning", "untrained_labels", "b"),
        ("warning", "untrained_entity_labels", "b"),
    ]
    assert ("info", "unscored_labels", "a") in codes(found, "info")
    assert "['S']" in found[0].message and "['Q']" in found[1].message


def test_all_data_are_compared_with_each_other():
    found = findings(good(), [pair()], good(3))
    assert [f.data for f in found if f.code == "shared_texts"] == ["c"]


def test_shared_texts_are_counted_in_the_later_data():
    found = findings(good(), good(3) + good(2))
    (finding,) = (f for f in found if f.code == "shared_texts")
    assert finding.data == "b" and finding.message.startswith(
        "5 of 5 Docs have a text that is in a"
    )


def overlapping(n, n_related=0):
    """`n` Docs with two pairs, of which the overlapping one is seldom related."""
    return [
        annotated(
            f"Ada met Bo{i} .",
            [(0, 1, "P"), (0, 2, "P"), (2, 3, "P")],
            [("R", 0, 2), *([("R", 0, 1)] if i < n_related else [])],
            key="e",
        )
        for i in range(n)
    ]


def test_kinds_of_candidates_that_training_would_drop():
    block = pairs_block(spans_key="e")
    data = overlapping(100, 1), overlapping(20, 9)
    (finding,) = (f for f in findings(*data, **block) if f.code == "overlapping")
    assert finding.level == "info"
    assert 'related ones among them: b 9, a 1. candidates.overlapping = "keep"' in finding.message
    kept = (overlapping(100, 50), overlapping(100)), block
    set_to_keep = data, pairs_block(spans_key="e", overlapping="keep")
    set_to_drop = data, pairs_block(spans_key="e", overlapping="drop")
    for parts, config in (kept, set_to_keep, set_to_drop):
        assert not [f for f in findings(*parts, **config) if f.code == "overlapping"]
