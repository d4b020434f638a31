"""What is played for in Go: the win, points, or both. `Go(returns=...)` takes a name or a `Utility`.

KataGo plays for the win and, a little, for points. A score s (black's, komi included) on a board of area A is worth

    win sign(s) + static f(s / (2 sqrt A)) + dynamic f((s - centre) / (0.75 sqrt A)),        f(x) = 2/pi arctan x

to black. The static term keeps a sense of scale. The dynamic one has its centre near the score that is expected, so that
points matter there, whoever is ahead. Above: `score.py` pays it; `nets/katago/utility.py` has its expectation.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.errors import GameError
from anabranch.jit import helper

STATIC_SCALE, DYNAMIC_SCALE = 2.0, 0.75  # in units of the square root of the board's area: KataGo's
NAMES = ("win", "score", "mix", "utility")
MIX = 0.1  # the score's share in what "mix" pays


class Utility(NamedTuple):
    """KataGo's utility; the numbers are its defaults."""

    win: float = 1.0  # a win; a loss is as bad
    static: float = 0.1  # the largest possible score
    dynamic: float = 0.3  # likewise, counted from the centre
    centre: float = 0.0  # black's points

    @property
    def most(self) -> float:
        """No result is worth more than this."""
        return self.win + self.static + self.dynamic


def payments(returns: str | Utility, most: float) -> tuple[dict[str, float], float]:
    """The fields of a record that say what is paid, and the most that can be; `most`: the largest possible score."""
    if isinstance(returns, Utility):
        numbers = [float(number) for number in returns]
        if not all(map(math.isfinite, numbers)) or min(numbers[:3]) < 0 or returns.most <= 0:
            raise GameError(f"returns={returns!r}: give finite weights, none of them negative, and at least one above 0")
        win, static, dynamic, centre = numbers
        return {"win_weight": win, "static_weight": static, "dynamic_weight": dynamic, "score_centre": centre}, returns.most
    if returns == "utility":
        return payments(Utility(), most)
    if returns not in NAMES:
        raise GameError(f"returns={returns!r}: Go is played for one of {', '.join(map(repr, NAMES))}, or for a Utility(...)")
    win, score = {"win": (1.0, 0.0), "score": (0.0, 1.0), "mix": (1.0 - MIX, MIX / most)}[returns]
    return {"win_weight": win, "score_weight": score}, most if returns == "score" else 1.0


@helper
def score_utility(state, points):
    """What a score is worth to black by itself, whoever wins."""
    root = math.sqrt(np.float64(state.width) * state.height)
    static = state.static_weight * math.atan(points / (STATIC_SCALE * root))
    dynamic = state.dynamic_weight * math.atan((points - state.score_centre) / (DYNAMIC_SCALE * root))
    return (static + dynamic) * 2.0 / math.pi
