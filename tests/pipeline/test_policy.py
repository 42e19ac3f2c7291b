"""Candidates that overlap or have the same text: found, counted, and dropped if seldom related."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from pipeline import sentences
from pipeline.sentences import PATTERNS, build, corpus, examples, parsed
from spacy.tokens import Doc, Span

from spacy_klsh import Relation
from spacy_klsh.pipeline.entity_pairs import EntityPairs
from spacy_klsh.pipeline.labels import DIRECTIONS
from spacy_klsh.pipeline.policy import (
    KINDS,
    OTHER,
    Tally,
    _upper_limit,
    of_kinds,
    overlapping,
    same_text,
    seldom_related,
    without,
)
from spacy_klsh.pipeline.role_candidates import RoleCandidates
from spacy_klsh.pipeline.training import collect

VOCAB = spacy.blank("xx").vocab
ROLES = {"roles": {"a": [], "b": [], "c": []}, "optional": ["c"]}
KEEP = dict.fromkeys(KINDS, "keep")


@st.composite
def documents(draw):
    """Up to 5 spans, by start and end, over words that differ in their case alone, or not."""
    words = draw(st.lists(st.sampled_from(["a", "A", "b"]), min_size=1, max_size=6))
    bound = st.integers(0, len(words))
    ends = st.tuples(bound, bound).map(sorted).filter(lambda ends: ends[0] < ends[1])
    doc = Doc(VOCAB, words=words)
    doc.spans["e"] = [
        Span(doc, *place, label="P", span_id=f"e{i}")
        for i, place in enumerate(draw(st.lists(ends, max_size=5)))
    ]
    return doc


def naive_kinds(entities):
    """What any two of these spans have in common."""
    pairs = list(combinations(entities, 2))
    return {
        "overlapping": any({t.i for t in x} & {t.i for t in y} for x, y in pairs),
        "same_text": any(x.text.lower() == y.text.lower() for x, y in pairs),
    }


@strategies.THOROUGH
@given(documents(), st.sampled_from([EntityPairs, RoleCandidates]), st.sampled_from(KINDS))
def test_each_kind_is_found_by_comparing_all_arguments(doc, generator, kind):
    more = ROLES if generator is RoleCandidates else {}
    found = generator(spans_key="e", **more)(doc)
    expected = [
        naive_kinds([found.entities[j] for j in row if j >= 0])[kind]
        for row in found.arguments.tolist()
    ]
    assert of_kinds([found], {kind}).tolist() == expected
    dropping = generator(spans_key="e", **more, **{kind: "drop"})(doc)
    kept = [row for row, odd in zip(found.arguments.tolist(), expected, strict=True) if not odd]
    assert dropping.arguments.tolist() == kept
    left_out = {
        frozenset(row) if generator is EntityPairs else tuple(row)
        for row in found.arguments.tolist()
        if row not in kept
    }
    assert dropping.skipped == found.skipped | ({kind: len(left_out)} if left_out else {})


def test_no_kind_is_nothing():
    doc = Doc(VOCAB, words=["a", "a"])
    doc.spans["e"] = [doc[0:1], doc[1:2]]
    found = EntityPairs(spans_key="e")(doc)
    assert without([found], ()) == [found] and not of_kinds([found], ()).any()


def test_a_pair_of_both_kinds_is_counted_as_overlapping():
    doc = Doc(VOCAB, words=["a", "b"])
    doc.spans["e"] = [Span(doc, 0, 1, "P"), Span(doc, 0, 1, "Q"), Span(doc, 1, 2, "P")]
    found = EntityPairs(spans_key="e")(doc)
    assert overlapping(found).sum() == same_text(found).sum() == 2
    (kept,) = without([found], KINDS)
    assert kept.skipped == {"overlapping": 1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["never", None, True])
def test_other_policies_are_refused(kind, policy):
    with pytest.raises(ValueError, match=f"{kind} is {policy!r}; choose one of keep, drop, auto"):
        EntityPairs(**{kind: policy})


def tallies(odd, others, kind="overlapping"):
    """Tallies of (candidates, related) with one label, or with the labels given."""
    return {name: Tally() for name in KINDS} | {
        name: Tally(n, k, Counter(*labels or ({"X": k},)))
        for name, (n, k, *labels) in ((kind, odd), (OTHER, others))
    }


@pytest.mark.parametrize(
    ("odd", "others", "dropped"),
    [
        ((34, 0), (1000, 200), False),  # 35 are enough where every fifth is related
        ((35, 0), (1000, 200), True),
        ((350, 0), (1000, 20), False),
        ((400, 0), (1000, 20), True),
        ((244, 22), (8871, 2457), True),
        ((244, 24), (8871, 2457), False),
        ((0, 0), (1000, 200), False),
        ((1000, 0), (0, 0), False),
        ((1000, 0), (1000, 0), False),
        ((1000, 0), (500, 500), False),  # nothing unrelated would stay
        ((1000, 0), (500, 499), True),
        ((1000, 2, {"X": 1, "Y": 1}), (1000, 300, {"X": 299, "Y": 1}), True),
        ((1000, 3, {"X": 1, "Y": 2}), (1000, 300, {"X": 299, "Y": 1}), False),  # Y is at home here
        ((1000, 1, {"Y": 1}), (1000, 300, {"X": 300}), False),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_are_clearly_less_often_related_are_dropped(odd, others, dropped, kind):
    assert seldom_related(tallies(odd, others, kind)) == (frozenset({kind}) if dropped else set())


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_upper_limit_is_the_rate_that_the_found_one_is_just_compatible_with(counts):
    k, n = counts
    limit = _upper_limit(k, n)
    assert k / n <= limit + 1e-12 and limit <= 1 + 1e-12
    assert (limit - k / n) ** 2 == pytest.approx(1.96**2 * limit * (1 - limit) / n, abs=1e-12)


SPANS = {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "all"}


def with_double(doc):
    """`doc` with its entities as spans, and each person again with the token after it."""
    doubles = [Span(doc, e.start, e.end + 1, "PERSON") for e in doc.ents if e.label_ == "PERSON"]
    doc.spans["all"] = [*doc.ents, *doubles]
    return doc


def relate_doubles(doc, label="FOUNDED"):
    """`doc` with the first person related to its double, too."""
    single, double = sorted(
        (span for span in doc.spans["all"] if span.label_ == "PERSON"),
        key=lambda span: (span.start, span.end),
    )[:2]
    doc._.relations = [*doc._.relations, Relation(label, head=single, tail=double)]
    return doc


def docs_with_doubles(vocab, n=42, n_related=1):
    docs = [with_double(doc) for doc in corpus(vocab, n)]
    for doc in docs[:n_related]:
        relate_doubles(doc)
    return docs


def trained_on(docs, config=None, **policies):
    nlp = build(**{**(config or {}), "candidates": {**SPANS, **policies}})
    nlp.initialize(lambda: examples(docs))
    return nlp.get_pipe("klsh_relations")


@pytest.fixture(scope="module")
def learned():
    """A component that learned to drop overlapping candidates."""
    return trained_on(docs_with_doubles(VOCAB))


def answer(component, pattern=PATTERNS[0][0]):
    return component(with_double(parsed(component.vocab, pattern)))


def test_training_drops_what_is_seldom_related_and_counts_it(learned):
    n_pairs = sum(len(doc.ents) // 2 for doc in corpus(VOCAB, 42))
    assert learned.dropped == {"overlapping"}
    assert learned.report["overlapping"] == n_pairs and learned.report["unreachable"] == 1
    before = learned.report["overlapping"]
    doc = answer(learned)
    assert doc._.relations_skipped == {"overlapping": 1}
    assert learned.report["overlapping"] == before + 1
    assert [r.label for r in doc._.relations] == ["FOUNDED"]


def test_gold_between_what_is_dropped_counts_as_missed(learned):
    (example,) = examples([relate_doubles(with_double(sentences.annotated(VOCAB, 0)))])
    learned(example.predicted)
    scores = learned.score([example])
    assert scores["rel_candidate_recall"] == 0.5
    assert (scores["rel_micro_p"], scores["rel_micro_r"]) == (1, 0.5)


def test_the_decision_is_part_of_the_model_and_the_config_overrides_it(learned):
    expected = answer(learned)
    for policy, skipped in (
        ("auto", {"overlapping": 1}),
        ("drop", {"overlapping": 1}),
        ("keep", {}),
    ):
        nlp = build(candidates={**SPANS, "overlapping": policy})
        loaded = nlp.get_pipe("klsh_relations").from_bytes(learned.to_bytes())
        assert loaded.dropped == {"overlapping"}
        doc = answer(loaded)
        assert doc._.relations_skipped == skipped
        if policy == "auto":
            assert sentences.answers([doc]) == sentences.answers([expected])


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_what_the_config_says_is_not_for_training_to_decide(policy):
    component = trained_on(docs_with_doubles(VOCAB), overlapping=policy)
    assert component.dropped == frozenset()
    assert ("overlapping" in component.report) == (policy == "drop")
    assert component.report["unreachable"] == (policy == "drop")


def test_training_again_decides_again(learned):
    component = trained_on(docs_with_doubles(VOCAB))
    assert component.to_bytes() == learned.to_bytes()
    component.initialize(lambda: examples(docs_with_doubles(VOCAB, n=14, n_related=14)))
    assert component.dropped == frozenset()


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("symmetric", [[], ["FOUNDED"]])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_training_drops_is_as_if_it_had_never_been_proposed(exclusive, symmetric, direction):
    config = {
        "exclusive_classes": exclusive,
        "symmetric_labels": symmetric,
        "direction": direction,
    }
    docs = docs_with_doubles(VOCAB, n=9, n_related=3)
    if not exclusive:
        relate_doubles(docs[0], "WORKS_FOR")
    late, early = (
        collect(
            build(**config, candidates={**SPANS, "overlapping": policy}).get_pipe("klsh_relations"),
            examples(docs),
            None,
        )
        for policy in ("auto", "drop")
    )
    late = late.without({"overlapping"})
    assert late.lost_gold["unreachable", "FOUNDED"] == 3
    assert late.lost_gold["unreachable", "WORKS_FOR"] == (not exclusive)
    for name in ("y", "groups"):
        assert np.array_equal(getattr(late, name), getattr(early, name))
    for name in ("lost_gold", "skipped", "lost", "entity_labels"):
        assert getattr(late, name) == getattr(early, name)
    assert all(
        np.array_equal(x.arguments, y.arguments)
        for x, y in zip(late.candidates, early.candidates, strict=True)
    )
    assert np.array_equal(late.views["path"].offsets, early.views["path"].offsets)


def test_a_generator_without_policies_keeps_all():
    component = trained_on(docs_with_doubles(VOCAB))
    pairs = component.candidates
    component.candidates = lambda doc, *, ordered: pairs(doc, ordered=ordered)
    assert answer(component)._.relations_skipped == {}
