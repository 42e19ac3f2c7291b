"""Texts of JSONL: an object on each line, a text and an id among its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from reprlib import repr as short
from typing import Any

from .lines import decoded
from .options import Options
from .text_files import Lines
from .texts import Reject, Text

MARK = "\ufeff"  # where files with a byte order mark were put together


def read_json_lines(
    lines: Lines, source: str, codec: str, options: Options
) -> Iterator[Text | Reject]:
    """The document on each line that is not blank; other fields are passed through."""
    for number, raw in lines:
        if not raw.strip():
            continue
        place = f"{source}:{number}"
        line = decoded(raw, codec, place)
        if isinstance(line, Reject):
            yield line
            continue
        line = line.rstrip("\r\n")
        try:
            yield document(_load(line.removeprefix(MARK)), place, options)
        except (ValueError, RecursionError) as error:
            yield Reject(place, f"{error}; correct the line.", line)


def _load(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"no JSON ({error.msg}, column {error.colno}); expected an object"
        ) from None
    if not isinstance(data, dict):
        raise ValueError(f"the line is {short(data)}; expected a JSON object")
    if "\\u" in line:
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise ValueError(
                f"{half!r} is half a surrogate pair; expected whole characters"
            ) from None
    return data


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON; expected a number, or null")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if abs(number) < float("inf") else _refuse(digits)


def document(data: Mapping[str, Any], place: str, options: Options) -> Text:
    """The fields of one document as a `Text`.

    Raises
    ------
    ValueError
        If the text is not there or none, or the id is neither a string nor a whole number.
    """
    text = data.get(options.text_field)
    if not isinstance(text, str):
        found = short(text) if options.text_field in data else f"not among {short([*data])}"
        raise ValueError(
            f"the text field {options.text_field!r} is {found}; expected a string, or another "
            "--text-field"
        )
    id_field = options.id_field or "id"
    id = data.get(id_field)
    if id is None and options.id_field is None:
        id = place
    if type(id) not in (str, int):
        raise ValueError(
            f"the id field {id_field!r} is {short(id)}; expected a string or a whole number, or "
            "another --id-field"
        )
    fields = {
        key: value for key, value in data.items() if key not in (options.text_field, id_field)
    }
    return Text(str(id), text, place, fields)
