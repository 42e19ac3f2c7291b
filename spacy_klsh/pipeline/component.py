"""The pipeline component: lets the other rooms work in turn and keeps the state."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..classifiers.calibration import Calibrated
from ..classifiers.one_vs_rest import OneVsRest
from ..hashing.features import FeatureExtractor
from ..structures import Float32, Structures
from ..views import Views
from .annotation import Prediction, annotated, skips
from .candidates import CandidateGenerator, Candidates
from .comparison import compare, judge, reached
from .explanation import explain
from .labels import LabelScheme
from .optimizing import Optimizing
from .persistence import Persistent
from .relations import register_extensions, write_records
from .thresholds import checked_threshold
from .training import train
from .transfer import thresholds_for, thresholds_of_share

logger = logging.getLogger(__name__)

Extractor = Callable[[Sequence[Doc], Sequence[Candidates]], dict[str, Structures]]


class RelationExtractor(Persistent, Pipe):
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
    exclusive_classes : bool
        One label a pair at most; False: each label on its own.
    direction : {"ordered", "label", "none"}
        See `spacy_klsh.pipeline.labels.LabelScheme`.
    symmetric_labels : list of str
        Labels whose head and tail may change places.
    negative_labels : list of str
        Gold labels that mean "no relation".
    calibration : {"platt", "isotonic"}, optional
        How probabilities are calibrated, see `spacy_klsh.classifiers.calibration`.
    n_evidence : int
        Most similar references to store with each relation as its evidence; 0: no evidence.
    seed : int
        Of the reference set, the bits and the classifier.
    on_error : {"raise", "skip"}
        A Doc that cannot be processed, such as one without a parse, is an error, or has no
        relations, is counted, and logged once a kind.
    candidates, views, features, kernel, hashing, classifier, scorer
        What the registered makers of the config blocks return; `features` may be None.

    Attributes
    ----------
    labels : tuple of str
        Relation labels, without "no relation".
    thresholds : dict of label to float
    entity_labels : frozenset of str
        Entity labels seen in training; a pair with another one is skipped and counted.
    dropped : frozenset of str
        Kinds of candidates that training decided to drop, see `spacy_klsh.pipeline.policy`.
    report : Counter of reason to int
        What was skipped in this process.
    trace : list of dict
        Every proposal of the optimization in training, if there was one; not saved.
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
        features: FeatureExtractor | None,
        attr: str = "relations",
        threshold: float | None = None,
        exclusive_classes: bool = True,
        direction: str = "ordered",
        symmetric_labels: Sequence[str] = (),
        negative_labels: Sequence[str] = (),
        calibration: str | None = None,
        n_evidence: int = 3,
        seed: int = 0,
        on_error: str = "raise",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error is {on_error!r}; choose raise or skip.")
        if not isinstance(n_evidence, int) or n_evidence < 0:
            raise ValueError(f"n_evidence is {n_evidence!r}; give a number of references, or 0.")
        self.scheme = LabelScheme.of(
            candidates,
            direction=direction,
            exclusive=exclusive_classes,
            symmetric=frozenset(symmetric_labels),
            negative=frozenset(negative_labels),
        )
        register_extensions(attr)
        self.vocab = vocab
        self.name = name
        self.attr = attr
        self.threshold = checked_threshold(threshold)
        self.calibration = calibration
        self.n_evidence = n_evidence
        self.seed = seed
        self.on_error = on_error
        self.candidates = candidates
        self.views = views
        self.features = features
        self.kernel = kernel
        self.hashing = hashing(kernel, seed=seed)
        self.make_classifier = classifier
        self.scorer = scorer
        self.classifier = self.new_classifier()
        self.thresholds: dict[str, float] = {}
        self.entity_labels: frozenset[str] = frozenset()
        self.dropped: frozenset[str] = frozenset()
        self.reference_labels: list[list[str] | None] = []  # None: not known
        self.trace: list[dict[str, Any]] = []
        self.report: Counter[str] = Counter()

    @property
    def labels(self) -> tuple[str, ...]:
        """Relation labels that it can predict; empty before training."""
        return self.scheme.labels

    def new_classifier(self) -> Any:
        """What is to learn the classes, not fitted."""
        member = self.make_classifier(seed=self.seed)
        classifier = member if self.scheme.exclusive else OneVsRest(member)
        if self.calibration is None:
            return classifier
        return Calibrated(classifier, self.calibration, exclusive=self.scheme.exclusive)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc in place."""
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as error:
            if not skips(self, doc, error):
                raise
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream, one gram matrix a batch; a Doc that fails fails alone."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            yield from annotated(self, batch)

    def predict(self, docs: Sequence[Doc]) -> list[Prediction]:
        """Relations of each Doc; writes nothing.

        Raises
        ------
        ValueError
            Before training, or if a Doc with candidates has no dependency parse.
        """
        self.check_trained()
        if not docs:
            return []
        candidates, views = judge(self, docs)
        compared = compare(self, views)
        attached = self.scheme.attached(
            candidates, compared.probabilities, self.effective_thresholds
        )
        evidence = explain(self, compared, candidates, attached)
        return [
            Prediction([relation.record for relation in relations], dict(found.skipped), why)
            for relations, found, why in zip(attached, candidates, evidence, strict=True)
        ]

    def check_trained(self) -> None:
        """Refuse to work before training, with a ValueError."""
        if not self.labels:
            raise ValueError(
                f"{self.name!r} is not trained and has no labels; train it with `python -m spacy "
                "train` (see the project's training/*.cfg), load a trained pipeline, or try "
                "spacy_klsh.load_demo()."
            )

    def probabilities(self, views: Views) -> Float32:
        """Class probabilities of the candidates of `views`, float32 (n, n_classes)."""
        return compare(self, views).probabilities

    @property
    def effective_thresholds(self) -> dict[str, float]:
        """The threshold of each label: the config's number if there is one."""
        given = self.threshold
        return self.thresholds if given is None else dict.fromkeys(self.labels, given)

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Prediction]) -> None:
        """Write predictions to ``doc._.<attr>``; replaces what an earlier call wrote."""
        for doc, prediction in zip(docs, predictions, strict=True):
            write_records(
                doc, prediction.records, self.attr, prediction.skipped, prediction.evidence
            )
            for reason in prediction.skipped.keys() - self.report.keys():
                logger.info("%s skips pairs: %s", self.name, reason)
            self.report.update(prediction.skipped)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        optimize: str = "none",
        objective: str = "leave_one_out",
        unlabelled: str | None = None,
    ) -> None:
        """Train on all gold relations at once; nothing is left for ``nlp.update``.

        Reference Docs without a parse are parsed by the components of `nlp` that stand
        before this one, also if they are disabled (as frozen ones are in training).

        Parameters
        ----------
        optimize, objective, unlabelled
            What is learned of the codes themselves, see `spacy_klsh.pipeline.optimizing`.

        Raises
        ------
        ValueError
            If there is no gold relation, no candidate, or only one class among them.
        """
        train(self, list(get_examples()), nlp, Optimizing(optimize, objective, unlabelled))

    def choose_thresholds(self, examples: Iterable[Example]) -> dict[str, float]:
        """Set the thresholds with the best F1 on annotated Docs, best ones unseen in training.

        Parameters
        ----------
        examples : iterable of Example
            Predicted Docs with entities and a parse; reference Docs with gold relations.

        Raises
        ------
        ValueError
            Before training, if the config sets a threshold, or if no gold relation is there.
        """
        self.thresholds = thresholds_for(self, examples)
        return self.thresholds

    def match_positive_share(
        self, docs: Iterable[Doc], share: float | Mapping[str, float]
    ) -> dict[str, float]:
        """Set the thresholds at which a share of the candidates of `docs` is related.

        For texts of which nothing is known but how often the relation holds among the
        candidates. The thresholds are set once, so that no answer depends on a batch.

        Parameters
        ----------
        docs : iterable of Doc
            With entities and a parse; no relations are looked at.
        share : float in (0, 1], or mapping of label to float
            Related candidates over candidates: of all labels together, which get one
            threshold, or of each.

        Raises
        ------
        ValueError
            Before training, if the config sets a threshold, or if `docs` have no candidate.
        """
        self.thresholds = thresholds_of_share(self, docs, share)
        return self.thresholds

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the predicted relations, see `spacy_klsh.pipeline.scoring`."""
        if self.scorer is None:
            return {}
        candidates = partial(reached, self)
        return self.scorer(
            examples, attr=self.attr, scheme=self.scheme, candidates=candidates, **kwargs
        )
