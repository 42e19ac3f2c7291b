"""The path kernel with weights of symbols that are learned from labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Structures
from ..symbols import pack_symbols, unpack_symbols
from ..views import Views
from .nodes import MAX_SIGMA
from .subsequence import SubsequenceKernel

Bool = NDArray[np.bool_]
C = 1.0  # of the linear model: lower ones make the weights more alike


@dataclass(frozen=True, kw_only=True)
class LearnedSubsequenceKernel(SubsequenceKernel):
    """`SubsequenceKernel` in which symbols that tell the labels apart count more.

    Each symbol has a weight, which multiplies its similarity to any other, as sigma does for
    edges: ``similarity(a, b) w_a w_b``. Its square is the absolute coefficient of the symbol in
    a logistic regression of the labels on the symbols that a structure has, summed over the
    labels and divided by the mean of all occurrences of symbols of its kind (``lemma``,
    ``dep``, …). Symbols that training did not show weigh 1.

    Codes of such a kernel know the labels of the training structures.

    References
    ----------
    Garg et al. 2019, section 3.2: sigma, here of all symbols and learned by other means.
    """

    learns: ClassVar[bool] = True
    _weights: Mapping[str, float] = field(default_factory=dict, repr=False)

    def fit(self, views: Views, y: NDArray[Any]) -> LearnedSubsequenceKernel:
        """The kernel with weights learned from `views` and their labels.

        Parameters
        ----------
        views : Views
        y : bool array (n, n_labels) or int array (n,)
            Labels that each structure has, or its only one.
        """
        structures, y = views[self.view], np.asarray(y)
        labels = y[:, None] == np.unique(y) if y.ndim == 1 else y.astype(bool)
        if len(labels) != len(structures):
            raise ValueError(
                f"there are labels of {len(labels)} structures, but {len(structures)} structures; "
                "give one row a structure."
            )
        weights = _learned(structures, labels).tolist()
        return replace(self, _weights=dict(zip(structures.symbols, weights, strict=True)))

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learned, as arrays."""
        content, offsets = pack_symbols(tuple(self._weights))
        values = np.array(list(self._weights.values()), np.float32)
        return {"symbols": content, "symbol_offsets": offsets, "weights": values}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> LearnedSubsequenceKernel:
        """The kernel with the weights of `state`.

        Raises
        ------
        ValueError
            If an array is missing or added, or they do not fit together.
        """
        try:
            symbols = unpack_symbols(state["symbols"], state["symbol_offsets"])
            values = state["weights"]
        except (KeyError, ValueError) as error:
            raise _damaged(f"cannot be read ({error})") from error
        fits = str(values.dtype) == "float32" and values.shape == (len(set(symbols)),)
        if len(state) != 3 or not fits or len(symbols) != len(values):
            raise _damaged(
                f"are {sorted(state)} with {values.dtype} {values.shape} for {len(symbols)} symbols"
            )
        if not ((values >= 0) & (values <= MAX_SIGMA)).all():
            raise _damaged(f"are {values.min()} to {values.max()}, not in [0, {MAX_SIGMA:g}]")
        return replace(self, _weights=dict(zip(symbols, values.tolist(), strict=True)))

    def _symbol_weights(self, structures: Structures) -> Float32:
        learned = [self._weights.get(symbol, 1.0) for symbol in structures.symbols]
        return SubsequenceKernel._symbol_weights(self, structures) * np.array(learned, np.float32)


def _learned(structures: Structures, labels: Bool) -> Float32:
    """Weight of each symbol, float32 (n_symbols,)."""
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    n_columns, n_symbols = structures.nodes.shape[1], len(structures.symbols)
    bounds = structures.offsets * n_columns
    counts = np.ones(structures.nodes.size), structures.nodes.ravel(), bounds
    has = sparse.csr_matrix(counts, (len(structures), n_symbols), copy=True)
    has.sum_duplicates()
    n_occurrences = has.getnnz(axis=0)
    sizes = np.maximum(has.getnnz(axis=1), 1)
    has.data = 1 / np.sqrt(np.repeat(sizes, np.diff(has.indptr)))  # rows of length 1
    strengths = np.zeros(n_symbols)
    for column in labels.T:
        if column.any() and not column.all():
            model = LogisticRegression(C=C, solver="liblinear", random_state=0)
            strengths += np.abs(model.fit(has, column).coef_[0])
    kinds, of_symbol = np.unique(
        [symbol.partition("=")[0] for symbol in structures.symbols], return_inverse=True
    )
    totals = np.bincount(of_symbol, strengths * n_occurrences, len(kinds))
    means = (totals / np.maximum(np.bincount(of_symbol, n_occurrences, len(kinds)), 1))[of_symbol]
    squares = np.divide(strengths, means, out=np.ones(n_symbols), where=means > 0)
    return np.sqrt(squares).clip(max=MAX_SIGMA).astype(np.float32)


def _damaged(found: str) -> ValueError:
    return ValueError(
        f"the stored weights of symbols {found}, but one float32 in [0, {MAX_SIGMA:g}] is expected "
        "for each; the file is damaged, train again."
    )
