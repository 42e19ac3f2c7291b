"""What a worker must know to turn tasks into parts: the model and the settings."""

from __future__ import annotations

import gc
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import BinaryIO, NamedTuple

import spacy
from spacy.language import Language
from spacy.util import get_package_path, is_package

from .engine import ZONE_TEXTS, Annotated, Settings, annotate, extractor_of
from .parts import write_part
from .tasks import Task
from .texts import Reject, Text

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
MOST_WORDS = 500_000  # new to a vocabulary, whose tables keep room for those it has forgotten
ONE_AT_A_TIME = Lock()  # a vocabulary has one memory zone; a Dask worker may have many threads


@dataclass(frozen=True)
class Job:
    """The same for all tasks of a run.

    Parameters
    ----------
    model : str
        Package or path, to be found wherever a worker is.
    sha256 : str
        Of the model's files, see `hash_of`.
    settings : Settings
    """

    model: str
    sha256: str
    settings: Settings

    def pipeline(self) -> Language:
        """The model: loaded once, and anew when its vocabulary has had many more words."""
        nlp, n_words = loaded(self.model, self.sha256)
        if len(nlp.vocab) > n_words + MOST_WORDS:
            del nlp
            loaded.cache_clear()
            gc.collect()  # pipelines refer to themselves
            nlp, _ = loaded(self.model, self.sha256)
        return nlp

    def write(self, task: Task, file: BinaryIO) -> None:
        """Write the part of `task`."""
        with ONE_AT_A_TIME:
            nlp = self.pipeline()
            write_part(file, annotate(nlp, task.piece.read(nlp), self.settings))

    def annotate(self, texts: Iterable[Text | Reject]) -> Iterator[Annotated | Reject]:
        """What becomes of each of `texts`, which need not end."""
        stream = iter(texts)
        for first in stream:
            block = chain([first], islice(stream, ZONE_TEXTS - 1))
            yield from annotate(self.pipeline(), block, self.settings)


class Loaded(NamedTuple):
    """A pipeline, and how many words its vocabulary had at first."""

    nlp: Language
    n_words: int


@lru_cache(maxsize=1)
def loaded(model: str, sha256: str) -> Loaded:
    """The pipeline `model`.

    Raises
    ------
    OSError
        If there is no such pipeline.
    ValueError
        If it is another one than that of `sha256`, or has no trained klsh_relations.
    """
    nlp = spacy.load(model)
    found = hash_of(model)
    if found != sha256:
        raise ValueError(
            f"{model} has SHA-256 {found[:16]}… here and {sha256[:16]}… where the run was started; "
            "put the same model on all machines."
        )
    extractor_of(nlp).check_trained()
    return Loaded(nlp, len(nlp.vocab))


def hash_of(model: str) -> str:
    """SHA-256 of all files of the pipeline `model`, their names included.

    Raises
    ------
    OSError
        If there is no such pipeline.
    """
    folder = folder_of(model)
    content = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            content.update(hashlib.sha256(path.read_bytes()).digest())
    return content.hexdigest()


def language_of(model: str) -> str:
    """Code of the language of the pipeline `model`."""
    meta = json.loads((folder_of(model) / "meta.json").read_text("utf-8"))
    return meta.get("lang") or "xx"


def folder_of(model: str) -> Path:
    """Where the pipeline `model` lies.

    Raises
    ------
    OSError
        If there is no such pipeline.
    """
    folder = get_package_path(model) if is_package(model) else Path(model)
    if not folder.is_dir():
        raise OSError(
            f"{model} is neither an installed pipeline nor a folder; give the path of a trained "
            "pipeline, such as output/model-last."
        )
    return folder


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes started meanwhile have one thread each for linear algebra, unless it is set."""
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
