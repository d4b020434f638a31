"""A Go board as a record: what is stored of a position, and how cells are counted. Read next: `stones.py`.

The board stands in one row of **cells** with a border around it: cell = (row + 1) * stride + column + 1, rows from the bottom.
One border cell between two rows serves both. The stride depends on the bucket (boards up to 9, 13, 19 or 25), not on the board:
it is a constant to the compiler, and the boards of one bucket share their kernels. Cells are `u8` in kernels: an index that
cannot be negative needs no test whether it counts from the end.

A chain's liberties are kept as one number, its **word**: the sum of `weight(cell)` over its pseudo-liberties (an empty
neighbour counts once for every stone that touches it). A weight holds 1, the cell and the cell's square side by side, so
one addition keeps three sums. They say how many pseudo-liberties there are, and whether all of them are one cell (n times the
sum of squares is then the square of the sum), which is what atari means, and which cell that is.
"""

from typing import Any

import numpy as np

from anabranch.jit import generic, helper

BUCKETS = (9, 13, 19, 25)  # the largest side of a board that shares its kernels with smaller ones
SMALLEST, LARGEST = 2, BUCKETS[-1]

EMPTY, BLACK, WHITE, OFF = range(4)  # what a cell holds; OFF is the border
HOT_UNKNOWN = -2  # not even the ply before the first
NO_CELL = 0  # a corner of the border: never a move; also the "chain" of points without a stone
PASS_CELL = 1  # in `recent`: a cell of the border stands for a pass
WHITE_MOVED = 1 << 15  # in `recent`: added to the cell of a white move
RECENT = 5  # moves that are kept, as many as KataGo's networks see

NO_BUTTON, FREE_BUTTON, BLACK_BUTTON, WHITE_BUTTON = range(4)  # in Button Go: not taken yet; who has taken it

# What `around` counts at a cell, three bits each. The border counts as stones of both colours: 4 of a colour is "surrounded".
AROUND_BLACK, AROUND_WHITE, AROUND_EMPTY = 0, 3, 6
THREE_BITS = 7

# A chain's word: number, sum and sum of squares of its pseudo-liberties. There are at most 4 * 625 / 2, in cells up to 702.
SUM_SHIFT, SQUARE_SHIFT = 11, 31
NUMBER_MASK = (1 << SUM_SHIFT) - 1
SUM_MASK = (1 << (SQUARE_SHIFT - SUM_SHIFT)) - 1

ONE = np.uint64(1)


def stride_of(bucket: int) -> int:
    """Cells from one row to the next."""
    return bucket + 1


def cells_of(bucket: int) -> int:
    """How many cells there are, border included."""
    return (bucket + 2) * stride_of(bucket) + 1


def record_of(bucket: int) -> np.dtype:
    """The fields of a position on boards up to this size."""
    cells, points = cells_of(bucket), bucket * bucket
    cell = "u1" if cells <= 256 else "u2"
    fields: list[Any] = [
        # the board
        ("liberties", "i8", (cells,)),  # a chain's word, at its head; elsewhere without meaning
        ("around", "i2", (cells,)),  # how many neighbours are black, white, empty: see AROUND_BLACK
        ("colour", "u1", (cells,)),  # EMPTY, BLACK, WHITE or OFF
        ("chain", cell, (cells,)),  # a stone's chain, named by its head, one of its stones; NO_CELL without a stone
        ("next", cell, (cells,)),  # the next stone of the chain, in a ring
        ("size", "u2", (cells,)),  # stones of a chain, at its head
        ("empties", cell, (points,)),  # the empty cells, in no order
        ("place", "u2", (cells,)),  # where an empty cell stands among them
        ("empty_count", "u2"),
        ("stones", "i2"),  # black stones less white ones
        ("ko_cell", "u2"),  # where a ko may not be retaken at once, or NO_CELL
        ("last", "u2"),  # the cell of the last move, NO_CELL after a pass
        ("second_last", "u2"),
        ("turn", "u1"),  # 0: black
        ("passes", "u1"),  # in succession, up to now
        # the game so far
        ("recent", "u2", (RECENT,)),  # cells of the last moves, latest first: see `history.py`; not kept in playouts
        ("before", "u1", (2, cells)),  # colours before the last move and before the one before it: see `history.py`
        ("ko_before", "u2", (2,)),  # `ko_cell` of those boards
        ("button", "u1"),  # NO_BUTTON, FREE_BUTTON, BLACK_BUTTON or WHITE_BUTTON
        ("ply", "i4"),
        ("balance", "i4"),  # territory scoring: white's moves less black's, each worth a point; see `score.py`
        ("position", "u8", (2,)),  # hash of the stones
        ("graph", "u8", (2,)),  # key for graph search: see `keys.py`
        ("quick", "u1"),  # 1: in a playout, where hashes, balance and history are not kept
        # the variant
        ("width", "u1"),
        ("height", "u1"),
        ("reciprocal", "u2"),  # 2^15 / width, rounded up: divides an action by the width
        ("half_komi", "i4"),  # twice the komi, handicap bonus included
        ("ko", "u1"),  # these as in `rulesets.py`
        ("scoring", "u1"),
        ("tax", "u1"),
        ("dead", "u1"),
        ("suicide", "u1"),
        ("win_weight", "f4"),  # what winning pays
        ("score_weight", "f4"),  # what a point pays
        ("static_weight", "f4"),  # these three: see `utility.py`
        ("dynamic_weight", "f4"),
        ("score_centre", "f4"),
        # scratch
        ("queue", "u2", (cells,)),  # cells to look at
        ("mark", "u1", (cells,)),  # all zeros between uses
        ("hot", "u2", (points,)),  # chains that may be in atari, for playouts: see `tactics.py`
        ("hot_count", "u2"),
        ("hot_ply", "i4"),  # the ply up to which `hot` is complete, or HOT_UNKNOWN
    ]
    return np.dtype(fields, align=True)


