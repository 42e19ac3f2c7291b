"""The table of public corpora against their files, and official scores."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import public
import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from spacy_klsh import Relation, register_extensions
from spacy_klsh.pipeline.scoring import score_relations

# documents of each part, and relations of training and test as the component is trained on them
SIZES = {
    "chemprot": ({"train": 1632, "test": 800}, 4157 + 2416, 3458),
    "chemprot_dev": ({"train": 1020, "test": 612}, 4157, 2416),
    "semeval": ({"train": 8000, "test": 2717}, 8000 - 1410, 2717 - 454),
    "conll04": ({"train": 1153, "test": 288}, 1283 + 343, 422),
    "ddi": ({"train": 714, "test": 191}, 4021, 979),
    "rel_tutorial": ({"train": 102, "dev": 27, "test": 20}, 267, None),
    "bionlp": ({"train": 1065, "test": 249}, 8766, 2317),
}


@pytest.fixture(scope="module")
def read(corpus, nlp):
    """Parts and reports of a corpus by its name, each read once."""
    return cache(lambda name: public.CORPORA[name].splits(corpus("."), nlp))


@pytest.mark.parametrize("name", sorted(public.CORPORA))
def test_a_public_corpus_has_its_documents_and_relations(name, read):
    splits, reports = read(name)
    n_docs, n_train, n_test = SIZES[name]
    assert {part: len(docs) for part, docs in splits.items()} == n_docs
    found = {part: sum(len(doc._.relations) for doc in docs) for part, docs in splits.items()}
    if n_test is None:
        assert sum(found.values()) == n_train
    else:
        assert found == {"train": n_train, "test": n_test}
    assert not any(report.changes["lost_mentions"] for report in reports.values())
    if public.CORPORA[name].archives:  # places are called as in there
        places = [p for r in reports.values() for found in r.examples.values() for p in found]
        assert places and not any(Path(place).is_absolute() for place in places)


def test_no_text_of_the_bionlp_test_set_is_in_training(read):
    splits, _ = read("bionlp")
    train, test = (
        {" ".join(doc.text.split()) for doc in splits[part]} for part in ("train", "test")
    )
    assert train.isdisjoint(test) and len(train) == len(splits["train"])


def test_the_tutorial_is_split_by_article(read):
    splits, _ = read("rel_tutorial")
    labels = Counter(r.label for docs in splits.values() for doc in docs for r in doc._.relations)
    assert labels == {"Regulates": 107 + 49 + 42, "Binds": 35, "No-rel": 34}
    ends = {"train": set("01256789"), "dev": {"4"}, "test": {"3"}}
    for part, docs in splits.items():
        articles = {doc.user_data["id"].replace(".txt", "").split("-")[1] for doc in docs}
        assert {article[-1] for article in articles} <= ends[part]


def answers(path):
    """Relation with its direction of each id: ("Cause-Effect", "e1,e2") or ("Other", "")."""
    lines = path.read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line.strip())
    pattern = re.compile(r"([\w-]+)(?:\((e\d,e\d)\))?")
    return {id: pattern.match(label.strip()).groups(default="") for id, label in rows}


def annotated(nlp, answer):
    doc = nlp("one two")
    spans = {"e1": Span(doc, 0, 1, label="N"), "e2": Span(doc, 1, 2, label="N")}
    label, order = answer
    doc._.relations = (
        [Relation(label, **dict(zip(("head", "tail"), map(spans.get, order.split(",")))))]  # noqa: B905
        if order
        else []
    )
    return doc


@pytest.mark.parametrize("number", [1, 3, 5])
def test_the_semeval_score_is_that_of_the_official_scorer(number, corpus):
    register_extensions()
    folder, nlp = corpus("semeval2010-task8/SemEval2010_task8_scorer-v1.2"), spacy.blank("en")
    gold = answers(folder / f"answer_key{number}.txt")
    proposed = answers(folder / f"proposed_answer{number}.txt")
    examples = [
        Example(annotated(nlp, proposed.get(id, ("Other", ""))), annotated(nlp, answer))
        for id, answer in gold.items()
    ]
    scores = score_relations(examples)
    report = (folder / f"result_scores{number}.txt").read_text("utf-8")
    official = report[
        report.rindex("<<< (9+1)-WAY EVALUATION TAKING DIRECTIONALITY INTO ACCOUNT") :
    ]
    rows = re.findall(r"^ +([A-Z][\w-]+) :.*F1 = +([\d.]+)%", official, re.M)
    per_type = scores["rel_per_type"]
    assert {label: round(100 * per_type[label]["f"], 2) for label, _ in rows} == {
        label: float(f1) for label, f1 in rows
    }
    macro = float(re.findall(r"macro-averaged F1 = ([\d.]+)%", official)[-1])
    if set(per_type) == {label for label, _ in rows}:  # the scorer leaves out what is never gold
        assert round(100 * scores[public.CORPORA["semeval"].score], 2) == macro
    assert sum(float(f1) for _, f1 in rows) / len(rows) == pytest.approx(macro, abs=0.01)
    assert number == 3 or len(per_type) == len(rows)
