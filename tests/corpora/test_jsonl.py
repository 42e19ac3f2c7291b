import json
from copy import deepcopy
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from spacy.tokens import Doc, Span

from spacy_klsh.corpora.jsonl import read_jsonl, to_json
from spacy_klsh.pipeline.relations import Relation, read_records, register_extensions

SCHEMA = Draft202012Validator(
    json.loads(resources.files("spacy_klsh.corpora").joinpath("jsonl.schema.json").read_text())
)

ADA = {
    "id": "a",
    "text": "Ada Park founded Lumen",
    "entities": [
        {"start": 0, "end": 8, "label": "PERSON"},
        {"start": 17, "end": 22, "label": "ORG", "id": "Q7"},
    ],
    "relations": [{"label": "FOUNDED", "head": 0, "tail": 1, "score": 0.25}],
}


def changed(**keys):
    return json.dumps({**ADA, **keys})


@pytest.fixture
def read(nlp, tmp_path):
    def read(*lines, **options):
        path = tmp_path / "docs.jsonl"
        path.write_bytes(
            b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        )
        return read_jsonl(path, nlp, **options)

    return read


def test_a_line_becomes_a_doc(read):
    (doc,), report = read(json.dumps(ADA))
    assert doc.text == ADA["text"] and doc.user_data["id"] == "a"
    found = [(span.text, span.label_, span.id_) for span in doc.ents]
    assert found == [("Ada Park", "PERSON", ""), ("Lumen", "ORG", "Q7")]
    (relation,) = doc._.relations
    assert (relation.head.text, relation.tail.text) == ("Ada Park", "Lumen")
    assert (relation.label, relation.score) == ("FOUNDED", 0.25)
    assert report.ok and report.documents == 1 and not report.changes
    assert not doc.has_annotation("SENT_START")


def test_arguments_by_role_and_optional_keys(read):
    line = {
        "text": "Xa bends Yb",
        "entities": [{"start": 0, "end": 2, "label": "P"}, {"start": 9, "end": 11, "label": "P"}],
        "relations": [{"label": "BENDS", "arguments": {"agent": 0, "target": 1}}],
        "meta": {"source": None},
        "annotator": 7,
    }
    docs, report = read("", json.dumps(line), "  \r", '{"text": ""}\r', '{"text": "x"}', "")
    assert report.ok and [doc.text for doc in docs] == ["Xa bends Yb", "", "x"]
    assert [doc.user_data["id"].rpartition("docs.jsonl")[2] for doc in docs] == [":2", ":4", ":5"]
    (relation,) = docs[0]._.relations
    assert {role: span.text for role, span in relation.arguments.items()} == {
        "agent": "Xa",
        "target": "Yb",
    }
    assert relation.score == 1


def test_byte_order_mark_and_odd_line_breaks(read):
    texts = ["x\u2028y", "e\u0301te\u0301 🧬\x0b", "a\nb\tc"]
    lines = [json.dumps({"text": text}, ensure_ascii=False).encode() for text in texts]
    docs, report = read(b"\xef\xbb\xbf" + lines[0], *lines[1:])
    assert report.ok, str(report)
    assert [doc.text for doc in docs] == texts


def test_a_mention_at_the_end_and_one_inside_a_token(read):
    entities = [{"start": 4, "end": 7, "label": "P"}, {"start": 9, "end": 12, "label": "P"}]
    (doc,), report = read(json.dumps({"text": "the p53y 🧬p2", "entities": entities}))
    assert [span.text for span in doc.ents] == ["p53", "🧬p2"]
    assert report.changes["split_mentions"] >= 1
    (doc,), report = read(json.dumps({"text": "the p53y", "entities": entities[:1]}), align="drop")
    assert not doc.ents and report.changes == {"lost_mentions": 1}


ENTITY = {"start": 0, "end": 8, "label": "PERSON"}
RELATION = {"label": "FOUNDED", "head": 0, "tail": 1}


