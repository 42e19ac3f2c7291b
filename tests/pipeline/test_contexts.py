from itertools import accumulate

import naive_contexts as naive
import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.extraction import NAMES, UnparsedDocError, ViewExtractor
from spacy_klsh.views import concat_views

VOCABS = [spacy.blank("en").vocab, spacy.blank("de").vocab]
VIEWS = ("dependents", "before", "between", "after", "words")
ROLES = ("trigger", "Theme", "Theme2", "Cause")
#          0      1        2      3     4      5       6    7      8       9       10
WORDS = ("Then", "Ada", "Park", "of", "Lumen", "hired", "Bo", "here", ".", "Lumen", "grew")
HEADS = (5, 2, 5, 2, 3, 5, 5, 5, 5, 10, 10)
DEPS = ("adv", "comp", "nsubj", "prep", "pobj", "ROOT", "dobj", "adv", "punct", "nsubj", "ROOT")
ADA, LUMEN, BO, GREW = (1, 3, "P"), (4, 5, "O"), (6, 7, "P"), (9, 10, "O")
PARK, ALL = (2, 3, "N"), (1, 5, "A")


def make(words=WORDS, heads=HEADS, deps=DEPS, vocab=VOCABS[0], **annotation):
    return Doc(vocab, words=list(words), heads=list(heads), deps=list(deps), **annotation)


def candidates(doc, places, rows, roles=("head", "tail")):
    spans = tuple(Span(doc, a, b, label=label) for a, b, label in places)
    return Candidates(roles, spans, np.array(rows, np.int32).reshape(-1, len(roles)))


def view(name, *places, rows=((0, 1),), doc=None, roles=("head", "tail"), **settings):
    """Nodes of one view of each candidate as "edge:word", without the names of attributes."""
    doc = make() if doc is None else doc
    extractor = ViewExtractor(**{"names": (name,), "blind": False, **settings})
    found = extractor([doc], [candidates(doc, places, rows, roles)])[name]
    return [" ".join(":".join(s.partition("=")[2] for s in node) for node in found.words(i))
            for i in range(len(found))]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "places", "nodes"),
    [
        ("before", (LUMEN, BO), ":then :ada :park :of"),
        ("before", (BO, LUMEN), ":then :ada :park :of"),
        ("before", (GREW, GREW), ""),
        ("after", (ADA, BO), ":here :."),
        ("after", (LUMEN, GREW), ":grew"),
        ("between", (ADA, BO), "head:park :of :lumen :hired tail:bo"),
        ("between", (BO, ADA), "tail:park :of :lumen :hired head:bo"),
        ("between", (BO, GREW), "head:bo :here :. tail:lumen"),
        ("between", (ADA, PARK), "head:park tail:park"),
        ("between", (PARK, ALL), "tail:park head:park"),
        ("between", (ADA, ALL), "head:park tail:park"),
        ("between", (ALL, ADA), "head:park tail:park"),
        ("between", (BO, BO), "head:bo tail:bo"),
        ("words", (ADA, BO), ":then head:park :of :lumen :hired tail:bo :here :."),
        ("words", (BO, LUMEN), ":then :ada :park :of tail:lumen :hired head:bo :here :."),
        ("words", (GREW, GREW), "head:lumen tail:lumen :grew"),
        (
            "words",
            (GREW, BO),
            ":then :ada :park :of :lumen :hired tail:bo :here :. head:lumen :grew",
        ),
        ("dependents", (ADA, BO), "prep>:of adv>:then adv>:here punct>:."),
        ("dependents", (BO, LUMEN), "adv>:then adv>:here punct>:. comp>:ada"),
        ("dependents", (LUMEN, LUMEN), ""),
        ("dependents", (LUMEN, GREW), ""),
    ],
)
def test_views_by_hand(name, places, nodes):
    assert view(name, *places) == [nodes]


def test_blinded_words_are_the_first_entity_that_holds_them():
    places, rows = (LUMEN, BO, ALL, PARK, ADA), [(0, 1), (2, 1), (3, 1)]
    assert view("before", *places, rows=rows, blind=True) == [":then :A :A :A", ":then", ":then :A"]
    assert view("between", *places, rows=rows, blind=True) == [
        "head:O :hired tail:P",
        "head:A :hired tail:P",
        "head:N :A :O :hired tail:P",
    ]
    assert view("dependents", *places, rows=rows[:1], blind=True) == [
        "comp>:A adv>:then adv>:here punct>:."
    ]


@pytest.mark.parametrize(
    ("window", "before", "after"), [(1, ":of", ":here"), (2, ":park :of", ":here :.")]
)
def test_the_window_bounds_what_stands_outside(window, before, after):
    assert view("before", LUMEN, BO, window=window) == [before]
    assert view("after", LUMEN, BO, window=window) == [after]


def test_all_words_do_not_end_at_the_window():
    assert view("words", LUMEN, BO, window=1) == view("words", LUMEN, BO)


def test_absent_roles_are_nowhere():
    rows = [(2, -1, 0, -1), (-1, 1, -1, 2), (-1, -1, 1, -1)]
    settings = {"rows": rows, "roles": ROLES}
    assert view("between", ADA, LUMEN, BO, **settings) == [
        "Theme2:park :of :lumen :hired trigger:bo",
        "Theme:lumen :hired Cause:bo",
        "Theme2:lumen",
    ]
    assert view("before", ADA, LUMEN, BO, **settings)[2] == ":then :ada :park :of"
    assert view("after", ADA, LUMEN, BO, **settings)[2] == ":hired :bo :here :."


