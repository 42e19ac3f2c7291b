"""A trained component as files or bytes: JSON and plain arrays, nothing executable.

``meta.json`` (format version, labels, thresholds, settings, word vectors, checksums),
``symbols.json`` (the dictionaries of the reference set) and ``arrays.npz``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from srsly import msgpack

from ..kernels.kernel import Kernel, learns
from ..optimization.kernel_parameters import with_learned
from ..structures import Structures
from ..views import Views, concat_views
from .arrays import Arrays, read_arrays, write_arrays
from .labels import LabelScheme
from .meta import FORMAT_VERSION, are_words, check_described, damaged, describe

if TYPE_CHECKING:
    from .component import RelationExtractor

META, SYMBOLS, ARRAYS = NAMES = ("meta.json", "symbols.json", "arrays.npz")
HASHING = ("rows", "subsets", "weights", "biases")
REFERENCE = ("nodes", "offsets", "vectors")

Files = dict[str, bytes]


class Persistent:
    """spaCy's four methods that save a component and load it."""

    def to_bytes(self: Any, *, exclude: Iterable[str] = ()) -> bytes:
        """Everything that was learned, as bytes; config and vocab are spaCy's to save.

        Parameters
        ----------
        exclude : iterable of str
            spaCy's names of parts to leave out, "vocab" among them. It changes nothing
            here or in the three other methods: no vocab is saved, and what was learned
            is one whole. ``nlp.to_disk(path, exclude=[name])`` leaves all of it out.
        """
        content: bytes = msgpack.dumps(_files(self), use_bin_type=True)
        return content

    def from_bytes(self: Any, data: bytes, *, exclude: Iterable[str] = ()) -> RelationExtractor:
        """Take over what `to_bytes` gave.

        Raises
        ------
        ValueError
            If the bytes are damaged, of another format version, or of a component with
            other settings or word vectors. The component stays as it was.
        """
        try:
            files = msgpack.loads(data, raw=False)  # srsly's own loader leaves the gc off here
        except Exception as error:  # the C library raises many kinds
            raise damaged("the bytes are no MessagePack map") from error
        fits = isinstance(files, dict) and set(files) == set(NAMES)
        if not fits or not all(isinstance(value, bytes) for value in files.values()):
            raise damaged(f"the bytes do not hold {', '.join(NAMES)} alone")
        return _restored(self, files)

    def to_disk(self: Any, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write what was learned to the directory `path`."""
        Path(path).mkdir(parents=True, exist_ok=True)
        for name, content in _files(self).items():
            (Path(path) / name).write_bytes(content)

    def from_disk(self: Any, path: str | Path, *, exclude: Iterable[str] = ()) -> RelationExtractor:
        """Take over what `to_disk` wrote, whatever else is there; raises like `from_bytes`."""
        return _restored(self, _read(Path(path)))


def _read(path: Path) -> Files:
    try:
        missing = [name for name in NAMES if not (path / name).is_file()]
        files = {name: (path / name).read_bytes() for name in NAMES if name not in missing}
    except OSError as error:
        raise ValueError(
            f"a file of {path} cannot be read ({error}), but {', '.join(NAMES)} are needed; let "
            "this user read them, or copy them again."
        ) from error
    if missing:
        raise ValueError(
            f"{path} lacks {', '.join(missing)}, so it holds no complete klsh_relations; save "
            "the pipeline again with nlp.to_disk()."
        )
    return files


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
        if learns(hashing.kernel):
            arrays |= {f"kernel/{k}": v for k, v in hashing.kernel.state().items()}
        for view, structures in hashing.reference_.items():
            symbols[view] = list(structures.symbols)
            arrays |= _unpacked(f"reference/{view}", structures)
    files = {SYMBOLS: _json(symbols), ARRAYS: write_arrays(arrays)}
    meta = {
        "format_version": FORMAT_VERSION,
        **describe(component),
        "checksums": {name: _checksum(content) for name, content in files.items()},
    }
    meta["checksum"] = _checksum(_json(meta))
    return {META: _json(meta), **files}


def _restored(component: RelationExtractor, files: Files) -> RelationExtractor:
    """`component`, changed at the very end, when nothing can fail any more."""
    meta = _checked_meta(files)
    check_described(component, meta)
    symbols, arrays = _from_json(SYMBOLS, files[SYMBOLS]), read_arrays(files[ARRAYS])
    scheme = replace(component.scheme, labels=tuple(meta["labels"]))
    hashing, classifier = copy(component.hashing), copy(component.classifier)
    hashing.kernel = _with_learned(component.kernel, meta.get("learned", {}))
    if scheme.labels:
        _check_names(symbols, arrays, hashing.kernel)
        reference = {
            view: _packed(f"reference/{view}", symbols[view], arrays)
            for view in hashing.kernel.views
        }
        _check_extracted(component, reference)
        if learns(hashing.kernel):
            hashing.kernel = hashing.kernel.restore(_below("kernel", arrays))
        hashing.restore(reference, *(arrays[f"hashing/{name}"] for name in HASHING))
        classifier.restore(_below("classifier", arrays))
        _check_agreement(component, hashing, classifier, scheme, meta["reference_labels"])
    elif symbols or arrays or meta["reference_labels"] or meta.get("learned"):
        raise damaged(f"it has no labels, but {ARRAYS}, {SYMBOLS} or {META} hold what was learned")
    component.hashing, component.classifier, component.scheme = hashing, classifier, scheme
    component.thresholds = meta["thresholds"]
    component.entity_labels = frozenset(meta["entity_labels"])
    component.dropped = frozenset(meta["dropped"])
    component.reference_labels = meta["reference_labels"]
    return component


def _with_learned(kernel: Kernel, values: dict[str, Any]) -> Kernel:
    try:
        learned: Kernel = with_learned(kernel, values)
    except ValueError as error:
        raise damaged(f"the learned values of its kernel do not fit ({error})") from error
    return learned


def _checked_meta(files: Files) -> dict[str, Any]:
    meta = _from_json(META, files[META])
    if not isinstance(meta, dict) or "format_version" not in meta:
        raise damaged(f"{META} has no format_version")
    if meta["format_version"] != FORMAT_VERSION:
        raise ValueError(
            f"the model has format version {meta['format_version']!r}, this spacy-klsh reads "
            f"{FORMAT_VERSION}; install the version of spacy-klsh that wrote it, or train again."
        )
    checksum = meta.pop("checksum", None)
    if checksum != _checksum(_json(meta)):
        raise damaged(f"the checksum of {META} does not agree")
    checksums = {name: _checksum(files[name]) for name in (SYMBOLS, ARRAYS)}
    if meta.get("checksums") != checksums:
        raise damaged(f"a checksum of {SYMBOLS} or {ARRAYS} does not agree")
    return meta


def _check_names(symbols: Any, arrays: Arrays, kernel: Kernel) -> None:
    """There are dictionaries for all views, and arrays for these and nothing else."""
    views = kernel.views
    learned = ("classifier/", "kernel/") if learns(kernel) else ("classifier/",)
    if not isinstance(symbols, dict) or symbols.keys() != set(views):
        raise damaged(f"{SYMBOLS} does not hold the views {', '.join(views)} of the kernel alone")
    if not all(are_words(words) for words in symbols.values()):
        raise damaged(f"{SYMBOLS} holds something else than lists of strings")
    needed = {f"hashing/{name}" for name in HASHING}
    needed |= {f"reference/{view}/{name}" for view in views for name in REFERENCE}
    optional = {f"reference/{view}/parents" for view in views}
    found = {name for name in arrays if not name.startswith(learned)}
    if not needed <= found <= needed | optional:
        raise damaged(f"{ARRAYS} holds {sorted(found)}, but {sorted(needed)} are needed")


def _check_extracted(component: RelationExtractor, reference: Views) -> None:
    """`reference` can be compared with what the component will extract."""
    empty = Doc(component.vocab)
    extracted = component.views([empty], [component.candidates(empty)])
    concat_views([reference, {view: extracted[view] for view in reference}])


def _check_agreement(
    component: RelationExtractor,
    hashing: Any,
    classifier: Any,
    scheme: LabelScheme,
    reference_labels: list[list[str] | None],
) -> None:
    n_bits, n_features = classifier.widths_
    width = 0 if component.features is None else component.features.width
    for what, found, expected in (
        ("bits of the classifier", n_bits, hashing.n_bits if n_bits else 0),
        ("features of the classifier", n_features, width if n_features else 0),
        ("labels of its predictions", classifier.n_labels_, len(scheme.classes)),
        ("reference_labels", len(reference_labels), len(hashing.reference_rows_)),
    ):
        if found != expected:
            raise damaged(f"there are {found} {what}, but {expected} are needed")


def _unpacked(prefix: str, structures: Structures) -> Arrays:
    arrays: Arrays = {
        f"{prefix}/nodes": structures.nodes,
        f"{prefix}/offsets": structures.offsets,
        f"{prefix}/vectors": structures.vectors,
    }
    if structures.parents is not None:
        arrays[f"{prefix}/parents"] = structures.parents
    return arrays


def _packed(prefix: str, symbols: list[str], arrays: Arrays) -> Structures:
    return Structures(symbols=tuple(symbols), **_below(prefix, arrays))


def _below(prefix: str, arrays: Arrays) -> Arrays:
    start = f"{prefix}/"
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode()


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _from_json(name: str, content: bytes) -> Any:
    try:
        value = json.loads(content)
        _json(value)  # deep nesting and half surrogates can be read, but not written
    except (ValueError, RecursionError) as error:
        raise damaged(f"{name} is no JSON, or none that was saved here") from error
    return value
