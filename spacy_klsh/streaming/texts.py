"""What a source gives: texts, and input that is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Text(NamedTuple):
    """A document of the input.

    `id` is its name in the output, `place` where it begins, ``path:line`` or the path alone, for
    messages. `fields` is what else the input says about it, as JSON values, to be passed
    through. `doc` holds the bytes of an untouched Doc of `text` where the input has tokens or
    entities.
    """

    id: str
    text: str
    place: str
    fields: Mapping[str, Any] = {}
    doc: bytes | None = None


class Reject(NamedTuple):
    r"""A part of the input that cannot be read: its place, what is wrong, and itself.

    `text` shows wrong bytes as ``\xe9``; it is None if there is nothing to show.
    """

    place: str
    error: str
    text: str | None = None


def shown(raw: bytes, encoding: str = "utf-8") -> str:
    r"""The bytes as text; those that are none as ``\xe9``."""
    return raw.decode(encoding, "backslashreplace")
