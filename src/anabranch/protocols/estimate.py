"""What a search does not say: whose points will be whose, and by how many points somebody is ahead. Playouts tell.

Ownership and score are means over playouts from the end of the principal variation. A search knows win rates much better than
that, and points must not contradict them: the lead of a move is what its win rate means if scores spread normally around their
mean, as far as playouts see them spread. Where a game is as good as decided win rates say no more, and the mean counts.
"""

from collections.abc import Iterable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import IllegalMove
from anabranch.games.go.dead import ownership
from anabranch.games.go.rulesets import TERRITORY
from anabranch.games.position import Position

BATCHES, EACH = 16, 12  # playouts: the scatter of batches says how scores spread, give or take a fifth
LONGEST = 12  # actions of a principal variation that are followed
DECIDED = 2.0  # standard deviations of the score: win rates beyond 98 % say little about points
NORMAL = NormalDist()


class Estimate(NamedTuple):
    """How a game will end."""

    ownership: np.ndarray  # for each point, from 1 (black's) to -1 (white's)
    lead: float  # black's, komi included
    spread: float  # standard deviation of the score of one playout

    def leads(self, player: int, winrate: float, visits: int) -> "Leads":
        """What this player's win rates mean in points, if this is the rate of the position."""
        own = self.lead if player == 0 else -self.lead
        deviations = _deviations(winrate, visits)
        by_rate = self.spread * deviations
        is_decided = abs(deviations) > DECIDED and own * deviations > 0 and abs(own) > abs(by_rate)
        return Leads(own if is_decided else by_rate, deviations, self.spread)


class Leads(NamedTuple):
    """Points by win rate, for the player who moves."""

    lead: float  # of the position
    deviations: float  # what its win rate is worth
    spread: float

    def of(self, winrate: float, visits: int) -> float:
        """The lead after a move with this win rate."""
        return self.lead + self.spread * (_deviations(winrate, visits) - self.deviations)


def estimate(position: Position, line: Iterable[int] = (), policy: Any = None, seed: int = 0) -> Estimate:
    """Play out from the end of a line."""
    for action in list(line)[:LONGEST]:
        try:
            following = position.play(action)
        except IllegalMove:  # the search shares nodes between paths, and not all of them may go on like that
            break
        if following.is_over:
            break
        position = following
    batches = np.array([ownership(position, EACH, policy, seed * BATCHES + batch) for batch in range(BATCHES)])
    state = position.state
    owned = batches.mean(axis=0)
    moves = float(state.balance) if state.scoring == TERRITORY else 0.0
    spread = float(batches.sum(axis=1).std(ddof=1)) * EACH**0.5
    return Estimate(owned, float(owned.sum()) + moves - float(state.half_komi) / 2, max(spread, 0.5))


def _deviations(winrate: float, visits: int) -> float:
    """How many standard deviations above 0 the mean of the score is, if it wins that often; Laplace's rule keeps it finite."""
    return NORMAL.inv_cdf((winrate * visits + 1.0) / (visits + 2.0))
