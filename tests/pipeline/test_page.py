import re
from collections import Counter
from html import escape
from html.parser import HTMLParser

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from pipeline import sentences
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_klsh import Relation
from spacy_klsh.pipeline.drawing import clean
from spacy_klsh.pipeline.evidence import Evidence, Match, Neighbour
from spacy_klsh.pipeline.explanation import NearMiss
from spacy_klsh.pipeline.page import render

VOCAB = Vocab()
VOID = {"meta", "wbr"}


class Reader(HTMLParser):
    """Elements, texts and places of drawn words; fails where tags do not balance."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.places, self._open = [], [], {}, []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "style" not in self._open:
            self.texts.append(data)
        if self._open and self._open[-1] == "text":
            self.places[data] = float(self.elements[-1][1]["x"])

    def all(self, tag, css=None):
        return [a for t, a in self.elements if t == tag and css in (None, a.get("class"))]


def make(words, *ents, starts=(0,)):
    doc = Doc(VOCAB, words=words, sent_starts=[i in starts for i in range(len(words))])
    return doc, [Span(doc, a, b, label=label) for a, b, label in ents]


def numbers(path):
    return [float(number) for number in re.findall(r"-?\d+\.\d+", path)]


def heights(reader):
    """Of the horizontal part of each arc."""
    return [numbers(a["d"])[4] for a in reader.all("path", "line")]


@pytest.fixture
def pair():
    doc, (ada, bo) = make(["Ada", "likes", "Bo"], (0, 1, "PERSON"), (2, 3, "PERSON"))
    return doc, ada, bo


def test_both_directions_between_two_entities_are_seen(pair):
    doc, ada, bo = pair
    relations = [Relation("LIKES", head=ada, tail=bo), Relation("LIKES", head=bo, tail=ada)]
    reader = Reader(render(doc, relations, []))
    lines = [numbers(a["d"]) for a in reader.all("path", "line")]
    assert len(lines) == 2 and len(set(heights(reader))) == 2
    (first, second) = lines
    assert first[0] < first[-3] and second[0] > second[-3]  # from head to tail
    ends = {x for line in lines for x in (line[0], line[-3])}
    assert len(ends) == 4
    tips = [numbers(a["d"])[0] + 4.5 for a in reader.all("path", "tip")]
    assert tips == pytest.approx([first[-3], second[-3]], abs=0.11)


def test_arcs_that_share_an_entity_do_not_cross():
    doc, spans = make(list("abcd"), *((i, i + 1, "X") for i in range(4)))
    relations = [Relation("R", head=spans[0], tail=span) for span in spans[1:]]
    reader = Reader(render(doc, relations, spans))
    starts = [numbers(a["d"])[0] for a in reader.all("path", "line")]
    assert starts == sorted(starts, reverse=True)  # the longest begins outermost
    assert heights(reader) == sorted(heights(reader), reverse=True)  # and runs highest


def test_a_long_sentence_wraps_and_its_arcs_run_on():
    words = ["Ada", *["very"] * 60, "Bo"]
    doc, (ada, bo) = make(words, (0, 1, "PERSON"), (61, 62, "PERSON"))
    reader = Reader(render(doc, [Relation("LIKES", head=ada, tail=bo)], []))
    lines = reader.all("path", "line")
    assert len(lines) > 2 and len(reader.all("circle")) == len(reader.all("path", "tip")) == 1
    (picture,) = reader.all("svg")
    assert float(picture["width"]) < 700
    assert {float(a["x"]) <= 700 for a in reader.all("text", "word")} == {True}
    assert len(reader.all("text", "word")) == 62


def test_a_word_longer_than_a_row_widens_the_drawing():
    doc, (ada, long) = make(["Ada", "x" * 300], (0, 1, "A"), (1, 2, "B"))
    (picture,) = Reader(render(doc, [Relation("R", head=ada, tail=long)], [])).all("svg")
    assert float(picture["width"]) > 2000


def test_an_entity_is_not_torn_between_rows():
    words = ["Ada", *["very"] * 13, "New", "York", "Times"]
    doc, (ada, times) = make(words, (0, 1, "A"), (14, 17, "B"))
    boxes = Reader(render(doc, [Relation("R", head=ada, tail=times)], [])).all("rect", "entity")
    assert len(boxes) == 2 and boxes[0]["y"] != boxes[1]["y"]


def test_text_from_right_to_left_runs_so():
    doc, (sara, city) = make(["שרה", "אהבה", "את", "New", "York"], (0, 1, "A"), (3, 5, "B"))
    reader = Reader(render(doc, [Relation("R", head=sara, tail=city)], []))
    assert sorted(doc.text.split(), key=reader.places.get) == ["New", "York", "את", "אהבה", "שרה"]
    (line,) = (numbers(a["d"]) for a in reader.all("path", "line"))
    assert line[0] > line[-3]
    assert reader.all("svg", "rtl")


def test_overlapping_entities_have_labels_one_below_the_other():
    spans = [(0, 3, "TEAM"), (2, 3, "GPE"), (3, 4, "ORG")]
    doc, (team, gpe, org) = make(["Bank", "of", "Lumen", "x"], *spans)
    reader = Reader(render(doc, [Relation("R", head=team, tail=org)], [team, gpe, org]))
    ys = [float(a["y"]) for a in reader.all("text", "kind")]
    assert ys[0] == ys[2] < ys[1]


def test_sentences_without_relations_are_shown_as_text_and_joined_ones_together():
    words = ["Ada", "slept", "Bo", "left", "Cy", "ate", "Dee", "ran"]
    doc, (ada, bo, dee) = make(words, (0, 1, "P"), (2, 3, "P"), (6, 7, "P"), starts=(0, 2, 4, 6))
    relations = [Relation("R", head=bo, tail=ada), Relation("S", head=dee, tail=dee)]
    reader = Reader(render(doc, relations, []))
    assert len(reader.all("section")) == len(reader.all("svg")) == 2
    assert [t.strip() for t in reader.texts].count("Cy ate") == 1
    assert len(reader.all("p", "plain")) == 1


def test_evidence_stands_beside_the_text():
    doc, (ada, lumen) = make(["Ada", "founded", "Lumen"], (0, 1, "PERSON"), (2, 3, "ORG"))
    relation = Relation("FOUNDED", 0.75, head=ada, tail=lumen)
    path = (("dep=", "label=PERSON"), ("dep=nsubj<", "lemma=found"), ("dep=dobj>", "label=ORG"))
    other = (*path[:1], ("dep=nsubj<", "lemma=establish"), ("dep=pobj>", "label=ORG"))
    matches = (Match(0, 0, 1.0, "node"), Match(1, 1, 1.0, "edge"), Match(1, 1, 0.5, "node"))
    near = Neighbour("BOUGHT", 0.625, other, matches)
    evidence = Evidence(path, {"FOUNDED": 0.75, "": 0.25}, (near,))
    relation._evidence = {
        "width": 2,
        "path": "\t".join(symbol for node in path for symbol in node),
        "vote": dict(evidence.vote),
        "nearest": [
            {
                "label": near.label,
                "similarity": near.similarity,
                "path": "\t".join(symbol for node in other for symbol in node),
                "matches": "\t".join(str(value) for match in matches for value in match),
            }
        ],
    }
    assert relation.evidence == evidence
    reader = Reader(render(doc, [relation], [], [NearMiss(relation, 0.875)], {"far_away": 3}))
    text = " ".join(" ".join(reader.texts).split())
    for shown in ("FOUNDED 0.75", "no relation 0.25", "0.62", "BOUGHT", "establish ≈ found 0.50"):
        assert shown in text
    assert "0.75 < 0.88" in text and "far_away 3" in text
    cards = 2
    assert Counter(a["class"] for a in reader.all("span") if "class" in a) >= Counter(
        {"node match": 2 * cards, "node": 4 * cards, "edge match": cards, "edge": 3 * cards}
    )


def test_a_page_without_relations_says_so():
    doc, _ = make(["Nothing", "here"])
    reader = Reader(render(doc, [], []))
    assert any("No relations" in text for text in reader.texts)
    assert Reader(render(Doc(VOCAB), [], [])).all("h1")


NASTY = ["</svg><script>alert(1)</script>", "a&b", '"x"', "'y'", "<!--", "\x00", "\x7f", "א", "\n"]
WORDS = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
)


@st.composite
def pages(draw):
    """A Doc of any words with any entities, sentences and relations."""
    words = draw(st.lists(WORDS, min_size=1, max_size=40))
    places = st.integers(0, len(words) - 1)
    starts = {0, *draw(st.lists(places, max_size=3))}
    bounds = draw(st.lists(st.tuples(places, places), min_size=1, max_size=6))
    doc, spans = make(words, *((min(b), max(b) + 1, draw(WORDS)) for b in bounds), starts=starts)
    chosen = st.sampled_from(spans)
    drawn = draw(st.lists(st.tuples(WORDS, chosen, chosen), max_size=8))
    return doc, spans, [Relation(label, 0.5, head=h, tail=t) for label, h, t in drawn]


@strategies.THOROUGH
@given(pages())
def test_any_text_gives_a_page_in_order(drawn):
    doc, spans, relations = drawn
    page = render(doc, relations, spans, [NearMiss(r, 0.75) for r in relations], {"<b>": 1})
    reader = Reader(page)
    assert not re.search(r"<script|https?:|url\(|@import|\x00", page.replace("&", ""))
    ids = [a["id"] for a in reader.all("article") if "id" in a]
    assert sorted(ids) == sorted(f"r{i + 1}" for i in range(len(relations)))
    assert Counter(a["href"] for a in reader.all("a")).keys() == {f"#{i}" for i in ids}
    assert len(reader.all("circle")) == len(reader.all("path", "tip")) == len(relations)
    shown = escape("".join("".join(reader.texts).split()))
    assert all("".join(clean(token.text).split()) in shown for token in doc)


def test_labels_of_arcs_do_not_overlap():
    doc, spans = make(list("abcdef"), *((i, i + 1, "X") for i in range(6)))
    relations = [
        Relation(f"LABEL_{i}{j}", head=spans[i], tail=spans[j]) for i in range(6) for j in range(6)
    ]
    chips = [
        (float(a["x"]), float(a["y"]), float(a["width"]))
        for a in Reader(render(doc, relations, spans)).all("rect", "chip")
    ]
    assert len(chips) >= 36
    for i, (x, y, width) in enumerate(chips):
        for other_x, other_y, other_width in chips[:i]:
            assert y != other_y or x + width <= other_x or other_x + other_width <= x


def test_the_arcs_of_a_real_prediction_are_drawn(trained):
    doc = trained(sentences.parsed(trained.vocab, *(p for p, _ in sentences.PATTERNS)))
    relations = doc._.relations
    reader = Reader(render(doc, relations, doc.ents))
    assert len(reader.all("section")) == len(relations) > 2
    assert all(reader.all("table", "near"))
