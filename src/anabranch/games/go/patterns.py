"""Shapes of 3x3 points: MoGo's patterns, which are good to play in, as one table; and all shapes, numbered.

The patterns are those that the authors of MoGo published (Gelly, Wang, Munos & Teytaud 2006), drawn below. Rows are top,
middle, bottom; `c` is the move. X and O are either colour, in all eight symmetries, unless the mover is given; `.` is empty,
`?` anything on the board, `x` anything but O, `o` anything but X. A pattern of two rows stands at the edge, which is below its
second row. There is none in corners. A numbered shape is the same in all eight symmetries, as its mover sees it.
Read next: `tactics.py`.
"""

import itertools
from typing import TypeVar

import numpy as np

from anabranch.games.go.layout import BLACK, EMPTY, OFF, ONE, WHITE, stride
from anabranch.jit import helper

NONE, HANE, CUT, EDGE = range(4)  # kinds of patterns

# kind, who moves ("" either), rows
PATTERNS = (
    (HANE, "", "XOX .c. ???"),
    (HANE, "", "XO. .c. ?.?"),
    (HANE, "", "XO? Xc. ?.?"),
    (HANE, "X", "XOO .c. ?.?"),
    (CUT, "", "XO? Oc? ???"),  # but not where three neighbours are O and one is empty
    (CUT, "", "?X? OcO xxx"),
    (EDGE, "", "X.? Oc?"),
    (EDGE, "", "?X? ocO"),
    (EDGE, "X", "?XO ?c?"),
    (EDGE, "O", "?XO ?co"),
    (EDGE, "O", "?XO OcX"),
)
MEANS = {"X": "X", "O": "O", ".": ".", "?": "XO.", "x": "X.", "o": "O.", "#": "#"}
CONTENT = {".": EMPTY, "#": OFF}
AROUND = ((-1, 1), (0, 1), (1, 1), (-1, 0), (1, 0), (-1, -1), (0, -1), (1, -1))  # the order of points in a code, x and y
CODES = 4 ** len(AROUND)
LOW_BITS = 0x5555  # the lower bit of every point of a code

Content = TypeVar("Content")


def _turned(grid: dict[tuple[int, int], Content]) -> list[dict[tuple[int, int], Content]]:
    """A pattern in all eight symmetries."""
    found = []
    for flip, (sx, sy) in itertools.product((False, True), itertools.product((1, -1), repeat=2)):
        found.append({(sx * (y if flip else x), sy * (x if flip else y)): what for (x, y), what in grid.items()})
    return found


def _table() -> np.ndarray:
    """The kind of pattern for each code, black being the mover: two bits each, four to a byte."""
    kinds = np.zeros(CODES, np.uint8)
    for kind, mover, rows in PATTERNS:
        lines = (rows + " ###" if len(rows.split()) == 2 else rows).split()
        grid = {(x - 1, 1 - y): lines[y][x] for y in range(3) for x in range(3) if (x, y) != (1, 1)}
        for turned in _turned(grid):
            for contents in itertools.product(*(MEANS[turned[point]] for point in AROUND)):
                shape = dict(zip(AROUND, contents, strict=True))
                beside = [shape[point] for point in ((0, 1), (0, -1), (1, 0), (-1, 0))]
                if rows.startswith("XO? O") and beside.count("O") == 3 and beside.count(".") == 1:
                    continue
                for black in mover or "XO":
                    colours = CONTENT | {black: BLACK, "XO".replace(black, ""): WHITE}
                    kinds[sum(colours[what] << 2 * i for i, what in enumerate(contents))] = kind
    quarters = kinds.reshape(-1, 4)
    return (quarters[:, 0] | quarters[:, 1] << 2 | quarters[:, 2] << 4 | quarters[:, 3] << 6).astype(np.uint8)


def _shapes() -> np.ndarray:
    """The number of the shape of each code: the same for all its symmetries, and 0 for what cannot be around a cell."""
    codes = np.arange(CODES)
    digits = [codes >> 2 * i & 3 for i in range(len(AROUND))]
    orders = [[way[point] for point in AROUND] for way in _turned({point: i for i, point in enumerate(AROUND)})]
    least = np.min([np.sum([digits[place] << 2 * i for i, place in enumerate(order)], axis=0) for order in orders], axis=0)
    off = np.sum([(digit == OFF) << i for i, digit in enumerate(digits)], axis=0)
    borders = [sum(1 << i for i, (x, y) in enumerate(AROUND) if x == 1 or y == edge) for edge in (1, 2)]  # a corner, a side
    turned = [sum((border >> place & 1) << i for i, place in enumerate(order)) for border in borders for order in orders]
    possible = np.isin(off, [0, *turned])
    numbers = np.zeros(CODES, np.int16)
    numbers[possible] = np.unique(least[possible], return_inverse=True)[1] + 1
    return numbers


TABLE = _table()
SHAPE_NUMBERS = _shapes()
SHAPES = int(SHAPE_NUMBERS.max()) + 1


@helper
def code_at(state, cell, colour):
    """The code of the eight points around a cell, as a mover of this colour sees them: his stones are black."""
    s = stride(state)
    colours = state.colour
    code = np.int64(colours[cell + s - ONE]) | np.int64(colours[cell + s]) << 2 | np.int64(colours[cell + s + ONE]) << 4
    code |= np.int64(colours[cell - ONE]) << 6 | np.int64(colours[cell + ONE]) << 8
    code |= np.int64(colours[cell - s - ONE]) << 10 | np.int64(colours[cell - s]) << 12
    code |= np.int64(colours[cell - s + ONE]) << 14
    return code if colour == BLACK else (code & LOW_BITS) << 1 | code >> 1 & LOW_BITS


@helper
def shape_of(code):
    """The number of a shape, below SHAPES."""
    return np.int64(SHAPE_NUMBERS[code])


@helper
def pattern_at(state, cell, colour):
    """Which kind of pattern a move of this colour at an empty cell makes, or NONE."""
    code = code_at(state, cell, colour)
    return (np.int64(TABLE[code >> 2]) >> 2 * (code & 3)) & 3
