"""Fields of JSON objects, checked when they are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any, TypeVar

from .documents import Paths, list_paths
from .lines import decode, parse_each, read_filled_lines
from .report import Report

T = TypeVar("T")

_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


def check(value: object, kind: type[T], name: str) -> T:
    """`value` if it is of exactly this kind.

    Raises
    ------
    ValueError
        If it is not, or a string with half a surrogate pair.
    """
    if type(value) is not kind:  # isinstance would let True pass as 1
        raise ValueError(f"{name} is {short(value)}; expected {_NAMES[kind]}")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"{name} is {short(value)}, with half a surrogate pair or a byte that is not "
                "UTF-8; expected whole characters"
            ) from None
    return value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object; `name` stands before the names of its fields in messages.

    All methods raise ValueError, with what was found and expected, if a field is missing
    without a default or not what they promise.
    """

    data: dict[str, Any]
    name: str = ""

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def get(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The field `key`, of exactly this kind."""
        if key not in self.data and default is None:
            raise ValueError(f"{self.name}{key} is missing; expected {_NAMES[kind]}")
        return check(self.data.get(key, default), kind, f"{self.name}{key}")

    def label(self, key: str) -> str:
        """A string that is not empty."""
        label = self.get(key, str)
        if not label:
            raise ValueError(f"{self.name}{key} is empty; expected the name of a relation")
        return label

    def row(self, key: str, n: int, things: str) -> int:
        """A whole number that counts one of `n` things from 0."""
        row = self.get(key, int)
        if not 0 <= row < n:
            raise ValueError(
                f"{self.name}{key} is {row}; expected a row of the {n} {things}, from 0"
            )
        return row

    def bounds(self, length: int, things: str) -> tuple[int, int]:
        """The fields `start` and `end`, exclusive, of a part that is not empty."""
        start, end = self.get("start", int), self.get("end", int)
        if not 0 <= start < end <= length:
            raise ValueError(
                f"{self.name}start is {start} and end {end}; expected 0 <= start < end <= "
                f"{length}, the {things}"
            )
        return start, end

    def object(self, key: str) -> Fields:
        """An object."""
        return Fields(self.get(key, dict), f"{self.name}{key}.")

    def items(self, key: str, kind: type[T], default: list[Any] | None = None) -> list[T]:
        """A list whose items are of exactly this kind."""
        items: list[Any] = self.get(key, list, default)
        return [check(item, kind, f"{self.name}{key}[{row}]") for row, item in enumerate(items)]

    def objects(self, key: str, default: list[Any] | None = None) -> list[Fields]:
        """A list of objects."""
        items = self.items(key, dict, default)
        return [Fields(item, f"{self.name}{key}[{row}].") for row, item in enumerate(items)]


def read_json_lines(paths: Paths, parse: Callable[[Fields, str], T], report: Report) -> Iterator[T]:
    """What `parse` makes of the object on each line and its place; blank lines are skipped."""

    def parse_line(line: bytes, where: str) -> T:
        return parse(Fields(check(_load(line), dict, "the line")), where)

    for path in list_paths(paths):
        yield from parse_each(read_filled_lines(path, report), parse_line, report)


def _load(line: bytes) -> Any:
    try:
        return json.loads(decode(line))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{error.msg} at column {error.colno}; expected one JSON object a line"
        ) from None