BAD_LINES = [
    ('["x"]', "the line is ['x']; expected an object"),
    ('{"id": "x"}', "text is missing; expected a string"),
    (changed(text=None), "text is None; expected a string"),
    (changed(id=7), "id is 7; expected a string"),
    (changed(entities={}), "entities is {}; expected a list"),
    (changed(entities=[3]), "entities[0] is 3; expected an object"),
    (changed(entities=[{**ENTITY, "start": -1}]), "start < end <= 22"),
    (changed(entities=[{**ENTITY, "start": True}]), "entities[0].start is True; expected a wh"),
    (changed(entities=[{"start": 0, "end": 8}]), "entities[0].label is missing"),
    (changed(entities=[{**ENTITY, "id": 1}]), "entities[0].id is 1; expected a string"),
    (changed(relations="x"), "relations is 'x'; expected a list"),
    (changed(relations=[RELATION, None]), "relations[1] is None; expected an object"),
    (changed(relations=[{**RELATION, "head": -1}]), "relations[0].head is -1; expected a row"),
    (changed(relations=[{**RELATION, "head": "0"}]), "relations[0].head is '0'; expected a wh"),
    (changed(relations=[{"label": "X", "head": 0}]), "relations[0].tail is missing"),
    (changed(relations=[{**RELATION, "label": ""}]), "relations[0].label is empty"),
    (changed(relations=[{**RELATION, "score": 1.5}]), "relations[0].score is 1.5; expected"),
    (changed(relations=[{**RELATION, "score": True}]), "score is True"),
    (changed(relations=[{**RELATION, "arguments": {"x": 0}}]), "beside head or tail"),
    (changed(relations=[{"label": "X", "arguments": {}}]), "arguments is empty"),
    (changed(relations=[{"label": "X", "arguments": [0, 1]}]), "expected an object"),
]
BEYOND_A_SCHEMA = [
    ('{"text": "x"', "delimiter at column 13; expected one JSON object"),
    (b'{"text": "\xff"}', "byte 0xff at position 11 is not UTF-8; expected UTF-8, convert"),
    ('{"text": "\\ud83d"}', r"text is '\ud83d', with half a surrogate pair"),
    (changed(entities=[{**ENTITY, "end": 23}]), "entities[0].start is 0 and end 23; expected"),
    (changed(entities=[{**ENTITY, "start": 8}]), "entities[0].start is 8 and end 8; expected"),
    (changed(entities=[{**ENTITY, "end": 8.0}]), "entities[0].end is 8.0; expected a whole"),
    (
        changed(relations=[{**RELATION, "tail": 2}]),
        "relations[0].tail is 2; expected a row of ",
    ),
    (changed(relations=[{**RELATION, "score": float("nan")}]), "score is nan"),
    (
        changed(relations=[{"label": "X", "arguments": {"x": 9}}]),
        "relations[0].arguments.x is 9",
    ),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES + BEYOND_A_SCHEMA)
def test_a_bad_line_does_not_spoil_the_others(read, line, message):
    docs, report = read(json.dumps(ADA), line, json.dumps(ADA))
    assert [len(doc._.relations) for doc in docs] == [1, 1]
    assert report.errors == {"bad_lines": 1} and not report.ok
    (example,) = report.examples["bad_lines"]
    assert "docs.jsonl:2: " in example and message in example


@pytest.mark.parametrize(("line", "_"), BAD_LINES)
def test_the_schema_refuses_what_the_reader_refuses(line, _):
    assert not SCHEMA.is_valid(json.loads(line))


def test_the_schema_is_one_and_takes_what_the_reader_takes():
    SCHEMA.check_schema(SCHEMA.schema)
    SCHEMA.validate(ADA)
    SCHEMA.validate({"text": "", "meta": None})
    SCHEMA.validate({**ADA, "relations": [{"label": "X", "arguments": {"by": 0}, "color": 1}]})


