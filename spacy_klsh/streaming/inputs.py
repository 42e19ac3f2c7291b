"""From what the user names, files, directories, globs and URLs, to a list of sources."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from functools import lru_cache
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from smart_open.transport import get_transport

from ..corpora.documents import visible_files
from .options import STDIN, SUFFIXES, Format, Options, bare_suffix, packing_of

logger = logging.getLogger(__name__)


class Source(NamedTuple):
    """A path, a URL or ``-``, and its bytes as stored; None where they are not known."""

    name: str
    n_bytes: int | None


def is_local(source: str) -> bool:
    """Whether it is a path."""
    return source != STDIN and "://" not in source


def list_sources(inputs: Iterable[str], options: Options) -> list[Source]:
    """All sources in order, each of them once.

    A directory stands for the visible files in it, and in its directories, that have a suffix of
    ours, or of the format asked for; a glob for the files that it finds. Both are sorted. In
    directories a text with an ``.ann`` file beside it is a document of brat.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or a directory or glob yields none.
    ImportError, NotImplementedError
        If a URL or a way of packing needs another package, or is not known.
    """
    names = list(dict.fromkeys(name for given in inputs for name in _expanded(given, options)))
    missing = [name for name in names if is_local(name) and not files_of(name, options)]
    if missing:
        raise FileNotFoundError(f"no such file: {', '.join(missing)}")
    for name in names:
        _check_support(name)
    return [Source(name, _n_bytes(name, options)) for name in names]


def _expanded(given: str, options: Options) -> Iterable[str]:
    if not is_local(given):
        return [given]
    if Path(given).is_dir():
        return _in_directory(Path(given), options)
    if has_magic(given) and not Path(given).exists():
        found = sorted(name for name in glob(given, recursive=True) if Path(name).is_file())
        if not found:
            raise FileNotFoundError(f"no file fits {given!r}; check the pattern.")
        return (_annotations(Path(name), options) for name in found)
    return [_annotations(Path(given), options) if options.format is Format.brat else given]


def _in_directory(directory: Path, options: Options) -> list[str]:
    files = visible_files(directory)
    suffixes = [suffix for suffix, format in SUFFIXES.items() if options.format in (None, format)]
    if options.format is Format.brat:
        suffixes.append(".txt")
    annotated = set()
    if options.format is None:
        annotated = {file.with_suffix(".txt") for file in files if file.suffix == ".ann"}
    found = [file for file in files if bare_suffix(file.name) in suffixes]
    others = [file for file in files if bare_suffix(file.name) not in suffixes]
    if not found:
        raise FileNotFoundError(
            f"the directory {directory} holds no file that ends in {', '.join(suffixes)}; give the "
            "files that do, or a glob."
        )
    if others:
        _tell_once(
            f"{directory}: {len(others)} files end in none of {', '.join(suffixes)} and are left "
            f"out; the first is {others[0]}"
        )
    return [_annotations(file, options) for file in found if file not in annotated]


@lru_cache(maxsize=1000)  # a run lists its sources more than once
def _tell_once(message: str) -> None:
    logger.warning(message)


def _annotations(path: Path, options: Options) -> str:
    """The path, of a document of brat that of its ``.ann`` file."""
    return str(path.with_suffix(".ann") if options.format is Format.brat else path)


def files_of(name: str, options: Options) -> list[Path]:
    """The file called `name`, and the text that it annotates, as far as they are there."""
    path = Path(name)
    is_brat = options.format_of(name) is Format.brat
    return [file for file in (path, path.with_suffix(".txt"))[: 1 + is_brat] if file.is_file()]


def _n_bytes(name: str, options: Options) -> int | None:
    if not is_local(name):
        return None
    return sum(file.stat().st_size for file in files_of(name, options))


def _check_support(name: str) -> None:
    if "://" in name:
        get_transport(name.partition("://")[0])
    if packing_of(name) == ".zst" and sys.version_info < (3, 14):
        try:
            import_module("backports.zstd")
        except ImportError as error:
            raise ModuleNotFoundError(
                f"{name} is packed by zstd, which Python knows from 3.14 on; unpack it, or "
                "`python -m pip install spacy-klsh[zst]`."
            ) from error
