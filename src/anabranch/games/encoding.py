"""Positions as networks see them: the rule `encode` over whole arrays of states.

A game without `planes` is shown by the fields of its record (`record_planes.py`) and by who is to move: one number a channel,
on a board of one point. Networks ask here for shapes and symmetries, so that they need not know whether a game has planes.
"""

from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games import rules
from anabranch.games.game import Game
from anabranch.games.record_planes import KINDS, leaves_of, show_fields
from anabranch.games.symmetry import Symmetries, identity
from anabranch.jit import kernel

MOST_NUMBERS = 20_000  # that show a record: the first layer of a fully connected network then has 2.5 million weights
REMEDY = "`planes = channels, height, width` and a rule `encode`: docs/nets.md#network-inputs-for-your-game"


@kernel
def encode_all(states, planes):
    """Encode every state into its own planes, which are all zeros before."""
    for i in range(len(states)):
        rules.encode(states[i], planes[i])


@kernel
def find_movers(states, movers):
    """Write who is to move in each state."""
    for i in range(len(states)):
        movers[i] = rules.to_play(states[i])


def encode(game: Game, states: Any) -> np.ndarray:
    """The planes of n states of a game, f4 (n, channels, height, width), each in the view of the player to move; of a game
    without `planes`, the fields of its record, in whatever view they are."""
    planes = np.zeros((len(states), *planes_of(game)), np.float32)
    records = np.ascontiguousarray(states).view(game.record)
    if game.planes is not None:
        encode_all(records, planes)
    else:
        numbers = planes[:, :, 0, 0]
        movers = np.zeros(len(records), np.int64)
        find_movers(records, movers)
        numbers[:, : game.players] = movers[:, None] == np.arange(game.players)  # nobody at chance, or where all move
        show_fields(records, numbers[:, game.players :])
    return planes


def planes_of(game: Game) -> tuple[int, int, int]:
    """The shape of what networks see of a position: channels, height, width."""
    return game.planes or (_numbers_of(game), 1, 1)


def symmetries_of(game: Game) -> Symmetries:
    """The symmetries of what networks see: the fields of a record have no sides."""
    return game.symmetries() if game.planes is not None else Symmetries(identity(1, 1), np.arange(game.actions)[None])


def _numbers_of(game: Game) -> int:
    """How many numbers show a record, and who is to move. Raises if it cannot be shown."""
    leaves = leaves_of(game.record)
    for leaf in leaves:
        if leaf.dtype.kind not in KINDS:
            raise GameError(
                f"{game!r} has no `planes`, and networks cannot see its field `{'.'.join(leaf.path)}`, which is {leaf.dtype}: "
                f"give it {REMEDY}"
            )
    total = game.players + sum(leaf.size * leaf.width for leaf in leaves)
    if total > MOST_NUMBERS:
        values = sum(leaf.size for leaf in leaves)
        raise GameError(
            f"{game!r} has no `planes`, and its record of {values:,} values is too large for networks to see as it is "
            f"({total:,} numbers; at most {MOST_NUMBERS:,}): give it {REMEDY}"
        )
    return total
