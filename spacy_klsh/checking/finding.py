"""What there is to know about data, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

LEVELS = ("error", "warning", "info")


class Finding(NamedTuple):
    """Something to know about data; `data` names them, empty: all of them."""

    level: str
    code: str
    message: str
    data: str = ""


def listed(counts: Mapping[str, int]) -> str:
    """``a 5, b 3``, most frequent first."""
    return ", ".join(f"{name} {n:,}" for name, n in Counter(counts).most_common())
