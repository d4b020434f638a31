"""The key of a PyRat position: one number for maze and cheese, kept up to date as cheese is eaten, and one for all the rest.

The scores belong to it, since the majority ends the game, and the turn, since the limit does, unless the game was told to leave
it out (`turn_in_key=False`; docs/games/pyrat.md says when that is sound). The maze belongs to it because evaluations of several
mazes may be cached together.
"""

import numpy as np

from anabranch.games.pyrat.layout import has
from anabranch.jit import helper
from anabranch.jit.random import GOLDEN, mix

LOW_SALT, HIGH_SALT = np.uint64(0xA4093822299F31D0), np.uint64(0x082EFA98EC4E6C89)  # digits of pi: nothing up the sleeve
# How many bits lie below each number in the one word that holds all but the cheese: two cells of 11 bits, two times in mud of
# 4, two scores of 12, the turn of 10.
SECOND_PLACE, FIRST_STUCK, SECOND_STUCK, FIRST_POINTS, SECOND_POINTS = 11, 22, 26, 30, 42
TURN = np.uint64(54)  # up to the highest bit
ABOVE_COSTS = np.uint64(16)  # bits below a cell's number that hold what its steps cost; no cell of cheese has numbers so high


@helper
def toggle(state, cell):
    """Put a cell's cheese into the hash, or take it out."""
    number = (np.uint64(cell) + np.uint64(1)) * GOLDEN
    state.hash[0] ^= mix(number ^ LOW_SALT)
    state.hash[1] ^= mix(number ^ HIGH_SALT)


@helper
def hash_board(state):
    """Make the hash of the maze and its cheese anew."""
    state.hash[:] = 0
    for cell in range(np.int64(state.width) * state.height):
        number = (np.uint64(cell) + np.uint64(1) << ABOVE_COSTS | np.uint64(state.costs[cell])) * GOLDEN
        state.hash[0] ^= mix(number ^ LOW_SALT)
        state.hash[1] ^= mix(number ^ HIGH_SALT)
        if has(state.cheese, cell):
            toggle(state, cell)


@helper
def key(state):
    """Two u8, equal for equal positions."""
    facts = np.int64(state.place[0]) | np.int64(state.place[1]) << SECOND_PLACE
    facts |= np.int64(state.stuck[0]) << FIRST_STUCK | np.int64(state.stuck[1]) << SECOND_STUCK
    facts |= np.int64(state.points[0]) << FIRST_POINTS | np.int64(state.points[1]) << SECOND_POINTS
    rest = np.uint64(facts)
    if state.turn_in_key != 0:
        rest |= np.uint64(state.turn) << TURN
    rest *= GOLDEN
    return mix(state.hash[0] ^ rest), mix(state.hash[1] + rest)
