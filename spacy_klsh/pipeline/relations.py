"""Relations on a Doc: the one room that touches ``doc._`` and its stored data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

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

    Two relations are equal if label, score, roles and character offsets are.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("Ada Park founded Lumen")
    >>> Relation("FOUNDED", head=doc[0:2], tail=doc[3:4])
    Relation('FOUNDED', 1.0, head='Ada Park', tail='Lumen')
    """

    __slots__ = ("arguments", "label", "score")

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
        """The argument with the role ``head``."""
        return self.arguments["head"]

    @property
    def tail(self) -> Span:
        """The argument with the role ``tail``."""
        return self.arguments["tail"]

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
    """Give every Doc ``doc._.<attr>``, ``<attr>_data`` and ``<attr>_skipped``.

    ``<attr>`` reads and takes `Relation` objects; ``<attr>_data`` holds them as plain
    lists and dicts with character offsets (None: never annotated); ``<attr>_skipped``
    counts what the component had to leave out, by reason (None: never processed).

    Raises
    ------
    ValueError
        If somebody else registered an extension of one of these names.
    """
    ours: dict[str, dict[str, Any]] = {
        attr: {
            "getter": partial(_get_relations, attr=attr),
            "setter": partial(_set_relations, attr=attr),
        },
        f"{attr}_data": {"default": None},
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
        and getter.func is _get_relations
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


def write_records(
    doc: Doc,
    records: Iterable[Record],
    attr: str = DEFAULT_ATTR,
    skipped: Mapping[str, int] | None = None,
) -> None:
    """Store relations, replacing what was there, and the counts of what was skipped."""
    data = [
        {
            "label": record.label,
            "score": float(record.score),
            "arguments": [argument._asdict() for argument in record.arguments],
        }
        for record in records
    ]
    doc._.set(f"{attr}_data", data)
    if skipped is not None:
        doc._.set(f"{attr}_skipped", dict(skipped))


def find_argument(argument: Argument, entities: Sequence[Span]) -> int:
    """Row of the entity that `argument` means, -1 if there is none.

    Offsets must agree; among entities of equal offsets the id decides, then the label.
    """
    rows = [
        row
        for row, span in enumerate(entities)
        if span.start_char == argument.start and span.end_char == argument.end
    ]
    return max(
        rows,
        key=lambda row: (entities[row].id_ == argument.id, entities[row].label_ == argument.label),
        default=-1,
    )


def _get_relations(doc: Doc, attr: str) -> tuple[Relation, ...]:
    relations = []
    unaligned = 0
    for record in read_records(doc, attr) or ():
        spans = {argument.role: _span(doc, argument) for argument in record.arguments}
        found = {role: span for role, span in spans.items() if span is not None}
        if len(found) == len(spans):
            relations.append(Relation(record.label, record.score, found))
        else:
            unaligned += 1
    if unaligned:
        skipped = doc._.get(f"{attr}_skipped") or {}
        doc._.set(f"{attr}_skipped", {**skipped, "unaligned_relations": unaligned})
    return tuple(relations)


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
