"""Relations annotated with Prodigy: a text with `spans` and `relations` on each line of JSON.

References: Prodigy's documentation of ``rel.manual``; the relation extraction tutorial of
spaCy's projects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, to_docs
from .fields import Fields, read_json_lines
from .report import Report

ANSWERS = ("accept", "reject", "ignore")


def read_prodigy(
    paths: Paths, nlp: Language, *, align: Align = "split"
) -> tuple[list[Doc], Report]:
    """Docs of all accepted lines in the files, and the report of reading them.

    Spans become entities, and `head` and `child` of a relation its head and tail. Rejected
    and ignored lines are counted. A label that means no relation (``No-rel``) is kept: name
    it in the component's `negative_labels`.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used; it need not be the one of the annotation.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.

    Raises
    ------
    OSError
        If a file cannot be opened. A bad line is an error in the report instead.
    """
    report = Report()
    lines = read_json_lines(paths, partial(_document, report=report), report)
    documents = (document for document in lines if document is not None)
    return to_docs(documents, nlp, align=align, report=report), report


def _document(data: Fields, where: str, report: Report) -> Document | None:
    answer = data.get("answer", str, "accept")
    if answer not in ANSWERS:
        raise ValueError(f"answer is {answer!r}; expected one of {', '.join(ANSWERS)}")
    if answer != "accept":
        report.change(f"{answer}_answers", where)
        return None
    text = data.get("text", str)
    characters = (len(text), "characters of the text")
    tokens = [token.bounds(*characters) for token in data.objects("tokens", [])]
    spans = data.objects("spans", [])
    mentions = [_mention(span, text, tokens) for span in spans]
    rows = _rows_by_last_token(spans)
    links = [
        Link(
            relation.label("label"),
            {
                "head": _argument(relation, "head", mentions, rows),
                "tail": _argument(relation, "child", mentions, rows),
            },
        )
        for relation in data.objects("relations", [])
    ]
    meta = data.data.get("meta")
    source = meta.get("source") if isinstance(meta, dict) else None
    return Document(
        source if isinstance(source, str) else where, text, mentions, links, where=where
    )


def _mention(span: Fields, text: str, tokens: list[tuple[int, int]]) -> Mention:
    start, end = span.bounds(len(text), "characters of the text")
    if span.get("text", str, text[start:end]) != text[start:end]:
        raise ValueError(f"{span.name}text is {span.data['text']!r}; expected {text[start:end]!r}")
    if tokens:
        first = span.row("token_start", len(tokens), "tokens")
        last = span.row("token_end", len(tokens), "tokens")
        found = tokens[first][0], tokens[last][1]
        if found != (start, end):
            raise ValueError(
                f"{span.name}token_start is {first} and token_end {last}, from {found[0]} to "
                f"{found[1]}; expected the first and the last token of {start} to {end}"
            )
    return Mention(start, end, span.get("label", str))


def _rows_by_last_token(spans: Sequence[Fields]) -> dict[int, list[int]]:
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for row, span in enumerate(spans):
        last = span.data.get("token_end")
        if isinstance(last, int):
            rows[last].append(row)
    return rows


def _argument(
    relation: Fields, role: str, mentions: Sequence[Mention], rows: Mapping[int, Sequence[int]]
) -> int:
    """Row of the span whose last token is `role`; its offsets are those of ``<role>_span``."""
    token = relation.get(role, int)
    offsets = relation.object(f"{role}_span").data if f"{role}_span" in relation else {}
    for row in rows.get(token, ()):
        start, end = mentions[row][:2]
        if (offsets.get("start", start), offsets.get("end", end)) == (start, end):
            return row
    place = f" from {offsets.get('start')} to {offsets.get('end')}" if offsets else ""
    raise ValueError(
        f"{relation.name}{role} is {token}{place}; expected the last token (token_end) of a span, "
        "and its offsets"
    )
