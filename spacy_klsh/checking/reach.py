"""Why a gold relation has no candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span

from ..pipeline.candidates import Candidates
from ..pipeline.comparison import extract
from ..pipeline.policy import propose
from ..pipeline.relations import Argument, EntityIndex, Record

if TYPE_CHECKING:
    from ..pipeline.component import RelationExtractor


class Reach:
    """The candidates of a Doc, and why none of them stands for a relation.

    Parameters
    ----------
    component : RelationExtractor
        Its settings count; it need not be trained.
    doc : Doc
        Without a parse nobody knows which candidates have a path: all of them stay.

    Attributes
    ----------
    candidates : Candidates
        Those with a path.
    """

    def __init__(self, component: RelationExtractor, doc: Doc) -> None:
        self._scheme = component.scheme
        self._doc = doc
        self._component = component
        (proposed,) = propose(component, [doc])
        parsed = doc.has_annotation("DEP")
        self.candidates = extract(component, [doc], [proposed])[0][0] if parsed else proposed
        self._proposed = _Choices(proposed)
        self._comparable = _Choices(self.candidates)
        self._entities = EntityIndex(proposed.entities)

    def why_not(self, record: Record) -> str:
        """Why no candidate stands for `record`; empty if one does.

        Returns
        -------
        str
            ``roles``: no candidate has its roles, or gives them to these entities;
            ``other_spans``: an argument is not among the entities but in another span group (see
            `group_of`); ``no_entity``: it is in none; ``same_entity``: two arguments are one
            entity; ``no_path``; ``max_candidates``; or a reason of the candidate generator and
            of the kinds that training dropped, asked about these entities alone.
        """
        found = {argument: self._entities.find(argument) for argument in record.arguments}
        missing = [argument for argument, row in found.items() if row < 0]
        if missing:
            return "other_spans" if all(map(self.group_of, missing)) else "no_entity"
        rows = {argument.role: row for argument, row in found.items()}
        if not rows.keys() <= set(self.candidates.roles):
            return "roles"
        choice = tuple(rows.get(role, -1) for role in self.candidates.roles)
        ordered = self._scheme.ordered and not self._scheme.is_symmetric(record.label)
        if self._comparable.has(choice, ordered):
            return ""
        if self._proposed.has(choice, ordered):
            return "no_path"
        if len(set(rows.values())) < len(rows):
            return "same_entity"
        return self._why_not_alone(choice, ordered)

    def group_of(self, argument: Argument) -> str:
        """Key of a span group that holds the span of `argument`, empty if there is none."""
        return self._groups.get((argument.start, argument.end), "")

    @cached_property
    def _groups(self) -> dict[tuple[int, int], str]:
        return {
            (span.start_char, span.end_char): key
            for key, group in self._doc.spans.items()
            for span in group
        }

    def _why_not_alone(self, choice: tuple[int, ...], ordered: bool) -> str:
        """What the generator says to a Doc of these entities alone, and the words around them."""
        chosen = sorted({row for row in choice if row >= 0})
        key = getattr(self._component.candidates, "spans_key", None)
        part = _part([self.candidates.entities[row] for row in chosen], key)
        (found,) = propose(self._component, [part])
        if _Choices(found).has([chosen.index(r) if r >= 0 else r for r in choice], ordered):
            return "max_candidates"
        reasons = sorted(found.skipped, key=lambda reason: -found.skipped[reason])
        return reasons[0] if reasons else "roles"


def _part(spans: Sequence[Span], key: str | None) -> Doc:
    """The words from the first span to the last, with sentence starts and these spans alone.

    ``Span.as_doc`` would do, but takes time for the whole Doc.
    """
    begin, end = spans[0].start, max(span.end for span in spans)
    words = spans[0].doc[begin:end]
    part = Doc(
        words.vocab,
        words=[token.text for token in words],
        spaces=[bool(token.whitespace_) for token in words],
        sent_starts=[token.is_sent_start for token in words],
    )
    moved = [
        Span(part, s.start - begin, s.end - begin, label=s.label_, span_id=s.id_) for s in spans
    ]
    if key is None:
        part.ents = moved
    else:
        part.spans[key] = moved
    return part


class _Choices:
    """Which entities candidates choose for their roles."""

    def __init__(self, candidates: Candidates) -> None:
        choices = candidates.arguments.tolist()
        self._ordered = set(map(tuple, choices))
        self._unordered = {tuple(sorted(choice)) for choice in choices}

    def has(self, choice: Iterable[int], ordered: bool) -> bool:
        return (
            tuple(choice) in self._ordered if ordered else tuple(sorted(choice)) in self._unordered
        )
