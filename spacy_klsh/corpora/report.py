"""What a corpus reader read, what it had to change and what was wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

N_PRINTED = 5


@dataclass(slots=True)
class Report:
    """Counts of what was read, lost, changed and wrong, with the places.

    Printed, it shows the first few places of each reason.

    Parameters
    ----------
    documents, sentences : int
    mentions, relations : Counter
        By label, as read: before anything is lost on the way to tokens.
    changes : Counter
        By reason: what was moved, split or lost because of the reader's options.
    errors : Counter
        By reason: what the files say but cannot mean; it was left out.
    examples : dict of reason to list of str
        The places of each reason.

    Examples
    --------
    >>> report = Report(documents=1)
    >>> report.change("moved_mentions", "a.jsonl:1: 'Ada'")
    >>> report.error("bad_lines", "a.jsonl:2: text is missing; add it.")
    >>> str(report).splitlines()[-2:]
    ['ERROR bad lines: 1', '  a.jsonl:2: text is missing; add it.']
    >>> report.ok
    False
    """

    documents: int = 0
    sentences: int = 0
    mentions: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if nothing was wrong; what was merely changed is no error."""
        return not self.errors

    def change(self, reason: str, example: str) -> None:
        """Count something that was moved, split or lost."""
        self.changes[reason] += 1
        self.examples.setdefault(reason, []).append(example)

    def error(self, reason: str, example: str) -> None:
        """Count something wrong in a file."""
        self.errors[reason] += 1
        self.examples.setdefault(reason, []).append(example)

    def __str__(self) -> str:
        lines = [
            f"{self.documents} documents, {self.sentences} sentences, "
            f"{self.mentions.total()} mentions, {self.relations.total()} relations"
        ]
        for name, counts in (("mentions", self.mentions), ("relations", self.relations)):
            if counts:
                by_label = ", ".join(
                    f"{label or '(none)'} {n}" for label, n in counts.most_common()
                )
                lines.append(f"{name}: {by_label}")
        for prefix, reasons in (("", self.changes), ("ERROR ", self.errors)):
            for reason, n in reasons.most_common():
                examples = self.examples[reason][:N_PRINTED]
                lines.append(f"{prefix}{reason.replace('_', ' ')}: {n}")
                lines += [f"  {example}" for example in examples]
                if n > len(examples):
                    lines.append(f"  and {n - len(examples)} more")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, lists and numbers, for JSON."""
        return {
            "ok": self.ok,
            "documents": self.documents,
            "sentences": self.sentences,
            "mentions": dict(self.mentions),
            "relations": dict(self.relations),
            "changes": dict(self.changes),
            "errors": dict(self.errors),
            "examples": {reason: list(places) for reason, places in self.examples.items()},
        }
