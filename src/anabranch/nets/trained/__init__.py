"""Networks that come with the package: `GAME.onnx`, and beside each `GAME.toml`, the settings of the run that made it.

How they were trained and how they play: docs/results/training.md.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anabranch.games.registry import load

FOLDER = Path(__file__).parent
FILES = {"connectfour": "connectfour.onnx"}  # by the name of the game, options included
RUNTIME = "onnxruntime"


def trained_file(game: Any) -> Path | None:
    """The file of the package's network for this game; None if it has none, or if what runs it is not installed."""
    if find_spec(RUNTIME) is None:
        return None
    for name, file in FILES.items():
        made_for = load(name)
        if type(made_for) is type(game) and repr(made_for) == repr(game):
            return FOLDER / file
    return None


def is_trained_file(file: Any) -> bool:
    """Whether this is one of the package's."""
    return isinstance(file, Path) and file.parent == FOLDER
