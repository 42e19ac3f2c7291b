"""The pipeline component: lets the other rooms work in turn and keeps the state."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..classifiers.encoded import Encoded
from ..structures import Float32, Views
from .candidates import CandidateGenerator, Candidates
from .evidence import EvidenceData
from .explanation import compare, explain
from .labels import DIRECTIONS, LabelScheme
from .persistence import from_bytes, from_disk, to_bytes, to_disk
from .relations import Record, register_extensions, write_records
from .training import TrainingSet, choose_threshold, collect

logger = logging.getLogger(__name__)

Extractor = Callable[[Doc, Candidates], dict[str, Any]]


class Prediction(NamedTuple):
    """What `predict` found in one Doc."""

    records: list[Record]
    skipped: dict[str, int]
    evidence: list[EvidenceData] | None = None


class RelationExtractor(Pipe):
    """Finds relations between the entities of a Doc; the factory ``klsh_relations``.

    Parameters
    ----------
    vocab : Vocab
    name : str
        Name in the pipeline.
    attr : str
        Relations go to ``doc._.<attr>``.
    threshold : float in [0, 1], optional
        Least probability of an attached relation, for all labels; None: chosen in
        training from out-of-fold predictions.
    direction : {"ordered", "label", "none"}
        See `spacy_klsh.pipeline.labels.LabelScheme`.
    n_evidence : int
        Most similar references to store with each relation as its evidence; 0: no evidence.
    seed : int
        Of the reference set, the bits and the classifier.
    candidates, views, kernel, hashing, classifier, scorer
        What the registered makers of the config blocks return.

    Attributes
    ----------
    labels : tuple of str
        Relation labels, without "no relation".
    thresholds : dict of label to float
    entity_labels : frozenset of str
        Entity labels seen in training; a pair with another one is skipped and counted.
    report : Counter of reason to int
        What was skipped in this process.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "klsh_relations",
        *,
        candidates: CandidateGenerator,
        views: Extractor,
        kernel: Any,
        hashing: Callable[..., Any],
        classifier: Callable[..., Any],
        attr: str = "relations",
        threshold: float | None = None,
        direction: str = "ordered",
        n_evidence: int = 3,
        seed: int = 0,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        if direction not in DIRECTIONS:
            raise ValueError(f"direction is {direction!r}; choose one of {', '.join(DIRECTIONS)}.")
        if not isinstance(n_evidence, int) or n_evidence < 0:
            raise ValueError(f"n_evidence is {n_evidence!r}; give a number of references, or 0.")
        register_extensions(attr)
        self.vocab = vocab
        self.name = name
        self.attr = attr
        self.threshold = _checked_threshold(threshold)
        self.n_evidence = n_evidence
        self.seed = seed
        self.candidates = candidates
        self.views = views
        self.hashing = hashing(kernel, seed=seed)
        self.make_classifier = classifier
        self.classifier = classifier(seed=seed)
        self.scorer = scorer
        self.scheme = LabelScheme((), direction)
        self.thresholds: dict[str, float] = {}
        self.entity_labels: frozenset[str] = frozenset()
        self.reference_labels: list[str] = []
        self.report: Counter[str] = Counter()

    @property
    def labels(self) -> tuple[str, ...]:
        """Relation labels that it can predict; empty before training."""
        return self.scheme.labels

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc in place."""
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream, one gram matrix a batch; a Doc that fails fails alone."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            yield from self._annotated(batch)

    def _annotated(self, docs: list[Doc]) -> Iterator[Doc]:
        try:
            self.set_annotations(docs, self.predict(docs))
        except Exception as error:
            if len(docs) == 1:
                self.get_error_handler()(self.name, self, docs, error)
            else:
                for doc in docs:
                    yield from self._annotated([doc])
        else:
            yield from docs

    def predict(self, docs: Sequence[Doc]) -> list[Prediction]:
        """Relations of each Doc; writes nothing.

        Raises
        ------
        ValueError
            Before training, or if a Doc with candidates has no dependency parse.
        """
        if not self.labels:
            raise ValueError(
                f"{self.name!r} is not trained and has no labels; train it with `python -m spacy "
                "train` (see the project's training/*.cfg) or load a trained pipeline."
            )
        candidates = [self.candidates_of(doc) for doc in docs]
        views = [self.views(doc, found) for doc, found in zip(docs, candidates, strict=True)]
        compared = compare(self, views)
        ends = np.cumsum([len(found) for found in candidates])
        thresholds, probabilities = self.effective_thresholds, compared.each
        records = [
            self.scheme.records(found, probabilities[end - len(found) : end], thresholds)
            for found, end in zip(candidates, ends, strict=True)
        ]
        evidence = explain(self, compared, candidates, records)
        return [
            Prediction(chosen, dict(found.skipped), why)
            for chosen, found, why in zip(records, candidates, evidence, strict=True)
        ]

    def candidates_of(self, doc: Doc) -> Candidates:
        """The candidates of `doc` that it was trained to judge."""
        ordered = self.scheme.direction == "ordered"
        return self.candidates(doc, ordered=ordered).among(self.entity_labels)

    def probabilities(self, views: Sequence[Views]) -> Float32:
        """Class probabilities of all candidates in `views`, float32 (n, n_classes)."""
        return compare(self, views).each

    @property
    def effective_thresholds(self) -> dict[str, float]:
        """The threshold of each label: the config's number if there is one."""
        if self.threshold is None:
            return self.thresholds
        return dict.fromkeys(self.labels, self.threshold)

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Prediction]) -> None:
        """Write predictions to ``doc._.<attr>``; replaces what an earlier call wrote."""
        for doc, prediction in zip(docs, predictions, strict=True):
            write_records(
                doc, prediction.records, self.attr, prediction.skipped, prediction.evidence
            )
            for reason, count in prediction.skipped.items():
                if reason not in self.report:
                    logger.info("%s skips pairs: %s", self.name, reason)
                self.report[reason] += count

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None
    ) -> None:
        """Train on all gold relations at once; nothing is left for ``nlp.update``.

        Reference Docs without a parse are parsed by the components of `nlp` that stand
        before this one, also if they are disabled (as frozen ones are in training).

        Raises
        ------
        ValueError
            If there is no gold relation, no candidate, or only one class among them.
        """
        from joblib import parallel_config

        data = collect(self, list(get_examples()), nlp)
        self.report.update(data.lost)
        with parallel_config("threading", n_jobs=-1):  # the same trees for any number
            self._fit(data)

    def _fit(self, data: TrainingSet) -> None:
        self.hashing.fit(data.views)
        encoded = Encoded(self.hashing.transform(data.views), None, data.views)
        n_classes = len(data.scheme.classes)
        self.classifier = self.make_classifier(seed=self.seed)
        self.classifier.fit(encoded, data.y, n_classes)
        names = [label for label, _ in data.scheme.classes]
        self.reference_labels = [names[data.y[row]] for row in self.hashing.reference_rows_]
        threshold = self.threshold
        if threshold is None:
            threshold = choose_threshold(
                lambda: self.make_classifier(seed=self.seed), encoded, data, n_classes
            )
        self.entity_labels = data.entity_labels
        self.scheme = data.scheme  # last: before it the component counts as untrained
        self.thresholds = dict.fromkeys(self.labels, threshold)
        logger.info(
            "%s: %d candidates in %d Docs, %d of them related; threshold %.3f; lost: %s",
            self.name,
            len(data.y),
            len(set(data.groups.tolist())),
            int((data.y > 0).sum()),
            threshold,
            dict(data.lost),
        )

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the predicted relations, see `spacy_klsh.pipeline.scoring`."""
        if self.scorer is None:
            return {}
        return self.scorer(
            examples,
            attr=self.attr,
            direction=self.scheme.direction,
            candidates=self.candidates,
            **kwargs,
        )

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Everything that was learned, as bytes; config and vocab are spaCy's to save.

        Parameters
        ----------
        exclude : iterable of str
            spaCy's names of parts to leave out, "vocab" among them. It changes nothing
            here or in the three other methods: no vocab is saved, and what was learned
            is one whole. ``nlp.to_disk(path, exclude=[name])`` leaves all of it out.
        """
        return to_bytes(self)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> RelationExtractor:
        """Take over what `to_bytes` gave.

        Raises
        ------
        ValueError
            If the bytes are damaged, of another format version, or of a component with
            other settings or word vectors. The component stays as it was.
        """
        from_bytes(self, data)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write what was learned to the directory `path`."""
        to_disk(self, Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> RelationExtractor:
        """Take over what `to_disk` wrote; raises like `from_bytes`."""
        from_disk(self, Path(path))
        return self


def _checked_threshold(threshold: float | None) -> float | None:
    if threshold is None:
        return None
    is_number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if not is_number or not 0 <= threshold <= 1:
        raise ValueError(
            f"threshold is {threshold!r}; give a number in [0, 1], or null to let training choose."
        )
    return float(threshold)
