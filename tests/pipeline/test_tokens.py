import json
import pickle

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from pipeline import sentences
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from spacy_klsh.corpora.documents import Document, Link, Mention, to_doc
from spacy_klsh.corpora.report import Report
from spacy_klsh.pipeline import factory
from spacy_klsh.pipeline.readers import RelationCorpus, give_entities
from spacy_klsh.pipeline.tokens import TokenSplitter, edges_of, learn_characters, split_tokens

PARTS = ["p53", "IL-2", "a", "(wt", ")", "/", "-", "+", "can't", "é", "e\u0301", "🧬", "3.5"]
TEXTS = st.lists(st.sampled_from([*PARTS, " ", "  ", "\n", "\t"]), max_size=14).map("".join)
MARKS = st.sets(st.sampled_from("/-+(.)'🧬"), max_size=4)


@pytest.fixture(scope="module")
def english():
    return spacy.blank("en")


def words(doc):
    return [token.text for token in doc]


def corpus_doc(nlp, text, *mentions):
    """A training Doc as `spacy-klsh convert` makes it; `mentions` are words of `text`."""
    found = [Mention(text.index(m), text.index(m) + len(m), "P") for m in mentions]
    return to_doc(Document("d", text, found, []), nlp, report=Report())


def examples(nlp, *docs):
    return [Example(nlp.make_doc(doc.text), doc) for doc in docs]


def splitter(nlp, **config):
    nlp = type(nlp).from_config(nlp.config)
    nlp.add_pipe("klsh_tokens", config=config)
    return nlp


# --- splitting ---


def test_split_keeps_the_norms_of_other_tokens(english):
    doc = english.make_doc("I can't use anti-p53x.")
    split = split_tokens(doc, {14, 17})
    norms = {token.text: token.norm_ for token in split}
    assert (norms["ca"], norms["n't"], norms["p53x"]) == ("can", "not", "p53x")
    assert len(split) > len(doc) and split.text == doc.text
    assert split_tokens(doc, {0, 2, 4}) is doc


def test_a_piece_has_a_norm_and_a_lemma_of_its_own(english):
    doc = Doc(english.vocab, words=["Ca/B", "x"], lemmas=["ca-b", "y"], tags=["NN", "CD"])
    doc[0].norm_ = "calcium"
    split = split_tokens(doc, {2, 3})
    assert [token.norm_ for token in split] == ["ca", "/", "b", "x"]
    assert [token.lemma_ for token in split] == ["Ca", "/", "B", "y"]
    assert [token.tag_ for token in split] == ["NN", "NN", "NN", "CD"]


def annotated(vocab):
    """A Doc with everything that may stand on it before a tagger."""
    doc = Doc(
        vocab,
        words=["In", "a/b/c", "d/e", "f/g", "h"],
        spaces=[True, False, True, True, False],
        sent_starts=[True, True, False, None, False],
    )
    doc.ents = [Span(doc, 1, 3, label="P", span_id="e1", kb_id="Q1")]
    doc.set_ents([], blocked=[doc[3:4]], missing=[doc[4:5]], default="unmodified")
    doc.spans["sc"] = [Span(doc, 2, 4, label="X", span_id="s1"), Span(doc, 1, 2, label="Y")]
    doc.cats = {"news": 1.0}
    doc.user_data["id"] = "d1"
    doc.user_hooks["similarity"] = min
    doc.has_unknown_spaces = True
    return doc


def test_everything_before_a_tagger_is_kept(english):
    doc = annotated(english.vocab)
    split = split_tokens(doc, edges_of("/", doc.text))
    assert words(split) == ["In", "a", "/", "b", "/", "c", "d", "/", "e", "f", "/", "g", "h"]
    assert split.text == doc.text == "In a/b/cd/e f/g h"
    (entity,) = split.ents
    assert (entity.text, entity.label_, entity.id_, entity.kb_id_) == ("a/b/cd/e", "P", "e1", "Q1")
    assert [token.ent_iob for token in split] == [2, 3, *[1] * 7, 3, 3, 3, 0]
    assert [token.ent_type_ for token in split[9:]] == [""] * 4  # blocked, not an entity
    starts = [True, True, *[False] * 7, None, None, None, False]
    assert [token.is_sent_start for token in split] == starts
    assert [(s.text, s.label_, s.id_) for s in split.spans["sc"]] == [
        ("d/e f/g", "X", "s1"),
        ("a/b/c", "Y", ""),
    ]
    assert split.cats == {"news": 1.0} and split.user_data == {"id": "d1"}
    assert split.user_hooks == {"similarity": min} and split.has_unknown_spaces


