import pytest

from spacy_klsh.corpora.pubtator import read_pubtator

TEXT = ["7|t|Zorin|abc?", "7|a|Two β-zorins hurt; knees & hips ache. &amp;"]
MENTIONS = [
    "7\t0\t5\tZorin\tChemical\tD1",
    "7\t15\t23\tβ-zorins\tChemical\tD1|D9\t",
    "7\t30\t42\tknees & hips\tDisease\tD2|D3\tknees|hips",
    "7\t43\t47\tache\tDisease",
]
RELATIONS = ["7\tCID\tD1\tD3", "7\tCID\tD9\tD2\tNovel"]
DOCUMENT = [*TEXT, *MENTIONS, *RELATIONS]
OTHER = ["", "8|t|Ouch", "8|a|", ""]


@pytest.fixture
def read(nlp, write):
    def read(*lines):
        return read_pubtator(write("x.PubTator", *lines), nlp)

    return read


def found(doc):
    return [(r.label, r.head.text, r.tail.text) for r in doc._.relations]


def test_documents_and_relations_of_concepts(read):
    (doc, other), report = read(*DOCUMENT, *OTHER)
    assert doc.text == "Zorin|abc? Two β-zorins hurt; knees & hips ache. &amp;"
    spans = [(entity.text, entity.label_, entity.id_) for entity in doc.ents]
    assert spans == [
        ("Zorin", "Chemical", "D1"),
        ("β-zorins", "Chemical", "D1|D9"),
        ("knees & hips", "Disease", "D2|D3"),
        ("ache", "Disease", ""),
    ]
    assert found(doc) == [
        ("CID", "Zorin", "knees & hips"),
        ("CID", "β-zorins", "knees & hips"),
        ("CID", "β-zorins", "knees & hips"),
    ]
    assert other.text == "Ouch " and [doc.user_data["id"], other.user_data["id"]] == ["7", "8"]
    assert report.ok and report.changes["document_relations"] == 2
    assert "x.PubTator:7: CID of D1 and D3, between 2 pairs of mentions" in str(report)


@pytest.mark.parametrize("variant", ["p|SUB|V|600|E", "c|DEL|3,4|A", "tmVar:p|FS|R;RS#:3"])
@pytest.mark.parametrize("names", ["{}", "D8|{}", "{};D8", "D7,{},D8"])
def test_concepts_with_separators_inside(read, variant, names):
    variants = f"7\t43\t47\tache\tMutation\t{names.format(variant)}"
    (doc,), report = read(*TEXT, *MENTIONS[:3], variants, f"7\tCID\tD9\t{variant}")
    assert found(doc) == [("CID", "β-zorins", "ache")] and report.ok
    (doc,), report = read(*TEXT, *MENTIONS[:3], variants, f"7\tCID\tD9\t{variant[:-1]}")
    assert found(doc) == [] and report.errors == {"unknown_entities": 1}


@pytest.mark.parametrize("relation", ["7\tCID\tD1\tD7", "7\tCID\tD1\t", "7\tCID\tD2\tD3"])
def test_concepts_without_two_mentions(read, relation):
    docs, report = read(*DOCUMENT, relation, *OTHER)
    assert len(docs) == 2 and len(found(docs[0])) == 3
    assert report.errors == {"unknown_entities": 1} and "x.PubTator:9: CID of " in str(report)


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        ("7\t1\t5\tZorin\tChemical\tD1", "x.PubTator:9: 1 to 5 is 'orin'; expected 'Zorin'; left"),
        ("7\t0\t99\tZorin\tChemical\tD1", "ache. &amp;'; expected 'Zorin'"),
        ("7\t5\t5\t\tChemical\tD1", "5 to 5 is ''; expected ''"),
    ],
)
def test_mentions_that_disagree_with_the_text(read, mention, message):
    docs, report = read(*DOCUMENT, mention, *OTHER)
    assert len(docs) == 2 and len(docs[0].ents) == 4
    assert report.errors == {"wrong_mentions": 1} and message in str(report)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["9|t|x"], "begins with b'9|t|x'; expected id|t|title and id|a|abstract"),
        (["9|t|x", "9\t0\t1\tx\tY\tZ"], "begins with b'9|t|x'; expected"),
        (["9|t|x", "8|a|y"], "begins with b'9|t|x'; expected"),
        (["9|a|x", "9|t|y"], "begins with b'9|a|x'; expected"),
        (["9|t|x", "9|a|y", "8|t|z"], "1 columns; expected 5 to 7: document id, start"),
        (["9|t|x", "9|a|y", "8\t0\t1\tx\tY\tZ"], "line 12 is of '8', not '9'; expected an empty"),
        (["9|t|x", "9|a|y", "9\t0\t1\tx"], "line 12 is ['9', '0', '1', 'x']; expected 5 to 7"),
        (["9|t|x", "9|a|y", "9\tR\ta\tb\tc\td"], "line 12 is ['9', 'R', 'a', 'b', 'c', 'd']"),
        (["9|t|x", "9|a|y", "9\t0\t1"], "3 columns; expected 5 to 7"),
        ([b"9|t|\xe9", "9|a|y"], "byte 0xe9 at position 5"),
    ],
)
def test_a_bad_document_does_not_spoil_the_others(read, lines, message):
    docs, report = read(*DOCUMENT, "", *lines, *OTHER)
    assert [doc.user_data["id"] for doc in docs] == ["7", "8"]
    assert report.errors == {"bad_documents": 1}
    (example,) = report.examples["bad_documents"]
    assert "x.PubTator:10: " in example and message in example


@pytest.mark.parametrize(
    ("name", "n_mentions", "n_relations", "errors"),
    [
        ("CDR_sample.txt", 925, 124, {"unknown_entities": 1}),  # a concept nobody mentions
        ("CDR_sample.gold.PubTator", 934, 123, {}),
    ],
)
def test_published_sample(corpus, nlp, name, n_mentions, n_relations, errors):
    docs, report = read_pubtator(corpus("format-samples") / "bc5cdr" / name, nlp)
    assert report.errors == errors and len(docs) == 50
    assert sum(len(doc.spans["entities"]) for doc in docs) == n_mentions
    assert report.mentions.total() == n_mentions
    assert errors == {} or report.mentions == {"Chemical": 502, "Disease": 423}
    assert report.changes["document_relations"] + report.errors.total() == n_relations