def test_a_line_of_brackets(read):
    docs, report = read("[" * 100_000, json.dumps(ADA))
    assert len(docs) == 1 and report.errors == {"bad_lines": 1}
    assert "recursion" in report.examples["bad_lines"][0]


def test_several_files(nlp, tmp_path):
    paths = [tmp_path / folder / "a.jsonl" for folder in ("x", "y")]
    for path in paths:
        path.parent.mkdir()
        path.write_text('{"text": "x"}\n')
    docs, report = read_jsonl(paths, nlp)
    assert [doc.user_data["id"] for doc in docs] == [f"{path}:1" for path in paths]
    assert report.documents == 2
    with pytest.raises(FileNotFoundError):
        read_jsonl(tmp_path / "c.jsonl", nlp)


def test_to_json_writes_what_was_read(read):
    (doc,), _ = read(json.dumps(ADA))
    assert to_json(doc) == ADA


def test_to_json_of_nested_entities_needs_the_spans(read):
    entities = [
        {"start": 6, "end": 17, "label": "P", "id": "e0"},
        {"start": 6, "end": 17, "label": "P", "id": "e1"},
        {"start": 6, "end": 10, "label": "P"},
    ]
    relations = [{"label": "R", "head": 1, "tail": 2, "score": 1.0}]
    line = {"id": "x", "text": "human GITR ligand", "entities": entities, "relations": relations}
    (doc,), report = read(json.dumps(line))
    assert report.changes == {"nested_mentions": 2}
    assert to_json(doc, spans_key="entities") == line
    assert to_json(doc) == {
        **line,
        "entities": [entities[0], entities[2]],  # the argument that is no entity, appended
        "relations": [{**relations[0], "head": 0, "tail": 1}],
    }


def test_events_come_back_with_all_their_roles(nlp, read):
    doc = nlp("Zap2 eases binding of Zap1 to actin")
    spans = [
        Span(doc, i, i + 1, label=label) for i, label in ((0, "P"), (2, "B"), (4, "P"), (6, "P"))
    ]
    doc.ents = spans
    roles = ("Cause", "trigger", "Theme", "Theme2")
    doc._.relations = [
        Relation("Binding", arguments=dict(zip(roles, spans, strict=True))),
        Relation("Binding", 0.5, arguments={"trigger": spans[1], "Theme": spans[3]}),
    ]
    written = to_json(doc)
    assert written["relations"][1]["arguments"] == {"trigger": 1, "Theme": 3}
    (again,), report = read(json.dumps(written))
    assert again._.relations == doc._.relations and report.ok


def test_to_json_rounds_scores_and_appends_arguments_once(nlp):
    register_extensions("links")
    doc = nlp("Ada Park founded Lumen")
    assert to_json(doc, "links") == {"text": doc.text, "entities": [], "relations": []}
    head, tail = Span(doc, 0, 2, label="PERSON"), doc[3:4]
    doc._.links = [
        Relation("A", 0.123456, head=head, tail=tail),
        Relation("B", arguments={"tail": tail, "by": head}),
    ]
    assert to_json(doc, "links") == {
        "text": doc.text,
        "entities": [
            {"start": 0, "end": 8, "label": "PERSON"},
            {"start": 17, "end": 22, "label": ""},
        ],
        "relations": [
            {"label": "A", "head": 0, "tail": 1, "score": 0.1235},
            {"label": "B", "arguments": {"tail": 1, "by": 0}, "score": 1.0},
        ],
    }


WORDS = st.sampled_from(["Ada", "can't", "p53-like", "e\u0301", "🧬", "(", "x\u2028y", "ß"])
LABELS = st.sampled_from(["", "P", "ORG", "é 🧬"])


