"""Curves of a run as SVG: losses, entropies, speeds, results, Elo, each over the time spent.

    curves(run)      all charts that there is something to show in, in the order of the report

Colours of text and grid are those of `chart.py`; the report replaces them where the reader's screen is dark.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from anabranch.chart import FAINT, LETTER, SIZE, Field, document, safe, text, ticks
from anabranch.train.progress import (
    Clock,
    Line,
    anchors_of,
    counts,
    elo_text,
    most_entropy,
    number,
    numbers,
    played,
    policies_of,
    speeds,
)
from anabranch.train.run import Run

WIDTH, HEIGHT = 560, 280
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 58, 46  # around the field
COLOURS = ("#3b82c4", "#d9622b", "#3a9d5d", "#b0539f", "#c9a227", "#7a6fd0", "#8a6d3b", "#5f8f8f")  # on white and on black
OTHERS = "#999999"
MOST_POINTS = 240  # of a line; more are averaged
PERIODS = 80  # into which time is divided for speeds and results
SHORTEST = 30.0  # seconds of such a period: self-play writes a line every 15
HOURS = 2.0 * 3600.0  # seconds from which on time is shown in hours

Points = list[tuple[float, float]]


class Curve(NamedTuple):
    """A line of a chart."""

    name: str
    points: Points


class Scale(NamedTuple):
    """Of time: what its unit is called, how many seconds that has, and where the run is now, in it."""

    unit: str
    seconds: float
    end: float

    @classmethod
    def of(cls, seconds: float) -> "Scale":
        """For a run that has taken so long."""
        unit, length = ("hours", 3600.0) if seconds >= HOURS else ("minutes", 60.0)
        return cls(unit, length, max(seconds / length, 0.01))


# --- charts -----------------------------------------------------------------------------------------------------------


def line_chart(
    title: str, curves: Sequence[Curve], across: tuple[str, float, float], limits: Sequence[float] = (), level: str = ""
) -> str:
    """Lines over time, or over anything else: `across` has its name, beginning and end. `limits` are values that the scale must
    reach; with `level`, the last of them gets a dashed line of this name."""
    values = [y for curve in curves for _, y in curve.points] + list(limits)
    low, high = padded(min(values), max(values), limits)
    field, parts = _field(title, [curve.name for curve in curves], across, low, high)
    if level:
        ends = (across[1], across[2])
        parts.append(field.line([(ends[0], limits[-1]), (ends[1], limits[-1])], FAINT, "level", dashed=True))
        parts.append(text(WIDTH - RIGHT, field.y(limits[-1]) - 4, level, "end", small=True))
    for curve, colour in zip(curves, COLOURS, strict=False):
        if len(curve.points) == 1:
            parts.append(_dot(field, curve.points[0], colour, f"{curve.name}: {curve.points[0][1]:.4g}"))
        elif curve.points:
            parts.append(field.line(curve.points, colour, "curve"))
    return document(WIDTH, HEIGHT, parts)


def share_chart(title: str, names: Sequence[str], rows: Sequence[tuple[float, Sequence[float]]], across: Any) -> str:
    """Shares of a whole over time, one above the other."""
    field, parts = _field(title, names, across, 0.0, 1.0)
    floors = [0.0] * len(rows)
    for place in range(len(names)):
        tops = [floor + shares[place] for floor, (_, shares) in zip(floors, rows, strict=True)]
        edge = [(x, top) for (x, _), top in zip(rows, tops, strict=True)]
        back = [(x, floor) for (x, _), floor in zip(rows, floors, strict=True)][::-1]
        parts.append(field.area(edge + back, COLOURS[place % len(COLOURS)], "share", 0.75))
        floors = tops
    return document(WIDTH, HEIGHT, parts)


def rating_chart(ratings: Sequence[tuple[float, Line]], across: tuple[str, float, float]) -> str:
    """Elo of networks with 95 % intervals, and the players with a fixed place as dashed lines."""
    points = [
        (x, elo, number(line, "low"), number(line, "high"), line)
        for x, line in ratings
        if (elo := number(line, "elo")) is not None
    ]
    anchors = anchors_of(points[-1][4])
    values = [value for _, elo, low, high, _ in points for value in (elo, low, high) if value is not None] + [*anchors.values()]
    field, parts = _field("Elo", ["networks, with 95 % intervals"], across, *padded(min(values), max(values)))
    for name, elo in anchors.items():
        parts.append(field.line([(across[1], elo), (across[2], elo)], FAINT, "anchor", dashed=True))
        parts.append(text(WIDTH - RIGHT, field.y(elo) - 4, name, "end", small=True))
    colour = COLOURS[0]
    if len(points) > 1:
        parts.append(field.line([(x, elo) for x, elo, *_ in points], colour, "curve"))
    for x, elo, low, high, line in points:
        if low is not None and high is not None:
            place = f"M{field.x(x):.1f} {field.y(low):.1f}V{field.y(high):.1f}"
            parts.append(f'<path class="interval" d="{place}" stroke="{colour}" stroke-width="2" stroke-opacity="0.5"/>')
        parts.append(_dot(field, (x, elo), colour, f"network {line.get('network', '?')}: {elo_text(line)}"))
    return document(WIDTH, HEIGHT, parts)


def padded(low: float, high: float, limits: Sequence[float] = ()) -> tuple[float, float]:
    """The ends of a scale: a little beyond the values, but not beyond limits that nothing exceeds."""
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    return (low if low in limits else low - room), (high if high in limits and low != high else high + room)


def thinned(points: Points) -> Points:
    """The same line with fewer points: means of neighbours."""
    if len(points) <= MOST_POINTS:
        return points
    return [(float(part[:, 0].mean()), float(part[:, 1].mean())) for part in np.array_split(np.array(points), MOST_POINTS)]


def _field(
    title: str, names: Sequence[str], across: tuple[str, float, float], low: float, high: float
) -> tuple[Field, list[str]]:
    """A field with scales, a title, and the colours' names above it."""
    what, start, end = across
    field = Field(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM, (start, max(end, start + 1e-6)), (low, high))
    parts = [field.across(value, f"{value:,.10g}") for value in ticks(low, high)]
    parts += [field.up(value, f"{value:,.10g}") for value in ticks(start, max(end, start + 1e-6))]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, what, "middle", small=True))
    parts.append(text(LEFT, 20, title, bold=True))
    x = float(LEFT)
    for name, colour in zip(names, COLOURS, strict=False):
        parts.append(f'<path d="M{x:.1f} 38h16" stroke="{colour}" stroke-width="4"/>')
        parts.append(text(x + 21, 38 + 0.32 * SIZE, name, small=True))
        x += 36 + 0.9 * LETTER * len(name)
    return field, parts


