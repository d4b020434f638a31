"""Rows of games: what the search said of a position, and what the game paid from there.

`rows_of` writes them when moves have been searched, `game_in_progress.py` outcomes when the game has ended. The record of a row
is declared in `game_file.py`; `targets.py` makes of rows what networks learn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.search.results.roots import Roots

MOST_PLIES = (1 << 16) - 1  # that a row can count


def rows_of(game: Game, dtype: np.dtype, positions: Sequence[Position], found: Roots) -> np.ndarray:
    """A new row for each of these positions, without outcomes."""
    rows = np.zeros(len(positions), dtype)
    target = exact_policies(game, found)
    rows["state"] = np.frombuffer(b"".join(position.data for position in positions), dtype["state"])
    rows["policy"] = target
    if found.regularized is not None:
        rows["regularized"] = np.where(found.proven[:, None], target, found.regularized)
    rows["prior"] = found.priors
    rows["search"] = found.values
    rows["ply"] = [min(len(position.moves), MOST_PLIES) for position in positions]
    rows["proven"] = found.proven
    return rows


def exact_policies(game: Game, found: Roots) -> np.ndarray:
    """The policy targets. Where a position's value is proven, any of the actions that are proven to reach it; if that is the
    worst value there is, the search's own: it may still resist longer."""
    if not found.proven.any():
        return found.target
    certain = np.where(np.isnan(found.certain), -np.inf, found.certain)
    best = certain.max(axis=1, keepdims=True)
    exact = (certain == best) & (best > game.value_range[0])
    is_exact = found.proven & exact.any(axis=1)
    return np.where(is_exact[:, None], exact / np.maximum(exact.sum(axis=1, keepdims=True), 1), found.target)


def states_of(game: Game, rows: np.ndarray) -> np.ndarray:
    """The positions of rows, as records of the game."""
    return np.frombuffer(bytearray(np.ascontiguousarray(rows["state"]).tobytes()), game.record)


def surprises(targets: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """How far the search's policies, (n, policy size), are from the network's: the Kullback-Leibler divergences."""
    logs = np.log(np.where(targets > 0.0, targets, 1.0) / np.where(targets > 0.0, np.maximum(priors, 1e-6), 1.0))
    return np.asarray((targets * logs).sum(axis=1))


def entropies(targets: np.ndarray) -> np.ndarray:
    """How open the search's policies are."""
    return np.asarray(-(targets * np.log(np.where(targets > 0.0, targets, 1.0))).sum(axis=1))


def range_of(game: Game, player: int) -> tuple[float, float]:
    """What a player may get in all. The game declares it for player 0; where two share a value, the other gets the opposite."""
    low, high = game.value_range
    return (-high, -low) if player == 1 and game.value_width() == 1 else (low, high)


def as_seen(game: Game, returns: np.ndarray, player: int) -> Any:
    """What players get, as the value of a position: that of the player to move, or one number per player."""
    return returns if game.value_width() > 1 else returns[max(player, 0)]
