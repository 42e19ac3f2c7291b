"""Thresholds of a trained component for other texts than those it was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from spacy.tokens import Doc
from spacy.training import Example

from .comparison import judge
from .relations import read_records
from .thresholds import choose_thresholds, match_share
from .training import targets_of

if TYPE_CHECKING:
    from .component import RelationExtractor


def thresholds_for(component: RelationExtractor, examples: Iterable[Example]) -> dict[str, float]:
    """Thresholds of a trained component with the best F1 on annotated Docs."""
    _check_free(component)
    scheme, examples = component.scheme, list(examples)
    references = [example.reference for example in examples]
    gold = [scheme.gold(read_records(doc, component.attr) or []) for doc in references]
    if not any(gold):
        raise ValueError(
            "the Docs hold no gold relations to choose thresholds by; write them with "
            "DocBin(store_user_data=True) or `spacy-klsh convert`."
        )
    candidates, views = judge(component, [example.predicted for example in examples])
    y, lost_gold = targets_of(scheme, candidates, gold)
    return choose_thresholds(scheme, component.probabilities(views), y, lost_gold)


def thresholds_of_share(
    component: RelationExtractor, docs: Iterable[Doc], share: float | Mapping[str, float]
) -> dict[str, float]:
    """Thresholds at which a trained component attaches this share of the candidates of `docs`."""
    _check_free(component)
    candidates, views = judge(component, list(docs))
    if not any(map(len, candidates)):
        raise ValueError(
            f"{len(candidates)} Docs hold 0 candidates to match a share of; give Docs with parse "
            "and entities, some hundred candidates or more."
        )
    return match_share(component.scheme, component.probabilities(views), share)


def _check_free(component: RelationExtractor) -> None:
    """Thresholds of the component can be chosen."""
    component.check_trained()
    if component.threshold is not None:
        raise ValueError(
            f"the config of {component.name!r} sets threshold = {component.threshold}, which "
            "overrides chosen ones; set it to null."
        )
