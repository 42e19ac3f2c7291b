"""XML of protein-protein interaction corpora: AIMed, BioInfer and their like.

Sentences hold their text, their entities and, as `interaction` or `pair` elements, which
of them interact. References: Pyysalo et al. 2008, BMC Bioinformatics 9(S3):S6.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs
from .report import Report
from .safe_xml import parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Pieces: TypeAlias = tuple[tuple[int, int], ...]


def read_interaction_xml(
    paths: Paths,
    nlp: Language,
    *,
    align: Align = "split",
    label: str = "PPI",
    entity_label: str | None = None,
    default_entity_label: str = "ENTITY",
) -> tuple[list[Doc], Report]:
    """Docs of all documents in the files, and the report of reading them.

    The sentences of a document are joined with one space and become the sentences of its
    Doc. Interactions have no direction: the argument that comes first is the head. Pairs
    that do not interact are not stored; they are all the other pairs.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.
    label : str
        The label of every interaction, whatever its `type`.
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
        If `label` is empty.
    OSError
        If a file cannot be opened. Broken XML is an error in the report instead, and so is
        XML that declares entities or refers to other files.
    """
    if not label:
        raise ValueError("label is empty; give interactions a name, e.g. 'PPI'.")
    report = Report()

    def documents() -> Iterator[Document]:
        for path in list_paths(paths):
            root = parse_xml(path, report)
            if root is not None:
                inclusive = _ends_are_inclusive(root, path, report)
                reader = _Reader(path, report, inclusive, label, entity_label, default_entity_label)
                yield from reader.documents(root)

    return to_docs(documents(), nlp, align=align, report=report), report


def _ends_are_inclusive(root: Element, path: Path, report: Report) -> bool:
    """Majority of the mentions; without any, the original format's: True."""
    votes: Counter[bool] = Counter()
    n_mentions = 0
    for sentence in root.iter("sentence"):
        text = sentence.get("text", "")
        for entity in sentence.iter("entity"):
            n_mentions += 1
            for inclusive in (True, False):
                pieces = _pieces(entity, inclusive, text)
                votes[inclusive] += bool(pieces) and _agrees(entity, pieces, text)
    if n_mentions and not votes.total():
        report.error(
            "undecided_ends",
            f"{path}: no text of {n_mentions} mentions agrees with its charOffset, so nothing "
            "tells if ends are inclusive; read as inclusive, add the text attributes.",
        )
    return votes[True] >= votes[False]


def _pieces(entity: Element, inclusive: bool, text: str) -> Pieces:
    """Offsets of the mention's pieces, exclusive ends; empty if they are not in `text`."""
    pieces = []
    for piece in re.split("[,;]", entity.get("charOffset", "")):
        match = re.fullmatch(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*", piece)
        if match is None:
            return ()
        start, end = int(match[1]), int(match[2]) + inclusive
        if not start < end <= len(text):
            return ()
        pieces.append((start, end))
    return tuple(pieces)


def _agrees(entity: Element, pieces: Pieces, text: str) -> bool:
    found = [text[start:end] for start, end in pieces]
    return entity.get("text") in (" ".join(found), "".join(found))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Documents of one file."""

    path: Path
    report: Report
    inclusive: bool
    label: str
    entity_label: str | None
    default_entity_label: str

    def documents(self, root: Element) -> Iterator[Document]:
        number = 0
        for number, element in enumerate(root.iter("document"), 1):
            id = element.get("id")
            where = f"{self.path}:{id or number}"
            yield self.document(element, id or where, where)
        if not number:
            self.report.error(
                "no_documents",
                f"{self.path}: <{root.tag}> holds no <document>; expected documents of sentences; "
                "is it another format?",
            )

    def document(self, element: Element, id: str, where: str) -> Document:
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
        return Document(id, " ".join(texts), mentions, links, starts, where)

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
        pieces = _pieces(entity, self.inclusive, text)
        if not pieces or ("text" in entity.attrib and not _agrees(entity, pieces, text)):
            found = " ".join(text[start:end] for start, end in pieces)
            self.report.error(
                "wrong_mentions",
                f"{self.place(entity)}: charOffset {entity.get('charOffset')!r} is "
                f"{found!r} with {'inclusive' if self.inclusive else 'exclusive'} ends, as the "
                f"file has them; expected {entity.get('text')!r}; left out, correct the offsets.",
            )
            return None
        label = self.entity_label or entity.get("type") or self.default_entity_label
        start, end = min(pieces)[0] + base, max(end for _, end in pieces) + base
        moved = tuple((a + base, b + base) for a, b in pieces) if len(pieces) > 1 else ()
        return Mention(start, end, label, entity.get("id", ""), moved)

    def links(
        self, element: Element, mentions: list[Mention], rows: dict[str, int | None]
    ) -> Iterator[Link]:
        """Interactions, each pair once, in document order."""
        positives = [
            child
            for child in element.iter()
            if child.tag == "interaction" or (child.tag == "pair" and self.is_positive(child))
        ]
        seen = set()
        for positive in positives:
            ids = positive.get("e1", ""), positive.get("e2", "")
            place = f"{self.place(positive)}: {ids[0]!r} with {ids[1]!r}"
            unknown = [id for id in ids if id not in rows]
            if unknown:
                self.report.error(
                    "unknown_entities",
                    f"{place}: the document has no entity {unknown[0]!r}; left out, correct the "
                    "reference.",
                )
                continue
            if ids[0] == ids[1]:
                self.report.error("self_interactions", f"{place}: expected two entities; left out.")
                continue
            known = [row for row in (rows[id] for id in ids) if row is not None]
            if len(known) < 2:
                self.report.change("lost_relations", place)
                continue
            head, tail = sorted(known, key=lambda row: (mentions[row][:2], row))
            if (head, tail) in seen:
                self.report.change("repeated_relations", place)
                continue
            seen.add((head, tail))
            yield Link(self.label, {"head": head, "tail": tail})

    def is_positive(self, pair: Element) -> bool:
        value = pair.get("interaction", "")
        if value.lower() not in ("true", "false"):
            self.report.error(
                "bad_pairs",
                f"{self.place(pair)}: interaction is {value!r}; expected True or False; left out.",
            )
        return value.lower() == "true"

    def place(self, element: Element) -> str:
        return f"{self.path}:{element.get('id') or '<' + element.tag + '>'}"
