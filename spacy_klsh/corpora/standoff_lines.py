"""The lines of standoff annotations, each on its own; `standoff` finds out what they mean.

With a tab after the id, and after the offsets of an entity::

    T1  Protein 0 3  p53                     entity or trigger; pieces: 0 3;8 12
    E1  Binding:T4 Theme:T1 Theme2:E2        event with its trigger and arguments
    R1  Part_of Arg1:T1 Arg2:T2              relation
    M1  Negation E1                          modification, also A1 and with a value
    *   Equiv T1 T2                          equivalence
    N1  Reference T1 Taxonomy:9606  human    normalization: counted and ignored
    #1  AnnotatorNotes T1  unsure            note: counted and ignored
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short
from typing import ClassVar, TypeAlias

from .lines import decode, parse_each
from .links import BINARY_ROLES, number_roles
from .pieces import Pieces
from .report import Report

_IGNORED = {"N": "ignored_normalizations", "#": "ignored_notes"}
_PIECE = "[0-9]{1,9} [0-9]{1,9}"
_ENTITY = re.compile(rf"(\S+) ({_PIECE}(?:;{_PIECE})*)\t(.*)")


@dataclass(frozen=True, slots=True)
class Entity:
    """A T line; `pieces` are character offsets with exclusive ends."""

    where: str
    id: str
    label: str
    pieces: Pieces
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """An E or R line: for each role the id of an entity or event."""

    where: str
    id: str
    label: str
    arguments: dict[str, str]

    kind: ClassVar[str] = "relations"

    @property
    def ids(self) -> Collection[str]:
        """What the line names."""
        return self.arguments.values()

    @property
    def is_event(self) -> bool:
        """True of E lines; their first role is ``trigger``."""
        return self.id.startswith("E")


@dataclass(frozen=True, slots=True)
class Modification:
    """An M or A line about the entity, event or relation `target`; `value` may be empty."""

    where: str
    id: str
    label: str
    target: str
    value: str

    kind: ClassVar[str] = "modifications"

    @property
    def ids(self) -> Collection[str]:
        """What the line names."""
        return (self.target,)


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A `*` line: the entities `ids` count as the same."""

    where: str
    label: str
    ids: list[str]

    kind: ClassVar[str] = "equivalences"
    id: ClassVar[str] = "*"


Line: TypeAlias = Entity | Frame | Modification | Equivalence


def read_annotations(paths: Iterable[Path], report: Report) -> list[Line]:
    """All good lines of a document's annotation files, in their order.

    Others are errors: undecodable bytes, a line that is none of the above, an id that an
    earlier line has. Line breaks are LF or CRLF; a byte order mark is skipped.
    """
    lines: list[Line] = []
    seen = set()
    for path in paths:
        for where, content in _decoded(path, report):
            if content[0] in _IGNORED:
                report.change(_IGNORED[content[0]], f"{where}: {short(content)}")
                continue
            line = _parse(where, content, report)
            if line is None:
                continue
            if line.id in seen:
                report.error(
                    "repeated_ids",
                    f"{where}: an earlier line of the document is {line.id}, too; expected "
                    "another id; left out, give each line its own.",
                )
                continue
            if line.id != "*":
                seen.add(line.id)
            lines.append(line)
    return lines


def _decoded(path: Path, report: Report) -> Iterator[tuple[str, str]]:
    """Place and content of each line that is not blank."""

    def decode_line(raw: bytes, where: str) -> tuple[str, str]:
        return where, decode(raw).removesuffix("\r")

    raw_lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    if raw_lines[-1]:
        report.change("unfinished_lines", f"{path}:{len(raw_lines)}: {short(raw_lines[-1])}")
    lines = ((f"{path}:{number}", raw) for number, raw in enumerate(raw_lines, 1))
    decoded = parse_each(lines, decode_line, report, reason="undecodable_lines")
    return ((where, content) for where, content in decoded if content.strip())


def _parse(where: str, content: str, report: Report) -> Line | None:
    id, _, body = content.partition("\t")
    parse, example = _KINDS.get(content[0], (None, "a line of T, E, R, M, A, N, * or #"))
    line = None if parse is None else parse(where, id, body)
    if line is None:
        report.error(
            "malformed_lines",
            f"{where}: {short(content)}; expected {example}; left out, correct the line.",
        )
    return line


def _entity(where: str, id: str, body: str) -> Entity | None:
    match = _ENTITY.fullmatch(body)
    if match is None:
        return None
    label, offsets, text = match.groups()
    bounds = [piece.split(" ") for piece in offsets.split(";")]
    return Entity(where, id, label, tuple((int(start), int(end)) for start, end in bounds), text)


def _event(where: str, id: str, body: str) -> Frame | None:
    (label, trigger), *arguments = _pairs(body.split()) or [("", "")]
    if not label or not trigger.startswith("T"):
        return None
    return Frame(where, id, label, number_roles([("trigger", trigger), *arguments]))


def _relation(where: str, id: str, body: str) -> Frame | None:
    label, *rest = body.split() or [""]
    arguments = [(BINARY_ROLES.get(role, role), argument) for role, argument in _pairs(rest)]
    if len(arguments) < 2:
        return None
    return Frame(where, id, label, number_roles(arguments))


def _modification(where: str, id: str, body: str) -> Modification | None:
    words = body.split()
    if len(words) not in (2, 3):
        return None
    return Modification(where, id, words[0], words[1], "".join(words[2:]))


def _equivalence(where: str, id: str, body: str) -> Equivalence | None:
    label, *ids = body.split() or [""]
    if id != "*" or len(ids) < 2:
        return None
    return Equivalence(where, label, ids)


_KINDS: dict[str, tuple[Callable[[str, str, str], Line | None], str]] = {
    "T": (_entity, "'T1\\tLABEL 0 4\\ttext'"),
    "E": (_event, "'E1\\tLABEL:T1 ROLE:T2', the trigger first"),
    "R": (_relation, "'R1\\tLABEL Arg1:T1 Arg2:T2'"),
    "M": (_modification, "'M1\\tLABEL E1'"),
    "A": (_modification, "'A1\\tLABEL E1' or 'A1\\tLABEL E1 VALUE'"),
    "*": (_equivalence, "'*\\tEquiv T1 T2'"),
}


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    """``role:id`` of each word; nothing if one of them is not like that."""
    pairs = [word.rpartition(":") for word in words]
    if not all(role and id for role, _, id in pairs):
        return []
    return [(role, id) for role, _, id in pairs]
