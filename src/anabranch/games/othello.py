"""Othello: enclose lines of the opponent's discs to turn them; most discs win.

Bitboards, bit 8 * row + column from the top left; actions are the cells in the same order, and PASS, which is legal only if
no cell is. Lines are found for all cells at once by parallel prefix fills along the four axes, both ways. The record keeps
the mover's legal cells, so that only `play` computes them.
"""

import numpy as np

from anabranch.games.board import Grid, cell_name
from anabranch.games.game import Game, rule
from anabranch.games.symmetry import dihedral, on_points
from anabranch.jit import helper
from anabranch.jit.random import below

PASS = 64
U = np.uint64
NONE, ONE = U(0), U(1)
ALL = U(0xFFFFFFFFFFFFFFFF)
INNER = U(0x7E7E7E7E7E7E7E7E)  # without columns a and h: discs there are never between two others horizontally or diagonally
D4, E4, D5, E5 = (U(1 << cell) for cell in (27, 28, 35, 36))


class Othello(Game):
    """Enclose the opponent's discs to turn them; most discs win."""

    players, actions = 2, 65
    player_names = ("X", "O")
    planes = 3, 8, 8  # the mover's discs; the other's; where the mover may play. Colours do not matter otherwise
    state = np.dtype(
        [
            ("mover", "u8"),  # discs of the side to move
            ("other", "u8"),  # and of its opponent
            ("moves", "u8"),  # cells where the mover may play
            ("turn", "i4"),  # 0: black, who begins; 1: white
            ("over", "i4"),  # 1: neither side can move
        ]
    )

    @rule
    def setup(state):
        state.mover, state.other = E4 | D5, D4 | E5
        state.moves = mobility(state.mover, state.other)
        state.turn, state.over = 0, 0

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        if action == PASS:
            return state.moves == NONE
        return state.moves >> U(action) & ONE != NONE

    @rule
    def play(state, action):
        mover, other = state.mover, state.other
        if action != PASS:
            disc = ONE << U(action)
            turned = flips(disc, mover, other)
            mover |= disc | turned
            other ^= turned
        state.mover, state.other = other, mover
        state.moves = mobility(other, mover)
        if state.moves == NONE and mobility(mover, other) == NONE:
            state.over = 1
        state.turn = 1 - state.turn

    @rule
    def is_over(state):
        return state.over != 0

    @rule
    def returns(state, out):
        lead = bits(state.mover) - bits(state.other)
        out[state.turn] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
        out[1 - state.turn] = -out[state.turn]

    @rule
    def key(state):
        if state.turn == 0:
            return state.mover, state.other
        return state.other, state.mover ^ D4  # d4 is never empty, so this pair never collides with a position where black moves

    @rule
    def legal_actions(state, out):
        if state.moves == NONE:
            out[0] = PASS
            return 1
        left, count = state.moves, 0
        while left != NONE:
            out[count] = lowest(left)
            left &= left - ONE
            count += 1
        return count

    @rule
    def random_action(state, random):
        if state.moves == NONE:
            return PASS
        left = state.moves
        for _ in range(below(random, bits(left))):
            left &= left - ONE
        return lowest(left)

    @rule
    def encode(state, planes):
        for cell in range(64):
            row, column = cell // 8, cell % 8
            planes[0, row, column] = state.mover >> U(cell) & ONE
            planes[1, row, column] = state.other >> U(cell) & ONE
            planes[2, row, column] = state.moves >> U(cell) & ONE

    def symmetries(self):
        return on_points(dihedral(8, 8), self.actions)

    def name_of(self, action):
        return "pass" if action == PASS else cell_name(action, 8)

    def final_ownership(self, position):
        black, white = discs(position.state)
        return np.array([(black >> cell & 1) - (white >> cell & 1) for cell in range(64)], np.int8)

    def final_score(self, position):
        black, white = discs(position.state)
        return float(black.bit_count() - white.bit_count())

    def _grid(self, state):
        black, white = discs(state)
        cells = [[(black >> cell & 1) + 2 * (white >> cell & 1) for cell in range(row, row + 8)] for row in range(0, 64, 8)]
        return Grid(cells, rows=True, colours=("#2f7d4f", "#111111", "#fafafa"), background="#d9d2bf")

    def text(self, state):
        return self._grid(state).text()

    def svg(self, state):
        return self._grid(state).svg()


def discs(state):
    """Black's discs and white's."""
    mover, other = int(state.mover), int(state.other)
    return (mover, other) if state.turn == 0 else (other, mover)


@helper
def mobility(mover, other):
    """Empty cells from which a line of the other's discs leads to one of the mover's."""
    inner = other & INNER
    reached = beyond(mover, inner, U(1)) | beyond(mover, inner, U(7)) | beyond(mover, other, U(8)) | beyond(mover, inner, U(9))
    return reached & ~(mover | other)


@helper
def beyond(mover, other, step):
    """Cells just beyond lines of the other's discs that start at one of the mover's, both ways along one axis."""
    double = step + step
    pairs = other & (other << step)  # the cell and the one before it
    up = other & (mover << step)
    up |= other & (up << step)
    up |= pairs & (up << double)
    up |= pairs & (up << double)
    pairs >>= step
    down = other & (mover >> step)
    down |= other & (down >> step)
    down |= pairs & (down >> double)
    down |= pairs & (down >> double)
    return (up << step) | (down >> step)


@helper
def flips(disc, mover, other):
    """The other's discs that this new disc of the mover turns."""
    inner = other & INNER
    turned = enclosed(disc, mover, inner, U(1)) | enclosed(disc, mover, inner, U(7))
    return turned | enclosed(disc, mover, other, U(8)) | enclosed(disc, mover, inner, U(9))


@helper
def enclosed(disc, mover, other, step):
    """The other's discs between the new one and another of the mover's, both ways along one axis."""
    double = step + step
    pairs = other & (other << step)
    up = other & (disc << step)
    up |= other & (up << step)
    up |= pairs & (up << double)
    up |= pairs & (up << double)
    pairs >>= step
    down = other & (disc >> step)
    down |= other & (down >> step)
    down |= pairs & (down >> double)
    down |= pairs & (down >> double)
    if (up << step) & mover == NONE:
        up = NONE
    if (down >> step) & mover == NONE:
        down = NONE
    return up | down


@helper
def bits(board):
    """How many bits are set; compilers recognise this form and emit one instruction."""
    board = board - ((board >> U(1)) & U(0x5555555555555555))
    board = (board & U(0x3333333333333333)) + ((board >> U(2)) & U(0x3333333333333333))
    board = (board + (board >> U(4))) & U(0x0F0F0F0F0F0F0F0F)
    return np.int64((board * U(0x0101010101010101)) >> U(56))


@helper
def lowest(board):
    """The number of the lowest bit that is set."""
    return bits(~board & (board - ONE))
