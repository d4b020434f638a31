"""A PyRat position as a record, and how cells, actions and passages are counted. Read next: `game.py`.

Cells are counted row by row from the bottom left: cell = y * width + x, x to the right, y upwards. What a step costs stands at
the cell it leaves, four bits a direction: 0 is a wall or the edge of the board, 1 an open passage, more is mud. The maze is
part of the record, as all data of an instance; the sizes of its fields depend on the class alone (`CAPACITIES`), so that a
small board has a small record, and boards of one class share their kernels.
"""

from typing import Any

import numpy as np

from anabranch.jit import helper

UP, RIGHT, DOWN, LEFT, STAY = range(5)
NAMES = ("up", "right", "down", "left", "stay")
CAPACITIES = (64, 320, 1280)  # the most cells of each class: 7x7 and 8x8; 21x15; 41x31 and 40x32
LONGEST_SIDE = 63  # a row must fit into a word of bits
MOST_TURNS = 1000  # ten bits in the key; the longest preset has 500

BITS = 4  # of what a step in one direction costs
COST = (1 << BITS) - 1
HIGHEST_MUD = 9  # turns: the most that the game's own mazes have had
RING = HIGHEST_MUD + 1

ONE, SIX, LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)


def words_of(capacity: int) -> int:
    """How many u8 a set of cells fills."""
    return capacity // 64


def record_of(capacity: int) -> np.dtype:
    """The fields of a position with up to this many cells."""
    words = words_of(capacity)
    fields: list[Any] = [
        # what changes
        ("cheese", "u8", (words,)),  # the cells that have cheese, bit by bit
        ("hash", "u8", (2,)),  # of these cells and the maze, kept up to date: see `keys.py`
        ("place", "i2", (2,)),  # the cell of each player; in mud, where it is going
        ("points", "i2", (2,)),  # half points of each player: a shared cheese is one for both
        ("left", "i2"),  # how much cheese there is
        ("turn", "i2"),  # how many turns were played
        ("stuck", "u1", (2,)),  # how many more turns each player stands in mud
        # the variant
        ("turn_in_key", "u1"),
        ("width", "u1"),
        ("height", "u1"),
        ("total", "i2"),  # cheese at the start
        ("max_turns", "i2"),
        ("costs", "u2", (capacity,)),  # what a step from each cell costs, the bits of UP lowest; 0 is a wall
        ("open_up", "u8", (words,)),  # cells from which a step up costs 1
        ("open_right", "u8", (words,)),  # and a step to the right
        ("muddy", "u8", (words,)),  # cells with mud in some direction
        # scratch of `greedy.py`, all zeros between uses
        ("seen", "u8", (words,)),
        ("coming", "u8", (RING * words,)),
    ]
    return np.dtype(fields, align=True)


@helper
def cost(state, cell, direction):
    """How many turns a step from this cell takes; 0 if there is no way."""
    return (np.int64(state.costs[cell]) >> (BITS * direction)) & COST


@helper
def step(state, direction):
    """From a cell to the next one in this direction."""
    return (1 - (direction & 2)) * (np.int64(state.width) if direction & 1 == 0 else 1)


@helper
def has(cells, cell):
    """Whether a cell is in a set of cells."""
    bit = np.uint64(cell)
    return cells[bit >> SIX] >> (bit & LOW_SIX) & ONE != np.uint64(0)


@helper
def flip(cells, cell):
    """Put a cell into a set, or take it out."""
    bit = np.uint64(cell)
    cells[bit >> SIX] ^= ONE << (bit & LOW_SIX)
