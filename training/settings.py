"""Settings of a component by their dotted names."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any


def overridden(block: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The config of a component with other values, each called by its dotted name."""
    config = deepcopy(dict(block))
    for name, value in settings.items():
        *path, last = name.split(".")  # spaCy's dot_to_dict makes letters small
        place = config
        for key in path:
            place = place.setdefault(key, {})
        place[last] = value
    return config
