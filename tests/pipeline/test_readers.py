import zlib

import pytest
import spacy
from pipeline import sentences
from spacy.tokens import Doc, DocBin, Span

from spacy_klsh.pipeline.readers import RelationCorpus, give_entities
from spacy_klsh.pipeline.relations import register_extensions


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def docs(nlp):
    docs = sentences.corpus(nlp.vocab, 5)
    for i, doc in enumerate(docs):
        doc.user_data["id"] = f"d{i}"
        doc.spans["names"] = [Span(doc, 0, 2, label="NAME", span_id="n")]
        doc[0].norm_ = "norm"
    return docs


@pytest.fixture
def path(docs, tmp_path):
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    return tmp_path / "a.spacy"


def spans(found):
    return [(span.start, span.end, span.label_, span.id_) for span in found]


def test_the_reference_has_the_gold_relations_and_the_prediction_none(nlp, path, docs):
    examples = list(RelationCorpus(path)(nlp))
    assert len(examples) == 5
    for example, doc in zip(examples, docs, strict=True):
        assert example.reference._.relations == doc._.relations
        assert example.predicted._.relations_data is None


def test_the_prediction_has_tokens_sentences_norms_and_id_but_no_parse(nlp, path):
    for example in RelationCorpus(path)(nlp):
        predicted, reference = example.predicted, example.reference
        assert predicted.text == reference.text
        for attribute in ("text", "norm_", "is_sent_start", "whitespace_"):
            assert [getattr(t, attribute) for t in predicted] == [
                getattr(t, attribute) for t in reference
            ]
        assert not predicted.has_annotation("DEP")
        assert predicted.user_data["id"] == reference.user_data["id"]


@pytest.mark.parametrize("gold_entities", [True, False])
def test_the_prediction_has_gold_entities_if_wanted(nlp, path, gold_entities):
    corpus = RelationCorpus(path, gold_entities=gold_entities, spans_key="names")
    for example in corpus(nlp):
        expected = spans(example.reference.ents) if gold_entities else []
        assert spans(example.predicted.ents) == expected
        assert ("names" in example.predicted.spans) == gold_entities


def test_a_span_group_is_copied_with_labels_and_ids(nlp, path):
    (example, *_) = RelationCorpus(path, spans_key="names")(nlp)
    assert spans(example.predicted.spans["names"]) == [(0, 2, "NAME", "n")]
    assert example.predicted.spans["names"][0].doc is example.predicted


def test_a_span_group_that_is_missing_is_no_error(nlp, path):
    (example, *_) = RelationCorpus(path, spans_key="other")(nlp)
    assert "other" not in example.predicted.spans


def test_gold_entities_block_an_entity_recognizer(nlp, english):
    doc = english.make_doc("Maria Lopez met John Smith in Paris.")
    reference = doc.copy()
    reference.ents = [Span(reference, 3, 5, label="FRIEND", span_id="e")]
    give_entities(doc, reference)
    assert spans(english(doc).ents) == [(3, 5, "FRIEND", "e")]
    assert len(english("Maria Lopez met John Smith in Paris.").ents) > 1


def test_a_doc_without_known_sentences_stays_without(nlp, tmp_path):
    doc = Doc(nlp.vocab, words=["a", "b"])
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    (example,) = RelationCorpus(tmp_path)(nlp)
    assert not example.predicted.has_annotation("SENT_START")


@pytest.mark.parametrize(("limit", "n"), [(0, 5), (2, 2), (9, 5)])
def test_limit_reads_so_many_docs(nlp, path, limit, n):
    assert len(list(RelationCorpus(path, limit=limit)(nlp))) == n


def test_a_directory_is_read_in_the_order_of_its_names(nlp, docs, tmp_path):
    for name, doc in (("b/x", docs[1]), ("c", docs[2]), ("a", docs[0])):
        file = tmp_path / f"{name}.spacy"
        file.parent.mkdir(exist_ok=True)
        DocBin(docs=[doc], store_user_data=True).to_disk(file)
    found = [example.predicted.user_data["id"] for example in RelationCorpus(tmp_path)(nlp)]
    assert found == ["d0", "d1", "d2"]


@pytest.mark.parametrize("name", [None, "nowhere.spacy", "."])
def test_a_path_without_docs_is_refused(nlp, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"no \.spacy file at .*spacy-klsh convert"):
        list(RelationCorpus(name)(nlp))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no DocBin",
        zlib.compress(b""),
        zlib.compress(b"\xc1"),
        zlib.compress(b"\x80"),
        zlib.compress(b"\x07"),
    ],
)
def test_a_broken_file_is_named(nlp, tmp_path, content):
    (tmp_path / "a.spacy").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.spacy is not what DocBin writes"):
        list(RelationCorpus(tmp_path / "a.spacy")(nlp))


def test_relations_of_another_attr_are_read_where_nothing_else_registers_it(nlp, tmp_path):
    register_extensions("read_links")
    (doc,) = sentences.corpus(nlp.vocab, 1)
    doc._.read_links = doc._.relations
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    for name in ("read_links", "read_links_data", "read_links_skipped"):
        Doc.remove_extension(name)
    (example,) = RelationCorpus(tmp_path, attr="read_links")(nlp)
    assert example.reference._.read_links == doc._.relations != ()
    assert example.predicted._.read_links_data is None


def test_what_it_reads_trains_and_scores(path, docs, tmp_path):
    nlp = sentences.build()
    more = tmp_path / "more.spacy"
    DocBin(docs=sentences.corpus(nlp.vocab), store_user_data=True).to_disk(more)
    nlp.initialize(lambda: RelationCorpus(more)(nlp))
    examples = sentences.examples([example.reference for example in RelationCorpus(path)(nlp)])
    assert nlp.evaluate(examples)["rel_micro_f"] == 1
