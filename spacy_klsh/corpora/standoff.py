"""Standoff annotations of brat (``.ann``) and the BioNLP shared tasks (``.a1``, ``.a2``).

A text and what is said about it are files of one name beside each other. Offsets count
characters of the text as it is: CRLF is two, and a byte order mark is one and stays.
References: Kim et al. 2009, BioNLP Shared Task; Stenetorp et al. 2012, brat.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from reprlib import repr as short
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs, visible_files
from .pieces import agrees, shift
from .report import Report
from .standoff_lines import Entity, Equivalence, Frame, Line, Modification, read_annotations


def read_brat(paths: Paths, nlp: Language, *, align: Align = "split") -> tuple[list[Doc], Report]:
    """Docs of all texts with an ``.ann`` file, and the report of reading them.

    Parameters
    ----------
    paths : path or iterable of paths
        ``.txt`` or ``.ann`` files, one of the two is enough, and folders, which are searched
        with all folders in them. Other files in folders, and hidden ones, are ignored.
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.

    Notes
    -----
    Entities and triggers become mentions, relations and events become relations. The roles
    ``Arg1`` and ``Arg2`` of a relation are called ``head`` and ``tail``. An event has the role
    ``trigger`` and those of its arguments; a role that comes twice gets a number (``Theme``,
    ``Theme2``). An argument that is itself an event stands for that event's trigger, so events
    that differ only in which event of one trigger they name become equal relations. Events
    that are their own arguments are errors.

    ``doc.user_data`` has ``relation_ids``, one for each of ``doc._.relations``;
    ``modifications``, dicts of `id`, `label`, `target` (the id of a relation or of a span in
    ``doc.spans["entities"]``) and `value`; ``equivalences``, dicts of `label` and `ids`; each
    only if there are any. Notes and normalizations are counted and ignored.

    Raises
    ------
    OSError
        If a file cannot be opened. What is wrong in a file, or a file without its partner, is
        an error in the report instead; everything else is read.
    """
    return _read(paths, nlp, (".ann",), (".ann",), align)


def read_bionlp(
    paths: Paths, nlp: Language, *, align: Align = "split", gold: bool = True
) -> tuple[list[Doc], Report]:
    """Docs of all texts with ``.a1`` and ``.a2`` files, and the report of reading them.

    Parameters
    ----------
    paths, nlp, align
        As in `read_brat`, whose notes hold here, too.
    gold : bool
        False: ``.a2`` files, which test sets do not have, are not read; then
        ``doc._.relations_data`` is None, since nobody annotated any.

    Raises
    ------
    OSError
        If a file cannot be opened.
    """
    return _read(paths, nlp, (".a1", ".a2"), (".a1", ".a2") if gold else (".a1",), align)


def _read(
    paths: Paths, nlp: Language, known: Sequence[str], needed: Sequence[str], align: Align
) -> tuple[list[Doc], Report]:
    report = Report()

    def documents() -> Iterator[Document]:
        for path in _texts(paths, known, report):
            missing = [end for end in (".txt", *needed) if not path.with_suffix(end).is_file()]
            if missing:
                report.error(
                    "missing_files",
                    f"{path}: missing {' and '.join(missing)}; expected files of the same name; "
                    "add them, the document was left out.",
                )
                continue
            text = _decode(path, report)
            if text is not None:
                lines = read_annotations(map(path.with_suffix, needed), report)
                document = _document(path, text, lines, report)
                yield document if needed == known else document._replace(relations=None)

    return to_docs(documents(), nlp, align=align, report=report), report


def _texts(paths: Paths, known: Sequence[str], report: Report) -> dict[Path, None]:
    """The ``.txt`` path of every document, in order, whether it exists or not."""
    found: dict[Path, None] = {}
    for path in list_paths(paths):
        path.stat()  # a path that is not there is an OSError
        expected = f"expected .txt and {' and '.join(known)} files"
        files = visible_files(path) if path.is_dir() else [path]
        fitting = [file.with_suffix(".txt") for file in files if file.suffix in (".txt", *known)]
        if not fitting:
            report.error("no_documents", f"{path}: {expected}; is it another format?")
        found.update(dict.fromkeys(fitting))
    return found


def _decode(path: Path, report: Report) -> str | None:
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        report.error(
            "undecodable_texts",
            f"{path}:{line}: byte {data[error.start]:#04x} at {error.start}; expected UTF-8; save "
            "the text as UTF-8, the document was left out.",
        )
        return None


def _document(path: Path, text: str, lines: Sequence[Line], report: Report) -> Document:
    mentions: list[Mention] = []
    rows: dict[str, int | None] = {}  # of what an argument may name; None: left out
    for line in lines:
        if isinstance(line, Entity):
            mention = _mention(line, text, report)
            rows[line.id] = None if mention is None else len(mentions)
            mentions += [mention] if mention else []
    frames = [line for line in lines if isinstance(line, Frame)]
    for frame in frames:
        if frame.is_event:
            rows[frame.id] = rows.get(frame.arguments["trigger"])
    links = list(_links(frames, rows, report))
    known = rows.keys() | {frame.id for frame in frames}
    kept = {mention.id for mention in mentions} | {link.id for link in links}
    extras = _extras(lines, known, kept, report)
    return Document(path.stem, text, mentions, links, where=str(path), extras=extras)


def _mention(entity: Entity, text: str, report: Report) -> Mention | None:
    mention = Mention.covering(entity.pieces, entity.label, entity.id)
    covered = _flat(text[mention.start : mention.end])
    if not agrees(covered, shift(entity.pieces, -mention.start), _flat(entity.text)):
        found = " ".join(text[start:end] for start, end in entity.pieces)
        report.error(
            "wrong_mentions",
            f"{entity.where}: {entity.id} is {short(found)} at its offsets in a text of "
            f"{len(text)} characters; expected {short(entity.text)}; left out, correct the "
            "offsets.",
        )
        return None
    return mention


def _flat(text: str) -> str:
    """Where a text has a line break, an annotation has a space."""
    return text.translate({ord("\r"): " ", ord("\n"): " "})


def _links(
    frames: Sequence[Frame], rows: Mapping[str, int | None], report: Report
) -> Iterator[Link]:
    """Relations of all frames whose arguments are there."""
    kept = {id: row for id, row in rows.items() if row is not None}
    circular = _circular(frames, report)
    for frame in frames:
        if frame.id not in circular and _names_kept(frame, rows, kept, report):
            arguments = {role: kept[id] for role, id in frame.arguments.items()}
            yield Link(frame.label, arguments, id=frame.id)


def _circular(frames: Sequence[Frame], report: Report) -> set[str]:
    """Ids of events that are their own arguments, if only through other events."""
    events = {frame.id: frame for frame in frames if frame.is_event}
    references = {
        id: [argument for argument in event.arguments.values() if argument in events]
        for id, event in events.items()
    }
    circular: set[str] = set()
    while True:
        try:
            TopologicalSorter(references).prepare()
        except CycleError as error:
            ring = error.args[1][::-1]
            report.error(
                "circular_events",
                f"{events[ring[0]].where}: {' -> '.join(ring)}; expected events that end in "
                "entities; left out, correct one of the references.",
            )
            circular.update(ring)
            references.update((id, []) for id in ring)
        else:
            return circular


def _extras(
    lines: Sequence[Line], known: Collection[str], kept: Collection[str], report: Report
) -> dict[str, list[dict[str, Any]]]:
    """Modifications and equivalences as plain data."""
    extras: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if isinstance(line, Modification | Equivalence) and _names_kept(line, known, kept, report):
            report.change(line.kind, f"{line.where}: {line.id} {line.label}")
            plain = asdict(line)
            del plain["where"]
            extras.setdefault(line.kind, []).append(plain)
    return extras


def _names_kept(
    line: Frame | Modification | Equivalence,
    known: Collection[str],
    kept: Collection[str],
    report: Report,
) -> bool:
    """False, and reported, if the line names what is not there or was left out."""
    unknown = [id for id in line.ids if id not in known]
    if unknown:
        report.error(
            "unknown_ids",
            f"{line.where}: {line.id} {line.label} names {unknown[0]!r}; expected an entity or "
            "event of the document; left out, correct the reference.",
        )
    elif not all(id in kept for id in line.ids):
        report.change(f"lost_{line.kind}", f"{line.where}: {line.id} {line.label}")
    else:
        return True
    return False