@generic
def stride(state):
    """Cells from one row to the next: a constant of the bucket, u8."""


# --- cells, actions ---------------------------------------------------------------------------------------------------------


@helper
def cell_of(state, action):
    """The cell of an action that is not a pass."""
    row = (action * state.reciprocal) >> 15
    return np.uint64(action + row * (np.int64(stride(state)) - state.width) + np.int64(stride(state)) + 1)


@helper
def action_of(state, cell):
    """The action of a cell."""
    row = cell // stride(state)
    column = cell - row * stride(state)
    return np.int64(row - ONE) * state.width + np.int64(column) - 1


@helper
def pass_of(state):
    """The action that passes: the last one."""
    return np.int64(state.width) * state.height


@helper
def distance(state, cell, other):
    """Steps along lines plus the longer side: 2 for neighbours, 3 for diagonal ones, 4 for a jump over one point."""
    s = np.int64(stride(state))
    a, b = np.int64(cell), np.int64(other)
    dx = abs(a % s - b % s)
    dy = abs(a // s - b // s)
    return dx + dy + max(dx, dy)


@helper
def lines_of(state, cell):
    """How many lines a cell is from the nearer side and from the nearer of top and bottom; the edge is line 1."""
    s = np.int64(stride(state))
    x, y = np.int64(cell) % s, np.int64(cell) // s
    return min(x, np.int64(state.width) + 1 - x), min(y, np.int64(state.height) + 1 - y)


@helper
def line_of(state, cell):
    """How many lines a cell is from the edge, which is 1."""
    x, y = lines_of(state, cell)
    return min(x, y)


# --- words ------------------------------------------------------------------------------------------------------------------


@helper
def weight(cell):
    """What a cell adds to the word of a chain for each stone that it is a liberty of."""
    number = np.int64(cell)
    return 1 + (number << SUM_SHIFT) + ((number * number) << SQUARE_SHIFT)


@helper
def only_at(word, cell):
    """Whether a chain with this word, which touches `cell`, has no liberty elsewhere."""
    return word == (word & NUMBER_MASK) * weight(cell)


@helper
def in_atari(word):
    """Whether a chain with this word, which has a liberty, has just one."""
    number = word & NUMBER_MASK
    total = (word >> SUM_SHIFT) & SUM_MASK
    return number * (word >> SQUARE_SHIFT) == total * total


@helper
def last_liberty(word):
    """The liberty of a chain in atari."""
    return np.uint64(((word >> SUM_SHIFT) & SUM_MASK) // (word & NUMBER_MASK))


@helper
def surrounded_by(around, colour):
    """Whether all neighbours are stones of this colour, or border."""
    return (around >> (AROUND_WHITE * (colour - BLACK))) & THREE_BITS == 4


@helper
def empty_neighbours(around):
    """How many neighbours are empty."""
    return around >> AROUND_EMPTY


@helper
def border_neighbours(around):
    """How many neighbours are border."""
    return (around & THREE_BITS) + ((around >> AROUND_WHITE) & THREE_BITS) + (around >> AROUND_EMPTY) - 4
