"""What a network should say of a position, from the rows of games: policies, values, and what only learning uses.

A row has what the search found and what the game paid; the settings say what is made of it. `encoded` adds the planes, under
random symmetries. Values are scaled to [-1, 1] here, as networks give them.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games.encoding import encode, find_movers, symmetries_of
from anabranch.games.game import Game
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.train.rows import states_of
from anabranch.train.settings import TargetSettings

SHORT, LONG = 8.0, 60.0  # plies: how long a game still takes is learnt as log((left + SHORT) / LONG)
POINTS = 10.0  # a score is learnt as arcsinh(points / POINTS): nearly linear up to this, logarithmic beyond
MOST_WEIGHT = 10.0  # of a position, where the mean is 1


class Batch(NamedTuple):
    """What is learnt in one step; n positions."""

    planes: np.ndarray  # f4 (n, channels, height, width)
    policy: np.ndarray  # f4 (n, policies, actions), each summing to 1, or all zeros: not to be learnt
    value: np.ndarray  # f4 (n, value width), in [-1, 1]
    reply: np.ndarray  # i8 (n,): the action played next, or -1
    left: np.ndarray  # f4 (n,)
    settled: np.ndarray | None = None  # bool (n,): whether the next two are known; None where both are None
    ownership: np.ndarray | None = None  # f4 (n, points): 1 own, -1 the other's, 0 nobody's; None: the game has no owners
    score: np.ndarray | None = None  # f4 (n,), in the view of the player to move; None: the game counts no points


def weights_of(rows: np.ndarray, settings: TargetSettings) -> np.ndarray:
    """How often the rows of one game are learnt from, on average once. Part of it goes by surprise, as in KataGo."""
    if not len(rows) or settings.surprise == 0.0:
        return np.ones(len(rows), np.float32)
    target, prior = policies(rows, settings).astype(np.float64), rows["prior"].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(target > 0.0, target * np.log(target / np.maximum(prior, 1e-6)), 0.0)
    distance = np.maximum(terms.sum(1), 0.0)
    mean = distance.mean()
    relative = distance / mean if mean > 0.0 else np.ones(len(rows))
    return np.minimum(1.0 - settings.surprise + settings.surprise * relative, MOST_WEIGHT).astype(np.float32)


def policies(rows: np.ndarray, settings: TargetSettings) -> np.ndarray:
    """The policy targets of rows, (n, policy size)."""
    return np.asarray(rows["regularized" if settings.policy == "regularized" else "policy"])


def values(game: Game, rows: np.ndarray, settings: TargetSettings) -> np.ndarray:
    """The value targets, in [-1, 1]: a mix of outcome and search; what is proven, alone."""
    share = np.where(rows["proven"], 0.0, settings.outcome)[:, None]
    mixed = share * rows["outcome"] + (1.0 - share) * rows["search"]
    low, high = game.value_range
    middle: Any = (low + high) / 2
    if middle != 0.0 and game.players == 2 and game.value_width() == 1:
        movers = np.zeros(len(rows), np.int64)
        find_movers(states_of(game, rows), movers)
        middle = np.where(movers == 1, -middle, middle)[:, None]
    return np.clip((mixed - middle) / ((high - low) / 2), -1.0, 1.0).astype(np.float32)


def encoded(game: Game, rows: np.ndarray, settings: TargetSettings, random: np.random.Generator) -> Batch:
    """Rows as networks learn them, each under a random symmetry of the game."""
    planes, policy = encode(game, states_of(game, rows)), policies(rows, settings).astype(np.float32)
    reply = np.where(rows["reply"] < game.actions, rows["reply"], -1).astype(np.int64)
    if isinstance(game, SimultaneousGame):
        reply = np.full(len(rows), -1, np.int64)
    names = rows.dtype.names or ()
    value, ways = values(game, rows, settings), symmetries_of(game)
    ownership = rows["ownership"].astype(np.float32) if "ownership" in names else None
    score = np.arcsinh(rows["score"] / POINTS).astype(np.float32) if "score" in names else None
    if len(ways) > 1:
        sides = random.integers(len(ways), size=len(rows))
        planes, value = ways.of_planes(planes, sides), ways.of_values(value, sides)
        policy = ways.of_policies(policy.reshape(len(rows), -1, game.actions), sides)
        ownership = None if ownership is None else ways.of_signs(ways.of_points(ownership, sides), sides)
        score = None if score is None else ways.of_signs(score, sides)
        places = ways.inverse.actions  # where each action has gone
        reply = np.where(reply >= 0, places[sides, np.maximum(reply, 0)], -1)
    policy = policy.reshape(len(rows), -1, game.actions)
    total = policy.sum(2, keepdims=True)
    policy = np.divide(policy, total, out=np.zeros_like(policy), where=total > 0.0)
    left = np.log((rows["left"].astype(np.float32) + SHORT) / LONG)
    return Batch(
        planes=planes,
        policy=policy,
        value=value,
        reply=reply,
        left=left.astype(np.float32),
        settled=np.ascontiguousarray(rows["settled"]) if "settled" in names else None,
        ownership=ownership,
        score=score,
    )
