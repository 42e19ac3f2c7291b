"""Tokens split: in training at the mentions of a corpus, at run time at the same characters."""

from __future__ import annotations

import json
import logging
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example

logger = logging.getLogger(__name__)

FORMAT_VERSION = 1
META = "meta.json"
# What the pieces of a token take over from it; NORM and LEMMA are of the token as a whole.
INHERITED = ["TAG", "POS", "MORPH", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"]
HOOKS = ("user_hooks", "user_token_hooks", "user_span_hooks")
OF_THE_DOC = ("_context", "cats", "has_unknown_spaces", "sentiment", *HOOKS)


def split_tokens(doc: Doc, cuts: Collection[int]) -> Doc:
    """Doc of the same text with tokens split at the character offsets `cuts`.

    Without a cut inside a token it is `doc` itself, else a new Doc that takes over entities,
    spans, sentence starts, tags and user data. The lemma and the norm of a piece are its own.

    Raises
    ------
    ValueError
        If a token must be split but has a dependency parse or a row of ``doc.tensor``.
    """
    ordered = sorted(cuts)
    words: list[str] = []
    spaces: list[bool] = []
    pieces: list[int] = []
    for token in doc:
        end = token.idx + len(token)
        inside = ordered[bisect_right(ordered, token.idx) : bisect_left(ordered, end)]
        edges = [edge - token.idx for edge in (token.idx, *inside, end)]
        words += [token.text[a:b] for a, b in pairwise(edges)]
        spaces += [False] * len(inside) + [bool(token.whitespace_)]
        pieces.append(len(inside) + 1)
    if len(words) == len(doc):
        return doc
    if doc.has_annotation("DEP") or doc.tensor.size:
        raise ValueError(
            f"{doc[int(np.argmax(pieces))].text!r} must be split but the Doc is already parsed or "
            "has a tensor, whose rows are tokens; put what splits tokens (klsh_tokens) first in "
            "the pipeline."
        )
    split = Doc(doc.vocab, words=words, spaces=spaces, user_data=doc.user_data)
    for name in OF_THE_DOC:
        setattr(split, name, getattr(doc, name))
    _annotate_pieces(split, doc, pieces)
    for key, group in doc.spans.items():
        split.spans[key] = group.copy(doc=split)
    return split


def _annotate_pieces(split: Doc, doc: Doc, pieces: Sequence[int]) -> None:
    """Token attributes of `doc`, whose token i became ``pieces[i]`` tokens of `split`."""
    columns = {
        name: np.repeat(doc.to_array(name), pieces) for name in (*INHERITED, "LEMMA", "NORM")
    }
    is_piece = np.repeat(np.array(pieces) > 1, pieces)
    is_later = np.ones(len(split), bool)
    is_later[np.cumsum([0, *pieces[:-1]])] = False
    columns["NORM"][is_piece] = 0  # the lexeme's
    has_lemma = is_piece & (columns["LEMMA"] != 0)
    columns["LEMMA"][has_lemma] = split.to_array("ORTH")[has_lemma]
    columns["ENT_IOB"][is_later & (columns["ENT_TYPE"] != 0)] = 1  # inside; 3 without type: blocked
    starts = columns["SENT_START"]
    known = doc.has_annotation("SENT_START")  # the first token is always said to be a start
    starts[is_later & (starts != 0)] = np.uint64(2**64 - 1) if known else 0  # -1: no start
    rows: Any = np.stack(list(columns.values()), axis=1)
    split.from_array(list(columns), rows)


def edges_of(characters: Collection[str], text: str) -> set[int]:
    """Offsets before and after each of the `characters` in `text`."""
    return {
        edge for i, character in enumerate(text) if character in characters for edge in (i, i + 1)
    }


def learn_characters(
    docs: Iterable[Doc], tokenizer: Callable[[str], Doc], *, min_share: float
) -> tuple[str, ...]:
    """Punctuation and symbols at which the tokens of `docs` are split ones of `tokenizer`.

    Of all places of a character inside tokens of `tokenizer`, at least `min_share` must have
    a split before or after it.

    Raises
    ------
    ValueError
        If `tokenizer` changes a text.
    """
    places: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for doc in docs:
        plain = tokenizer(doc.text)
        if plain.text != doc.text:
            raise ValueError(
                f"the tokenizer changes the text {doc.text[:40]!r}; klsh_tokens needs one that "
                "keeps it."
            )
        starts = {token.idx for token in doc} - {token.idx for token in plain}
        for token in plain:
            for i, character in enumerate(token.text, token.idx):
                if len(token) > 1 and unicodedata.category(character)[0] in "PS":
                    places[character] += 1
                    used[character] += not starts.isdisjoint((i, i + 1))
    logger.info("splits at characters inside tokens: %s; of %s", dict(+used), dict(places))
    return tuple(sorted(c for c, n in (+used).items() if n >= min_share * places[c]))


class TokenSplitter(Pipe):
    """Splits tokens at the characters at which training had to; the factory ``klsh_tokens``.

    It stands first in the pipeline. Each of the characters becomes a token of its own.

    Parameters
    ----------
    name : str
        Name in the pipeline.
    split_at : sequence of str, optional
        The characters; None: learned in training from the tokens of the reference Docs.
    min_share : float in [0, 1]
        Learn a character if training split at this share of its places inside tokens or more.

    Attributes
    ----------
    characters : tuple of str, or None before training
    """

    def __init__(
        self,
        name: str = "klsh_tokens",
        *,
        split_at: Sequence[str] | None = None,
        min_share: float = 0.1,
    ) -> None:
        if isinstance(min_share, bool) or not 0 <= min_share <= 1:
            raise ValueError(f"min_share is {min_share!r}; give a number in [0, 1].")
        self.name = name
        self.split_at = None if split_at is None else _checked(split_at)
        self.min_share = min_share
        self.characters = self.split_at

    def __call__(self, doc: Doc) -> Doc:
        """`doc` itself if nothing is to be split, else a new Doc; see `split_tokens`.

        Raises
        ------
        ValueError
            Before training, or if a token of a parsed Doc must be split.
        """
        if self.characters is None:
            raise ValueError(
                f"{self.name!r} has not learned where to split; train it with `python -m spacy "
                "train` or its initialize(), or name the characters in split_at of its config."
            )
        return split_tokens(doc, edges_of(self.characters, doc.text))

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None
    ) -> None:
        """Learn the characters from the reference Docs, unless the config names them.

        Raises
        ------
        ValueError
            If there is no `nlp`, whose tokenizer is compared, or it changes a text.
        """
        if self.split_at is not None:
            return
        if nlp is None:
            raise ValueError(f"{self.name!r} learns from nlp's tokenizer; pass nlp=nlp.")
        references = (example.reference for example in get_examples())
        self.characters = learn_characters(references, nlp.tokenizer, min_share=self.min_share)
        logger.info("%s splits at %s", self.name, " ".join(self.characters) or "no character")

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The characters as JSON."""
        meta = {"format_version": FORMAT_VERSION, "characters": self.characters}
        return json.dumps(meta, indent=1).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TokenSplitter:
        """Take over what `to_bytes` gave.

        Raises
        ------
        ValueError
            If the bytes are damaged, of another format version, or hold other characters
            than the config.
        """
        try:
            meta = json.loads(data)
            version, characters = meta["format_version"], meta["characters"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"the saved klsh_tokens is damaged: {META} is no JSON with format_version and "
                "characters; copy it again or save it again with nlp.to_disk()."
            ) from error
        if version != FORMAT_VERSION:
            raise ValueError(
                f"the saved klsh_tokens has format version {version!r}, this spacy-klsh reads "
                f"{FORMAT_VERSION}; install the version that wrote it, or train again."
            )
        characters = None if characters is None else _checked(characters)
        if self.split_at not in (None, characters):
            raise ValueError(
                f"the saved klsh_tokens splits at {characters} but split_at in the config is "
                f"{self.split_at}; use the former, or train again."
            )
        self.characters = characters
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the characters to ``meta.json`` in the directory `path`."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / META).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> TokenSplitter:
        """Take over what `to_disk` wrote; raises like `from_bytes`."""
        return self.from_bytes((Path(path) / META).read_bytes())


def _checked(characters: Sequence[str]) -> tuple[str, ...]:
    """Sorted `characters`, each once."""
    fits = isinstance(characters, list | tuple) and all(
        isinstance(c, str) and len(c) == 1 and not c.isspace() for c in characters
    )
    if not fits:
        raise ValueError(
            f"characters to split at are {characters!r}; give a list of single characters that "
            "are no white space."
        )
    return tuple(sorted(set(characters)))
