from collections import Counter
from itertools import combinations, product
from math import comb, perm

import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline import role_candidates
from spacy_klsh.pipeline.role_candidates import RoleCandidates

VOCAB = spacy.blank("en").vocab
EVENT = {
    "roles": {"trigger": ["B"], "Theme": ["P"], "Theme2": ["P"], "Cause": ["P", "C"]},
    "optional": ["Theme2", "Cause"],
    "interchangeable": [["Theme", "Theme2"]],
}


def make(n, spans, starts=None):
    """`n` tokens with spans (start, end, label) in ``doc.spans["e"]``."""
    doc = Doc(VOCAB, words=["w"] * n, sent_starts=starts)
    doc.spans["e"] = [
        Span(doc, a, b, label=label, span_id=f"e{i}") for i, (a, b, label) in enumerate(spans)
    ]
    return doc


def in_line(labels):
    """A Doc of one entity a token."""
    return make(len(labels), [(i, i + 1, label) for i, label in enumerate(labels)])


def rows(doc, **settings):
    candidates = RoleCandidates(spans_key="e", **settings)(doc)
    return candidates.arguments.tolist(), candidates.skipped


def naive_near(doc, x, y, settings):
    """Why the pair is too far apart, or nothing; x stands before y."""
    number = {token.i: i for i, sent in enumerate(doc.sents) for token in sent}
    touched = max(number[x.end - 1], number[y.end - 1]) - number[x.start] + 1
    if touched > settings["max_sentences"]:
        return "cross_sentence"
    if settings["max_tokens"] is not None and y.start - x.end > settings["max_tokens"]:
        return "max_tokens"
    return ""


def is_choice(row, entities, far, settings):
    """Whether the entities in `row` (-1: none) are a candidate."""
    names = list(settings["roles"])
    filled = dict((name, j) for name, j in zip(names, row, strict=True) if j >= 0)
    if len(filled) < 2 or len(set(filled.values())) < len(filled):
        return False
    for name, labels in settings["roles"].items():
        if name not in filled:
            if name not in settings["optional"]:
                return False
        elif labels and entities[filled[name]].label_ not in labels:
            return False
    for group in settings["interchangeable"]:
        own = [filled.get(name, len(entities)) for name in group]
        if own != sorted(own):
            return False
    first = min(filled.values())
    return not any((first, j) in far for j in filled.values())


def naive(doc, settings):
    """All choices in the order in which they are kept, and counts of what is skipped."""
    entities = sorted(doc.spans["e"], key=lambda s: (s.start, -s.end, s.label_, s.id_))
    skipped, far = Counter(), set()
    every = [set(labels) for labels in settings["roles"].values()]
    useful = {i for i, e in enumerate(entities) if any(not s or e.label_ in s for s in every)}
    for i, j in combinations(range(len(entities)), 2):
        reason = naive_near(doc, entities[i], entities[j], settings)
        if reason:
            skipped[reason] += {i, j} <= useful
            far.add((i, j))
    every = product(range(-1, len(entities)), repeat=len(settings["roles"]))
    found = [row for row in every if is_choice(row, entities, far, settings)]

    def order(row):
        filled = [role for role, j in enumerate(row) if j >= 0]
        first = min(j for j in row if j >= 0)
        return len(filled), first, filled, row.index(first), row

    found.sort(key=order)
    labels = set().union(*settings["roles"].values())
    if all(settings["roles"].values()):
        skipped["entity_labels"] = sum(span.label_ not in labels for span in entities)
    skipped["max_candidates"] = max(len(found) - settings["max_candidates"], 0)
    return sorted(map(list, found[: settings["max_candidates"]])), dict(+skipped)


@st.composite
def role_settings(draw):
    names = ("a", "b", "c", "d")[: draw(st.integers(2, 4))]
    labels = st.lists(st.sampled_from("XY"), max_size=2, unique=True)
    roles = {name: draw(labels) for name in names}
    group = draw(st.sampled_from([[], *map(list, combinations(names, 2)), list(names[1:])]))
    group = group if len(group) > 1 else []
    roles.update((name, roles[group[0]]) for name in group)
    optional = [name for name in names if name not in group and draw(st.booleans())]
    optional += group[draw(st.integers(0, len(group))) :]
    return {
        "roles": roles,
        "optional": optional,
        "interchangeable": [group] if group else [],
        "max_tokens": draw(st.one_of(st.none(), st.integers(1, 4))),
        "max_sentences": draw(st.integers(1, 2)),
        "max_candidates": draw(st.sampled_from((1, 3, 10, 1000))),
    }


@st.composite
def docs(draw):
    n = draw(st.integers(1, 8))
    starts = [True, *(draw(st.sampled_from((True, False, False))) for _ in range(n - 1))]
    spans = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, n - 1))
        spans.append((start, draw(st.integers(start + 1, n)), draw(st.sampled_from("XXYZ"))))
    return make(n, spans, starts)


@strategies.THOROUGH
@given(docs(), role_settings())
def test_candidates_and_all_counts_equal_trying_every_choice(doc, settings):
    assert rows(doc, **settings) == naive(doc, settings)


def test_a_trigger_its_participants_and_a_catalyst():
    found, skipped = rows(in_line("PBP"), **EVENT)
    assert found == [
        [1, 0, -1, -1],
        [1, 0, -1, 2],
        [1, 0, 2, -1],
        [1, 2, -1, -1],
        [1, 2, -1, 0],
    ]
    assert skipped == {}


def test_candidates_of_one_trigger_stand_together():
    found, _ = rows(in_line("BPB"), **EVENT)
    assert found == [[0, 1, -1, -1], [2, 1, -1, -1]]


