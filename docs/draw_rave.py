"""Draws docs/images/rave_beta.svg: how the weight of AMAF values falls with the visits of a node, by schedule.

python docs/draw_rave.py
"""

from pathlib import Path

import numpy as np

from anabranch.chart import Field, document, text
from anabranch.search.memory.layout import F4
from anabranch.search.select.base import Parent
from anabranch.search.select.rave import beta
from anabranch.select import ExactMSE, HandSelected, MinimumMSE

TARGET = Path(__file__).parent / "images" / "rave_beta.svg"
WIDTH, HEIGHT = 760, 440
MOST = 6  # powers of ten of visits
TRIED, LATER = 0.1, 0.5  # of the node's simulations, those that try the action and those in which it comes at all
CURVES = (  # schedule, bias, mu, colour, words
    (MinimumMSE(), 0.02, 0.5, "#6fa8dc", "minimum MSE, b = 0.02"),
    (MinimumMSE(), 0.009, 0.5, "#2a6fb0", "minimum MSE, b = 0.009"),
    (ExactMSE(), 0.009, 0.9, "#3d8b57", "the same where 9 of 10 games are won, by (46)"),
    (HandSelected(100.0), 0.0, 0.5, "#d98c3f", "hand-selected, k = 100"),
    (HandSelected(1000.0), 0.0, 0.5, "#b5562b", "hand-selected, k = 1,000"),
)


def weight(schedule: object, bias: float, mu: float, visits: float) -> float:
    """beta of an action after so many visits of its node, both of its values being `mu`."""
    parent = Parent(visits, visits, 0.0, 0.0, 0.0, 0, 0.0, 1.0, 1.0, 0.0, 0.0)
    value = F4(2.0 * mu - 1.0)
    return float(beta(schedule, bias, parent, value, F4(TRIED * visits), value, F4(LATER * visits)))


def draw() -> str:
    """The chart."""
    field = Field(56, 96, WIDTH - 40, HEIGHT - 56, (0.0, MOST), (0.0, 1.0))
    parts = [field.across(share, f"{share:g}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    parts += [field.up(power, f"{10**power:,}") for power in range(MOST + 1)]
    parts.append(text((field.left + field.right) / 2, HEIGHT - 14, "simulations of the node", "middle"))
    parts.append(text(field.left, field.top - 10, "beta, the weight of the AMAF value"))
    powers = np.linspace(0.0, MOST, 121)
    for number, (schedule, bias, mu, colour, words) in enumerate(CURVES):
        parts.append(field.line([(p, weight(schedule, bias, mu, 10.0**p)) for p in powers], colour, "curve"))
        x, y = field.left + 320 * (number // 3), 20 + 18 * (number % 3)
        parts.append(f'<path d="M{x:.0f} {y - 4:.0f}h22" stroke="{colour}" stroke-width="3"/>')
        parts.append(text(x + 30, y, words))
    return document(WIDTH, HEIGHT, parts)


def main() -> None:
    """Draw and write."""
    TARGET.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
