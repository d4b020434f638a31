"""What a position is worth, by a network's opinion of it: the expectation of what the game pays (`games/go/utility.py`).

A network gives probabilities of win and loss, and the mean and the variance of the score. Scores are taken as normally
distributed, as in KataGo. What a game pays is in the records of its positions, so nothing here depends on the game's object.
"""

import math

import numpy as np

from anabranch.games.go.rulesets import TERRITORY
from anabranch.games.go.utility import DYNAMIC_SCALE, STATIC_SCALE
from anabranch.jit import helper, kernel
from anabranch.nets.katago.columns import LOSS, SCORE_ERROR, SCORE_MEAN, SCORE_SQUARE, VALUE_ERROR, WIN

# Nodes of the integral over a normal distribution, in standard deviations. Scores vary by at most some six times the scale of
# the arctangent, where this step of the trapezoidal rule leaves an error below 1e-4.
NODES = np.linspace(-5.0, 5.0, 101)
WEIGHTS = np.exp(-0.5 * NODES**2) / np.exp(-0.5 * NODES**2).sum()


def expected_utility(states: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the game is expected to pay the player to move, f8 (n,), from a network's numbers, f8 (n, COLUMNS); and the standard
    error of that, as far as the network knows it."""
    values, errors = np.empty(len(states)), np.empty(len(states))
    pay_expected(states, numbers, values, errors)
    return values, errors


@kernel
def pay_expected(states, numbers, values, errors):
    """The same of n states. Errors of win and score are added up, as in KataGo."""
    for i in range(len(states)):
        state = states[i]
        most = most_points(state)
        mean = min(max(numbers[i, SCORE_MEAN], -most), most)
        value = state.win_weight * (numbers[i, WIN] - numbers[i, LOSS]) + state.score_weight * mean
        slope = np.float64(state.score_weight)
        if state.static_weight + state.dynamic_weight > 0.0:
            deviation = math.sqrt(max(numbers[i, SCORE_SQUARE] - mean * mean, 0.0))
            root = math.sqrt(np.float64(state.width) * state.height)
            centre = state.score_centre if state.turn == 0 else -state.score_centre
            static, dynamic = STATIC_SCALE * root, DYNAMIC_SCALE * root
            value += state.static_weight * expected_arctangent(mean / static, deviation / static)
            value += state.dynamic_weight * expected_arctangent((mean - centre) / dynamic, deviation / dynamic)
            slope += state.static_weight * slope_of_arctangent(numbers[i, SCORE_MEAN], static)
            slope += state.dynamic_weight * slope_of_arctangent(numbers[i, SCORE_MEAN] - centre, dynamic)
        values[i] = value
        errors[i] = state.win_weight * numbers[i, VALUE_ERROR] + slope * numbers[i, SCORE_ERROR]


@helper
def most_points(state):
    """The largest possible score; networks may expect more."""
    boards = 2.0 if state.scoring == TERRITORY else 1.0
    return boards * state.width * state.height + 0.5 * abs(np.float64(state.half_komi))


@helper
def expected_arctangent(mean, deviation):
    """The expectation of 2/pi arctan X for normal X."""
    total = 0.0
    for i in range(len(NODES)):
        total += WEIGHTS[i] * math.atan(mean + deviation * NODES[i])
    return total * 2.0 / math.pi


@helper
def slope_of_arctangent(x, scale):
    """The derivative of 2/pi arctan(x / scale)."""
    return scale / (scale * scale + x * x) * 2.0 / math.pi
