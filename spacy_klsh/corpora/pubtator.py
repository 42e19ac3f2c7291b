"""PubTator: title and abstract, mentions with concept ids, relations between concepts.

References: Wei et al. 2013, "PubTator", Nucleic Acids Research 41; Li et al. 2016,
"BioCreative V CDR task corpus", Database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Mention, Paths, list_paths, to_docs
from .lines import columns, decode, parse_each, read_blocks
from .links import concept_links
from .report import Report

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_NAMES = (
    "5 to 7: document id, start, end, text, type, concepts, their names; or 4 or 5: document id, "
    "relation, concept, concept, more"
)


def read_pubtator(
    paths: Paths, nlp: Language, *, align: Align = "split"
) -> tuple[list[Doc], Report]:
    """Docs of all documents in the files, and the report of reading them.

    The text is the title, a space and the abstract; the id of an entity is its concept. A
    relation holds between concepts of a document: it becomes one between each mention of
    the first, the head, and each of the second, and is counted as a document relation.

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
        If a file cannot be opened. A bad document is an error in the report instead, a
        mention that disagrees with the text only itself.
    """
    report = Report()
    parse = partial(_document, report=report)
    documents = (
        document
        for path in list_paths(paths)
        for document in parse_each(read_blocks(path, report), parse, report, reason="bad_documents")
    )
    return to_docs(documents, nlp, align=align, report=report), report


def _document(lines: list[bytes], where: str, report: Report) -> Document:
    id, text = _text(lines[:2])
    file, _, first = where.rpartition(":")
    annotated: dict[str, list[str]] = {}  # columns by place
    related: dict[str, list[str]] = {}
    for number, line in enumerate(lines[2:], int(first) + 2):
        row = columns(line, range(4, 8), _NAMES)
        if row[0] != id:
            raise ValueError(f"line {number} is of {row[0]!r}, not {id!r}; expected an empty line")
        if row[1].isdecimal() and row[2].isdecimal() and len(row) > 4:
            annotated[f"{file}:{number}"] = row
        elif row[1] and not row[1].isdecimal() and len(row) < 6:
            related[f"{file}:{number}"] = row
        else:
            raise ValueError(f"line {number} is {row}; expected {_NAMES}")
    mentions = list(_mentions(annotated, text, report))
    concepts = [mention.id for mention in mentions]
    links = [
        link
        for place, row in related.items()
        for link in concept_links(row[1], row[2:4], concepts, place, report)
    ]
    return Document(id, text, mentions, links, where=where)


def _mentions(rows: dict[str, list[str]], text: str, report: Report) -> Iterator[Mention]:
    for place, (_, start, end, wanted, label, *concepts) in rows.items():
        found = text[int(start) : int(end)]
        if found and found == wanted:
            yield Mention(int(start), int(end), label, "".join(concepts[:1]))
        else:
            report.error(
                "wrong_mentions",
                f"{place}: {start} to {end} is {found!r}; expected {wanted!r}; left out, correct "
                "the offsets (characters of title, one more, abstract; exclusive end).",
            )


def _text(lines: list[bytes]) -> tuple[str, str]:
    matches = [_TEXT.fullmatch(decode(line)) for line in lines]
    found = [(match[1], match[2], match[3]) for match in matches if match is not None]
    if [part for _, part, _ in found] != ["t", "a"] or found[0][0] != found[1][0]:
        raise ValueError(
            f"the document begins with {lines[0][:40]!r}; expected id|t|title and id|a|abstract"
        )
    return found[0][0], f"{found[0][2]} {found[1][2]}"
