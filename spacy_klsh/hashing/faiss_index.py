"""Hamming search by faiss, an optional library, for stores of very many codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codes import Codes
from .hamming import Nearest


class FaissIndex:
    """Stored codes in a flat binary index of faiss, which searches them exactly.

    It searches in one thread: processes forked behind the back of OpenMP's other threads,
    such as those of ``nlp.pipe(n_process=2)``, would wait for them for ever.

    Raises
    ------
    ModuleNotFoundError
        If faiss is not installed.
    """

    def __init__(self, codes: Codes) -> None:
        index = import_faiss().IndexBinaryFlat(64 * codes.words.shape[1])
        index.use_heap = False  # by counting: equally near ones come in the order of their rows
        index.add(_bytes(codes))
        self._codes, self._index = codes, index

    def __reduce__(self) -> tuple[type[FaissIndex], tuple[Codes]]:
        return FaissIndex, (self._codes,)  # for processes: faiss cannot be sent to them

    def nearest(self, codes: Codes, k: int) -> Nearest:
        """The same as ``codes.nearest(stored, k)``."""
        faiss = import_faiss()
        n_threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            distances, rows = self._index.search(_bytes(codes), k)
        finally:
            faiss.omp_set_num_threads(n_threads)
        return Nearest(rows, distances.astype(np.int64))


def import_faiss() -> Any:
    """The module ``faiss``.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed.
    """
    try:
        import faiss
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'index = "faiss" needs faiss, which is not installed; run '
            'python -m pip install "spacy-klsh[faiss]", or set index = "scan".'
        ) from error
    return faiss


def _bytes(codes: Codes) -> NDArray[np.uint8]:
    return codes.words.view(np.uint8)
