"""Games to look at networks with, and positions of games."""

import numpy as np

import anabranch as ab
from anabranch.games.pig import Pig
from anabranch.games.tictactoe import TicTacToe
from anabranch.games.trinim import TriNim
from anabranch.jit import readable


class Shifted(TicTacToe):
    """Player 0 gets between -1 and 3 in all, player 1 between -3 and 1."""

    value_range = (-1.0, 3.0)


class SeenTriNim(TriNim):
    """Three players, and a network that sees the stones and who moves."""

    planes = 3, 1, 2

    @ab.rule
    def encode(state, planes):
        planes[state.turn] = state.stones / 10.0


class SeenPig(Pig):
    """A game with chance that a network sees."""

    planes = 3, 1, 1

    @ab.rule
    def encode(state, planes):
        planes[0, 0, 0] = state.pot / 10.0
        planes[1, 0, 0] = state.turn
        planes[2, 0, 0] = state.rolling


def played(game, count, seed=0, most=30):
    """States of random positions where the game goes on, as evaluators get them."""
    random = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        position = game.start()
        for _ in range(int(random.integers(most))):
            following = position.play(int(random.choice(position.legal_actions)))
            if following.is_over:
                break
            position = following
        found.append(position.record())
    return readable(np.concatenate(found))
