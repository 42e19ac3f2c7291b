"""Texts, parses and entities that nobody has in mind."""

import json
import tracemalloc

import pytest
import spacy
from pipeline import sentences
from pipeline.sentences import PATTERNS, SMALL, answers, bare, corpus, examples, parsed, places
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_klsh import Relation
from spacy_klsh.corpora.jsonl import read_jsonl, to_json
from spacy_klsh.pipeline.relations import read_records

FOUNDED = PATTERNS[0][0]
NEAR = {"@misc": "spacy-klsh.entity_pairs.v1", "max_sentences": 2}
WORDS = {
    "byte order mark": "\ufeff",
    "zero width space": "\u200b",
    "NUL": "a\0b",
    "dotted capital I": "İİ",
    "joined emoji": "👩\u200d👩\u200d👧",
    "combining accents": "e\u0301te\u0301",
    "right to left": "\u202eشركة",
    "beyond the first plane": "\U0001d518\U0001d52b",
}
words = pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)


@words
def test_such_a_word_alone_is_no_relation(trained, word):
    for text in (word, word * 3, f"{word} {word}\n{word}"):
        doc = trained(text)
        assert doc.text == text
        assert doc._.relations_data == [] and doc._.relations_skipped == {}


@words
def test_relations_between_such_words_keep_their_places_everywhere(trained, word, tmp_path):
    doc = trained(parsed(trained.vocab, FOUNDED, person=f"x{word}", firm=word))
    (relation,) = doc._.relations
    assert (relation.head.text, relation.tail.text) == (f"x{word}", word)
    (stored,) = doc._.relations_data
    offsets = [(a["start"], a["end"]) for a in stored["arguments"]]
    assert [doc.text[a:b] for a, b in offsets] == [f"x{word}", word]
    content = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (found,) = DocBin().from_bytes(content).get_docs(spacy.blank("xx").vocab)
    assert places(found._.relations) == places(doc._.relations)
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(to_json(doc)) + "\n")
    (found,), report = read_jsonl(path, trained)
    assert report.ok and found.text == doc.text
    assert [(r.head.text, r.tail.text) for r in found._.relations] == [(f"x{word}", word)]


@words
def test_such_a_word_on_the_path_is_one_as_any_other(trained, word, monkeypatch):
    component = trained.get_pipe("klsh_relations")
    monkeypatch.setattr(component, "thresholds", dict.fromkeys(component.labels, 0.0))
    strange, unknown = (
        trained(parsed(trained.vocab, FOUNDED.replace("founded", verb)))
        for verb in (word, "zorkified")
    )
    assert strange[1].text == word
    found, expected = ([(r.label, r.score) for r in doc._.relations] for doc in (strange, unknown))
    assert found == expected != []


def without_deps(vocab):
    doc = Doc(vocab, words=["Ada", "founded", "Lumen", "."] * 2)
    doc[4].is_sent_start = True
    doc.ents = [Span(doc, i, i + 1, label="PERSON" if i % 4 == 0 else "ORG") for i in (0, 2, 4, 6)]
    return doc


def test_sentences_set_by_hand_do_not_pass_for_a_parse(trained):
    doc = without_deps(trained.vocab)
    assert [len(sent) for sent in doc.sents] == [4, 4] and not doc.has_annotation("DEP")
    with pytest.raises(ValueError, match="4 candidates has no dependency parse"):
        trained(doc)
    doc.ents = doc.ents[::3]
    assert answers([trained(doc)]) == [([], {"cross_sentence": 1})]


def test_an_entity_across_a_sentence_boundary_is_no_reason_to_fail(trained):
    doc = parsed(trained.vocab, FOUNDED, FOUNDED)
    person, _, _, firm = doc.ents
    doc.ents = [person, Span(doc, 2, 5, label="ORG"), firm]
    assert answers([trained(doc)]) == [([], {"cross_sentence": 3})]


