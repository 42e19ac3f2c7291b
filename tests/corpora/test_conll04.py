import pytest

from spacy_klsh.corpora.conll04 import read_conll04


def tokens(id, *triples):
    return [
        f"{id}\t{label}\t{number}\tO\t{tags}\t{words}\tO\tO\tO"
        for number, (label, tags, words) in enumerate(triples)
    ]


ADA = [
    *tokens(
        4,
        ("Peop", "NNP/NNP", "Ada/Park"),
        ("O", ",", "COMMA"),
        ("O", "NN", "w/o"),
        ("O", "-LRB-", "-LRB-"),
        ("Org", "NNP/NN/:/NNP", "Lum/&amp/;/Co"),
        ("O", "-RRB-", "-RRB-"),
        ("O", "NNP", "R&amp"),
        ("O", ":", ";"),
        ("O", ":", ";"),
    ),
    "",
    "4\t0\tEmploys",
    "0\t4\tWork_For",
    "",
]
BO = [*tokens(7, ("Peop", "NNP", "Bo"), ("O", ".", ".")), "", ""]


@pytest.fixture
def read(nlp, write):
    def read(*lines):
        return read_conll04(write("x.corp", *lines), nlp)

    return read


def test_sentences_become_docs(read):
    (ada, bo), report = read(*ADA, *BO)
    assert ada.text == "Ada Park , w/o ( Lum & Co ) R& ;" and bo.text == "Bo ."
    assert [(entity.text, entity.label_) for entity in ada.ents] == [
        ("Ada Park", "Peop"),
        ("Lum & Co", "Org"),
    ]
    assert [(r.label, r.head.text, r.tail.text) for r in ada._.relations] == [
        ("Employs", "Lum & Co", "Ada Park"),
        ("Work_For", "Ada Park", "Lum & Co"),
    ]
    assert bo._.relations == () and ada.user_data["id"] == "4"
    assert report.ok and report.sentences == 2 and not report.changes


def test_slashes_of_the_name(read):
    line = tokens(0, ("Org", "NNP", "Tic/Tac"), ("Org", "NNP/NNS", "Ed/Pub/Co"), ("O", "NN", "/"))
    (doc,), report = read(*line)
    assert doc.text == "Tic/Tac Ed Pub Co /"
    assert [entity.text for entity in doc.ents] == ["Tic/Tac", "Ed Pub Co"]
    assert report.ok and report.changes["ambiguous_slashes"] == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*tokens(5, ("O", "NN", "x")), "", "0\t0"], "2 columns; expected 9: sentence id, "),
        ([*tokens(5, ("O", "NN", "x")), "", "0\t0\tR"], "'R' names the token '0'; expected one of"),
        ([*tokens(5, ("Org", "NN/NN", "x")), "", "0\t1\tR"], "'R' names the token '1'"),
        ([*tokens(5, ("Org", "NN", "x")), "", "0\t0\t"], "relation of two tokens is empty"),
        ([tokens(5, ("Org", "NN", "x"))[0][:-4]], "7 columns; expected 9: "),
        (tokens(5, ("O", "NN", "x")) * 2, "tokens 0 0 of ['5']; expected those of one sentence"),
        (tokens(5, ("O", "NN", "x")) + BO[1:2], "tokens 0 1 of ['5', '7']; expected"),
        (tokens(5, ("O", "NN", "x"), ("O", "NN", "y"))[1:], "tokens 1 of ['5']"),
        (
            [*tokens(5, ("O", "NN", "x")), b"5\tO\t1\tO\tNN\t\xe9\tO\tO\tO"],
            "byte 0xe9 at position 12",
        ),
    ],
)
def test_a_bad_sentence_does_not_spoil_the_others(read, lines, message):
    docs, report = read(*ADA, "", *lines, "", "", *BO)
    assert [doc.user_data["id"] for doc in docs] == ["4", "7"]
    assert report.errors == {"bad_sentences": 1} and not report.changes
    (example,) = report.examples["bad_sentences"]
    assert f"x.corp:{len(ADA) + 2}: " in example and message in example


def test_relations_without_a_sentence(read):
    docs, report = read("0\t1\tR", "", *BO)
    assert len(docs) == 1 and report.errors == {"bad_sentences": 1}


def test_a_missing_file(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_conll04(tmp_path / "none.corp", nlp)


def test_published_corpus(corpus, nlp):
    docs, report = read_conll04(corpus("conll04") / "corp.tsv.gz", nlp)
    assert report.ok and len(docs) == 5516
    assert report.mentions == {"Loc": 4765, "Peop": 3918, "Other": 2995, "Org": 2499}
    assert report.relations == {
        "Live_In": 521,
        "OrgBased_In": 452,
        "Located_In": 406,
        "Work_For": 401,
        "Kill": 268,
    }
    assert sum(len(doc.ents) for doc in docs) == 14_177
    assert sum(len(doc._.relations) for doc in docs) == 2048
    assert sum(bool(doc._.relations) for doc in docs) == 1441
    assert report.changes["ambiguous_slashes"] == 6
    assert set(report.changes) <= {"ambiguous_slashes", "split_mentions"}
