"""Heuristics for tests, compiled and in Python, that are sure of themselves and right about nothing."""

from typing import NamedTuple

import numpy as np

import anabranch as ab


class Fancy(NamedTuple):
    """Likes actions by their number, and is surer of some than of others."""

    visits: int = 3
    amaf_visits: int = 7


@ab.evaluate.advise.register(Fancy)
def advise_fancy(heuristic, state, action):
    return 0.2 + 0.2 * (action % 4), heuristic.visits + action % 3, heuristic.amaf_visits


class Says(NamedTuple):
    """Says the same of all actions."""

    value: float = 0.5
    visits: float = 0.0
    amaf_visits: float = 0.0


@ab.evaluate.advise.register(Says)
def advise_says(heuristic, state, action):
    return heuristic.value, heuristic.visits, heuristic.amaf_visits


def fancy(state):
    """In Python: another opinion in every position."""
    mixed = sum(state.tobytes())
    count = 4 if "played" in state.dtype.names else 9
    return np.array([(mixed * (action + 3)) % 11 / 10 for action in range(count)]), 2, np.arange(count)
