"""What happens to relations when their Doc is changed, cut, joined or sent elsewhere.

The common ways (bytes, DocBin, pickle, copy, JSON, merged tokens) are in test_relations.py.
"""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from pipeline.sentences import PATTERNS, SMALL, annotated, build, parsed, places
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.underscore import Underscore

from spacy_klsh import Relation, register_extensions
from spacy_klsh.pipeline.relations import read_records

VOCAB = spacy.blank("xx").vocab
register_extensions()


@pytest.fixture
def doc():
    """Two sentences; the relation is in the second."""
    return annotated(VOCAB, 1, 0, person="Ada", firm="Lumen")


def merged_docbins(doc):
    first, second = (DocBin(docs=[d], store_user_data=True) for d in (doc.copy(), doc))
    first.merge(second)
    return list(first.get_docs(doc.vocab))[1]


def merged_entities(doc):
    doc.vocab.strings.add("PROPN")
    return spacy.blank("xx").add_pipe("merge_entities")(doc)


def split_tokens(doc):
    with doc.retokenize() as retokenizer:
        for token in (doc[1], doc[6]):
            half = len(token.text) // 2
            pieces = [token.text[:half], token.text[half:]]
            retokenizer.split(token, pieces, heads=[(token, 1), token.head])
    return doc


def other_tokens(doc):
    """The same text in other tokens, with the stored data of the first."""
    other = Doc(VOCAB, words=list(doc.text), spaces=[False] * len(doc.text))
    other._.relations_data = doc._.relations_data
    return other


@pytest.mark.parametrize("way", [merged_docbins, merged_entities, split_tokens, other_tokens])
def test_relations_survive(way, doc):
    expected = [(*place, "Ada", "Lumen") for place in places(doc._.relations)]
    found = way(doc)._.relations
    texts = [(r.head.text, r.tail.text) for r in found]
    assert [(*p, *t) for p, t in zip(places(found), texts, strict=True)] == expected != []


def cut(doc):
    return list(doc.sents)[1].as_doc()


def cut_with_user_data(doc):
    return list(doc.sents)[1].as_doc(copy_user_data=True)


def joined(doc):
    with pytest.warns(UserWarning, match="W101"):
        return Doc.from_docs([doc, doc])


def without_user_data(doc):
    return Doc(VOCAB).from_bytes(doc.to_bytes(exclude=["user_data"]))


def plain_json(doc):
    return Doc(VOCAB).from_json(doc.to_json())


@pytest.mark.parametrize("way", [cut, cut_with_user_data, joined, without_user_data, plain_json])
def test_relations_are_lost_and_never_wrong(way, doc):
    found = way(doc)
    assert read_records(found) is None and found._.relations == ()


def test_the_extensions_can_be_sent_to_a_spawned_process(doc):
    state = pickle.dumps(Underscore.get_state())
    here = Underscore.get_state()
    try:
        Underscore.load_state(({}, {}, {}))
        assert not Doc.has_extension("relations")
        Underscore.load_state(pickle.loads(state))
        assert [r.label for r in doc._.relations] == ["FOUNDED"]
        doc._.relations = []
        assert doc._.relations == ()
        register_extensions()  # still ours
    finally:
        Underscore.load_state(here)


THROUGH = """
import json, multiprocessing, sys
import spacy
from pipeline.sentences import annotated, places

if __name__ == "__main__":
    nlp = spacy.blank("xx")
    nlp.add_pipe("merge_entities")
    found = {}
    for method in ("fork", "spawn"):
        multiprocessing.set_start_method(method, force=True)
        docs = [annotated(nlp.vocab, 1, 0), annotated(nlp.vocab, 2, 3)]
        found[method] = [places(doc._.relations) for doc in nlp.pipe(docs, n_process=2)]
    print(json.dumps(found))
"""


def test_gold_relations_pass_through_other_processes():
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.getenv("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    output = subprocess.run(
        [sys.executable, "-c", THROUGH], env=environment, capture_output=True, check=True
    ).stdout
    docs = [annotated(VOCAB, 1, 0), annotated(VOCAB, 2, 3)]
    expected = json.loads(json.dumps([places(doc._.relations) for doc in docs]))
    assert json.loads(output) == {"fork": expected, "spawn": expected}
    assert all(expected)


@pytest.fixture
def twins():
    """A Doc with two entities of equal offsets and label, told apart by their ids."""
    doc = parsed(VOCAB, PATTERNS[0][0])
    spans = [Span(doc, 0, 1, label="PERSON", span_id=name) for name in ("first", "second")]
    doc.spans["names"] = [*spans, Span(doc, 2, 3, label="ORG", span_id="firm")]
    return doc


@pytest.mark.parametrize("name", ["first", "second"])
def test_ids_tell_equal_spans_apart_in_what_is_stored(twins, name):
    head = next(span for span in twins.spans["names"] if span.id_ == name)
    twins._.relations = [Relation("FOUNDED", head=head, tail=twins.spans["names"][2])]
    content = DocBin(docs=[twins], store_user_data=True).to_bytes()
    (found,) = DocBin().from_bytes(content).get_docs(spacy.blank("xx").vocab)
    (relation,) = found._.relations
    assert (relation.head.id_, relation.tail.id_) == (name, "firm")
    assert [span.id_ for span in found.spans["names"]] == ["first", "second", "firm"]


@pytest.mark.parametrize("head", ["Ada", None, 3, (0, 1)])
def test_an_argument_must_be_a_span(head):
    with pytest.raises(ValueError, match=r"the head of 'KNOWS' is .*; give a Span"):
        Relation("KNOWS", arguments={"head": head})


def test_two_instances_with_one_attr_are_refused():
    nlp = build()
    with pytest.raises(ValueError, match=r"'klsh_relations' writes to doc\._\.relations already"):
        nlp.add_pipe("klsh_relations", "second", config=SMALL)
    nlp.replace_pipe("klsh_relations", "klsh_relations", config=SMALL)
    assert nlp.pipe_names == ["klsh_relations"]


def test_two_instances_with_different_attr_are_told_apart_in_every_copy(doc):
    register_extensions("links")
    doc._.links = [Relation("LINK", head=doc[0:1], tail=doc[2:3])]
    for found in (doc.copy(), pickle.loads(pickle.dumps(doc)), merged_docbins(doc)):
        assert [r.label for r in found._.links] == ["LINK"]
        assert [r.label for r in found._.relations] == ["FOUNDED"]
