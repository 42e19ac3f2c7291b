"""brat standoff: a folder of texts and annotations beside each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .beside import beside
from .outputs import BRAT_INDEX, check_folder
from .records import Record, passed_through
from .triples import arguments_of

SLUG_LENGTH = 80
ROLES = {"head": "Arg1", "tail": "Arg2"}
LINE_BREAK = re.compile("[\r\n]")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
WHITE_SPACE = re.compile(r"\s+")


def write_brat(records: Iterable[Record], output: Path) -> None:
    """Write a ``.txt`` and an ``.ann`` file of each record, called by its number and id.

    `output` is a folder. The file ``documents.json`` in it has the id and the fields passed
    through of the document of each name. Scores are notes. A relation with a role ``trigger``, or
    with one argument alone, is an event. In labels and roles white space is ``_``.

    Raises
    ------
    FileExistsError
        If there is a folder with files of others.
    """
    check_folder(output)
    with beside(output) as folder:
        folder.mkdir()
        with (folder / BRAT_INDEX).open("x", encoding="utf-8", newline="") as index:
            separator = "{"
            for number, record in enumerate(records, 1):
                name = f"{number:08}-{NOT_IN_NAMES.sub('_', record['id'])[-SLUG_LENGTH:]}"
                _write(folder / f"{name}.txt", record["text"])
                _write(folder / f"{name}.ann", "".join(f"{line}\n" for line in _lines(record)))
                about = {"id": record["id"], "fields": passed_through(record)}
                index.write(f'{separator}\n"{name}": {json.dumps(about, ensure_ascii=False)}')
                separator = ","
            index.write("{}\n" if separator == "{" else "\n}\n")


def _write(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        file.write(text)


def _lines(record: Record) -> Iterator[str]:
    for row, entity in enumerate(record["entities"], 1):
        start, end = entity["start"], entity["end"]
        covered = LINE_BREAK.sub(" ", record["text"][start:end])
        yield f"T{row}\t{_word(entity['label'] or 'Entity')} {start} {end}\t{covered}"
    for number, relation in enumerate(record["relations"], 1):
        id, line = _relation(number, relation)
        yield f"{id}\t{line}"
        yield f"#{number}\tAnnotatorNotes {id}\tscore {relation['score']}"


def _relation(number: int, relation: Mapping[str, Any]) -> tuple[str, str]:
    """Id and line of an event or relation."""
    rows = arguments_of(relation)
    label = _word(relation["label"])
    trigger = None
    if "trigger" in rows or len(rows) == 1:
        trigger = rows.pop("trigger" if "trigger" in rows else next(iter(rows)))
    arguments = [f"{_word(ROLES.get(role, role))}:T{row + 1}" for role, row in rows.items()]
    if trigger is None:
        return f"R{number}", " ".join([label, *arguments])
    return f"E{number}", " ".join([f"{label}:T{trigger + 1}", *arguments])


def _word(name: str) -> str:
    return WHITE_SPACE.sub("_", name)
