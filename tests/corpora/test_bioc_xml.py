import re

import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.corpora import bioc_xml
from spacy_klsh.corpora.bioc_xml import read_bioc
from spacy_klsh.corpora.documents import Mention
from spacy_klsh.corpora.pubtator import read_pubtator
from spacy_klsh.corpora.report import Report

HEADER = '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE collection SYSTEM "BioC.dtd">'


def infons(pairs):
    return "".join(f'<infon key="{key}">{value}</infon>' for key, value in pairs.items())


def annotation(id, text, *locations, label="Gene", **more):
    places = "".join(f'<location offset="{at}" length="{n}"/>' for at, n in locations)
    words = "" if text is None else f"<text>{text}</text>"
    return f'<annotation id="{id}">{infons({"type": label} | more)}{places}{words}</annotation>'


def relation(id, *nodes, label="binds"):
    inside = "".join(f'<node refid="{refid}" role="{role}"/>' for refid, role in nodes)
    return f'<relation id="{id}"><infon key="type">{label}</infon>{inside}</relation>'


def between(*concepts, **label):
    named = {f"Concept{number}": concept for number, concept in enumerate(concepts)}
    return f'<relation id="R0">{infons(label | named)}</relation>'


def part(tag, offset, text, *children):
    words = "" if text is None else f"<text>{text}</text>"
    return f"<{tag}><offset>{offset}</offset>{words}{''.join(children)}</{tag}>"


def passage(offset, text, *children):
    return part("passage", offset, text, *children)


def document(*children, id="d1"):
    return f"<document><id>{id}</id>{''.join(children)}</document>"


def collection(*documents):
    return f"{HEADER}<collection><source>made up</source>{''.join(documents)}</collection>"


XA, YB = annotation("T1", "Xa", (0, 2)), annotation("T2", "Yb", (7, 2), label="Drug")
TEXT = "Xa and Yb bind."
OTHER = document(passage(0, "Ouch"), id="d2")


@pytest.fixture
def read(nlp, write):
    def read(*documents):
        return read_bioc(write("x.xml", collection(*documents)), nlp)

    return read


def found(doc):
    return [
        (relation.label, {role: span.text for role, span in relation.arguments.items()})
        for relation in doc._.relations
    ]


def texts(doc):
    return [span.text for span in doc.spans["entities"]]


def test_passages_annotations_and_relations(read):
    (doc, other), report = read(
        document(
            passage(0, TEXT, XA, YB, relation("R1", ("T2", "Agent"), ("T1", "Theme"))),
            passage(16, "Zc &lt; 5 é", annotation("T3", "é", (23, 1), label="")),
            relation("R2", ("T1", "Agent"), ("T3", "Theme")),
        ),
        OTHER,
    )
    assert doc.text == "Xa and Yb bind. Zc < 5 é" and other.text == "Ouch"
    assert [doc.user_data["id"], other.user_data["id"]] == ["d1", "d2"]
    assert [(span.text, span.label_, span.id_) for span in doc.spans["entities"]] == [
        ("Xa", "Gene", "T1"),
        ("Yb", "Drug", "T2"),
        ("é", "", "T3"),
    ]
    ids = dict(zip(doc.user_data["relation_ids"], found(doc), strict=True))
    assert ids == {
        "R1": ("binds", {"Agent": "Yb", "Theme": "Xa"}),
        "R2": ("binds", {"Agent": "Xa", "Theme": "é"}),
    }
    assert report.ok and report.changes == {"unlabelled_mentions": 1}
    assert (report.documents, report.sentences, report.relations) == (2, 0, {"binds": 2})
    assert other._.relations == () and not doc.has_annotation("SENT_START")


def test_a_document_without_id_is_called_by_its_place(read):
    (doc,), report = read(document(passage(0, TEXT, XA), id=""))
    assert doc.user_data["id"].endswith("x.xml:1") and report.ok


