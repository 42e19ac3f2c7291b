import json
import pickle

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from pipeline import sentences
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab

from spacy_klsh import Relation, register_extensions
from spacy_klsh.pipeline.relations import (
    Argument,
    EntityIndex,
    Record,
    read_records,
    write_records,
)

WORDS = ["Ada", "Park", "and", "Bo", "Xu", "founded", "Lumen", "Labs", "."]


@pytest.fixture(autouse=True)
def extensions():
    """The default extensions, and afterwards none that a test added."""
    register_extensions()
    before = set(Underscore.doc_extensions)
    yield
    for name in set(Underscore.doc_extensions) - before:
        Doc.remove_extension(name)


@pytest.fixture
def doc():
    doc = Doc(Vocab(), words=WORDS)
    doc.ents = [
        Span(doc, 0, 2, label="PERSON", span_id="e0"),
        Span(doc, 3, 5, label="PERSON", span_id="e1"),
        Span(doc, 6, 8, label="ORG", span_id="e2"),
    ]
    return doc


@pytest.fixture
def gold(doc):
    """The Doc with two relations."""
    ada, bo, lumen = doc.ents
    doc._.relations = [
        Relation("FOUNDED", head=ada, tail=lumen),
        Relation("KNOWS", 0.25, {"head": bo, "tail": ada, "place": lumen}),
    ]
    return doc


def described(doc):
    """Everything that a relation tells, with labels and ids of its arguments."""
    return [
        (
            relation.label,
            relation.score,
            {role: (s.text, s.label_, s.id_) for role, s in relation.arguments.items()},
        )
        for relation in doc._.relations
    ]


EXPECTED = [
    (
        "FOUNDED",
        1.0,
        {"head": ("Ada Park", "PERSON", "e0"), "tail": ("Lumen Labs", "ORG", "e2")},
    ),
    (
        "KNOWS",
        0.25,
        {
            "head": ("Bo Xu", "PERSON", "e1"),
            "tail": ("Ada Park", "PERSON", "e0"),
            "place": ("Lumen Labs", "ORG", "e2"),
        },
    ),
]


def test_what_is_set_can_be_read(gold):
    assert described(gold) == EXPECTED
    assert all(span.doc is gold for r in gold._.relations for span in r.arguments.values())


def test_setting_replaces_what_was_there(gold):
    gold._.relations = gold._.relations[1:]
    assert described(gold) == EXPECTED[1:]


def test_an_unannotated_doc_reads_as_empty_but_is_told_apart(doc):
    assert doc._.relations == () and read_records(doc) is None
    doc._.relations = []
    assert doc._.relations == () and read_records(doc) == []


def test_stored_data_are_plain_json_with_character_offsets(gold):
    (first, _) = gold._.relations_data
    head, tail = first["arguments"]
    assert head == {"role": "head", "start": 0, "end": 8, "label": "PERSON", "id": "e0"}
    assert gold.text[tail["start"] : tail["end"]] == "Lumen Labs"
    assert json.loads(json.dumps(gold._.relations_data)) == gold._.relations_data


def test_to_json_carries_the_stored_relations(gold):
    content = json.loads(json.dumps(gold.to_json(underscore=["relations_data"])))
    assert content["_"]["relations_data"] == gold._.relations_data
    other = Doc(Vocab()).from_json(content)
    assert described(other) == EXPECTED


def through_bytes(doc):
    return Doc(Vocab()).from_bytes(doc.to_bytes())


def through_docbin(doc):
    content = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (found,) = DocBin().from_bytes(content).get_docs(Vocab())
    return found


def through_pickle(doc):
    return pickle.loads(pickle.dumps(doc))


@pytest.mark.parametrize("travel", [through_bytes, through_docbin, through_pickle, Doc.copy])
def test_relations_survive(travel, gold):
    gold._.relations_skipped = {"cross_sentence": 3}
    found = travel(gold)
    assert described(found) == EXPECTED
    assert found._.relations == gold._.relations
    assert found._.relations_skipped == {"cross_sentence": 3}
    assert all(span.doc is found for r in found._.relations for span in r.arguments.values())