def test_relations_survive(english):
    doc = to_doc(
        Document(
            "d",
            "p53/MDM2 binds IL-2/x",
            [Mention(0, 8, "P", "e0"), Mention(15, 19, "P", "e1")],
            [Link("PPI", {"head": 0, "tail": 1})],
        ),
        english,
        report=Report(),
    )
    (relation,) = splitter(english, split_at=["/", "-"])(doc)._.relations
    assert (relation.head.text, relation.tail.text) == ("p53/MDM2", "IL-2")
    assert words(relation.tail) == ["IL", "-", "2"]


@pytest.mark.parametrize("layer", ["parse", "tensor"])
def test_what_cannot_be_split_is_refused(english, layer):
    doc = sentences.parsed(english.vocab, "P:nsubj:1 founded:ROOT:1 a/b:dobj:1")
    if layer == "tensor":
        doc = Doc(english.vocab, words=words(doc))
        doc.tensor = spacy.util.numpy.zeros((3, 4), "f")
    with pytest.raises(ValueError, match=r"'a/b' must be split .* first in the pipeline"):
        TokenSplitter(split_at=["/"])(doc)
    assert TokenSplitter(split_at=["+"])(doc) is doc


@given(text=TEXTS, characters=MARKS)
def test_text_is_kept_and_each_character_is_a_token(english, text, characters):
    doc = english.make_doc(text)
    split = TokenSplitter(split_at=sorted(characters))(doc)
    assert split.text == text
    assert [t.whitespace_ for t in split if t.text.isspace()] == [
        t.whitespace_ for t in doc if t.text.isspace()
    ]
    assert all(word in characters or characters.isdisjoint(word) for word in words(split))
    assert {t.idx for t in doc} <= {t.idx for t in split}
    assert TokenSplitter(split_at=sorted(characters))(split) is split


@given(text=TEXTS, characters=MARKS, data=st.data())
def test_the_same_tokens_as_in_training(english, text, characters, data):
    """Mentions that begin and end at these characters or at tokens: training and text agree."""
    plain = english.make_doc(text)
    places = {edge for t in plain for edge in (t.idx, t.idx + len(t))}
    offsets = st.sampled_from(sorted(places | edges_of(characters, text) | {0}))
    ranges = data.draw(st.lists(st.tuples(offsets, offsets), max_size=5))
    mentions = [Mention(a, b, "P") for a, b in ranges if text[a:b].strip()]
    training = to_doc(Document("d", text, mentions, []), english, report=Report())
    component = TokenSplitter(split_at=sorted(characters))
    split, found = component(training), component(plain)
    assert words(split) == words(found)
    assert [t.norm_ for t in split] == [t.norm_ for t in found]
    spans = split.spans["entities"]
    assert [s.text.strip() for s in spans] == [text[m.start : m.end].strip() for m in mentions]


# --- learning ---


def test_it_learns_what_training_split_at(english):
    docs = [
        corpus_doc(english, "the Arp2/3 pair", "Arp2"),
        corpus_doc(english, "a p53(wt gene", "p53"),
        corpus_doc(english, "no IL-6 and no a+b", "IL-6"),
    ]
    assert learn_characters(docs, english.tokenizer, min_share=0.5) == ("(", "/")


@pytest.mark.parametrize(("min_share", "learned"), [(0, "-/"), (0.25, "-/"), (0.5, "/"), (1, "/")])
def test_rare_splits_do_not_count(english, min_share, learned):
    """IL-2 is one word in most places, so that one p-53 does not break them all."""
    docs = [corpus_doc(english, "IL-2 and IL-3 and IL-4 and ph-53/4", "53")]
    found = learn_characters(docs, english.tokenizer, min_share=min_share)
    assert "".join(found) == learned


def test_letters_and_accents_are_not_learned(english):
    docs = [
        corpus_doc(english, "the xp53y gene", "p53"),
        corpus_doc(english, "an e\u0301te\u0301 word", "e"),
    ]
    assert words(docs[0]) == ["the", "x", "p53", "y", "gene"]
    assert learn_characters(docs, english.tokenizer, min_share=0) == ()


def test_coarser_reference_tokens_teach_nothing(english):
    doc = Doc(english.vocab, words=["well-known", "fact"])
    assert len(english.make_doc(doc.text)) > len(doc)
    assert learn_characters([doc], english.tokenizer, min_share=0) == ()


def test_a_tokenizer_that_changes_the_text_is_refused(english):
    doc = english.make_doc("a  b")
    with pytest.raises(ValueError, match="changes the text 'a  b'"):
        learn_characters([doc], lambda text: Doc(english.vocab, words=text.split()), min_share=0)


