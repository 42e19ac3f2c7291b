"""What every corpus format boils down to, and its way to a spaCy Doc."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..pipeline.relations import Argument, Record, register_extensions, write_records
from ..pipeline.tokens import split_tokens
from .pieces import Pieces
from .report import Report
from .sentences import mark_sentences

Align: TypeAlias = Literal["split", "expand", "contract", "drop"]
Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

SPANS_KEY = "entities"


class Mention(NamedTuple):
    """An entity as a corpus gives it: character offsets in the text, exclusive end.

    A discontinuous mention covers its gaps; `pieces` then holds the offsets of its parts.
    """

    start: int
    end: int
    label: str
    id: str = ""
    pieces: Pieces = ()

    @classmethod
    def covering(cls, pieces: Pieces, label: str, id: str) -> Mention:
        """The mention from the first to the last of its pieces, one or more."""
        start, end = min(pieces)[0], max(end for _, end in pieces)
        return cls(start, end, label, id, pieces if len(pieces) > 1 else ())


class Link(NamedTuple):
    """A relation as a corpus gives it: for each role the row of a mention."""

    label: str
    arguments: Mapping[str, int]
    score: float = 1.0
    id: str = ""


class Document(NamedTuple):
    """A text with mentions and relations; `where` is its place for messages.

    `relations` is None if nobody annotated any, as in a test set. `sentence_starts` holds
    character offsets, or None if the format has no sentences. `extras` is whatever else the
    corpus says, in plain lists and dicts.
    """

    id: str
    text: str
    mentions: Sequence[Mention]
    relations: Sequence[Link] | None
    sentence_starts: Sequence[int] | None = None
    where: str = ""
    extras: Mapping[str, Any] = MappingProxyType({})


def list_paths(paths: Paths) -> list[Path]:
    """Paths as a list, also if there is only one."""
    if isinstance(paths, str | os.PathLike):
        return [Path(paths)]
    return [Path(path) for path in paths]


def list_files(paths: Paths, suffix: str) -> list[Path]:
    """Paths as a list; a directory stands for its visible files that end in `suffix`.

    Raises
    ------
    FileNotFoundError
        If a directory holds no such file.
    """
    files: list[Path] = []
    for path in list_paths(paths):
        if not path.is_dir():
            files.append(path)
            continue
        found = [file for file in visible_files(path) if file.suffix.lower() == suffix]
        if not found:
            raise FileNotFoundError(
                f"the directory {path} holds no {suffix} file; give the one that does."
            )
        files += found
    return files


def visible_files(directory: Path) -> list[Path]:
    """All files below a directory, sorted.

    Files and directories that begin with a dot, and ``__MACOSX``, are none of a corpus.
    """

    def is_visible(file: Path) -> bool:
        parts = file.relative_to(directory).parts
        return not any(part.startswith(".") or part == "__MACOSX" for part in parts)

    files = (path for path in directory.rglob("*") if not path.is_dir())
    return sorted(filter(is_visible, files))


def to_docs(
    documents: Iterable[Document], nlp: Language, *, align: Align, report: Report
) -> list[Doc]:
    """Docs of all documents that are not too long for `nlp`; those are errors.

    So it is if there is none and nothing was reported.
    """
    docs = []
    for document in documents:
        if len(document.text) > nlp.max_length:
            report.error(
                "long_texts",
                f"{document.where}: {len(document.text)} characters but nlp.max_length is "
                f"{nlp.max_length}; split the document or raise nlp.max_length.",
            )
        else:
            docs.append(to_doc(document, nlp, align=align, report=report))
    if not (docs or report.changes or report.errors):
        report.error("no_documents", "the input holds no document; is it empty, or another format?")
    return docs


def to_doc(document: Document, nlp: Language, *, align: Align = "split", report: Report) -> Doc:
    """Doc with entities, relations and sentence starts.

    All mentions are in ``doc.spans["entities"]``, the longest ones that do not overlap in
    ``doc.ents``, the relations in ``doc._.relations``, the document's id in
    ``doc.user_data["id"]``, the pieces of discontinuous mentions in
    ``doc.user_data["pieces"]``, the ids of relations, if they have any, in
    ``doc.user_data["relation_ids"]`` and the document's extras beside them.

    Parameters
    ----------
    document : Document
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to a mention that begins or ends inside a token: the token is split,
        the mention grows or shrinks to whole tokens, or it is lost. Except with "drop",
        white space at its ends is cut off first.
    report : Report
        Counts what is read, and every mention and relation that is changed or lost.

    Raises
    ------
    ValueError
        If `align` is unknown or the tokenizer does not keep the text.
    """
    if align not in get_args(Align):
        raise ValueError(f"align is {align!r}; choose one of {', '.join(get_args(Align))}.")
    register_extensions()
    doc = nlp.make_doc(document.text)
    if doc.text != document.text:
        raise ValueError(
            f"{document.where}: the tokenizer of nlp changes the text; offsets need one that "
            "keeps it."
        )
    report.documents += 1
    report.sentences += len(document.sentence_starts or ())
    report.mentions.update(mention.label for mention in document.mentions)
    report.relations.update(link.label for link in document.relations or ())

    doc, spans = _align(doc, document, align, report)
    doc.user_data.update(document.extras, id=document.id)
    _set_entities(doc, document, spans, report)
    if document.sentence_starts is not None:
        for start in mark_sentences(doc, document.sentence_starts):
            report.change("moved_sentence_starts", f"{document.where}: at {start}")
    if document.relations is not None:
        _set_relations(doc, document, document.relations, spans, report)
    return doc


def _align(
    doc: Doc, document: Document, align: Align, report: Report
) -> tuple[Doc, list[Span | None]]:
    """`doc`, its tokens split if need be, and the span of each mention, None if lost."""
    starts = {token.idx for token in doc}
    ends = {token.idx + len(token) for token in doc}

    def fits(mention: Mention) -> bool:
        return mention.start in starts and mention.end in ends

    mentions = [
        mention if fits(mention) or align == "drop" else _trim(mention, document.text)
        for mention in document.mentions
    ]
    if align == "split":
        cuts = {offset for mention in mentions for offset in (mention.start, mention.end)}
        doc = split_tokens(doc, cuts.union(document.sentence_starts or ()))
    mode = align if align in ("expand", "contract") else "strict"
    spans: list[Span | None] = []
    for original, mention in zip(document.mentions, mentions, strict=True):
        place = f"{document.where}: {_name(original, document)}"
        span = None
        if mention.start < mention.end:
            span = doc.char_span(
                mention.start,
                mention.end,
                label=mention.label,
                span_id=mention.id,
                alignment_mode=mode,
            )
        spans.append(span)
        if span is None:
            report.change("lost_mentions", place)
            continue
        if (span.start_char, span.end_char) != original[:2]:
            report.change("moved_mentions", f"{place} to {span.text!r}")
        if align == "split" and not fits(mention):
            report.change("split_mentions", place)
    return doc, spans


def _trim(mention: Mention, text: str) -> Mention:
    covered = text[mention.start : mention.end]
    start = mention.start + len(covered) - len(covered.lstrip())
    return mention._replace(start=start, end=start + len(covered.strip()))


def _set_entities(
    doc: Doc, document: Document, spans: Sequence[Span | None], report: Report
) -> None:
    aligned = [span for span in spans if span is not None]
    labelled = [span for span in aligned if span.label_]  # spaCy keeps no others in doc.ents
    doc.spans[SPANS_KEY] = aligned
    doc.ents = filter_spans(labelled)
    kept = {(span.start, span.end, span.label_, span.id_) for span in doc.ents}
    seen = set()
    pieces = []
    for mention, span in zip(document.mentions, spans, strict=True):
        if span is None:
            continue
        place = f"{document.where}: {_name(mention, document)}"
        key = (span.start, span.end, span.label_, span.id_)
        if key in seen:
            report.change("equal_mentions", place)
        elif not span.label_:
            report.change("unlabelled_mentions", place)
        elif key not in kept:
            report.change("nested_mentions", place)
        seen.add(key)
        if mention.pieces:
            report.change("discontinuous_mentions", place)
            pieces.append(
                {"id": mention.id, "start": span.start_char, "end": span.end_char}
                | {"pieces": [list(piece) for piece in mention.pieces]}
            )
    if pieces:
        doc.user_data["pieces"] = pieces


def _set_relations(
    doc: Doc,
    document: Document,
    links: Sequence[Link],
    spans: Sequence[Span | None],
    report: Report,
) -> None:
    """Relations all of whose arguments have a span."""
    records, ids = [], []
    for link in links:
        found = [(role, spans[row]) for role, row in link.arguments.items()]
        arguments = tuple(Argument.of(role, span) for role, span in found if span is not None)
        if len(arguments) == len(found):
            records.append(Record(link.label, link.score, arguments))
            ids.append(link.id)
        else:
            names = [_name(document.mentions[row], document) for row in link.arguments.values()]
            report.change("lost_relations", f"{document.where}: {link.label} {', '.join(names)}")
    for (label, _, arguments), n in Counter(records).items():
        for _ in range(n - 1):
            roles = ", ".join(argument.role for argument in arguments)
            report.change("equal_relations", f"{document.where}: {label} of the same {roles}")
    write_records(doc, records)
    if any(ids):
        doc.user_data["relation_ids"] = ids


def _name(mention: Mention, document: Document) -> str:
    return f"{mention.id} {document.text[mention.start : mention.end]!r}".strip()
