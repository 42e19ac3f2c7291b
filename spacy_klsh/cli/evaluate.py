"""``spacy-klsh evaluate``: scores of a pipeline on annotated Docs."""

from __future__ import annotations

import json
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
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Save the pipeline with the chosen thresholds."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the scores to this file.")
    ] = None,
) -> None:
    """Score predicted relations against all gold relations of DATA.

    Scores on the Docs that thresholds were chosen on are too good: choose on one part,
    save with --output, and evaluate that on another.
    """
    from ..pipeline.readers import RelationCorpus

    if output is not None and not choose_thresholds:
        stop("--output saves chosen thresholds; add --choose-thresholds.")
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
            for example in examples:
                component(example.predicted)
        scores = component.score(examples)
        if output is not None:
            nlp.to_disk(output)
    except (ValueError, OSError) as error:
        stop(error)
    _print(scores, component.effective_thresholds, len(examples), gold_entities)
    if json_file is not None:
        written = {**scores, "thresholds": component.effective_thresholds}
        write_text(json_file, json.dumps(written, indent=2) + "\n")


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
