import pytest
from defusedxml import ElementTree

from spacy_klsh.corpora.interaction_xml import read_interaction_xml

SENTENCE = '<sentence id="d1.s0" text="Xa and Yb bind.">'
HEADER = '<?xml version="1.0" encoding="UTF-8"?>'


def entity(number, offsets, text, **attributes):
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<entity id="d1.s0.e{number}" charOffset="{offsets}" text="{text}"{more}/>'


def corpus(*children, sentence=SENTENCE):
    return (
        f'{HEADER}<corpus source="made up"><document id="d1">{sentence}{"".join(children)}'
        "</sentence></document></corpus>"
    )


XA, YB = entity(0, "0-2", "Xa", type="protein"), entity(1, "7-9", "Yb", type="protein")
BOTH = '<interaction id="d1.s0.i0" e1="d1.s0.e0" e2="d1.s0.e1" type="PPI"/>'


@pytest.fixture
def read(nlp, tmp_path):
    def read(*files, **options):
        paths = []
        for number, content in enumerate(files):
            paths.append(tmp_path / f"f{number}.xml")
            data = content if isinstance(content, bytes) else content.encode()
            paths[-1].write_bytes(data)
        return read_interaction_xml(paths, nlp, **options)

    return read


def texts(doc):
    return [span.text for span in doc.spans["entities"]]


def labels(doc):
    return [relation.label for relation in doc._.relations]


def pairs(doc):
    return [(relation.head.text, relation.tail.text) for relation in doc._.relations]


def test_a_document_with_two_sentences(read):
    content = corpus(XA, YB, BOTH).replace(
        "</document>",
        '<sentence id="d1.s1" text=""/>'
        '<sentence charOffset="16-20" id="d1.s2" text="It is Zc. Yes"><entity id="d1.s2.e0" '
        'charOffset="6-8" text="Zc" type="gene"/></sentence></document>',
    )
    (doc,), report = read(content)
    assert doc.text == "Xa and Yb bind. It is Zc. Yes"
    assert [sent.text for sent in doc.sents] == ["Xa and Yb bind.", "It is Zc. Yes"]
    assert texts(doc) == ["Xa", "Yb", "Zc"]
    assert [span.id_ for span in doc.ents] == ["d1.s0.e0", "d1.s0.e1", "d1.s2.e0"]
    assert pairs(doc) == [("Xa", "Yb")]
    assert doc._.relations[0].label == "PPI" and doc.user_data["id"] == "d1"
    assert report.ok and report.changes == {"empty_sentences": 1}
    assert report.mentions == {"protein": 2, "gene": 1}
    assert (report.documents, report.sentences, report.relations) == (1, 2, {"PPI": 1})


def test_bare_carriage_returns(read):
    content = corpus(XA, YB, BOTH).replace(">", ">\r")
    (doc,), report = read(content)
    assert "\n" not in content
    assert pairs(doc) == [("Xa", "Yb")] and report.ok


def test_escaped_characters_count_once_and_line_breaks_stay(read):
    sentence = '<sentence id="s" text="&lt;5 &amp; &quot;Xa&quot;&#10;&gt;\tYé 🧬 e&#x301;q">'
    content = corpus(
        entity(0, "6-8", "Xa"),
        entity(1, "12-14", "Yé"),
        entity(2, "17-20", "e\u0301q"),
        sentence=sentence,
    )
    (doc,), report = read(content)
    assert doc.text == '<5 & "Xa"\n> Yé 🧬 e\u0301q'
    assert texts(doc) == ["Xa", "Yé", "e\u0301q"] and report.ok


@pytest.mark.parametrize("inclusive", [False, True])
def test_each_file_decides_how_ends_are_meant(read, inclusive):
    end = -1 if inclusive else 0
    sentence = '<sentence id="s" text="Xa and Yb met Zc">'
    ends = [
        entity(0, f"0-{2 + end}", "Xa"),
        entity(1, f"7-{9 + end}", "Yb"),
        entity(2, f"14-{16 + end}", "Zc"),
    ]
    other = corpus(XA, YB, BOTH)
    docs, report = read(corpus(*ends, sentence=sentence), other)
    assert [texts(doc) for doc in docs] == [["Xa", "Yb", "Zc"], ["Xa", "Yb"]]
    assert report.ok


