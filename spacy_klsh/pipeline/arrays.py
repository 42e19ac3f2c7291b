"""Arrays as the bytes of an ``.npz`` file, and back without trust in those bytes."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
MAX_SIZE = 2**26  # unpacked bytes; more only if the file is not much smaller:
MAX_RATIO = 100  # of unpacked to packed bytes
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without a limit

Arrays = dict[str, NDArray[Any]]


def write_arrays(arrays: Arrays) -> bytes:
    """An ``.npz`` whose bytes depend on the arrays alone (np.savez stores the time)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", FIXED_TIME)
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read_arrays(content: bytes) -> Arrays:
    """The arrays of an ``.npz``, C-ordered; nothing is executed.

    Nothing is unpacked that claims more than 64 MiB, or 100 times the bytes of `content`.

    Raises
    ------
    ValueError
        If `content` is no complete ``.npz`` of plain arrays, or claims more than that.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _check_members(members, len(content))
            return {info.filename.removesuffix(".npy"): _array(archive, info) for info in members}
    except Exception as error:  # readers of zip, deflate and npy raise many kinds
        raise ValueError(
            f"the saved arrays are damaged: {error or type(error).__name__}, but a complete .npz "
            "of plain arrays is needed; copy it again or save it again with nlp.to_disk()."
        ) from error


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    if len({info.filename.removesuffix(".npy") for info in members}) < len(members):
        raise ValueError("one name stands twice")
    if any(info.compress_type not in METHODS for info in members):
        raise ValueError("a member is neither stored nor deflated")
    unpacked, limit = sum(info.file_size for info in members), max(MAX_SIZE, MAX_RATIO * size)
    if unpacked > limit:
        raise ValueError(f"{size} bytes unpack to {unpacked}, more than {limit}")


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as stream:
        member = io.BytesIO(stream.read(info.file_size))  # read() alone unpacks beyond file_size
    if np.lib.format.read_magic(member) != (1, 0):
        raise ValueError(f"{info.filename} has another .npy version than 1.0")
    shape, _, dtype = np.lib.format.read_array_header_1_0(member)
    claimed, held = math.prod(shape) * dtype.itemsize, info.file_size - member.tell()
    if claimed != held:  # before anything of that shape is allocated
        raise ValueError(f"{info.filename} has {held} bytes for {dtype} {shape}")
    member.seek(0)
    return np.asarray(np.lib.format.read_array(member, allow_pickle=False), order="C")
