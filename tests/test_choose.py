"""The script that chooses settings by cross-validation, on few documents."""

from statistics import mean

import choose
import pytest
import spacy
import typer
from pipeline import sentences
from spacy.tokens import DocBin


@pytest.fixture
def data(tmp_path, monkeypatch):
    nlp = spacy.blank("xx")
    docs = sentences.corpus(nlp.vocab, 15)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "few.spacy")
    monkeypatch.setattr(choose.spacy, "load", lambda *_, **__: nlp)
    monkeypatch.setitem(choose.SETTINGS_OF, "few", sentences.SMALL)
    return nlp, docs, tmp_path / "few.spacy"


def test_variants_start_from_the_settings_of_the_corpus(data, capsys):
    nlp, docs, path = data
    choose.main(path, ["{}", '{"classifier.n_members": 1}'], corpus="few")
    lines = [line for line in capsys.readouterr().out.splitlines() if "±" in line]
    for line, n_members in zip(lines, (10, 1), strict=True):
        classifier = {**sentences.SMALL["classifier"], "n_members": n_members}
        config = {**sentences.SMALL, "seed": 0, "classifier": classifier}
        runs = [choose.scores(nlp, docs, fold, config) for fold in choose.folds(15, 0)]
        for average in map(mean, zip(*runs, strict=True)):
            assert f"{average:.3f} ±" in line


def test_an_unknown_corpus_is_refused_with_the_known(data):
    with pytest.raises(typer.BadParameter, match=r"'many' is no corpus; choose from ppi, "):
        choose.main(data[2], ["{}"], corpus="many")
