"""A trained component as files or bytes: JSON and plain arrays, nothing executable.

``meta.json`` (format version, labels, thresholds, settings, word vectors, checksums),
``symbols.json`` (the dictionaries of the reference set) and ``arrays.npz``.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.vocab import Vocab
from srsly import msgpack

from ..structures import Structures
from .labels import LabelScheme

if TYPE_CHECKING:
    from .component import RelationExtractor

FORMAT_VERSION = 1
META, SYMBOLS, ARRAYS = "meta.json", "symbols.json", "arrays.npz"
FIXED_TIME = (1980, 1, 1, 0, 0, 0)

Files = dict[str, bytes]
Arrays = dict[str, NDArray[Any]]


def to_disk(component: RelationExtractor, path: Path) -> None:
    """Write the files of `component` to the directory `path`."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in _files(component).items():
        (path / name).write_bytes(content)


def from_disk(component: RelationExtractor, path: Path) -> None:
    """Restore `component` from the directory `path`."""
    missing = [name for name in (META, SYMBOLS, ARRAYS) if not (path / name).is_file()]
    if missing:
        raise ValueError(
            f"{path} lacks {', '.join(missing)}, so it holds no complete klsh_relations; save "
            "the pipeline again with nlp.to_disk()."
        )
    _restore(component, {name: (path / name).read_bytes() for name in (META, SYMBOLS, ARRAYS)})


def to_bytes(component: RelationExtractor) -> bytes:
    """The files of `component` in one MessagePack map."""
    content: bytes = msgpack.dumps(_files(component), use_bin_type=True)
    return content


def from_bytes(component: RelationExtractor, content: bytes) -> None:
    """Restore `component` from `to_bytes`."""
    try:
        files = msgpack.loads(content, raw=False)  # srsly's own loader leaves the gc off here
    except Exception as error:  # the C library raises many kinds
        raise _damaged("the bytes are no MessagePack map") from error
    fits = isinstance(files, dict) and set(files) == {META, SYMBOLS, ARRAYS}
    if not fits or not all(isinstance(value, bytes) for value in files.values()):
        raise _damaged(f"the bytes do not hold {META}, {SYMBOLS} and {ARRAYS}")
    _restore(component, files)


def settings(component: RelationExtractor) -> dict[str, Any]:
    """Everything in the config that a trained state depends on."""
    return {
        "direction": component.scheme.direction,
        "seed": component.seed,
        "views": _described(component.views),
        "kernel": _described(component.hashing.kernel),
        "hashing": _described(component.hashing, leave_out=("kernel",)),
        "classifier": _described(component.classifier),
    }


