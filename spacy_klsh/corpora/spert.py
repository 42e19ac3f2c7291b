"""JSON of SpERT and its like: tokens, entities over tokens, relations between entities.

References: Eberts & Ulges 2020, "Span-based Joint Entity and Relation Extraction with
Transformer Pre-training", ECAI.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs
from .fields import Fields, check
from .lines import parse_each, read_lines
from .report import Report

_OPEN = re.compile(r"\s*\[\s*(\]\s*)?")
_NEXT = re.compile(r"\s*(?:,|(\]))\s*")


def read_spert(paths: Paths, nlp: Language, *, align: Align = "split") -> tuple[list[Doc], Report]:
    """Docs of all sentences in the files, and the report of reading them.

    The text is the tokens with a space between them. A file is a list of objects with
    `tokens`; `entities` (type, start and exclusive end, in tokens) or else BILOU `tags`; and
    `relations` (type, head and tail, rows of the entities); perhaps `orig_id`.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used. It may split a token of the file; to keep them all set
        ``nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)``, which splits at spaces only.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.

    Raises
    ------
    OSError
        If a file cannot be opened. A bad sentence is an error in the report instead; what
        comes before the end of a truncated file is read.
    """
    report = Report()
    documents = (
        document
        for path in list_paths(paths)
        for document in parse_each(_items(path, report), _document, report, reason="bad_sentences")
    )
    return to_docs(documents, nlp, align=align, report=report), report


def _items(path: Path, report: Report) -> Iterator[tuple[str, Any]]:
    """Place and value of each item of the list that the file is."""
    # bytes that are not UTF-8 become half surrogate pairs, which the fields are checked for
    text = "\n".join(line.decode(errors="surrogateescape") for _, line in read_lines(path, report))
    decoder = json.JSONDecoder()
    match = _OPEN.match(text)
    number, line, position = 0, 1, 0
    while match is not None and not match[1]:
        line += text.count("\n", position, match.end())
        number, position = number + 1, match.end()
        try:
            item, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            match = None
        else:
            yield f"{path}:{line}: sentence {number}", item
            match = _NEXT.match(text, end)
    end = match.end() if match else position
    if end < len(text) or match is None:
        report.error(
            "broken_files",
            f"{path}:{line}: {text[end : end + 40]!r}, sentence {number}, is no JSON or not "
            "between commas; expected one list of objects; those before were read, repair it.",
        )


def _document(item: Any, where: str) -> Document:
    data = Fields(check(item, dict, "it"))
    tokens = data.items("tokens", str)
    if not all(tokens):
        raise ValueError(f"tokens[{tokens.index('')}] is empty; expected a word")
    if "entities" in data:
        entities = [
            (*entity.bounds(len(tokens), "tokens"), entity.label("type"))
            for entity in data.objects("entities")
        ]
    else:
        entities = list(_tagged(data.items("tags", str), len(tokens)))
    starts = list(accumulate((len(token) + 1 for token in tokens), initial=0))
    mentions = [Mention(starts[start], starts[end] - 1, label) for start, end, label in entities]
    links = [
        Link(
            link.label("type"),
            {role: link.row(role, len(entities), "entities") for role in ("head", "tail")},
        )
        for link in data.objects("relations", [])
    ]
    id = str(data.data.get("orig_id", where))
    return Document(id, " ".join(tokens), mentions, links, [0] if tokens else [], where)


def _tagged(tags: list[str], n_tokens: int) -> Iterator[tuple[int, int, str]]:
    """First token, last one exclusive, and label of each entity."""
    if len(tags) != n_tokens:
        raise ValueError(f"{len(tags)} tags; expected one for each of the {n_tokens} tokens")
    start, label = 0, ""  # of the entity that is not yet complete
    for row, tag in enumerate([*tags, "O"]):
        kind, _, name = tag.partition("-")
        fits = kind in ("I", "L") and name == label if label else tag == "O" or kind in ("B", "U")
        if not fits or (tag != "O" and not name):
            raise ValueError(
                f"tags[{row}] is {tag!r} after {tags[:row][-1:]}; expected BILOU tags such as "
                "B-Org I-Org L-Org, U-Org, O"
            )
        if kind == "B":
            start, label = row, name
        elif kind == "U":
            yield row, row + 1, name
        elif kind == "L":
            yield start, row + 1, label
            label = ""
