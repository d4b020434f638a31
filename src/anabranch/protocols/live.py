"""What a search thinks at this moment, for those who watch: as a `Report`, and as lines of lz-analyze and kata-analyze.

All numbers are for the player to move: win rates from 0 to 1, leads in points, ownership from 1 (own) to -1. The JSON protocol
(`analysis.py`) turns them to the view that was asked for. Made from a `Result` and an `Estimate`.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.protocols.estimate import Estimate
from anabranch.search.results.result import Result

Z = 1.96  # standard errors below the mean: the lower end of a 95 % interval
LONGEST_LINE = 15  # moves of a variation that are reported


@dataclass(frozen=True)
class Candidate:
    """One move."""

    action: int
    name: str
    visits: int
    winrate: float
    lcb: float  # lower confidence bound of the win rate
    prior: float
    order: int
    line: tuple[str, ...]
    lead: float | None


@dataclass(frozen=True)
class Report:
    """All moves, best first, and the position as a whole."""

    player: int  # to move
    visits: int
    winrate: float
    lcb: float
    lead: float | None
    spread: float | None  # standard deviation of the score
    moves: tuple[Candidate, ...]
    ownership: np.ndarray | None  # for each point, bottom row first

    def at_most(self, count: int) -> "Report":
        """The same with fewer moves."""
        return replace(self, moves=self.moves[:count])


def report_of(
    result: Result, position: Position, estimate: Estimate | None = None, hidden: Collection[int] = (), fewest: int = 0
) -> Report:
    """What a result says.

    hidden  actions that are not to be reported
    fewest  so many moves are reported if they can be, also some that were never visited, and say so
    """
    player, visits = position.to_play, int(result.visits.sum())
    winrate = winrate_of(result.value)
    leads = None if estimate is None else estimate.leads(player, winrate, visits)
    shown = [move for move in result.moves if move.action not in hidden]
    shown.sort(key=lambda move: move.action != result.best)  # stable: what will be played comes first
    count = max(sum(move.visits > 0 for move in shown), fewest)
    shown.sort(key=lambda move: move.visits == 0)
    moves = []
    for order, move in enumerate(shown[:count]):
        rate = winrate if move.value is None else winrate_of(move.value)
        lead = None if leads is None else leads.of(rate, move.visits)
        line = move.pv[:LONGEST_LINE]
        bound = lower_bound(rate, move.visits)
        moves.append(Candidate(move.action, move.name, move.visits, rate, bound, move.prior, order, line, lead))
    owned = None if estimate is None else estimate.ownership * (1 - 2 * player)
    return Report(
        player=player,
        visits=visits,
        winrate=winrate,
        lcb=lower_bound(winrate, visits),
        lead=None if leads is None else leads.lead,
        spread=None if estimate is None else estimate.spread,
        moves=tuple(moves),
        ownership=owned,
    )


def winrate_of(value: Any) -> float:
    """A value from -1 to 1 as a win rate."""
    return min(max((float(value) + 1.0) / 2.0, 0.0), 1.0)


def lower_bound(winrate: float, visits: int) -> float:
    """Where the win rate surely is not below; two imagined playouts, one of them won, keep it in bounds."""
    rate = (winrate * visits + 1.0) / (visits + 2.0)
    return max(rate - Z * math.sqrt(rate * (1.0 - rate) / (visits + 2.0)), 0.0)


def from_the_top(numbers: np.ndarray, game: Go) -> list[float]:
    """A number for each point, the top row first, as protocols want it."""
    return [float(number) for number in numbers.reshape(game.height, game.width)[::-1].ravel()]


# --- lines --------------------------------------------------------------------------------------------------------------------


def lz_line(report: Report, game: Go, extras: Collection[str] = ()) -> str:
    """As Leela Zero writes it: rates in ten thousandths."""
    return " ".join(
        f"info move {move.name} visits {move.visits} winrate {round(10_000 * move.winrate)} prior {round(10_000 * move.prior)} "
        f"lcb {round(10_000 * move.lcb)} order {move.order} pv {' '.join(move.line)}"
        for move in report.moves
    )


def kata_line(report: Report, game: Go, extras: Collection[str] = ()) -> str:
    """As KataGo writes it: fractions, points, and on request ownership. Every number that is no count has a decimal point, by
    which Sabaki tells the two apart."""
    parts = [
        f"info move {move.name} visits {move.visits} utility {2 * move.winrate - 1:.6f} winrate {move.winrate:.6f} "
        f"{_points(move.lead, report.spread)}prior {move.prior:.6f} lcb {move.lcb:.6f} "
        f"utilityLcb {2 * move.lcb - 1:.6f} order {move.order} pv {' '.join(move.line)}"
        for move in report.moves
    ]
    if "rootInfo" in extras:
        points = _points(report.lead, report.spread)
        parts.append(
            f"rootInfo visits {report.visits} utility {2 * report.winrate - 1:.6f} winrate {report.winrate:.6f} {points}"
        )
    if "ownership" in extras and report.ownership is not None:
        parts.append("ownership " + " ".join(f"{number:.4f}" for number in from_the_top(report.ownership, game)))
    return " ".join(part.strip() for part in parts)


def _points(lead: float | None, spread: float | None) -> str:
    if lead is None or spread is None:
        return ""
    return f"scoreMean {lead:.4f} scoreStdev {spread:.4f} scoreLead {lead:.4f} scoreSelfplay {lead:.4f} "
