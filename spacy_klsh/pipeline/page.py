"""Relations and their evidence as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise

from spacy.tokens import Doc, Span

from .drawing import Arc, clean, draw
from .evidence import (
    Evidence,
    Neighbour,
    Path,
    argument_words,
    brackets,
    edge_words,
    label_words,
    node_words,
)
from .explanation import NearMiss
from .relations import Relation

N_COLOURS = 8
WIDTH = 640.0
ABOUT = (
    "Each pair of entities is seen as its path through the sentence: words, and the edges of the "
    "dependency parse between them; more entities, as the paths from the first to each other. "
    "A classifier gives probabilities from its words, or from its similarities to labelled "
    "reference paths from training. Beside each relation: these probabilities, and the references "
    "most like its path, with what they share highlighted."
)


def render(
    doc: Doc,
    relations: Sequence[Relation],
    entities: Sequence[Span],
    misses: Sequence[NearMiss] = (),
    skipped: Mapping[str, int] | None = None,
) -> str:
    """The page for one Doc, complete HTML.

    Parameters
    ----------
    relations : sequence of Relation
        Each gets an arc, and beside it its evidence, if it has any.
    entities : sequence of Span
        What is marked in the text; arguments of relations are marked in any case.
    misses : sequence of NearMiss
        Shown below the text.
    skipped : mapping of reason to int
    """
    colours = _colours([*relations, *(miss.relation for miss in misses)])
    arcs = [Arc(i, r, colours[r.label]) for i, r in enumerate(relations, start=1)]
    arguments = {(s.start, s.end, s.label_): s for r in relations for s in r.arguments.values()}
    marked = list({**{(s.start, s.end, s.label_): s for s in entities}, **arguments}.values())
    parts = [
        *(_block(text, marked, arcs, colours) for text in _stretches(doc, relations)),
        *_missed(misses, colours),
        *_skipped(skipped or {}),
    ]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    count = "1 relation" if len(relations) == 1 else f"{len(relations) or 'No'} relations"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{count}: {clean(doc.text[:60])}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body>\n<h1>{count}, and why</h1>\n<p class="about">{ABOUT}</p>\n'
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _colours(relations: Sequence[Relation]) -> dict[str, str]:
    """A class for each label that is seen, those of relations first; none for no relation."""
    labels = dict.fromkeys(relation.label for relation in relations)
    for evidence in filter(None, (relation.evidence for relation in relations)):
        labels |= dict.fromkeys([*evidence.vote, *(near.label or "" for near in evidence.nearest)])
    labels.pop("", None)
    return {label: f"c{i % N_COLOURS}" for i, label in enumerate(labels)}


def _stretches(doc: Doc, relations: Sequence[Relation]) -> Iterator[Span]:
    """The text in parts: sentences, those that a relation joins in one."""
    if not len(doc):
        return
    starts = {s.start for s in doc.sents} if doc.has_annotation("SENT_START") else {0}
    for relation in relations:
        spans = relation.arguments.values()
        inside = range(min(s.start for s in spans) + 1, max(s.end for s in spans))
        starts.difference_update(inside)
    bounds = sorted({0, *starts, len(doc)})
    for start, end in pairwise(bounds):
        yield doc[start:end]


def _block(
    text: Span, entities: Sequence[Span], arcs: Sequence[Arc], colours: Mapping[str, str]
) -> str:
    """A stretch of text with its relations, drawn, and their evidence; or the text alone."""
    here = [arc for arc in arcs if _is_within(next(iter(arc.relation.arguments.values())), text)]
    if not here:
        return f'<p class="plain" dir="auto">{clean(text.text)}</p>'
    marked = [span for span in entities if _is_within(span, text)]
    drawing = draw(text, marked, here, width=WIDTH)
    cards = "\n".join(
        _card(arc.relation, f"{arc.relation.score:.2f}", colours, arc.number) for arc in here
    )
    return (
        f'<section class="block"><div class="drawing">{drawing}</div>\n<div>{cards}</div></section>'
    )


def _is_within(span: Span, text: Span) -> bool:
    return text.start <= span.start and span.end <= text.end


def _card(
    relation: Relation, score: str, colours: Mapping[str, str], number: int | None = None
) -> str:
    """One relation: what it joins, the vote, its path and its nearest references."""
    css = colours[relation.label]
    first, others = argument_words(
        {
            clean(role): f"<bdi>{clean(' '.join(span.text.split()))}</bdi>"
            for role, span in relation.arguments.items()
        }
    )
    badge = "" if number is None else f'<span class="number">{number}</span>'
    anchor = "" if number is None else f' id="r{number}"'
    evidence = relation.evidence
    return (
        f'<article class="card {css}"{anchor}><p class="title">{badge}'
        f'<span class="score">{score}</span>{first} <b>— {clean(relation.label)} →</b> {others}</p>'
        f"{'' if evidence is None else _why(evidence, css, colours)}</article>"
    )


def _why(evidence: Evidence, css: str, colours: Mapping[str, str]) -> str:
    shares = [(label, p, colours.get(label, "none")) for label, p in evidence.vote.items()]
    bar = "".join(f'<span class="{c}" style="width:{100 * p:.2f}%"></span>' for _, p, c in shares)
    legend = "".join(
        f'<span><i class="{c}"></i>{clean(words)}</span>'
        for words, (*_, c) in zip(evidence.vote_words(), shares, strict=False)
    )
    rows = "".join(_neighbour(near, evidence, colours) for near in evidence.nearest)
    own = _path(evidence.path, evidence.parents)
    return f'<div class="vote">{bar}</div><p class="legend">{legend}</p>{own}' + (
        f'<table class="near" style="--own:var(--{css})"><tr><th>similarity</th>'
        f"<th>label</th><th>reference path</th></tr>{rows}</table>"
        if rows
        else '<p class="legend">No reference is similar to this path.</p>'
    )


def _neighbour(near: Neighbour, evidence: Evidence, colours: Mapping[str, str]) -> str:
    share = 100 * min(near.similarity, 1.0)
    css, label = colours.get(near.label or "", "none"), clean(label_words(near.label))
    return (
        f'<tr><td><span class="gauge"><span style="width:{share:.0f}%"></span></span>'
        f'{near.similarity:.2f}</td><td title="{label}"><i class="{css}"></i>'
        f"{label}</td><td>{_reference(near, evidence)}</td></tr>"
    )


def _reference(near: Neighbour, evidence: Evidence) -> str:
    marked = {place: " match" for place in near.best_matches}
    alike = [evidence.likeness(near, i) for i in range(len(near.path))]
    notes = [f"<small>≈ {clean(s)}</small>" if s else "" for s in alike]
    return _path(near.path, near.parents, marked, notes)


def _path(
    path: Path,
    parents: Sequence[int] = (),
    marked: Mapping[tuple[int, str], str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Nodes and arrows; `marked` gives further classes to some, `notes` stand in the nodes."""
    marked, steps = marked or {}, []
    for i, (node, (before, behind)) in enumerate(zip(path, brackets(path, parents), strict=True)):
        arrow = before + (clean(edge_words(node, "─", "←", "→")) if i else "")
        edge = f'<span class="edge{marked.get((i, "edge"), "")}">{arrow}</span>' if arrow else ""
        steps.append(
            f'<span class="step">{edge}<span class="node{marked.get((i, "node"), "")}">'
            f"<bdi>{clean(node_words(node))}</bdi>{notes[i] if notes else ''}</span>{behind}</span>"
        )
    return f'<div class="path">{"<wbr>".join(steps) or "no path in the parse"}</div>'


def _missed(misses: Sequence[NearMiss], colours: Mapping[str, str]) -> Iterator[str]:
    if misses:
        yield '<h2>Below the threshold</h2>\n<div class="missed">'
        for relation, threshold in misses:
            yield _card(relation, f"{relation.score:.2f} &lt; {threshold:.2f}", colours)
        yield "</div>"


def _skipped(skipped: Mapping[str, int]) -> Iterator[str]:
    if skipped:
        told = ", ".join(f"{clean(reason)} {n:,}" for reason, n in skipped.items())
        yield f'<h2>Not looked at</h2>\n<p class="skipped">By reason: {told}</p>'
