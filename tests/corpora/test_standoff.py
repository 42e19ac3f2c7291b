import re

import naive_standoff as naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_standoff import stored_relations
from spacy.tokens import DocBin

from spacy_klsh.corpora.standoff import read_bionlp, read_brat

TEXT = "Xa phosphorylates Yb, and Zc blocks this.\n"
A1 = ["T1\tProtein 0 2\tXa", "T2\tProtein 18 20\tYb", "T3\tProtein 26 28\tZc"]
T4 = "T4\tPhosphorylation 3 17\tphosphorylates"
T5 = "T5\tNegative_regulation 29 35\tblocks"
E1 = "E1\tPhosphorylation:T4 Theme:T2 Cause:T1"
E2 = "E2\tNegative_regulation:T5 Theme:E1 Cause:T3"
EVENTS = [T4, T5, E1, E2]


def ann(*lines):
    return "".join(f"{line}\n" for line in lines)


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def read(nlp, tmp_path):
    """Docs and report of a folder with these files, or of one text with these lines."""

    def read(files, *lines, reader=read_brat, **options):
        if isinstance(files, str):
            files = {"d.txt": files, "d.ann": ann(*lines)}
        write(tmp_path, files)
        return reader(tmp_path, nlp, **options)

    return read


def texts(doc):
    return [span.text for span in doc.spans["entities"]]


def test_brat_entities_and_relations(read):
    lines = [
        "T2\tORG 21 26\tLumen",
        "R1\tFOUNDED Arg1:T1 Arg2:T2\t",  # brat ends it with a tab
        "A1\tCertainty R1 high",
        "T1\tPERSON 0 8\tAda Park",
        "A2\tFormer T2",
        "R2\tKNOWS Subject:T1 Object:T2",
        "N1\tReference T2 Wikidata:Q7\tLumen",
        "#1\tAnnotatorNotes R1\tsure? yes",
        "#",
        "",
    ]
    (doc,), report = read("Ada Park has founded Lumen.", *lines)
    assert [(span.text, span.label_, span.id_) for span in doc.spans["entities"]] == [
        ("Lumen", "ORG", "T2"),
        ("Ada Park", "PERSON", "T1"),
    ]
    assert stored_relations(doc) == [
        ("R1", "FOUNDED", {"head": "T1", "tail": "T2"}),
        ("R2", "KNOWS", {"Subject": "T1", "Object": "T2"}),
    ]
    assert doc._.relations[0].head.text == "Ada Park" and doc.user_data["id"] == "d"
    assert doc.user_data["modifications"] == [
        {"id": "A1", "label": "Certainty", "target": "R1", "value": "high"},
        {"id": "A2", "label": "Former", "target": "T2", "value": ""},
    ]
    assert "equivalences" not in doc.user_data
    assert report.ok and (report.documents, report.sentences) == (1, 0)
    assert report.mentions == {"ORG": 1, "PERSON": 1}
    assert report.relations == {"FOUNDED": 1, "KNOWS": 1}
    assert report.changes == {"modifications": 2, "ignored_notes": 2, "ignored_normalizations": 1}
    assert report.examples["ignored_normalizations"][0].split(": ")[0].endswith("d.ann:7")