def test_a_mention_at_the_end_of_its_sentence_is_no_vote_for_inclusive_ends(read):
    sentence = '<sentence id="s" text="Xa met Zc">'
    (doc,), report = read(corpus(entity(0, "7-9", "Zc"), sentence=sentence))
    assert texts(doc) == ["Zc"] and report.ok and not report.changes


def test_a_mention_against_the_majority_is_an_error(read):
    content = corpus(XA, YB, entity(2, "10-13", "bind"), BOTH)  # inclusive, and fits only so
    (doc,), report = read(content)
    assert texts(doc) == ["Xa", "Yb"]
    assert report.errors == {"wrong_mentions": 1}
    assert report.examples["wrong_mentions"][0].endswith(
        "f0.xml:1 (d1.s0.e2): charOffset '10-13' is 'bin' with exclusive ends, as the file has "
        "them; expected 'bind'; left out, correct the offsets."
    )


def test_a_mention_without_text_follows_its_file(read):
    content = corpus(XA, '<entity id="d1.s0.e1" charOffset="7-9"/>', BOTH)
    (doc,), report = read(content)
    assert pairs(doc) == [("Xa", "Yb")] and report.ok


def test_nothing_to_decide_with_is_an_error(read):
    content = corpus('<entity id="d1.s0.e0" charOffset="0-1"/>')
    (doc,), report = read(content)
    assert texts(doc) == ["Xa"]  # the original format's inclusive ends
    assert report.errors == {"undecided_ends": 1}


@pytest.mark.parametrize("offsets", ["", "0", "2-0", "0-99", "0-2,", "-1-2", "a-b", None])
def test_impossible_offsets(read, offsets):
    bad = entity(0, offsets, "Xa") if offsets is not None else '<entity id="d1.s0.e0" text="Xa"/>'
    (doc,), report = read(corpus(bad, YB, BOTH))
    assert texts(doc) == ["Yb"] and pairs(doc) == []
    assert report.errors == {"wrong_mentions": 1}
    assert report.changes == {"lost_relations": 1}


@pytest.mark.parametrize("separator", [",", ";", "; "])
def test_discontinuous_mentions(read, separator):
    sentence = '<sentence id="s" text="So. Muscle and brain actin bind.">'
    content = corpus(
        entity(0, f"4-10{separator}21-26", "Muscle actin"),
        entity(1, "15-26", "brain actin"),
        '<interaction e1="d1.s0.e1" e2="d1.s0.e0" type="PPI"/>',
        sentence=sentence,
    )
    (doc,), report = read(content)
    assert texts(doc) == ["Muscle and brain actin", "brain actin"]
    assert [span.text for span in doc.ents] == ["Muscle and brain actin"]
    assert doc.user_data["pieces"][0]["pieces"] == [[4, 10], [21, 26]]
    assert pairs(doc) == [("Muscle and brain actin", "brain actin")]
    assert report.ok
    assert report.changes == {"discontinuous_mentions": 1, "nested_mentions": 1}


def test_pieces_may_be_joined_directly(read):
    sentence = '<sentence id="s" text="alpha- or beta-blockers">'
    content = corpus(entity(0, "0-6;15-23", "alpha-blockers"), sentence=sentence)
    (doc,), report = read(content)
    assert texts(doc) == ["alpha- or beta-blockers"] and report.ok


def test_pieces_and_mentions_count_from_the_documents_start(read):
    content = corpus(XA, YB).replace(
        "</document>",
        '<sentence id="d1.s1" text="No Xa or Zc"><entity id="d1.s1.e0" charOffset="3-5,9-11" '
        'text="Xa Zc"/></sentence></document>',
    )
    (doc,), _ = read(content)
    (kept,) = doc.user_data["pieces"]
    assert [doc.text[start:end] for start, end in kept["pieces"]] == ["Xa", "Zc"]
    assert doc.text[kept["start"] : kept["end"]] == "Xa or Zc"


