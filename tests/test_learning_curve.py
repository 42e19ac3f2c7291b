import json
import sys
from itertools import accumulate, pairwise, product

import learning_curve
import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from learning_curve import OURS, WORDS, main, nested_samples
from learning_curve_plot import draw, import_pyplot
from learning_curve_words import fit_words, pair_words
from ppi import SETTINGS
from spacy.tokens import Doc, Span
from tiny import SETTINGS as SMALL

from spacy_klsh.pipeline.entity_pairs import EntityPairs

N_RELATIONS = [0, 3, 1, 0, 2, 5, 1]  # of seven documents


@given(n_relations=st.lists(st.integers(0, 6), min_size=1), seed=st.integers(0, 99))
def test_samples_are_nested_whole_documents(n_relations, seed):
    sizes = [size for size in (1, 2, 5, 9) if size <= sum(n_relations)] or [0]
    samples = nested_samples(n_relations, sizes, seed)
    order = np.random.default_rng(seed).permutation(len(n_relations)).tolist()
    for size, sample in zip(sizes, samples, strict=True):
        totals = list(accumulate(n_relations[i] for i in order))
        needed = 1 + next(k for k, total in enumerate(totals) if total >= size)
        assert sample == sorted(order[:needed])
    assert all(set(small) <= set(large) for small, large in pairwise(samples))


def test_a_seed_draws_the_same_documents_and_another_seed_others():
    first = nested_samples(N_RELATIONS, [4, 8], 0)
    assert nested_samples(N_RELATIONS, [4, 8], 0) == first
    assert any(nested_samples(N_RELATIONS, [4, 8], seed) != first for seed in range(1, 5))


def test_more_relations_than_there_are():
    with pytest.raises(ValueError, match=r"the 7 documents hold 12 relations, but .* wants 13"):
        nested_samples(N_RELATIONS, [4, 13], 0)


def features(words, spans, starts=(0,)):
    doc = Doc(
        spacy.blank("en").vocab, words=words, sent_starts=[i in starts for i in range(len(words))]
    )
    doc.spans["entities"] = [Span(doc, start, end, label="P") for start, end in spans]
    return pair_words(doc, EntityPairs(spans_key="entities")(doc, ordered=False))


def test_words_around_a_pair_are_those_of_its_sentence():
    words = ["No", ".", "We", "saw", "Abc", "bind", "to", "Def", "x", "today", ".", "Bye"]
    assert features(words, [(4, 5), (7, 9)], starts=(0, 2, 11)) == [
        [
            *("before=we", "before=saw", "between=bind", "between=to", "after=today", "after=."),
            *("bigram=HEAD bind", "bigram=bind to", "bigram=to TAIL"),
        ]
    ]


def test_entities_appear_as_their_labels():
    first, outer, last = features(["A", "B", "/", "C"], [(0, 1), (1, 2), (3, 4)])
    assert first == ["after=/", "after=P", "bigram=HEAD TAIL"]
    assert outer == ["between=P", "between=/", "bigram=HEAD P", "bigram=P /", "bigram=/ TAIL"]
    assert last == ["before=P", "between=/", "bigram=HEAD /", "bigram=/ TAIL"]


def test_an_entity_inside_another_has_nothing_between():
    assert features(["A", "B", "C", "."], [(0, 3), (1, 2)]) == [["after=.", "bigram=HEAD TAIL"]]


def test_the_linear_model_learns_which_word_matters():
    pairs = list(product(("between=binds", "between=saw"), ("after=today", "after=."), range(5)))
    words = [[between, after] for between, after, _ in pairs]
    y = np.array([between == "between=binds" for between, _, _ in pairs])
    model, threshold = fit_words(words, y, np.array([fold for *_, fold in pairs]), n_gold=10)
    unseen = [["between=binds", "after=!"], ["between=saw", "after=!"]]
    assert (model.predict_proba(unseen)[:, 1] >= threshold).tolist() == [True, False]


def test_the_threshold_comes_from_documents_that_the_model_has_not_seen():
    words = [[f"between=w{i}"] for i in range(20)]  # each word tells its own pair, no other
    y = np.arange(20) % 2 == 0
    threshold = fit_words(words, y, np.arange(20) % 5, n_gold=10).threshold
    assert threshold == pytest.approx(0.25)  # all unseen pairs have .5, none has less


PATTERNS = ("Xa {} Yb in case {}.", "Xa left and nobody {} the Yb of case {}.")
VERBS = ("binds", "blocks", "activates", "inhibits")


def interactions(n):
    """Interaction XML of `n` documents with a sentence each; every second pair interacts."""
    documents = []
    for i in range(n):
        text = PATTERNS[i % 2].format(VERBS[i // 2 % 4], i)
        ends = {"Xa": (0, 2), "Yb": (text.index("Yb"), text.index("Yb") + 2)}
        entities = "".join(
            f'<entity id="d{i}.{name}" charOffset="{start}-{end}" text="{name}"/>'
            for name, (start, end) in ends.items()
        )
        link = f'<interaction e1="d{i}.Xa" e2="d{i}.Yb" type="PPI"/>' if i % 2 == 0 else ""
        documents.append(
            f'<document id="d{i}"><sentence id="d{i}.s0" text="{text}">{entities}{link}'
            "</sentence></document>"
        )
    return f'<corpus source="made up">{"".join(documents)}</corpus>'


def test_the_whole_run_on_made_up_sentences(tmp_path, monkeypatch, capsys):
    (tmp_path / "ppi").mkdir()
    for part, n in (("train", 24), ("test", 6)):
        (tmp_path / "ppi" / f"BioInfer-{part}.xml").write_text(interactions(n), encoding="utf-8")
    small = {"hashing": SMALL["hashing"]}
    monkeypatch.setattr(learning_curve, "SETTINGS", {**SETTINGS, **small})
    monkeypatch.setattr(learning_curve, "SIZES", (6, 12))
    main(tmp_path, seeds=2, json_file=tmp_path / "figures" / "curve.json")
    figures = json.loads((tmp_path / "figures" / "curve.json").read_text(encoding="utf-8"))
    assert figures["every_pair_f1"] == pytest.approx(2 * 3 / (6 + 3))
    rows = [(row["model"], row["size"], row["f1"]) for row in figures["rows"]]
    assert rows == list(product((OURS, WORDS), (6, 12), [1.0]))
    assert {run["n_relations"] for run in figures["runs"]} == {6, 12}
    assert "every pair related: F1 0.667" in capsys.readouterr().out


ROWS = [
    {"model": model, "size": size, "f1": f1, "f1_sd": 0.01, "auc": f1 + 0.2, "auc_sd": 0.02}
    for model, size, f1 in (
        (OURS, 50, 0.4),
        (OURS, 2000, 0.5),
        (WORDS, 50, 0.3),
        (WORDS, 2000, 0.6),
    )
]


def test_the_same_figures_are_drawn_as_the_same_small_file(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    files = [tmp_path / "deep" / "a.svg", tmp_path / "b.svg"]
    for path in files:
        draw(ROWS, 0.41, path)
    content, again = (path.read_bytes() for path in files)
    assert content == again
    assert len(content) < 40_000
    for text in (OURS, "on words", "F1 on held-out", "every pair related", ">2000<", "log scale"):
        assert text.encode() in content
    assert b"<dc:date>" not in content


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "spacy-klsh\[plot\]"'):
        import_pyplot()