@pytest.mark.parametrize(("gap", "first"), [(0, 0), (1, 0), (1, 300), (7, 0), (-len(TEXT), 0)])
def test_offsets_count_from_the_offset_of_the_passage(read, gap, first):
    second = first + len(TEXT) + gap
    (doc,), report = read(
        document(
            passage(first, TEXT, annotation("T1", "Yb", (first + 7, 2))),
            passage(second, TEXT, annotation("T1", "Yb", (second + 7, 2))),
        )
    )
    assert doc.text == f"{TEXT} {TEXT}" and report.ok and not report.changes
    assert [span.start_char for span in doc.ents] == [7, 23]


@pytest.mark.parametrize("start", [0, 300])
def test_offsets_that_count_escaped_texts_are_repaired(read, start):
    """The offsets of passages count ``&apos;`` as six characters, those of annotations as one."""
    first, second, third = "Xa's &quot;end&quot;", "Nobody's.", "Yb &amp; Yb"
    (doc,), report = read(
        document(
            passage(start, first, annotation("T1", "Xa", (start, 2))),
            passage(start + 26, second),  # 11 and three times 5; nothing in it needs a repair
            passage(
                start + 41,
                third,
                annotation("T2", "Yb", (start + 21, 2)),
                annotation("T3", "Yb", (start + 26, 2)),
            ),
        )
    )
    assert doc.text == "Xa's \"end\" Nobody's. Yb & Yb"
    assert [(span.id_, span.start_char) for span in doc.ents] == [("T1", 0), ("T2", 21), ("T3", 26)]
    assert report.ok and report.changes == {"repaired_offsets": 1}
    assert (
        f"x.xml:d1: passage at {start + 41}, after the texts before it at {start + 21}; "
        "annotations that agree: 0, 2"
    ) in str(report)


def test_one_wrong_annotation_moves_no_passage(read):
    (doc,), report = read(
        document(
            passage(0, "One's."),
            passage(12, TEXT, annotation("T1", "Xa", (12, 2)), annotation("T2", "Yb", (14, 2))),
        )
    )
    assert texts(doc) == ["Xa"] and not report.changes and report.errors == {"wrong_mentions": 1}


def test_several_locations(read):
    split, joined = (4, 5), (16, 4)
    (doc,), report = read(
        document(
            passage(0, "The"),
            passage(
                4,
                "renal or liver pain",
                annotation("T1", "renal pain", (4, 5), (19, 4)),
                annotation("T2", "renalpain", (4, 5), (19, 4)),
                annotation("T3", "pain renal", (19, 4), (4, 5)),
                annotation("T4", "renal pain", split, joined),
            ),
        )
    )
    assert texts(doc) == ["renal or liver pain"] * 3
    pieces = [[4, 9], [19, 23]]
    assert [row["pieces"] for row in doc.user_data["pieces"]] == [pieces, pieces, pieces[::-1]]
    assert report.errors == {"wrong_mentions": 1}
    assert (
        "x.xml:d1: annotation 'T4': its location 4 + 5, 16 + 4 is 'renal er p'; expected "
        "'renal pain' there; left out, correct it."
    ) in str(report)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ((1, 2), "1 + 2 is 'a '; expected 'Xa' there"),
        ((0, 99), "0 + 99 is not in its text; expected 'Xa' there"),
        ((0, 0), "0 + 0 is not in its text"),
        ((0, -2), "0 + -2 is not in its text"),
        (("", 2), " + 2 is not in its text"),
        (("zero", 2), "zero + 2 is not in its text"),
    ],
)
def test_annotations_that_disagree_with_the_text(read, location, message):
    wrong = annotation("T9", "Xa", location)
    lost = relation("R1", ("T9", "head"), ("T2", "tail"))
    (doc, _), report = read(document(passage(0, TEXT, XA, YB, wrong, lost)), OTHER)
    assert texts(doc) == ["Xa", "Yb"] and found(doc) == []
    assert report.errors == {"wrong_mentions": 1} and report.changes == {"lost_relations": 1}
    assert f"x.xml:d1: annotation 'T9': its location {message}" in str(report)


def test_annotations_without_text_or_location(read):
    (doc,), report = read(
        document(passage(0, TEXT, annotation("T1", None, (7, 2)), annotation("T2", "Zorin")))
    )
    assert texts(doc) == ["Yb"] and report.ok and report.changes == {"unlocated_mentions": 1}
    assert "x.xml:d1: annotation 'T2' 'Zorin'" in str(report)


