"""Tic-tac-toe: three in a row on nine cells.

A side's stones are nine bits, bit 3 * row + column from the top left; actions are the cells in the same order.
"""

import numpy as np

from anabranch.games.board import Grid, cell_name
from anabranch.games.game import Game, rule
from anabranch.games.symmetry import dihedral, on_points
from anabranch.jit.random import below

FULL = 0b111_111_111
LINES = (0b111, 0b111_000, 0b111_000_000, 0b001_001_001, 0b010_010_010, 0b100_100_100, 0b100_010_001, 0b001_010_100)
FREE = [[cell for cell in range(9) if not stones >> cell & 1] for stones in range(FULL + 1)]  # cells, by all stones
CELLS = np.array([free + [0] * (9 - len(free)) for free in FREE], np.uint8)
COUNTS = np.array([len(free) for free in FREE], np.uint8)
WINS = np.array([any(stones & line == line for line in LINES) for stones in range(FULL + 1)])  # by a side's stones


class TicTacToe(Game):
    """Three in a row on a board of three by three."""

    players, actions = 2, 9
    player_names = ("X", "O")
    planes = 3, 3, 3  # the mover's stones; the other's; all ones if the second player moves
    state = np.dtype([("mover", "i4"), ("other", "i4"), ("turn", "i4")])  # stones of the side to move; of the other; 0 or 1

    @rule
    def setup(state):
        state.mover, state.other, state.turn = 0, 0, 0

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        return (state.mover | state.other) >> action & 1 == 0

    @rule
    def play(state, action):
        played = state.mover | 1 << action
        state.mover = state.other
        state.other = played
        state.turn = 1 - state.turn

    @rule
    def legal_actions(state, out):
        stones = state.mover | state.other
        for i in range(COUNTS[stones]):
            out[i] = CELLS[stones, i]
        return int(COUNTS[stones])

    @rule
    def random_action(state, random):
        stones = state.mover | state.other
        return int(CELLS[stones, below(random, COUNTS[stones])])

    @rule
    def is_over(state):
        return WINS[state.other] or state.mover | state.other == FULL

    @rule
    def returns(state, out):
        out[0] = out[1] = 0.0
        if WINS[state.other]:  # by the stone just played
            out[1 - state.turn] = 1.0
            out[state.turn] = -1.0

    @rule
    def encode(state, planes):
        for cell in range(9):
            row, column = cell // 3, cell % 3
            planes[0, row, column] = state.mover >> cell & 1
            planes[1, row, column] = state.other >> cell & 1
        planes[2] = state.turn

    def symmetries(self):
        return on_points(dihedral(3, 3), self.actions)

    def name_of(self, action):
        return cell_name(action, 3)

    def _grid(self, state):
        first, second = (state.mover, state.other) if state.turn == 0 else (state.other, state.mover)
        cells = [(first >> cell & 1) + 2 * (second >> cell & 1) for cell in range(9)]
        return Grid([cells[0:3], cells[3:6], cells[6:9]], rows=True)

    def text(self, state):
        return self._grid(state).text()

    def svg(self, state):
        return self._grid(state).svg()
