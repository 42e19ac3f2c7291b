import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.pipeline.lettering import is_from_right, text_width, visual_order


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("1998, …", False), ("Ada", False), ("לומן", True), ("شركة Lumen في لندن", True)],
)
def test_most_letters_decide_the_side(text, expected):
    assert is_from_right(text) is expected


@pytest.mark.parametrize(
    ("words", "from_right", "shown"),
    [
        ("a b c", False, "a b c"),
        ("א ב ג", True, "ג ב א"),
        ("a א ב c", False, "a ב א c"),
        ("א New York Times ב", True, "ב New York Times א"),
        ("א New & York ב", True, "ב New & York א"),
        ("a א , ב c", False, "a ב , א c"),
        ("א 7 ב .", True, ". ב 7 א"),
    ],
)
def test_each_script_runs_its_own_way(words, from_right, shown):
    words = words.split()
    order = visual_order(words, from_right=from_right)
    assert [words[i] for i in order] == shown.split()


@strategies.THOROUGH
@given(st.lists(st.text("aBא7. \u0301", max_size=2), max_size=8), st.booleans())
def test_every_word_is_shown_once(words, from_right):
    assert sorted(visual_order(words, from_right=from_right)) == list(range(len(words)))


def test_widths_grow_with_the_letters():
    narrow, wide, full, nothing = (text_width(w, 10) for w in ("ill", "MMM", "漢字漢", "\u0301"))
    assert 0 < nothing < narrow < wide <= full
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("abc", 20) == 2 * text_width("abc", 10)
