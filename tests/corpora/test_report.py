import json
from collections import Counter

from spacy_klsh.corpora.report import N_PRINTED, Report


def test_changes_are_no_errors():
    report = Report()
    report.change("moved_mentions", "a.jsonl:1: 'Ada'")
    assert report.ok
    report.error("bad_lines", "a.jsonl:2: text is missing")
    assert not report.ok


def test_first_examples_are_kept_and_all_are_counted():
    report = Report()
    for line in range(N_PRINTED + 3):
        report.error("bad_lines", f"a.jsonl:{line}")
    assert report.errors["bad_lines"] == N_PRINTED + 3
    assert report.examples["bad_lines"] == [f"a.jsonl:{line}" for line in range(N_PRINTED + 3)]
    assert "ERROR bad lines: 8\n" in str(report)
    assert str(report).endswith("and 3 more")


def test_people_and_json_see_the_same():
    report = Report(2, 3, Counter(ORG=2, PERSON=1), Counter(FOUNDED=1))
    report.change("lost_mentions", "a: 'Lumen'")
    assert str(report).splitlines() == [
        "2 documents, 3 sentences, 3 mentions, 1 relations",
        "mentions: ORG 2, PERSON 1",
        "relations: FOUNDED 1",
        "lost mentions: 1",
        "  a: 'Lumen'",
    ]
    assert json.loads(json.dumps(report.to_dict())) == {
        "ok": True,
        "documents": 2,
        "sentences": 3,
        "mentions": {"ORG": 2, "PERSON": 1},
        "relations": {"FOUNDED": 1},
        "changes": {"lost_mentions": 1},
        "errors": {},
        "examples": {"lost_mentions": ["a: 'Lumen'"]},
    }
