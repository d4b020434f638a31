"""Data augmentation by symmetries: one row of training data becomes one for each symmetry of the game."""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.encoding import planes_of, symmetries_of
from anabranch.games.game import Game


def augment(
    game: Game, planes: np.ndarray, policies: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes (n, channels, height, width), policies (n, actions) and values (n, ...) under every symmetry: all n as they are,
    then all n under the next, and so on. Where both players move at once policies are (n, 2, actions). A value is the same
    under all symmetries, except that players may change places where each has one."""
    wanted = len(planes), *game.policy_shape
    if planes.shape[1:] != planes_of(game) or policies.shape != wanted or len(values) != len(planes):
        shape, each = (", ".join(map(str, sizes)) for sizes in (planes_of(game), game.policy_shape))
        raise GameError(
            f"for {game!r} planes have the shape (n, {shape}) and policies (n, {each}), with n values; "
            f"not {planes.shape}, {policies.shape} and {len(values)} values"
        )
    ways, flat = symmetries_of(game), policies.reshape(len(planes), -1, game.actions)
    sides = [np.full(len(planes), side) for side in range(len(ways))]
    all_policies = np.concatenate([ways.of_policies(flat, side) for side in sides]).reshape(-1, *policies.shape[1:])
    all_values = np.concatenate([ways.of_values(values, side) for side in sides])
    return np.concatenate([ways.of_planes(planes, side) for side in sides]), all_policies, all_values