def test_bionlp_events_name_events_on_later_lines(read):
    a2 = [
        "E7\tRegulation:T9 Theme:E3",
        "T5\tBinding 3 8\tbinds",
        "M1\tNegation E7",
        "*\tEquiv T4 T6",
        "E3\tBinding:T5 Theme:T4 Theme2:T7 Site2:T1",
        "T9\tRegulation 26 34\tcontrols",
        "T1\tEntity 17 21\ttail",
        "E4\tBinding:T5 Theme:T6",  # a trigger of two events
    ]
    a1 = ["T4\tProtein 0 2\tXa", "T7\tProtein 13 15\tYb", "T6\tProtein 22 24\tXb"]
    files = {
        "d.txt": "Xa binds the Yb, tail Xb; controls",
        "d.a1": ann(*a1),
        "d.a2": ann(*a2),
    }
    (doc,), report = read(files, reader=read_bionlp)
    assert texts(doc) == ["Xa", "Yb", "Xb", "binds", "controls", "tail"]
    assert stored_relations(doc) == [
        ("E7", "Regulation", {"trigger": "T9", "Theme": "T5"}),
        ("E3", "Binding", {"trigger": "T5", "Theme": "T4", "Theme2": "T7", "Site2": "T1"}),
        ("E4", "Binding", {"trigger": "T5", "Theme": "T6"}),
    ]
    assert doc.user_data["modifications"] == [
        {"id": "M1", "label": "Negation", "target": "E7", "value": ""}
    ]
    assert doc.user_data["equivalences"] == [{"label": "Equiv", "ids": ["T4", "T6"]}]
    assert report.ok and report.changes == {"modifications": 1, "equivalences": 1}
    assert report.relations == {"Regulation": 1, "Binding": 2}
    packed = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (copy,) = DocBin().from_bytes(packed).get_docs(doc.vocab)
    assert stored_relations(copy) == stored_relations(doc)
    assert copy.user_data["modifications"][0] == doc.user_data["modifications"][0]


@pytest.mark.parametrize(
    ("line", "roles"),
    [
        ("E1\tX:T4 Theme:T1 Theme:T2 Theme:T3", ["trigger", "Theme", "Theme2", "Theme3"]),
        ("E1\tX:T4 Theme:T1 Theme:T2 Theme2:T3", ["trigger", "Theme", "Theme3", "Theme2"]),
        ("E1\tX:T4 Theme2:T1 Theme2:T2 Site:T3", ["trigger", "Theme2", "Theme3", "Site"]),
        ("E1\tX:T4 trigger:T1", ["trigger", "trigger2"]),
        ("E1\tX:T4", ["trigger"]),
        ("E1\tx:y:T4 a:b:T1 ", ["trigger", "a:b"]),
        ("R1\tX Arg1:T1 Arg2:T2", ["head", "tail"]),
        ("R1\tX Arg2:T1 Arg1:T2", ["tail", "head"]),
        ("R1\tX Arg1:T1 Arg1:T2", ["head", "head2"]),
        ("R1\tX member:T1 member:T2 member:T3", ["member", "member2", "member3"]),
    ],
)
def test_roles(read, line, roles):
    (doc,), report = read(TEXT, *A1, T4, line)
    assert report.ok, str(report)
    (relation,) = doc._.relations
    assert list(relation.arguments) == roles


@pytest.mark.parametrize(
    ("offsets", "field", "covered"),
    [
        ("0 6;17 22", "muscle actin", "muscle and other actin"),
        ("0 6;17 22", "muscleactin", "muscle and other actin"),
        ("17 22;0 6", "actin muscle", "muscle and other actin"),
        ("0 6;7 10;11 16", "muscle and other", "muscle and other"),
    ],
)
def test_discontinuous_mentions_keep_their_pieces(read, offsets, field, covered):
    (doc,), report = read("muscle and other actin", f"T1\tProtein {offsets}\t{field}")
    assert texts(doc) == [covered] and report.ok
    (kept,) = doc.user_data["pieces"]
    assert ";".join(f"{start} {end}" for start, end in kept["pieces"]) == offsets
    assert report.changes == {"discontinuous_mentions": 1}


