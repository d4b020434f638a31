"""Positions as networks see them: the rule `encode` over whole arrays of states."""

from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games import rules
from anabranch.games.game import Game
from anabranch.jit import kernel


@kernel
def encode_all(states, planes):
    """Encode every state into its own planes, which are all zeros before."""
    for i in range(len(states)):
        rules.encode(states[i], planes[i])


def encode(game: Game, states: Any) -> np.ndarray:
    """The planes of n states of a game, f4 (n, channels, height, width), each in the view of the player to move."""
    if game.planes is None:
        raise GameError(f"{game!r} has no encoding for networks: give it `planes` and a rule `encode`")
    planes = np.zeros((len(states), *game.planes), np.float32)
    encode_all(np.ascontiguousarray(states).view(game.record), planes)
    return planes
