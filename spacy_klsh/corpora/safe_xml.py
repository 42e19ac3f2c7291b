"""XML of unknown origin, parsed without expanding entities or opening other files."""

from __future__ import annotations

from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element, TreeBuilder  # what is parsed; what parses is defused

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from .report import Report


class _Numbered(Element):
    line: int


def line_of(element: Element) -> int:
    """Line of its file on which an element of `parse_xml` begins, from 1.

    A line ends with LF, CR LF or a bare CR.
    """
    return cast(_Numbered, element).line


def parse_xml(path: Path, report: Report) -> Element | None:
    """Root of the file, None if it is broken or refused; then the report says why."""
    data = path.read_bytes()
    try:
        return _parse(data)
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


def _parse(data: bytes) -> Element:
    def numbered(tag: str, attributes: dict[str, str]) -> _Numbered:
        element = _Numbered(tag, attributes)
        element.line = parser.parser.CurrentLineNumber
        return element

    parser = DefusedXMLParser(target=TreeBuilder(element_factory=numbered))
    parser.feed(data)
    root: Element = parser.close()
    return root


def _undecodable(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        return f" or declare its encoding: byte {byte:#04x} at {error.start} is not UTF-8"
    return ""
