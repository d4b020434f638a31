"""What a position is worth, by a network's opinion of it: the expectation of what the game pays (`games/go/utility.py`).

A network gives probabilities of win and loss, and the mean and the variance of the score. Scores are taken as normally
distributed, as in KataGo. What a game pays is in the records of its positions, so nothing here depends on the game's object.
"""

import numpy as np

from anabranch.games.go.rulesets import TERRITORY
from anabranch.games.go.utility import DYNAMIC_SCALE, STATIC_SCALE
from anabranch.nets.katago.columns import LOSS, SCORE_ERROR, SCORE_MEAN, SCORE_SQUARE, VALUE_ERROR, WIN

# Nodes of the integral over a normal distribution, in standard deviations. Scores vary by at most some six times the scale of
# the arctangent, where this step of the trapezoidal rule leaves an error below 1e-4.
NODES = np.linspace(-5.0, 5.0, 101)
WEIGHTS = np.exp(-0.5 * NODES**2) / np.exp(-0.5 * NODES**2).sum()
TWO_OVER_PI = 2.0 / np.pi


def expected_utility(states: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """What the game is expected to pay the player to move, f8 (n,), from a network's numbers, f8 (n, columns)."""
    mean = np.clip(numbers[:, SCORE_MEAN], -(most := _most_points(states)), most)
    value = states["win_weight"] * (numbers[:, WIN] - numbers[:, LOSS]) + states["score_weight"] * mean
    if not _pays_for_points(states):
        return value
    deviation = np.sqrt(np.maximum(numbers[:, SCORE_SQUARE] - mean**2, 0.0))
    for weight, scale, centre in _terms(states):
        value += weight * expected_arctangent((mean - centre) / scale, deviation / scale)
    return value


def utility_error(states: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The standard error of that, as far as the network knows it: errors of win and score added up, as in KataGo."""
    per_point = np.array(states["score_weight"], np.float64)
    if _pays_for_points(states):
        for weight, scale, centre in _terms(states):
            per_point += weight * TWO_OVER_PI * scale / (scale**2 + (numbers[:, SCORE_MEAN] - centre) ** 2)
    return states["win_weight"] * numbers[:, VALUE_ERROR] + per_point * numbers[:, SCORE_ERROR]


def expected_arctangent(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """The expectation of 2/pi arctan X for normal X, f8 (n,)."""
    return TWO_OVER_PI * np.arctan(mean[:, None] + deviation[:, None] * NODES) @ WEIGHTS


def _most_points(states: np.ndarray) -> np.ndarray:
    """The largest possible score; networks may expect more."""
    boards = np.where(states["scoring"] == TERRITORY, 2.0, 1.0)
    return boards * states["width"] * states["height"] + 0.5 * np.abs(states["half_komi"])


def _pays_for_points(states: np.ndarray) -> bool:
    return bool(states["static_weight"].any() or states["dynamic_weight"].any())


def _terms(states: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Weights, scales and centres of the two arctangents, f8 (n,) each, the centres for the player to move."""
    root = np.sqrt(states["width"].astype(np.float64) * states["height"])
    own = np.where(states["turn"] == 0, 1.0, -1.0) * states["score_centre"]
    return [
        (states["static_weight"].astype(np.float64), STATIC_SCALE * root, np.zeros(len(states))),
        (states["dynamic_weight"].astype(np.float64), DYNAMIC_SCALE * root, own),
    ]