def test_dependents_of_several_roles_stand_one_behind_the_other():
    (found,) = view("dependents", BO, LUMEN, ADA, rows=[(0, 1, -1, 2)], roles=ROLES)
    # of the trigger alone, on the way to Lumen, on the way to Ada Park
    assert found == "adv>:then adv>:here punct>:. comp>:ada adv>:then adv>:here punct>:. prep>:of"


def test_several_attributes_and_a_label_for_all_of_them():
    doc = make(pos=["NOUN"] * len(WORDS))
    found = candidates(doc, (LUMEN, BO), [(0, 1)])
    extractor = ViewExtractor(names=("between",), attributes=("lemma", "pos"))
    assert extractor([doc], [found])["between"].words(0) == [
        ("role=head", "label=O", "label=O"),
        ("dep=", "lemma=hired", "pos=NOUN"),
        ("role=tail", "label=P", "label=P"),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_view_with_an_attribute_of_its_own_shows_that_alone(name):
    doc = make(pos=["NOUN", "VERB", *["ADP"] * 9])
    found = candidates(doc, (LUMEN, BO, ADA), [(0, 1), (2, 1)])
    names = (f"{name}.pos", name, f"{name}.lower")
    mixed = ViewExtractor(names=names)([doc], [found])
    assert list(mixed) == list(names)
    for attribute, view in zip(("pos", "lemma", "lower"), names, strict=True):
        alone = ViewExtractor(names=(name,), attributes=(attribute,))([doc], [found])[name]
        assert [mixed[view].words(i) for i in range(2)] == [alone.words(i) for i in range(2)]
        assert np.array_equal(mixed[view].parents, alone.parents)


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_without_tokens_is_refused(window):
    with pytest.raises(ValueError, match=f"window is {window}; give at least 1 token"):
        ViewExtractor(window=window)


def test_a_doc_without_parse_is_refused():
    doc = Doc(VOCABS[0], words=["a", "b"])
    found = candidates(doc, [(0, 1, "P"), (1, 2, "P")], [(0, 1)])
    with pytest.raises(UnparsedDocError, match="a Doc with 1 candidates has no dependency parse"):
        ViewExtractor(names=("between",))([doc], [found])


def test_words_between_carry_vectors_and_roles_none():
    vocab = spacy.blank("en").vocab
    vocab.set_vector("hired", np.array([0, 2], np.float32))
    doc = make(vocab=vocab)
    found = candidates(doc, (LUMEN, BO), [(0, 1)])
    structures = ViewExtractor(names=("between",), blind=False)([doc], [found])["between"]
    rows = dict(zip(structures.symbols, structures.vectors.tolist(), strict=True))
    assert rows["lemma=hired"] == [0, 1] and rows["role=head"] == [0, 0]


@st.composite
def docs(draw, n_roles):
    """A Doc of several sentences, each a random tree, with spans and choices of these."""
    trees = draw(st.lists(strategies.governors(max_size=5), max_size=3))
    starts = [0, *accumulate(map(len, trees))]
    heads = [start + i for start, tree in zip(starts, trees, strict=False) for i in tree]
    n = len(heads)
    deps = [f"d{i % 3}" for i in range(n)]
    doc = make([f"W{i}" for i in range(n)], heads, deps, draw(st.sampled_from(VOCABS)))
    places, rows = [], []
    if n:
        bound = st.integers(0, n - 1)
        pairs = draw(st.lists(st.tuples(bound, bound), min_size=1, max_size=4))
        places = [(min(p), max(p) + 1, f"L{i}") for i, p in enumerate(pairs)]
        lowest = -1 if n_roles > 2 else 0
        index = st.integers(lowest, len(places) - 1)
        row = st.lists(index, min_size=n_roles, max_size=n_roles)
        rows = draw(st.lists(row.filter(lambda row: max(row) >= 0), max_size=4))
    return doc, candidates(doc, places, rows, ROLES[:n_roles])


@st.composite
def batches(draw):
    n_roles = draw(st.integers(2, 4))
    return draw(st.lists(docs(n_roles), min_size=1, max_size=4))


@strategies.THOROUGH
@given(batches(), st.booleans(), st.integers(1, 3))
def test_views_equal_a_walk_over_the_tokens(batch, blind, window):
    extractor = ViewExtractor(names=VIEWS, blind=blind, window=window)
    views = extractor(*zip(*batch, strict=True))
    assert tuple(views) == VIEWS
    for name, structures in views.items():
        assert [structures.words(i) for i in range(len(structures))] == [
            naive.view(name, doc, found, row, blind=blind, window=window)
            for doc, found in batch
            for row in found.arguments.tolist()
        ]


@strategies.QUICK
@given(batches())
def test_every_view_of_a_batch_is_that_of_its_docs(batch):
    extractor = ViewExtractor(names=NAMES)
    joined = extractor(*zip(*batch, strict=True))
    alone = concat_views([extractor([doc], [found]) for doc, found in batch])
    for name in NAMES:
        assert len(joined[name]) == sum(len(found) for _, found in batch)
        for i in range(len(joined[name])):
            assert joined[name].words(i) == alone[name].words(i)