def test_a_line_break_in_a_mention_is_a_space_in_its_line(read):
    lines = ["T1\tX 0 7\tone two", "T2\tX 4 14\ttwo  three", "T3\tX 4 7;9 14\ttwo three"]
    (doc,), report = read("one\ntwo\r\nthree", *lines)
    assert report.ok and texts(doc) == ["one\ntwo", "two\r\nthree", "two\r\nthree"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_offsets_count_characters_of_the_text_as_it_is(read, end, mark):
    text = f"{mark}e\u0301 🧬{end}\u2028Xa\x85"
    start = text.index("\u2028")
    field = text[start : start + 4]
    files = {
        "d.txt": text,
        "d.ann": f"{mark}T1\tP {start} {start + 4}\t{field}{end}{end}T2\tP 0 1\t{text[0]}{end}",
    }
    (doc,), report = read(files)
    assert doc.text == text and report.ok, str(report)
    span = doc.spans["entities"][0]
    assert text.index("Xa") == span.start_char and span.text == "Xa"  # without white space
    if mark:
        assert doc.spans["entities"][1].text == mark


@pytest.mark.parametrize(
    ("line", "reason", "message"),
    [
        (
            "T9\tX 0 3\tXa",
            "wrong_mentions",
            "T9 is 'Xa ' at its offsets in a text of 42 characters",
        ),
        ("T9\tX 1 3\tXa", "wrong_mentions", "expected 'Xa'; left out, correct the offsets."),
        ("T9\tX 0 2;3 99\tXa", "wrong_mentions", "in a text of 42 char"),
        ("T9\tX 36 43\tthis. ", "wrong_mentions", "T9 is 'this.\\n' at its"),
        ("T9\tX 2 2\t", "wrong_mentions", "T9 is ''"),
        ("T9\tX 99 99\t", "wrong_mentions", "T9 is ''"),
        ("T9\tX 2 0\t", "wrong_mentions", "T9 is ''"),
        ("T9\tX 0 2;3 3\tXa ", "wrong_mentions", "T9 is 'Xa '"),
        ("T9\tX 0 2", "malformed_lines", r"'T9\tX 0 2'; expected 'T1\tLABEL 0 4\ttext'; left out"),
        ("T9 X 0 2 Xa", "malformed_lines", "expected 'T1"),
        ("T9\tX -2 2\tXa", "malformed_lines", "expected 'T1"),
        ("T9\tX 0 2;\tXa", "malformed_lines", "expected 'T1"),
        ("T9\tX 0 2,4 5\tXa", "malformed_lines", "expected 'T1"),
        ("T9\tX\t0 2\tXa", "malformed_lines", "expected 'T1"),
        (f"T9\tX 0 {'9' * 5000}\tXa", "malformed_lines", "expected 'T1"),
        ("T9\tX \u0660 \u0662\tXa", "malformed_lines", "expected 'T1"),
        ("E9\tX", "malformed_lines", r"expected 'E1\tLABEL:T1 ROLE:T2', the trigger first"),
        ("E9", "malformed_lines", "expected 'E1"),
        ("E9\tX:T4 Theme", "malformed_lines", "expected 'E1"),
        ("E9\tX:T4 Theme:", "malformed_lines", "expected 'E1"),
        ("E9\tX:T4 :T1", "malformed_lines", "expected 'E1"),
        ("E9\t:T4 Theme:T1", "malformed_lines", "expected 'E1"),
        ("E9\tX:E1 Theme:T1", "malformed_lines", "expected 'E1"),
        ("R9\tX T1 T2", "malformed_lines", r"expected 'R1\tLABEL Arg1:T1 Arg2:T2'"),
        ("R9\tX Arg1:T1", "malformed_lines", "expected 'R1"),
        ("R9\tX Arg1:T1 Arg2:T2 sure", "malformed_lines", "expected 'R1"),
        ("R9\t", "malformed_lines", "expected 'R1"),
        ("M9\tNegation", "malformed_lines", "expected 'M1"),
        ("A9\tX E1 very high", "malformed_lines", "expected 'A1"),
        ("*\tEquiv T1", "malformed_lines", r"expected '*\tEquiv T1 T2'"),
        ("*9\tEquiv T1 T2", "malformed_lines", "expected '*"),
        ("*", "malformed_lines", "expected '*"),
        ("X9\tX T1", "malformed_lines", "expected a line of T, E, R, M, A, N, * or #"),
        (" T9\tX 0 2\tXa", "malformed_lines", "expected a line of"),
        ("t1\tX 0 2\tXa", "malformed_lines", "expected a line of"),
        ("T1\tX 0 2\tXa", "repeated_ids", "an earlier line of the document is T1, too"),
        ("E1\tX:T4", "repeated_ids", "is E1, too; expected another id; left out"),
        ("E9\tX:T99 Theme:T1", "unknown_ids", "E9 X names 'T99'; expected an entity or event"),
        ("E9\tX:T4 Theme:T1 Theme2:E99", "unknown_ids", "E9 X names 'E99'"),
        ("R9\tX Arg1:T99 Arg2:T2", "unknown_ids", "R9 X names 'T99'"),
        ("R9\tX Arg1:T1 Arg2:Xa", "unknown_ids", "R9 X names 'Xa'"),
        ("M9\tNegation E99", "unknown_ids", "M9 Negation names 'E99'"),
        ("M9\tNegation *", "unknown_ids", "M9 Negation names '*'"),
        ("*\tEquiv T1 T2 T99", "unknown_ids", "* Equiv names 'T99'"),
        ("E9\tX:T4 Theme:E9", "circular_events", "E9 -> E9; expected events that end in entities"),
    ],
)
def test_a_bad_line_does_not_spoil_the_others(read, line, reason, message):
    a2 = ["*\tEquiv T1 T3", *EVENTS, "M1\tNegation E2"]
    files = {
        "a.txt": TEXT,
        "a.a1": ann(*A1),
        "a.a2": ann(*a2, line),
        "b.txt": TEXT,
        "b.a1": ann(*A1),
        "b.a2": ann(*a2),
    }
    docs, report = read(files, reader=read_bionlp)
    assert report.errors == {reason: 1}, str(report)
    (example,) = report.examples[reason]
    assert message in example and "a.a2:7: " in example
    for doc in docs:
        assert texts(doc) == ["Xa", "Yb", "Zc", "phosphorylates", "blocks"]
        assert stored_relations(doc) == [
            ("E1", "Phosphorylation", {"trigger": "T4", "Theme": "T2", "Cause": "T1"}),
            ("E2", "Negative_regulation", {"trigger": "T5", "Theme": "T4", "Cause": "T3"}),
        ]
        assert len(doc.user_data["modifications"]) == len(doc.user_data["equivalences"]) == 1
    assert len(docs) == 2 and not {change for change in report.changes if "lost" in change}


def test_messages_stay_short(read):
    long = "x" * 100_000
    lines = [f"T1\tX 0 {len(long)}\t{long}x", f"T2\tX\t{long}", f"#{long}", f"T3\tX 0 1\t{long}"]
    _, report = read(long, *lines)
    assert report.errors == {"wrong_mentions": 2, "malformed_lines": 1}
    assert len(str(report)) < 3000


def test_what_names_a_line_that_was_left_out_is_lost(read):
    wrong = "T4\tPhosphorylation 4 17\tphosphorylates"
    lines = [*A1, wrong, T5, E1, E2, "M1\tNegation E1", "M2\tSpeculation E2", "*\tEquiv T1 T4"]
    (doc,), report = read(TEXT, *lines, "R1\tNear Arg1:T1 Arg2:T3")
    assert report.errors == {"wrong_mentions": 1}
    assert report.changes == {
        "lost_relations": 2,  # E2 names the trigger of E1
        "lost_modifications": 2,
        "lost_equivalences": 1,
    }
    assert stored_relations(doc) == [("R1", "Near", {"head": "T1", "tail": "T3"})]
    assert report.examples["lost_relations"][0].endswith("d.ann:6: E1 Phosphorylation")


def test_an_event_stands_for_its_trigger_even_if_it_was_left_out(read):
    (doc,), report = read(TEXT, *A1, T4, T5, "E1\tPhosphorylation:T4 Theme:T77", E2)
    assert [id for id, *_ in stored_relations(doc)] == ["E2"]
    assert report.errors == {"unknown_ids": 1} and not report.changes


def test_circular_events(read):
    triggers = [f"T{n}\tX {n} {n + 1}\t{TEXT[n]}" for n in range(8)]
    ring = ["E1\tX:T1 Theme:E2", "E2\tX:T2 Theme:E3 Cause:T1", "E3\tX:T3 Theme:T1 Cause:E1"]
    pair = ["E4\tX:T4 Theme:E5", "E5\tX:T5 Theme:E4"]
    good = ["E6\tX:T6 Theme:E1", "E7\tX:T7 Theme:E6"]  # they only lead to a ring
    (doc,), report = read(TEXT, *triggers, *good, *ring, *pair, "M1\tNegation E5")
    assert [id for id, *_ in stored_relations(doc)] == ["E6", "E7"]
    assert report.errors == {"circular_events": 2}
    places = report.examples["circular_events"]
    rings = {frozenset(re.findall("E[0-9]", place.rpartition("; left")[0])) for place in places}
    assert rings == {frozenset({"E1", "E2", "E3"}), frozenset({"E4", "E5"})}
    assert all(re.search(r"d\.ann:1[1-5]: E[1-5] -> E", place) for place in places)
    assert report.changes["lost_modifications"] == 1


def test_a_long_chain_of_events(read):
    n = 3000
    events = [f"E{i}\tX:T1 Theme:E{i + 1}" for i in range(n)]
    (doc,), report = read(TEXT, A1[0], *events, f"E{n}\tX:T1 Theme:T1")
    assert report.ok and len(doc._.relations) == n + 1


def test_undecodable_bytes(read):
    files = {
        "a.txt": b"one\ntw\xefo",
        "a.ann": "",
        "b.txt": TEXT,
        "b.ann": ann(A1[0]).encode() + b"T9\tX 18 20\tY\xef\n" + ann(A1[2]).encode(),
        "c.txt": TEXT,
        "c.ann": ann(A1[0]).encode("utf-16"),
    }
    docs, report = read(files)
    assert [texts(doc) for doc in docs] == [["Xa", "Zc"], []]
    assert report.errors["undecodable_texts"] == 1
    assert "a.txt:2: byte 0xef at 6; expected UTF-8" in report.examples["undecodable_texts"][0]
    lines = report.examples["undecodable_lines"]
    assert "b.ann:2: byte 0xef at position 13 is not UTF-8" in lines[0]
    assert any("c.ann:1: byte 0xff" in place for place in lines)


@pytest.mark.parametrize("name", ["d.txt", "d.a1", "d.a2"])
@given(cut=st.integers(0, 200))
def test_truncated_files(nlp, tmp_path_factory, name, cut):
    folder = tmp_path_factory.getbasetemp() / "truncated"
    files = {"d.txt": TEXT, "d.a1": ann(*A1), "d.a2": ann(*EVENTS, "M1\tNegation E2")}
    files[name] = files[name][:cut]
    write(folder, files)
    (doc,), report = read_bionlp(folder, nlp)
    whole = [line for line in [*A1, T4, T5] if line in files["d.a1"] + files["d.a2"]]
    inside = [line.split("\t") for line in whole if int(line.split()[3]) <= len(files["d.txt"])]
    assert [span.id_ for span in doc.spans["entities"]] == [id for id, *_ in inside]
    assert report.errors["wrong_mentions"] >= len(whole) - len(inside)
    unfinished = name != "d.txt" and files[name][-1:] not in ("", "\n")
    assert report.changes["unfinished_lines"] == unfinished
    if unfinished:
        line = files[name].count("\n") + 1
        assert f"{name}:{line}: " in report.examples["unfinished_lines"][0]


def test_empty_files(read):
    files = {"a.txt": "", "a.ann": "", "b.txt": "", "b.ann": ann(A1[0]), "c.txt": "x", "c.ann": ""}
    docs, report = read(files)
    assert [doc.text for doc in docs] == ["", "", "x"] and report.errors == {"wrong_mentions": 1}
    assert [doc._.relations_data for doc in docs] == [[], [], []]


def test_folders_are_searched_and_junk_is_ignored(nlp, tmp_path):
    good = {"txt": TEXT, "ann": ann(*A1)}
    names = ["b/two words.v2", "b/10", "a/deep/er/x", "a/2"]
    write(tmp_path, {f"{name}.{end}": content for name in names for end, content in good.items()})
    junk = [".DS_Store", "b/.stats_cache", "annotation.conf", "README", "a/x.json", "b/LICENSE"]
    hidden = ["__MACOSX/._2.txt", "__MACOSX/2.txt", ".git/x.txt", ".git/x.ann", "b/.#10.ann"]
    write(tmp_path, {name: b"\xff" for name in [*junk, *hidden]})
    (tmp_path / "folder.ann").mkdir()
    docs, report = read_brat(tmp_path, nlp)
    assert [doc.user_data["id"] for doc in docs] == ["2", "x", "10", "two words.v2"]
    assert report.ok and not report.changes


def test_one_of_the_files_names_a_document_and_once_is_enough(nlp, tmp_path):
    for name in ("a", "b", "c"):
        write(tmp_path, {f"{name}.txt": TEXT, f"{name}.a1": ann(*A1), f"{name}.a2": ann(*EVENTS)})
    paths = [tmp_path / name for name in ("c.a2", "a.a1", "c.txt", "a.a1")]
    docs, report = read_bionlp(paths, nlp)
    assert [doc.user_data["id"] for doc in docs] == ["c", "a"] and report.ok
    docs, report = read_bionlp([str(tmp_path / "b.txt"), tmp_path], nlp)
    assert [doc.user_data["id"] for doc in docs] == ["b", "a", "c"] and report.documents == 3


@pytest.mark.parametrize(
    ("reader", "given", "missing"),
    [
        (read_brat, "x.txt", ".ann"),
        (read_brat, "x.ann", ".txt"),
        (read_bionlp, "readme.txt", ".a1 and .a2"),
        (read_bionlp, "x.a1", ".txt and .a2"),
        (read_bionlp, "x.a2", ".txt and .a1"),
    ],
)
def test_missing_files_are_errors_and_the_others_converted(read, reader, given, missing):
    others = {f"y.{end}": "" for end in ("a1", "a2", "ann")}
    docs, report = read({given: "", "y.txt": TEXT, **others}, reader=reader)
    assert [doc.text for doc in docs] == [TEXT]
    assert report.errors == {"missing_files": 1}
    name = given.split(".")[0]
    assert f"{name}.txt: missing {missing}; expected" in report.examples["missing_files"][0]


def test_test_sets_have_no_gold(read):
    files = {"d.txt": TEXT, "d.a1": ann(*A1), "e.txt": TEXT, "e.a1": ann(*A1), "e.a2": ann(*EVENTS)}
    docs, report = read(files, reader=read_bionlp, gold=False)
    assert [texts(doc) for doc in docs] == [["Xa", "Yb", "Zc"]] * 2
    assert [doc._.relations_data for doc in docs] == [None, None]
    assert report.ok and not report.changes
    docs, report = read(files, reader=read_bionlp)
    assert [len(doc._.relations) for doc in docs] == [2]
    assert report.errors == {"missing_files": 1}


def test_other_formats_are_errors(nlp, tmp_path):
    write(tmp_path, {"a/d.xml": "<xml/>", "b/README": "read me"})
    for path in (tmp_path, tmp_path / "a/d.xml", tmp_path / "b"):
        docs, report = read_bionlp(path, nlp)
        assert not docs and report.errors == {"no_documents": 1}
        assert report.examples["no_documents"] == [
            f"{path}: expected .txt and .a1 and .a2 files; is it another format?"
        ]
    with pytest.raises(FileNotFoundError, match=r"none\.ann"):
        read_brat(tmp_path / "none.ann", nlp)


def test_ids_belong_to_the_relations_that_are_kept(read):
    lines = ["T1\tX 0 2\tXa", "T2\tX 3 7\tphos", "T3\tX 18 20\tYb"]
    links = ["R1\tA Arg1:T1 Arg2:T2", "R2\tA Arg1:T1 Arg2:T3"]
    (doc,), report = read(TEXT, *lines, *links, align="drop")
    assert stored_relations(doc) == [("R2", "A", {"head": "T1", "tail": "T3"})]
    assert report.changes == {"lost_mentions": 1, "lost_relations": 1}
    (doc,), report = read(TEXT, *lines, *links)
    assert [id for id, *_ in stored_relations(doc)] == ["R1", "R2"]
    assert report.changes == {"split_mentions": 1}


WORDS = ["Ada", "p53-like", "can't", "e\u0301te\u0301", "🧬", "(", "x\u2028y", "\r\n", "\n", "  "]


@st.composite
def annotated(draw):
    """A text and the lines of a good annotation file, in any order."""
    text = "".join(f"{word} " for word in draw(st.lists(st.sampled_from(WORDS), min_size=1)))
    starts = [at for at, character in enumerate(text) if not character.isspace()]
    if not starts:
        return text, []
    labels = st.sampled_from(["P", "Neg-Reg", "a:b"])
    n_entities = draw(st.integers(1, 6))
    lines = []
    for n in range(n_entities):
        pieces = []
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.sampled_from(starts))
            pieces.append((start, draw(st.integers(start + 1, len(text)))))
        offsets = ";".join(f"{start} {end}" for start, end in pieces)
        field = " ".join(text[start:end] for start, end in pieces)
        field = field.replace("\r", " ").replace("\n", " ")
        lines.append(
            f"T{n}\t{draw(labels.filter(lambda label: ':' not in label))} {offsets}\t{field}"
        )
    entities = st.integers(0, n_entities - 1).map("T{}".format)
    n_events = draw(st.integers(0, 4))
    roles = st.sampled_from(["Theme", "Theme2", "Cause"])
    for n in range(n_events):
        smaller = st.sampled_from([f"E{m}" for m in range(n)]) if n else entities
        pairs = draw(st.lists(st.tuples(roles, entities | smaller), max_size=4))
        arguments = "".join(f" {role}:{id}" for role, id in pairs)
        lines.append(f"E{n}\tReg:{draw(entities)}{arguments}")
    events = st.sampled_from([f"E{m}" for m in range(n_events)]) if n_events else entities
    for n in range(draw(st.integers(0, 3))):
        ends = draw(st.sampled_from([("Arg1", "Arg2"), ("Arg2", "Arg1"), ("Subject", "Object")]))
        pairs = " ".join(f"{role}:{draw(entities | events)}" for role in ends)
        lines.append(f"R{n}\tNear {pairs}")
    for n in range(draw(st.integers(0, 2))):
        kind, value = draw(st.sampled_from([("M", ""), ("A", ""), ("A", " high")]))
        lines.append(f"{kind}{n}\tNegation {draw(events | entities)}{value}")
    for _ in range(draw(st.integers(0, 2))):
        lines.append(f"*\tEquiv {draw(entities)} {draw(entities)}")
    return text, draw(st.permutations(lines))


@given(document=annotated(), end=st.sampled_from(["\n", "\r\n"]), data=st.data())
def test_agrees_with_the_naive_reading(nlp, tmp_path_factory, document, end, data):
    text, lines = document
    folder = tmp_path_factory.getbasetemp() / "naive"
    cut = data.draw(st.integers(0, len(lines)))
    both = {"d.a1": lines[:cut], "d.a2": lines[cut:], "d.ann": lines}
    write(folder, {"d.txt": text})
    write(folder, {name: "".join(line + end for line in part) for name, part in both.items()})
    for reader in (read_bionlp, read_brat):
        (doc,), report = reader(folder, nlp)
        assert report.ok and not report.changes["lost_mentions"], str(report)
        assert doc.text == text
        naive.check(doc, lines)
