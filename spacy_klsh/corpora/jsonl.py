"""Our own format: a document with entities and relations on each line of JSON.

``{"id": "a", "text": "Ada Park founded Lumen", "entities": [{"start": 0, "end": 8, "label":
"PERSON"}, {"start": 17, "end": 22, "label": "ORG"}], "relations": [{"label": "FOUNDED",
"head": 0, "tail": 1}]}``

Offsets count characters, ends are exclusive, `head` and `tail` are rows of `entities`. Instead
of them a relation may have ``"arguments": {role: row}``. An entity may have an `id`, a relation
a `score` and, written on request, `evidence`; other keys are ignored, those of a document are
counted. A document without an `id` is called ``path:line``, the path as given.
``jsonl.schema.json`` beside this file is the JSON Schema of a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from reprlib import repr as short
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..pipeline.evidence import Evidence
from ..pipeline.relations import (
    DEFAULT_ATTR,
    Argument,
    EntityIndex,
    read_evidence,
    read_records,
    register_extensions,
)
from .documents import Align, Document, Link, Mention, Paths, to_docs
from .fields import Fields, check, read_json_lines
from .report import Report


def read_jsonl(paths: Paths, nlp: Language, *, align: Align = "split") -> tuple[list[Doc], Report]:
    """Docs of all good lines in the files, and the report of reading them.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.

    Raises
    ------
    OSError
        If a file cannot be opened. A bad line is an error in the report instead.
    """
    report = Report()
    documents = read_json_lines(paths, partial(to_document, report=report), report)
    return to_docs(documents, nlp, align=align, report=report), report


def to_json(
    doc: Doc, attr: str = DEFAULT_ATTR, *, spans_key: str | None = None, evidence: bool = False
) -> dict[str, Any]:
    """`doc` as `read_jsonl` reads it.

    Parameters
    ----------
    doc : Doc
    attr : str
        Where the relations are: ``doc._.<attr>``.
    spans_key : str, optional
        The entities are ``doc.spans[spans_key]`` (none if there is no such group) instead of
        ``doc.ents``. An argument of a relation that is none of them is appended.
    evidence : bool
        A relation that has evidence gets it, see `Evidence.to_json`.
    """
    register_extensions(attr)
    spans = list(doc.ents if spans_key is None else doc.spans.get(spans_key, ()))
    entities = [_entity(Argument.of("", span)) for span in spans]
    index = EntityIndex(spans)
    rows: dict[Argument, int] = {}
    relations: list[dict[str, Any]] = []
    records = read_records(doc, attr) or []
    for record, why in zip(records, read_evidence(doc, len(records), attr), strict=True):
        arguments = {}
        for argument in record.arguments:
            key = argument._replace(role="")
            if key not in rows:
                rows[key] = index.find(argument)
            if rows[key] == -1:
                rows[key] = len(entities)
                entities.append(_entity(argument))
            arguments[argument.role] = rows[key]
        named = arguments if arguments.keys() == {"head", "tail"} else {"arguments": arguments}
        relations.append({"label": record.label, **named, "score": round(record.score, 4)})
        if evidence and why is not None:
            relations[-1]["evidence"] = Evidence.from_data(why).to_json()
    id = {"id": str(doc.user_data["id"])} if "id" in doc.user_data else {}
    return {**id, "text": doc.text, "entities": entities, "relations": relations}


def _entity(argument: Argument) -> dict[str, Any]:
    entity = {"start": argument.start, "end": argument.end, "label": argument.label}
    return {**entity, "id": argument.id} if argument.id else entity


def to_document(data: Fields, where: str, report: Report) -> Document:
    """The document that a line says, or what `to_json` made.

    Raises
    ------
    ValueError
        If something is missing or not what it should be.
    """
    for key in data.data.keys() - {"id", "text", "entities", "relations"}:
        report.change("ignored_keys", f"{where}: {key!r}")
    text = data.get("text", str)
    mentions = [
        Mention(
            *entity.bounds(len(text), "characters of the text"),
            entity.get("label", str),
            entity.get("id", str, ""),
        )
        for entity in data.objects("entities", [])
    ]
    links = [_link(link, len(mentions)) for link in data.objects("relations", [])]
    return Document(data.get("id", str, where), text, mentions, links, where=where)


def _link(data: Fields, n_entities: int) -> Link:
    label = data.label("label")
    roles = data
    names: Iterable[str] = ("head", "tail")
    if "arguments" in data:
        if "head" in data or "tail" in data:
            raise ValueError(
                f"{data.name}arguments stands beside head or tail; expected one of them"
            )
        roles = data.object("arguments")
        names = roles.data
    if not names:
        raise ValueError(f"{data.name}arguments is empty; expected at least one role")
    arguments = {
        check(name, str, f"a role of {data.name}arguments"): roles.row(name, n_entities, "entities")
        for name in names
    }
    score = data.data.get("score", 1.0)
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError(f"{data.name}score is {short(score)}; expected a number from 0 to 1")
    return Link(label, arguments, float(score))
