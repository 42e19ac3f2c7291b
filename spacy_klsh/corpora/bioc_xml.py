"""BioC XML: documents of passages, annotations with locations, relations with nodes.

References: Comeau et al. 2013, "BioC: a minimalist approach to interoperability for biomedical
text processing", Database.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from .bioc_relations import RelationReader, infons
from .documents import Align, Document, Mention, Paths, list_paths, to_docs
from .lines import parse_each
from .pieces import Pieces, agrees, covered, shift
from .report import Report
from .safe_xml import parse_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NUMBER = re.compile(r"\s*([0-9]{1,9})\s*")


def read_bioc(paths: Paths, nlp: Language, *, align: Align = "split") -> tuple[list[Doc], Report]:
    """Docs of all documents in the files, and the report of reading them.

    The text is that of the passages with a space between; a passage without text of its own is
    its sentences with a space between. If a document has sentences, they, and passages without
    any, become the sentences of its Doc. The label of an entity is the infon ``type``, its id
    that of the annotation.

    Parameters
    ----------
    paths : path or iterable of paths
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.

    Notes
    -----
    Every annotation is compared with the text at its locations. Some programs count the offset
    of a passage with ``&apos;``, ``&quot;`` or ``&amp;`` in those before it as that many
    characters, but those of annotations rightly. So if more annotations of a passage agree with
    the offset that follows from the texts before it, one character between each, that is taken
    and counted as repaired. An annotation that still disagrees is an error and left out; one
    without location is left out and counted.

    The label of a relation is the infon ``relation`` or else ``type``. The roles of its nodes are
    kept, but ``Arg1`` and ``Arg2`` are called ``head`` and ``tail``, and so are two nodes, in
    their order, whose roles are missing or the same. A role that comes twice among more nodes gets
    a number (``Theme``, ``Theme2``). A node names an annotation of the sentence or passage with
    the relation if there is one, otherwise of the document; relations of other relations are left
    out and counted.

    A relation without nodes holds between the concepts that its first two other infons name, head
    and tail: it becomes one between each mention of the first and each of the second, and is
    counted as a document relation. A mention is of the concepts in its infons other than
    ``type``, ``|``, ``;`` or ``,`` between.

    Raises
    ------
    OSError
        If a file cannot be opened. Broken XML, XML that declares entities and a bad document are
        errors in the report instead.
    """
    report = Report()
    documents = (
        document
        for path in list_paths(paths)
        for document in parse_each(
            _documents(path, report),
            partial(_document, report=report),
            report,
            reason="bad_documents",
        )
    )
    return to_docs(documents, nlp, align=align, report=report), report


def _documents(path: Path, report: Report) -> Iterator[tuple[str, Element]]:
    root = parse_xml(path, report)
    if root is None:
        return
    number = 0
    for number, element in enumerate(root.iter("document"), 1):
        yield f"{path}:{element.findtext('id') or number}", element
    if not number:
        report.error(
            "no_documents",
            f"{path}: <{root.tag}> holds no <document>; expected documents of passages; is it "
            "another format?",
        )


def _document(element: Element, where: str, report: Report) -> Document:
    parts = list(_parts(element, where, report))
    if not parts:
        raise ValueError("no <passage>; expected passages with text")
    annotations = dict(_annotations(element, parts, where, report))
    reader = RelationReader(
        where,
        report,
        {annotation: row for row, annotation in enumerate(annotations)},
        ["|".join(value for _, value in infons(annotation, "type")) for annotation in annotations],
        {relation.get("id") for relation in element.iter("relation")},
    )
    starts = [part.base + start for part in parts if part.text for start in {0, *part.starts}]
    return Document(
        element.findtext("id") or where,
        " ".join(part.text for part in parts),
        list(annotations.values()),
        list(reader.links(element)),
        starts if element.find(".//sentence") is not None else None,
        where,
    )


class _Part(NamedTuple):
    """A passage, or a sentence of a passage without text of its own.

    `offset` is where locations count its text from, `base` where it is in the document's;
    `starts` are those of the sentences in its text.
    """

    element: Element
    text: str
    offset: int
    base: int
    starts: Sequence[int]


def _parts(document: Element, where: str, report: Report) -> Iterator[_Part]:
    base, first = 0, None
    for passage in document.iter("passage"):
        sentences = passage.findall("sentence") if passage.find("text") is None else []
        for element in sentences or [passage]:
            text = element.findtext("text", "")
            declared = _offset(element)
            first = declared if first is None else first
            offset = _repaired(element, text, declared, first + base, where, report)
            starts = list(_starts(element, text, declared, where, report))
            yield _Part(element, text, offset, base, starts)
            base += len(text) + 1


def _repaired(
    element: Element, text: str, declared: int, computed: int, where: str, report: Report
) -> int:
    """The offset with which more annotations agree, the declared one if equally many do."""
    votes = {
        offset: sum(
            agrees(text, shift(_pieces(annotation), -offset), annotation.findtext("text"))
            for annotation in element.iter("annotation")
        )
        for offset in (declared, computed)
    }
    if votes[computed] <= votes[declared]:
        return declared
    report.change(
        "repaired_offsets",
        f"{where}: {element.tag} at {declared}, after the texts before it at {computed}; "
        f"annotations that agree: {votes[declared]}, {votes[computed]}",
    )
    return computed


def _starts(passage: Element, text: str, offset: int, where: str, report: Report) -> Iterator[int]:
    """Starts of the sentences in a passage with text of its own."""
    for sentence in passage.findall("sentence"):
        start = _offset(sentence) - offset
        wanted = sentence.findtext("text", "")
        if 0 <= start < len(text) and text.startswith(wanted, start):
            yield start
        else:
            report.error(
                "wrong_sentences",
                f"{where}: sentence at {start + offset} in the passage at {offset} of {len(text)} "
                f"characters; expected {wanted!r} there; not marked, correct the offsets.",
            )


def _annotations(
    document: Element, parts: Sequence[_Part], where: str, report: Report
) -> Iterator[tuple[Element, Mention]]:
    """Annotations that agree with the text."""
    inside = {
        annotation: [part] for part in parts for annotation in part.element.iter("annotation")
    }
    places = _Places(parts)

    def locate(annotation: Element, _: str) -> tuple[Element, Mention]:
        return annotation, _mention(annotation, inside.get(annotation) or places.of(annotation))

    located = []
    for annotation in document.iter("annotation"):
        place = f"{where}: annotation {annotation.get('id')!r}"
        if annotation.find("location") is None:
            report.change("unlocated_mentions", f"{place} {annotation.findtext('text')!r}")
        else:
            located.append((place, annotation))
    return parse_each(located, locate, report, reason="wrong_mentions")


class _Places:
    """Parts by what locations count."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self.parts = sorted(parts, key=lambda part: part.offset)
        self.starts = [part.offset for part in self.parts]
        ends = (part.offset + len(part.text) for part in self.parts)
        self.ends = list(accumulate(ends, max))

    def of(self, annotation: Element) -> list[_Part]:
        """Parts in their order, with all that hold the annotation's first piece."""
        for start, end in _pieces(annotation)[:1]:
            found = self.parts[bisect_left(self.ends, end) : bisect_right(self.starts, start)]
            return sorted(found, key=lambda part: part.base)
        return []


