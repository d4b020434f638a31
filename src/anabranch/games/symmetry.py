"""Symmetries of boards: rotations and reflections of a position that change only where things are.

A game declares which it has (`Game.symmetries`); helpers here make the usual ones from the size of its planes. Networks use
them to evaluate a position from another side, and training uses them to augment its data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anabranch.jit import kernel


@dataclass(frozen=True)
class Symmetries:
    """Symmetries as permutations, the identity first. Under symmetry s, point p shows what was at `points[s, p]`, and action a
    does what `actions[s, a]` did."""

    points: np.ndarray  # (symmetries, height * width): where each point of a plane comes from
    actions: np.ndarray  # (symmetries, actions): which action each action was

    def __len__(self) -> int:
        return len(self.points)


def rearranged(rows: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Rows (n, maps, places) with the numbers of row i in another order: place p gets what was at `sources[i, p]`."""
    found = np.empty_like(rows)
    rearrange(np.ascontiguousarray(rows), sources, found)
    return found


@kernel
def rearrange(rows, sources, found):
    """The same, written into `found`; NumPy's `take_along_axis` takes several times as long."""
    count, maps, places = rows.shape
    for i in range(count):
        for j in range(maps):
            for place in range(places):
                found[i, j, place] = rows[i, j, sources[i, place]]


def identity(height: int, width: int) -> np.ndarray:
    """The points as they are, (1, height * width)."""
    return _ways(height, width, ())


def mirror(height: int, width: int) -> np.ndarray:
    """Left and right swapped or not, (2, height * width)."""
    return _ways(height, width, (np.fliplr,))


def half_turn(height: int, width: int) -> np.ndarray:
    """Rotated by 180 degrees or not, (2, height * width)."""
    return _ways(height, width, (lambda grid: np.rot90(grid, 2),))


def dihedral(height: int, width: int) -> np.ndarray:
    """All rotations and reflections: (8, points) for a square, (4, points) for any other rectangle."""
    ways = [np.fliplr, np.flipud, lambda grid: np.rot90(grid, 2)]
    if height == width:
        ways += [np.transpose, np.rot90, lambda grid: np.rot90(grid, 3), lambda grid: np.rot90(grid, 2).T]
    return _ways(height, width, ways)


def on_points(points: np.ndarray, actions: int) -> Symmetries:
    """For games whose actions are the points; any after them, such as a pass, stay the same."""
    extra = np.arange(points.shape[1], actions)
    return Symmetries(points, np.hstack([points, np.tile(extra, (len(points), 1))]))


def _ways(height: int, width: int, ways: Sequence[Callable[[np.ndarray], np.ndarray]]) -> np.ndarray:
    grid = np.arange(height * width).reshape(height, width)
    return np.stack([grid.ravel(), *(way(grid).ravel() for way in ways)])
