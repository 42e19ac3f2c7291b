"""Tables of ChemProt and DrugProt: abstracts, entities and relations in three files.

References: Krallinger et al. 2017, "Overview of the BioCreative VI chemical-protein
interaction Track"; Miranda et al. 2021, "Overview of DrugProt BioCreative VII track".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from spacy.language import Language
from spacy.tokens import Doc

from .documents import Align, Document, Link, Mention, Paths, list_paths, to_docs
from .lines import columns, parse_each, read_filled_lines
from .report import Report

Labels: TypeAlias = Literal["evaluated_groups", "groups", "types"]

# DrugProt's own files are called "abstracs"
_NAME = re.compile(
    r"(?P<corpus>.*?)_?(?P<part>abstract?s|entities|relations|gold_standard)(_gs)?\.tsv(\.gz)?"
)
_ENDS = ("*.tsv", "*.tsv.gz")


def read_chemprot(
    paths: Paths, nlp: Language, *, align: Align = "split", labels: Labels = "evaluated_groups"
) -> tuple[list[Doc], Report]:
    """Docs of all abstracts in the files, and the report of reading them.

    The text is the title, a space and the abstract; the chemical is the head, the gene or
    protein the tail. A pair has as many relations as it has different labels.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, or directories of them, called ``*_abstracts*.tsv``, ``*_entities*.tsv`` and
        ``*_relations*.tsv``; those whose names begin alike belong together. Without
        relations ``*_gold_standard*.tsv`` is read in their stead.
    nlp : Language
        Only its tokenizer is used.
    align : {"split", "expand", "contract", "drop"}
        What happens to mentions inside tokens; see `to_doc`.
    labels : {"evaluated_groups", "groups", "types"}
        ChemProt's labels: the groups (``CPR:3``) of the relations that the task evaluates,
        which is its gold standard; the groups of all relations; or their types
        (``ACTIVATOR``). DrugProt and gold standards have one label, which is kept.

    Raises
    ------
    ValueError
        If `labels` is unknown.
    OSError
        If a file cannot be opened.
    """
    if labels not in get_args(Labels):
        raise ValueError(f"labels is {labels!r}; choose one of {', '.join(get_args(Labels))}.")
    report = Report()
    documents = (
        document
        for files in _corpora(paths, report)
        for document in _documents(files, report, labels)
    )
    return to_docs(documents, nlp, align=align, report=report), report


def _corpora(paths: Paths, report: Report) -> Iterator[dict[str, Path]]:
    """The files of each corpus by part, those of one beginning in one directory."""
    corpora: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    for path in list_paths(paths):
        inside = sorted(file for end in _ENDS for file in path.glob(end)) if path.is_dir() else []
        for file in inside or [path]:
            match = _NAME.fullmatch(file.name)
            if match:
                part = match["part"].replace("abstracs", "abstracts")
                other = corpora[file.parent, match["corpus"]].setdefault(part, file)
                if other != file:
                    report.error(
                        "repeated_files",
                        f"{file}: {other.name} is already the {part} of this corpus; left out, "
                        "read it by itself.",
                    )
            elif inside:
                report.change("ignored_files", str(file))
            else:
                report.error(
                    "unknown_files",
                    f"{file}: no table by its name; expected *_abstracts*.tsv, *_entities*.tsv, "
                    "*_relations*.tsv or a directory of them; left out, rename it.",
                )
    for (directory, name), files in corpora.items():
        missing = [part for part in ("abstracts", "entities") if part not in files]
        if missing:
            report.error(
                "missing_files",
                f"{directory / name}: no {name}_{missing[0]}*.tsv; expected it beside "
                f"{', '.join(file.name for file in files.values())}, which were left out; add it.",
            )
        else:
            yield files


class _Entity(NamedTuple):
    where: str
    document: str
    id: str
    label: str
    start: int
    end: int
    text: str


class _Relation(NamedTuple):
    where: str
    document: str
    label: str | None  # None: not evaluated
    chemical: str
    gene: str


@dataclass(slots=True)
class _Abstract:
    id: str
    text: str
    where: str
    mentions: list[Mention] = field(default_factory=list)
    rows: dict[str, int | None] = field(default_factory=dict)  # None: left out as an error
    links: list[Link] = field(default_factory=list)

    def add_entity(self, entity: _Entity, report: Report) -> None:
        place = f"{entity.where}: {entity.id}"
        if entity.id in self.rows:
            report.error(
                "repeated_ids",
                f"{place}: another entity of {self.id} has this id; left out, give each its own.",
            )
            return
        found = self.text[entity.start : entity.end]
        is_right = found == entity.text and entity.start < entity.end
        self.rows[entity.id] = len(self.mentions) if is_right else None
        if is_right:
            self.mentions.append(Mention(entity.start, entity.end, entity.label, entity.id))
        else:
            report.error(
                "wrong_mentions",
                f"{place}: {entity.start} to {entity.end} of {self.id} is {found!r}; expected "
                f"{entity.text!r}; left out, correct the offsets (characters of title, tab and "
                "abstract, exclusive end).",
            )

    def add_relation(self, relation: _Relation, label: str, report: Report) -> None:
        ids = relation.chemical, relation.gene
        place = f"{relation.where}: {label} of {' and '.join(ids)}"
        unknown = [id for id in ids if id not in self.rows]
        if unknown:
            report.error(
                "unknown_entities",
                f"{place}: {self.id} has no entity {unknown[0]}; left out, correct the reference.",
            )
            return
        known = [row for row in (self.rows[id] for id in ids) if row is not None]
        if len(known) < len(ids):
            report.change("lost_relations", place)
            return
        link = Link(label, dict(zip(("head", "tail"), known, strict=True)))
        if link in self.links:
            report.change("repeated_relations", place)
        else:
            self.links.append(link)


def _documents(files: dict[str, Path], report: Report, labels: Labels) -> Iterator[Document]:
    """Documents of one corpus."""
    abstracts: dict[str, _Abstract] = {}
    for abstract in parse_each(
        read_filled_lines(files["abstracts"], report), _parse_abstract, report
    ):
        if abstract.id in abstracts:
            report.error(
                "repeated_ids",
                f"{abstract.where}: {abstract.id} is already in {abstracts[abstract.id].where}; "
                "left out, give each abstract its own id.",
            )
        else:
            abstracts[abstract.id] = abstract

    def known(row: _Entity | _Relation) -> bool:
        if row.document not in abstracts:
            report.error(
                "unknown_documents",
                f"{row.where}: no abstract {row.document} in {files['abstracts']}; left out, "
                "add it or correct the id.",
            )
        return row.document in abstracts

    for entity in parse_each(read_filled_lines(files["entities"], report), _parse_entity, report):
        if known(entity):
            abstracts[entity.document].add_entity(entity, report)
    relations = files.get("relations") or files.get("gold_standard")
    if relations is None:
        report.change("missing_relations", str(files["abstracts"]))
    else:
        parse = partial(_parse_relation, labels=labels)
        for relation in parse_each(read_filled_lines(relations, report), parse, report):
            if relation.label is None:
                report.change("not_evaluated_relations", relation.where)
            elif known(relation):
                abstracts[relation.document].add_relation(relation, relation.label, report)
    for abstract in abstracts.values():
        yield Document(
            abstract.id, abstract.text, abstract.mentions, abstract.links, where=abstract.where
        )


def _parse_abstract(line: bytes, where: str) -> _Abstract:
    id, title, abstract = columns(line, {3}, "3: document id, title, abstract")
    return _Abstract(id, f"{title} {abstract}", where)


def _parse_entity(line: bytes, where: str) -> _Entity:
    document, id, label, start, end, text = columns(
        line, {6}, "6: document id, entity id, type, start, end, text"
    )
    if not (re.fullmatch("[0-9]{1,9}", start) and re.fullmatch("[0-9]{1,9}", end)):
        raise ValueError(f"start is {start!r} and end {end!r}; expected whole numbers")
    return _Entity(where, document, id, label, int(start), int(end), text)


def _parse_relation(line: bytes, where: str, labels: Labels) -> _Relation:
    names = "4: document id, label, Arg1, Arg2; or 6: document id, group, flag, type, Arg1, Arg2"
    document, label, *judged, first, second = columns(line, {4, 6}, names)
    if not (first.startswith("Arg1:") and second.startswith("Arg2:")):
        raise ValueError(f"arguments are {first!r} and {second!r}; expected Arg1:… and Arg2:…")
    if judged:
        flag, kind = judged
        if flag.strip() not in ("Y", "N"):
            raise ValueError(f"the flag of evaluation is {flag!r}; expected Y or N")
        label = kind if labels == "types" else label
        if labels == "evaluated_groups" and flag.strip() == "N":
            return _Relation(where, document, None, first[5:], second[5:])
    if not label:
        raise ValueError("the label is empty; expected the name of a relation")
    return _Relation(where, document, label, first[5:], second[5:])
