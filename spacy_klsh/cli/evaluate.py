"""``spacy-klsh evaluate``: scores of a pipeline on annotated Docs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .models import load, relation_extractor, stop, write_text


def evaluate(
    model: Annotated[str, typer.Argument(help="Pipeline with klsh_relations: package or path.")],
    data: Annotated[Path, typer.Argument(help=".spacy file with gold relations.")],
    gold_entities: Annotated[
        bool,
        typer.Option("--gold-entities", help="Score relations between the gold entities."),
    ] = False,
    choose_thresholds: Annotated[
        bool,
        typer.Option(
            "--choose-thresholds", help="First choose the thresholds with the best F1 on DATA."
        ),
    ] = False,
    positive_share: Annotated[
        list[str] | None,
        typer.Option(
            "--positive-share",
            metavar="SHARE|LABEL=SHARE",
            help="First set the thresholds so that this share of the candidates of DATA gets a "
            "label; no gold is looked at. Once for all labels, or once for each.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Save the pipeline with the new thresholds."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the scores to this file.")
    ] = None,
) -> None:
    """Score predicted relations against all gold relations of DATA.

    Scores on the Docs that thresholds were chosen on are too good: choose on one part,
    save with --output, and evaluate that on another. With --positive-share, DATA need
    no relations: without any, the thresholds are all there is to show.
    """
    from ..pipeline.readers import RelationCorpus

    share = _shares(positive_share) if positive_share else None
    if choose_thresholds and share is not None:
        stop("--choose-thresholds and --positive-share both set the thresholds; give one of them.")
    if output is not None and not choose_thresholds and share is None:
        stop("--output saves new thresholds; add --choose-thresholds or --positive-share.")
    nlp = load(model)
    component = relation_extractor(nlp)
    corpus = RelationCorpus(
        data,
        gold_entities=gold_entities,
        spans_key=getattr(component.candidates, "spans_key", None),
        attr=component.attr,
    )
    try:
        examples = list(corpus(nlp))
        for example, doc in zip(
            examples, nlp.pipe([example.predicted for example in examples]), strict=True
        ):
            example.predicted = doc
        if choose_thresholds:
            component.choose_thresholds(examples)
        elif share is not None:
            component.match_positive_share([example.predicted for example in examples], share)
        if choose_thresholds or share is not None:
            for example in examples:
                component(example.predicted)
        scores = component.score(examples)
        if output is not None:
            nlp.to_disk(output)
    except (ValueError, OSError) as error:
        stop(error)
    thresholds = component.effective_thresholds
    if share is not None and all(score is None for score in scores.values()):
        _print_thresholds(thresholds)
    else:
        _print(scores, thresholds, len(examples), gold_entities)
    if json_file is not None:
        written = {**scores, "thresholds": thresholds}
        write_text(json_file, json.dumps(written, indent=2) + "\n")


def _shares(given: Sequence[str]) -> float | dict[str, float]:
    """The shares of labels, or the one for all of them."""
    try:
        if len(given) == 1 and "=" not in given[0]:
            return float(given[0])
        named = (word.rsplit("=", 1) for word in given)
        return {label: float(share) for label, share in named}
    except ValueError:
        stop(f"--positive-share is {', '.join(given)}; give a number, or LABEL=NUMBER each.")


def _print_thresholds(thresholds: dict[str, float]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "threshold", title="No relations to score")
    for label, threshold in thresholds.items():
        table.add_row(escape(label), f"{threshold:.3f}")
    Console().print(table)


def _print(
    scores: dict[str, Any], thresholds: dict[str, float], n_docs: int, gold_entities: bool
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    prefix = next(iter(scores)).removesuffix("_micro_p")
    if scores[f"{prefix}_micro_f"] is None:
        stop(
            "no Doc has gold relations; write them with DocBin(store_user_data=True) or "
            "`spacy-klsh convert`."
        )
    entities = "gold" if gold_entities else "the pipeline's own"
    table = Table(title=f"Relations in {n_docs} documents, {entities} entities")
    for column in ("", "precision", "recall", "F1", "threshold"):
        table.add_column(column, justify="left" if not column else "right")
    for label, values in scores[f"{prefix}_per_type"].items():
        threshold = f"{thresholds[label]:.3f}" if label in thresholds else "not trained"
        table.add_row(escape(label), *(f"{values[k]:.3f}" for k in "prf"), threshold)
    table.add_section()
    for name in ("micro", "relaxed_micro"):
        values = [scores[f"{prefix}_{name}_{k}"] for k in "prf"]
        table.add_row(name.replace("_", " "), *(f"{value:.3f}" for value in values))
    table.add_row("macro", "", "", f"{scores[f'{prefix}_macro_f']:.3f}")
    ceiling = scores[f"{prefix}_candidate_recall"]
    if ceiling is not None:
        table.add_row("reached by candidates", "", f"{ceiling:.3f}", "")
    Console().print(table)
