"""The experiment with hierarchies: its counts, and what it takes from the corpora."""

import gzip
import json
from collections import Counter

import hierarchy
import pytest

COUNTS = {
    "right": Counter(A=2, B=1),
    "found": Counter(A=4, B=1, C=3),
    "gold": Counter(A=2, B=3, D=1),
}


def test_f1_of_labels_together_and_alone():
    assert hierarchy.f1(COUNTS, ["A", "B"]) == pytest.approx(2 * 3 / (5 + 5))
    assert hierarchy.f1(COUNTS, ["D"]) == 0
    assert hierarchy.f1(COUNTS, ["C"]) is None and hierarchy.f1(COUNTS, []) is None
    assert hierarchy.macro_f1(COUNTS, ["A", "B", "C", "D"]) == pytest.approx((4 / 6 + 0.5 + 0) / 3)
    assert hierarchy.macro_f1(COUNTS, ["C"]) is None


def test_bins_hold_every_size_once():
    for size in (1, 99, 100, 500, 501, 10_000):
        assert sum(least <= size <= most for least, most in hierarchy.BINS.values()) == 1


def test_every_group_has_types_of_its_own():
    names = [name for types in hierarchy.TYPES.values() for name in types]
    assert len(set(names)) == len(names)
    above = hierarchy.TASKS["chemprot, types"].above(None)
    assert above["AGONIST"] == "CPR:5" and above["CPR:5"] == above["CPR:3"] == "up"
    assert hierarchy.TASKS["chemprot, 5 groups"].above(None) == hierarchy.SIGNS


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("bioinfer, types", {"Change": "Causal", "BIND": "Change", "IS": "Top"}),
        ("bioinfer, level 2", {"Change": "Causal", "IS": "Top"}),
    ],
)
def test_the_ontology_comes_from_the_paths_of_relations(task, expected, tmp_path):
    paths = [["Causal", "Change", "BIND"], ["Top", "IS"], ["LONE"]]
    line = json.dumps({"relations": [{"path": path} for path in paths]})
    folder = tmp_path / "bioinfer-typed"
    folder.mkdir()
    with gzip.open(folder / "derived-bioinfer-typed.jsonl.gz", "wt") as file:
        file.write(f"{line}\n")
    assert hierarchy.TASKS[task].above(tmp_path) == expected
