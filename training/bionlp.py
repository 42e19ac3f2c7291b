"""BioNLP events as interactions: a trigger, up to two participants, and a catalyst if there is one.

Garg et al. 2019, section 4 and figure 1: "ZBP2 catalyzes binding between ZBP1 and Beta-actin".
An event's protein themes are the participants of its trigger, its protein cause the catalyst;
a regulation of an event by a protein makes that protein a catalyst of the event.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from spacy.tokens import Doc, Span

from spacy_klsh import Relation

Place = tuple[int, int, str, str]
LABEL, PROTEIN = "Interaction", "Protein"
EVENTS = (
    *("Gene_expression", "Transcription", "Protein_catabolism", "Phosphorylation", "Localization"),
    *("Binding", "Regulation", "Positive_regulation", "Negative_regulation"),
    *("Protein_modification", "Ubiquitination", "Acetylation", "Deacetylation"),
)
CANDIDATES = {
    "@misc": "spacy-klsh.role_candidates.v1",
    "spans_key": "entities",
    "roles": {
        "trigger": list(EVENTS),
        "participant": [PROTEIN],
        "participant2": [PROTEIN],
        "catalyst": [PROTEIN],
    },
    "optional": ["participant2", "catalyst"],
    "interchangeable": [["participant", "participant2"]],
}


def interactions(doc: Doc) -> list[Relation]:
    """The interactions that the events of `doc` amount to, each once.

    An argument that is an event is known by its trigger alone: of several events of one
    trigger all are meant. What holds no protein as a participant is none.
    """
    events = [event for event in doc._.relations if "trigger" in event.arguments]
    of_trigger = defaultdict(list)
    for event in events:
        of_trigger[_place(event.arguments["trigger"])].append(event)
    found = {}
    for event in events:
        for target, catalysts in _targets(event, of_trigger):
            for participants in _choices(_proteins(target, "Theme")):
                for catalyst in catalysts:
                    named = _named(target.arguments["trigger"], participants, catalyst)
                    key = tuple((role, _place(span)) for role, span in named.items())
                    if len({place for _, place in key}) == len(key):
                        found[key] = Relation(LABEL, arguments=named)
    return list(found.values())


def _targets(
    event: Relation, of_trigger: dict[Place, list[Relation]]
) -> Iterator[tuple[Relation, Sequence[Span | None]]]:
    """The events that `event` tells something about, with the catalysts that it names."""
    causes = _proteins(event, "Cause")
    yield event, causes or [None]
    for role, span in event.arguments.items():
        if role.startswith("Theme") and span.label_ != PROTEIN and causes:
            for target in of_trigger.get(_place(span), ()):
                yield target, causes


def _proteins(event: Relation, role: str) -> list[Span]:
    return [
        span
        for name, span in event.arguments.items()
        if name.rstrip("0123456789") == role and span.label_ == PROTEIN
    ]


def _choices(participants: list[Span]) -> list[tuple[Span, ...]]:
    """At most two participants at a time, in document order."""
    ordered = sorted(participants, key=_place)
    return list(combinations(ordered, min(len(ordered), 2))) if ordered else []


def _named(trigger: Span, participants: Sequence[Span], catalyst: Span | None) -> dict[str, Span]:
    named = {"trigger": trigger}
    named.update(zip(("participant", "participant2"), participants, strict=False))
    if catalyst is not None:
        named["catalyst"] = catalyst
    return named


def _place(span: Span) -> Place:
    return span.start, span.end, span.label_, span.id_
