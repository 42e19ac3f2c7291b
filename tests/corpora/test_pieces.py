import pytest

from spacy_klsh.corpora.documents import Mention
from spacy_klsh.corpora.pieces import agrees, covered, shift

TEXT = "renal or liver pain"
RENAL, PAIN = (0, 5), (15, 19)


@pytest.mark.parametrize(
    ("pieces", "wanted", "expected"),
    [
        ((RENAL,), "renal", True),
        ((RENAL,), "Renal", False),
        ((RENAL,), "", False),
        ((RENAL, PAIN), "renal pain", True),
        ((RENAL, PAIN), "renalpain", True),
        ((RENAL, PAIN), "renal  pain", False),
        ((PAIN, RENAL), "pain renal", True),
        ((PAIN, RENAL), "renal pain", False),
        ((RENAL, PAIN), None, True),
        ((), None, False),
        ((), "", False),
        ((RENAL, (5, 5)), "renal", False),
        (((9, 20),), "liver pain", False),
        (((9, 20),), None, False),
        (((-4, 19),), "pain", False),
    ],
)
def test_pieces_and_what_they_should_cover(pieces, wanted, expected):
    assert agrees(TEXT, pieces, wanted) == expected


def test_what_pieces_cover():
    assert covered(TEXT, (PAIN, RENAL)) == ["pain", "renal"]
    assert covered(TEXT, (PAIN, (18, 20))) == covered(TEXT, ()) == []
    assert shift((PAIN, RENAL), -2) == ((13, 17), (-2, 3)) and shift((), 3) == ()


def test_a_mention_keeps_several_pieces():
    assert Mention.covering((RENAL,), "X", "T1") == (0, 5, "X", "T1", ())
    assert Mention.covering((PAIN, RENAL), "X", "") == (0, 19, "X", "", (PAIN, RENAL))
    assert Mention.covering(((0, 8), (2, 4)), "X", "").end == 8
