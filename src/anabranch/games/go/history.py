"""The last moves and the boards before them, which KataGo's networks look at. Read first: `layout.py`.

A record keeps its last five moves, with who made them, and the boards one and two moves ago. The board before the move of ply p
is in `before[p % 2]`, so that each move copies one board. Playouts keep nothing of this; a position that was arranged has no
history.
"""

import numpy as np

from anabranch.games.go.layout import NO_CELL, RECENT, WHITE_MOVED
from anabranch.jit import helper


@helper
def clear_history(state):
    """Forget all moves."""
    state.recent[:] = NO_CELL
    state.before[:] = 0
    state.ko_before[:] = NO_CELL


@helper
def keep_board(state):
    """Before a move: keep the board as it is."""
    side = np.uint64(state.ply & 1)
    colours, before = state.colour, state.before
    for i in range(len(colours)):
        before[side, np.uint64(i)] = colours[np.uint64(i)]
    state.ko_before[side] = state.ko_cell


@helper
def keep_move(state, cell):
    """Note a move of the player to move, on a cell or on PASS_CELL, as the latest one."""
    for i in range(RECENT - 1, 0, -1):
        state.recent[i] = state.recent[i - 1]
    state.recent[0] = cell + WHITE_MOVED * np.int64(state.turn)


@helper
def moves_known(state, most):
    """How many of the last moves are known, at most so many, and were made by the players in turn. (GTP lets one player move
    twice; what is before that does not count.)"""
    count = 0
    mover = np.int64(state.turn)
    while count < most and state.recent[count] != NO_CELL:
        mover = 1 - mover
        if state.recent[count] // WHITE_MOVED != mover:
            break
        count += 1
    return count


@helper
def side_before(state, moves):
    """Where in `before` the board is that was there one or two moves ago."""
    return np.uint64((state.ply - moves) & 1)
