from collections import Counter

import pytest

from spacy_klsh.corpora.semeval import read_semeval

FLOOD = ('1\t"The <e1>flood</e1> came of heavy <e2>spring rain</e2>."', "Cause-Effect(e2,e1)")
JAM = ('2\t"He said "<e1>jam</e1>" in a <e2>jar</e2>"', "Other")


@pytest.fixture
def read(nlp, write):
    def read(*lines, end=b"\r\n", **options):
        return read_semeval(write("sentences.txt", *lines, end=end), nlp, **options)

    return read


def found(doc):
    (relation,) = doc._.relations
    return relation.label, relation.head.text, relation.tail.text


def test_sentences_become_docs(read):
    (flood, jam), report = read(
        *FLOOD, "Comment: 3\t <e1>never</e1> read", "", *JAM, "Comment:", ""
    )
    assert flood.text == "The flood came of heavy spring rain."
    assert jam.text == 'He said "jam" in a jar'
    assert [flood.user_data["id"], jam.user_data["id"]] == ["1", "2"]
    assert [(e.text, e.label_, e.id_) for e in flood.ents] == [
        ("flood", "NOMINAL", "e1"),
        ("spring rain", "NOMINAL", "e2"),
    ]
    assert found(flood) == ("Cause-Effect", "spring rain", "flood")
    assert jam._.relations == () and len(jam.ents) == 2
    assert report.ok and report.changes == {"negative_sentences": 1} and report.sentences == 2
    assert report.examples["negative_sentences"][0].endswith("sentences.txt:5: Other")


def test_a_sentence_is_one_even_with_two_full_stops(read):
    (doc,), _ = read('1\t"It rains. The <e1>dam</e1> broke. <e2>Water</e2>"', "Other")
    assert len(list(doc.sents)) == 1


def test_tags_that_touch_words(read):
    (doc,), report = read('1\t"Ten doves<e1>moles</e1> of the<e2>staff</e2>&amp; so"', "Other")
    assert doc.text == "Ten dovesmoles of thestaff&amp; so"
    assert [entity.text for entity in doc.ents] == ["moles", "staff"]
    assert report.ok and report.changes["split_mentions"] == 2


def test_spaces_inside_and_outside_of_tags(read):
    """The way of KBP37; spaces on one side only stay, and no mention has them at its ends."""
    lines = (
        '0\t" <e1> Ada  Park </e1> <e2> Lumen Inc </e2> grew , fast . "',
        "org:top_members/employees(e2,e1)",
        "",
        "",
        '1\t" Its <e1> head </e1>and <e2>hand </e2> "',
        "no_relation",
        "",
        "",
    )
    (ada, head), report = read(*lines, end=b"\n", entity_label="X")
    assert ada.text == "Ada  Park Lumen Inc grew , fast ."
    assert found(ada) == ("org:top_members/employees", "Lumen Inc", "Ada  Park")
    assert head.text == " Its  head and hand  "
    assert [(entity.text, entity.label_) for entity in head.ents] == [("head", "X"), ("hand", "X")]
    assert report.ok and report.changes["negative_sentences"] == 1


def test_the_second_may_come_first(read):
    (doc,), report = read('1\t"<e2>Rain</e2> made a <e1>flood</e1>"', "Cause-Effect(e2,e1)")
    assert found(doc) == ("Cause-Effect", "Rain", "flood")
    assert [entity.id_ for entity in doc.ents] == ["e2", "e1"] and report.ok


def test_a_file_without_answers(read):
    docs, report = read(FLOOD[0], JAM[0])
    assert [len(doc.ents) for doc in docs] == [2, 2]
    assert report.ok and report.changes == {"unlabelled_sentences": 2}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([FLOOD[0]], "the relation is ''; expected one like Cause-Effect(e1,e2), or Other or"),
        ([FLOOD[0], "Comment: x"], "the relation is 'Comment: x'; expected"),
        ([FLOOD[0], "Cause-Effect"], "the relation is 'Cause-Effect'; expected"),
        ([FLOOD[0], "Cause-Effect(e1,e1)"], "the relation is 'Cause-Effect(e1,e1)'"),
        ([FLOOD[0], "Cause-Effect(e1,e3)"], "the relation is 'Cause-Effect(e1,e3)'"),
        ([*FLOOD, "Other"], "'Other' after the relation; expected a Comment: or nothing"),
        ([*FLOOD, "Comment:", "more"], "'more' after the relation; expected"),
        (
            ["3\tMessage-Topic", "Other"],
            "'3\\tMessage-Topic'; expected an id, a tab and a sentence",
        ),
        (['3 "<e1>a</e1> <e2>b</e2>"', "Other"], "expected an id, a tab and a sentence in quotes"),
        (['3\t"<e1>a</e1> <e2>b</e2>', "Other"], "expected an id, a tab and a sentence in quotes"),
        (['3\t"a b"', "Other"], "tags are missing; expected <e1> </e1> <e2> </e2>, each once"),
        (['3\t"<e1>a</e1> <e2>b"', "Other"], "tags are <e1> </e1> <e2>; expected"),
        (['3\t"<e1>a</e1> <e2>b</e2> <e1>c</e1>"', "Other"], "tags are <e1> </e1> <e2> </e2> <e1>"),
        (['3\t"<e1>a <e2>b</e2></e1>"', "Other"], "tags are <e1> <e2> </e2> </e1>; expected"),
        ([b'3\t"<e1>\xe9</e1> <e2>b</e2>"', "Other"], "byte 0xe9 at position 8 is not UTF-8"),
        ([FLOOD[0], b"Cause\xff(e1,e2)"], "byte 0xff at position 6 is not UTF-8"),
    ],
)
def test_a_bad_sentence_does_not_spoil_the_others(read, lines, message):
    docs, report = read(*FLOOD, "", *lines, "", *JAM)
    assert [doc.user_data["id"] for doc in docs] == ["1", "2"]
    assert report.errors == {"bad_lines": 1}
    (example,) = report.examples["bad_lines"]
    assert "sentences.txt:4: " in example and message in example


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("I <e1></e1> saw <e2>it</e2>", "I  saw it"),
        (" I <e1> </e1> saw <e2> it </e2> ", "I saw it"),
    ],
)
def test_tags_around_nothing(read, sentence, text):
    (doc,), report = read(f'1\t"{sentence}"', "Cause-Effect(e1,e2)")
    assert doc.text == text and [entity.text for entity in doc.ents] == ["it"]
    assert doc._.relations == () and report.relations == {"Cause-Effect": 1}
    assert report.errors == {"empty_mentions": 1}
    assert report.changes == {"lost_mentions": 1, "lost_relations": 1}


