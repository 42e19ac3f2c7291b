from itertools import combinations

import naive_paths
import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.extraction import ViewExtractor
from spacy_klsh.views import concat_views

VOCAB = spacy.blank("en").vocab
ROLES = ("trigger", "Theme", "Theme2", "Cause")
#          0       1             2       3     4       5     6
WORDS = ("Zap2", "facilitates", "bond", "of", "Zap1", "to", "actin")
HEADS, DEPS = (1, 1, 1, 2, 3, 2, 5), ("nsubj", "ROOT", "dobj", "prep", "pobj", "prep", "pobj")
PLACES = ((0, 1, "P"), (2, 3, "Binding"), (4, 5, "P"), (6, 7, "P"))


def make(words=WORDS, heads=HEADS, deps=DEPS):
    return Doc(VOCAB, words=list(words), heads=list(heads), deps=list(deps))


def candidates(doc, rows, places=PLACES, roles=ROLES):
    spans = tuple(Span(doc, a, b, label=label) for a, b, label in places)
    return Candidates(roles, spans, np.array(rows, np.int32).reshape(-1, len(roles)))


def views(doc, found, **settings):
    extractor = ViewExtractor(**{"names": ("path", "subtree"), "blind": False, **settings})
    return extractor([doc], [found])


def words(structures):
    """Nodes of each structure as (edge, word), or (edge, word, parent) of a tree."""
    found = []
    for i in range(len(structures)):
        nodes = [
            (edge.removeprefix("dep="), word.partition("=")[2])
            for edge, word in structures.words(i)
        ]
        if structures.parents is not None:
            a, b = structures.offsets[i : i + 2]
            nodes = [(*n, p) for n, p in zip(nodes, structures.parents[a:b].tolist(), strict=True)]
        found.append(nodes)
    return found


EVENT = (1, 2, 3, 0)


def test_a_path_is_the_way_from_the_trigger_to_each_role_in_turn():
    (path,) = words(views(make(), candidates(make(), [EVENT]))["path"])
    assert path == [
        ("", "bond"),
        ("role=Theme", "bond"),
        ("prep>", "of"),
        ("pobj>", "zap1"),
        ("role=Theme2", "bond"),
        ("prep>", "to"),
        ("pobj>", "actin"),
        ("role=Cause", "bond"),
        ("dobj<", "facilitates"),
        ("nsubj>", "zap2"),
    ]


def test_a_subtree_is_rooted_at_the_trigger_and_names_each_role_in_a_leaf():
    (tree,) = words(views(make(), candidates(make(), [EVENT]))["subtree"])
    assert tree == [
        ("", "bond", -1),
        ("dobj<", "facilitates", 0),
        ("nsubj>", "zap2", 1),
        ("role=Cause", "Cause", 2),
        ("prep>", "of", 0),
        ("pobj>", "zap1", 4),
        ("role=Theme", "Theme", 5),
        ("prep>", "to", 0),
        ("pobj>", "actin", 7),
        ("role=Theme2", "Theme2", 8),
    ]


SENTENCE = (  # of several sentences: word:dep:governor
    "Luckily:adv:5 Ada:comp:3 J.:mid:3 Park:nsubj:5 here:adv:3 hired:ROOT:5 the:det:9 new:amod:9 "
    "Bo:comp:9 Xu:dobj:5 of:prep:9 Lumen:pobj:10 Inc:mid:11 quite:mod:14 late:adv:5 "
    "Nobody:nsubj:16 cared:ROOT:16"
)
ADA, BO, LUMEN, CARED = (1, 4, "P"), (8, 10, "P"), (11, 13, "O"), (16, 17, "X")


def tree(*places, name="subtree", roles=("head", "tail"), row=None, **settings):
    """Nodes of one tree as (edge, word, parent)."""
    words_, deps, heads = zip(*(token.split(":") for token in SENTENCE.split()), strict=True)
    doc = make(words_, map(int, heads), deps)
    found = candidates(doc, [row or range(len(places))], places, roles)
    (nodes,) = words(views(doc, found, names=(name,), **settings)[name])
    return nodes


