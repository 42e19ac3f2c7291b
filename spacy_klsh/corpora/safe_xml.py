"""XML of unknown origin, parsed without expanding entities or opening other files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from .report import Report

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def parse_xml(path: Path, report: Report) -> Element | None:
    """Root of the file, None if it is broken or refused; then the report says why."""
    data = path.read_bytes()
    try:
        root: Element = fromstring(data)
    except DefusedXmlException as error:
        report.error(
            "refused_xml",
            f"{path}: {error}; entity declarations and external references are never expanded; "
            "write the text out and remove the DOCTYPE.",
        )
        return None
    except (ParseError, LookupError, ValueError) as error:
        line = getattr(error, "position", (1, 0))[0]
        report.error(
            "unreadable_xml",
            f"{path}:{line}: {error}; expected well-formed XML; repair the file"
            f"{_undecodable(data)}.",
        )
        return None
    return root


def _undecodable(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        return f" or declare its encoding: byte {byte:#04x} at {error.start} is not UTF-8"
    return ""
