"""The component whose classifier goes on learning in ``nlp.update``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from .comparison import codes_of, encode, judge
from .component import RelationExtractor
from .readers import give_entities
from .relations import read_records
from .training import targets_of


class OnlineRelationExtractor(RelationExtractor):
    """A `RelationExtractor` that spaCy can update, as the factory makes it for such a classifier.

    Codes, labels and thresholds stay as training left them.
    """

    model = None  # spaCy asks every trainable component for one; this has no optimizer

    @property
    def is_trainable(self) -> bool:
        """Whether ``spacy train`` shall report its loss."""
        return True

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from more examples, each once; the loss is the number of errors made.

        Entities and parse are those of the reference, if it has a parse, or else of the
        predicted Doc, with the entities of the reference. Gold relations that no candidate
        stands for, and those with a label that training did not have, are counted in `report`.

        Parameters
        ----------
        examples : iterable of Example
        drop, sgd
            spaCy's, not used.
        losses : dict of name to float, optional
            The errors are added to ``losses[self.name]``.

        Raises
        ------
        ValueError
            Before training, or if no Doc of an example has a parse.
        """
        self.check_trained()
        losses = {} if losses is None else losses
        losses[self.name] = losses.get(self.name, 0.0) + _learn(self, list(examples))
        return losses


def _learn(component: RelationExtractor, examples: list[Example]) -> int:
    """Errors made on the candidates of `examples` while learning them."""
    if not examples:
        return 0
    docs = [_annotated(example, component) for example in examples]
    gold = [read_records(example.reference, component.attr) or [] for example in examples]
    candidates, views = judge(component, docs)
    y, lost = targets_of(component.scheme, candidates, gold)
    component.report.update(sum((Counter(found.skipped) for found in candidates), Counter()))
    component.report.update(reason for reason, _ in lost.elements())
    x = encode(component, codes_of(component, views), views)
    errors: int = component.classifier.update(
        x, y.argmax(axis=1) if component.scheme.exclusive else y
    )
    return errors


def _annotated(example: Example, component: RelationExtractor) -> Doc:
    if example.reference.has_annotation("DEP"):
        return example.reference
    doc = example.predicted.copy()
    give_entities(doc, example.reference, getattr(component.candidates, "spans_key", None))
    return doc