@pytest.mark.parametrize("kind", ['type="None" directed="false"', 'type="PPI"', 'type=""', ""])
def test_one_label_for_all_interactions(read, kind):
    (doc,), report = read(
        corpus(XA, YB, f'<interaction e1="d1.s0.e1" e2="d1.s0.e0" {kind}/>'), label="BINDS"
    )
    assert pairs(doc) == [("Xa", "Yb")]  # document order
    assert labels(doc) == ["BINDS"] and report.ok and not report.changes


def test_an_interaction_has_the_label_of_its_type(read):
    content = corpus(XA, YB, BOTH.replace("PPI", "Binds"), BOTH.replace("PPI", "Cleaves"))
    (doc,), report = read(content)
    assert labels(doc) == ["Binds", "Cleaves"] and report.ok and not report.changes


@pytest.mark.parametrize("kind", ['type="None"', 'type=""', ""])
@pytest.mark.parametrize(
    ("element", "label"),
    [("interaction", "PPI"), ('pair interaction="True"', "PPI"), ('pair ddi="true"', "DDI")],
)
def test_interactions_without_type_are_counted(read, element, label, kind):
    content = corpus(XA, YB, f'<{element} id="p" e1="d1.s0.e0" e2="d1.s0.e1" {kind}/>')
    for default in None, "int":
        (doc,), report = read(content, default_label=default)
        assert labels(doc) == [default or label]
        assert report.ok and report.changes == {"untyped_relations": 1}
        (place,) = report.examples["untyped_relations"]
        assert place.endswith(f"f0.xml:1 (p): {default or label}")


def test_the_first_in_the_text_is_the_head(read):
    (doc,), _ = read(corpus(YB, XA, '<interaction e1="d1.s0.e1" e2="d1.s0.e0"/>'))
    assert pairs(doc) == [("Xa", "Yb")]


def test_the_longer_of_two_that_begin_together_is_the_head(read):
    both = entity(1, "0-9", "Xa and Yb")
    (doc,), _ = read(corpus(XA, both, BOTH))
    assert pairs(doc) == [("Xa and Yb", "Xa")]


def test_pairs_of_the_learning_format(read):
    pair = '<pair e1="d1.s0.e{}" e2="d1.s0.e{}" interaction="{}"/>'
    content = corpus(
        XA,
        YB,
        entity(2, "10-14", "bind"),
        pair.format(0, 1, "True"),
        pair.format(0, 2, "False"),
        pair.format(1, 2, "maybe"),
    )
    (doc,), report = read(content)
    assert pairs(doc) == [("Xa", "Yb")]
    assert report.errors == {"bad_pairs": 1} and "'maybe'" in str(report)


def test_pairs_of_the_drug_dialect(read):
    sentence = '<sentence id="d1.s0" text="Xa&#xd;&#xa;and Yb bind Zc.">'
    pair = '<pair e1="d1.s0.e{}" e2="d1.s0.e{}" ddi="{}"/>'
    content = corpus(
        entity(0, "0-1", "Xa", type="drug"),
        entity(1, "8-9", "Yb", type="brand"),
        entity(2, "0-1;16-17", "Xa Zc", type="group"),
        pair.format(1, 0, 'true" type="effect'),
        pair.format(1, 2, 'true" type="int'),
        pair.format(0, 2, "false"),
        pair.format(2, 0, "yes"),
        sentence=sentence,
    )
    (doc,), report = read(content)
    assert doc.text == "Xa\r\nand Yb bind Zc."
    assert texts(doc) == ["Xa", "Yb", "Xa\r\nand Yb bind Zc"]
    assert pairs(doc) == [("Xa", "Yb"), ("Xa\r\nand Yb bind Zc", "Yb")]
    assert labels(doc) == ["effect", "int"]
    assert report.mentions == {"drug": 1, "brand": 1, "group": 1}
    assert report.errors == {"bad_pairs": 1} and "ddi is 'yes'; expected true" in str(report)


