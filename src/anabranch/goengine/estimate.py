"""What a search does not give: ownership of points, and the lead in points. Both are estimated by playouts.

Ownership and score are means over playouts from the end of the principal variation. A search knows win rates much better than
that, and points must not contradict them: the lead of a move is what its win rate implies if scores are normally distributed,
with the standard deviation seen in playouts. Where a game is practically decided, win rates say no more, and the mean is used.

The standard deviation of scores (`spread_of`) is measured at the position itself, not at the end of a variation: variations
change during a search, and at the end of one a large group may be dead or about to die, which would say more about the
variation than about the position. So it is one number per position, independent of when it is reported.
"""

from collections.abc import Iterable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import IllegalMove
from anabranch.games.go.dead import ownership, play_out
from anabranch.games.go.rulesets import TERRITORY
from anabranch.games.go.score import half_bonus
from anabranch.games.position import Position

PLAYOUTS = 192  # for ownership: standard error of a point's 0.07 at most
PAIRS = 96  # of playouts for the spread, whose relative error is then a twentieth
LEAST_SPREAD = 0.5  # points: for a position where all playouts end alike
LONGEST = 12  # actions of a principal variation that are followed
DECIDED = 2.0  # standard deviations of the score: win rates beyond 98 % say little about points
NORMAL = NormalDist()


class Points(NamedTuple):
    """How a game will end from a position or after a move, in points for the player to move."""

    lead: float  # what would make the game even
    score: float  # the mean at the end of the game
    spread: float  # its standard deviation
    winrate: float | None = None  # by a network's evaluations, and its standard error
    rate_error: float | None = None


class Estimate(NamedTuple):
    """How a game will end."""

    ownership: np.ndarray  # for each point, from 1 (black's) to -1 (white's)
    lead: float  # black's, komi included
    spread: float  # standard deviation of the score of one playout from the position itself

    def points(self, player: int, winrate: float, visits: int, moves: Iterable[Any]) -> tuple[Points, dict[int, Points]]:
        """Points of the position, with this win rate, and after moves (anything with `action`, `winrate`, `visits`)."""
        leads = self.leads(player, winrate, visits)
        after = {move.action: leads.of(move.winrate, move.visits) for move in moves}
        return Points(leads.lead, leads.lead, self.spread), {a: Points(lead, lead, self.spread) for a, lead in after.items()}

    def leads(self, player: int, winrate: float, visits: int) -> "Leads":
        """The conversion of this player's win rates to points, if this is the win rate of the position."""
        own = self.lead if player == 0 else -self.lead
        deviations = _deviations(winrate, visits)
        by_rate = self.spread * deviations
        is_decided = abs(deviations) > DECIDED and own * deviations > 0 and abs(own) > abs(by_rate)
        return Leads(own if is_decided else by_rate, deviations, self.spread)


class Leads(NamedTuple):
    """Points by win rate, for the player to move."""

    lead: float  # of the position
    deviations: float  # its win rate, in standard deviations of the score
    spread: float

    def of(self, winrate: float, visits: int) -> float:
        """The lead after a move with this win rate."""
        return self.lead + self.spread * (_deviations(winrate, visits) - self.deviations)


def spread_of(position: Position, policy: Any = None, seed: int = 0) -> float:
    """The standard deviation of the score of one playout from a position, regardless of who moves first."""
    scores = np.array([play_out(position, 2, policy, seed * PAIRS + pair)[0].sum(axis=1) for pair in range(PAIRS)])
    return max(float(np.sqrt(scores.var(axis=0, ddof=1).mean())), LEAST_SPREAD)


def estimate(
    position: Position, line: Iterable[int] = (), policy: Any = None, seed: int = 0, spread: float | None = None
) -> Estimate:
    """Play out from the end of a line; `spread`: the position's, if it is known (`spread_of`)."""
    spread = spread_of(position, policy, seed) if spread is None else spread
    for action in list(line)[:LONGEST]:
        try:
            following = position.play(action)
        except IllegalMove:  # nodes are shared between paths, and the line may be illegal on this one
            break
        if following.is_over:
            break
        position = following
    state = position.state
    owned = ownership(position, PLAYOUTS, policy, seed)
    moves = float(state.balance) if state.scoring == TERRITORY else 0.0
    return Estimate(owned, float(owned.sum()) + moves - float(half_bonus(state)) / 2, spread)


def _deviations(winrate: float, visits: int) -> float:
    """How many standard deviations above 0 the mean score is at this win rate; Laplace's rule keeps it finite."""
    return NORMAL.inv_cdf((winrate * visits + 1.0) / (visits + 2.0))
