"""Boards seen from another side, numbered as KataGo does.

Of a number from 0 to 7, bit 0 flips rows, bit 1 flips columns, and bit 2 then exchanges rows and columns, which is left out
where planes are not square.
"""

import numpy as np

from anabranch.errors import OptionError
from anabranch.jit import kernel

SYMMETRIES = 8
ROWS, COLUMNS, TRANSPOSE = 1, 2, 4  # bits


def look_from(planes: np.ndarray, symmetry: int | np.ndarray) -> np.ndarray:
    """Planes (n, ..., height, width) seen from one side, or each from its own, (n,)."""
    return _turned(planes, symmetry, False)


def turn_back(maps: np.ndarray, symmetry: int | np.ndarray) -> np.ndarray:
    """Policy or ownership (n, ..., height, width) of what was seen from a side, as seen from the front."""
    return _turned(maps, symmetry, True)


def _turned(x: np.ndarray, symmetry: int | np.ndarray, back: bool) -> np.ndarray:
    sides = np.asarray(symmetry, np.int64)
    if sides.size and not (sides.min() >= 0 and sides.max() < SYMMETRIES):
        raise OptionError(f"symmetry={symmetry!r}: it is a number from 0 to {SYMMETRIES - 1}")
    boards = np.ascontiguousarray(x).reshape(len(x), -1, *x.shape[-2:])
    turned = np.empty_like(boards)
    turn_each(boards, np.full(len(x), sides) if sides.ndim == 0 else sides, back, turned)
    return turned.reshape(x.shape)


@kernel
def turn_each(x, symmetries, back, out):
    """Copy boards (n, maps, height, width), each seen from its own side, or `back` from there to the front."""
    count, maps, height, width = x.shape
    for i in range(count):
        transposes = (symmetries[i] & TRANSPOSE) != 0 and height == width
        for j in range(maps):
            for row in range(height):
                for column in range(width):
                    y = height - 1 - row if symmetries[i] & ROWS else row
                    z = width - 1 - column if symmetries[i] & COLUMNS else column
                    if back:  # what was at (row, column) in front is now at (y, z), or with both exchanged
                        out[i, j, row, column] = x[i, j, z, y] if transposes else x[i, j, y, z]
                    elif transposes:
                        out[i, j, column, row] = x[i, j, y, z]
                    else:
                        out[i, j, row, column] = x[i, j, y, z]
