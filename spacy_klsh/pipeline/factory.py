"""What spaCy finds through entry points: the factories and the registered makers.

spaCy imports this module whenever any pipeline is built, so it imports spaCy alone;
each maker imports what it makes. Annotations are evaluated by spaCy's config system,
so this file has no postponed ones.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Dict, List  # noqa: UP035

from spacy.language import Language
from spacy.util import registry

from ..hashing.default_n_grams import ENDS, LENGTHS, SKIPS

Maker = Callable[..., Any]

NO_PAIRS: List[List[str]] = []  # noqa: UP006
VIEWS = list(LENGTHS)
LEMMA = ["lemma"]
NO_LABELS: List[str] = []  # noqa: UP006

DEFAULT_CONFIG = {
    "attr": "relations",
    "threshold": None,
    "exclusive_classes": True,
    "direction": "ordered",
    "symmetric_labels": NO_LABELS,
    "negative_labels": NO_LABELS,
    "calibration": None,
    "n_evidence": 3,
    "seed": 0,
    "on_error": "raise",
    "candidates": {"@misc": "spacy-klsh.entity_pairs.v1"},
    "views": {"@misc": "spacy-klsh.views.v1"},
    "features": {"@misc": "spacy-klsh.features.v1"},
    "kernel": {"@misc": "spacy-klsh.subsequence_kernel.v1"},
    "hashing": {"@misc": "spacy-klsh.klsh.v1"},
    "classifier": {"@misc": "spacy-klsh.linear.v1"},
    "scorer": {"@scorers": "spacy-klsh.relation_scorer.v1"},
}
SCORE_WEIGHTS = {
    "rel_micro_f": 1.0,
    "rel_micro_p": 0.0,
    "rel_micro_r": 0.0,
    "rel_macro_f": 0.0,
    "rel_per_type": None,
    "rel_candidate_recall": None,
}


@Language.factory(
    "klsh_relations",
    assigns=["doc._.relations"],
    requires=["token.dep", "token.head"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_klsh_relations(
    nlp: Language,
    name: str,
    attr: str,
    threshold: float | None,
    exclusive_classes: bool,
    direction: str,
    symmetric_labels: List[str],  # noqa: UP006
    negative_labels: List[str],  # noqa: UP006
    calibration: str | None,
    n_evidence: int,
    seed: int,
    on_error: str,
    candidates: Maker,
    views: Maker,
    features: Any | None,
    kernel: Any,
    hashing: Maker,
    classifier: Maker,
    scorer: Maker | None,
) -> Any:
    """Build the pipeline component, see `spacy_klsh.pipeline.component`."""
    from .component import RelationExtractor
    from .updating import OnlineRelationExtractor

    for other, pipe in nlp.components:
        if isinstance(pipe, RelationExtractor) and pipe.attr == attr:
            raise ValueError(
                f"{other!r} writes to doc._.{attr} already and {name!r} would replace it; give "
                "each component an attr of its own."
            )
    is_online = hasattr(classifier(seed=seed), "update")
    return (OnlineRelationExtractor if is_online else RelationExtractor)(
        nlp.vocab,
        name,
        attr=attr,
        threshold=threshold,
        exclusive_classes=exclusive_classes,
        direction=direction,
        symmetric_labels=symmetric_labels,
        negative_labels=negative_labels,
        calibration=calibration,
        n_evidence=n_evidence,
        seed=seed,
        on_error=on_error,
        candidates=candidates,
        views=views,
        features=features,
        kernel=kernel,
        hashing=hashing,
        classifier=classifier,
        scorer=scorer,
    )


@Language.factory(
    "klsh_tokens", default_config={"split_at": None, "min_share": 0.1}, retokenizes=True
)
def make_klsh_tokens(
    nlp: Language,
    name: str,
    split_at: List[str] | None,  # noqa: UP006
    min_share: float,
) -> Any:
    """Build the splitter of tokens, see `spacy_klsh.pipeline.tokens`."""
    from .tokens import TokenSplitter

    return TokenSplitter(name, split_at=split_at, min_share=min_share)


@registry.misc("spacy-klsh.entity_pairs.v1")
def make_entity_pairs(
    spans_key: str | None = None,
    entity_pairs: List[List[str]] = NO_PAIRS,  # noqa: UP006
    max_tokens: int | None = None,
    max_sentences: int = 1,
    max_candidates: int = 10_000,
    overlapping: str = "auto",
    same_text: str = "auto",
) -> Maker:
    """Pairs of near entities as candidates, see `spacy_klsh.pipeline.entity_pairs`."""
    from .entity_pairs import EntityPairs

    return EntityPairs(
        spans_key=spans_key,
        entity_pairs=entity_pairs,
        max_tokens=max_tokens,
        max_sentences=max_sentences,
        max_candidates=max_candidates,
        overlapping=overlapping,
        same_text=same_text,
    )


@registry.misc("spacy-klsh.role_candidates.v1")
def make_role_candidates(
    roles: Dict[str, List[str]],  # noqa: UP006
    optional: List[str] = NO_LABELS,  # noqa: UP006
    interchangeable: List[List[str]] = NO_PAIRS,  # noqa: UP006
    spans_key: str | None = None,
    max_tokens: int | None = None,
    max_sentences: int = 1,
    max_candidates: int = 10_000,
    overlapping: str = "auto",
    same_text: str = "auto",
) -> Maker:
    """Choices of entities for named roles, see `spacy_klsh.pipeline.role_candidates`."""
    from .role_candidates import RoleCandidates

    return RoleCandidates(
        roles=roles,
        optional=optional,
        interchangeable=interchangeable,
        spans_key=spans_key,
        max_tokens=max_tokens,
        max_sentences=max_sentences,
        max_candidates=max_candidates,
        overlapping=overlapping,
        same_text=same_text,
    )


@registry.misc("spacy-klsh.views.v1")
def make_views(
    names: List[str] = VIEWS,  # noqa: UP006
    attributes: List[str] = LEMMA,  # noqa: UP006
    blind: bool = True,
    window: int = 5,
    depth: int = 0,
) -> Maker:
    """Views of candidates, see `spacy_klsh.pipeline.extraction`."""
    from .extraction import ViewExtractor

    return ViewExtractor(
        names=tuple(names),
        attributes=tuple(attributes),
        blind=blind,
        window=window,
        depth=depth,
    )


@registry.misc("spacy-klsh.features.v1")
def make_features(
    width: int = 2**20,
    max_lengths: Dict[str, int] = LENGTHS,  # noqa: UP006
    with_ends: List[str] = ENDS,  # noqa: UP006
    max_skips: Dict[str, int] = SKIPS,  # noqa: UP006
) -> Any:
    """Hashed n-grams of the views, see `spacy_klsh.hashing.n_grams`."""
    from ..hashing.n_grams import NGramFeatures

    return NGramFeatures(
        width=width, max_lengths=max_lengths, with_ends=tuple(with_ends), max_skips=max_skips
    )


@registry.misc("spacy-klsh.klsh.v1")
def make_klsh(
    family: str = "kulis",
    n_references: int = 100,
    n_bits: int = 1000,
    subset_size: int = 2,
) -> Maker:
    """Hashing still without its kernel and seed, see `spacy_klsh.hashing.klsh`."""
    from ..hashing.klsh import KLSH

    settings = {
        "family": family,
        "n_references": n_references,
        "n_bits": n_bits,
        "subset_size": subset_size,
    }
    return partial(KLSH, **settings)  # type: ignore[arg-type]


@registry.scorers("spacy-klsh.relation_scorer.v1")
def make_relation_scorer() -> Maker:
    """Scorer against all gold relations, see `spacy_klsh.pipeline.scoring`."""
    from .scoring import score_relations

    return score_relations


@registry.readers("spacy-klsh.RelationCorpus.v1")
def make_relation_corpus(
    path: str | Path | None,
    gold_entities: bool = True,
    spans_key: str | None = None,
    limit: int = 0,
    attr: str = "relations",
) -> Maker:
    """Corpus reader that can give gold entities, see `spacy_klsh.pipeline.readers`."""
    from .readers import RelationCorpus

    return RelationCorpus(
        path, gold_entities=gold_entities, spans_key=spans_key, limit=limit, attr=attr
    )