def test_a_directory_stands_for_its_xml_files(nlp, tmp_path):
    for place in (
        "b.xml",
        "a b/c.XML",
        "a b/a.xml",
        ".hidden/x.xml",
        "a b/._a.xml",
        "__MACOSX/y.xml",
    ):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(corpus(XA).replace('id="d1"', f'id="{place}"'))
    (tmp_path / ".DS_Store").write_bytes(b"\0\xff")
    (tmp_path / "a b" / "readme.txt").write_text("no XML")
    docs, report = read_interaction_xml([tmp_path, tmp_path / "b.xml"], nlp)
    assert [doc.user_data["id"] for doc in docs] == ["a b/a.xml", "a b/c.XML", "b.xml", "b.xml"]
    assert report.ok


def test_a_directory_without_xml_files(nlp, tmp_path):
    (tmp_path / ".xml").write_text("")
    with pytest.raises(FileNotFoundError, match=r"holds no \.xml file"):
        read_interaction_xml(tmp_path, nlp)


def test_a_directory_with_a_link_to_nowhere(nlp, tmp_path):
    (tmp_path / "a.xml").write_text(corpus(XA))
    (tmp_path / "b.xml").symlink_to(tmp_path / "missing.xml")
    with pytest.raises(FileNotFoundError, match=r"b\.xml"):
        read_interaction_xml(tmp_path, nlp)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_messages_name_the_line(read, line_end):
    bad = entity(0, "0-2", "Zz").replace(" text", line_end + "text")  # a tag over two lines
    content = corpus(bad, entity(1, "7-9", "Yb"), BOTH.replace("d1.s0.e0", "x"))
    _, report = read(content.replace("><", f">{line_end}<"))
    (mention,) = report.examples["wrong_mentions"]
    (relation,) = report.examples["unknown_entities"]
    assert "f0.xml:5 (d1.s0.e0): " in mention and "f0.xml:8 (d1.s0.i0): " in relation


def test_interactions_given_twice_count_once(read):
    again = '<pair e1="d1.s0.e1" e2="d1.s0.e0" interaction="True"/>'
    (doc,), report = read(corpus(XA, YB, BOTH, again))
    assert pairs(doc) == [("Xa", "Yb")]
    assert report.ok and report.changes == {"repeated_relations": 1}


def test_interactions_of_unknown_entities_and_with_oneself(read):
    content = corpus(
        XA,
        YB,
        BOTH,
        '<interaction id="d1.s0.i1" e1="d1.s0.e0" e2="d1.s0.e9"/>',
        '<interaction id="d1.s0.i2" e1="d1.s0.e0"/>',
        '<interaction id="d1.s0.i3" e1="d1.s0.e0" e2="d1.s0.e0"/>',
    )
    (doc,), report = read(content)
    assert pairs(doc) == [("Xa", "Yb")]
    assert report.errors == {"unknown_entities": 2, "self_interactions": 1}
    assert "f0.xml:1 (d1.s0.i1): 'd1.s0.e0' with 'd1.s0.e9'" in str(report)


def test_repeated_ids_and_missing_texts(read):
    content = corpus(XA, YB, entity(1, "10-14", "bind"), BOTH).replace(
        "</document>", '<sentence id="d1.s1"/></document>'
    )
    (doc,), report = read(content)
    assert texts(doc) == ["Xa", "Yb"] and pairs(doc) == [("Xa", "Yb")]
    assert report.errors == {"repeated_ids": 1, "missing_texts": 1}


def test_equal_mentions_stay_different(read):
    content = corpus(
        XA, entity(1, "0-2", "Xa"), '<interaction e1="d1.s0.e1" e2="d1.s0.e0" type="PPI"/>'
    )
    (doc,), report = read(content)
    assert [span.id_ for span in doc.spans["entities"]] == ["d1.s0.e0", "d1.s0.e1"]
    (relation,) = doc._.relations
    assert (relation.head.id_, relation.tail.id_) == ("d1.s0.e0", "d1.s0.e1")
    assert report.changes == {"nested_mentions": 1}


def test_entity_labels(read):
    content = corpus(XA, entity(1, "7-9", "Yb"))
    labels = [
        [span.label_ for span in read(content, **options)[0][0].ents]
        for options in ({}, {"default_entity_label": "GENE"}, {"entity_label": "PROTEIN"})
    ]
    assert labels == [["protein", "ENTITY"], ["protein", "GENE"], ["PROTEIN", "PROTEIN"]]


