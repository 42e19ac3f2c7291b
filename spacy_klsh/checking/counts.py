"""Docs -> counts of everything that matters for training relations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, Span

from ..pipeline.candidates import Candidates
from ..pipeline.labels import LabelScheme
from ..pipeline.policy import Tallies, Tally
from ..pipeline.relations import Argument, Record, read_records
from .reach import Reach

if TYPE_CHECKING:
    from ..pipeline.component import RelationExtractor

N_EXAMPLES = 5


def _by_label() -> defaultdict[str, Counter[str]]:
    return defaultdict(Counter)


@dataclass(slots=True)
class Counts:
    """What a set of Docs holds.

    Parameters
    ----------
    documents, tokens, sentences : int
    unannotated, unparsed, unsplit, broken : int
        Docs whose relations were never set, without a parse, without sentence starts (they
        are cut at full stops for all other counts), and with relations that cannot be read.
    cut_tokens, cut_entities : int
        Tokens that begin where the tokenizer begins none, and entities that begin or end there.
    entities : Counter of label
    relations : Counter of label
        As annotated.
    orders : label to Counter of roles in the order of the text, e.g. ``"head, tail"``
    both_ways : Counter of label
        Choices of spans that are annotated with the roles handed out in several ways.
    several_labels : Counter of labels, e.g. ``"A + B"``
        Choices of spans with several labels.
    gold : Counter of label
        Relations as training and scoring count them: each once, without negative labels.
    lost : label to Counter of reason
        Gold relations that no candidate stands for (see `Reach.why_not`), or whose candidate has
        ``second_label`` already.
    candidates, related : int
        All candidates, and those with a label.
    positives : Counter of label
        Candidates with this label: two a relation where both orders are gold.
    kinds : Tallies
        The same of candidates whose arguments overlap, or have the same text, and of all others.
    skipped : Counter of reason
        What is no candidate: pairs, or choices of more entities.
    span_groups : Counter of key
        Where arguments stand that are not among the entities.
    per_document : Counter of int
        How many Docs have so many gold relations.
    texts : Counter of digest
    examples : reason to the first few places
    """

    documents: int = 0
    tokens: int = 0
    sentences: int = 0
    unannotated: int = 0
    unparsed: int = 0
    unsplit: int = 0
    broken: int = 0
    cut_tokens: int = 0
    cut_entities: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    orders: defaultdict[str, Counter[str]] = field(default_factory=_by_label)
    both_ways: Counter[str] = field(default_factory=Counter)
    several_labels: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    lost: defaultdict[str, Counter[str]] = field(default_factory=_by_label)
    candidates: int = 0
    related: int = 0
    positives: Counter[str] = field(default_factory=Counter)
    kinds: Tallies = field(default_factory=Tallies)
    skipped: Counter[str] = field(default_factory=Counter)
    span_groups: Counter[str] = field(default_factory=Counter)
    per_document: Counter[int] = field(default_factory=Counter)
    texts: Counter[bytes] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    @property
    def n_lost(self) -> int:
        """Gold relations without a place."""
        return sum(reasons.total() for reasons in self.lost.values())

    @property
    def repeated_texts(self) -> int:
        """Docs whose text another one before them has."""
        return self.texts.total() - len(self.texts)

    def note(self, reason: str, place: str) -> None:
        """Keep an example."""
        examples = self.examples.setdefault(reason, [])
        if len(examples) < N_EXAMPLES:
            examples.append(place)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, lists and numbers, for JSON."""
        plain = {name: _plain(getattr(self, name)) for name in self.__slots__ if name != "texts"}
        numbers = list(self.per_document.elements()) or [0]
        spread = {"min": min(numbers), "median": median_low(numbers), "max": max(numbers)}
        return {**plain, "per_document": spread, "repeated_texts": self.repeated_texts}


def _plain(value: Any) -> Any:
    if isinstance(value, Tally):
        value = {name: getattr(value, name) for name in value.__slots__}
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def count(
    docs: Iterable[Doc], component: RelationExtractor, tokenizer: Callable[[str], Doc]
) -> Counts:
    """Counts of `docs`, as training with the settings of `component` would see them.

    Parameters
    ----------
    docs : iterable of Doc
        Gold Docs; they are read once.
    component : RelationExtractor
        It need not be trained.
    tokenizer : callable
        Of the pipeline that will meet such texts.
    """
    counts = Counts()
    for given in docs:
        counts.documents += 1
        doc = _with_sentences(given)
        counts.unsplit += doc is not given
        place = _Place(str(doc.user_data.get("id", f"Doc {counts.documents}")), doc.text)
        records = _read(counts, doc, component.attr, place)
        gold = component.scheme.gold(records)
        reach = Reach(component, doc)
        _count_text(counts, doc, place.text)
        _count_entities(counts, doc, reach.candidates.entities, tokenizer(place.text))
        _count_annotation(counts, records)
        _count_clashes(counts, gold, component.scheme)
        _count_candidates(counts, reach.candidates, gold, component.scheme)
        _count_lost(counts, reach, gold, place)
    return counts


