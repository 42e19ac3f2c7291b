"""Our own format: a document with entities and relations on each line of JSON.

``{"id": "a", "text": "Ada Park founded Lumen", "entities": [{"start": 0, "end": 8, "label":
"PERSON"}, {"start": 17, "end": 22, "label": "ORG"}], "relations": [{"label": "FOUNDED",
"head": 0, "tail": 1}]}``

Offsets count characters, ends are exclusive, `head` and `tail` are rows of `entities`. Instead
of them a relation may have ``"arguments": {role: row}``. An entity may have an `id`, a relation
a `score`; other keys are ignored. A document without an `id` is called ``path:line``, the path
as given.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as short
from typing import Any, TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from ..pipeline.relations import (
    DEFAULT_ATTR,
    Argument,
    find_argument,
    read_records,
    register_extensions,
)
from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs
from .report import Report

T = TypeVar("T")

_NAMES = {dict: "an object", list: "a list", str: "a string", int: "a whole number"}


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
    documents = (document for path in list_paths(paths) for document in _documents(path, report))
    return to_docs(documents, nlp, align=align, report=report), report


def to_json(doc: Doc, attr: str = DEFAULT_ATTR, *, spans_key: str | None = None) -> dict[str, Any]:
    """`doc` as `read_jsonl` reads it.

    Parameters
    ----------
    doc : Doc
    attr : str
        Where the relations are: ``doc._.<attr>``.
    spans_key : str, optional
        The entities are ``doc.spans[spans_key]`` (none if there is no such group) instead of
        ``doc.ents``. An argument of a relation that is none of them is appended.
    """
    register_extensions(attr)
    spans = list(doc.ents if spans_key is None else doc.spans.get(spans_key, ()))
    entities = [_entity(Argument.of("", span)) for span in spans]
    rows: dict[Argument, int] = {}
    relations: list[dict[str, Any]] = []
    for record in read_records(doc, attr) or ():
        arguments = {}
        for argument in record.arguments:
            key = argument._replace(role="")
            if key not in rows:
                rows[key] = find_argument(argument, spans)
            if rows[key] == -1:
                rows[key] = len(entities)
                entities.append(_entity(argument))
            arguments[argument.role] = rows[key]
        named = arguments if arguments.keys() == {"head", "tail"} else {"arguments": arguments}
        relations.append({"label": record.label, **named, "score": round(record.score, 4)})
    id = {"id": str(doc.user_data["id"])} if "id" in doc.user_data else {}
    return {**id, "text": doc.text, "entities": entities, "relations": relations}


def _entity(argument: Argument) -> dict[str, Any]:
    entity = {"start": argument.start, "end": argument.end, "label": argument.label}
    return {**entity, "id": argument.id} if argument.id else entity


def _documents(path: Path, report: Report) -> Iterator[Document]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                document = _document(_parse(line), where)
            except (ValueError, RecursionError) as error:
                report.error("bad_lines", f"{where}: {error}; correct the line, it was left out.")
            else:
                yield document


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.decode().rstrip("\r\n"))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{error.msg} at column {error.colno}; expected one JSON object a line"
        ) from None


def _document(data: Any, where: str) -> Document:
    data = _check(data, dict, "the line")
    text = _get(data, "text", str, "")
    mentions = [
        _mention(_check(entity, dict, f"entities[{row}]"), f"entities[{row}].", text)
        for row, entity in enumerate(_get(data, "entities", list, "", []))
    ]
    links = [
        _link(_check(link, dict, f"relations[{row}]"), f"relations[{row}].", len(mentions))
        for row, link in enumerate(_get(data, "relations", list, "", []))
    ]
    return Document(_get(data, "id", str, "", where), text, mentions, links, where=where)


def _mention(data: dict[str, Any], name: str, text: str) -> Mention:
    start, end = _get(data, "start", int, name), _get(data, "end", int, name)
    if not 0 <= start < end <= len(text):
        raise ValueError(
            f"{name}start is {start} and end {end}; expected 0 <= start < end <= {len(text)}, the "
            "characters of the text"
        )
    return Mention(start, end, _get(data, "label", str, name), _get(data, "id", str, name, ""))


def _link(data: dict[str, Any], name: str, n_entities: int) -> Link:
    label = _get(data, "label", str, name)
    if not label:
        raise ValueError(f"{name}label is empty; expected the name of a relation")
    if "arguments" in data:
        if "head" in data or "tail" in data:
            raise ValueError(f"{name}arguments stands beside head or tail; expected one of them")
        roles = _get(data, "arguments", dict, name)
    else:
        roles = {role: _get(data, role, int, name) for role in ("head", "tail")}
    if not roles:
        raise ValueError(f"{name}arguments is empty; expected at least one role")
    for role, row in roles.items():
        _check(role, str, f"a role of {name}arguments")
        if not 0 <= _check(row, int, f"{name}{role}") < n_entities:
            raise ValueError(
                f"{name}{role} is {row}; expected a row of the {n_entities} entities, from 0"
            )
    score = data.get("score", 1.0)
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError(f"{name}score is {short(score)}; expected a number from 0 to 1")
    return Link(label, roles, float(score))


def _get(data: dict[str, Any], key: str, kind: type[T], name: str, default: T | None = None) -> T:
    if key not in data and default is None:
        raise ValueError(f"{name}{key} is missing; expected {_NAMES[kind]}")
    return _check(data.get(key, default), kind, f"{name}{key}")


def _check(value: object, kind: type[T], name: str) -> T:
    if type(value) is not kind:  # isinstance would let True pass as 1
        raise ValueError(f"{name} is {short(value)}; expected {_NAMES[kind]}")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"{name} has half a surrogate pair in {short(value)}; expected whole characters"
            ) from None
    return value  # type: ignore[return-value]