def _dot(field: Field, point: tuple[float, float], colour: str, tip: str) -> str:
    place = f'cx="{field.x(point[0]):.1f}" cy="{field.y(point[1]):.1f}" r="3.5"'
    return f'<circle class="dot" {place} fill="{colour}"><title>{safe(tip)}</title></circle>'


def _has_elo(line: Line) -> bool:
    return number(line, "elo") is not None


# --- the charts of a run ----------------------------------------------------------------------------------------------


def curves(run: Run) -> list[str]:
    """The charts that there is something to show in."""
    lines = run.log.read()
    if not lines:
        return []
    clock = Clock(lines)
    kinds: dict[str, list[Line]] = {}
    for line in lines:
        kinds.setdefault(line["what"], []).append(line)
    scale = Scale.of(float(clock.spent([line["time"] for line in lines]).max()))
    games, steps, ratings = played(kinds.get("self-play", [])), kinds.get("step", []), kinds.get("rating", [])
    made = [*_of_ratings(ratings, clock, scale), *_of_steps(run, steps, games, clock, scale), *_of_games(games, clock, scale)]
    return made


def _of_ratings(ratings: list[Line], clock: Clock, scale: Scale) -> Iterator[str]:
    known = [line for line in ratings if _has_elo(line)]
    if known:
        times = clock.spent([line["time"] for line in known]) / scale.seconds
        yield rating_chart(list(zip(times.tolist(), known, strict=True)), (scale.unit, 0.0, scale.end))


