"""Mazes: the walls, mud and cheese of a PyRat board, drawn by a generator or given by hand. No kernels here.

A random maze is symmetric by half a turn, so that both players have the same board before them, and connected: passages are
opened with a probability, each together with its mirror image, and then walls between parts that do not meet, until all do.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games.pyrat.layout import BITS, CAPACITIES, DOWN, HIGHEST_MUD, LEFT, LONGEST_SIDE, RIGHT, UP, words_of

Cell = tuple[int, int]  # x, y
Passage = tuple[int, int]  # two neighbouring cells by number, the lower one first
MOST_CELLS = CAPACITIES[-1]
RANDOM_MUD = (2, 3)  # turns that mud of a random maze takes


@dataclass(frozen=True)
class Maze:
    """A board: which neighbours have no passage, which passages are muddy, where the cheese lies and the players begin."""

    width: int
    height: int
    walls: frozenset[Passage] = frozenset()
    mud: Mapping[Passage, int] = field(default_factory=dict)  # turns that a passage takes, 2 or more
    cheese: frozenset[int] = frozenset()
    starts: tuple[int, int] = (0, 0)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.width * self.height

    def costs(self) -> list[list[int]]:
        """What a step from each cell costs in each of the four directions; 0: there is no way."""
        found = [[0] * 4 for _ in range(self.cells)]
        for low, high in passages(self.width, self.height):
            if (low, high) not in self.walls:
                there, back = (RIGHT, LEFT) if high == low + 1 and self.width > 1 else (UP, DOWN)
                found[low][there] = found[high][back] = self.mud.get((low, high), 1)
        return found

    def fields(self, capacity: int) -> dict[str, Any]:
        """The maze as fields of a record; see `layout.py`."""
        costs = self.costs()
        packed = np.zeros(capacity, np.uint16)
        for cell, four in enumerate(costs):
            packed[cell] = sum(turns << (BITS * direction) for direction, turns in enumerate(four))
        words = words_of(capacity)
        return {
            "costs": packed,
            "open_up": cell_set((cell for cell, four in enumerate(costs) if four[UP] == 1), words),
            "open_right": cell_set((cell for cell, four in enumerate(costs) if four[RIGHT] == 1), words),
            "muddy": cell_set((cell for cell, four in enumerate(costs) if max(four) > 1), words),
            "cheese": cell_set(self.cheese, words),
            "place": np.array(self.starts, np.int16),
            "width": self.width,
            "height": self.height,
            "total": len(self.cheese),
        }


def cell_set(cells: Iterable[int], words: int) -> np.ndarray:
    """A set of cells as bits."""
    found = np.zeros(words, np.uint64)
    for cell in cells:
        found[cell // 64] |= np.uint64(1 << cell % 64)
    return found


def passages(width: int, height: int) -> Iterator[Passage]:
    """All pairs of neighbouring cells."""
    for cell in range(width * height):
        if cell % width < width - 1:
            yield cell, cell + 1
        if cell < width * (height - 1):
            yield cell, cell + width


# --- checked ------------------------------------------------------------------------------------------------------------------


def check_sides(width: Any, height: Any) -> None:
    """Raise unless a board can have these sides."""
    for side in (width, height):
        if isinstance(side, bool) or not isinstance(side, (int, np.integer)) or not 1 <= side <= LONGEST_SIDE:
            raise GameError(f"PyRat is played on boards with sides of 1 to {LONGEST_SIDE}, not {width!r} x {height!r}")
    if not 2 <= width * height <= MOST_CELLS:
        raise GameError(f"PyRat is played on boards of 2 to {MOST_CELLS:,} cells, not {width} x {height}")


def is_density(value: Any) -> bool:
    """Whether this is meant as a density and not as a list of places."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_density(name: str, value: float) -> None:
    """Raise unless this is a share."""
    if not 0.0 <= value <= 1.0:
        raise GameError(f"{name}={value!r}: give a density from 0 to 1, or a list of places")


def given_cell(where: Any, width: int, height: int, what: str) -> int:
    """The number of a cell that is given as (x, y)."""
    try:
        x, y = (int(part) for part in where)
    except (TypeError, ValueError):
        raise GameError(f"{what} {where!r}: give a cell as (x, y)") from None
    if not (0 <= x < width and 0 <= y < height):
        raise GameError(f"{what} {(x, y)} is not on a board of {width} x {height}: x is 0 to {width - 1}, y 0 to {height - 1}")
    return y * width + x


def given_passage(where: Any, width: int, height: int, what: str) -> Passage:
    """The passage between two neighbours that are given as ((x, y), (x, y))."""
    try:
        one, other = where
    except (TypeError, ValueError):
        raise GameError(f"{what} {where!r}: give two neighbouring cells, such as ((0, 0), (0, 1))") from None
    low, high = sorted(given_cell(each, width, height, what) for each in (one, other))
    is_beside = high == low + 1 and low // width == high // width
    if not (is_beside or high == low + width):
        raise GameError(f"{what} between {one} and {other}: these are not neighbours")
    return low, high