def test_annotations_of_the_document_are_found_in_its_passages(read):
    (doc,), report = read(
        document(passage(0, "It is"), passage(6, TEXT), annotation("T1", "Yb", (13, 2)))
    )
    assert texts(doc) == ["Yb"] and report.ok


@given(
    offsets=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    locations=st.lists(st.tuples(st.integers(-1, 40), st.integers(-1, 9)), min_size=1, max_size=2),
    wanted=st.sampled_from([None, "a", "aa", "b", "a b", "ab"]),
)
def test_the_first_passage_that_agrees_whatever_the_offsets(offsets, locations, wanted):
    texts = ["aab", "", "baaaaaaab", "ab", "a", "aaaa"][: len(offsets)]
    passages = [passage(*both) for both in zip(offsets, texts, strict=True)]
    element = ElementTree.fromstring(document(*passages, annotation("T1", wanted, *locations)))
    report = Report()
    read = bioc_xml._document(element, "x", report)
    bases = [sum(len(text) + 1 for text in texts[:row]) for row in range(len(texts))]
    found = [
        [(at - offset + base, at - offset + base + n) for at, n in locations]
        for offset, base, text in zip(offsets, bases, texts, strict=True)
        if all(at >= offset and n > 0 and at - offset + n <= len(text) for at, n in locations)
    ]
    covered = [[read.text[start:end] for start, end in pieces] for pieces in found]
    first = next(
        (
            Mention.covering(tuple(pieces), "Gene", "T1")
            for pieces, words in zip(found, covered, strict=True)
            if wanted in (None, " ".join(words), "".join(words))
        ),
        None,
    )
    assert read.mentions == ([first] if first else [])
    if not first:
        shown = repr(" ".join(covered[0])) if covered else "not in its text"
        assert f"is {shown}; expected {wanted!r}" in str(report)


def test_sentences_are_the_text_of_a_passage_without_one(read):
    (doc,), report = read(
        document(
            passage(0, "A Title"),
            part(
                "passage",
                8,
                None,
                part("sentence", 8, TEXT, annotation("T1", "Xa", (8, 2))),
                part("sentence", 24, TEXT, annotation("T1", "Yb", (31, 2))),
                annotation("T2", "bind", (34, 4)),
                relation("R1", ("T2", "head"), ("T2", "tail")),
            ),
        )
    )
    assert doc.text == f"A Title {TEXT} {TEXT}" and report.ok
    assert [sentence.text for sentence in doc.sents] == ["A Title", TEXT, TEXT]
    assert texts(doc) == ["Xa", "Yb", "bind"] and report.sentences == 3


def test_sentences_in_the_text_of_a_passage(read):
    (doc,), report = read(
        document(
            passage(0, "Say's"),
            passage(
                11,  # five too many, as the sentences
                "It is. Xa!  Yb?",
                part("sentence", 11, None),
                part("sentence", 18, "Xa!", annotation("T1", "Xa", (13, 2))),
                part("sentence", 22, "Yb?"),
                part("sentence", 99, None),
            ),
        )
    )
    assert [sentence.text for sentence in doc.sents] == ["Say's", "It is.", "Xa!  Yb?"]
    assert texts(doc) == ["Xa"] and report.changes == {"repaired_offsets": 1}
    assert report.errors == {"wrong_sentences": 2}
    assert "sentence at 22 in the passage at 11 of 15 characters; expected 'Yb?'" in str(report)


BOTH = ("T1", "{}"), ("T2", "{}")


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (["subj", "obj"], {"subj": "Xa", "obj": "Yb"}),
        (["Arg2", "Arg1"], {"head": "Yb", "tail": "Xa"}),
        (["", ""], {"head": "Xa", "tail": "Yb"}),
        (["", "Theme"], {"head": "Xa", "tail": "Yb"}),
        (["protein", "protein"], {"head": "Xa", "tail": "Yb"}),
        (["Theme"], {"Theme": "Xa"}),
        (["Theme", "Cause", "Theme"], {"Theme": "Xa", "Cause": "Yb", "Theme2": "bind"}),
    ],
)
def test_roles(read, roles, expected):
    nodes = [(f"T{number}", role) for number, role in enumerate(roles, 1)]
    bind = annotation("T3", "bind", (10, 4))
    (doc,), report = read(document(passage(0, TEXT, XA, YB, bind, relation("R1", *nodes))))
    assert found(doc) == [("binds", expected)] and report.ok


