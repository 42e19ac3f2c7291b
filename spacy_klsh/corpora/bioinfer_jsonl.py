"""BioInfer with its own types of relations, derived as JSON: a sentence on each line.

``{"id", "text", "entities": [{"id", "type", "path", "spans", "text"}], "relations": [{"id",
"type", "path", "arg1", "arg2", "trigger", "neg"}]}``. A `path` leads from the top of the
ontology to the type. References: Pyysalo et al. 2007, BMC Bioinformatics 8:50.
"""

from __future__ import annotations

from functools import partial

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, to_docs
from .fields import Fields, check, read_json_lines
from .pieces import agrees
from .report import Report

NEGATED = "NOT"


def read_bioinfer_jsonl(
    paths: Paths, nlp: Language, *, align: Align = "split", depth: int | None = None
) -> tuple[list[Doc], Report]:
    """Docs of all sentences in the files, and the report of reading them.

    `arg1` is the head, `arg2` the tail. Nothing says which types are symmetric: name them in
    the component's `symmetric_labels`. A negated relation, whatever its type, has the label
    ``NOT`` and is counted; so are triggers, which are left out.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.
    depth : int, optional
        Label relations by their class on this level of the ontology, 1 for the top, or their
        type if it stands higher; without it always by their type. Then a pair may have one
        label twice, which is counted.

    Raises
    ------
    ValueError
        If `depth` is less than 1.
    OSError
        If a file cannot be opened. A bad line is an error in the report instead.
    """
    if depth is not None and depth < 1:
        raise ValueError(f"depth is {depth}; give 1 for the top of the ontology, or more.")
    report = Report()
    documents = read_json_lines(paths, partial(_document, depth=depth, report=report), report)
    return to_docs(documents, nlp, align=align, report=report), report


def _document(data: Fields, where: str, *, depth: int | None, report: Report) -> Document:
    text = data.get("text", str)
    entities = data.objects("entities")
    mentions = [_mention(entity, text) for entity in entities]
    rows = {mention.id: row for row, mention in enumerate(mentions)}
    if len(rows) < len(mentions):
        raise ValueError("two entities have one id; expected another id for each")
    id = data.get("id", str)
    relations = data.objects("relations")
    found = [_link(relation, rows, depth) for relation in relations]
    links: list[Link] = []
    for relation, link in zip(relations, found, strict=True):  # all good: now they count
        place = f"{where}: {link.label} {relation.data['arg1']} {relation.data['arg2']}"
        if link in links:
            report.change("repeated_relations", place)
        else:
            links.append(link)
        if link.label == NEGATED:
            report.change("negated_relations", f"{place} of type {relation.data['type']}")
        if "trigger" in relation:
            report.change("left_out_triggers", place)
    return Document(id, text, mentions, links, [0], where)


def _mention(entity: Fields, text: str) -> Mention:
    pieces = []
    for row, piece in enumerate(entity.items("spans", list)):
        ends = [check(end, int, f"{entity.name}spans[{row}]") for end in piece]
        if len(ends) != 2 or not 0 <= ends[0] < ends[1] <= len(text):
            raise ValueError(
                f"{entity.name}spans[{row}] is {ends}; expected [start, end] in the {len(text)} "
                "characters of the text"
            )
        pieces.append((ends[0], ends[1]))
    wanted = entity.get("text", str)
    if not agrees(text, tuple(pieces), wanted):
        found = " ".join(text[start:end] for start, end in pieces)
        raise ValueError(f"{entity.name}spans are {found!r}; expected {wanted!r}")
    return Mention.covering(tuple(pieces), entity.label("type"), entity.get("id", str))


def _link(relation: Fields, rows: dict[str, int], depth: int | None) -> Link:
    label = relation.label("type")
    if depth is not None:
        label = (relation.items("path", str)[:depth] or [label])[-1]
    ids = {role: relation.get(key, str) for role, key in (("head", "arg1"), ("tail", "arg2"))}
    unknown = [id for id in ids.values() if id not in rows]
    if unknown:
        raise ValueError(f"{relation.name}arguments name {unknown[0]!r}; expected an entity's id")
    is_negated = relation.get("neg", bool, False)
    return Link(NEGATED if is_negated else label, {role: rows[id] for role, id in ids.items()})
