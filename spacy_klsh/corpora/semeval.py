"""Sentences with two marked nominals: SemEval-2010 Task 8 and, written alike, KBP37.

``1 TAB "The <e1>child</e1> was wrapped into the <e2>cradle</e2>."``, on the next line the
relation, ``Entity-Destination(e1,e2)``, then perhaps a comment. References: Hendrickx et al.
2010, SemEval; Zhang & Wang 2015, arXiv:1508.01006.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs
from .lines import decode, parse_each, read_blocks
from .report import Report

NEGATIVES = ("Other", "no_relation")

_FIRST = re.compile(rb"[0-9]+\t")
_SENTENCE = re.compile(r'([0-9]+)\t"(.*)"\s*', re.DOTALL)
_TAG = re.compile("</?e[12]>")
_SPACED_TAG = re.compile(r"(?<=\s)</?e[12]>(?=\s)")
_ORDERS = (["<e1>", "</e1>", "<e2>", "</e2>"], ["<e2>", "</e2>", "<e1>", "</e1>"])
_RELATION = re.compile(r"(.+)\((e1,e2|e2,e1)\)")


def read_semeval(
    paths: Paths, nlp: Language, *, align: Align = "split", entity_label: str = "NOMINAL"
) -> tuple[list[Doc], Report]:
    """Docs of all sentences in the files, and the report of reading them.

    In ``Cause-Effect(e2,e1)`` the nominal e2 is the head, e1 the tail. ``Other`` and
    ``no_relation`` are no relations; the report counts them as negative sentences.

    Parameters
    ----------
    paths : path or iterable of paths
        A file without any label is read, too: a test set whose answers are elsewhere. Its
        Docs count as never annotated.
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.
    entity_label : str
        The label of all nominals; the format has none.

    Notes
    -----
    Without its tags the text is as it was, except where every tag of a sentence stands
    between spaces, as in KBP37: then it is the words with one space between them.

    Raises
    ------
    OSError
        If a file cannot be opened. A bad sentence is an error in the report instead; so is a
        pair of tags around nothing, of which KBP37 has 148.
    """
    report = Report()

    def documents() -> Iterator[Document]:
        for path in list_paths(paths):
            blocks = list(read_blocks(path, report, _FIRST))
            has_labels = any(len(block) > 1 for _, block in blocks)
            parse = partial(
                _document, has_label=has_labels, entity_label=entity_label, report=report
            )
            yield from parse_each(blocks, parse, report)

    return to_docs(documents(), nlp, align=align, report=report), report


def _document(
    block: list[bytes], where: str, *, has_label: bool, entity_label: str, report: Report
) -> Document:
    lines = [decode(line) for line in block]
    match = _SENTENCE.fullmatch(lines[0])
    if match is None:
        raise ValueError(f'{lines[0][:60]!r}; expected an id, a tab and a sentence in quotes ""')
    text, mentions = _marked(match[2], entity_label)
    label, ids = _relation(lines[1:]) if has_label else ("", [])
    links: list[Link] | None = []
    if ids:
        rows = [mention.id for mention in mentions]
        links = [Link(label, {"head": rows.index(ids[0]), "tail": rows.index(ids[1])})]
    elif has_label:
        report.change("negative_sentences", f"{where}: {label}")
    else:
        links = None
        report.change("unlabelled_sentences", where)
    for mention in mentions:
        if not text[mention.start : mention.end].strip():
            report.error(
                "empty_mentions",
                f"{where}: no words between <{mention.id}> and </{mention.id}>; the mention and "
                "its relation are lost, mark some words.",
            )
    return Document(match[1], text, mentions, links, [0], where)


def _marked(sentence: str, label: str) -> tuple[str, list[Mention]]:
    """The text without tags, and what they mark."""
    tags, parts = _TAG.findall(sentence), _TAG.split(sentence)
    if tags not in _ORDERS:
        raise ValueError(
            f"tags are {' '.join(tags) or 'missing'}; expected {' '.join(_ORDERS[0])}, each once"
        )
    is_spaced = len(_SPACED_TAG.findall(f" {sentence} ")) == len(tags)
    text = ""
    bounds = []
    for part in parts:
        part = part.strip() if is_spaced else part
        text += " " if is_spaced and text and part else ""
        bounds.append((len(text), len(text) + len(part)))
        text += part
    return text, [
        Mention(*bounds[1], label, tags[0][1:-1]),
        Mention(*bounds[3], label, tags[2][1:-1]),
    ]


def _relation(lines: Sequence[str]) -> tuple[str, list[str]]:
    """Label and ids of head and tail; no ids: no relation."""
    label = lines[0].strip() if lines else ""
    match = _RELATION.fullmatch(label)
    if match is None and label not in NEGATIVES:
        raise ValueError(
            f"the relation is {label!r}; expected one like Cause-Effect(e1,e2), or "
            f"{' or '.join(NEGATIVES)}"
        )
    comments = lines[1:]
    if len(comments) > 1 or not all(line.startswith("Comment:") for line in comments):
        raise ValueError(
            f"{comments[-1][:60]!r} after the relation; expected a Comment: or nothing"
        )
    return (match[1], match[2].split(",")) if match else (label, [])
