"""Relations between entities in spaCy, by kernelized locality-sensitive hashing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hashing.klsh import KLSH as KLSH
    from .kernels.subsequence import SubsequenceKernel as SubsequenceKernel
    from .pipeline.component import RelationExtractor as RelationExtractor
    from .pipeline.demo import load_demo as load_demo
    from .pipeline.relations import Relation as Relation
    from .pipeline.relations import register_extensions as register_extensions
    from .structures import Structures as Structures

__version__ = "0.1.0"

_HOMES = {
    "KLSH": "hashing.klsh",
    "Relation": "pipeline.relations",
    "RelationExtractor": "pipeline.component",
    "Structures": "structures",
    "SubsequenceKernel": "kernels.subsequence",
    "load_demo": "pipeline.demo",
    "register_extensions": "pipeline.relations",
}
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that importing this is cheap."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