@pytest.fixture(scope="module", params=["ordered", "label", "none"])
def two_sentences(request):
    """A component that sees pairs in two sentences; nearly all of them are related in training."""
    nlp = sentences.build(candidates=NEAR, direction=request.param)
    docs = corpus(nlp.vocab)
    for doc in docs:
        first, second = doc.sents
        across = [Relation("NEXT", head=a, tail=b) for a in first.ents for b in second.ents]
        doc._.relations = [*doc._.relations, *across]
    return sentences.train(nlp, docs), docs


def test_pairs_in_two_sentences_have_no_path_and_are_counted_instead_of_guessed(two_sentences):
    nlp, docs = two_sentences
    doc = nlp(parsed(nlp.vocab, FOUNDED, PATTERNS[3][0]))
    assert [r.label for r in doc._.relations] == ["FOUNDED"]
    assert doc._.relations_skipped == {"no_path": 4}
    assert nlp.get_pipe("klsh_relations").labels == ("FOUNDED", "NEXT", "WORKS_FOR")
    scores = nlp.evaluate(examples(docs))
    n_across = sum(r.label == "NEXT" for doc in docs for r in doc._.relations)
    n_gold = sum(len(doc._.relations) for doc in docs)
    assert scores["rel_candidate_recall"] == pytest.approx(1 - n_across / n_gold)


def test_what_training_cannot_reach_is_reported(two_sentences):
    nlp, docs = two_sentences
    report = nlp.get_pipe("klsh_relations").report
    assert report["no_path"] >= 4 * len(docs) == report["unreachable"]


def test_relations_across_sentences_alone_teach_nothing():
    nlp = sentences.build(candidates=NEAR)
    docs = corpus(nlp.vocab, 3)
    for doc in docs:
        doc._.relations = [Relation("NEXT", head=doc.ents[0], tail=doc.ents[2])]
    with pytest.raises(ValueError, match=r"0 of them related \(left out: .*'no_path': 12"):
        sentences.train(nlp, docs)


def test_the_same_name_twice_in_a_sentence_is_two_entities(trained):
    pattern = "P:nsubj:1 founded:ROOT:1 O:dobj:1 and:cc:2 P:conj:2 .:punct:1"
    doc = trained(parsed(trained.vocab, pattern, person="Ada", firm="Ada"))
    assert [span.text for span in doc.ents] == ["Ada"] * 3
    starts = {(r.head.start, r.tail.start) for r in doc._.relations}
    assert (0, 2) in starts and len(starts) == len(doc._.relations)
    candidates = trained.get_pipe("klsh_relations").candidates(doc)
    assert len({tuple(row) for row in candidates.spans.tolist()}) == len(candidates) == 6


def capitals(vocab, shape, n=400):
    """`n` words without punctuation, each of them an entity."""
    heads = {"flat": [0] * n, "chain": [0, *range(n - 1)]}[shape]
    labels = ["compound"] * n
    labels[0] = "ROOT"
    doc = Doc(vocab, words=[f"Word{i}" for i in range(n)], heads=heads, deps=labels)
    doc.ents = [Span(doc, i, i + 1, label=("PERSON", "ORG")[i % 2]) for i in range(n)]
    return doc