def test_initialize_learns_and_learns_again(english):
    nlp = splitter(english)
    nlp.initialize(lambda: examples(nlp, corpus_doc(nlp, "IL-2/4", "IL-2")))
    assert nlp.get_pipe("klsh_tokens").characters == ("/",)
    assert words(nlp("CD3/16+x IL-2")) == ["CD3", "/", "16+x", "IL-2"]
    nlp.initialize(lambda: examples(nlp, corpus_doc(nlp, "IL-2 IL-4", "IL-2")))
    assert nlp.get_pipe("klsh_tokens").characters == ()
    doc = nlp.make_doc("CD3/16")
    assert nlp(doc) is doc


def test_the_config_overrides_what_training_did(english):
    nlp = splitter(english, split_at=["+"])
    nlp.initialize(lambda: examples(nlp, corpus_doc(nlp, "IL-2/4", "IL-2")))
    assert words(nlp("CD3/16 p53+x")) == ["CD3/16", "p53", "+", "x"]
    assert nlp.get_pipe("klsh_tokens").characters == ("+",)


def test_untrained_or_without_tokenizer(english):
    nlp = splitter(english)
    with pytest.raises(ValueError, match="has not learned where to split"):
        nlp("a")
    with pytest.raises(ValueError, match="pass nlp=nlp"):
        nlp.get_pipe("klsh_tokens").initialize(lambda: [])


@pytest.mark.parametrize("bad", [["ab"], [""], [" "], ["\n"], "/-", [1]])
def test_bad_characters_are_refused(bad):
    with pytest.raises(ValueError, match="give a list of single characters"):
        TokenSplitter(split_at=bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), True])
def test_bad_shares_are_refused(bad):
    with pytest.raises(ValueError, match=r"give a number in \[0, 1\]"):
        TokenSplitter(min_share=bad)


# --- in a pipeline ---


def test_the_factory(english):
    assert registry.factories.get("klsh_tokens") is not None
    assert Language.get_factory_meta("klsh_tokens").retokenizes
    component = factory.make_klsh_tokens(english, "x", ["/", "-"], 0.5)
    assert (component.name, component.characters, component.min_share) == ("x", ("-", "/"), 0.5)
    block = splitter(english).config["components"]["klsh_tokens"]
    assert block == {"factory": "klsh_tokens", "min_share": 0.1, "split_at": None}


TEXT_LIST = ["", " ", "CD3/16+x", "a\n\nb/2", "IL-2/4 bind."]


def test_processes_and_contexts(english):
    nlp = splitter(english, split_at=["/"])
    found = [words(doc) for doc in map(nlp, TEXT_LIST)]
    assert found[2] == ["CD3", "/", "16+x"] and found[:2] == [[], [" "]]
    pairs = list(zip(TEXT_LIST, range(5), strict=True))
    for n in (1, 2):
        stream = nlp.pipe(pairs, as_tuples=True, n_process=n, batch_size=2)
        assert [(words(doc), i) for doc, i in stream] == list(zip(found, range(5), strict=True))


def test_a_failing_doc_goes_to_the_error_handler(english):
    nlp = splitter(english, split_at=["/"])
    failed = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append((name, docs[0].text)))
    parsed = sentences.parsed(nlp.vocab, "a/b:ROOT:0")
    assert [doc.text for doc in nlp.pipe([nlp.make_doc("a"), parsed])] == ["a"]
    assert failed == [("klsh_tokens", parsed.text)]


def through_bytes(nlp, path):
    return splitter(spacy.blank("en")).from_bytes(nlp.to_bytes())


def through_disk(nlp, path):
    nlp.to_disk(path)
    return spacy.load(path)


def through_pickle(nlp, path):
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize("travel", [through_bytes, through_disk, through_pickle])
@pytest.mark.parametrize("characters", [None, (), ("-", "/", "🧬")])
def test_round_trips(english, tmp_path, travel, characters):
    nlp = splitter(english)
    nlp.get_pipe("klsh_tokens").characters = characters
    other = travel(nlp, tmp_path).get_pipe("klsh_tokens")
    assert other.characters == characters
    assert other.to_bytes() == nlp.get_pipe("klsh_tokens").to_bytes()


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "damaged"),
        (b"[1]", "damaged"),
        (b"\xff", "damaged"),
        (b'{"format_version": 1}', "damaged"),
        (b'{"format_version": 2, "characters": []}', "format version 2"),
        (b'{"format_version": 1, "characters": ["ab"]}', "single characters"),
        (b'{"format_version": 1, "characters": "ab"}', "single characters"),
        (b'{"format_version": 1, "characters": ["-"]}', "split_at in the config"),
    ],
)
def test_damaged_or_other_files_are_refused(content, match):
    component = TokenSplitter(split_at=["/"])
    with pytest.raises(ValueError, match=match):
        component.from_bytes(content)
    assert component.characters == ("/",)


