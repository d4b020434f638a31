"""Boards by name."""

from typing import Any, NamedTuple

DEFAULT = "default"


class Preset(NamedTuple):
    """What a board is like."""

    width: int
    height: int
    cheese: Any  # how many, or which cells
    walls: Any  # density, or which
    mud: Any  # density, or which
    max_turns: int


PRESETS = {
    "tiny": Preset(11, 9, 13, 0.7, 0.1, 150),
    "small": Preset(15, 11, 21, 0.7, 0.1, 200),
    DEFAULT: Preset(21, 15, 41, 0.7, 0.1, 300),
    "large": Preset(31, 21, 85, 0.7, 0.1, 400),
    "huge": Preset(41, 31, 165, 0.7, 0.1, 500),
    "open": Preset(21, 15, 41, 0.0, 0.0, 300),
    "5x5": Preset(5, 5, 5, 0.0, 0.0, 30),  # the sizes on which networks are trained
    "7x7": Preset(7, 7, 10, 0.0, 0.0, 50),
}