def test_docbin_turns_lists_into_tuples_that_read_alike(gold):
    found = through_docbin(gold)
    assert isinstance(found._.relations_data, tuple)
    assert read_records(found) == read_records(gold)
    found._.relations = found._.relations
    assert found._.relations_data == gold._.relations_data


def test_docbin_without_user_data_loses_them(gold):
    content = DocBin(docs=[gold]).to_bytes()
    (found,) = DocBin().from_bytes(content).get_docs(gold.vocab)
    assert read_records(found) is None


def test_a_copy_has_relations_of_its_own(gold):
    copy = gold.copy()
    copy._.relations = []
    assert described(gold) == EXPECTED


def test_merging_tokens_afterwards_keeps_the_relations(gold):
    before = gold._.relations
    keys = [(r.label, {role: s.text for role, s in r.arguments.items()}) for r in before]
    with gold.retokenize() as retokenizer:
        for entity in gold.ents:
            retokenizer.merge(entity)
    after = gold._.relations
    assert [(r.label, {role: s.text for role, s in r.arguments.items()}) for r in after] == keys
    assert {len(span) for r in after for span in r.arguments.values()} == {1}


def test_an_argument_within_a_merged_token_grows_to_the_token(gold):
    with gold.retokenize() as retokenizer:
        retokenizer.merge(gold[0:5])
    assert {span.text for span in gold._.relations[1].arguments.values()} == {
        "Ada Park and Bo Xu",
        "Lumen Labs",
    }


def test_an_argument_beyond_the_text_is_counted_once_and_not_read(gold):
    bad = Record("X", 1.0, (Argument("head", 0, 3, "", ""), Argument("tail", 900, 905, "", "")))
    write_records(gold, [*read_records(gold), bad], skipped={"max_tokens": 2})
    for _ in range(2):
        assert described(gold) == EXPECTED
        assert gold._.relations_skipped == {"max_tokens": 2, "unaligned_relations": 1}


def test_equality_compares_label_score_roles_and_offsets(doc):
    ada, bo, lumen = doc.ents
    relation = Relation("KNOWS", 0.5, head=ada, tail=bo)
    copy = doc.copy()
    same = Relation("KNOWS", 0.5, {"tail": copy[3:5], "head": copy[0:2]})
    assert relation == same and hash(relation) == hash(same)
    others = [
        Relation("LIKES", 0.5, head=ada, tail=bo),
        Relation("KNOWS", 0.6, head=ada, tail=bo),
        Relation("KNOWS", 0.5, head=bo, tail=ada),
        Relation("KNOWS", 0.5, head=ada, tail=lumen),
        Relation("KNOWS", 0.5, {"head": ada, "place": bo}),
        Relation("KNOWS", 0.5, head=ada),
        "KNOWS",
    ]
    assert all(relation != other for other in others)
    assert len({relation, same, *others}) == 1 + len(others)


def test_head_and_tail_are_the_arguments_of_these_roles(doc):
    ada, _, lumen = doc.ents
    relation = Relation("FOUNDED", arguments={"tail": lumen}, head=ada)
    assert (relation.head, relation.tail) == (ada, lumen)
    assert repr(relation) == "Relation('FOUNDED', 1.0, tail='Lumen Labs', head='Ada Park')"


@pytest.mark.parametrize("label", ["", None, 7])
def test_a_label_must_be_a_word(doc, label):
    with pytest.raises(ValueError, match="non-empty string"):
        Relation(label, head=doc[0:1])


@pytest.mark.parametrize("score", [float("nan"), 2, -0.1, float("inf")])
def test_a_score_must_be_a_probability(doc, score):
    with pytest.raises(ValueError, match="give a probability"):
        Relation("KNOWS", score, head=doc[0:1])


