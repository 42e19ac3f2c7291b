"""XML of protein and drug interaction corpora: AIMed, BioInfer, DDI 2013 and their like.

Sentences hold their text, their entities and, as `interaction` or `pair` elements, which
of them interact. References: Pyysalo et al. 2008, BMC Bioinformatics 9(S3):S6;
Herrero-Zazo et al. 2013, J. Biomed. Inform. 46(5):914-920.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_files, to_docs
from .pieces import Pieces, agrees, covered, shift
from .report import Report
from .safe_xml import line_of, parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# How a pair says whether it interacts, and what an interaction without type is called there.
DIALECTS = {"ddi": "DDI", "interaction": "PPI"}


def read_interaction_xml(
    paths: Paths,
    nlp: Language,
    *,
    align: Align = "split",
    label: str | None = None,
    default_label: str | None = None,
    entity_label: str | None = None,
    default_entity_label: str = "ENTITY",
) -> tuple[list[Doc], Report]:
    """Docs of all documents in the files, and the report of reading them.

    The sentences of a document are joined with one space and become the sentences of its
    Doc. Interactions have no direction: the argument that comes first (of two that begin
    together the longer one) is the head. Pairs that do not interact are not stored; they are
    all the other pairs.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, or directories: all ``.xml`` files below them.
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.
    label : str, optional
        The label of all interactions, e.g. ``PPI``; without it the `type` of each is kept.
    default_label : str, optional
        The label of interactions without `type` (or with type ``None``, as the original files of
        Pyysalo et al. have it), which are counted; without it ``PPI`` or, where pairs say
        ``ddi="true"``, ``DDI``.
    entity_label : str, optional
        The label of all entities, e.g. ``PROTEIN``; without it the `type` of each is kept.
    default_entity_label : str
        The label of entities without `type`.

    Notes
    -----
    Nothing in a file says if the end of ``charOffset="62-65"`` is inclusive. All mentions
    of a file vote: each compares its `text` with both readings. A mention that disagrees
    with its file is an error and left out.

    Raises
    ------
    ValueError
        If a label is empty.
    OSError
        If a file cannot be opened, or a directory has none. Broken XML is an error in the
        report instead, and so is XML that declares entities or refers to other files.
    """
    labels = _Labels(label, default_label, entity_label, default_entity_label)
    if "" in labels:
        raise ValueError(f"a label is empty in {labels}; give it a name, e.g. 'PPI'.")
    report = Report()

    def documents() -> Iterator[Document]:
        for path in list_files(paths, ".xml"):
            root = parse_xml(path, report)
            if root is not None:
                inclusive = _ends_are_inclusive(root, path, report)
                yield from _Reader(path, report, inclusive, labels).documents(root)

    return to_docs(documents(), nlp, align=align, report=report), report


class _Labels(NamedTuple):
    """What relations and entities are called."""

    relation: str | None
    default_relation: str | None
    entity: str | None
    default_entity: str


def _ends_are_inclusive(root: Element, path: Path, report: Report) -> bool:
    """Majority of the mentions; without any, the original format's: True."""
    votes: Counter[bool] = Counter()
    n_mentions = 0
    for sentence in root.iter("sentence"):
        text = sentence.get("text", "")
        for entity in sentence.iter("entity"):
            n_mentions += 1
            wanted = entity.get("text")
            for inclusive in (True, False):
                pieces = _pieces(entity, inclusive)
                votes[inclusive] += wanted is not None and agrees(text, pieces, wanted)
    if n_mentions and not votes.total():
        report.error(
            "undecided_ends",
            f"{path}: no text of {n_mentions} mentions agrees with its charOffset, so nothing "
            "tells if ends are inclusive; read as inclusive, add the text attributes.",
        )
    return votes[True] >= votes[False]


