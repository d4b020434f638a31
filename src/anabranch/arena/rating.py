"""How strong, and how sure: win rates, Elo differences, and ratings of many players. Pure functions of counts.

A draw counts half everywhere. An interval of a win rate is Wilson's (1927); Elo is the logistic scale, 400 points for odds of
10 to 1; ratings are the maximum of the likelihood of Bradley and Terry (1952), with a prior so weak that it only matters for
players who won or lost all. Next: `sprt.py`, which says when a match has told enough.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from anabranch.errors import ArenaError

Z95 = 1.959964  # standard deviations on either side that hold 95 % of a normal distribution
ELO = 400.0 / math.log(10.0)  # Elo points for one unit of log odds
PRIOR = 1000.0  # standard deviation of ratings before any game, in Elo; 100 games between two weigh 300 times as much
STEPS = 200  # of Newton's method; it takes about ten
LONGEST_STEP = 1.0  # in log odds: a full step from far away may overshoot
PRECISE = 1e-10  # step at which Newton's method is done


class Estimate(NamedTuple):
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


class Tally(NamedTuple):
    """What came of some games, seen from one side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """How many there were."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins, and a half for each draw."""
        return self.wins + self.draws / 2

    def flipped(self) -> "Tally":
        """The same from the other side."""
        return Tally(self.losses, self.draws, self.wins)


class Rating(NamedTuple):
    """A player among others."""

    name: str
    elo: float
    error: float  # standard error, of the distance to the anchor, or else to the mean of all
    games: int
    score: float  # points of those games

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.elo - Z95 * self.error

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.elo + Z95 * self.error


# --- two players ------------------------------------------------------------------------------------------------------


def tally(scores: Sequence[float]) -> Tally:
    """Counts from points: 1, 0.5 or 0 a game."""
    wins = sum(score == 1.0 for score in scores)
    losses = sum(score == 0.0 for score in scores)
    return Tally(wins, len(scores) - wins - losses, losses)


def wilson(score: float, games: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's interval of a share p: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); all of it without games."""
    if games == 0:
        return 0.0, 1.0
    share = score / games
    middle = share + z * z / (2 * games)
    spread = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    scale = 1 + z * z / games
    # Exactly 0 or 1 where nothing or all was won, whatever is lost in rounding.
    return max(0.0, min(share, (middle - spread) / scale)), min(1.0, max(share, (middle + spread) / scale))


def win_rate(counts: Tally) -> Estimate:
    """The share of points."""
    share = counts.score / counts.games if counts.games else 0.5
    return Estimate(share, *wilson(counts.score, counts.games))


def elo_difference(counts: Tally) -> Estimate:
    """How far the player is ahead, in Elo: the win rate and its interval on that scale. Infinite if all were won or lost."""
    value, low, high = win_rate(counts)
    return Estimate(elo_of(value), elo_of(low), elo_of(high))


def elo_of(share: float) -> float:
    """The Elo difference at which this share of points is expected."""
    if share <= 0.0 or share >= 1.0:
        return -math.inf if share <= 0.0 else math.inf
    return ELO * math.log(share / (1.0 - share))


def share_of(elo: float) -> float:
    """The share of points that is expected at this Elo difference."""
    return 1.0 / (1.0 + math.exp(min(-elo / ELO, 700.0)))


# --- many players -----------------------------------------------------------------------------------------------------


def ratings(results: Mapping[tuple[str, str], Tally], anchor: str | None = None, at: float = 0.0) -> list[Rating]:
    """Ratings of all who played, the best first.

    results  of each pair, from the view of its first player
    anchor   a player whose rating is known to be `at`; without one, the mean of all ratings is `at`
    """
    names = list(dict.fromkeys(name for pair in results for name in pair))
    if anchor is not None and anchor not in names:
        raise ArenaError(f"the anchor {anchor!r} has not played; the players are {', '.join(names) or 'none'}")
    if not names:
        return []
    points, games = _matrices(names, results)
    strengths = _strengths(points, games)
    covariance = np.linalg.inv(_information(strengths, games))
    # Ratings are distances: to the anchor, or to the mean. `away` turns strengths into distances.
    away = np.eye(len(names))
    if anchor is None:
        away -= 1.0 / len(names)
    else:
        away[:, names.index(anchor)] -= 1.0
    elo = at + ELO * (away @ strengths)
    errors = ELO * np.sqrt(np.maximum(np.diag(away @ covariance @ away.T), 0.0))
    rated = [
        Rating(name, float(elo[i]), float(errors[i]), int(games[i].sum()), float(points[i].sum()))
        for i, name in enumerate(names)
    ]
    return sorted(rated, key=lambda rating: -rating.elo)


def _matrices(names: list[str], results: Mapping[tuple[str, str], Tally]) -> tuple[np.ndarray, np.ndarray]:
    """points[i, j]: what i won against j; games[i, j]: how many they played. A player's games with itself say nothing."""
    place = {name: i for i, name in enumerate(names)}
    points, games = np.zeros((2, len(names), len(names)))
    for (first, second), counts in results.items():
        if first != second:
            i, j = place[first], place[second]
            points[i, j] += counts.score
            points[j, i] += counts.games - counts.score
            games[i, j] += counts.games
            games[j, i] += counts.games
    return points, games


def _strengths(points: np.ndarray, games: np.ndarray) -> np.ndarray:
    """The maximum of the likelihood times the prior, in log odds around 0, by Newton's method. It is concave: there is one."""
    strengths = np.zeros(len(points))
    for _ in range(STEPS):
        slope = (points - games * _expected(strengths)).sum(axis=1) - strengths * (ELO / PRIOR) ** 2
        step = np.linalg.solve(_information(strengths, games), slope)
        strengths += step * min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), PRECISE))
        if np.abs(step).max() < PRECISE:
            break
    return strengths


def _information(strengths: np.ndarray, games: np.ndarray) -> np.ndarray:
    """The negative Hessian of the log likelihood and the prior."""
    expected = _expected(strengths)
    weights = games * expected * (1.0 - expected)
    return np.diag(weights.sum(axis=1) + (ELO / PRIOR) ** 2) - weights


def _expected(strengths: np.ndarray) -> np.ndarray:
    """[i, j]: the share of points that i is expected to take from j."""
    return 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
