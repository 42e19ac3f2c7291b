"""Relations as triples: one of a relation with a head and a tail, more of one with more roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .records import Record


class End(NamedTuple):
    """An argument: its text, its white space as single blanks, label, role and characters."""

    text: str = ""
    label: str = ""
    role: str = ""
    start: int | None = None
    end: int | None = None


class Triple(NamedTuple):
    """A pair of arguments of the relation with this number in its document."""

    relation: int
    label: str
    score: float
    head: End
    tail: End


def arguments_of(relation: Mapping[str, Any]) -> dict[str, int]:
    """The row of the entity in each role of a relation of a record."""
    if "arguments" in relation:
        return dict(relation["arguments"])
    return {role: relation[role] for role in ("head", "tail")}


def triples(record: Record) -> Iterator[Triple]:
    """All triples of a record: the first argument of a relation with each of the others.

    A relation with one argument has an empty tail.
    """
    for number, relation in enumerate(record["relations"]):
        ends = [_end(record, role, row) for role, row in arguments_of(relation).items()]
        for tail in ends[1:] or [End()]:
            yield Triple(number, relation["label"], relation["score"], ends[0], tail)


def _end(record: Record, role: str, row: int) -> End:
    entity = record["entities"][row]
    start, end = entity["start"], entity["end"]
    return End(" ".join(record["text"][start:end].split()), entity["label"], role, start, end)
