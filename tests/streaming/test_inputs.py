import logging
import sys

import pytest

from spacy_klsh.streaming.inputs import list_sources
from spacy_klsh.streaming.options import Format, Options


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Writes files of one byte, and goes there."""
    monkeypatch.chdir(tmp_path)

    def tree(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x")

    return tree


def names(*given, **options):
    return [source.name for source in list_sources(given, Options(**options))]


def test_directories_are_sorted_and_searched_to_the_bottom(tree):
    tree("d/b.txt", "d/a/z.jsonl", "d/c.CSV", "d/B.txt.gz", "d/.hidden.txt", "d/.git/x.txt")
    assert names("d") == ["d/B.txt.gz", "d/a/z.jsonl", "d/b.txt", "d/c.CSV"]
    assert names("d", format=Format.text) == ["d/B.txt.gz", "d/b.txt"]


def test_other_files_in_directories_are_reported(tree, caplog):
    tree("d/a.txt", "d/b.png", "d/c.md")
    with caplog.at_level(logging.WARNING):
        assert names("d") == ["d/a.txt"]
    assert "d: 2 files end in none of .txt, .jsonl" in caplog.text
    assert "left out; the first is d/b.png" in caplog.text


def test_globs(tree):
    tree("d/b.log", "d/a.log", "d/x/c.log", "d/a.txt")
    assert names("d/*.log") == ["d/a.log", "d/b.log"]
    assert names("d/**/*.log") == ["d/a.log", "d/b.log", "d/x/c.log"]


def test_a_file_may_be_called_like_a_glob(tree):
    tree("a[1].txt", "a1.txt")
    assert names("a[1].txt") == ["a[1].txt"]


def test_files_named_twice_are_read_once(tree):
    tree("d/a.txt", "d/b.txt")
    assert names("d/b.txt", "d", "-", "d/*.txt", "-") == ["d/b.txt", "d/a.txt", "-"]


def test_files_are_called_as_given(tree):
    tree("d/a.txt")
    assert names("./d/../d/a.txt") == ["./d/../d/a.txt"]


def test_texts_beside_annotations_are_documents_of_brat(tree):
    tree("d/a.txt", "d/a.ann", "d/b.txt")
    assert names("d") == ["d/a.ann", "d/b.txt"]
    assert names("d", format=Format.brat) == ["d/a.ann", "d/b.ann"]
    assert names("d/a.txt", format=Format.brat) == ["d/a.ann"]
    assert names("d/a.txt") == ["d/a.txt"]
    assert list_sources(["d/a.ann"], Options())[0].n_bytes == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a.txt", "no.txt", "nor.txt", "-"], "no such file: no.txt, nor.txt"),
        (["*.md"], "no file fits '*.md'; check the pattern."),
        (["empty"], "the directory empty holds no file that ends in .txt, .jsonl"),
    ],
)
def test_what_is_not_there_is_an_error_at_once(tree, tmp_path, given, message):
    tree("a.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError) as error:
        names(*given)
    assert message in str(error.value)


def test_urls_that_nothing_can_open_are_an_error_at_once(tree):
    with pytest.raises(NotImplementedError, match="foo"):
        names("foo://bucket/a.txt")


def test_what_zstd_needs_is_said(tree, monkeypatch):
    tree("a.txt.zst")
    monkeypatch.setattr(sys, "version_info", (3, 11))
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(ModuleNotFoundError, match=r"python -m pip install spacy-klsh\[zst\]"):
        names("a.txt.zst")


@pytest.mark.parametrize(
    ("source", "format"),
    [
        ("a.TXT", Format.text),
        ("a", Format.text),
        ("-", Format.text),
        ("a.jsonl.bz2", Format.jsonl),
        ("a.tsv.zst", Format.tsv),
        ("https://host/a.csv.gz?x=b.txt", Format.csv),
        ("s3://bucket/v1.2/a", Format.text),
        ("a.spacy", Format.docbin),
        ("a.ann", Format.brat),
        ("a.md", Format.text),
    ],
)
def test_formats_by_suffix(source, format):
    assert Options().format_of(source) is format
    assert Options(format=Format.tsv).format_of(source) is Format.tsv
