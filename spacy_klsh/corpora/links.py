"""Relations as several formats write them: with repeated roles, or between concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, product
from typing import TypeVar

from .documents import Link
from .report import Report

T = TypeVar("T")

BINARY_ROLES = {"Arg1": "head", "Arg2": "tail"}

_SEPARATORS = str.maketrans(";,", "||")


def number_roles(arguments: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Arguments by role; a role that was there before gets the next free number: Theme, Theme2."""
    arguments = list(arguments)
    taken = {role for role, _ in arguments}
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
    numbered: dict[str, T] = {}
    for role, argument in arguments:
        if role in numbered:
            base = role.rstrip("0123456789")
            role = next(name for n in numbers[base] if (name := f"{base}{n}") not in taken)
        numbered[role] = argument
    return numbered


def concept_links(
    label: str,
    related: Sequence[str],
    concepts: Sequence[str],
    where: str,
    report: Report,
    *,
    id: str = "",
) -> list[Link]:
    """A relation between concepts as relations between their mentions.

    Parameters
    ----------
    label : str
    related : sequence of str, length 2
        The concepts: head and tail.
    concepts : sequence of str
        For each mention of the document its concepts, separated by ``|``, ``;`` or ``,``, which
        a concept may itself have inside: ``p|SUB|V|600|E``.
    where : str
    report : Report
        Counts it as a document relation, or as an error if a concept has no mention or both
        have only the same one.
    id : str
        The id of each of the relations.
    """
    named = [_bounded(names) for names in concepts]
    rows = [
        [row for row, names in enumerate(named) if concept and _bounded(concept) in names]
        for concept in related
    ]
    links = [
        Link(label, {"head": head, "tail": tail}, id=id)
        for head, tail in product(*rows)
        if head != tail
    ]
    name = f"{where}: {label} of {' and '.join(related)}"
    if links:
        report.change("document_relations", f"{name}, between {len(links)} pairs of mentions")
    else:
        report.error(
            "unknown_entities",
            f"{name}; expected a mention of each, another one; left out, correct it.",
        )
    return links


def _bounded(names: str) -> str:
    """`names` with one separator before, between and behind them."""
    return f"|{names.translate(_SEPARATORS)}|"
