"""Connect Four: drop stones into seven columns, four in a row win.

Bitboards of 7 bits a column (6 cells and an empty sentinel), as in every fast program since Allis's: bit 7 * column + row,
row 0 at the bottom. Actions are columns from the left.
"""

import numpy as np

from anabranch.games.board import Grid
from anabranch.games.game import Game, rule
from anabranch.games.symmetry import Symmetries, mirror
from anabranch.jit import helper

COLUMNS, ROWS = 7, 6
U = np.uint64
BOTTOM = U(0b0000001_0000001_0000001_0000001_0000001_0000001_0000001)  # the lowest cell of each column
FULL = U(int(BOTTOM) * 0b111111)  # all cells
COLUMN, TOP, ONE, SEVEN = U(0b111111), U(0b100000), U(1), U(7)


class ConnectFour(Game):
    """Seven columns, six rows, four in a row."""

    players, actions = 2, COLUMNS
    player_names = ("X", "O")
    planes = 3, ROWS, COLUMNS  # the mover's stones, top row first; the other's; all ones if the second player moves
    state = np.dtype([("mover", "u8"), ("stones", "u8"), ("turn", "i1")])  # stones of the side to move; of both; 0 or 1

    @rule
    def setup(state):
        state.mover, state.stones, state.turn = U(0), U(0), 0

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        return state.stones & (TOP << (SEVEN * U(action))) == U(0)

    @rule
    def play(state, action):
        shift = SEVEN * U(action)
        landed = (state.stones + (ONE << shift)) & ~state.stones & (COLUMN << shift)
        opponent = state.stones ^ state.mover
        state.stones |= landed
        state.mover = opponent
        state.turn = 1 - state.turn

    @rule
    def is_over(state):
        return state.stones == FULL or four(state.stones ^ state.mover)

    @rule
    def returns(state, out):
        if four(state.stones ^ state.mover):  # by the stone just played
            out[1 - state.turn] = 1.0
            out[state.turn] = -1.0
        else:
            out[0] = out[1] = 0.0

    @rule
    def key(state):
        return state.mover, state.stones  # whose turn it is follows from the number of stones

    @rule
    def encode(state, planes):
        other = state.stones ^ state.mover
        for column in range(COLUMNS):
            for row in range(ROWS):
                cell = U(7 * column + row)
                planes[0, ROWS - 1 - row, column] = state.mover >> cell & ONE
                planes[1, ROWS - 1 - row, column] = other >> cell & ONE
        planes[2] = state.turn

    def symmetries(self):
        return Symmetries(mirror(ROWS, COLUMNS), mirror(1, COLUMNS))

    def name_of(self, action):
        return "abcdefg"[action]

    def _grid(self, state):
        first = int(state.mover if state.turn == 0 else state.stones ^ state.mover)
        second = int(state.stones) ^ first
        cells = [
            [
                1 if first >> (7 * column + row) & 1 else 2 if second >> (7 * column + row) & 1 else 0
                for column in range(COLUMNS)
            ]
            for row in reversed(range(ROWS))
        ]
        return Grid(cells, symbols=".XO", columns="abcdefg", round_cells=True, colours=("#f2f2f2", "#d6453d", "#f0c419"))

    def text(self, state):
        return self._grid(state).text()

    def svg(self, state):
        return self._grid(state).svg()


@helper
def four(stones):
    """Whether four in a row are among these stones."""
    for step in (1, 6, 7, 8):  # vertical, the two diagonals, horizontal
        pairs = stones & (stones >> U(step))
        if pairs & (pairs >> U(2 * step)) != U(0):
            return True
    return False
