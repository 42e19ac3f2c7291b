"""A hierarchy of labels from the config, for a classifier that knows labels by number."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .labels import LabelScheme

logger = logging.getLogger(__name__)


def arrange(classifier: Any, scheme: LabelScheme) -> None:
    """Give what learns from a hierarchy, in or below a classifier, the names of its labels.

    Raises
    ------
    ValueError
        If each label is learned on its own, or the file of the hierarchy cannot be read.
    """
    parts = [classifier.member] if hasattr(classifier, "member") else []
    for part in (*parts, *getattr(classifier, "members", {}).values()):
        arrange(part, scheme)
    strategy = getattr(classifier, "strategy", "flat")
    if strategy == "flat":
        return
    if not scheme.exclusive:
        raise ValueError(
            f'strategy is "{strategy}", but with exclusive_classes = false each label is learned '
            'alone; set exclusive_classes = true, or strategy = "flat".'
        )
    above = classifier.hierarchy
    above = read_hierarchy(above) if isinstance(above, str) else above
    unknown = set(above).difference(scheme.labels, above.values())
    if unknown:
        logger.warning("the hierarchy names %s, which no training label is", sorted(unknown))
    classifier.arrange([label for label, _ in scheme.classes], above)


def read_hierarchy(path: str) -> Mapping[str, str]:
    """Parent of each name, from a JSON file.

    Raises
    ------
    ValueError
        If it is no file with a map of strings to strings.
    """
    try:
        above = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"hierarchy {path!r} cannot be read ({error}); give a JSON file with the parent of "
            "each label."
        ) from error
    if not isinstance(above, dict) or not all(isinstance(name, str) for name in above.values()):
        raise ValueError(
            f"hierarchy {path!r} is no map of strings to strings; give the parent of each label."
        )
    return above