def _with_sentences(doc: Doc) -> Doc:
    """`doc`, or a copy with sentences that end at full stops if it has none."""
    return doc if doc.has_annotation("SENT_START") else Sentencizer()(doc.copy())


class _Place(NamedTuple):
    """A Doc's name and its text, which spaCy joins anew each time."""

    name: str
    text: str

    def of(self, record: Record) -> str:
        words = ", ".join(f"{a.role} {self.text[a.start : a.end]!r}" for a in record.arguments)
        return f"{self.name}: {record.label} of {words}"


def _read(counts: Counts, doc: Doc, attr: str, place: _Place) -> list[Record]:
    try:
        records = read_records(doc, attr)
    except (KeyError, TypeError) as error:
        counts.broken += 1
        counts.note("broken", f"{place.name}: {error!r}")
        return []
    counts.unannotated += records is None
    return records or []


def _count_text(counts: Counts, doc: Doc, text: str) -> None:
    counts.tokens += len(doc)
    counts.unparsed += not doc.has_annotation("DEP")
    counts.sentences += sum(1 for _ in doc.sents)
    if text.strip():
        counts.texts[blake2b(text.strip().encode(), digest_size=16).digest()] += 1


def _count_entities(counts: Counts, doc: Doc, entities: Sequence[Span], plain: Doc) -> None:
    """Entities, and what `plain`, the same text as the tokenizer gives it, has in one token."""
    counts.entities.update(span.label_ for span in entities)
    cuts = {token.idx for token in doc} - {token.idx for token in plain}
    counts.cut_tokens += len(cuts)
    if cuts:
        edges = [{span.start_char, span.end_char} for span in entities]
        counts.cut_entities += sum(not cuts.isdisjoint(edge) for edge in edges)


def _count_annotation(counts: Counts, records: Sequence[Record]) -> None:
    """Labels, order of the roles, and what is said of the same spans in several ways."""
    ways: defaultdict[tuple[str, Any], set[Any]] = defaultdict(set)
    for record in records:
        counts.relations[record.label] += 1
        places = _in_order(record)
        counts.orders[record.label][", ".join(a.role for a in places)] += 1
        ways[record.label, _without_roles(places)].add(places)
    counts.both_ways.update(label for (label, _), found in ways.items() if len(found) > 1)


def _count_clashes(counts: Counts, gold: Sequence[Record], scheme: LabelScheme) -> None:
    """Labels that compete for one candidate: one with symmetric labels has no order."""
    labels: defaultdict[Any, dict[Any, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in gold:
        places = _in_order(record)
        undirected = not scheme.ordered or scheme.is_symmetric(record.label)
        labels[_without_roles(places)][() if undirected else places].add(record.label)
    for orders in labels.values():
        anyhow = orders.pop((), set())
        for found in [anyhow | named for named in orders.values()] or [anyhow]:
            if len(found) > 1:
                counts.several_labels[" + ".join(sorted(found))] += 1


def _in_order(record: Record) -> tuple[Argument, ...]:
    return tuple(sorted(record.arguments, key=lambda a: (a.start, -a.end, a.label, a.id)))


def _without_roles(places: Sequence[Argument]) -> tuple[Argument, ...]:
    return tuple(argument._replace(role="") for argument in places)


def _count_candidates(
    counts: Counts, candidates: Candidates, gold: Sequence[Record], scheme: LabelScheme
) -> None:
    """Candidates with and without labels, and gold relations whose candidate has one already."""
    known = replace(scheme, labels=tuple(sorted({record.label for record in gold})))
    y, lost = known.targets(candidates, gold)
    counts.skipped.update(candidates.skipped)
    counts.candidates += len(y)
    counts.related += int(len(y) - y[:, 0].sum())
    for (label, _), n in zip(known.classes[1:], y.sum(axis=0)[1:].tolist(), strict=True):
        counts.positives[label] += n
    counts.kinds.count(candidates, y, [label for label, _ in known.classes])
    for (reason, label), n in lost.items():
        if reason != "unreachable":  # _count_lost knows why
            counts.lost[label][reason] += n


def _count_lost(counts: Counts, reach: Reach, gold: Sequence[Record], place: _Place) -> None:
    """Gold relations, and those that no candidate stands for."""
    counts.per_document[len(gold)] += 1
    for record in gold:
        counts.gold[record.label] += 1
        reason = reach.why_not(record)
        if reason:
            counts.lost[record.label][reason] += 1
            counts.note(reason, place.of(record))
        if reason == "other_spans":
            counts.span_groups.update({reach.group_of(a) for a in record.arguments} - {""})
