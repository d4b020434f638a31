"""When to stop: Wald's sequential probability ratio test (1945) on wins, draws and losses. Pure functions of counts.

Two hypotheses about the expected share of points are held against each other, as Elo differences ("0,50") or as shares
("60%,75%"). The log likelihood ratio grows with each game that speaks for the higher one; at ln((1 - beta) / alpha) that one is
accepted, at ln(beta / (1 - alpha)) the lower one. How often games are drawn is not known: under each hypothesis it is taken as
likely as it can be (Van den Bergh's GSPRT), and without draws the test is Wald's own.

Games are taken in the order of their numbers and up to the first that is missing: if they run side by side, short ones end
first, and a test that looks at those before the others may be led astray. Read first: `rating.py`.
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from anabranch.arena.rating import Tally, share_of
from anabranch.errors import ArenaError

ALPHA = BETA = 0.05  # how often either hypothesis is accepted though the other one holds
UNSEEN = 1e-3  # games of a kind that was not seen yet: without it, its likelihood is not defined


class Sprt(NamedTuple):
    """A test: expected shares of points, and error rates."""

    low: float
    high: float
    alpha: float = ALPHA  # of accepting the high one if the low one holds
    beta: float = BETA  # the other way round
    written: str = ""  # as the user wrote it

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which the low and the high hypothesis are accepted."""
        return math.log(self.beta / (1.0 - self.alpha)), math.log((1.0 - self.beta) / self.alpha)


class Verdict(NamedTuple):
    """How a test stands."""

    ratio: float  # the log likelihood ratio
    lower: float
    upper: float
    accepted: str | None  # "low", "high", or None: go on
    games: int  # that the test has looked at

    def sentence(self, sprt: Sprt) -> str:
        """One line for people."""
        sides = sprt.written.split(",") if sprt.written else [f"{sprt.low:.1%}", f"{sprt.high:.1%}"]
        name = f"SPRT({', '.join(side.strip() for side in sides)})"
        ratio = f"log likelihood ratio {self.ratio:+.2f} of {self.lower:+.2f} to {self.upper:+.2f}"
        if self.accepted is None:
            return f"{name}: not decided after {self.games} games, {ratio}"
        side = sides[self.accepted == "high"].strip()
        return f"{name}: {side} accepted after {self.games} games, {ratio}"


def parse(written: str, alpha: float = ALPHA, beta: float = BETA) -> Sprt:
    """A test from "0,50" (Elo) or "60%,75%" (shares of points)."""
    number = r"\s*([-+]?[0-9]*\.?[0-9]+)\s*(%?)\s*"
    found = re.fullmatch(f"{number},{number}", written)
    if found is None or found[2] != found[4]:
        raise ArenaError(f'SPRT {written!r}: write two Elo differences such as "0,50", or two win rates such as "60%,75%"')
    numbers = float(found[1]), float(found[3])
    low, high = (number / 100 for number in numbers) if found[2] else (share_of(number) for number in numbers)
    if not 0.0 < low < high < 1.0:
        raise ArenaError(f"SPRT {written!r}: the first number must be smaller than the second, and win rates from 0 to 100 %")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0.0 < value < 0.5:
            raise ArenaError(f"SPRT: {name}={value} must be above 0 and below 0.5")
    return Sprt(low, high, alpha, beta, written)


def log_ratio(sprt: Sprt, counts: Tally) -> float:
    """ln(likelihood under the high hypothesis / likelihood under the low one)."""
    if not counts.games:
        return 0.0
    seen = [count or UNSEEN for count in counts]
    low, high = _weights(seen, sprt.low), _weights(seen, sprt.high)
    return sum(count * math.log(a / b) for count, a, b in zip(seen, low, high, strict=True))


def _weights(seen: list[float], share: float) -> list[float]:
    """What frequencies are divided by to get the most likely probabilities with this mean.

    They are p = f / (1 + t (points - share)), where t solves sum f (points - share) / (1 + t (points - share)) = 0: a quadratic
    equation with one root at which all three are positive.
    """
    wins, draws, losses = seen
    x, y, z = 1.0 - share, 0.5 - share, -share  # points less the share
    a = x * y * z * (wins + draws + losses)
    b = wins * x * (y + z) + draws * y * (x + z) + losses * z * (x + y)
    c = wins * x + draws * y + losses * z
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    q = -(b + math.copysign(root, b)) / 2
    roots = [q / a] if a else []
    roots += [c / q] if q else [0.0]
    return max(([1 + t * x, 1 + t * y, 1 + t * z] for t in roots), key=min)


class Course:
    """A test that is going on: games are added one by one."""

    def __init__(self, sprt: Sprt) -> None:
        self.sprt, self.counts = sprt, Tally()
        self.verdict = Verdict(0.0, *sprt.bounds, None, 0)

    def add(self, score: float) -> None:
        """Look at the next game, in the order of their numbers; once the test is decided, nothing changes it."""
        if self.verdict.accepted is not None:
            return
        wins, draws, losses = self.counts
        self.counts = Tally(wins + (score == 1.0), draws + (score == 0.5), losses + (score == 0.0))
        ratio = log_ratio(self.sprt, self.counts)
        _, lower, upper, _, games = self.verdict
        accepted = "low" if ratio <= lower else "high" if ratio >= upper else None
        self.verdict = Verdict(ratio, lower, upper, accepted, games + 1)


def judge(sprt: Sprt, scores: Iterable[float]) -> Verdict:
    """Go through points (1, 0.5, 0) in the order of the games, up to the first decision."""
    course = Course(sprt)
    for score in scores:
        course.add(score)
    return course.verdict
