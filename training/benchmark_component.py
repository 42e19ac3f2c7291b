"""How long the component takes beside the tagger and the parser of its pipeline, by stage."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time

import spacy
from benchmark_kernel import BASE, read
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_klsh.pipeline.annotation import Prediction
from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.comparison import Compared, codes_of, encode, extract
from spacy_klsh.pipeline.component import RelationExtractor
from spacy_klsh.pipeline.explanation import explain
from spacy_klsh.pipeline.policy import propose
from spacy_klsh.similarity import SymbolTable, own_similarity
from spacy_klsh.views import distinct, take

N_SENTENCES, BATCH_SIZE, REPEATS = 2000, 128, 5
CONFIG = {"direction": "none", "candidates": {"spans_key": "entities"}}


class Stopwatch(Counter[str]):
    """Processor seconds by name."""

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Add what the block takes to `name`."""
        begin = process_time()
        yield
        self[name] += process_time() - begin


def component(corpora: Path) -> dict[str, float]:
    """Processor seconds for AIMed and BioInfer: of each stage, of ours and of the parser.

    Documents are taken until 2,000 sentences hold a pair of entities. The component is
    trained on the same ones, so that its trees are as large as they get, with the default
    config. ``tagger_parser_s`` is everything of the base pipeline but its recognizer,
    ``ours_s`` the component's own ``pipe``; the stages run the pieces of its ``predict``
    one by one. All take turns on fresh copies of the Docs, and no one clears the garbage
    of another; times are medians.
    """
    nlp = spacy.load(BASE, exclude=["ner"])
    docs, n_sentences = chosen([*read(nlp, corpora, "AIMed"), *read(nlp, corpora, "BioInfer")])
    extractor = trained(nlp, docs)
    measured(nlp, extractor, docs[:BATCH_SIZE])  # compiles and fills caches
    runs = [measured(nlp, extractor, docs) for _ in range(REPEATS)]
    figures = {f"{name}_s": median(run[name] for run in runs) for name in runs[0]}
    return {
        **figures,
        "share": figures["ours_s"] / figures["tagger_parser_s"],
        "n_sentences": n_sentences,
        "n_sentences_without_pairs": sum(len(list(doc.sents)) for doc in docs) - n_sentences,
        "n_documents": len(docs),
        "n_candidates": sum(map(len, candidates_of(extractor, docs))),
    }


def chosen(docs: Sequence[Doc]) -> tuple[list[Doc], int]:
    """The first documents with `N_SENTENCES` sentences of two entities or more, and how many."""
    n_sentences, taken = 0, []
    for doc in docs:
        if n_sentences >= N_SENTENCES:
            break
        entities = Counter(span.sent.start for span in doc.spans["entities"])
        n_sentences += sum(n > 1 for n in entities.values())
        taken.append(doc)
    return taken, n_sentences


def trained(nlp: Language, docs: Sequence[Doc]) -> RelationExtractor:
    """The component with its default config, trained on `docs`."""
    extractor = nlp.create_pipe("klsh_relations", config=CONFIG)
    parsed = nlp.pipe(doc.copy() for doc in docs)
    examples = [Example(nlp.make_doc(""), doc) for doc in parsed]
    extractor.initialize(lambda: examples)
    return extractor


def candidates_of(extractor: RelationExtractor, docs: Sequence[Doc]) -> list[Candidates]:
    """The candidates that ``predict`` looks at."""
    return [found.among(extractor.entity_labels) for found in propose(extractor, docs)]


def measured(nlp: Language, extractor: RelationExtractor, docs: Sequence[Doc]) -> Stopwatch:
    """Seconds of one pass over all documents."""
    watch = Stopwatch()
    fresh = [doc.copy() for doc in docs]
    gc.collect()
    with watch.time("tagger_parser"):
        parsed = list(nlp.pipe(fresh, batch_size=BATCH_SIZE))
    for first in range(0, len(parsed), BATCH_SIZE):
        stages(extractor, parsed[first : first + BATCH_SIZE], watch)
    watch["gram"] -= watch["similarity"]
    found = [doc._.relations for doc in parsed]
    gc.collect()
    with watch.time("ours"):
        again = list(extractor.pipe(parsed, batch_size=BATCH_SIZE))
    if found != [doc._.relations for doc in again]:
        raise RuntimeError("the stages find other relations than predict; bring them up to date.")
    return watch


def stages(extractor: RelationExtractor, docs: Sequence[Doc], watch: Stopwatch) -> None:
    """What ``predict`` and ``set_annotations`` do with one batch, step by step.

    The kernel compares symbols itself: that part is timed on its own beforehand, and
    later subtracted from the time of the kernel.
    """
    hashing, scheme = extractor.hashing, extractor.scheme
    reference = SymbolTable(hashing.reference_["path"], hashing.kernel)
    with watch.time("candidates"):
        candidates = candidates_of(extractor, docs)
    with watch.time("extraction"):
        candidates, views = extract(extractor, docs, candidates)
        paths = {"path": views["path"]}
        first, rows = distinct(paths)
        paths = take(paths, first if extractor.classifier.widths_[0] else [])
    with watch.time("similarity"):
        reference.similarity(paths["path"])
        own_similarity(paths["path"], hashing.kernel)
    with watch.time("gram"):
        gram = hashing.similarities(paths)
    with watch.time("bits"):
        codes = hashing.encode(gram)
        codes = codes[rows] if len(codes) else codes_of(extractor, views)
    with watch.time("features"):
        encoded = encode(extractor, codes, views)
    with watch.time("classifier"):
        probabilities = extractor.classifier.predict_proba(encoded)
    with watch.time("annotation"):
        compared = Compared(encoded.views, probabilities)
        attached = scheme.attached(candidates, probabilities, extractor.effective_thresholds)
    with watch.time("evidence"):
        evidence = explain(extractor, compared, candidates, attached)
    with watch.time("annotation"):
        predictions = [
            Prediction([each.record for each in relations], dict(found.skipped), why)
            for relations, found, why in zip(attached, candidates, evidence, strict=True)
        ]
        extractor.set_annotations(docs, predictions)