@pytest.mark.parametrize(
    "option", ["label", "default_label", "entity_label", "default_entity_label"]
)
def test_empty_labels(read, option):
    with pytest.raises(ValueError, match="a label is empty"):
        read(corpus(), **{option: ""})


def test_documents_without_id_are_called_by_their_line(read):
    content = corpus(XA).replace('<document id="d1">', "\n<document>")
    (first, second), _ = read(content, content)
    assert first.user_data["id"].endswith("f0.xml:2")
    assert second.user_data["id"].endswith("f1.xml:2")


def test_alignment_is_passed_on(read):
    sentence = '<sentence id="s" text="aXab and Yb.">'
    content = corpus(entity(0, "1-3", "Xa"), entity(1, "9-11", "Yb"), BOTH, sentence=sentence)
    (doc,), report = read(content, align="drop")
    assert texts(doc) == ["Yb"] and pairs(doc) == []
    assert report.changes == {"lost_mentions": 1, "lost_relations": 1}


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE c [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    '<corpus><document id="d"><sentence text="&b;"/></document></corpus>'
)
OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
    "<corpus>&a;</corpus>"
)
LATIN = corpus(XA).replace("bind", "b\xefnd").encode("latin-1")


@pytest.mark.parametrize(
    ("content", "reason", "message"),
    [
        (BOMB, "refused_xml", "never expanded"),
        (OUTSIDE, "refused_xml", "never expanded"),
        ("<corpus><document>\n</corpus>", "unreadable_xml", "xml:2: mismatched tag"),
        ("", "unreadable_xml", "xml:1: no element found"),
        (LATIN, "unreadable_xml", "byte 0xef at 119 is not UTF-8"),
        (corpus(XA).replace("UTF-8", "EBCDIC-9"), "unreadable_xml", "unknown encoding: EBCDIC-9"),
        (corpus(XA).replace("UTF-8", "shift_jis"), "unreadable_xml", "multi-byte encodings"),
        ("<collection><text/></collection>", "no_documents", "<collection> holds no <document>"),
    ],
)
def test_a_bad_file_does_not_spoil_the_others(read, content, reason, message):
    docs, report = read(content, corpus(XA, YB, BOTH))
    assert [pairs(doc) for doc in docs] == [[("Xa", "Yb")]]
    assert report.errors == {reason: 1}
    assert message in report.examples[reason][0]
    assert "f0.xml" in report.examples[reason][0]


def test_declared_encodings_are_read(read):
    content = LATIN.replace(b"UTF-8", b"ISO-8859-1")
    (doc,), report = read(content)
    assert "b\xefnd" in doc.text and report.ok