def test_a_truncated_file(read):
    docs, report = read(*FLOOD, JAM[0])
    assert len(docs) == 1 and "sentences.txt:3: the relation is ''" in str(report)
    docs, report = read(*FLOOD, JAM[0][:-20])
    assert len(docs) == 1 and report.errors == {"bad_lines": 1}


def test_a_missing_file(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_semeval(tmp_path / "none.txt", nlp)


SEMEVAL = {  # by direction (e1,e2) and (e2,e1): training, test
    "Cause-Effect": ((344, 134), (659, 194)),
    "Component-Whole": ((470, 162), (471, 150)),
    "Content-Container": ((374, 153), (166, 39)),
    "Entity-Destination": ((844, 291), (1, 1)),
    "Entity-Origin": ((568, 211), (148, 47)),
    "Instrument-Agency": ((97, 22), (407, 134)),
    "Member-Collection": ((78, 32), (612, 201)),
    "Message-Topic": ((490, 210), (144, 51)),
    "Product-Producer": ((323, 108), (394, 123)),
}


@pytest.mark.parametrize(
    ("part", "name", "n_docs", "n_other"),
    [
        (0, "SemEval2010_task8_training/TRAIN_FILE.TXT", 8000, 1410),
        (1, "SemEval2010_task8_testing_keys/TEST_FILE_FULL.TXT", 2717, 454),
    ],
)
def test_semeval(corpus, nlp, part, name, n_docs, n_other):
    path = corpus("semeval2010-task8") / name
    docs, report = read_semeval(path, nlp)
    assert report.ok and len(docs) == n_docs
    assert report.changes["negative_sentences"] == n_other
    assert set(report.changes) <= {"negative_sentences", "split_mentions"}
    assert all(len(doc.ents) == 2 for doc in docs)
    assert Counter((r.label, r.head.id_) for doc in docs for r in doc._.relations) == {
        (label, id): counts[part]
        for label, directions in SEMEVAL.items()
        for id, counts in zip(("e1", "e2"), directions, strict=True)
    }
    text = path.read_text()
    for tag in ("<e1>", "</e1>", "<e2>", "</e2>"):
        text = text.replace(tag, "")
    assert all(f'{doc.user_data["id"]}\t"{doc.text}"\n' in text for doc in docs[::37])


def test_semeval_without_answers(corpus, nlp):
    folder = corpus("semeval2010-task8")
    docs, report = read_semeval(folder / "SemEval2010_task8_testing/TEST_FILE.txt", nlp)
    assert report.ok and len(docs) == report.changes["unlabelled_sentences"] == 2717
    docs, report = read_semeval(folder / "SemEval2010_task8_testing_keys/TEST_FILE_KEY.TXT", nlp)
    assert docs == [] and report.errors == {"bad_lines": 2717}


KBP37 = {
    "org:alternate_names": 511,
    "org:city_of_headquarters": 1267,
    "org:country_of_headquarters": 1006,
    "org:founded": 393,
    "org:founded_by": 355,
    "org:members": 703,
    "org:stateorprovince_of_headquarters": 517,
    "org:subsidiaries": 832,
    "org:top_members/employees": 576,
    "per:alternate_names": 177,
    "per:cities_of_residence": 663,
    "per:countries_of_residence": 1660,
    "per:country_of_birth": 355,
    "per:employee_of": 3472,
    "per:origin": 266,
    "per:spouse": 258,
    "per:stateorprovinces_of_residence": 720,
    "per:title": 641,
}


@pytest.mark.parametrize(
    ("part", "n_docs", "n_negative", "n_empty", "n_lost"),
    [("train", 15917, 1545, 112, 97), ("dev", 1724, 210, 10, 8), ("test", 3405, 419, 26, 19)],
)
def test_kbp37(corpus, nlp, part, n_docs, n_negative, n_empty, n_lost):
    docs, report = read_semeval(corpus("kbp37") / f"{part}.txt", nlp)
    assert len(docs) == n_docs
    assert report.changes["negative_sentences"] == n_negative
    assert report.relations.total() == n_docs - n_negative
    assert part != "train" or report.relations == KBP37
    assert report.errors == {"empty_mentions": n_empty}
    assert report.changes["lost_mentions"] == n_empty  # and no others
    assert report.changes["lost_relations"] == n_lost
    assert sum(len(doc.ents) for doc in docs) == 2 * n_docs - n_empty
    assert not any("  " in doc.text or doc.text != doc.text.strip() for doc in docs)


def test_docs_without_labels_were_never_annotated(nlp, write):
    path = write("test.txt", '1\t"The <e1>rain</e1> made <e2>mud</e2>."')
    (doc,), report = read_semeval(path, nlp)
    assert doc._.relations_data is None and report.changes["unlabelled_sentences"] == 1
