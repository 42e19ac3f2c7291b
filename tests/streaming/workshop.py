"""A job without a model: for tests of who does the work, importable by their processes."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from spacy_klsh.streaming.engine import Annotated
from spacy_klsh.streaming.parts import write_part
from spacy_klsh.streaming.sources import Options, Per
from spacy_klsh.streaming.tasks import tasks
from spacy_klsh.streaming.texts import Reject


@dataclass(frozen=True)
class FakeJob:
    """Upper case instead of relations. Some lines do harm: once, if `marks` is a folder."""

    marks: str | None = None

    def write(self, task, file):
        write_part(file, map(self._result, task.piece.read()))

    def _result(self, text):
        if isinstance(text, Reject):
            return text
        if "die" in text.text and self._first(text.id):
            os.kill(os.getpid(), 9)
        if "slow" in text.text:
            time.sleep(0.2)
        if "error" in text.text:
            raise OSError(28, "No space left on device")
        if "strange" in text.text:
            raise ZeroDivisionError("strange")
        return Annotated({"id": text.id, "text": text.text.upper(), "relations": []}, 1, {})

    def _first(self, name):
        if self.marks is None:
            return True
        mark = Path(self.marks) / name.replace("/", "_")
        existed = mark.exists()
        mark.touch()
        return not existed


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines))
    return list(tasks([str(path)], Options(per=Per.line), 100))


def merged(engine, job, found, folder):
    """Texts of all records, in the order in which the parts come."""
    records = []
    for task, part in engine(job, found, folder):
        assert part.path.parent == folder
        content = part.path.read_bytes()[: part.records]
        records.append((task.number, content))
    assert [number for number, _ in records] == [task.number for task in found]
    return b"".join(content for _, content in records)