@pytest.mark.parametrize(("shape", "megabytes"), [("flat", 25), ("chain", 150)])
def test_four_hundred_capitalised_words_fit_in_memory_and_the_cap_is_counted(
    trained, component, shape, megabytes
):
    doc = capitals(trained.vocab, shape)
    capped = sentences.build(candidates={**NEAR, "max_candidates": 500})
    capped.get_pipe("klsh_relations").from_bytes(component.to_bytes())
    tracemalloc.start()
    capped(doc)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < megabytes * 2**20
    assert doc._.relations_skipped == {"max_candidates": 400 * 399 // 2 - 250}


def missed(doc):
    doc.ents = doc.ents[1:]


def moved(doc):
    doc.ents = [Span(doc, 0, 2, label="PERSON"), *doc.ents[1:]]


def renamed(doc):
    doc.ents = [Span(doc, s.start, s.end, label="UNHEARD") for s in doc.ents]


def invented(doc):
    doc.ents = [*doc.ents, Span(doc, 3, 4, label="ORG")]


@pytest.mark.parametrize(
    ("change", "recall"), [(missed, 0), (moved, 0), (renamed, 0), (invented, 1)]
)
def test_entities_other_than_gold_are_scored_as_what_they_are(trained, change, recall):
    gold = sentences.annotated(trained.vocab, 0)
    doc = bare(gold)
    change(doc)
    doc = trained(doc)
    scores = trained.get_pipe("klsh_relations").score([Example(doc, gold)])
    assert scores["rel_candidate_recall"] == scores["rel_micro_r"] == recall
    assert read_records(gold) != [] and read_records(doc) is not None


def test_unparsed_docs_reach_nothing_but_can_be_scored(component, trained):
    gold = sentences.annotated(trained.vocab, 0)
    doc = Doc(trained.vocab, words=[token.text for token in gold])
    doc.ents = [Span(doc, s.start, s.end, label=s.label_) for s in gold.ents]
    scores = component.score([Example(doc, gold)])
    assert scores["rel_candidate_recall"] == scores["rel_micro_r"] == 0


def test_a_label_unseen_in_training_counts_as_missed(trained):
    gold = sentences.annotated(trained.vocab, 0, 2)
    first, second = gold._.relations
    gold._.relations = [Relation("UNSEEN", head=first.head, tail=first.tail), second]
    scores = trained.evaluate([Example(bare(gold), gold)])
    assert scores["rel_per_type"]["UNSEEN"] == {"p": 0, "r": 0, "f": 0}
    assert scores["rel_micro_r"] == 0.5 and scores["rel_candidate_recall"] == 1


GERMAN = (  # word:dep:governor as in a German parse; person, firm and label
    ("Ada:sb:1 gründete:ROOT:1 Lumen:oa:1 .:punct:1", (0, 2), "GRÜNDETE"),
    ("Bo:sb:1 mied:ROOT:1 Orbit:oa:1 .:punct:1", (0, 2), None),
    ("Quill:sb:1 wurde:ROOT:1 von:sbp:4 Cy:nk:2 gegründet:oc:1 .:punct:1", (3, 0), "GRÜNDETE"),
    ("Dee:sb:1 arbeitet:ROOT:1 für:mo:1 Tern:nk:2 .:punct:1", (0, 3), "ARBEITET_FÜR"),
    ("Eli:sb:1 schläft:ROOT:1 neben:mo:1 Quill:nk:2 .:punct:1", (0, 3), None),
)


def german(vocab, i):
    """Sentence `i` of `GERMAN` with its entities and its relation, if it has one."""
    tokens = [token.split(":") for token in GERMAN[i][0].split()]
    words, deps, heads = zip(*tokens, strict=True)
    doc = Doc(vocab, words=words, deps=deps, heads=[int(head) for head in heads])
    _, (person, firm), label = GERMAN[i]
    head, tail = (
        Span(doc, place, place + 1, label=name)
        for place, name in ((person, "PER"), (firm, "ÄMTER"))
    )
    doc.ents = [head, tail]
    doc._.relations = [Relation(label, head=head, tail=tail)] if label else []
    return doc


def test_german_docs_with_german_labels(tmp_path):
    nlp = spacy.blank("de")
    nlp.add_pipe("klsh_relations", config={"hashing": SMALL["hashing"]})
    docs = [german(nlp.vocab, i % len(GERMAN)) for i in range(15)]
    sentences.train(nlp, docs)
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        found = [pipeline(bare(german(pipeline.vocab, i))) for i in range(len(GERMAN))]
        for doc, gold in zip(found, docs, strict=False):
            assert [(r.label, r.head.text, r.tail.text) for r in doc._.relations] == [
                (r.label, r.head.text, r.tail.text) for r in gold._.relations
            ]
