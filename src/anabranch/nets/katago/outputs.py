"""Outputs of a KataGo network, read: logits to priors of legal moves, and numbers to chances, points and ownership.

All in the view of who moves, and as KataGo reads them (its `nneval.cpp`), by the multipliers of the file. Some meanings differ
by model version.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import NetworkError
from anabranch.jit import helper, kernel
from anabranch.nets.katago.columns import (
    COLUMNS,
    LEAD,
    LOSS,
    NO_RESULT,
    SCORE_ERROR,
    SCORE_MEAN,
    SCORE_SQUARE,
    VALUE_ERROR,
    VARIANCE_TIME,
    WIN,
)
from anabranch.nets.katago.layers import Header
from anabranch.nets.katago.symmetry import turn_back

KNOWS_ERRORS = 9  # the model version from which on networks estimate their own errors
SCORE_ERROR_9 = 10.0  # the multiplier of version 9, which gave errors rather than their squares
SQUARED_SOFTPLUS = 14  # the version from which on squares of errors are squares of softplus


class RawOutputs(NamedTuple):
    """What the graph of `graph.py` gives for n positions."""

    policy: np.ndarray  # f4 (n, channels, points)
    passing: np.ndarray  # f4 (n, channels)
    value: np.ndarray  # f4 (n, 3)
    score: np.ndarray  # f4 (n, 4 or 6)
    ownership: np.ndarray  # f4 (n, height, width)

    def turned_back(self, symmetry: int | np.ndarray) -> "RawOutputs":
        """What was seen from a side, or each from its own, as seen from the front."""
        by_point = self.policy.reshape(*self.policy.shape[:2], *self.ownership.shape[1:])
        policy = turn_back(by_point, symmetry).reshape(self.policy.shape)
        return self._replace(policy=policy, ownership=turn_back(self.ownership, symmetry))


class Evaluations(NamedTuple):
    """n positions in the view of who moves; all f8 (n,) but the last. What a network does not give is None."""

    win: np.ndarray  # chances
    loss: np.ndarray
    no_result: np.ndarray
    score_mean: np.ndarray  # points that self-play would win by; no result counts as 0 in this and the next two
    score_square: np.ndarray  # the mean of its square
    lead: np.ndarray  # points that would make the game even
    variance_time: np.ndarray | None  # moves until the outcome is settled, about
    value_error: np.ndarray | None  # how far `win - loss` is off what it will be after some moves
    score_error: np.ndarray | None  # the same of the score
    ownership: np.ndarray  # f4 (n, height, width): from -1, the opponent's, to 1; 0 off the board

    @property
    def score_stdev(self) -> np.ndarray:
        """The standard deviation of the score."""
        return np.sqrt(np.maximum(self.score_square - self.score_mean**2, 0.0))


def read_policy(raw: RawOutputs, legal: np.ndarray, optimism: float | np.ndarray = 0.0) -> np.ndarray:
    """Priors, f4 (n, points + 1), the last of a pass; 0 for what is not legal.

    legal      bool (n, points + 1)
    optimism   how much of the optimistic policy is mixed in, as logits: 0 to 1, one for all or (n,). KataGo takes 1 in the
               tree, 0.2 at the root, and 0 for human-like networks
    """
    priors = np.zeros(legal.shape, np.float32)
    if not fill_priors(raw.policy, raw.passing, legal, np.full(len(legal), optimism, np.float64), priors):
        raise NetworkError("the network gave a policy that is not finite")
    return priors


@kernel
def fill_priors(policy, passing, legal, optimism, priors):
    """Priors of n positions, into zeros; returns whether all logits are finite."""
    points = policy.shape[2]
    is_finite = True
    for i in range(len(legal)):
        most = -math.inf
        for move in range(points + 1):
            for channel in range(policy.shape[1]):
                number = policy[i, channel, move] if move < points else passing[i, channel]
                is_finite &= math.isfinite(number)
            if legal[i, move]:
                most = max(most, mixed_logit(policy, passing, i, move, optimism[i]))
        total = 0.0
        for move in range(points + 1):
            if legal[i, move]:
                share = math.exp(mixed_logit(policy, passing, i, move, optimism[i]) - most)
                priors[i, move] = share
                total += share
        for move in range(points + 1):
            if total > 0.0:
                priors[i, move] /= total
    return is_finite


@helper
def mixed_logit(policy, passing, i, move, optimism):
    """A move's logit, with so much of the optimistic one."""
    is_point = move < policy.shape[2]
    first = np.float64(policy[i, 0, move] if is_point else passing[i, 0])
    if policy.shape[1] == 1:
        return first
    second = np.float64(policy[i, 1, move] if is_point else passing[i, 1])
    return first + (second - first) * optimism


