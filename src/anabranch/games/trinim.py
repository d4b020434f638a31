"""Nim for three: a small game with more than two players, whose values are one number per player.

A player who cannot win may still choose which of the other two does.
"""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import Game, rule

WIN, LOSS = 1.0, -0.5
MOST_STONES = 10_000


class TriNim(Game):
    """Three players take one to three stones in turn; whoever takes the last one wins."""

    players, actions = 3, 3
    actions_keep_meaning = False  # taking two stones now and later are different things
    zero_sum = False
    value_range = (LOSS, WIN)
    state = np.dtype([("stones", "i4"), ("turn", "i1")])

    def __init__(self, stones: int = 15) -> None:
        if not isinstance(stones, (int, np.integer)) or not 1 <= stones <= MOST_STONES:
            raise GameError(f"TriNim is played with 1 to {MOST_STONES:,} stones, not {stones!r}")
        super().__init__(stones=int(stones))

    @rule
    def setup(state):
        state.turn = 0

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        return action < state.stones

    @rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = (state.turn + 1) % 3

    @rule
    def is_over(state):
        return state.stones == 0

    @rule
    def returns(state, out):
        for player in range(3):
            out[player] = LOSS
        out[(state.turn + 2) % 3] = WIN  # the player who moved last

    def name_of(self, action):
        return str(action + 1)

    def text(self, state):
        return f"{state.stones} stones, player {state.turn} to take"
