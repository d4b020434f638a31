"""Outputs of a KataGo network, read: logits to priors of legal moves, and numbers to chances, points and ownership.

All in the view of who moves, and as KataGo reads them (its `nneval.cpp`), by the multipliers of the file. Some meanings differ
by model version.
"""

from typing import NamedTuple

import numpy as np

from anabranch.errors import NetworkError
from anabranch.nets.katago.layers import Header
from anabranch.nets.katago.symmetry import turn_back

NO_RESULT = 2  # among the values
MOST_FOR_PASS = 19.0  # times all other moves: 95 %
LEAST_FOR_PASS = 1e-20
SCORE_ERROR_9 = 10.0  # the multiplier of version 9, which gave errors rather than their squares


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


def read_policy(
    raw: RawOutputs,
    legal: np.ndarray,
    optimism: float | np.ndarray = 0.0,
    temperature: float = 1.0,
    capped_pass: bool = False,
) -> np.ndarray:
    """Priors, f4 (n, points + 1), the last of a pass; 0 for what is not legal.

    legal        bool (n, points + 1)
    optimism     how much of the optimistic policy is mixed in, as logits: 0 to 1, one for all or (n,). KataGo takes 1 in the
                 tree, 0.2 at the root, and 0 for human-like networks
    temperature  above 1 for flatter priors
    capped_pass  whether a pass gets at most 95 %, as in KataGo's games and analyses
    """
    logits = np.concatenate([raw.policy, raw.passing[:, :, None]], axis=2).astype(np.float64)
    if not np.isfinite(logits).all():
        raise NetworkError("the network gave a policy that is not finite")
    mixed = logits[:, 0]
    if logits.shape[1] > 1:
        mixed = mixed + (logits[:, 1] - mixed) * np.reshape(optimism, (-1, 1))
    mixed = np.where(legal, mixed / temperature, -np.inf)
    most = mixed.max(axis=1, keepdims=True)
    shares = np.exp(mixed - np.where(np.isfinite(most), most, 0.0))
    if capped_pass:
        others = shares[:, :-1].sum(axis=1)
        capped = np.maximum(np.minimum(shares[:, -1], MOST_FOR_PASS * others), LEAST_FOR_PASS)
        shares[:, -1] = np.where(legal[:, -1], capped, 0.0)
    return (shares / np.maximum(shares.sum(axis=1, keepdims=True), LEAST_FOR_PASS)).astype(np.float32)


def read_values(raw: RawOutputs, header: Header, may_end_without_result: bool | np.ndarray) -> Evaluations:
    """All but the policy. A game may end without a result under a simple ko rule or territory scoring; one answer for all
    positions, or (n,)."""
    value, score = raw.value.astype(np.float64), raw.score.astype(np.float64)
    if not (np.isfinite(value).all() and np.isfinite(score).all() and np.isfinite(raw.ownership).all()):
        raise NetworkError(f"{header.name} gave an evaluation that is not finite")
    win, loss, no_result = _softmax(value, np.broadcast_to(may_end_without_result, len(value))).T
    scale, ends = header.multipliers, 1.0 - no_result
    mean = score[:, 0] * scale.score_mean
    square = mean**2 + (_softplus(score[:, 1]) * scale.score_stdev) ** 2
    lead = score[:, 2] * scale.lead
    time, value_error, score_error = _read_errors(score, header) if header.version >= 9 else (None, None, None)
    ownership = np.tanh(raw.ownership)
    scores = mean * ends, square * ends, lead * ends
    return Evaluations(win, loss, no_result, *scores, time, value_error, score_error, ownership)


def _read_errors(score: np.ndarray, header: Header) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variance time and short-term errors of value and score."""
    scale = header.multipliers
    time = _softplus(score[:, 3]) * scale.variance_time
    squares = _softplus(score[:, 4:6] / 2.0) ** 2 if header.version >= 14 else _softplus(score[:, 4:6])
    if header.version == 9:
        return time, squares[:, 0], squares[:, 1] * SCORE_ERROR_9
    return time, np.sqrt(squares[:, 0] * scale.value_error), np.sqrt(squares[:, 1] * scale.score_error)


def _softmax(logits: np.ndarray, with_no_result: np.ndarray) -> np.ndarray:
    logits = logits.copy()
    logits[~with_no_result, NO_RESULT] = -np.inf
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, x)
