"""Precision, recall and F1 against all gold relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.training import Example

from .candidates import CandidateGenerator, Candidates
from .labels import LabelScheme
from .relations import Argument, Record, read_records

Places = tuple[tuple[str, int, int], ...]
Key = tuple[str, Places]


def score_relations(
    examples: Iterable[Example],
    *,
    attr: str = "relations",
    scheme: LabelScheme | None = None,
    candidates: CandidateGenerator | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Scores of the predicted relations of `examples`.

    A predicted relation is right if a gold one has its label, roles and character
    offsets; relaxed, if the arguments overlap. Gold relations whose entity or pair
    was never found count as missed. `scheme` tells which labels are symmetric (their
    roles may be swapped) and which mean "no relation" (not scored); by default none.

    Returns
    -------
    dict
        ``rel_micro_p/r/f``, ``rel_macro_f`` (mean F1 of the labels in gold or
        prediction), ``rel_per_type`` ({label: {p, r, f}}), ``rel_relaxed_micro_p/r/f``
        and ``rel_candidate_recall`` (share of gold relations whose pair is among the
        `candidates` of the predicted Doc), fractions of 1; all None if no Doc has gold relations.
        With another `attr` the prefix is ``<attr>_``.
    """
    scheme = scheme or LabelScheme()
    strict: Counter[tuple[str, str]] = Counter()
    relaxed: Counter[tuple[str, str]] = Counter()
    reached, n_gold, annotated = 0, 0, False
    for example in examples:
        records = read_records(example.reference, attr)
        if records is None:
            continue
        annotated = True
        gold = _distinct(records, scheme)
        found = _distinct(read_records(example.predicted, attr) or [], scheme)
        same = _same(gold, found)
        strict += _count(gold, found, same)
        relaxed += _count(gold, found, _overlapping(gold, found, same))
        n_gold += len(gold)
        if candidates is not None and gold:
            proposed = candidates(example.predicted, ordered=scheme.ordered)
            pairs = {ordered: _proposed(proposed, ordered) for ordered in (True, False)}
            for record in gold:
                ordered = scheme.ordered and not scheme.is_symmetric(record.label)
                reached += _pair(record.arguments, ordered) in pairs[ordered]
    prefix = "rel" if attr == "relations" else attr
    if not annotated:
        return {f"{prefix}_{name}": None for name in _NAMES}
    labels = sorted({label for label, _ in strict})
    per_type = {label: _prf(strict, [label]) for label in labels}
    micro, loose = _prf(strict, labels), _prf(relaxed, labels)
    values = [
        *micro.values(),
        sum(scores["f"] for scores in per_type.values()) / max(len(labels), 1),
        per_type,
        *loose.values(),
        reached / n_gold if candidates is not None and n_gold else None,
    ]
    return {f"{prefix}_{name}": value for name, value in zip(_NAMES, values, strict=True)}


_NAMES = (
    "micro_p",
    "micro_r",
    "micro_f",
    "macro_f",
    "per_type",
    "relaxed_micro_p",
    "relaxed_micro_r",
    "relaxed_micro_f",
    "candidate_recall",
)


def _key(record: Record) -> Key:
    return record.label, _pair(record.arguments, ordered=True)


def _distinct(records: Sequence[Record], scheme: LabelScheme) -> list[Record]:
    """What counts as a relation, once each; those of symmetric labels in document order."""
    return list({_key(record): record for record in scheme.gold(records)}.values())


def _count(
    gold: list[Record], found: list[Record], pairs: Mapping[int, int]
) -> Counter[tuple[str, str]]:
    """Numbers of (label, "tp" | "fp" | "fn"); `pairs` are {row in gold: row in found}."""
    right = set(pairs.values())
    return Counter(
        [(record.label, "tp" if j in pairs else "fn") for j, record in enumerate(gold)]
        + [(record.label, "fp") for i, record in enumerate(found) if i not in right]
    )


def _same(gold: list[Record], found: list[Record]) -> dict[int, int]:
    """The found relation in the place of each gold one that was found."""
    rows = {_key(record): i for i, record in enumerate(found)}
    keys = enumerate(map(_key, gold))
    return {j: rows[key] for j, key in keys if key in rows}


def _overlapping(
    gold: list[Record], found: list[Record], same: Mapping[int, int]
) -> dict[int, int]:
    """As many pairs of overlapping relations as there can be, with those that are the `same`.

    Each relation is in one pair at most (Kuhn 1955).
    """
    pairs = dict(same)

    def place(i: int, tried: set[int]) -> bool:
        for j, record in enumerate(gold):
            if j not in tried and _overlap(found[i], record):
                tried.add(j)
                if j not in pairs or place(pairs[j], tried):
                    pairs[j] = i
                    return True
        return False

    for i in set(range(len(found))).difference(same.values()):
        place(i, set())
    return pairs


def _overlap(x: Record, y: Record) -> bool:
    if x.label != y.label:
        return False
    others = {argument.role: argument for argument in y.arguments}
    return {argument.role for argument in x.arguments} == set(others) and all(
        a.start < others[a.role].end and others[a.role].start < a.end for a in x.arguments
    )


def _prf(counts: Counter[tuple[str, str]], labels: Sequence[str]) -> dict[str, float]:
    tp, fp, fn = (sum(counts[label, kind] for label in labels) for kind in ("tp", "fp", "fn"))
    return {
        "p": tp / (tp + fp) if tp + fp else 0.0,
        "r": tp / (tp + fn) if tp + fn else 0.0,
        "f": 2 * tp / (2 * tp + fp + fn) if tp else 0.0,
    }


def _pair(arguments: Sequence[Argument], ordered: bool) -> Places:
    """Where the arguments stand; with their roles only if the order means something."""
    return tuple(sorted((a.role if ordered else "", a.start, a.end) for a in arguments))


def _proposed(candidates: Candidates, ordered: bool) -> set[Places]:
    rows = candidates.arguments.tolist()
    return {_pair(candidates.record_arguments(row), ordered) for row in rows}
