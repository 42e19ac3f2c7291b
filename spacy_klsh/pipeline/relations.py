"""Relations on a Doc: the one room that touches ``doc._`` and its stored data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from .evidence import Evidence, EvidenceData

DEFAULT_ATTR = "relations"


class Relation:
    """A labelled relation between spans of one Doc.

    Parameters
    ----------
    label : str
    score : float
        Probability in [0, 1]; 1 for gold relations.
    arguments : mapping of role to Span, optional
        Or name the two common roles directly with `head` and `tail`.

    Two relations are equal if label, score, roles and character offsets are. A predicted
    one also has `evidence`, unless the component stores none.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("Ada Park founded Lumen")
    >>> Relation("FOUNDED", head=doc[0:2], tail=doc[3:4])
    Relation('FOUNDED', 1.0, head='Ada Park', tail='Lumen')
    """

    __slots__ = ("_evidence", "arguments", "label", "score")

    def __init__(
        self,
        label: str,
        score: float = 1.0,
        arguments: Mapping[str, Span] | None = None,
        *,
        head: Span | None = None,
        tail: Span | None = None,
    ) -> None:
        named = {"head": head, "tail": tail}
        self.label = label
        self.score = float(score)
        self._evidence: EvidenceData | None = None
        self.arguments: dict[str, Span] = {
            **(arguments or {}),
            **{role: span for role, span in named.items() if span is not None},
        }
        if not isinstance(label, str) or not label:
            raise ValueError(f"label is {label!r}; a relation needs a non-empty string.")
        if not self.arguments:
            raise ValueError(f"relation {label!r} has no arguments; pass head= and tail=.")
        for role, span in self.arguments.items():
            if not isinstance(span, Span):
                raise ValueError(
                    f"the {role} of {label!r} is {span!r}; give a Span, such as doc[0:2]."
                )
        if not 0 <= self.score <= 1:
            raise ValueError(f"score is {score!r}; give a probability in [0, 1].")

    @property
    def head(self) -> Span:
        """The argument with the role ``head``; an AttributeError if there is none."""
        return self._argument("head")

    @property
    def tail(self) -> Span:
        """The argument with the role ``tail``; an AttributeError if there is none."""
        return self._argument("tail")

    def _argument(self, role: str) -> Span:
        if role not in self.arguments:
            raise AttributeError(
                f"{self!r} has no {role}; take one of its arguments {', '.join(self.arguments)}, "
                f"as in relation.arguments[{next(iter(self.arguments))!r}]."
            )
        return self.arguments[role]

    @property
    def evidence(self) -> Evidence | None:
        """Why it was predicted; None for gold relations."""
        return None if self._evidence is None else Evidence.from_data(self._evidence)

    def _key(self) -> tuple[Any, ...]:
        offsets = [(role, s.start_char, s.end_char) for role, s in sorted(self.arguments.items())]
        return self.label, self.score, tuple(offsets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relation) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        spans = ", ".join(f"{role}={span.text!r}" for role, span in self.arguments.items())
        return f"Relation({self.label!r}, {round(self.score, 4)}, {spans})"


class Argument(NamedTuple):
    """One argument as stored: character offsets outlive any change of tokens."""

    role: str
    start: int
    end: int
    label: str
    id: str

    @classmethod
    def of(cls, role: str, span: Span) -> Argument:
        """The stored form of `span` in `role`."""
        return cls(role, span.start_char, span.end_char, span.label_, span.id_)


class Record(NamedTuple):
    """One relation as stored, without spans."""

    label: str
    score: float
    arguments: tuple[Argument, ...]


def register_extensions(attr: str = DEFAULT_ATTR) -> None:
    """Give every Doc ``doc._.<attr>``, and ``<attr>_data``, ``_evidence`` and ``_skipped``.

    ``<attr>`` reads and takes `Relation` objects; ``<attr>_data`` holds them as plain
    lists and dicts with character offsets (None: never annotated), ``<attr>_evidence``
    the evidence of each of them in the same way (None: there is none); ``<attr>_skipped``
    counts what the component had to leave out, by reason (None: never processed).

    Raises
    ------
    ValueError
        If somebody else registered an extension of one of these names.
    """
    ours: dict[str, dict[str, Any]] = {
        attr: {
            "getter": partial(read_relations, attr=attr),
            "setter": partial(_set_relations, attr=attr),
        },
        f"{attr}_data": {"default": None},
        f"{attr}_evidence": {"default": None},
        f"{attr}_skipped": {"default": None},
    }
    taken = [name for name, wanted in ours.items() if not _is_free(name, wanted)]
    if taken:
        raise ValueError(
            f"Doc extension {taken[0]!r} already exists and is not of klsh_relations; choose "
            "another attr in the component's config."
        )
    for name, wanted in ours.items():
        if not Doc.has_extension(name):
            Doc.set_extension(name, **wanted)


def _is_free(name: str, wanted: dict[str, Any]) -> bool:
    if not Doc.has_extension(name):
        return True
    present = Doc.get_extension(name)
    if "getter" not in wanted:
        return present == (None, None, None, None)
    getter = present[2]
    return (
        isinstance(getter, partial)
        and getter.func is read_relations
        and getter.keywords == wanted["getter"].keywords
    )


def read_records(doc: Doc, attr: str = DEFAULT_ATTR) -> list[Record] | None:
    """Stored relations of `doc`; None if it was never annotated."""
    data = doc._.get(f"{attr}_data")
    if data is None:
        return None
    return [
        Record(
            relation["label"],
            relation["score"],
            tuple(Argument(**argument) for argument in relation["arguments"]),
        )
        for relation in data
    ]


def read_relations(doc: Doc, attr: str = DEFAULT_ATTR) -> tuple[Relation, ...]:
    """What ``doc._.<attr>`` gives; an argument outside the text is counted as skipped."""
    records = read_records(doc, attr) or []
    pairs = zip(records, read_evidence(doc, len(records), attr), strict=True)
    found = [relation_of(doc, *pair) for pair in pairs]
    relations = tuple(relation for relation in found if relation is not None)
    unaligned = len(records) - len(relations)
    if unaligned:
        doc._.set(f"{attr}_skipped", {**read_skipped(doc, attr), "unaligned_relations": unaligned})
    return relations


def read_evidence(doc: Doc, n: int, attr: str = DEFAULT_ATTR) -> Sequence[EvidenceData | None]:
    """Stored evidence for each of `n` relations; None for all if it is not for so many."""
    evidence: Sequence[EvidenceData] = doc._.get(f"{attr}_evidence") or ()
    return evidence if len(evidence) == n else [None] * n


def read_skipped(doc: Doc, attr: str = DEFAULT_ATTR) -> dict[str, int]:
    """How much was left out, by reason."""
    return doc._.get(f"{attr}_skipped") or {}


def write_records(
    doc: Doc,
    records: Iterable[Record],
    attr: str = DEFAULT_ATTR,
    skipped: Mapping[str, int] | None = None,
    evidence: list[EvidenceData] | None = None,
) -> None:
    """Store relations and their evidence, replacing what was there, and counts of the skipped."""
    data = [
        {
            "label": record.label,
            "score": float(record.score),
            "arguments": [argument._asdict() for argument in record.arguments],
        }
        for record in records
    ]
    doc._.set(f"{attr}_data", data)
    doc._.set(f"{attr}_evidence", evidence)
    if skipped is not None:
        doc._.set(f"{attr}_skipped", dict(skipped))


class EntityIndex:
    """Finds the entity that a stored argument means."""

    def __init__(self, entities: Sequence[Span]) -> None:
        self._entities = entities
        self._rows: dict[tuple[int, int], list[int]] = {}
        for row, span in enumerate(entities):
            self._rows.setdefault((span.start_char, span.end_char), []).append(row)

    def find(self, argument: Argument) -> int:
        """Row of the entity, -1 if there is none.

        Offsets must agree; among entities of equal offsets the id decides, then the label.
        """
        return max(
            self._rows.get((argument.start, argument.end), ()),
            key=lambda row: (
                self._entities[row].id_ == argument.id,
                self._entities[row].label_ == argument.label,
            ),
            default=-1,
        )


def relation_of(doc: Doc, record: Record, evidence: EvidenceData | None) -> Relation | None:
    """The relation that `record` stands for; None if an argument lies outside `doc`."""
    arguments = {}
    for argument in record.arguments:
        span = _span(doc, argument)
        if span is None:
            return None
        arguments[argument.role] = span
    relation = Relation(record.label, record.score, arguments)
    relation._evidence = evidence
    return relation


def _span(doc: Doc, argument: Argument) -> Span | None:
    return doc.char_span(
        argument.start,
        argument.end,
        label=argument.label,
        span_id=argument.id,
        alignment_mode="expand",
    )


def _set_relations(doc: Doc, relations: Iterable[Relation], attr: str) -> None:
    records = []
    for relation in relations:
        if not isinstance(relation, Relation):
            raise ValueError(
                f"{relation!r} is no Relation; set doc._.{attr} = "
                "[Relation(label, head=…, tail=…)]."
            )
        for role, span in relation.arguments.items():
            if span.doc is not doc:
                raise ValueError(
                    f"the {role} of {relation!r} belongs to another Doc; use spans of this one."
                )
        arguments = tuple(Argument.of(role, span) for role, span in relation.arguments.items())
        records.append(Record(relation.label, relation.score, arguments))
    write_records(doc, records, attr)
