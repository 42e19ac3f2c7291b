"""What training makes of the codes before a classifier learns from them; see `optimization`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language

from ..optimization.alternation import OBJECTIVES, STAGES, optimize
from ..optimization.objective import UNLABELLED
from ..structures import Int64
from ..views import Views, concat_views
from .comparison import extract
from .labels import Bool
from .policy import automatic, without
from .readers import parsed, read_docs

if TYPE_CHECKING:
    from .component import RelationExtractor
    from .training import TrainingSet

logger = logging.getLogger(__name__)

EVERY = 10  # steps between two lines of the log


@dataclass(frozen=True)
class Optimizing:
    """The settings of ``[initialize.components.klsh_relations]``.

    Parameters
    ----------
    what : {"none", "references", "kernel", "sigma", "all"}
        What is learned, see `optimization.alternation`.
    objective : {"leave_one_out", "mutual_information"}
        By which measure, see `optimization.leave_one_out` and `.information`.
    unlabelled : path, optional
        A ``.spacy`` file with entities, whose structures may become references and, with mutual
        information, count in the entropy of codes.

    Raises
    ------
    ValueError
        If a setting is unknown, or if `unlabelled` would not be looked at.
    """

    what: str = "none"
    objective: str = "leave_one_out"
    unlabelled: str | Path | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("optimize", self.what, STAGES),
            ("objective", self.objective, OBJECTIVES),
        ):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; choose one of {', '.join(known)}.")
        if self.unlabelled is not None and self.what == "none":
            raise ValueError(
                f"unlabelled is {str(self.unlabelled)!r}, but with optimize = none nobody looks at "
                "it; set optimize, or leave it out."
            )

    def __call__(
        self,
        component: RelationExtractor,
        data: TrainingSet,
        dropped: Iterable[str],
        nlp: Language | None,
    ) -> list[dict[str, Any]]:
        """Improve the fitted hashing of `component`; a record of every proposal.

        Parameters
        ----------
        data : TrainingSet
            Without the candidates of the kinds `dropped`.
        nlp : Language, optional
            Parses what is unlabelled and has no parse.
        """
        trace: list[dict[str, Any]] = []
        if self.what == "none":
            return trace
        hashing, n = component.hashing, len(data.y)
        views, y = {name: data.views[name] for name in hashing.kernel.views}, label_ids(data.y)
        if self.unlabelled is not None:
            more = self._views(component, data, dropped, nlp)
            views = concat_views([views, {name: more[name] for name in views}])
            n_more = len(views[hashing.kernel.views[0]]) - n
            y = np.concatenate([y, np.full(n_more, UNLABELLED)])
            logger.info("%s: %d unlabelled structures", component.name, n_more)
        objective = OBJECTIVES[self.objective]()
        for record in optimize(
            hashing, views, y, self.what, objective=objective, seed=component.seed
        ):
            trace.append(record)
            if record["stage"] == "check" or record["step"] % EVERY == 0:
                logger.info("%s: %s", component.name, _words(record))
        rows = hashing.reference_rows_
        hashing.reference_rows_ = np.where(rows < n, rows, -1)
        return trace

    def _views(
        self,
        component: RelationExtractor,
        data: TrainingSet,
        dropped: Iterable[str],
        nlp: Language | None,
    ) -> Views:
        """Views of the candidates of the unlabelled file, such as training has."""
        docs = parsed(list(read_docs(self.unlabelled, component.vocab)), component, nlp)
        kinds = automatic(component.candidates, list(dropped))
        known = [
            component.candidates(doc, ordered=data.scheme.ordered).among(data.entity_labels)
            for doc in docs
        ]
        offered = without(known, kinds)
        if not sum(map(len, offered)):
            raise ValueError(
                f"{self.unlabelled} holds {len(docs)} Docs without any candidate; give it entities "
                f"with the labels {', '.join(sorted(data.entity_labels))}, or leave it out."
            )
        return extract(component, docs, offered)[1]


def label_ids(y: Bool) -> Int64:
    """One number for each set of labels, int64 (n,), from bool (n, n_classes)."""
    return np.unique(y, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _words(record: dict[str, Any]) -> str:
    """A record in one line."""
    words = {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in record.items()}
    return ", ".join(f"{name} {value}" for name, value in words.items() if value != {})
