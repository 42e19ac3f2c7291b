import pytest

from spacy_klsh.pipeline.evidence import Evidence, Match, Neighbour, node_words, path_words

PATH = (
    ("dep=", "label=PERSON", "label=PERSON"),
    ("dep=nsubj<", "lemma=found", "pos=VERB"),
    ("dep=dobj>", "label=ORG", "label=ORG"),
)
DATA = {
    "width": 2,
    "path": "dep=\tlabel=PERSON\tdep=nsubj<\tlemma=found",
    "vote": {"FOUNDED": 0.75, "": 0.249, "BORN_IN": 0.001},
    "nearest": [
        {
            "label": "",
            "similarity": 0.5,
            "path": "dep=\tlabel=ORG\tdep=nsubj<\tlemma=establish",
            "matches": "1\t1\t1.0\tedge\t1\t1\t0.625\tnode",
        }
    ],
}


def frozen(value):
    """What DocBin makes of lists."""
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def test_arrows_point_from_governor_to_child():
    assert path_words(PATH) == "PERSON <-nsubj- found/VERB -dobj-> ORG"
    assert path_words(PATH[1:]) == "found/VERB -dobj-> ORG"


def test_a_tree_has_all_but_its_last_branches_in_brackets():
    arcs = ["dep=", "dep=amod>", "dep=nsubj<", "dep=aux>", "dep=dobj>", "role=tail", "dep=det>"]
    words = ["ORG", "big", "buy", "will", "firm", "", "a"]
    tree = tuple(
        (arc, f"lemma={word}" if word else arc) for arc, word in zip(arcs, words, strict=True)
    )
    parents = (-1, 0, 0, 2, 2, 4, 4)
    expected = "ORG [-amod-> big] <-nsubj- buy [-aux-> will] -dobj-> firm [(tail)] -det-> a"
    assert path_words(tree, parents) == expected
    few = tuple((f"dep={arc}>", f"lemma={word}") for arc, word in ("wa", "xb", "yc", "zd"))
    assert path_words(few, (-1, 0, 1, 0)) == "a [-x-> b -y-> c] -z-> d"
    assert path_words(few, (-1, 0, 1, 1)) == "a -x-> b [-y-> c] -z-> d"


def test_words_without_edges_have_no_arrows():
    assert path_words((("dep=", "lemma=a"), ("dep=", "lemma=b"))) == "a b"


def test_trees_are_stored_with_their_parents():
    (near,) = DATA["nearest"]
    data = {**DATA, "parents": [-1, 0], "nearest": [{**near, "parents": [-1, 0]}]}
    evidence = Evidence.from_data(data)
    assert evidence.parents == evidence.nearest[0].parents == (-1, 0)


def test_no_path_is_said():
    assert path_words(()) == "(no path)"


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        (("lemma=a=b",), "a=b"),
        (("lemma==",), "="),
        (("lemma=run", "pos=", "tag=VB"), "run/VB"),
        (("lemma=run", "lower=run"), "run"),
        (("pos=",), ""),
    ],
)
def test_a_node_is_read_as_the_values_of_its_symbols(symbols, words):
    assert node_words(("dep=dobj>", *symbols)) == words


@pytest.mark.parametrize("data", [DATA, frozen(DATA)], ids=["lists", "tuples"])
def test_stored_evidence_reads_back(data):
    assert Evidence.from_data(data) == Evidence(
        path=(("dep=", "label=PERSON"), ("dep=nsubj<", "lemma=found")),
        vote={"FOUNDED": 0.75, "": 0.249, "BORN_IN": 0.001},
        nearest=(
            Neighbour(
                label="",
                similarity=0.5,
                path=(("dep=", "label=ORG"), ("dep=nsubj<", "lemma=establish")),
                matches=(Match(1, 1, 1.0, "edge"), Match(1, 1, 0.625, "node")),
            ),
        ),
    )


def test_printed_it_is_for_people():
    assert str(Evidence.from_data(DATA)).splitlines() == [
        "PERSON <-nsubj- found",
        "vote: FOUNDED 0.75, no relation 0.25",
        "0.50 no relation: ORG <-nsubj- establish",
    ]


def test_the_best_match_of_each_part_counts():
    matches = (Match(0, 2, 0.5, "node"), Match(1, 2, 0.75, "both"), Match(3, 2, 0.25, "edge"))
    near = Neighbour("X", 0.5, PATH, matches)
    assert near.best_matches == {(2, "node"): matches[1], (2, "edge"): matches[1]}


def test_a_similar_word_is_named_and_an_equal_one_is_not():
    evidence = Evidence.from_data(DATA)
    (near,) = evidence.nearest
    assert [evidence.likeness(near, i) for i in range(2)] == ["", "found 0.62"]
    same = near._replace(path=evidence.path)
    assert [evidence.likeness(same, i) for i in range(2)] == ["", ""]