@st.composite
def annotated_docs(draw, nlp):
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    spaces = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    if draw(st.booleans()):  # white space of all kinds, but only spaCy's own tokens
        gaps = draw(st.lists(st.sampled_from(["", " ", "\n", "\t ", "  "]), min_size=8))
        doc = nlp.make_doc("".join(a + b for a, b in zip(words, gaps, strict=False)))
    n = len(doc)
    bounds = st.integers(0, n - 1).flatmap(lambda a: st.tuples(st.just(a), st.integers(a + 1, n)))
    ids = st.sampled_from(["", "e0", "e1"])
    spans = [
        Span(doc, start, end, label=draw(LABELS), span_id=draw(ids))
        for start, end in draw(st.lists(bounds, min_size=1, max_size=5))
    ]
    doc.spans["all"] = spans[: draw(st.integers(0, len(spans)))]
    if spans[0].label_:
        doc.ents = spans[:1]
    roles = st.sampled_from([("head", "tail"), ("head",), ("agent", "target", "place")])
    doc._.relations = [
        Relation(
            draw(LABELS.filter(bool)),
            draw(st.floats(0, 1)),
            {role: draw(st.sampled_from(spans)) for role in draw(roles)},
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    return doc


@given(data=st.data(), spans_key=st.sampled_from([None, "all"]))
def test_round_trip(nlp, tmp_path_factory, data, spans_key):
    register_extensions()
    doc = data.draw(annotated_docs(nlp))
    written = to_json(doc, spans_key=spans_key)
    SCHEMA.validate(written)
    path = tmp_path_factory.getbasetemp() / "round_trip.jsonl"
    path.write_text(json.dumps(written, ensure_ascii=False) + "\n", encoding="utf-8", newline="")
    (copy,), report = read_jsonl(path, nlp)
    assert report.ok, str(report)
    assert copy.text == doc.text
    wanted = tuple(Relation(r.label, round(r.score, 4), r.arguments) for r in doc._.relations)
    assert copy._.relations == wanted
    assert [record.label for record in read_records(copy)] == [r.label for r in wanted]
    assert to_json(copy, spans_key="entities")["relations"] == written["relations"]


REMOVED = object()
JUNK = [None, True, -1, 0, 1, 99, 0.5, "", "x", [], {}]
BOTH_KINDS = {**ADA, "relations": [*ADA["relations"], {"label": "R", "arguments": {"by": 1}}]}


def places(value, path=()):
    """Paths to everything inside of `value`."""
    inside = range(len(value)) if isinstance(value, list) else value
    for key in inside:
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*path, key))


def spoiled(path):
    """`BOTH_KINDS` without what is at `path`, and with each of `JUNK` in its stead."""
    for junk in (REMOVED, *JUNK):
        line = deepcopy(BOTH_KINDS)
        parent = line
        for key in path[:-1]:
            parent = parent[key]
        if junk is REMOVED:
            del parent[path[-1]]
        else:
            parent[path[-1]] = junk
        yield line


@pytest.mark.parametrize("path", list(places(BOTH_KINDS)), ids=str)
def test_the_schema_agrees_on_every_spoiled_line(read, path):
    for line in spoiled(path):
        _, report = read(json.dumps(line))
        beyond = ("expected 0 <= start", "expected a row of")
        if report.ok or not any(words in str(report) for words in beyond):
            assert SCHEMA.is_valid(line) == report.ok, str(report)


def test_unknown_keys_of_a_document_are_counted(nlp, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "entites": [], "meta": {}}\n', "utf-8")
    (doc,), report = read_jsonl(path, nlp)
    assert report.changes["ignored_keys"] == 2 and report.ok
    assert sorted(report.examples["ignored_keys"]) == [f"{path}:1: 'entites'", f"{path}:1: 'meta'"]
    assert not doc.ents


def test_relations_that_are_said_twice_are_counted(nlp, tmp_path):
    entities = [{"start": i, "end": i + 1, "label": "X"} for i in (0, 2)]
    relation = {"label": "R", "head": 0, "tail": 1}
    line = {"text": "a b", "entities": entities, "relations": [relation, relation]}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line), "utf-8")
    (doc,), report = read_jsonl(path, nlp)
    assert report.changes["equal_relations"] == 1 and len(doc._.relations) == 2