def test_nested_entities_may_fill_two_roles_but_one_entity_may_not():
    doc = make(3, [(0, 3, "B"), (1, 2, "B")])
    roles = {"trigger": ["B"], "Theme": ["B"]}
    assert rows(doc, roles=roles)[0] == [[0, 1], [1, 0]]


def test_a_role_without_labels_takes_any_entity():
    assert rows(in_line("BX"), roles={"trigger": ["B"], "Theme": []})[0] == [[0, 1]]


def test_entities_that_no_role_takes_are_counted():
    assert rows(in_line("bPQ"), **EVENT) == ([], {"entity_labels": 2})


def test_required_roles_that_nothing_fills_leave_no_candidates():
    assert rows(in_line("B" * 30), **EVENT) == ([], {})
    assert rows(in_line("P" * 30), **EVENT) == ([], {})


@pytest.fixture
def filled(monkeypatch):
    """Number of rows that were put together."""
    asked = []
    fill = RoleCandidates._filled

    def counting(self, *arguments):
        asked.append(None)
        return fill(self, *arguments)

    monkeypatch.setattr(RoleCandidates, "_filled", counting)
    return asked


def test_a_sentence_of_400_entities_of_one_label_is_cut_and_counted_without_trying_all(filled):
    n = 400
    found, skipped = rows(in_line("P" * 200 + "B" + "P" * 200), max_candidates=2000, **EVENT)
    assert len(found) == 2000 and len(filled) < 4 * 2000
    total = n + comb(n, 2) + perm(n, 2) + comb(n, 2) * (n - 2)
    assert skipped == {"max_candidates": total - 2000}
    assert Counter(sum(j >= 0 for j in row) for row in found) == {2: 400, 3: 1600}


@pytest.mark.parametrize("last", ["Q", "QR"])
def test_roles_that_compete_for_few_entities_are_not_tried_in_vain(filled, last):
    roles = {"a": ["P"], "b": ["P"], "c": ["Q"], "d": ["Q", "R"]}
    found, skipped = rows(in_line("P" * 300 + last), roles=roles, max_candidates=100)
    assert len(found) == (100 if last == "QR" else 0) and len(filled) < 1000
    assert skipped == ({"max_candidates": perm(300, 2) - 100} if last == "QR" else {})


def test_counts_stay_within_what_a_saved_doc_holds():
    roles = {name: ["P"] for name in "abcdefgh"}
    doc = in_line("P" * 400)
    candidates = RoleCandidates(spans_key="e", roles=roles, max_candidates=5)(doc)
    assert candidates.skipped == {"max_candidates": role_candidates.MAX_COUNT}
    doc.user_data["skipped"] = candidates.skipped
    assert Doc(VOCAB).from_bytes(doc.to_bytes()).user_data["skipped"] == candidates.skipped


def test_entities_of_the_doc_are_the_default():
    doc = in_line("BP")
    doc.ents = [Span(doc, 0, 1, label="P"), Span(doc, 1, 2, label="B")]
    candidates = RoleCandidates(**EVENT)(doc)
    assert candidates.arguments.tolist() == [[1, 0, -1, -1]]
    assert RoleCandidates(**EVENT).entities(doc) == doc.ents
    assert candidates.roles == ("trigger", "Theme", "Theme2", "Cause")
    assert candidates.arguments.dtype == np.int32


def test_what_is_left_out_later_is_counted_by_candidate():
    candidates = RoleCandidates(spans_key="e", **EVENT)(in_line("PBP"))
    left = candidates.where(candidates.arguments[:, 3] < 0, "no_path")
    assert len(left) == 3 and left.skipped == {"no_path": 2}
    swapped = RoleCandidates(spans_key="e", roles={"a": [], "b": [], "c": []})(in_line("PPP"))
    assert swapped.where(np.zeros(6, bool), "no_path").skipped == {"no_path": 6}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"roles": {}}, r"roles are \[\]; name 2 to 8"),
        ({"roles": {"trigger": ["B"]}}, "name 2 to 8"),
        ({"roles": {f"r{i}": ["B"] for i in range(9)}}, "name 2 to 8"),
        ({"roles": {"trigger": ["B"], "": ["P"]}}, "name 2 to 8"),
        ({"optional": ["Site"]}, r"\['Site'\] are not among the roles"),
        ({"interchangeable": [["Theme", "Theme3"]]}, r"\['Theme3'\] are not among the roles"),
        ({"interchangeable": [["Theme"]]}, "two or more roles"),
        ({"interchangeable": [["Theme2", "Theme"]]}, "in the order of roles"),
        ({"optional": ["Theme"]}, "the optional ones last"),
        (
            {"interchangeable": [["Theme2", "Theme"]], "optional": ["Theme"]},
            "in the order of roles",
        ),
        ({"roles": {"trigger": "B", "Theme": ["P"]}}, "trigger has the labels 'B'; give a list"),
        ({"interchangeable": [["Theme", "Theme"]]}, "in one group, once"),
        ({"interchangeable": [["Theme", "Theme2"]] * 2}, "in one group, once"),
        ({"interchangeable": [["Theme", "Cause"]]}, r"entity labels \[\['P'\], \['C', 'P'\]\]"),
        ({"max_tokens": 0}, "max_tokens is 0; give at least 1"),
        ({"max_candidates": 0}, "max_candidates is 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RoleCandidates(**{**EVENT, **settings})


def test_candidates_in_document_order_alone_are_refused():
    with pytest.raises(ValueError, match=r'roles trigger, Theme.*set direction = "ordered"'):
        RoleCandidates(**EVENT)(in_line("BP"), ordered=False)
