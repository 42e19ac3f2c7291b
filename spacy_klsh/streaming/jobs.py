"""What a worker must know to turn tasks into parts: the model and the settings."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import spacy
from spacy.language import Language
from spacy.util import get_package_path, is_package

from .engine import Settings, annotate, extractor_of
from .parts import write_part
from .tasks import Task

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
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

    def write(self, task: Task, file: BinaryIO) -> None:
        """Write the part of `task` with the model, which this process loads once."""
        with ONE_AT_A_TIME:
            nlp = loaded(self.model, self.sha256)
            write_part(file, annotate(nlp, task.piece.read(nlp), self.settings))


@lru_cache(maxsize=1)
def loaded(model: str, sha256: str) -> Language:
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
    return nlp


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
