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
    threshold: float = 0.4,
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    interleaved: bool = True,
    view: str = "path",
    learn_weights: bool = False,
    tokens: str = "cosine",
    bandwidth: float = 1.0,
    edges: str = "label",
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
        length_weights=None if length_weights is None else tuple(length_weights),
        threshold=threshold,
        attribute_weights=None if attribute_weights is None else tuple(attribute_weights),
        sigma=sigma,
        interleaved=interleaved,
        view=view,
        tokens=tokens,  # type: ignore[arg-type]
        bandwidth=bandwidth,
        edges=edges,  # type: ignore[arg-type]
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


@registry.misc("spacy-klsh.shortest_path_kernel.v1")
def make_shortest_path_kernel(
    labelled: bool = False,
    threshold: float = 0.4,
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "path",
) -> Any:
    """Product of common features, see `spacy_klsh.kernels.shortest_path`."""
    from ..kernels.shortest_path import ShortestPathKernel

    return ShortestPathKernel(
        labelled=labelled,
        threshold=threshold,
        attribute_weights=None if attribute_weights is None else tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )


@registry.misc("spacy-klsh.common_paths_kernel.v1")
def make_common_paths_kernel(
    alpha: float = 0.25,
    anchors: str = "any",
    edges: bool = True,
    threshold: float = 0.4,
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "subtree",
) -> Any:
    """Common-paths kernel of dependency trees, see `spacy_klsh.kernels.common_paths`."""
    from ..kernels.common_paths import CommonPathsKernel

    return CommonPathsKernel(
        alpha=alpha,
        anchors=anchors,  # type: ignore[arg-type]
        edges=edges,
        threshold=threshold,
        attribute_weights=None if attribute_weights is None else tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )


@registry.misc("spacy-klsh.graph_kernel.v1")
def make_graph_kernel(
    decay: float = 0.5,
    contiguous: bool = False,
    threshold: float = 0.4,
    attribute_weights: List[float] | None = None,  # noqa: UP006
    sigma: Dict[str, float] | None = None,  # noqa: UP006
    view: str = "subtree",
) -> Any:
    """Graph kernel on trees, see `spacy_klsh.kernels.graph`."""
    from ..kernels.graph import GraphKernel

    return GraphKernel(
        decay=decay,
        contiguous=contiguous,
        threshold=threshold,
        attribute_weights=None if attribute_weights is None else tuple(attribute_weights),
        sigma=sigma,
        view=view,
    )