def read_values(raw: RawOutputs, header: Header, may_end_without_result: bool | np.ndarray) -> Evaluations:
    """All but the policy. A game may end without a result under a simple ko rule or territory scoring; one answer for all
    positions, or (n,)."""
    return as_evaluations(*read_numbers(raw, header, may_end_without_result), header)


def as_evaluations(numbers: np.ndarray, ownership: np.ndarray, header: Header) -> Evaluations:
    """Numbers, f8 (n, COLUMNS), by their names."""
    known = len(COLUMNS) if header.version >= KNOWS_ERRORS else VARIANCE_TIME
    columns: list[Any] = [numbers[:, column] if column < known else None for column in range(len(COLUMNS))]
    return Evaluations._make([*columns, ownership])


def read_numbers(raw: RawOutputs, header: Header, may_end_without_result: bool | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same as numbers, f8 (n, COLUMNS), with 0 for what the network does not give, and ownership."""
    numbers, scale = np.zeros((len(raw.value), len(COLUMNS))), header.multipliers
    factors = scale.score_mean, scale.score_stdev, scale.lead, scale.variance_time, scale.value_error, scale.score_error
    may_end = np.full(len(numbers), may_end_without_result, np.bool_)
    is_finite = fill_numbers(raw.value, raw.score, header.version, factors, may_end, numbers)
    ownership = np.tanh(raw.ownership)
    if not (is_finite and np.isfinite(ownership.sum())):
        raise NetworkError(f"{header.name} gave an evaluation that is not finite")
    return numbers, ownership


@kernel
def fill_numbers(value, score, version, factors, may_end_without_result, numbers):
    """Chances, points and errors of n positions; returns whether all outputs are finite."""
    of_mean, of_deviation, of_lead, of_time, of_value_error, of_score_error = factors
    is_finite = True
    for i in range(len(value)):
        for j in range(value.shape[1]):
            is_finite &= math.isfinite(value[i, j])
        for j in range(score.shape[1]):
            is_finite &= math.isfinite(score[i, j])
        fill_chances(value[i], may_end_without_result[i], numbers[i])
        ends = 1.0 - numbers[i, NO_RESULT]
        mean = np.float64(score[i, 0]) * of_mean
        numbers[i, SCORE_MEAN] = mean * ends
        numbers[i, SCORE_SQUARE] = (mean * mean + (softplus(score[i, 1]) * of_deviation) ** 2) * ends
        numbers[i, LEAD] = np.float64(score[i, 2]) * of_lead * ends
        if version >= KNOWS_ERRORS:
            numbers[i, VARIANCE_TIME] = softplus(score[i, 3]) * of_time
            numbers[i, VALUE_ERROR] = error(score[i, 4], version, of_value_error, 1.0)
            numbers[i, SCORE_ERROR] = error(score[i, 5], version, of_score_error, SCORE_ERROR_9)
    return is_finite


@helper
def fill_chances(logits, may_end_without_result, numbers):
    """Chances of win, loss and no result."""
    most = max(logits[0], logits[1])
    if may_end_without_result:
        most = max(most, logits[2])
    win, loss = math.exp(np.float64(logits[0]) - most), math.exp(np.float64(logits[1]) - most)
    neither = math.exp(np.float64(logits[2]) - most) if may_end_without_result else 0.0
    total = win + loss + neither
    numbers[WIN], numbers[LOSS], numbers[NO_RESULT] = win / total, loss / total, neither / total


@helper
def error(output, version, factor, factor_9):
    """A short-term error, which most versions give as its square."""
    if version == KNOWS_ERRORS:
        return softplus(output) * factor_9
    square = softplus(0.5 * output) ** 2 if version >= SQUARED_SOFTPLUS else softplus(output)
    return math.sqrt(square * factor)


@helper
def softplus(x):
    """ln(1 + e^x)."""
    number = np.float64(x)
    return max(number, 0.0) + math.log1p(math.exp(-abs(number)))