def test_missing_files_raise(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_interaction_xml(tmp_path / "none.xml", nlp)


def n_negatives(docs):
    n_pairs = 0
    for doc in docs:
        sents = [sent.start_char for sent in doc.sents]
        counts = [0] * len(sents)
        for span in doc.spans["entities"]:
            counts[sum(start <= span.start_char for start in sents) - 1] += 1
        n_pairs += sum(n * (n - 1) // 2 for n in counts)
    return n_pairs - sum(len(doc._.relations) for doc in docs)


@pytest.mark.parametrize(
    ("name", "n_documents", "n_sentences", "n_entities", "n_positive", "n_negative"),
    [("AIMed", 224, 1943, 4202, 991, 4784), ("BioInfer", 836, 1100, 4421, 2534, 7132)],
)
def test_published_corpora(
    ppi, nlp, name, n_documents, n_sentences, n_entities, n_positive, n_negative
):
    paths = [ppi / f"{name}-{part}.xml" for part in ("train", "test")]
    docs, report = read_interaction_xml(paths, nlp, entity_label="PROTEIN")
    assert report.ok
    assert (report.documents, report.sentences) == (n_documents, n_sentences)
    assert report.mentions == {"PROTEIN": n_entities} and report.relations == {"PPI": n_positive}
    reasons = {"split_mentions", "nested_mentions", "discontinuous_mentions"}
    assert set(report.changes) <= reasons
    assert sum(len(doc.spans["entities"]) for doc in docs) == n_entities
    assert sum(len(doc._.relations) for doc in docs) == n_positive
    assert n_negatives(docs) == n_negative
    assert [doc.user_data["id"] for doc in docs] == [
        element.get("id")
        for path in paths
        for element in ElementTree.parse(path).getroot().iter("document")
    ]
    check_mention_texts(docs, paths)


@pytest.mark.parametrize(
    ("name", "n_entities", "n_relations"),
    [("aimed.xml", 46, 9), ("sample_aimed_pyyasaol_converted.xml", 15, 0)],
)
def test_inclusive_samples(ppi, nlp, name, n_entities, n_relations):
    path = ppi / "original-unified-samples" / name
    docs, report = read_interaction_xml(path, nlp)
    assert report.ok and not report.changes["lost_mentions"]
    assert sum(len(doc.spans["entities"]) for doc in docs) == n_entities
    assert sum(len(doc._.relations) for doc in docs) == n_relations
    check_mention_texts(docs, [path])


def check_mention_texts(docs, paths):
    wanted = {}
    for path in paths:
        for element in ElementTree.parse(path).getroot().iter("entity"):
            wanted[element.get("id")] = element.get("text")
    found = {}
    for doc in docs:
        for span in doc.spans["entities"]:
            found[span.id_] = span.text
        for kept in doc.user_data.get("pieces", ()):
            pieces = [doc.text[start:end] for start, end in kept["pieces"]]
            found[kept["id"]] = " ".join(pieces)
    assert found == wanted


def test_drug_interactions(ddi, nlp):
    docs, report = read_interaction_xml(ddi / "Train", nlp)
    assert report.errors == {"wrong_mentions": 1}  # offsets one too low, in 4 negative pairs
    (place,) = report.examples["wrong_mentions"]
    assert "Eszopiclone_ddi.xml:180 (DDI-DrugBank.d216.s16.e2): " in place
    assert report.relations.total() == 4021 and n_negatives(docs) + 4 == 23_771


@pytest.mark.parametrize(
    ("folder", "n_documents", "n_sentences", "n_empty", "n_entities", "positive", "n_negative"),
    [
        ("Train/DrugBank", 572, 5675, 71, 12_929, (1257, 1535, 818, 178, 1), 22_216),
        ("Train/MedLine", 142, 1301, 0, 1836, (62, 152, 8, 10, 0), 1555),
        (
            "Test/Test for DDI Extraction task/DrugBank",
            158,
            973,
            0,
            2512,
            (278, 298, 214, 94, 0),
            4381,
        ),
        ("Test/Test for DDI Extraction task/MedLine", 33, 326, 0, 528, (24, 62, 7, 2, 0), 356),
    ],
)
def test_folders_of_drug_interactions(
    ddi, nlp, folder, n_documents, n_sentences, n_empty, n_entities, positive, n_negative
):
    docs, report = read_interaction_xml(ddi / folder, nlp)
    wrong = report.errors["wrong_mentions"]
    assert (report.errors.total(), wrong) == ((1, 1) if folder == "Train/DrugBank" else (0, 0))
    assert (report.documents, report.sentences) == (n_documents, n_sentences - n_empty)
    assert report.changes["empty_sentences"] == n_empty
    assert report.changes["untyped_relations"] == positive[-1]
    assert report.mentions.total() == n_entities - wrong
    names = ("mechanism", "effect", "advise", "int", "DDI")
    assert tuple(report.relations[name] for name in names) == positive
    assert sum(len(doc.spans["entities"]) for doc in docs) == n_entities - wrong
    assert sum(len(doc._.relations) for doc in docs) == sum(positive)
    assert n_negatives(docs) == n_negative - 4 * wrong


def test_line_breaks_of_drug_interactions_are_kept(ddi, nlp):
    written = sum(path.read_text().count("&#x") for path in ddi.rglob("*.xml"))
    docs, _ = read_interaction_xml(ddi, nlp)
    assert sum(doc.text.count("\n") + doc.text.count("\r") for doc in docs) == written > 195


def test_documents_without_sentences_are_another_format(nlp, tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<collection><document><passage/></document></collection>", "utf-8")
    docs, report = read_interaction_xml(path, nlp)
    assert not docs and report.errors == {"no_documents": 1}
    assert "holds no <sentence>" in report.examples["no_documents"][0]
