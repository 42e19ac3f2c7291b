"""Corpus reader for training and evaluation with gold entities."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from .relations import DEFAULT_ATTR, register_extensions


class RelationCorpus:
    """Reads ``.spacy`` files; registered as ``spacy-klsh.RelationCorpus.v1``.

    The predicted Doc has the tokens and sentence starts of the reference, so that
    entities keep their boundaries.

    Parameters
    ----------
    path : path of a ``.spacy`` file, or a directory of them
        They must have been written with ``DocBin(store_user_data=True)``, or the gold
        relations are not in them.
    gold_entities : bool
        Give the predicted Doc the gold entities, so that relations are scored apart
        from entity recognition. Other tokens are blocked: an entity recognizer in the
        pipeline adds nothing.
    spans_key : str, optional
        Copy ``doc.spans[spans_key]`` too.
    limit : int
        Read only so many Docs; 0: all.
    attr : str
        The gold relations are ``doc._.<attr>`` of the reference.
    """

    def __init__(
        self,
        path: str | Path | None,
        *,
        gold_entities: bool = True,
        spans_key: str | None = None,
        limit: int = 0,
        attr: str = DEFAULT_ATTR,
    ) -> None:
        self.path = path
        self.gold_entities = gold_entities
        self.spans_key = spans_key
        self.limit = limit
        self.attr = attr

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Examples with untouched predicted Docs.

        Raises
        ------
        ValueError
            If the path does not exist, holds no ``.spacy`` file or a broken one.
        """
        register_extensions(self.attr)
        for reference in islice(read_docs(self.path, nlp.vocab), self.limit or None):
            yield Example(self._predicted(reference), reference)

    def _predicted(self, reference: Doc) -> Doc:
        doc = untouched(reference)
        if self.gold_entities:
            give_entities(doc, reference, self.spans_key)
        return doc


def read_docs(path: str | Path | None, vocab: Vocab) -> Iterator[Doc]:
    """Docs of a ``.spacy`` file, or of all such files in a directory.

    Raises
    ------
    ValueError
        If the path does not exist, holds no ``.spacy`` file or a broken one.
    """
    place = Path(path or "")
    files = sorted(place.glob("**/*.spacy")) if place.is_dir() else [place]
    if path is None or not files or not files[0].exists():
        raise ValueError(
            f"no .spacy file at {path!r}; make one with `spacy-klsh convert` or "
            "DocBin(store_user_data=True), and name it in [paths] of the config."
        )
    for file in files:
        try:
            docs = DocBin().from_disk(file)
        except (zlib.error, ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{file} is not what DocBin writes ({error!r}); make it anew with `spacy-klsh "
                "convert` or DocBin(store_user_data=True)."
            ) from None
        yield from docs.get_docs(vocab)


def untouched(reference: Doc) -> Doc:
    """A Doc of the tokens, norms, sentence starts and ``user_data["id"]`` of `reference` alone."""
    words = [token.text for token in reference]
    spaces = [bool(token.whitespace_) for token in reference]
    starts: list[bool | int | None] | None = None
    if reference.has_annotation("SENT_START"):
        starts = [token.is_sent_start for token in reference]
    doc = Doc(reference.vocab, words=words, spaces=spaces, sent_starts=starts)
    for token, original in zip(doc, reference, strict=True):
        token.norm_ = original.norm_
    if "id" in reference.user_data:
        doc.user_data["id"] = reference.user_data["id"]
    return doc


def give_entities(doc: Doc, reference: Doc, spans_key: str | None = None) -> None:
    """Copy the entities of `reference`, none else, and block all other tokens.

    Raises
    ------
    ValueError
        If the tokens of `doc` are not those of `reference` or pieces of them.
    """
    doc.set_ents([_moved(span, doc) for span in reference.ents], default="blocked")
    if spans_key is None:
        return
    doc.spans.pop(spans_key, None)
    if spans_key in reference.spans:
        group = [_moved(span, doc) for span in reference.spans[spans_key]]
        doc.spans[spans_key] = SpanGroup(doc, name=spans_key, spans=group)


def _moved(span: Span, doc: Doc) -> Span:
    moved = doc.char_span(span.start_char, span.end_char, label=span.label_, span_id=span.id_)
    if moved is None:
        raise ValueError(
            f"the entity {span.text!r} begins or ends inside a token of the Doc that gets it; "
            "leave out components that merge tokens."
        )
    return moved