def test_the_subtree_of_a_pair_is_its_path_with_a_leaf_for_the_tail():
    expected = [("", "xu", -1), ("prep>", "of", 0), ("pobj>", "lumen", 1)]
    assert tree(BO, LUMEN) == [*expected, ("role=tail", "tail", 2)]


def test_dependents_hang_on_the_path_to_the_depth_in_the_order_of_the_text():
    near = [
        ("", "xu", -1),
        ("dobj<", "hired", 0),
        ("adv>", "luckily", 1),
        ("nsubj>", "park", 1),
        ("role=tail", "tail", 3),
        ("adv>", "here", 3),
        ("adv>", "late", 1),
        ("det>", "the", 0),
        ("amod>", "new", 0),
        ("prep>", "of", 0),
    ]
    assert tree(BO, ADA, depth=1) == near
    assert [word for _, word, _ in tree(BO, ADA, depth=2)] == [
        *("xu", "hired", "luckily", "park", "tail", "here", "late", "quite", "the", "new", "of"),
        "lumen",
    ]
    assert tree(BO, ADA, depth=3)[-1] == ("mid>", "inc", 11)
    assert tree(BO, ADA, depth=3) == tree(BO, ADA, depth=9) == tree(BO, ADA, name="sentence")


def test_what_governs_the_path_is_in_the_sentence_alone():
    assert not {"hired", "park"}.intersection(word for _, word, _ in tree(BO, LUMEN, depth=9))
    nodes = tree(BO, LUMEN, name="sentence")
    assert nodes[:5] == [
        ("", "xu", -1),
        ("dobj<", "hired", 0),
        ("adv>", "luckily", 1),
        ("nsubj>", "park", 1),
        ("comp>", "ada", 3),
    ]
    assert len(nodes) == 1 + 15 - 2  # the leaf; without the other words of both entities


def test_dependents_show_the_first_entity_that_holds_them():
    nodes = tree(BO, LUMEN, ADA, row=(0, 1), name="sentence", blind=True)
    assert [word for _, word, _ in nodes if word in "POX"] == ["P", "P", "P", "P", "O"]


def test_what_hangs_on_words_of_an_own_entity_goes_with_them():
    of_lumen = (10, 12, "O")  # Inc hangs on Lumen
    nodes = [("", "of", -1), ("prep<", "xu", 0), ("role=tail", "tail", 1)]
    nodes += [("det>", "the", 1), ("amod>", "new", 1)]
    assert tree(of_lumen, BO, depth=9) == nodes
    assert not {"lumen", "inc"}.intersection(
        word for _, word, _ in tree(of_lumen, BO, name="sentence")
    )


@pytest.mark.parametrize("name", ["subtree", "sentence"])
def test_no_path_leaves_no_nodes(name):
    assert tree(BO, CARED, name=name, depth=2) == []
    assert tree(BO, CARED, LUMEN, name=name, roles=ROLES[:3]) == []


def test_a_depth_below_0_is_refused():
    with pytest.raises(ValueError, match="depth is -1; give at least 0"):
        ViewExtractor(depth=-1)


def test_the_ways_to_two_roles_share_their_beginning_in_a_subtree():
    (tree,) = words(views(make(), candidates(make(), [(0, 2, 3, -1)]))["subtree"])
    assert [(word, parent) for _, word, parent in tree] == [
        ("zap2", -1),
        ("facilitates", 0),
        ("bond", 1),
        ("of", 2),
        ("zap1", 3),
        ("Theme", 4),
        ("to", 2),
        ("actin", 6),
        ("Theme2", 7),
    ]


def test_one_entity_in_another_role_is_another_structure():
    found = views(make(), candidates(make(), [(1, 2, -1, -1), (1, -1, -1, 2)]), blind=True)
    for structures in found.values():
        first, second = words(structures)
        assert first != second
        assert len(first) == len(second)


