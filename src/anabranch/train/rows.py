"""A row of a game: what the search said of one position, and what the game paid from there.

`row_of` is written when a move has been searched, outcomes when the game has ended (`game_in_progress.py`). The record of a row
is declared in `game_file.py`; `targets.py` makes of rows what networks learn.
"""

from typing import Any

import numpy as np

from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.search.results.result import Result

MOST_PLIES = (1 << 16) - 1  # that a row can count


def row_of(game: Game, dtype: np.dtype, position: Position, result: Result, regularized: bool) -> Any:
    """A new row, without outcomes; with the exact regularised policy only if it is wanted, since computing it takes time."""
    row = np.zeros((), dtype)
    row["state"] = position.data
    is_exact = result.proven and isinstance(result.moves, list)
    row["policy"] = over_actions(game, exact_policy(game, result) if is_exact else result.target)
    if regularized:
        row["regularized"] = row["policy"] if is_exact else over_actions(game, result.regularized)
    row["prior"] = priors_of(game, result)
    row["search"] = np.ravel(result.value)[: game.value_width()]  # where both move at once, the result has both values
    row["ply"] = min(len(position.moves), MOST_PLIES)
    row["proven"] = result.proven
    return row[()]


def over_actions(game: Game, policy: Any) -> np.ndarray:
    """A result's policy without the places that it has for chance events, where there are more of them than actions; both
    players' one after the other."""
    return np.atleast_2d(policy)[:, : game.actions].ravel()


def priors_of(game: Game, result: Result) -> np.ndarray:
    """The network's priors at the root, over all actions; both players' one after the other."""
    tables = result.moves if isinstance(result.moves, tuple) else (result.moves,)
    priors = np.zeros((len(tables), game.actions), np.float32)
    for player, moves in enumerate(tables):
        for move in moves:
            priors[player, move.action] = move.prior
    return priors.ravel()


def exact_policy(game: Game, result: Result) -> np.ndarray:
    """The policy of a position whose value is proven: any of the actions that are proven to reach it. If that is the worst
    value there is, the search's own: it may still resist longer."""
    exact = np.zeros(game.actions)
    best = max(move.value for move in result.moves if move.proven and move.value is not None)
    for move in result.moves:
        if move.proven and move.value == best:
            exact[move.action] = 1.0
    return exact / exact.sum() if best > game.value_range[0] else result.target


def states_of(game: Game, rows: np.ndarray) -> np.ndarray:
    """The positions of rows, as records of the game."""
    return np.frombuffer(bytearray(np.ascontiguousarray(rows["state"]).tobytes()), game.record)


def surprise(target: np.ndarray, prior: np.ndarray) -> float:
    """How far the search's policy is from the network's: the Kullback-Leibler divergence."""
    some = target > 0.0
    return float((target[some] * np.log(target[some] / np.maximum(prior[some], 1e-6))).sum())


def range_of(game: Game, player: int) -> tuple[float, float]:
    """What a player may get in all. The game declares it for player 0; where two share a value, the other gets the opposite."""
    low, high = game.value_range
    return (-high, -low) if player == 1 and game.value_width() == 1 else (low, high)


def as_seen(game: Game, returns: np.ndarray, player: int) -> Any:
    """What players get, as the value of a position: that of the player to move, or one number per player."""
    return returns if game.value_width() > 1 else returns[max(player, 0)]
