"""The original format of CoNLL04 (``.corp``): a token or a whole entity on each line.

References: Roth & Yih 2004, "A Linear Programming Formulation for Global Inference in
Natural Language Tasks", CoNLL.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs
from .lines import columns, parse_each, read_blocks
from .report import Report

_WRITTEN_OUT = {
    "COMMA": ",",
    "-LRB-": "(",
    "-RRB-": ")",
    "-LCB-": "{",
    "-RCB-": "}",
    "-LSB-": "[",
    "-RSB-": "]",
}
_NAMES = (
    "9: sentence id, entity type, number of the token, O, tags, words, O, O, O; or 3: number of "
    "the head, number of the tail, relation"
)


def read_conll04(
    paths: Paths, nlp: Language, *, align: Align = "split"
) -> tuple[list[Doc], Report]:
    """Docs of all sentences in the files, and the report of reading them.

    The text is the words with a space between them, commas, brackets and ampersands as
    signs again.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used. It may split a token of the file.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.

    Notes
    -----
    The words of an entity and their part-of-speech tags are joined by slashes. A word with
    one tag keeps its slashes; where there are not as many words as tags, all slashes
    become spaces and the report counts an ambiguous slash.

    Raises
    ------
    OSError
        If a file cannot be opened. A bad sentence is an error in the report instead.
    """
    report = Report()
    parse = partial(_document, report=report)
    documents = (
        document
        for path in list_paths(paths)
        for document in parse_each(_sentences(path, report), parse, report, reason="bad_sentences")
    )
    return to_docs(documents, nlp, align=align, report=report), report


def _sentences(path: Path, report: Report) -> Iterator[tuple[str, list[bytes]]]:
    """Place and lines of each sentence: those of its tokens and those of its relations."""
    place, lines = "", list[bytes]()
    for where, block in read_blocks(path, report):
        has_tokens = block[0].count(b"\t") > 3
        if has_tokens and lines:
            yield place, lines
            lines = []
        place = place if lines else where
        lines += block
    if lines:
        yield place, lines


def _document(lines: list[bytes], where: str, report: Report) -> Document:
    rows = [columns(line, {3, 9}, _NAMES) for line in lines]
    tokens = [row for row in rows if len(row) == 9]
    ids = {row[0] for row in tokens}
    numbers = [row[2] for row in tokens]
    if len(ids) != 1 or numbers != [str(number) for number in range(len(tokens))]:
        raise ValueError(
            f"tokens {' '.join(numbers)} of {sorted(ids)}; expected those of one sentence, from 0"
        )
    text = ""
    mentions: list[Mention] = []
    entities: dict[str, int] = {}  # number of the token -> row of the mention
    for row, words in zip(tokens, _words(tokens), strict=True):
        start = len(text) + bool(text and words)
        text = " ".join([text, *words] if text else words)
        if row[1] != "O":
            entities[row[2]] = len(mentions)
            mentions.append(Mention(start, len(text), row[1], row[2]))
    links = [_link(row, entities) for row in rows if len(row) == 3]
    for _, _, _, _, tags, token, *_ in tokens:
        if "/" in tags and tags.count("/") != token.count("/"):
            report.change("ambiguous_slashes", f"{where}: {token!r} with the tags {tags!r}")
    return Document(ids.pop(), text, mentions, links, [0], where)


def _words(tokens: list[list[str]]) -> Iterator[list[str]]:
    """The words of each token."""
    is_cut = False  # the word before is a reference like &amp; without its semicolon
    for _, _, _, _, tags, token, *_ in tokens:
        words = []
        for word in token.split("/") if "/" in tags else [token]:
            if word and not (is_cut and word == ";"):
                words.append(html.unescape(_WRITTEN_OUT.get(word, word)))
            is_cut = ";" not in word and html.unescape(word) != word
        yield words


def _link(row: list[str], entities: dict[str, int]) -> Link:
    *numbers, label = row
    unknown = [number for number in numbers if number not in entities]
    if unknown:
        raise ValueError(f"{label!r} names the token {unknown[0]!r}; expected one of an entity")
    if not label:
        raise ValueError("the relation of two tokens is empty; expected its name")
    head, tail = (entities[number] for number in numbers)
    return Link(label, {"head": head, "tail": tail})
