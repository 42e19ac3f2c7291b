"""Counts -> what is wrong with them, what is doubtful, and what is good to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import TYPE_CHECKING

from ..pipeline.labels import LabelScheme
from ..pipeline.policy import automatic, seldom_related
from .counts import Counts
from .finding import LEVELS, Finding, listed

if TYPE_CHECKING:
    from ..pipeline.component import RelationExtractor

FEW_EXAMPLES = 20
FEW_RELATIONS = 100
MANY_UNRELATED = 50  # for each related pair


def find(parts: Mapping[str, Counts], component: RelationExtractor) -> list[Finding]:
    """All findings, errors first.

    Parameters
    ----------
    parts : name to Counts
        The first is what is trained on.
    component : RelationExtractor
        Its settings count; it need not be trained.
    """
    found = list(_of_settings(parts, component))
    for i, (name, counts) in enumerate(parts.items()):
        own = [
            *_of_relations(counts, component.attr),
            *_of_lost(counts),
            *_of_labels(counts, component.scheme),
            *_of_texts(counts),
            *(_of_training(counts, component.scheme) if i == 0 else ()),
        ]
        found += [finding._replace(data=name) for finding in own]
    found += _of_kinds(parts, component)
    found += _of_others(parts)
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def _of_relations(counts: Counts, attr: str) -> Iterator[Finding]:
    if not counts.documents:
        yield Finding("error", "no_documents", "it holds no Doc.")
    elif not counts.relations:
        yield Finding(
            "error",
            "no_relations",
            f"no Doc has relations in doc._.{attr}; write them with DocBin(store_user_data=True) "
            "or `spacy-klsh convert`.",
        )
    elif not counts.gold:
        yield Finding(
            "error",
            "no_relations",
            f"all relations have negative labels: {listed(counts.relations)}.",
        )
    elif counts.unannotated:
        yield Finding(
            "warning",
            "unannotated",
            f"the relations of {counts.unannotated:,} Docs were never set; all their pairs will "
            f"count as unrelated: leave these Docs out, or set doc._.{attr} = [].",
        )
    if counts.broken:
        yield Finding(
            "error",
            "broken_relations",
            f"the relations of {counts.broken:,} Docs cannot be read "
            f"({counts.examples['broken'][0]}); set doc._.{attr} = [Relation(…)].",
        )


def _of_lost(counts: Counts) -> Iterator[Finding]:
    reasons = Counter(chain.from_iterable(lost.elements() for lost in counts.lost.values()))
    no_entity, other_spans = reasons.pop("no_entity", 0), reasons.pop("other_spans", 0)
    if no_entity:
        yield Finding(
            "error",
            "no_entity",
            f"{no_entity:,} relations have an argument that is no entity "
            f"({counts.examples['no_entity'][0]}); annotate it, or leave the relation out.",
        )
    if other_spans:
        key = counts.span_groups.most_common(1)[0][0]
        yield Finding(
            "warning",
            "other_spans",
            f"{other_spans:,} relations have an argument that no candidate may have but that "
            f"stands in doc.spans[{key!r}] ({counts.examples['other_spans'][0]}); set "
            f"candidates.spans_key = {key!r}.",
        )
    if reasons:
        places = [counts.examples[reason][0] for reason in reasons if reason in counts.examples]
        yield Finding(
            "warning",
            "lost_relations",
            f"{reasons.total():,} of {counts.gold.total():,} relations have no candidate of their "
            f"own: {listed(reasons)}{f' ({places[0]})' if places else ''}.",
        )
    if counts.gold and not counts.related:
        yield Finding(
            "error",
            "no_related_pair",
            f"none of {counts.candidates:,} candidates is related; check the candidates block.",
        )
    if counts.skipped["max_candidates"]:
        yield Finding(
            "warning",
            "max_candidates",
            f"{counts.skipped['max_candidates']:,} candidates over the cap of a Doc are cut; split "
            "long Docs, or raise candidates.max_candidates.",
        )


def _of_labels(counts: Counts, scheme: LabelScheme) -> Iterator[Finding]:
    if counts.several_labels:
        yield Finding(
            "warning" if scheme.exclusive else "info",
            "several_labels",
            f"{counts.several_labels.total():,} pairs have several labels "
            f"({listed(counts.several_labels)}); exclusive_classes = "
            + ("true keeps one: set false." if scheme.exclusive else "false keeps all."),
        )


def _of_texts(counts: Counts) -> Iterator[Finding]:
    if counts.repeated_texts:
        yield Finding(
            "warning",
            "repeated_texts",
            f"{counts.repeated_texts:,} Docs have the text of another one.",
        )
    if counts.unsplit:
        yield Finding(
            "info",
            "no_sentences",
            f"{counts.unsplit:,} Docs have no sentence starts: here their sentences end at full "
            "stops, a parser may cut elsewhere.",
        )
    if counts.unparsed:
        yield Finding(
            "info",
            "no_parse",
            f"{counts.unparsed:,} Docs have no parse: whether a path joins their pairs is not "
            "checked.",
        )
    if counts.cut_tokens:
        yield Finding(
            "info",
            "cut_tokens",
            f"{counts.cut_tokens:,} tokens begin where the tokenizer begins none, and "
            f"{counts.cut_entities:,} entities begin or end there; see klsh_tokens.",
        )


def _of_training(counts: Counts, scheme: LabelScheme) -> Iterator[Finding]:
    unrelated = counts.candidates - counts.related
    if counts.related and not unrelated:
        yield Finding(
            "error",
            "no_unrelated_pair",
            f"all {counts.candidates:,} candidates are related, so nothing can be learned: "
            "annotate entities that are not related, too.",
        )
    if unrelated > MANY_UNRELATED * counts.related > 0:
        yield Finding(
            "warning",
            "imbalance",
            f"{unrelated / counts.related:.0f} unrelated candidates for each related one; "
            'entity_pairs and max_tokens leave some out, class_weight = "balanced" weighs them.',
        )
    if 0 < counts.gold.total() < FEW_RELATIONS:
        yield Finding(
            "warning",
            "few_relations",
            f"{counts.gold.total():,} relations to learn from; some hundred are wanted.",
        )
    few = {label: n for label, n in counts.gold.items() if n < FEW_EXAMPLES}
    if few:
        yield Finding(
            "warning",
            "few_examples",
            f"labels with fewer than {FEW_EXAMPLES} relations: {listed(few)}.",
        )
    yield from _of_direction(counts, scheme)


def _of_direction(counts: Counts, scheme: LabelScheme) -> Iterator[Finding]:
    """Labels whose heads and tails may mean the same."""
    directed = {
        label: counts.orders[label]
        for label in counts.gold
        if not scheme.is_symmetric(label)
        and counts.orders[label].keys() <= {"head, tail", "tail, head"}
    }
    both = [label for label in directed if 4 * counts.both_ways[label] > counts.relations[label]]
    if both:
        yield Finding(
            "warning",
            "both_ways",
            f"half of the relations {sorted(both)} or more are annotated both ways; what has no "
            "direction belongs in symmetric_labels.",
        )
    same = [
        label
        for label, orders in directed.items()
        if len(orders) == 1 and orders.total() >= FEW_EXAMPLES
    ]
    if same:
        yield Finding(
            "info",
            "one_order",
            f"heads and tails of all {sorted(same)} stand in the same order; what has no direction "
            'belongs in symmetric_labels, or set direction = "none".',
        )


def _of_settings(parts: Mapping[str, Counts], component: RelationExtractor) -> Iterator[Finding]:
    """Names in the settings that the data do not have."""
    scheme, generator = component.scheme, component.candidates
    labels = {label for counts in parts.values() for label in counts.relations}
    for setting, given in (
        ("negative_labels", scheme.negative),
        ("symmetric_labels", scheme.symmetric),
    ):
        if labels and given - labels:
            yield Finding(
                "error",
                f"unknown_{setting}",
                f"{setting} has {sorted(given - labels)}, but relations are {sorted(labels)}.",
            )
    entities = {label for counts in parts.values() for label in counts.entities}
    pairs, roles = getattr(generator, "entity_pairs", ()), getattr(generator, "roles", {})
    unknown = set(chain(*pairs, *roles.values())) - entities
    if entities and unknown:
        yield Finding(
            "warning",
            "unknown_entity_labels",
            f"the candidates block has {sorted(unknown)}, but entities are {sorted(entities)}.",
        )


def _of_kinds(parts: Mapping[str, Counts], component: RelationExtractor) -> Iterator[Finding]:
    """Kinds of candidates that training would drop, and the relations lost with them."""
    first = next(iter(parts.values()), Counts())
    for kind in sorted(automatic(component.candidates, seldom_related(first.kinds))):
        related = listed({name: counts.kinds[kind].related for name, counts in parts.items()})
        yield Finding(
            "info",
            kind,
            "training drops such candidates, which are seldom related; related ones among them: "
            f'{related}. candidates.{kind} = "keep" keeps them.',
        )


def _of_others(parts: Mapping[str, Counts]) -> Iterator[Finding]:
    """What only some of the data have, and what several have that only one should."""
    first, *others = parts or [""]
    for name in others:
        labels = parts[name].gold.keys() - parts[first].gold.keys()
        if labels:
            yield Finding(
                "warning", "untrained_labels", f"{first} has no relation {sorted(labels)}.", name
            )
        entities = parts[name].entities.keys() - parts[first].entities.keys()
        if entities:
            yield Finding(
                "warning",
                "untrained_entity_labels",
                f"{first} has no entity {sorted(entities)}; their pairs will never be related.",
                name,
            )
    scored = set(chain.from_iterable(parts[name].gold for name in others))
    if others and parts[first].gold.keys() - scored:
        unscored = sorted(parts[first].gold.keys() - scored)
        yield Finding("info", "unscored_labels", f"no other data have {unscored}.", first)
    for one, other in combinations(parts, 2):
        n = sum(parts[other].texts[text] for text in parts[one].texts)
        if n:
            yield Finding(
                "warning",
                "shared_texts",
                f"{n:,} of {parts[other].documents:,} Docs have a text that is in {one}, too.",
                other,
            )