def _pieces(entity: Element, inclusive: bool) -> Pieces:
    """Offsets of the mention's pieces, exclusive ends; empty if one of them is none."""
    pieces = []
    for piece in re.split("[,;]", entity.get("charOffset", "")):
        match = re.fullmatch(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*", piece)
        if match is None:
            return ()
        pieces.append((int(match[1]), int(match[2]) + inclusive))
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Documents of one file."""

    path: Path
    report: Report
    inclusive: bool
    labels: _Labels

    def documents(self, root: Element) -> Iterator[Document]:
        for tag in ("document", "sentence"):
            if next(root.iter(tag), None) is None:
                self.report.error(
                    "no_documents",
                    f"{self.path}: <{root.tag}> holds no <{tag}>; expected documents of "
                    "sentences; is it another format?",
                )
                return
        yield from map(self.document, root.iter("document"))

    def document(self, element: Element) -> Document:
        texts: list[str] = []
        starts: list[int] = []
        mentions: list[Mention] = []
        rows: dict[str, int | None] = {}  # None: left out as an error
        base = 0
        for sentence in element.iter("sentence"):
            text = self.text(sentence)
            for entity in sentence.iter("entity"):
                mention = self.mention(entity, text, base)
                entity_id = entity.get("id", "")
                if entity_id in rows:
                    self.report.error(
                        "repeated_ids",
                        f"{self.place(entity)}: another entity of the document has this id; left "
                        "out, give each its own.",
                    )
                    continue
                if entity_id:
                    rows[entity_id] = None if mention is None else len(mentions)
                if mention is not None:
                    mentions.append(mention)
            if text:
                texts.append(text)
                starts.append(base)
                base += len(text) + 1
        links = list(self.links(element, mentions, rows))
        where = self.place(element)
        return Document(element.get("id") or where, " ".join(texts), mentions, links, starts, where)

    def text(self, sentence: Element) -> str:
        text = sentence.get("text")
        if text is None:
            self.report.error(
                "missing_texts", f"{self.place(sentence)}: no text attribute; left out, add it."
            )
        elif not text:
            self.report.change("empty_sentences", self.place(sentence))
        return text or ""

    def mention(self, entity: Element, text: str, base: int) -> Mention | None:
        pieces = _pieces(entity, self.inclusive)
        if not agrees(text, pieces, entity.get("text")):
            found = " ".join(covered(text, pieces))
            self.report.error(
                "wrong_mentions",
                f"{self.place(entity)}: charOffset {entity.get('charOffset')!r} is "
                f"{found!r} with {'inclusive' if self.inclusive else 'exclusive'} ends, as the "
                f"file has them; expected {entity.get('text')!r}; left out, correct the offsets.",
            )
            return None
        label = self.labels.entity or entity.get("type") or self.labels.default_entity
        return Mention.covering(shift(pieces, base), label, entity.get("id", ""))

    def links(
        self, element: Element, mentions: list[Mention], rows: dict[str, int | None]
    ) -> Iterator[Link]:
        """Interactions, each pair once with the same label, in document order."""
        seen = set()
        for child in element.iter():
            if child.tag not in ("interaction", "pair"):
                continue
            dialect = next((name for name in DIALECTS if name in child.attrib), "interaction")
            if child.tag == "pair" and not self.is_positive(child, dialect):
                continue
            pair = self.pair(child, mentions, rows)
            if pair is None:
                continue
            kind = self.kind(child)
            label = kind or self.labels.default_relation or DIALECTS[dialect]
            if (label, pair) in seen:
                self.report.change("repeated_relations", self.place(child))
                continue
            seen.add((label, pair))
            if not kind:
                self.report.change("untyped_relations", f"{self.place(child)}: {label}")
            yield Link(label, {"head": pair[0], "tail": pair[1]})

    def is_positive(self, pair: Element, dialect: str) -> bool:
        value = pair.get(dialect, "")
        if value.lower() not in ("true", "false"):
            self.report.error(
                "bad_pairs",
                f"{self.place(pair)}: {dialect} is {value!r}; expected true or false; left out.",
            )
        return value.lower() == "true"

    def pair(
        self, positive: Element, mentions: list[Mention], rows: dict[str, int | None]
    ) -> tuple[int, int] | None:
        """Rows of the two mentions, in document order."""
        ids = positive.get("e1", ""), positive.get("e2", "")
        place = f"{self.place(positive)}: {ids[0]!r} with {ids[1]!r}"
        unknown = [id for id in ids if id not in rows]
        if unknown:
            self.report.error(
                "unknown_entities",
                f"{place}: the document has no entity {unknown[0]!r}; left out, correct the "
                "reference.",
            )
            return None
        if ids[0] == ids[1]:
            self.report.error("self_interactions", f"{place}: expected two entities; left out.")
            return None
        known = [row for row in (rows[id] for id in ids) if row is not None]
        if len(known) < 2:
            self.report.change("lost_relations", place)
            return None
        head, tail = sorted(known, key=lambda row: (mentions[row].start, -mentions[row].end, row))
        return head, tail

    def kind(self, positive: Element) -> str:
        """What it says to be, empty if it does not."""
        kind = self.labels.relation or positive.get("type") or "None"
        return kind if kind != "None" else ""

    def place(self, element: Element) -> str:
        id = element.get("id")
        return f"{self.path}:{line_of(element)}" + (f" ({id})" if id else "")
