"""Boards seen from another side, numbered as KataGo does.

Of a number from 0 to 7, bit 0 flips rows, bit 1 flips columns, and bit 2 then exchanges rows and columns, which is left out
where planes are not square.
"""

from collections.abc import Callable

import numpy as np

from anabranch.errors import OptionError

SYMMETRIES = 8
ROWS, COLUMNS, TRANSPOSE = 1, 2, 4  # bits


def look_from(planes: np.ndarray, symmetry: int | np.ndarray) -> np.ndarray:
    """Planes (n, ..., height, width) seen from one side, or each from its own, (n,)."""
    return _each(_look, planes, symmetry)


def turn_back(maps: np.ndarray, symmetry: int | np.ndarray) -> np.ndarray:
    """Policy or ownership (n, ..., height, width) of what was seen from a side, as seen from the front."""
    return _each(_back, maps, symmetry)


def _each(turn: Callable[[np.ndarray, int], np.ndarray], x: np.ndarray, symmetry: int | np.ndarray) -> np.ndarray:
    symmetries = np.unique(symmetry)
    if symmetries.size and not (symmetries[0] >= 0 and symmetries[-1] < SYMMETRIES):
        raise OptionError(f"symmetry={symmetry!r}: it is a number from 0 to {SYMMETRIES - 1}")
    if np.ndim(symmetry) == 0:
        return np.ascontiguousarray(turn(x, int(symmetries[0])))
    turned = np.empty_like(x)
    for one in symmetries:
        turned[symmetry == one] = turn(x[symmetry == one], int(one))
    return turned


def _look(x: np.ndarray, symmetry: int) -> np.ndarray:
    x = _flip(x, symmetry)
    return x.swapaxes(-2, -1) if _transposes(x, symmetry) else x


def _back(x: np.ndarray, symmetry: int) -> np.ndarray:
    return _flip(x.swapaxes(-2, -1) if _transposes(x, symmetry) else x, symmetry)


def _flip(x: np.ndarray, symmetry: int) -> np.ndarray:
    rows = slice(None, None, -1 if symmetry & ROWS else 1)
    columns = slice(None, None, -1 if symmetry & COLUMNS else 1)
    return x[..., rows, columns]


def _transposes(x: np.ndarray, symmetry: int) -> bool:
    return bool(symmetry & TRANSPOSE) and x.shape[-2] == x.shape[-1]
