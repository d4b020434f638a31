"""Repetitions: the value of a repetition, and which positions may not occur again.

A game declares what a repeated position means (`Game.repetition`, the second or third time). Kernels handle two cases:

- A position is **exhausted** if it has occurred so often in the game so far that once more would be the repetition that counts.
- A simulation that meets its **own path** stops, in every game: a cycle in the search can be repeated until it counts.
  (Where repetitions mean nothing it stops as well, since it would never end, or a key has collided.)

Either way the edge's visit counts, as a *cut*: its value is the declared one, and the shared node behind it keeps its own.
"""

import copy
from collections import Counter
from typing import Any

import numpy as np

from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Key
from anabranch.games.rules import CHANCE, DRAW
from anabranch.jit import helper


class History:
    """The keys of the game so far, the root not included."""

    def __init__(self, game: Game | ObjectGame, position: Any) -> None:
        self.game = game
        self.matters = game.repetition != "nothing"
        self.keys: list[Key] = []
        if self.matters and isinstance(game, ObjectGame):
            self.keys = game.history(position)
        elif self.matters:
            self.keys = list(position.past)

    def after(self, position: Any) -> "History":
        """The history after a move from this position."""
        following = copy.copy(self)
        if self.matters:
            key = self.game.key(position) if isinstance(self.game, ObjectGame) else position.repetition_key
            following.keys = [*self.keys, key]
        return following

    def exhausted(self) -> np.ndarray:
        """Keys of positions that may not occur again, as sorted rows of two u8."""
        if not self.keys:
            return np.empty((0, 2), np.uint64)
        enough = self.game.repetition_count - 1
        found = sorted(key for key, times in Counter(self.keys).items() if times >= enough)
        return np.array(found, np.uint64).reshape(-1, 2)


@helper
def is_exhausted(exhausted, low, high):
    """Whether a key is among these sorted rows."""
    first = 0
    last = len(exhausted)
    while first < last:
        middle = (first + last) // 2
        if exhausted[middle, 0] < low or (exhausted[middle, 0] == low and exhausted[middle, 1] < high):
            first = middle + 1
        else:
            last = middle
    return first < len(exhausted) and exhausted[first, 0] == low and exhausted[first, 1] == high


@helper
def cut_value(repetition, width, player, i, scale):
    """The value of a repetition that `player` caused: column `i` of a value, player 0's or one per player."""
    half = 1.0 / scale.factor
    if repetition == DRAW or player == CHANCE:  # no player caused it
        half = 0.0
    if width == 1:
        return scale.middle + (half if player == 1 else -half)
    return scale.middle - half if i == player else scale.middle
