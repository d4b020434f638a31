"""Drawings as SVG: how the score of a match ran, and ratings with their errors. Nothing but text is needed for it."""

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from anabranch.arena.rating import Rating, wilson
from anabranch.arena.standing import Standing, elo_text, percent

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 64, 48  # around the field
SIZE = 13  # pixels of the font
LETTER = 7.2  # pixels that a letter takes, on average
MOST_POINTS = 400  # of a line; more games are thinned out
ROW = 30  # pixels of a player in the chart of ratings
INK, FAINT, GRID = "#333333", "#777777", "#dddddd"
LINE, BAND, EVEN = "#2a6fb0", "#2a6fb0", "#c0392b"


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
        parts.append(field.band(band))
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
            f'<g class="rating"><title>{escape(tip)}</title>'
            f'<path d="M{start:.1f} {y:.1f}H{end:.1f}M{start:.1f} {y - 5:.1f}v10M{end:.1f} {y - 5:.1f}v10" stroke="{LINE}" '
            f'stroke-width="2" fill="none"/><circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{LINE}"/>'
            f"{text(left - 12, y + 0.36 * SIZE, rating.name, 'end')}"
            f"{text(x, y - 8, f'{rating.elo:.0f}', 'middle', small=True)}</g>"
        )
    return document(width, bottom + BOTTOM, parts)


# --- what drawings are made of ----------------------------------------------------------------------------------------


class Field:
    """A rectangle with scales on its sides."""

    def __init__(
        self, left: float, top: float, right: float, bottom: float, across: tuple[float, float], up: tuple[float, float]
    ) -> None:
        self.left, self.top, self.right, self.bottom = left, top, right, bottom
        self._across, self._up = across, up

    def x(self, value: float) -> float:
        """Where a value stands from the left."""
        low, high = self._across
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """And from the top."""
        low, high = self._up
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)

    def across(self, value: float, label: str) -> str:
        """A line of the grid from left to right."""
        y = self.y(value)
        line = f'<path d="M{self.left:.1f} {y:.1f}H{self.right:.1f}" stroke="{GRID}"/>'
        return line + text(self.left - 8, y + 0.36 * SIZE, label, "end")

    def up(self, value: float, label: str) -> str:
        """One from bottom to top."""
        x = self.x(value)
        line = f'<path d="M{x:.1f} {self.bottom:.1f}V{self.top:.1f}" stroke="{GRID}"/>'
        return line + text(x, self.bottom + 18, label, "middle")

    def line(self, points: Sequence[tuple[float, float]], colour: str, kind: str, dashed: bool = False) -> str:
        """A line through points."""
        style = 'stroke-dasharray="5 4"' if dashed else 'stroke-width="2"'
        return f'<path class="{kind}" d="{self._path(points)}" fill="none" stroke="{colour}" {style}/>'

    def band(self, points: Sequence[tuple[float, float]]) -> str:
        """What points enclose."""
        return f'<path class="interval" d="{self._path(points)}Z" fill="{BAND}" fill-opacity="0.18"/>'

    def _path(self, points: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)


def ticks(low: float, high: float, whole: bool = False) -> list[float]:
    """Round numbers between two, about six of them."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9) / 6))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= 7:
            step *= factor
            break
    step = max(step, 1.0) if whole else step
    return [round(step * i, 9) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def text(x: float, y: float, words: str, anchor: str = "start", bold: bool = False, small: bool = False) -> str:
    """Words at a place."""
    style = f'text-anchor="{anchor}" fill="{INK}"' + ' font-weight="bold"' * bold + f' font-size="{SIZE - 2}"' * small
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def document(width: float, height: float, parts: Sequence[str]) -> str:
    """The whole file."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="{SIZE}">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])
