"""Drawings as SVG: how the score of a match ran, and ratings with their errors. What they are made of: `chart.py`."""

import math
from collections.abc import Sequence

from anabranch.arena.rating import Rating, wilson
from anabranch.arena.standing import Standing, elo_text, percent
from anabranch.chart import FAINT, LETTER, SIZE, Field, document, safe, text, ticks

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 64, 48  # around the field
MOST_POINTS = 400  # of a line; more games are thinned out
ROW = 30  # pixels of a player in the chart of ratings
LINE, EVEN = "#2a6fb0", "#c0392b"
BAND = 0.18  # opacity of an interval


# --- a match ----------------------------------------------------------------------------------------------------------


def running_score(standing: Standing) -> str:
    """The share of points of the first player after each game, with its 95 % interval."""
    scores = [game.score for game in standing.games]
    field = Field(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM, (0, max(len(scores), 1)), (0.0, 1.0))
    parts = [field.across(share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    parts += [field.up(games, f"{games:,.0f}") for games in ticks(0, max(len(scores), 1), whole=True)]
    parts.append(field.line([(0, 0.5), (max(len(scores), 1), 0.5)], EVEN, "even", dashed=True))
    if standing.sprt is not None:
        for share in (standing.sprt.low, standing.sprt.high):
            parts.append(field.line([(0, share), (max(len(scores), 1), share)], FAINT, "hypothesis", dashed=True))
    points = running(scores)
    if points:
        band = [(n, low) for n, _, low, _ in points] + [(n, high) for n, _, _, high in reversed(points)]
        parts.append(field.area(band, LINE, "interval", BAND))
        parts.append(field.line([(n, share) for n, share, _, _ in points], LINE, "score"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "games", "middle"))
    first, second = standing.names
    summary = f"{percent(standing.rate)} of {len(scores):,} games, Elo {elo_text(standing.elo)}" if scores else "no games yet"
    heads = [text(LEFT, 24, f"{first} against {second}", bold=True), text(LEFT, 44, summary)]
    width = max(WIDTH, LEFT + RIGHT + LETTER * len(f"{first} against {second}"))
    return document(width, HEIGHT, [*heads, *parts])


def running(scores: Sequence[float]) -> list[tuple[int, float, float, float]]:
    """After some games: their number, the share of points, and the ends of its interval."""
    step = max(1, math.ceil(len(scores) / MOST_POINTS))
    points, total = [], 0.0
    for games, score in enumerate(scores, start=1):
        total += score
        if games % step == 0 or games == len(scores):
            points.append((games, total / games, *wilson(total, games)))
    return points


# --- ratings ----------------------------------------------------------------------------------------------------------


def rating_chart(rated: Sequence[Rating], title: str) -> str:
    """A row a player: its rating as a disc, its 95 % interval as a line."""
    names = max((len(rating.name) for rating in rated), default=0) * LETTER
    left = LEFT / 2 + names
    width = max(float(WIDTH), left + WIDTH / 2)
    bottom = TOP + ROW * max(len(rated), 1)
    ends = (min((rating.low for rating in rated), default=0.0), max((rating.high for rating in rated), default=1.0))
    low, high = (ends[0] - 10, ends[1] + 10)
    field = Field(left, TOP, width - RIGHT, bottom, (low, high), (0.0, 1.0))
    parts = [text(LEFT / 2, 24, title, bold=True), text(LEFT / 2, 44, "Elo, with 95 % intervals")]
    parts += [field.up(elo, f"{elo:g}") for elo in ticks(low, high)]
    for place, rating in enumerate(rated):
        y = TOP + ROW * (place + 0.5)
        x, start, end = field.x(rating.elo), field.x(rating.low), field.x(rating.high)
        points = f"{rating.score:g} of {rating.games} points"
        tip = f"{rating.name}: {rating.elo:.0f} +- {rating.error:.0f} (standard error), {points}"
        parts.append(
            f'<g class="rating"><title>{safe(tip)}</title>'
            f'<path d="M{start:.1f} {y:.1f}H{end:.1f}M{start:.1f} {y - 5:.1f}v10M{end:.1f} {y - 5:.1f}v10" stroke="{LINE}" '
            f'stroke-width="2" fill="none"/><circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{LINE}"/>'
            f"{text(left - 12, y + 0.36 * SIZE, rating.name, 'end')}"
            f"{text(x, y - 8, f'{rating.elo:.0f}', 'middle', small=True)}</g>"
        )
    return document(width, bottom + BOTTOM, parts)
