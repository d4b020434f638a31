"""What charts in SVG are made of: a field with scales on its sides, words, and the document around them. Nothing but text is
needed for it. Used by `arena/plot.py` and `goengine/review_chart.py`; boards are drawn by their games.
"""

import math
import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

SIZE = 13  # pixels of the font
SMALL = SIZE - 2
LETTER = 7.2  # pixels that a letter takes, on average
INK, FAINT, GRID = "#333333", "#777777", "#dddddd"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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

    def area(self, points: Sequence[tuple[float, float]], colour: str, kind: str, opacity: float) -> str:
        """What points enclose."""
        return f'<path class="{kind}" d="{self._path(points)}Z" fill="{colour}" fill-opacity="{opacity:g}"/>'

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
    style = f'text-anchor="{anchor}" fill="{INK}"' + ' font-weight="bold"' * bold + f' font-size="{SMALL}"' * small
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{safe(words)}</text>'


def safe(words: str) -> str:
    """Escaped, and without what XML cannot hold."""
    return escape(NOT_XML.sub("\ufffd", words))


def document(width: float, height: float, parts: Sequence[str]) -> str:
    """The whole file."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="{SIZE}">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])
