"""Saved components taken apart, changed and put together with checksums that agree."""

import hashlib
import io
import json
import zipfile

import numpy as np
from srsly import msgpack

NAMES = ("meta.json", "symbols.json", "arrays.npz")


def files(content):
    return msgpack.loads(content, raw=False)


def packed(parts):
    return msgpack.dumps(parts, use_bin_type=True)


def as_json(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode()


def signed(parts, **meta):
    """The files with other entries in meta.json, and checksums that agree with them."""
    meta = {**json.loads(parts["meta.json"]), **meta}
    meta["checksums"] = {name: hashlib.sha256(parts[name]).hexdigest() for name in NAMES[1:]}
    return sealed(parts, meta)


def sealed(parts, meta):
    """The files with another meta.json, whose own checksum alone agrees."""
    meta = {name: entry for name, entry in meta.items() if name != "checksum"}
    meta["checksum"] = hashlib.sha256(as_json(meta)).hexdigest()
    return packed({**parts, "meta.json": as_json(meta)})


def members(parts):
    """Bytes of each member of the arrays, by name."""
    with zipfile.ZipFile(io.BytesIO(parts["arrays.npz"])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npz(parts, method=zipfile.ZIP_STORED, **changed):
    """The arrays with members replaced by other bytes, or left out (None)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, member in {**members(parts), **changed}.items():
            if member is not None:
                archive.writestr(name, member)
    return {**parts, "arrays.npz": buffer.getvalue()}


def as_npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()