def _described(thing: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    names = [
        name
        for name in inspect.signature(type(thing)).parameters
        if not name.startswith("_") and name not in leave_out
    ]
    values = {name: getattr(thing, name) for name in names}
    described: dict[str, Any] = json.loads(json.dumps({"class": type(thing).__name__, **values}))
    return described


def vectors_described(vocab: Vocab) -> dict[str, Any]:
    """Name, shape and a checksum (of at most 1,024 rows) of the word vectors of `vocab`."""
    if not vocab.vectors_length:
        return {"name": None, "shape": [0, 0], "sha256": None}
    data = np.asarray(vocab.vectors.data)
    sample = np.ascontiguousarray(data[:: max(1, len(data) // 1024)], dtype="<f4")
    return {
        "name": vocab.vectors.name,
        "shape": list(data.shape),
        "sha256": hashlib.sha256(sample.tobytes()).hexdigest(),
    }


def _files(component: RelationExtractor) -> Files:
    hashing, symbols = component.hashing, {}
    arrays: Arrays = {}
    if component.labels:
        arrays = {
            "hashing/rows": hashing.reference_rows_,
            "hashing/subsets": hashing.subsets_,
            "hashing/weights": hashing.weights_,
            "hashing/biases": hashing.biases_,
            **{f"classifier/{k}": v for k, v in component.classifier.state().items()},
        }
        for view, structures in hashing.reference_.items():
            symbols[view] = list(structures.symbols)
            arrays |= _unpacked(f"reference/{view}", structures)
    files = {SYMBOLS: _json(symbols), ARRAYS: _npz(arrays)}
    meta = {
        "format_version": FORMAT_VERSION,
        "labels": list(component.labels),
        "thresholds": component.thresholds,
        "entity_labels": sorted(component.entity_labels),
        "reference_labels": component.reference_labels,
        "settings": settings(component),
        "vectors": vectors_described(component.vocab),
        "checksums": {name: _checksum(content) for name, content in files.items()},
    }
    meta["checksum"] = _checksum(_json(meta))
    return {META: _json(meta), **files}


def _restore(component: RelationExtractor, files: Files) -> None:
    meta = _checked_meta(files)
    _check_same("settings", meta["settings"], settings(component))
    _check_same("word vectors", meta["vectors"], vectors_described(component.vocab))
    symbols, arrays = json.loads(files[SYMBOLS]), _from_npz(files[ARRAYS])
    labels = tuple(meta["labels"])
    if labels:
        views = component.hashing.kernel.views
        if list(symbols) != list(views):
            raise _damaged(f"{SYMBOLS} has the views {list(symbols)}, the kernel needs {views}")
        try:
            reference = {
                view: _packed(f"reference/{view}", tuple(words), arrays)
                for view, words in symbols.items()
            }
            component.hashing.restore(
                reference,
                *(arrays[f"hashing/{k}"] for k in ("rows", "subsets", "weights", "biases")),
            )
            component.classifier.restore(_below("classifier", arrays))
        except (KeyError, TypeError, AttributeError) as error:
            raise _damaged(f"{ARRAYS} and {SYMBOLS} do not fit together ({error})") from error
    component.scheme = LabelScheme(labels, component.scheme.direction)
    component.thresholds = meta["thresholds"]
    component.entity_labels = frozenset(meta["entity_labels"])
    component.reference_labels = meta["reference_labels"]


def _checked_meta(files: Files) -> dict[str, Any]:
    try:
        meta = json.loads(files[META])
        version = meta["format_version"]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(f"{META} is no JSON with a format_version") from error
    if version != FORMAT_VERSION:
        raise ValueError(
            f"the model has format version {version!r}, this spacy-klsh reads {FORMAT_VERSION}; "
            "install the version of spacy-klsh that wrote it, or train again."
        )
    checksum = meta.pop("checksum", None)
    if checksum != _checksum(_json(meta)):
        raise _damaged(f"the checksum of {META} does not agree")
    for name, expected in meta["checksums"].items():
        if _checksum(files[name]) != expected:
            raise _damaged(f"the checksum of {name} does not agree")
    checked: dict[str, Any] = meta
    return checked


def _check_same(what: str, stored: Mapping[str, Any], present: Mapping[str, Any]) -> None:
    for name in sorted(stored.keys() | present.keys()):
        if stored.get(name) != present.get(name):
            raise ValueError(
                f"the model was trained with other {what}: {name} was {stored.get(name)!r} and "
                f"is {present.get(name)!r} now; use the former, or train again."
            )


def _damaged(reason: str) -> ValueError:
    return ValueError(
        f"the saved klsh_relations is damaged: {reason}; copy it again or save it again with "
        "nlp.to_disk()."
    )


def _unpacked(prefix: str, structures: Structures) -> Arrays:
    arrays: Arrays = {
        f"{prefix}/nodes": structures.nodes,
        f"{prefix}/offsets": structures.offsets,
        f"{prefix}/vectors": structures.vectors,
    }
    if structures.parents is not None:
        arrays[f"{prefix}/parents"] = structures.parents
    return arrays


def _packed(prefix: str, symbols: tuple[str, ...], arrays: Arrays) -> Structures:
    return Structures(symbols=symbols, **_below(prefix, arrays))


def _below(prefix: str, arrays: Arrays) -> Arrays:
    start = f"{prefix}/"
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode()


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _npz(arrays: Arrays) -> bytes:
    """An ``.npz`` whose bytes depend on the arrays alone (np.savez stores the time)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", FIXED_TIME)
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _from_npz(content: bytes) -> Arrays:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:  # readers of zip, deflate and npy raise many kinds
        raise _damaged(f"{ARRAYS} cannot be read") from error
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise _damaged(f"{ARRAYS} holds something else than arrays")
    return arrays