def test_a_relation_needs_arguments():
    with pytest.raises(ValueError, match="has no arguments"):
        Relation("KNOWS")


def test_spans_of_another_doc_are_refused_and_nothing_is_stored(gold):
    foreign = gold.copy()
    with pytest.raises(ValueError, match=r"the tail of .* belongs to another Doc"):
        gold._.relations = [Relation("KNOWS", head=gold[0:2], tail=foreign[3:5])]
    assert described(gold) == EXPECTED


@pytest.mark.parametrize("value", ["KNOWS", ("KNOWS", 0, 1), None])
def test_what_is_no_relation_is_refused(doc, value):
    with pytest.raises(ValueError, match="is no Relation"):
        doc._.relations = [value]


FOREIGN = ({"default": []}, {"getter": len}, {"getter": len, "setter": setattr}, {"method": len})
THEIRS = ("theirs", "theirs_data", "theirs_evidence", "theirs_skipped")


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda foreign: "-".join(foreign))
@pytest.mark.parametrize("name", THEIRS)
def test_an_extension_of_somebody_else_is_never_taken_over(foreign, name):
    Doc.set_extension(name, **foreign)
    theirs = Doc.get_extension(name)
    with pytest.raises(ValueError, match=f"Doc extension '{name}' already exists"):
        register_extensions("theirs")
    assert Doc.get_extension(name) == theirs
    assert [other for other in THEIRS if Doc.has_extension(other)] == [name]


def test_an_attr_that_is_the_storage_of_another_is_refused():
    with pytest.raises(ValueError, match="'relations_data' already exists"):
        register_extensions("relations_data")


def test_registering_twice_is_fine(gold):
    register_extensions()
    assert described(gold) == EXPECTED


def test_two_components_write_to_their_own_attr():
    nlp = sentences.build()
    config = {**sentences.SMALL, "attr": "links", "direction": "label"}
    nlp.add_pipe("klsh_relations", "second", config=config)
    docs = sentences.corpus(nlp.vocab)
    for doc in docs:
        doc._.links = [
            Relation("LINK", head=r.head, tail=r.tail)
            for r in doc._.relations
            if r.label == "FOUNDED"
        ]
    sentences.train(nlp, docs)
    found = nlp(sentences.bare(docs[0]))
    assert {r.label for r in found._.relations} == {"FOUNDED"}
    assert {r.label for r in found._.links} == {"LINK"}
    scores = nlp.evaluate(sentences.examples(docs))
    assert scores["rel_micro_f"] > 0.9 and scores["links_micro_f"] > 0.9


def test_arguments_are_found_by_offsets_then_id_then_label(doc):
    places = [(0, 2, "A", "x"), (0, 2, "B", "y"), (0, 2, "B", "z"), (3, 5, "A", "z")]
    spans = [Span(doc, s, e, label=label, span_id=name) for s, e, label, name in places]

    def row(start, end, label, name):
        return EntityIndex(spans).find(Argument("head", start, end, label, name))

    assert row(0, 8, "A", "y") == 1
    assert row(0, 8, "B", "") == 1
    assert row(0, 8, "C", "") == 0
    assert row(0, 3, "A", "x") == -1


DOC = Doc(Vocab(), words=WORDS)
SPANS = [DOC[i:j] for i in range(len(DOC)) for j in range(i + 1, len(DOC) + 1)]


@strategies.THOROUGH
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=3).filter(lambda text: text.isprintable()),
            st.floats(0, 1),
            st.dictionaries(
                st.sampled_from(["head", "tail", "été"]), st.sampled_from(SPANS)
            ).filter(bool),
        ),
        max_size=3,
    )
)
def test_any_relations_survive_docbin(drawn):
    doc = DOC.copy()
    relations = [
        Relation(label, score, {role: doc[s.start : s.end] for role, s in arguments.items()})
        for label, score, arguments in drawn
    ]
    doc._.relations = relations
    assert through_docbin(doc)._.relations == doc._.relations == tuple(relations)
