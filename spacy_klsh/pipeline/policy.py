"""Candidates that are seldom related: two arguments overlap, or have the same text.

Each of these two kinds is kept, dropped, or (auto) dropped if training finds it to be
related far less often than the other candidates.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..structures import Int32
from .candidates import Candidates, joined, where

if TYPE_CHECKING:
    from .component import RelationExtractor

Bool = NDArray[np.bool_]

KINDS = ("overlapping", "same_text")
OTHER = "other"
POLICIES = ("keep", "drop", "auto")
FAR_LESS = 0.5  # times the rate of the other candidates
Z = 1.96  # of 95 % intervals


def overlapping(candidates: Candidates) -> Bool:
    """Whether two arguments of a candidate share a token, bool (n,)."""
    bounds = [(span.start, span.end) for span in candidates.entities]
    start, end = np.array([*bounds, (-1, -1)], np.int32).T  # -1: absent
    return _any_two(candidates, lambda a, b: (start[a] < end[b]) & (start[b] < end[a]))


def same_text(candidates: Candidates) -> Bool:
    """Whether two arguments of a candidate have the same text but for case, bool (n,)."""
    numbers: dict[str, int] = {}
    texts = [_text(span).casefold() for span in candidates.entities]
    text = np.array([*(numbers.setdefault(t, len(numbers)) for t in texts), -1])
    return _any_two(candidates, lambda a, b: (text[a] == text[b]) & (a >= 0) & (b >= 0))


def _text(span: Span) -> str:
    if span.end == span.start + 1:  # of one token, which says it much faster
        return span.doc[span.start].text
    return span.text


def _any_two(candidates: Candidates, agree: Callable[[Int32, Int32], Bool]) -> Bool:
    """Whether any two roles `agree` about their entities, of which it is given the rows."""
    pairs = combinations(candidates.arguments.T, 2)
    agreeing: Bool = np.any([agree(a, b) for a, b in pairs], axis=0)
    return agreeing


_OF_KIND = {"overlapping": overlapping, "same_text": same_text}


def of_kinds(candidates: Sequence[Candidates], kinds: Collection[str]) -> Bool:
    """Whether each candidate of these Docs is of one of `kinds`, bool (n,)."""
    every = joined(candidates)
    found = np.zeros(len(every), bool)
    for kind in kinds:
        found |= _OF_KIND[kind](every)
    return found


def without(candidates: Sequence[Candidates], kinds: Collection[str]) -> list[Candidates]:
    """The candidates of each Doc that are of none of `kinds`; others are counted as theirs."""
    kept, dropped = list(candidates), [kind for kind in KINDS if kind in kinds]
    if not (kept and dropped):
        return kept
    every = joined(kept)
    left = np.ones(len(every), bool)
    for kind in dropped:
        keep = ~_OF_KIND[kind](every)
        kept = where(kept, keep[left], kind)
        left &= keep
    return kept


def check_policies(**policies: str) -> None:
    """Refuse what is no policy.

    Raises
    ------
    ValueError
        If one of `policies`, by kind, is not keep, drop or auto.
    """
    for kind, policy in policies.items():
        if policy not in POLICIES:
            raise ValueError(f"{kind} is {policy!r}; choose one of {', '.join(POLICIES)}.")


def automatic(generator: Any, kinds: Collection[str]) -> frozenset[str]:
    """Those of `kinds` that training decides on, by the settings of a candidate generator."""
    return frozenset(kind for kind in kinds if getattr(generator, kind, "keep") == "auto")


def propose(component: RelationExtractor, docs: Iterable[Doc]) -> list[Candidates]:
    """Candidates of each Doc, without the kinds that training decided to drop."""
    ordered = component.scheme.ordered
    proposed = [component.candidates(doc, ordered=ordered) for doc in docs]
    return without(proposed, automatic(component.candidates, component.dropped))


@dataclass(slots=True)
class Tally:
    """How many candidates there are, how many with a label, and with each one."""

    candidates: int = 0
    related: int = 0
    positives: Counter[str] = field(default_factory=Counter)


class Tallies(defaultdict[str, Tally]):
    """A `Tally` for each of `KINDS`, and for the candidates of no kind (`OTHER`)."""

    def __init__(self) -> None:
        super().__init__(Tally)

    def count(self, candidates: Candidates, y: Bool, labels: Sequence[str]) -> None:
        """Add `candidates` of the classes `y`, bool (n, n_classes), whose labels are given."""
        rows = {kind: _OF_KIND[kind](candidates) for kind in KINDS}
        rows[OTHER] = ~np.any(list(rows.values()), axis=0)
        for kind, chosen in rows.items():
            tally = self[kind]
            tally.candidates += int(chosen.sum())
            tally.related += int((~y[chosen, 0]).sum())
            totals = y[chosen, 1:].sum(axis=0).tolist()
            for label, n in zip(labels[1:], totals, strict=True):
                tally.positives[label] += n


def seldom_related(tallies: Mapping[str, Tally]) -> frozenset[str]:
    """The kinds of candidates that are related far less often than those of no kind.

    So is a kind if even the upper end of the 95 % interval (Wilson 1927) of its rate of
    related candidates lies below half the rate of the others, and if no single label is
    more frequent in it than there. With few candidates the interval is wide, and the
    kind stays: where every fifth of the others is related, that takes 35 without relation.
    """
    others = tallies[OTHER]
    return frozenset(kind for kind in KINDS if _is_seldom_related(tallies[kind], others))


def _is_seldom_related(kind: Tally, others: Tally) -> bool:
    n, m = kind.candidates, others.candidates
    if not n or others.related == m:  # or nothing unrelated would stay
        return False
    if any(k * m > others.positives[label] * n for label, k in kind.positives.items()):
        return False
    return _upper_limit(kind.related, n) < FAR_LESS * others.related / m


def _upper_limit(k: int, n: int) -> float:
    """Upper end of Wilson's interval of the rate behind `k` of `n`."""
    return (k + Z**2 / 2 + Z * math.sqrt(k * (n - k) / n + Z**2 / 4)) / (n + Z**2)
