from hypothesis import example, given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.corpora.sentences import mark_sentences

WORDS = st.lists(st.tuples(st.sampled_from(["a", "bb", "ccc", "\n"]), st.booleans()), max_size=8)


def naive_marks(doc, starts):
    """A token starts a sentence if a start lies behind the token before and not behind it."""
    marks, previous = [], -1
    for token in doc:
        marks.append(token.i == 0 or any(previous < start <= token.idx for start in starts))
        previous = token.idx
    return marks


@given(words=WORDS, starts=st.lists(st.integers(0, 40), max_size=6))
@example(words=[], starts=[])
@example(words=[], starts=[0])
def test_agrees_with_the_naive_marks(nlp, words, starts):
    doc = Doc(nlp.vocab, [word for word, _ in words], [space for _, space in words])
    moved = mark_sentences(doc, starts)
    assert [token.is_sent_start for token in doc] == naive_marks(doc, starts)
    assert moved == sorted({start for start in starts if start not in [t.idx for t in doc]})


def test_everything_else_stays(nlp):
    doc = Doc(
        nlp.vocab,
        words=["Ada", "met", "Bo", ".", "He", "ran"],
        spaces=[True, True, False, True, False, False],
        lemmas=["Ada", "meet", "Bo", ".", "he", "run"],
        tags=["NNP", "VBD", "NNP", ".", "PRP", "VBD"],
        ents=["B-P", "O", "B-P", "O", "O", "O"],
    )
    doc.spans["entities"] = [Span(doc, 0, 1, "P", span_id="e0"), Span(doc, 1, 3, "Q")]
    doc.user_data["id"] = "d1"
    before = doc.copy()
    assert mark_sentences(doc, [0, 12]) == []
    assert [sentence.text for sentence in doc.sents] == ["Ada met Bo.", "Heran"]
    assert doc.text == before.text and doc.user_data == before.user_data
    names = ["ORTH", "SPACY", "LEMMA", "TAG", "ENT_IOB", "ENT_TYPE", "ENT_ID", "HEAD", "DEP"]
    assert (doc.to_array(names) == before.to_array(names)).all()
    kept = [(span.start, span.end, span.label_, span.id_) for span in doc.spans["entities"]]
    assert kept == [(0, 1, "P", "e0"), (1, 3, "Q", "")]
    assert [span.text for span in doc.ents] == ["Ada", "Bo"]
    assert not doc.has_annotation("DEP")
