"""TSV: one triple a line, as spreadsheets and pandas read it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from .beside import beside
from .records import Record
from .triples import triples

COLUMNS = (
    *("document", "head", "label", "tail", "score", "head_label", "tail_label"),
    *("head_start", "head_end", "tail_start", "tail_end", "head_role", "tail_role", "relation"),
)


def write_tsv(records: Iterable[Record], output: Path) -> None:
    """Write the triples of all records below a header.

    Offsets count characters of the document, `relation` the relations of a document from 0. A
    cell with a quotation mark in it is quoted.
    """
    with beside(output) as path, path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        quoting = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(COLUMNS)
        for record in records:
            for number, label, score, head, tail in triples(record):
                row = (
                    *(record["id"], head.text, label, tail.text, score, head.label, tail.label),
                    *(head.start, head.end, tail.start, tail.end, head.role, tail.role, number),
                )
                # before Python 3.13 nothing else quotes a CR
                has_cr = any("\r" in cell for cell in row if isinstance(cell, str))
                (quoting if has_cr else writer).writerow(row)
