"""Nim with one heap: the smallest game here, and a template for your own.

A player who faces a multiple of four stones loses against good play.
"""

import numpy as np

from anabranch.games.game import Game, rule


class Nim(Game):
    """Take one to three of 21 stones; whoever takes the last one wins."""

    players, actions = 2, 3
    actions_keep_meaning = False  # taking two stones now and later are different things
    state = np.dtype([("stones", "i4"), ("turn", "i1")])

    @rule
    def setup(state):
        state.stones, state.turn = 21, 0

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        return action < state.stones

    @rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = 1 - state.turn

    @rule
    def is_over(state):
        return state.stones == 0

    @rule
    def returns(state, out):
        out[state.turn], out[1 - state.turn] = -1.0, 1.0

    def name_of(self, action):
        return str(action + 1)