def test_ids_that_repeat_in_each_passage(read):
    nodes = ("T1", "head"), ("T2", "tail")
    (doc,), report = read(
        document(
            passage(0, TEXT, XA, YB, relation("R1", *nodes)),
            passage(
                16,
                "Zc or Qd",
                annotation("T1", "Zc", (16, 2)),
                relation("R1", *nodes),
                relation("R2", ("T1", "head"), ("T3", "tail")),
            ),
            passage(25, "Qd", annotation("T3", "Qd", (25, 2))),
            relation("R3", *nodes),
        )
    )
    assert found(doc) == [
        ("binds", {"head": "Xa", "tail": "Yb"}),
        ("binds", {"head": "Zc", "tail": "Yb"}),
        ("binds", {"head": "Zc", "tail": "Qd"}),
    ]
    assert report.errors == {"bad_relations": 1}  # of the document, which has two T1
    assert "x.xml:d1: relation 'R3': 2 annotations have the id 'T1'; expected one" in str(report)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (relation("R9", ("T7", "a"), ("T1", "b")), "0 annotations have the id 'T7'; expected one"),
        (relation("R9", ("", "a"), ("T1", "b")), "0 annotations have the id ''; expected one"),
        (relation("R9", ("T1", "a"), ("T2", ""), ("T1", "c")), "['a', '', 'c']; expected one for"),
        (relation("R9", ("T1", "a"), ("T2", "b"), label=""), "no infon with key relation or type"),
        (relation("R9"), "no nodes and 0 other infons; expected two concepts"),
    ],
)
def test_bad_relations(read, wrong, message):
    right = relation("R1", ("T1", "a"), ("T2", "b"))
    nameless = annotation("", "bind", (10, 4))
    (doc, _), report = read(document(passage(0, TEXT, XA, YB, nameless, wrong, right)), OTHER)
    assert found(doc) == [("binds", {"a": "Xa", "b": "Yb"})]
    assert report.errors == {"bad_relations": 1}
    assert "x.xml:d1: relation 'R9': " in str(report) and message in str(report)


def test_relations_of_relations_are_counted(read):
    inner, outer = relation("R1", ("T1", "Theme")), relation("R2", ("T2", "Cause"), ("R1", "Theme"))
    (doc,), report = read(document(passage(0, TEXT, XA, YB, inner, outer)))
    assert found(doc) == [("binds", {"Theme": "Xa"})]
    assert report.ok and report.changes == {"nested_relations": 1}
    assert "x.xml:d1: relation 'R2' binds of 'R1'" in str(report)


@pytest.mark.parametrize("key", ["relation", "type"])
def test_relations_of_concepts(read, key):
    (doc,), report = read(
        document(
            passage(
                0,
                "Xa and Yb or Xa",
                annotation("0", "Xa", (0, 2), MESH="D1|D9"),
                annotation("1", "Yb", (7, 2), MESH="D2", Composite="no"),
            ),
            passage(16, "Xa", annotation("2", "Xa", (16, 2), identifier="D1")),
            passage(19, "Qd", annotation("3", "Qd", (19, 2))),
            between("D1", "D2", "Novel", **{key: "CID"}),
        )
    )
    assert found(doc) == [("CID", {"head": "Xa", "tail": "Yb"})] * 2
    assert {relation.head.start_char for relation in doc._.relations} == {0, 16}
    assert report.ok and report.changes == {"document_relations": 1}
    assert "relation 'R0': CID of D1 and D2, between 2 pairs of mentions" in str(report)


