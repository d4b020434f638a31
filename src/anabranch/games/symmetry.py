"""Symmetries of boards: rotations and reflections of a position that change only where things are.

A game declares which it has (`Game.symmetries`); helpers here make the usual ones from the size of its planes. Networks use
them to evaluate a position from another side, and training uses them to augment its data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anabranch.jit import kernel


@dataclass(frozen=True)
class Symmetries:
    """Symmetries as permutations, the identity first. Under symmetry s, point p shows what was at `points[s, p]`, and action a
    does what `actions[s, a]` did. In some games planes change places, too (walls above a cell and beside it), or players."""

    points: np.ndarray  # (symmetries, height * width): where each point of a plane comes from
    actions: np.ndarray  # (symmetries, actions): which action each action was
    channels: np.ndarray | None = None  # (symmetries, channels): which plane each plane was; None: all stay
    players: np.ndarray | None = None  # (symmetries, 2): which player each was, where both move at once; None: both stay

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def inverse(self) -> "Symmetries":
        """The way back from each."""
        channels = None if self.channels is None else np.argsort(self.channels, axis=1)
        players = None if self.players is None else np.argsort(self.players, axis=1)
        return Symmetries(np.argsort(self.points, axis=1), np.argsort(self.actions, axis=1), channels, players)

    def of_planes(self, planes: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Planes (n, channels, height, width), the i-th ones under symmetry `sides[i]`."""
        flat = planes.reshape(*planes.shape[:2], -1)
        return rearranged(flat, self.channels, self.points, sides).reshape(planes.shape)

    def of_points(self, numbers: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """A number for each point, (n, points), likewise."""
        return rearranged(numbers[:, None], None, self.points, sides)[:, 0]

    def of_policies(self, policies: np.ndarray, sides: np.ndarray, back: bool = False) -> np.ndarray:
        """Policies (n, 1 or 2, actions) under these symmetries, or from there back to how they were."""
        ways = self.inverse if back else self
        return rearranged(policies, ways.players, ways.actions, sides)

    def of_values(self, values: np.ndarray, sides: np.ndarray, back: bool = False) -> np.ndarray:
        """Values (n, width), likewise: one a player may change places, a single one is the same under all symmetries."""
        players = (self.inverse if back else self).players
        if players is None or values.ndim < 2 or values.shape[1] < 2:
            return values
        return np.take_along_axis(values, players[sides], 1)

    def of_signs(self, numbers: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Numbers (n, ...) that are one player's gain and the other's loss, likewise."""
        if self.players is None:
            return numbers
        return np.where(self.players[sides, 0].reshape(-1, *[1] * (numbers.ndim - 1)) == 1, -numbers, numbers)


def rearranged(rows: np.ndarray, maps: np.ndarray | None, places: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Rows (n, maps, places) with the numbers of row i in another order, s = sides[i]: place p of map m gets what was at
    `places[s, p]` of map `maps[s, m]`, or of the same map, if there are no others to take it from."""
    found = np.empty_like(rows, order="C")
    if maps is None or maps.shape[1] != rows.shape[1]:
        maps = np.arange(rows.shape[1])[None].repeat(len(places), axis=0)
    rearrange(np.ascontiguousarray(rows), np.ascontiguousarray(maps), np.ascontiguousarray(places), sides, found)
    return found


@kernel
def rearrange(rows, maps, places, sides, found):
    """The same, written into `found`; NumPy's `take_along_axis` takes several times as long."""
    for i in range(len(rows)):
        side = sides[i]
        for m in range(rows.shape[1]):
            source = maps[side, m]
            for p in range(rows.shape[2]):
                found[i, m, p] = rows[i, source, places[side, p]]


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