def given_mud(mud: Any, width: int, height: int) -> dict[Passage, int]:
    """Passages and the turns they take, from a mapping or from pairs of these."""
    pairs = mud.items() if isinstance(mud, Mapping) else mud
    found = {}
    try:
        places = [(where, turns) for where, turns in pairs]
    except (TypeError, ValueError):
        raise GameError(f"mud={mud!r}: give a density, or a dict such as {{((0, 0), (0, 1)): 3}}") from None
    for where, turns in places:
        if isinstance(turns, bool) or not isinstance(turns, (int, np.integer)) or not 2 <= turns <= HIGHEST_MUD:
            raise GameError(f"mud of {turns!r} turns: a passage of mud takes 2 to {HIGHEST_MUD} turns in all")
        found[given_passage(where, width, height, "mud")] = int(turns)
    return found


def check_maze(maze: Maze) -> None:
    """Raise unless every cell can be reached, mud lies in passages only, and there is cheese, but not where a player begins."""
    parts = Parts(maze.cells)
    for low, high in passages(maze.width, maze.height):
        if (low, high) not in maze.walls:
            parts.join(low, high)
    for cell in range(maze.cells):
        if parts.of(cell) != parts.of(0):
            x, y = cell % maze.width, cell // maze.width
            raise GameError(f"the maze is not connected: no way leads from (0, 0) to ({x}, {y})")
    for low, high in maze.mud:
        if (low, high) in maze.walls:
            one, other = ((cell % maze.width, cell // maze.width) for cell in (low, high))
            raise GameError(f"there are both mud and a wall between {one} and {other}")
    if not maze.cheese:
        raise GameError("there is no cheese: the game would be over before it begins")
    for start in maze.starts:
        if start in maze.cheese:
            raise GameError(f"there is cheese on ({start % maze.width}, {start // maze.width}), where a player begins")


# --- drawn by a generator -----------------------------------------------------------------------------------------------------


class Parts:
    """Which cells are joined: sets that can be merged."""

    def __init__(self, count: int) -> None:
        self.above = list(range(count))

    def of(self, cell: int) -> int:
        """The part that a cell belongs to, named by one of its cells."""
        while self.above[cell] != cell:
            self.above[cell] = self.above[self.above[cell]]
            cell = self.above[cell]
        return cell

    def join(self, one: int, other: int) -> bool:
        """Make two parts one; False if they were."""
        one, other = self.of(one), self.of(other)
        self.above[one] = other
        return one != other


def random_walls(width: int, height: int, density: float, random: np.random.Generator) -> frozenset[Passage]:
    """Walls with this density, symmetric, with all cells connected."""
    pairs = _pairs(width, height)
    closed = [pair for pair, drawn in zip(pairs, random.random(len(pairs)), strict=True) if drawn < density]
    walls = set(closed)
    parts = Parts(width * height)
    for pair in pairs:
        if pair not in walls:
            for low, high in pair:
                parts.join(low, high)
    for index in random.permutation(len(closed)):
        joins = [parts.join(low, high) for low, high in closed[index]]
        if any(joins):
            walls.remove(closed[index])
    return frozenset(passage for pair in walls for passage in pair)


def random_mud(
    width: int, height: int, walls: frozenset[Passage], density: float, random: np.random.Generator
) -> dict[Passage, int]:
    """Mud in this share of the passages, symmetric."""
    found = {}
    for pair in _pairs(width, height):
        drawn, turns = random.random(), int(random.integers(RANDOM_MUD[0], RANDOM_MUD[1] + 1))
        if drawn < density and pair[0] not in walls:
            found.update(dict.fromkeys(pair, turns))
    return found


def random_cheese(width: int, height: int, count: int, starts: tuple[int, int], random: np.random.Generator) -> frozenset[int]:
    """So many cells, symmetric, without the starts; of an odd number one is in the centre."""
    last = width * height - 1
    if count < 1:
        raise GameError(f"cheese={count}: there must be some")
    if count % 2 and last % 2:
        raise GameError(f"cheese={count}: an odd number needs a cell in the centre, and a board of {width} x {height} has none")
    taken = {*starts, *(last - start for start in starts)}
    centre = {last // 2} if count % 2 else set()
    if centre & taken:
        raise GameError(f"cheese={count}: an odd number needs the cell in the centre, and a player begins there")
    pairs = [cell for cell in range((last + 1) // 2) if cell not in taken]
    if count // 2 > len(pairs):
        most = 2 * len(pairs) + (1 if last % 2 == 0 and last // 2 not in taken else 0)
        raise GameError(f"cheese={count}: a board of {width} x {height} has room for {most}, apart from where players begin")
    chosen = random.permutation(len(pairs))[: count // 2]
    return frozenset(centre | {cell for index in chosen for cell in (pairs[index], last - pairs[index])})


def _pairs(width: int, height: int) -> list[tuple[Passage, ...]]:
    """Each passage with its mirror image; one that is its own mirror image alone."""
    last = width * height - 1
    found: list[tuple[Passage, ...]] = []
    for low, high in passages(width, height):
        mirrored = (last - high, last - low)
        if (low, high) <= mirrored:
            found.append(((low, high),) if (low, high) == mirrored else ((low, high), mirrored))
    return found
