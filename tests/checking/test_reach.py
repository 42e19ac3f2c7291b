from collections import Counter
from itertools import pairwise, permutations

import pytest
from checking.made import TOKENIZER, annotated, component, counted, pair, pairs_block
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline import events, sentences

from spacy_klsh import Relation
from spacy_klsh.checking.counts import count
from spacy_klsh.pipeline.entity_pairs import EntityPairs


@st.composite
def documents(draw):
    """A Doc of up to 12 words, entities that do not overlap, and relations between any two."""
    words = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=12))
    starts = {0, *draw(st.sets(st.integers(1, len(words) - 1)))} if len(words) > 1 else {0}
    cuts = sorted(draw(st.sets(st.integers(0, len(words)), min_size=2)))
    spans = [(a, b, draw(st.sampled_from("AB"))) for a, b in pairwise(cuts) if draw(st.booleans())]
    row = st.integers(0, max(len(spans) - 1, 0))
    links = draw(st.lists(st.tuples(st.sampled_from("XY"), row, row))) if spans else []
    return words, spans, links, starts


@st.composite
def blocks(draw):
    labels = st.tuples(st.sampled_from("ABC"), st.sampled_from("AB")).map(list)
    return {
        "entity_pairs": draw(st.lists(labels, max_size=3)),
        "max_sentences": draw(st.integers(1, 3)),
        "max_tokens": draw(st.none() | st.integers(1, 4)),
    }


def naive_reason(spans, starts, block, head, tail, directed):
    if head == tail:
        return "same_entity"
    first, second = sorted((head, tail))
    crossed = sum(spans[first][0] < start < spans[second][1] for start in starts)
    if crossed >= block["max_sentences"]:
        return "cross_sentence"
    if block["max_tokens"] and spans[second][0] - spans[first][1] > block["max_tokens"]:
        return "max_tokens"
    labels = [spans[head][2], spans[tail][2]]
    allowed = block["entity_pairs"]
    if not allowed or labels in allowed or (not directed and labels[::-1] in allowed):
        return ""
    return "roles" if labels[::-1] in allowed else "entity_labels"


@settings(max_examples=60, deadline=None)
@given(documents(), blocks(), st.sampled_from(["ordered", "label", "none"]))
def test_candidates_and_lost_relations_are_those_of_naive_counting(document, block, direction):
    words, spans, links, starts = document
    counts = counted(
        [annotated(words, spans, links, starts=starts)],
        direction=direction,
        symmetric_labels=["Y"],
        exclusive_classes=False,
        **pairs_block(**block),
    )

    def directed(label):
        return direction == "ordered" and label != "Y"

    gold = {
        (label, h, t) if label == "X" and direction != "none" else (label, *sorted((h, t)))
        for label, h, t in links
    }
    reasons = {
        (label, h, t): naive_reason(spans, starts, block, h, t, directed(label))
        for label, h, t in gold
    }
    lost = Counter((label, why) for (label, _, _), why in reasons.items() if why)
    assert counts.gold == Counter(label for label, _, _ in gold)
    assert lost == {(k, why): n for k, whys in counts.lost.items() for why, n in whys.items()}

    candidates = {
        (h, t) if direction == "ordered" else tuple(sorted((h, t)))
        for h, t in permutations(range(len(spans)), 2)
        if not naive_reason(spans, starts, block, h, t, direction == "ordered")
    }
    related = {
        place
        for (label, h, t), why in reasons.items()
        for place in ([(h, t)] if directed(label) else [(h, t), (t, h)])
        if not why and place in candidates
    }
    assert (counts.candidates, counts.related) == (len(candidates), len(related))
    assert counts.skipped.total() == len(spans) * (len(spans) - 1) // 2 - len(
        {frozenset(place) for place in candidates}
    )


def test_each_relation_is_asked_about_with_its_own_words_alone(monkeypatch):
    """So the work for a long Doc does not grow with the square of its length."""
    seen = []

    def asked(doc, *, ordered):
        seen.append(len(doc))
        return EntityPairs()(doc, ordered=ordered)

    monkeypatch.setattr(component(), "candidates", asked)
    entities = [(i, i + 1, "P") for i in range(0, 400, 4)]
    relations = [("R", i, i + 1) for i in range(99)]
    doc = annotated(["w"] * 400, entities, relations, starts=range(0, 400, 4))
    assert counted([doc]).lost == {"R": {"cross_sentence": 99}}
    assert seen == [400] + [5] * 99