def test_an_absent_trigger_leaves_the_first_role_that_is_there_as_the_start():
    path, tree = (words(v)[0] for v in views(make(), candidates(make(), [(-1, 0, -1, 1)])).values())
    assert path == [
        ("", "zap2"),
        ("role=Theme", "zap2"),
        ("role=Cause", "zap2"),
        ("nsubj<", "facilitates"),
        ("dobj>", "bond"),
    ]
    assert [node[1] for node in tree] == ["zap2", "Theme", "facilitates", "bond", "Cause"]


def test_blinded_ends_show_their_label():
    found = views(make(), candidates(make(), [EVENT]), blind=True)
    assert [word for _, word in words(found["path"])[0]][:4] == ["Binding", "Binding", "of", "P"]
    assert [word for _, word, _ in words(found["subtree"])[0]][:4] == [
        "Binding",
        "facilitates",
        "P",
        "Cause",
    ]


def test_a_role_that_no_path_reaches_leaves_nothing_of_the_candidate():
    doc = make(WORDS[:4], (0, 0, 2, 2), ("ROOT", "a", "ROOT", "b"))
    places = [(i, i + 1, "P") for i in range(4)]
    rows = [(0, 1, 2, -1), (0, 1, -1, -1), (2, 1, 3, -1), (2, 3, -1, -1)]
    found = views(doc, candidates(doc, rows, places))
    assert found["path"].lengths.tolist() == [0, 3, 0, 3]
    assert found["subtree"].lengths.tolist() == [0, 3, 0, 3]


def test_each_attribute_of_a_leaf_is_the_role():
    found = views(make(), candidates(make(), [EVENT]), attributes=("lemma", "pos"))
    assert found["subtree"].words(0)[3] == ("role=Cause",) * 3


def test_a_doc_without_candidates_has_empty_views_that_can_be_joined_with_others():
    empty = views(Doc(VOCAB), candidates(Doc(VOCAB), [], places=()))
    found = views(make(), candidates(make(), [EVENT]))
    joined = concat_views([empty, found])
    assert {name: words(v) for name, v in joined.items()} == {
        name: words(v) for name, v in found.items()
    }


@pytest.mark.parametrize("names", [("path",), ("subtree",), ("subtree", "path")])
def test_only_the_named_views_are_given(names):
    assert tuple(views(make(), candidates(make(), [EVENT]), names=names)) == names


def test_word_vectors_stay_with_their_words_and_roles_have_none():
    vocab = spacy.blank("en").vocab
    vocab.set_vector("of", np.array([0, 2], np.float32))
    doc = Doc(vocab, words=list(WORDS), heads=list(HEADS), deps=list(DEPS))
    for structures in views(doc, candidates(doc, [EVENT])).values():
        rows = dict(zip(structures.symbols, structures.vectors.tolist(), strict=True))
        assert rows.pop("lemma=of") == [0, 1]
        assert set(map(tuple, rows.values())) == {(0, 0)} and "role=Cause" in rows


@st.composite
def problems(draw):
    """A Doc of random trees, spans, and candidates of some of them in some of the roles."""
    heads = draw(strategies.governors())
    n = len(heads)
    doc = make([f"W{i}" for i in range(n)], heads, [f"d{i % 3}" for i in range(n)])
    places = []
    for i in range(4):
        start = draw(st.integers(0, n - 1))
        places.append((start, draw(st.integers(start + 1, n)), f"L{i}"))
    n_roles = draw(st.integers(2, 4))
    lowest = -1 if n_roles > 2 else 0
    row = st.lists(st.integers(lowest, 3), min_size=n_roles, max_size=n_roles)
    drawn = draw(st.lists(row.filter(lambda row: max(row) >= 0), max_size=5))
    return doc, candidates(doc, drawn, places, ROLES[:n_roles])


def shown(doc, entities, token, blind):
    labels = [e.label_ for e in entities if e.start <= token < e.end] if blind else []
    return labels[0] if labels else doc[token].lower_


