"""What a trained component costs: time for each candidate, and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from spacy.tokens import Doc

from spacy_klsh import RelationExtractor
from spacy_klsh.pipeline.comparison import codes_of, encode, judge


def costs(component: RelationExtractor, docs: Sequence[Doc]) -> dict[str, float]:
    """Size of the saved component, and what the candidates of parsed `docs` take.

    ``candidate_us`` are processor microseconds a candidate for all that the component does,
    ``classifier_us`` those of its classifier alone, all candidates at once.
    """
    _, views = judge(component, docs)
    x = encode(component, codes_of(component, views), views)
    began = process_time()
    component.classifier.predict_proba(x)
    classified = process_time()
    component.predict(docs)
    predicted = process_time()
    return {
        "classifier_us": 1e6 * (classified - began) / len(x),
        "candidate_us": 1e6 * (predicted - classified) / len(x),
        "n_bytes": len(component.to_bytes()),
    }
