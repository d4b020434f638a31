"""Data augmentation by symmetries: one row of training data becomes one for each symmetry of the game."""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.encoding import planes_of, symmetries_of
from anabranch.games.game import Game


def augment(
    game: Game, planes: np.ndarray, policies: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes (n, channels, height, width), policies (n, actions) and values (n, ...) under every symmetry: all n as they are,
    then all n under the next, and so on. A value is the same under all symmetries."""
    if planes.shape[1:] != planes_of(game) or policies.shape != (len(planes), game.actions) or len(values) != len(planes):
        shape = ", ".join(map(str, planes_of(game)))
        raise GameError(
            f"for {game!r} planes have the shape (n, {shape}) and policies (n, {game.actions}), with n values; "
            f"not {planes.shape}, {policies.shape} and {len(values)} values"
        )
    ways = symmetries_of(game)
    flat = planes.reshape(*planes.shape[:2], -1)
    all_planes = np.concatenate([flat[:, :, points] for points in ways.points]).reshape(-1, *planes.shape[1:])
    all_policies = np.concatenate([policies[:, actions] for actions in ways.actions])
    return all_planes, all_policies, np.concatenate([values] * len(ways))
