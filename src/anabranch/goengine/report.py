"""What a search of Go has found so far, as a `Report`: win rates, points, ownership. Made from a `Result` and an
estimate, by playouts (`estimate.py`) or by a network (`network_estimate.py`).

All numbers are for the player to move: win rates from 0 to 1, leads in points, ownership from 1 (own) to -1. Protocols write it
in their own formats: `protocols/info_lines.py` for GTP, `protocols/analysis.py` as JSON.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anabranch.games.position import Position
from anabranch.goengine.estimate import Estimate, Points
from anabranch.goengine.network_estimate import NetworkEstimate
from anabranch.search.results.result import Result

Z = 1.96  # standard errors below the mean: the lower end of a 95 % interval
LONGEST_LINE = 15  # moves of a variation that are reported, by default; the first one included


@dataclass(frozen=True)
class Candidate:
    """One move."""

    action: int
    name: str
    visits: int
    winrate: float
    lcb: float  # lower confidence bound of the win rate
    utility: float  # what is expected to be paid; with a network, for points as well
    prior: float
    order: int
    line: tuple[str, ...]
    points: Points | None = None

    @property
    def utility_lcb(self) -> float:
        """The lower confidence bound of the utility: a win is worth 2 more than a loss."""
        return self.utility - 2.0 * (self.winrate - self.lcb)


@dataclass(frozen=True)
class Report:
    """All moves, best first, and the position as a whole."""

    player: int  # to move
    visits: int
    winrate: float
    lcb: float
    utility: float
    points: Points | None
    moves: tuple[Candidate, ...]
    ownership: np.ndarray | None  # for each point, bottom row first

    def at_most(self, count: int) -> "Report":
        """The same with fewer moves."""
        return replace(self, moves=self.moves[:count])

    @property
    def utility_lcb(self) -> float:
        """The lower confidence bound of the utility."""
        return self.utility - 2.0 * (self.winrate - self.lcb)


def report_of(
    result: Result,
    position: Position,
    estimate: Estimate | NetworkEstimate | None = None,
    hidden: Collection[int] = (),
    fewest: int = 0,
    longest: int = LONGEST_LINE,
) -> Report:
    """The report of a result.

    hidden  actions that are not reported
    longest moves of a variation, at most
    fewest  at least so many moves are reported if possible, unvisited ones included, with 0 visits
    """
    player, visits = position.to_play, int(result.visits.sum())
    utility = float(result.value)  # type: ignore[arg-type]
    winrate = winrate_of(utility)
    shown = [move for move in result.moves if move.action not in hidden]
    shown.sort(key=lambda move: move.action != result.best)  # stable: the move to be played comes first
    count = max(sum(move.visits > 0 for move in shown), fewest)
    shown.sort(key=lambda move: move.visits == 0)
    moves = []
    for order, move in enumerate(shown[:count]):
        value = utility if move.value is None else float(move.value)
        rate, line = winrate_of(value), move.pv[:longest]
        bound = lower_bound(rate, move.visits)
        moves.append(Candidate(move.action, move.name, move.visits, rate, bound, value, move.prior, order, line))
    points = None
    if estimate is not None:
        points, after = estimate.points(player, winrate, visits, moves)
        moves = [_with_points(move, after.get(move.action, points)) for move in moves]
        winrate = winrate if points.winrate is None else points.winrate
    owned = None if estimate is None else estimate.ownership * (1 - 2 * player)
    return Report(
        player=player,
        visits=visits,
        winrate=winrate,
        lcb=_bound(winrate, visits, points),
        utility=utility,
        points=points,
        moves=tuple(moves),
        ownership=owned,
    )


def _with_points(move: Candidate, points: Points) -> Candidate:
    winrate = move.winrate if points.winrate is None else points.winrate
    return replace(move, points=points, winrate=winrate, lcb=_bound(winrate, move.visits, points))


def _bound(winrate: float, visits: int, points: Points | None) -> float:
    """The lower confidence bound of a win rate, from a network's evaluations or from playouts."""
    error = None if points is None else points.rate_error
    return lower_bound(winrate, visits) if error is None else max(winrate - Z * error, 0.0)


def winrate_of(value: Any) -> float:
    """A value from -1 to 1 as a win rate."""
    return min(max((float(value) + 1.0) / 2.0, 0.0), 1.0)


def lower_bound(winrate: float, visits: int) -> float:
    """The lower confidence bound of a win rate; two pseudo-playouts, one of them won, keep it in range."""
    rate = (winrate * visits + 1.0) / (visits + 2.0)
    return max(rate - Z * math.sqrt(rate * (1.0 - rate) / (visits + 2.0)), 0.0)