def _mention(annotation: Element, parts: Iterable[_Part]) -> Mention:
    """The mention in the first part that it agrees with.

    Raises
    ------
    ValueError
        If there is none.
    """
    located, wanted, found = _pieces(annotation), annotation.findtext("text"), []
    for part in parts:
        pieces = shift(located, -part.offset)
        if agrees(part.text, pieces, wanted):
            label = dict(infons(annotation)).get("type", "")
            return Mention.covering(shift(pieces, part.base), label, annotation.get("id", ""))
        if texts := covered(part.text, pieces):
            found.append(" ".join(texts))
    locations = [
        f"{location.get('offset')} + {location.get('length')}"
        for location in annotation.iter("location")
    ]
    raise ValueError(
        f"its location {', '.join(locations)} is {repr(found[0]) if found else 'not in its text'}; "
        f"expected {wanted!r} there"
    )


def _pieces(annotation: Element) -> Pieces:
    """Starts and ends, exclusive, of all locations; empty if one of them has none."""
    pieces = []
    for location in annotation.iter("location"):
        offset, length = (_NUMBER.fullmatch(location.get(key, "")) for key in ("offset", "length"))
        if offset is None or length is None:
            return ()
        pieces.append((int(offset[1]), int(offset[1]) + int(length[1])))
    return tuple(pieces)


def _offset(element: Element) -> int:
    """Offset of a passage or sentence.

    Raises
    ------
    ValueError
        If it has none.
    """
    offset = element.findtext("offset", "")
    number = _NUMBER.fullmatch(offset)
    if number is None:
        raise ValueError(f"the offset of a {element.tag} is {offset!r}; expected a whole number")
    return int(number[1])