def naive_piece(doc, entities, a, b, blind):
    """[token, edge, word] of each node on the way from entity `a` to entity `b`."""
    governors = [token.head.i for token in doc]
    found = naive_paths.path(governors, entities[a].root.i, entities[b].root.i)
    nodes = []
    for token, arc in found:
        edge = f"{doc[arc].dep_}{'>' if arc == token else '<'}" if arc >= 0 else ""
        nodes.append([token, edge, shown(doc, entities, token, blind)])
    if nodes and blind:
        nodes[0][2], nodes[-1][2] = entities[a].label_, entities[b].label_
    if len(nodes) == 1 and blind:
        nodes[0][2] = entities[b].label_
    return nodes


def pieces(doc, found, row, blind):
    """The role to which each path of a candidate leads and its nodes; nothing without a path."""
    entities, roles = found.entities, found.roles
    if len(roles) == 2:
        found = [("", naive_piece(doc, entities, *row, blind))]
    else:
        first = next(j for j in row if j >= 0)
        others = [(f"role={role}", j) for role, j in zip(roles, row, strict=True) if j >= 0]
        others = [(role, j) for role, j in others if role != f"role={roles[0]}"]
        found = [
            (role, naive_piece(doc, entities, first, j, blind))
            for role, j in [("", first), *others]
        ]
    return found if all(piece for _, piece in found) else []


def naive_path(doc, found, row, blind):
    """Nodes of the path, as `words` gives them."""
    return [
        (edge if k else name, word)
        for name, piece in pieces(doc, found, row, blind)
        for k, (_, edge, word) in enumerate(piece)
    ]


def naive_tree(doc, found, row, blind, depth, *, whole):
    """Nodes of the subtree or of the sentence, as `words` gives them."""
    entities, ways = found.entities, [piece for _, piece in pieces(doc, found, row, blind)]
    if not ways:
        return []
    shows = {}
    for token, _, word in (node for way in ways for node in way):
        shows.setdefault(token, word)
    named = [(role, j) for role, j in zip(found.roles, row, strict=True) if j >= 0]
    nodes = naive_paths.tree(
        [token.head.i for token in doc],
        [[token for token, *_ in way] for way in ways],
        {i for _, j in named for i in range(entities[j].start, entities[j].end)},
        {role: entities[j].root.i for role, j in named if role != found.roles[0]},
        depth,
        whole=whole,
    )
    out = []
    for node, place in nodes:
        if isinstance(node, str):
            out.append((f"role={node}", node, place))
            continue
        above, edge = (None, "") if place is None else (nodes[place][0], f"{doc[node].dep_}>")
        if above is not None and doc[node].head.i != above:
            edge = f"{doc[above].dep_}<"
        word = shows.get(node, shown(doc, entities, node, blind))
        out.append((edge, word, -1 if place is None else place))
    return out


@strategies.THOROUGH
@given(problems(), st.booleans(), st.integers(0, 3))
def test_views_equal_a_breadth_first_search(problem, blind, depth):
    doc, found = problem
    every = views(doc, found, names=("path", "subtree", "sentence"), blind=blind, depth=depth)
    rows = found.arguments.tolist()
    assert words(every["path"]) == [naive_path(doc, found, row, blind) for row in rows]
    for name in ("subtree", "sentence"):
        assert words(every[name]) == [
            naive_tree(doc, found, row, blind, depth, whole=name == "sentence") for row in rows
        ]


@strategies.THOROUGH
@given(problems())
def test_a_subtree_holds_the_ways_between_any_two_roles_and_nothing_else(problem):
    doc, found = problem
    trees = words(views(doc, found)["subtree"])
    governors = [token.head.i for token in doc]
    for row, tree in zip(found.arguments.tolist(), trees, strict=True):
        roots = [found.entities[j].root.i for j in row if j >= 0]
        ways = [naive_paths.path(governors, a, b) for a, b in combinations(roots, 2)]
        tokens = {token for way in ways for token, _ in way} | set(roots)
        own = [word for edge, word, _ in tree if not edge.startswith("role=")]
        assert not tree or sorted(own) == sorted(f"w{i}" for i in tokens)
        assert bool(tree) == all(ways)
