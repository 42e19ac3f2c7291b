"""What ``meta.json`` tells of a component: what it learned, and what that depends on."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.vocab import Vocab

from ..optimization.kernel_parameters import learned
from .policy import KINDS

if TYPE_CHECKING:
    from .component import RelationExtractor

FORMAT_VERSION = 1
WORDS = ("labels", "entity_labels", "dropped")
MAPPINGS = ("thresholds", "settings", "vectors")


def describe(component: RelationExtractor) -> dict[str, Any]:
    """The entries of ``meta.json`` but for the format version and the checksums."""
    kernel = learned(component.kernel, component.hashing.kernel) if component.labels else {}
    return {
        **({"learned": kernel} if kernel else {}),
        "labels": list(component.labels),
        "thresholds": component.thresholds,
        "entity_labels": sorted(component.entity_labels),
        "dropped": sorted(component.dropped),
        "reference_labels": component.reference_labels,
        "settings": _settings(component),
        "vectors": _vectors(component.vocab),
    }


def check_described(component: RelationExtractor, meta: Mapping[str, Any]) -> None:
    """Refuse entries that `describe` cannot have made for `component`.

    Raises
    ------
    ValueError
        If an entry is missing, of another type or disagrees with the others, or if
        `component` has other settings or word vectors.
    """
    _check_entries(meta)
    _check_same("settings", meta["settings"], _settings(component))
    _check_same("word vectors", meta["vectors"], _vectors(component.vocab))


def are_words(value: Any) -> bool:
    """Whether `value` is a list of strings."""
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def damaged(reason: str) -> ValueError:
    """The error for files that `reason` shows to be damaged."""
    return ValueError(
        f"the saved klsh_relations is damaged: {reason}; copy it again or save it again with "
        "nlp.to_disk()."
    )


def _settings(component: RelationExtractor) -> dict[str, Any]:
    """Everything in the config that a trained state depends on."""
    roles = getattr(component.candidates, "settings", None)
    return {
        **({"candidates": roles} if roles else {}),
        "exclusive_classes": component.scheme.exclusive,
        "direction": component.scheme.direction,
        "symmetric_labels": sorted(component.scheme.symmetric),
        "negative_labels": sorted(component.scheme.negative),
        "calibration": component.calibration,
        "seed": component.seed,
        "views": _described(component.views),
        "features": component.features and _described(component.features),
        "kernel": _described(component.kernel),
        "hashing": _described(component.hashing, leave_out=("kernel",)),
        "classifier": _described(component.make_classifier(seed=component.seed)),
    }


def _described(thing: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    values = {
        name: getattr(thing, name)
        for name in inspect.signature(type(thing)).parameters
        if not name.startswith("_") and name not in leave_out
    }
    content = json.dumps({"class": type(thing).__name__, **values}, default=_described)
    described: dict[str, Any] = json.loads(content)
    return described


def _vectors(vocab: Vocab) -> dict[str, Any]:
    """Name, shape and a checksum (of at most 1,024 rows) of the word vectors of `vocab`."""
    if not vocab.vectors_length:
        return {"name": None, "shape": [0, 0], "sha256": None}
    data = np.asarray(vocab.vectors.data)
    sample = np.ascontiguousarray(data[:: max(1, len(data) // 1024)], dtype="<f4")
    return {
        "name": vocab.vectors.name,
        "shape": list(data.shape),
        "sha256": hashlib.sha256(sample.tobytes()).hexdigest(),
    }


def _check_same(what: str, stored: Mapping[str, Any], present: Mapping[str, Any]) -> None:
    for name in sorted(stored.keys() | present.keys()):
        if stored.get(name) != present.get(name):
            raise ValueError(
                f"the model was trained with other {what}: {name} was {stored.get(name)!r} and "
                f"is {present.get(name)!r} now; use the former, or train again."
            )


def _check_entries(meta: Mapping[str, Any]) -> None:
    """Every entry has its type, and those that name labels agree."""
    wrong = [name for name in WORDS if not are_words(meta.get(name))]
    references = meta.get("reference_labels")
    if not isinstance(references, list) or not all(
        named is None or are_words(named) for named in references
    ):
        wrong.append("reference_labels")
    wrong += [name for name in MAPPINGS if not isinstance(meta.get(name), dict)]
    wrong += ["learned"] if not isinstance(meta.get("learned", {}), dict) else []
    if wrong:
        raise damaged(f"meta.json lacks {', '.join(wrong)} or holds another type there")
    if not set(KINDS).issuperset(meta["dropped"]):
        raise damaged(f"dropped are {meta['dropped']}, but only {', '.join(KINDS)} can be")
    labels, thresholds = meta["labels"], meta["thresholds"]
    if labels != sorted(set(labels)) or "" in labels:
        raise damaged(f"labels are {labels}, but different, sorted, filled ones are needed")
    numbers = [type(value) in (int, float) and 0 <= value <= 1 for value in thresholds.values()]
    if thresholds.keys() != set(labels) or not all(numbers):
        raise damaged(f"thresholds are {thresholds}, but {labels} need a number in [0, 1] each")
    if bool(meta["entity_labels"]) != bool(labels):
        raise damaged(f"entity_labels are {meta['entity_labels']} where labels are {labels}")
    unknown = {label for named in references or () for label in named or ()}.difference(labels)
    if unknown:
        raise damaged(f"reference_labels hold {sorted(unknown)}, which are not in {labels}")