def test_what_is_over_the_cap():
    doc = annotated("a b c", [(i, i + 1, "P") for i in range(3)], [("R", 0, 1), ("R", 1, 2)])
    counts = counted([doc], **pairs_block(max_candidates=2))
    assert counts.lost == {"R": {"max_candidates": 1}}
    assert counts.skipped == {"max_candidates": 2}


def test_no_path_counts_if_there_is_a_parse(trained):
    doc = sentences.annotated(trained.vocab, 0, 0)
    heads = [doc.ents[0], doc.ents[2]]
    doc._.relations = [Relation("R", head=heads[0], tail=tail) for tail in (heads[1], doc.ents[1])]
    counts = counted([doc], **pairs_block(max_sentences=2))
    assert counts.lost == {"R": {"no_path": 1}}
    assert counts.skipped == {"no_path": 4} and counts.candidates == 4
    assert counts.unparsed == 0


def test_arguments_that_are_no_entities():
    doc = pair(key="all", id="d7")
    counts = counted([doc])
    assert counts.lost == {"R": {"other_spans": 1}} and counts.span_groups == {"all": 1}
    assert counts.entities == {} and counts.candidates == 0
    del doc.spans["all"]
    counts = counted([doc])
    assert counts.lost == {"R": {"no_entity": 1}}
    assert counts.examples["no_entity"] == ["d7: R of head 'Ada', tail 'Bo'"]


def test_spans_of_a_group_are_asked_alone_in_their_group():
    doc = annotated("a b c", [(0, 1, "P"), (0, 3, "P")], [("R", 0, 1)], starts=(0, 2), key="all")
    counts = counted([doc], **pairs_block(spans_key="all"))
    assert counts.lost == {"R": {"cross_sentence": 1}}


@pytest.mark.parametrize("arguments", [{"head": 0}, {"head": 0, "tail": 1, "place": 1}, {"x": 0}])
def test_roles_of_no_candidate(arguments):
    doc = pair()
    spans = {role: doc.ents[i] for role, i in arguments.items()}
    doc._.relations = [Relation("R", arguments=spans)]
    assert counted([doc]).lost == {"R": {"roles": 1}}


def test_an_optional_role_in_the_next_sentence_is_why_not():
    roles = {"trigger": ["T"], "a": ["P"], "b": ["P"]}
    block = {"@misc": "spacy-klsh.role_candidates.v1", "roles": roles, "optional": ["b"]}
    doc = annotated("t p p", [(0, 1, "T"), (1, 2, "P"), (2, 3, "P")], [], starts=(0, 2))
    arguments = dict(zip(roles, doc.ents, strict=True))
    doc._.relations = [Relation("R", arguments=arguments)]
    assert counted([doc], candidates=block).lost == {"R": {"cross_sentence": 1}}


def test_events_of_several_roles(trained):
    docs = events.corpus(trained.vocab, 5)
    counts = counted(docs, candidates=events.ROLES)
    assert counts.gold == counts.relations and counts.gold.total() > 5
    assert not counts.lost and counts.related == counts.gold.total() < counts.candidates
    assert counts.orders["Binding"] == {
        "Theme, trigger, Theme2": 3,
        "Cause, trigger, Theme, Theme2": 3,
    }
    short = {**events.ROLES, "max_tokens": 1, "optional": ["Theme2"]}
    counts = counted(docs, candidates=short)
    assert counts.lost == {
        "Activation": {"roles": 1},
        "Binding": {"roles": 3, "max_tokens": 3},
    }


def test_a_second_label_has_no_place():
    doc = annotated("a b", [(0, 1, "P"), (1, 2, "P")], [("A", 0, 1), ("B", 0, 1)])
    assert counted([doc]).lost == {"B": {"second_label": 1}}
    counts = counted([doc], exclusive_classes=False)
    assert not counts.lost and counts.positives == {"A": 1, "B": 1} and counts.related == 1


@pytest.mark.parametrize("policy", ["auto", "drop"])
def test_relations_between_what_is_dropped_are_lost(policy):
    block = pairs_block(same_text=policy)
    nlp = sentences.build(**block)
    given = nlp.get_pipe("klsh_relations")
    given.dropped = frozenset({"same_text"})  # as training would
    docs = [pair(words="Ada met ada ."), pair()]
    counts = count(docs, given, TOKENIZER)
    assert counts.lost == {"R": {"same_text": 1}}
    assert (counts.candidates, counts.skipped["same_text"]) == (2, 1)
    assert counts.examples["same_text"] == ["Doc 1: R of head 'Ada', tail 'ada'"]
