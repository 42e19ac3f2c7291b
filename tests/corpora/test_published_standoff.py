import tarfile
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import naive_standoff as naive
import pytest
import spacy
from spacy.tokens import Doc

from spacy_klsh.corpora.standoff import read_bionlp, read_brat


def extras(docs, name):
    return [each for doc in docs for each in doc.user_data.get(name, ())]


@pytest.fixture(scope="module")
def ge(corpus, tmp_path_factory):
    """Folder of one part of the GE corpora."""
    folder = tmp_path_factory.mktemp("ge")
    names = {"2009": "bionlp-st-2009", "2011": "bionlp-st-2011-ge", "2013": "bionlp-st-2013-ge"}

    def ge(year, part):
        path = folder / names[year] / "original-data" / part
        if not path.exists():
            with tarfile.open(corpus(f"bionlp-ge/{names[year]}.tar.gz")) as archive:
                archive.extractall(folder, filter="data")
        return path

    return ge


TYPES = [
    *("Gene_expression", "Transcription", "Protein_catabolism", "Phosphorylation"),
    *("Localization", "Binding", "Regulation", "Positive_regulation", "Negative_regulation"),
    *("Protein_modification", "Ubiquitination", "Acetylation", "Deacetylation", "Coreference"),
]


@pytest.mark.parametrize(
    ("year", "part", "n_documents", "n_proteins", "n_triggers", "n_modified", "n_equal", "by_type"),
    [
        (
            *("2009", "train", 800, 9300, 7041, (615, 455), 536),
            "1738 576 110 169 265 887 961 2847 1062",
        ),
        ("2009", "devel", 150, 2080, 1476, (107, 95), 110, "356 82 21 47 53 249 173 618 196"),
        (
            *("2011", "train", 908, 11625, 8362, (759, 623), 571),
            "2265 667 110 192 281 988 1113 3385 1309",
        ),
        ("2011", "devel", 259, 4690, 2569, (217, 242), 128, "749 158 23 111 67 375 296 1000 471"),
        (
            *("2013", "train", 222, 3571, 2436, (225, 236), 53),
            "729 122 23 117 44 195 299 780 496 8 4 0 0 178",
        ),
        (
            *("2013", "devel", 249, 4138, 2897, (243, 253), 41),
            "591 98 30 197 197 376 284 883 532 1 2 3 5 160",
        ),
    ],
)
def test_published_events(
    ge, nlp, year, part, n_documents, n_proteins, n_triggers, n_modified, n_equal, by_type
):
    folder = ge(year, part)
    docs, report = read_bionlp(folder, nlp)
    assert report.ok and report.documents == len(docs) == n_documents
    assert report.mentions["Protein"] == n_proteins
    assert report.mentions.total() == n_proteins + n_triggers
    assert report.relations == +Counter(dict(zip(TYPES, map(int, by_type.split()), strict=False)))
    assert sum(len(doc._.relations_data) for doc in docs) == report.relations.total()
    assert sum(len(doc.spans["entities"]) for doc in docs) == n_proteins + n_triggers
    labels = Counter(each["label"] for each in extras(docs, "modifications"))
    assert (labels["Negation"], labels["Speculation"]) == n_modified
    assert report.changes["modifications"] == sum(n_modified) == labels.total()
    assert report.changes["equivalences"] == n_equal
    assert len(extras(docs, "equivalences")) == n_equal
    expected = {
        *("modifications", "equivalences", "equal_relations"),
        *("split_mentions", "nested_mentions"),
    }
    assert set(report.changes) <= expected | {"moved_mentions"}
    for doc in docs:
        files = [folder / f"{doc.user_data['id']}.{end}" for end in ("a1", "a2")]
        naive.check(doc, "".join(map(Path.read_text, files)).splitlines())


@pytest.mark.parametrize(
    ("year", "n_documents", "n_proteins"),
    [("2009", 260, 3589), ("2011", 347, 5301), ("2013", 305, 4359)],
)
def test_published_test_sets(ge, nlp, year, n_documents, n_proteins):
    docs, report = read_bionlp(ge(year, "test"), nlp, gold=False)
    assert report.ok and report.documents == n_documents
    assert report.mentions == {"Protein": n_proteins} and not report.relations
    assert sum(len(doc.spans["entities"]) for doc in docs) == n_proteins
    assert {doc._.relations_data for doc in docs} == {None}


def test_published_sample_with_a_readme(ge, nlp):
    docs, report = read_bionlp(ge("2009", "sample"), nlp)
    assert len(docs) == 6 and report.errors == {"missing_files": 1}
    assert "readme.txt: missing .a1 and .a2" in report.examples["missing_files"][0]


def test_published_drug_interactions(corpus, nlp, tmp_path):
    with ZipFile(corpus("ddi2013/DDICorpus-2013(BRAT).zip")) as archive:
        archive.extractall(tmp_path)
    n_documents, labels, n_mentions = {}, {}, 0
    for part in ("Train/DrugBank", "Train/MedLine", "Test"):
        docs, report = read_brat(tmp_path / "DDICorpusBrat" / part, nlp)
        n_documents[part] = len(docs)
        labels[part] = [
            report.relations[label] for label in ("MECHANISM", "EFFECT", "ADVISE", "INT")
        ]
        n_mentions += sum(len(doc.spans["entities"]) for doc in docs)
        assert report.mentions.total() == sum(len(doc.spans["entities"]) for doc in docs)
        assert sum(len(doc._.relations_data) for doc in docs) == report.relations.total()
        if part == "Train/DrugBank":
            assert report.errors == {"wrong_mentions": 1}
            (example,) = report.examples["wrong_mentions"]
            assert "Eszopiclone_ddi.ann" in example and "expected '(R)-warfarin'" in example
        else:
            assert report.ok
        assert not report.changes["lost_mentions"] + report.changes["lost_relations"]
    assert n_documents == {"Train/DrugBank": 572, "Train/MedLine": 142, "Test": 212 + 91}
    assert labels == {
        "Train/DrugBank": [1257, 1535, 818, 179],
        "Train/MedLine": [62, 152, 8, 10],
        "Test": [278 + 24, 298 + 62, 214 + 7, 94 + 2],
    }
    assert n_mentions == 18_490


def test_published_articles_with_notes(corpus, nlp, tmp_path):
    for shard in ("00000", "00600", "09001", "10801"):
        archive = corpus(f"text/regulatome-sample/{shard}.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(tmp_path / shard, filter="data")
    whole = spacy.blank("en")  # a token a text: only the reading counts here
    whole.tokenizer = lambda text: Doc(whole.vocab, words=[text], spaces=[False])
    docs, report = read_brat(tmp_path, whole, align="drop")
    assert report.ok and len(docs) == 2008
    assert report.mentions == {"Protein": 65_941} and report.changes["ignored_notes"] == 151_162
    few = sorted(tmp_path.rglob("*.ann"))[::40]
    docs, report = read_brat(few, nlp)
    assert report.ok and len(docs) == 51 and not report.changes["lost_mentions"]
    assert sum(len(doc.spans["entities"]) for doc in docs) == report.mentions["Protein"] > 1000
