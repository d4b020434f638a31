"""PyRat: rules (`game.py`), mazes, greedy playouts, drawings."""

from anabranch.games.pyrat.game import PyRat, PyRat64, PyRat1280
from anabranch.games.pyrat.greedy import Nearest
from anabranch.games.pyrat.maze import Maze
from anabranch.games.pyrat.presets import PRESETS, Preset

__all__ = ["PRESETS", "Maze", "Nearest", "Preset", "PyRat", "PyRat64", "PyRat1280"]
