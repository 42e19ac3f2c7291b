"""A stretch of text with its entities and an arc for each relation, as SVG."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from spacy.tokens import Span, Token

from .lettering import is_from_right, text_width, visual_order
from .relations import Relation

SIZE, SMALL = 17.0, 10.5  # of letters: the text, and labels
LANE, LEVEL, ROW_GAP = 25.0, 14.0, 22.0  # heights: an arc, an entity label, below a row
SPACE = 0.29 * SIZE
EDGE = 14.0  # free space on both sides
STEP = 10.0  # between the ends of arcs at one entity
MAX_LABEL = 32


def clean(text: str) -> str:
    """Text for HTML: special characters escaped, control characters made visible."""
    shown = [chr(0x2400 + ord(c)) if ord(c) < 32 and not c.isspace() else c for c in text]
    return escape("".join(shown).replace("\x7f", "\u2421"))


class Arc(NamedTuple):
    """A relation to draw: its number on the page, and the class that gives it its colour."""

    number: int
    relation: Relation
    css: str


@dataclass
class _Row:
    """A line of the text, and what runs above and below it.

    `boxes` holds the left and right end of each token, `levels` how far below the text
    the label of each entity stands.
    """

    tokens: list[int]
    boxes: dict[int, tuple[float, float]] = field(default_factory=dict)
    segments: list[_Segment] = field(default_factory=list)
    levels: dict[tuple[int, int, str], int] = field(default_factory=dict)
    top: float = 0.0

    def extent(self, span: Span) -> tuple[float, float] | None:
        """Left and right end of the part of `span` that stands in this row."""
        found = [self.boxes[i] for i in range(span.start, span.end) if i in self.boxes]
        return (min(a for a, _ in found), max(b for _, b in found)) if found else None

    @property
    def n_lanes(self) -> int:
        return max((segment.lane for segment in self.segments), default=-1) + 1

    @property
    def baseline(self) -> float:
        return self.top + self.n_lanes * LANE + SIZE + 8

    @property
    def bottom(self) -> float:
        return self.baseline + 8 + LEVEL * (max(self.levels.values(), default=-1) + 1) + ROW_GAP


@dataclass
class _Segment:
    """The part of an arc in one row, from the side of the head to that of the tail.

    Its name is the label of the relation, or a role that is not the tail.
    """

    arc: Arc
    name: str
    x: list[float]
    ends: tuple[Span | None, Span | None]  # None: it runs on in another row
    lane: int = 0

    @property
    def label(self) -> str:
        name = self.name if len(self.name) <= MAX_LABEL else self.name[: MAX_LABEL - 1] + "…"
        return f"{self.arc.number} {name}"

    def chip(self, width: float) -> tuple[float, float]:
        """Left and right end of the label."""
        size = text_width(self.label, SMALL) + 12
        left = min(max(sum(self.x) / 2 - size / 2, 1.0), max(width - size - 1, 1.0))
        return left, left + size


def draw(text: Span, entities: Sequence[Span], arcs: Sequence[Arc], *, width: float) -> str:
    """An ``<svg>`` of `text` in rows of `width`; every arc has a lane of its own."""
    from_right = is_from_right(text.text)
    sizes = _sizes(text, entities, arcs)
    inner = {i for span in entities for i in range(span.start, span.end - 1)}
    rows = [_Row(tokens) for tokens in _wrapped(text, inner, sizes, width - 2 * EDGE)]
    width = max([width, *(_length(text, row.tokens, sizes) + 2 * EDGE for row in rows)])
    for row in rows:
        _place(row, text, sizes, width, from_right)
        _stack_labels(row, entities)
    for arc in arcs:
        _route(arc, rows, width, from_right)
    top = 4.0
    for row in rows:
        _spread_ends(row)
        _assign_lanes(row, width)
        row.top = top
        top = row.bottom
    parts = [part for row in rows for part in _row_svg(row, text, entities, width)]
    told = clean("; ".join(repr(arc.relation) for arc in arcs))
    css = "rtl" if from_right else "ltr"
    return (
        f'<svg viewBox="0 0 {width:.0f} {top:.0f}" width="{width:.0f}" height="{top:.0f}" '
        f'class="{css}" role="img"><title>{told}</title>{"".join(parts)}</svg>'
    )


def _sizes(text: Span, entities: Sequence[Span], arcs: Sequence[Arc]) -> dict[int, float]:
    """Width of each token; an entity is as wide as its label and the arcs at it need."""
    sizes = {token.i: text_width(token.text, SIZE) for token in text}
    ends = Counter((s.start, s.end) for arc in arcs for s in arc.relation.arguments.values())
    for span in entities:
        needed = max(text_width(span.label_, SMALL) + 4, STEP * ends[span.start, span.end])
        missing = needed - sum(sizes[token.i] for token in span)
        for token in span:
            sizes[token.i] += max(missing, 0.0) / len(span)
    return sizes


def _gap(token: Token) -> float:
    return SPACE if token.whitespace_ else 0.0


def _length(text: Span, tokens: Sequence[int], sizes: Mapping[int, float]) -> float:
    return sum(sizes[i] + _gap(text.doc[i]) for i in tokens)


def _wrapped(
    text: Span, inner: Set[int], sizes: Mapping[int, float], width: float
) -> Iterator[list[int]]:
    """Tokens of each row: broken at spaces, but not behind `inner` tokens of an entity.

    What is longer than half a row is broken anywhere.
    """
    row: list[int] = []
    chunk: list[int] = []
    for token in text:
        chunk.append(token.i)
        if row and _length(text, [*row, *chunk], sizes) > width:
            yield row
            row = []
        may_end = (token.whitespace_ or token.is_space) and token.i not in inner
        if may_end or token.i == text.end - 1 or _length(text, chunk, sizes) > width / 2:
            row += chunk
            chunk = []
    if row:
        yield row


def _place(
    row: _Row, text: Span, sizes: Mapping[int, float], width: float, from_right: bool
) -> None:
    x = width - EDGE - _length(text, row.tokens, sizes) if from_right else EDGE
    before = -1
    words = [text.doc[i].text for i in row.tokens]
    for place in visual_order(words, from_right=from_right):
        i = row.tokens[place]
        if before >= 0:
            x += _gap(text.doc[min(i, before)])
        row.boxes[i] = (x, x + sizes[i])
        x, before = row.boxes[i][1], i


def _stack_labels(row: _Row, entities: Sequence[Span]) -> None:
    """The labels of entities that overlap stand one below the other."""
    found = [(extent, span) for span in entities if (extent := row.extent(span))]
    taken: list[float] = []
    for (left, right), span in sorted(found, key=lambda one: (one[0][0], -one[0][1])):
        level = next((k for k, end in enumerate(taken) if end <= left), len(taken))
        taken[level : level + 1] = [right]
        row.levels[span.start, span.end, span.label_] = level


def _route(arc: Arc, rows: Sequence[_Row], width: float, from_right: bool) -> None:
    """Add the segments of an arc, from the first argument to each other, to the rows they cross."""
    (_, head), *others = arc.relation.arguments.items()
    for role, tail in others:
        name = arc.relation.label if role == "tail" else role
        start, end = _first_row(rows, head), _first_row(rows, tail)
        forward = (end > start) != from_right  # whether it leaves a row at its right side
        leave, enter = (width, 0.0) if forward else (0.0, width)
        for number in range(min(start, end), max(start, end) + 1):
            row = rows[number]
            here = (head if number == start else None, tail if number == end else None)
            x = [_middle(row, here[0], enter), _middle(row, here[1], leave)]
            row.segments.append(_Segment(arc, name, x, here))


def _first_row(rows: Sequence[_Row], span: Span) -> int:
    return next(i for i, row in enumerate(rows) if row.extent(span))


def _middle(row: _Row, span: Span | None, otherwise: float) -> float:
    extent = None if span is None else row.extent(span)
    return otherwise if extent is None else sum(extent) / 2


def _spread_ends(row: _Row) -> None:
    """Give all ends at one entity places of their own, such that nested arcs do not cross."""
    ends = defaultdict(list)
    for number, segment in enumerate(row.segments):
        for side, span in enumerate(segment.ends):
            if span is not None:
                distance = segment.x[1 - side] - segment.x[side]
                order = (0, -distance, -number) if distance < 0 else (1, -distance, number)
                ends[span.start, span.end].append((order, segment, side))
    for found in ends.values():
        found.sort(key=lambda one: one[0])
        for place, (_, segment, side) in enumerate(found):
            segment.x[side] += (place - (len(found) - 1) / 2) * STEP


def _assign_lanes(row: _Row, width: float) -> None:
    """The lowest free lane for each segment, short ones first, labels included."""
    lanes: list[list[tuple[float, float]]] = []
    numbered = list(enumerate(row.segments))
    for _, segment in sorted(numbered, key=lambda s: (abs(s[1].x[1] - s[1].x[0]), -s[0])):
        chip = segment.chip(width)
        left, right = min(*segment.x, chip[0]) - 5, max(*segment.x, chip[1]) + 5
        free = (k for k, lane in enumerate(lanes) if all(b <= left or right <= a for a, b in lane))
        segment.lane = next(free, len(lanes))
        if segment.lane == len(lanes):
            lanes.append([])
        lanes[segment.lane].append((left, right))


def _row_svg(row: _Row, text: Span, entities: Sequence[Span], width: float) -> Iterator[str]:
    for span in entities:
        extent = row.extent(span)
        if extent is None:
            continue
        (left, right), level = extent, row.levels[span.start, span.end, span.label_]
        y = row.baseline
        yield (
            f'<rect class="entity" x="{left - 3:.1f}" y="{y - SIZE - 1:.1f}" rx="4" '
            f'width="{right - left + 6:.1f}" height="{SIZE + 7:.1f}"/>'
        )
        yield _text("kind", (left + right) / 2, y + 18 + level * LEVEL, span.label_, SMALL)
    for i, (left, right) in row.boxes.items():
        token = text.doc[i]
        if not token.is_space:
            yield _text("word", (left + right) / 2, row.baseline, token.text, SIZE)
    yield from (_line(segment, row) for segment in row.segments)
    yield from (_chip(segment, row, width) for segment in row.segments)  # above all lines


def _text(css: str, x: float, y: float, text: str, size: float) -> str:
    return (
        f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle" '
        f'textLength="{text_width(text, size):.1f}" lengthAdjust="spacingAndGlyphs">'
        f"{clean(text)}</text>"
    )


def _height(segment: _Segment, row: _Row) -> float:
    return row.top + (row.n_lanes - segment.lane - 0.5) * LANE


def _line(segment: _Segment, row: _Row) -> str:
    """From a dot at the head up to the lane, along, and down to a tip at the tail."""
    (start, end), y, foot = segment.x, _height(segment, row), row.baseline - SIZE - 3
    turn = max(min(8.0, abs(end - start) / 2), 0.1) * (1 if end > start else -1)
    line, marks = f"M{start:.1f} {y:.1f}", ""
    if segment.ends[0] is not None:
        line = f"M{start:.1f} {foot:.1f}V{y + 8:.1f}Q{start:.1f} {y:.1f} {start + turn:.1f} {y:.1f}"
        marks += f'<circle cx="{start:.1f}" cy="{foot:.1f}" r="2.6"/>'
    if segment.ends[1] is None:
        line += f"H{end:.1f}"
    else:
        line += f"H{end - turn:.1f}Q{end:.1f} {y:.1f} {end:.1f} {y + 8:.1f}V{foot - 6:.1f}"
        marks += f'<path class="tip" d="M{end - 4.5:.1f} {foot - 7:.1f}h9l-4.5 8z"/>'
    return f'<g class="arc {segment.arc.css}"><path class="line" d="{line}"/>{marks}</g>'


def _chip(segment: _Segment, row: _Row, width: float) -> str:
    (left, right), y = segment.chip(width), _height(segment, row)
    return (
        f'<a href="#r{segment.arc.number}" class="arc {segment.arc.css}">'
        f'<rect class="chip" x="{left:.1f}" y="{y - 9:.1f}" width="{right - left:.1f}" '
        f'height="18" rx="9"/>'
        f"{_text('name', (left + right) / 2, y + 3.8, segment.label, SMALL)}</a>"
    )