@pytest.mark.parametrize(
    ("concepts", "reason"),
    [
        (("D1", "D7"), "unknown_entities"),
        (("D1", ""), "unknown_entities"),
        (("Gene", "D1"), "unknown_entities"),
        (("D1", "D1"), "unknown_entities"),
        (("D1",), "bad_relations"),
    ],
)
def test_concepts_without_two_mentions(read, concepts, reason):
    known = annotation("0", "Xa", (0, 2), MESH="D1")
    (doc, _), report = read(
        document(passage(0, TEXT, known, YB), between(*concepts, type="CID")), OTHER
    )
    assert found(doc) == [] and report.errors == {reason: 1}
    assert "x.xml:d1: relation 'R0': " in str(report)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (document(id="d9"), "no <passage>; expected passages with text"),
        (document(passage("", "x"), id="d9"), "the offset of a passage is ''; expected a whole"),
        (document(passage(-1, "x"), id="d9"), "the offset of a passage is '-1'; expected"),
        (
            document(part("passage", 0, None, part("sentence", "x", "y")), id="d9"),
            "the offset of a sentence is 'x'; expected",
        ),
    ],
)
def test_a_bad_document_does_not_spoil_the_others(read, bad, message):
    docs, report = read(document(passage(0, TEXT, XA)), bad, OTHER)
    assert [doc.user_data["id"] for doc in docs] == ["d1", "d2"]
    assert report.errors == {"bad_documents": 1} and f"x.xml:d9: {message}" in str(report)


BOMB = '<!DOCTYPE c [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><collection>&b;</collection>'
FILE = '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]><collection>&a;</collection>'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (collection(OTHER)[:-30], "unreadable_xml"),
        (collection(OTHER.replace("Ouch", "&")), "unreadable_xml"),
        (b'<?xml version="1.0" encoding="UTF-8"?><collection>\xe9</collection>', "unreadable_xml"),
        ("", "unreadable_xml"),
        (BOMB, "refused_xml"),
        (FILE, "refused_xml"),
        ("<corpus/>", "no_documents"),
    ],
)
def test_a_bad_file_does_not_spoil_the_others(nlp, write, content, reason):
    bad, good = write("bad.xml", content), write("good.xml", collection(OTHER))
    (doc,), report = read_bioc([bad, good], nlp)
    assert doc.text == "Ouch" and report.errors == {reason: 1} and "bad.xml" in str(report)


def test_a_missing_file(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_bioc(tmp_path / "none.xml", nlp)


def test_published_cdr_sample(corpus, nlp):
    folder = corpus("format-samples") / "bc5cdr"
    path = folder / "CDR_sample.gold.BioC.xml"
    docs, report = read_bioc(path, nlp)
    root = ElementTree.parse(path).getroot()
    assert len(list(root.iter("passage"))) == 100 and len(docs) == 50
    same, _ = read_pubtator(folder / "CDR_sample.gold.PubTator", nlp)
    assert [doc.text for doc in docs] == [doc.text for doc in same]

    assert report.errors == {"wrong_mentions": 1}
    assert "11587867: annotation '7': " in report.examples["wrong_mentions"][0]
    assert report.mentions.total() == 945 - 1
    assert sum(len(doc.spans["entities"]) for doc in docs) == 945 - 1
    assert report.changes["discontinuous_mentions"] == 6 - 1
    assert report.changes["document_relations"] == 123

    repairs = report.examples["repaired_offsets"]
    assert re.findall(r"xml:(\d+)", "".join(repairs)) == [
        *("2224762", "4027862", "8649546", "17466854", "19803309")
    ]
    agree = [map(int, re.findall(r"\d+", repair.rpartition(":")[2])) for repair in repairs]
    before, after = map(sum, zip(*agree, strict=True))
    assert 945 - 1 - after + before == 886


def test_published_example(corpus, nlp):
    (doc,), report = read_bioc(corpus("format-samples") / "bioc" / "example.bioc.xml", nlp)
    assert report.ok and not report.changes
    assert report.mentions == {"disease": 2, "gene": 2} and report.relations == {"causes": 2}
    assert found(doc) == [("causes", {"subj": "APC", "obj": "colorectal cancer"})] * 2
    first, second = doc._.relations
    assert first.arguments["subj"].start_char + 55 == second.arguments["subj"].start_char
