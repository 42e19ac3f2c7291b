"""Trees for the parser recipe, from an archive made by hand."""

import io
import tarfile

import pytest
import spacy
import treebank
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import DocBin
from spacy.util import load_config, registry

ROWS = [("Foxes", "NNS", 2, "nsubj"), ("bind", "VBP", 0, "root"), ("hens", "NNS", 2, "dobj")]
SENTENCE = "".join(
    f"{i}\t{word}\t{word.lower()}\tX\t{tag}\t_\t{governor}\t{label}\t_\t_\n"
    for i, (word, tag, governor, label) in enumerate(ROWS, 1)
)


@pytest.fixture
def corpora(tmp_path):
    folder = tmp_path / "treebanks" / "craft"
    folder.mkdir(parents=True)
    with tarfile.open(folder / "craft-conllu.tar.gz", "w:gz") as archive:
        for number, n_sentences in (("11", 12), ("7", 1), ("5", 3)):
            content = (f"{SENTENCE}\n" * n_sentences).encode()
            member = tarfile.TarInfo(f"conllu/{number}.conllu")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (folder / "craft-ids-train.txt").write_text("7\n11\n", "utf-8")
    (folder / "craft-ids-dev.txt").write_text("5\n", "utf-8")
    return tmp_path


def test_articles_of_a_part_are_docs_of_ten_sentences(corpora, tmp_path):
    treebank.main(corpora, tmp_path / "out")
    vocab = spacy.blank("en").vocab
    found = {
        part: list(DocBin().from_disk(tmp_path / "out" / f"craft_{part}.spacy").get_docs(vocab))
        for part in treebank.PARTS
    }
    sizes = {part: [len(list(doc.sents)) for doc in docs] for part, docs in found.items()}
    assert sizes == {"train": [10, 2, 1], "dev": [3]}  # articles by their numbers as text
    doc = found["dev"][0]
    assert [(t.tag_, t.head.i, t.dep_) for t in doc[:3]] == [
        ("NNS", 1, "nsubj"),
        ("VBP", 1, "ROOT"),
        ("NNS", 1, "dobj"),
    ]


def test_the_recipe_trains_tagger_and_parser_alone():
    own = load_config("training/parser.cfg", {"paths.base": "x"})
    config = Language.default_config.merge(own).interpolate()
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    learned = set(config["nlp"]["pipeline"]) - set(training["frozen_components"])
    assert learned == {"tok2vec", "tagger", "parser"}
    assert {block["source"] for block in config["components"].values()} == {"x"}
