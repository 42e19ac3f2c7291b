"""Registered makers of kernels; like `factory`, it imports spaCy alone.

Each maker imports its own kernel, and no other one.
"""

from typing import Any, Dict, List  # noqa: UP035

from spacy.util import registry


@registry.misc("spacy-klsh.subsequence_kernel.v1")
def make_subsequence_kernel(
    decay: float = 0.9,
    max_length: int = 4,
    length_weights: List[float] | None = None,  # noqa: UP006
    interleaved: bool = True,
    tokens: str = "cosine",
    threshold: float = 0.4,
    bandwidth: float = 1.0,
    edges: str = "label",
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "path",
    learn_weights: bool = False,
) -> Any:
    """Path kernel, see `spacy_klsh.kernels.subsequence` and, learning, `.learned`."""
    from ..kernels.subsequence import SubsequenceKernel

    kernel: type[SubsequenceKernel] = SubsequenceKernel
    if learn_weights:
        from ..kernels.learned import LearnedSubsequenceKernel

        kernel = LearnedSubsequenceKernel
    return kernel(
        decay=decay,
        max_length=max_length,
        length_weights=_tuple(length_weights),
        interleaved=interleaved,
        tokens=tokens,  # type: ignore[arg-type]
        threshold=threshold,
        bandwidth=bandwidth,
        edges=edges,  # type: ignore[arg-type]
        attribute_weights=_tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )


@registry.misc("spacy-klsh.shortest_path_kernel.v1")
def make_shortest_path_kernel(
    tokens: str = "cosine",
    threshold: float = 0.4,
    bandwidth: float = 1.0,
    edges: str = "direction",
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "path",
) -> Any:
    """Product of common features, see `spacy_klsh.kernels.shortest_path`."""
    from ..kernels.shortest_path import ShortestPathKernel

    return ShortestPathKernel(
        tokens=tokens,  # type: ignore[arg-type]
        threshold=threshold,
        bandwidth=bandwidth,
        edges=edges,  # type: ignore[arg-type]
        attribute_weights=_tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )


@registry.misc("spacy-klsh.common_paths_kernel.v1")
def make_common_paths_kernel(
    alpha: float = 0.25,
    anchors: str = "any",
    tokens: str = "cosine",
    threshold: float = 0.4,
    bandwidth: float = 1.0,
    edges: str = "label",
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "subtree",
) -> Any:
    """Common-paths kernel of dependency trees, see `spacy_klsh.kernels.common_paths`."""
    from ..kernels.common_paths import CommonPathsKernel

    return CommonPathsKernel(
        alpha=alpha,
        anchors=anchors,  # type: ignore[arg-type]
        tokens=tokens,  # type: ignore[arg-type]
        threshold=threshold,
        bandwidth=bandwidth,
        edges=edges,  # type: ignore[arg-type]
        attribute_weights=_tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )


@registry.misc("spacy-klsh.graph_kernel.v1")
def make_graph_kernel(
    decay: float = 0.5,
    contiguous: bool = False,
    tokens: str = "cosine",
    threshold: float = 0.4,
    bandwidth: float = 1.0,
    edges: str = "label",
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "subtree",
) -> Any:
    """Graph kernel on trees, see `spacy_klsh.kernels.graph`."""
    from ..kernels.graph import GraphKernel

    return GraphKernel(
        decay=decay,
        contiguous=contiguous,
        tokens=tokens,  # type: ignore[arg-type]
        threshold=threshold,
        bandwidth=bandwidth,
        edges=edges,  # type: ignore[arg-type]
        attribute_weights=_tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )


@registry.misc("spacy-klsh.combined_kernel.v1")
def make_combined_kernel(
    kernels: Dict[str, Any],  # noqa: UP006
    weights: Dict[str, float] | None = None,  # noqa: UP006
    operation: str = "sum",
) -> Any:
    """Sum or product of kernels, see `spacy_klsh.kernels.combine`."""
    from ..kernels.combine import CombinedKernel

    return CombinedKernel(
        kernels=kernels,
        weights=weights,
        operation=operation,  # type: ignore[arg-type]
    )


def _tuple(values: List[float] | None) -> tuple[float, ...] | None:  # noqa: UP006
    return None if values is None else tuple(values)
