"""How a game will end, by a network: the means over a search of its leads, scores and ownership. See also `estimate.py`, which
gets the same from playouts, and `estimates.py`, which chooses.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from anabranch.goengine.estimate import Points
from anabranch.nets.katago.averages import Averages
from anabranch.nets.katago.search import KataGoSearch

USUAL_SPREAD = 0.2  # of win rates over the evaluations of a search: KataGo's prior, 0.4 of utilities from -1 to 1


class NetworkEstimate:
    """What a network says of a position and of the moves that were searched."""

    def __init__(self, search: KataGoSearch) -> None:
        self.averages = search.averages()

    @property
    def ownership(self) -> np.ndarray:
        """For each point, from 1 (black's) to -1 (white's)."""
        return self.ownership_after(None)[0]

    def ownership_after(self, action: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The same after a move, and its standard deviation over the search."""
        found = self.averages.ownership(action)
        if found is not None:
            return found
        unknown = np.zeros(self.averages.points)
        return unknown, unknown

    def points(self, player: int, winrate: float, visits: int, moves: Iterable[Any]) -> tuple[Points, dict[int, Points]]:
        """Points of the position, and after each move that was searched, for this player."""
        found = self.averages.moves
        after = {move.action: _points(found[move.action], player, move.visits) for move in moves if move.action in found}
        return _points(self.averages.root, player, visits), after


def _points(found: Averages, player: int, visits: int) -> Points:
    """An average, for a player; what is not known is 0. The standard error of the win rate has a prior that weighs as much as
    one visit, without which a move with one would seem to be certain."""
    sign = 1 - 2 * player
    lead, score, spread = (0.0 if number != number else number for number in (found.lead, found.score, found.spread))
    variance = 0.0 if found.rate_spread != found.rate_spread else found.rate_spread**2
    error = math.sqrt((variance * visits + USUAL_SPREAD**2) / (visits + 1)) / math.sqrt(max(visits, 1))
    winrate = None if found.winrate != found.winrate else found.winrate if player == 0 else 1.0 - found.winrate
    return Points(sign * lead, sign * score, spread, winrate, error)