def _of_steps(run: Run, steps: list[Line], games: list[Line], clock: Clock, scale: Scale) -> Iterator[str]:
    across = (scale.unit, 0.0, scale.end)

    def line(name: str, words: str, lines: list[Line], by: float = 1.0) -> Curve:
        found = numbers(lines, name)
        times = clock.spent(found[:, 0]) / scale.seconds
        return Curve(words, thinned(list(zip(times.tolist(), (found[:, 1] * by).tolist(), strict=True))))

    def chart(title: str, found: list[Curve], limits: Sequence[float] = (), level: str = "") -> Iterator[str]:
        shown = [curve for curve in found if curve.points]
        if shown:
            yield line_chart(title, shown, across, limits, level)

    yield from chart("Loss", [line("loss", "all", steps), line("policy", "policy", steps), line("value", "value", steps)])
    entropies = [line("entropy", "self-play's targets", games, 1.0 / policies_of(run.game)), line("entropy", "network", steps)]
    yield from chart("Entropy of policies, nats", entropies, (0.0, most_entropy(run.game)), "all moves of the start alike")
    right = [line("accuracy", "the most likely move", steps), line("value_accuracy", "who wins", steps)]
    yield from chart("Share of positions that the network is right about", right, (0.0, 1.0))
    yield from chart("Spread of values (standard deviation)", [line("value_spread", "values are in -1 to 1", steps)], (0.0,))
    sizes = [line("rows", "positions so far", steps), line("window", "learnt from now (window)", steps)]
    yield from chart("Positions", sizes, (0.0,))
    helps = {"reply": "reply", "left": "moves left", "ownership": "ownership", "score": "score"}
    yield from chart("Loss of what only learning uses", [line(name, words, steps) for name, words in helps.items()])
    yield from chart("Norm of gradients", [line("gradient", "mean over 100 steps", steps)], (0.0,))


def _of_games(games: list[Line], clock: Clock, scale: Scale) -> Iterator[str]:
    """Speeds and results."""
    across = (scale.unit, 0.0, scale.end)
    periods = [(x, part) for x, part in _periods(games, clock, scale) if part]
    rates = [(x, speeds(part)) for x, part in periods]
    if rates:
        yield line_chart("Games a second", [Curve("self-play", [(x, rate.games) for x, rate in rates])], across, (0.0,))
        both = [
            Curve("positions to learn from", [(x, rate.positions) for x, rate in rates]),
            Curve("evaluations by the network", [(x, rate.evaluations) for x, rate in rates]),
        ]
        yield line_chart("Positions a second", both, across, (0.0,))
    scores = [(x, counts(part, "scores")) for x, part in periods]
    shares = [(x, [found.get(name, 0) / sum(found.values()) for name in RESULTS]) for x, found in scores if sum(found.values())]
    if len(shares) > 1:
        yield share_chart("Who won", ["first player", "draw", "second player"], shares, across)


RESULTS = ("first", "draw", "second")


def _periods(games: list[Line], clock: Clock, scale: Scale) -> Iterator[tuple[float, list[Line]]]:
    """Lines by the period of time in which they were written, with the middle of that."""
    length = max(scale.end * scale.seconds / PERIODS, SHORTEST)
    parts: dict[int, list[Line]] = {}
    for line, spent in zip(games, clock.spent([line["time"] for line in games]).tolist() if games else [], strict=True):
        parts.setdefault(math.floor(spent / length), []).append(line)
    for place in sorted(parts):
        yield min((place + 0.5) * length / scale.seconds, scale.end), parts[place]