def test_the_file_is_plain_json(tmp_path):
    TokenSplitter(split_at=["/"]).to_disk(tmp_path / "new")
    meta = json.loads((tmp_path / "new" / "meta.json").read_text())
    assert meta == {"format_version": 1, "characters": ["/"]}


# --- with relations ---


SEEN = set()


@Language.component("first_word_governs")
def first_word_governs(doc):
    """A parse of any tokens; it also overwrites the entities, as a recognizer does."""
    SEEN.add(tuple(words(doc)))
    for token in doc:
        token.head, token.dep_ = doc[0], "ROOT" if token.i == 0 else "dep"
    doc.ents = []
    return doc


@pytest.fixture
def relations():
    """A pipeline with a splitter, a parse and relations, and its training Docs."""
    nlp = splitter(spacy.blank("en"))
    nlp.add_pipe("first_word_governs")
    nlp.add_pipe("klsh_relations", config=sentences.SMALL)
    docs = []
    for i in range(8):
        head, tail = f"p{i}", f"CD{i}"
        verb = ("binds", "sees", "blocks", "meets")[i % 4]
        text = f"{verb} {head}/9 and {tail}/16"
        mentions = [Mention(text.index(m), text.index(m) + len(m), "P") for m in (head, tail)]
        links = [Link("PPI", {"head": 0, "tail": 1})] if i % 2 else []
        docs.append(to_doc(Document(f"d{i}", text, mentions, links), nlp, report=Report()))
    return nlp, docs


def test_training_and_run_time_meet_the_same_tokens(relations):
    nlp, docs = relations
    SEEN.clear()
    nlp.initialize(lambda: examples(nlp, *docs))
    assert nlp.get_pipe("klsh_tokens").characters == ("/",)
    assert nlp.get_pipe("klsh_relations").labels == ("PPI",)
    in_training = SEEN.copy()
    assert {tuple(words(nlp(doc.text))) for doc in docs} == in_training
    assert {tuple(words(doc)) for doc in docs}.isdisjoint(in_training)


def test_the_corpus_reader_gives_entities_that_survive(relations, tmp_path):
    nlp, docs = relations
    nlp.initialize(lambda: examples(nlp, *docs))
    spacy.tokens.DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    nlp.remove_pipe("first_word_governs")
    for example in RelationCorpus(tmp_path / "a.spacy")(nlp):
        doc = nlp.get_pipe("klsh_tokens")(example.predicted)
        assert len(doc) == len(example.reference) + 2
        assert [s.text for s in doc.ents] == [s.text for s in example.reference.ents]
        example.predicted = doc
        assert example.get_aligned("ORTH", as_string=True)


def test_entities_move_to_pieces_and_all_else_is_blocked(english):
    reference = corpus_doc(english, "see p53/9 now", "p53/9")
    reference.spans["sc"] = [reference[0:2]]
    doc = split_tokens(english.make_doc(reference.text), {7, 8})
    give_entities(doc, reference, "sc")
    assert [(s.text, s.label_) for s in doc.ents] == [("p53/9", "P")]
    assert [s.text for s in doc.spans["sc"]] == ["see p53/9"]
    assert [(t.ent_iob, t.ent_type_) for t in doc] == [
        (3, ""),
        (3, "P"),
        (1, "P"),
        (1, "P"),
        (3, ""),
    ]


def test_entities_inside_merged_tokens_are_refused(english):
    reference = corpus_doc(english, "see p53 now", "p53")
    merged = Doc(english.vocab, words=["see p53", "now"])
    with pytest.raises(ValueError, match="'p53' begins or ends inside a token"):
        give_entities(merged, reference)


def test_sentence_starts_stay_unknown_if_the_first_token_is_split(english):
    doc = split_tokens(Doc(english.vocab, words=["a/b", "c"]), {1, 2})
    assert [token.text for token in doc] == ["a", "/", "b", "c"]
    assert not doc.has_annotation("SENT_START")
    known = split_tokens(Doc(english.vocab, words=["a/b", "c"], sent_starts=[True, False]), {1, 2})
    assert [token.is_sent_start for token in known] == [True, False, False, False]
