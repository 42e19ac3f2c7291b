"""The formats that can be read: names, readers and options. Readers are imported when used."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

TRUTHS = {"true": True, "false": False}


class Option(NamedTuple):
    """A keyword argument of a reader: its type as annotated, and its default."""

    kind: Any
    default: Any


class Format(NamedTuple):
    """What is read by ``module:function`` of `spacy_klsh.corpora`, and what it is in one line.

    Readers are ``read(paths, nlp, *, align, **options) -> (docs, report)``.
    """

    reader: str
    about: str

    @property
    def read(self) -> Callable[..., Any]:
        """The reader."""
        module, _, function = self.reader.partition(":")
        read: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
        return read

    @property
    def options(self) -> dict[str, Option]:
        """What the reader takes besides paths, pipeline and `align`."""
        read = self.read
        kinds = get_type_hints(read)
        return {
            name: Option(kinds[name], parameter.default)
            for name, parameter in inspect.signature(read).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name != "align"
        }

    def parse(self, settings: Iterable[str]) -> dict[str, Any]:
        """Keyword arguments of the reader from ``name=value``.

        Raises
        ------
        ValueError
            If the reader has no such option, or it means another kind of value.
        """
        options = self.options
        arguments = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or name not in options:
                known = ", ".join(
                    f"{name}={words(option.kind)}" for name, option in options.items()
                )
                raise ValueError(f"option {setting!r}: expected one of {known or 'none at all'}.")
            try:
                arguments[name] = parse_value(value, options[name].kind)
            except ValueError:
                raise ValueError(
                    f"option {name} is {value!r}; give {words(options[name].kind)}."
                ) from None
        return arguments


FORMATS = {
    "jsonl": Format("jsonl:read_jsonl", "our own format: a JSON object with entities a line"),
    "interaction-xml": Format(
        "interaction_xml:read_interaction_xml",
        "sentences with interactions or pairs: AIMed, BioInfer, DDI 2013",
    ),
    "brat": Format("standoff:read_brat", "brat standoff: .txt and .ann beside each other"),
    "bionlp": Format("standoff:read_bionlp", "BioNLP shared tasks: .txt, .a1 and .a2"),
    "chemprot": Format("chemprot:read_chemprot", "tables of ChemProt and DrugProt"),
    "semeval": Format("semeval:read_semeval", "SemEval-2010 Task 8 and KBP37: <e1>, <e2>"),
    "spert": Format("spert:read_spert", "SpERT's JSON: tokens, entities, relations"),
    "conll04": Format("conll04:read_conll04", "CoNLL04's .corp: a token a line"),
    "prodigy": Format("prodigy:read_prodigy", "what Prodigy's relations recipe writes"),
    "bioinfer-jsonl": Format(
        "bioinfer_jsonl:read_bioinfer_jsonl", "BioInfer with its types of relations"
    ),
    "pubtator": Format("pubtator:read_pubtator", "PubTator: abstracts with concepts"),
    "bioc": Format("bioc_xml:read_bioc", "BioC XML"),
}


def find_format(name: str) -> Format:
    """The format called `name`.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in FORMATS:
        raise ValueError(f"format is {name!r}; choose one of {', '.join(FORMATS)}.")
    return FORMATS[name]


def parse_value(value: str, kind: Any) -> Any:
    """`value` as the annotated type `kind`: text, whole number, truth or choice.

    Raises
    ------
    ValueError
        If it is none.
    """
    kind = _present(kind)
    if get_origin(kind) is Literal:
        return _chosen(value, {choice: choice for choice in get_args(kind)})
    if kind is bool:
        return _chosen(value.lower(), TRUTHS)
    return kind(value)


def words(kind: Any) -> str:
    """What a value of the annotated type `kind` looks like."""
    kind = _present(kind)
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return {bool: "true|false", int: "NUMBER", str: "TEXT"}[kind]


def _present(kind: Any) -> Any:
    """`kind` without None."""
    if get_origin(kind) in (Union, types.UnionType):
        (kind,) = (choice for choice in get_args(kind) if choice is not types.NoneType)
    return kind


def _chosen(value: str, choices: Mapping[str, Any]) -> Any:
    if value not in choices:
        raise ValueError(value)
    return choices[value]
