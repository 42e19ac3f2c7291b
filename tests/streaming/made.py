"""Records of every shape that a sink must be able to write."""

from hypothesis import strategies as st

from spacy_klsh.streaming.triples import arguments_of

ADA = {
    "id": "x/a.txt:1",
    "text": 'Ada "Park"\tof\r\nthe firm\nLumen 🧬, Cy too.',
    "entities": [
        {"start": 0, "end": 10, "label": "PERSON"},
        {"start": 15, "end": 31, "label": "ORG", "id": "Q1"},
        {"start": 33, "end": 35, "label": "PERSON"},
    ],
    "relations": [
        {"label": "FOUNDED", "head": 0, "tail": 1, "score": 0.8712},
        {"label": "KNOWS", "head": 2, "tail": 0, "score": 1.0},
    ],
    "year": 2001,
    "tags": ["é", None, {"deep": 1.5}],
}
EVENT = {
    "id": "b",
    "text": "p53 binds Mdm2 and X.",
    "entities": [
        {"start": 4, "end": 9, "label": "Trigger"},
        {"start": 0, "end": 3, "label": "Protein"},
        {"start": 10, "end": 14, "label": "Protein"},
        {"start": 19, "end": 20, "label": "Protein"},
    ],
    "relations": [
        {"label": "Binding", "arguments": {"trigger": 0, "Theme": 1, "Theme2": 2}, "score": 0.5},
        {"label": "Growth", "arguments": {"trigger": 0}, "score": 0.25},
        {"label": "Group", "arguments": {"one": 1, "two": 2, "three": 3}, "score": 0.125},
    ],
}
EMPTY = {"id": "c", "text": "", "entities": [], "relations": []}
PLAIN = {"id": "x/a.txt:1", "text": "\ufeffNothing here.\n", "entities": [], "relations": []}
WHY = {"path": "a -é-> b", "vote": {"X": 0.5}, "nearest": []}
WITH_EVIDENCE = {
    **ADA,
    "relations": [{**ADA["relations"][0], "evidence": WHY}, ADA["relations"][1]],
}
RECORDS = [ADA, EVENT, EMPTY, PLAIN]


WHOLE = st.characters(exclude_categories=["Cs"])


@st.composite
def records(draw):
    """A record of any text, with entities anywhere and relations between them."""
    content = draw(st.text(WHOLE, max_size=30))
    bounds = st.tuples(*[st.integers(0, len(content))] * 2).map(sorted)
    spans = [span for span in draw(st.lists(bounds, max_size=4)) if span[0] < span[1]]
    labels = st.sampled_from(["PERSON", "ORG", "two words"])
    entities = [{"start": a, "end": b, "label": draw(labels)} for a, b in spans]
    relations = []
    if entities:
        row = st.integers(0, len(entities) - 1)
        pair = st.fixed_dictionaries({"head": row, "tail": row})
        roles = st.dictionaries(st.sampled_from(["trigger", "Theme", "Site"]), row, min_size=1)
        for arguments in draw(st.lists(pair | roles.map(lambda r: {"arguments": r}), max_size=3)):
            score = draw(st.sampled_from([0.0, 0.5, 0.1234, 1.0]))
            relations.append({"label": draw(labels), **arguments, "score": score})
    id = draw(st.text(WHOLE, max_size=10))
    return {"id": id, "text": content, "entities": entities, "relations": relations}


def naive_rows(records):
    """Rows of a table of triples, offsets as text."""
    rows = []
    for record in records:
        for number, relation in enumerate(record["relations"]):
            found = []
            for role, row in arguments_of(relation).items():
                entity = record["entities"][row]
                start, end = entity["start"], entity["end"]
                text = " ".join(record["text"][start:end].split())
                found.append((text, entity["label"], str(start), str(end), role))
            for tail in found[1:] or [("",) * 5]:
                ends = zip(found[0], tail, strict=True)
                text, label, start, end, role = ends
                first = [record["id"], text[0], relation["label"], text[1], str(relation["score"])]
                rest = [*label, start[0], end[0], start[1], end[1], *role, str(number)]
                rows.append(first + rest)
    return rows


def found_in(doc):
    """Entities and relations of a Doc as sets, by characters."""
    entities = {(s.start_char, s.end_char, s.label_) for s in doc.spans["entities"]}
    relations = sorted(
        (r.label, *sorted((role, s.start_char, s.end_char) for role, s in r.arguments.items()))
        for r in doc._.relations
    )
    return entities, relations


def expected_of(record):
    """The same of a record."""
    spans = [(e["start"], e["end"], e["label"]) for e in record["entities"]]
    relations = sorted(
        (
            relation["label"],
            *sorted((role, *spans[row][:2]) for role, row in arguments_of(relation).items()),
        )
        for relation in record["relations"]
    )
    return set(spans), relations
