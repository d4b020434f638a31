"""PyRat: two players run through one maze at once and collect cheese. The face and the rules. Read first: `layout.py`.

`PyRat(...)` makes a game of the smallest class that holds the board: `PyRat64`, `PyRat` itself up to 320 cells, `PyRat1280`.
They differ in nothing but the size of their record. docs/games/pyrat.md is the rule book.
"""

from typing import Any, ClassVar

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import rule
from anabranch.games.pyrat import draw, keys, picture
from anabranch.games.pyrat.greedy import Nearest
from anabranch.games.pyrat.layout import (
    CAPACITIES,
    MOST_TURNS,
    NAMES,
    STAY,
    cost,
    flip,
    has,
    record_of,
    step,
)
from anabranch.games.pyrat.maze import (
    Maze,
    check_density,
    check_maze,
    check_sides,
    given_cell,
    given_mud,
    given_passage,
    is_density,
    random_cheese,
    random_mud,
    random_walls,
)
from anabranch.games.pyrat.planes import PLANES, fill_planes, symmetries_of
from anabranch.games.pyrat.presets import DEFAULT, PRESETS, Preset
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.games.symmetry import Symmetries
from anabranch.jit import helper


class PyRat(SimultaneousGame):
    """Two players run through a maze at once; each keeps the cheese that it reaches first."""

    players, actions = 2, len(NAMES)
    zero_sum = False
    state = record_of(CAPACITIES[1])
    planes = PLANES, 15, 21
    value_range = (0.0, 41.0)
    policy = Nearest()
    named_policies: ClassVar[dict[str, Any]] = {"greedy": Nearest()}

    def __new__(cls, width: Any = None, height: Any = None, *arguments: Any, preset: Any = DEFAULT, **options: Any) -> "PyRat":
        if cls is PyRat:
            known = _preset(preset)
            cls = _kind(known.width if width is None else width, known.height if height is None else height)
        return super().__new__(cls)

    def __init__(
        self,
        width: int | None = None,
        height: int | None = None,
        cheese: Any = None,
        walls: Any = None,
        mud: Any = None,
        max_turns: int | None = None,
        seed: int = 0,
        *,
        preset: str = DEFAULT,
        starts: Any = None,
        turn_in_key: bool = True,
    ) -> None:
        """What is not given is as in the preset.

        width, height  cells
        cheese         how many, or a list of cells (x, y)
        walls          the share of passages that are closed, or a list of closed ones ((x, y), (x, y))
        mud            the share of passages that are muddy, or a dict of muddy ones: {((x, y), (x, y)): turns}
        max_turns      when the game is over at the latest
        seed           of the random maze
        preset         one of `presets.PRESETS`: "tiny", "small", "default", "large", "huge", "open", "5x5", "7x7"
        starts         where the players begin, two cells (x, y); (0, 0) and the opposite corner, unless told otherwise
        turn_in_key    False: positions that differ in the turn alone count as the same
        """
        known = _preset(preset)
        given = {"width": width, "height": height, "cheese": cheese, "walls": walls, "mud": mud, "max_turns": max_turns}
        chosen = known._replace(**{name: value for name, value in given.items() if value is not None})
        self.options = chosen
        self.seed, self.turn_in_key = _seed(seed), bool(turn_in_key)
        self.starts, self.maze = starts, _maze(chosen, starts, self.seed)
        if self.maze.cells > self.capacity():
            raise GameError(f"{type(self).__name__} has up to {self.capacity()} cells; write PyRat({width}, {height})")
        self.max_turns = _turns(chosen.max_turns)
        super().__init__(**self._fields(self.maze))
        self.draws_boards = any(is_density(value) for value in (chosen.cheese, chosen.walls, chosen.mud))
        self.planes = PLANES, self.maze.height, self.maze.width
        self.value_range = 0.0, float(len(self.maze.cheese))

    def _fields(self, maze: Maze) -> dict[str, Any]:
        return {**maze.fields(self.capacity()), "max_turns": self.max_turns, "turn_in_key": int(self.turn_in_key)}

    def fields_of(self, board: int) -> dict[str, Any]:
        """The maze that is drawn by this number instead of `seed`; what was given as a list stays."""
        return self._fields(_maze(self.options, self.starts, _seed(board)))

    @classmethod
    def capacity(cls) -> int:
        """The most cells of this class."""
        return int(cls.state["costs"].shape[0])

    @classmethod
    def drawn(cls, drawing: str, max_turns: int = MOST_TURNS, turn_in_key: bool = True) -> "PyRat":
        """The game whose start is drawn as `text` draws it: walls, mud, cheese and both players."""
        maze = draw.parse(drawing)

        def at(cell: int) -> tuple[int, int]:
            return cell % maze.width, cell // maze.width

        return PyRat(
            maze.width,
            maze.height,
            cheese=[at(cell) for cell in sorted(maze.cheese)],
            walls=[(at(low), at(high)) for low, high in sorted(maze.walls)],
            mud={(at(low), at(high)): turns for (low, high), turns in sorted(maze.mud.items())},
            starts=[at(cell) for cell in maze.starts],
            max_turns=max_turns,
            turn_in_key=turn_in_key,
        )

    # --- the rules ---

    @rule
    def setup(state):
        state.points[:] = 0
        state.stuck[:] = 0
        state.turn = 0
        state.left = state.total
        keys.hash_board(state)

    @rule
    def is_legal(state, player, action):
        return True

    @rule
    def outcome(state, player, action):
        if state.stuck[player] == 0 and action < STAY and cost(state, state.place[player], action) > 0:
            return action
        return STAY

    @rule
    def play(state, first, second, rewards):
        move(state, 0, first)
        move(state, 1, second)
        if state.place[0] == state.place[1] and state.stuck[0] == 0 and state.stuck[1] == 0:
            if has(state.cheese, state.place[0]):
                take(state, state.place[0])
                for player in range(2):
                    state.points[player] += 1
                    rewards[player] += 0.5
        else:
            for player in range(2):
                if state.stuck[player] == 0 and has(state.cheese, state.place[player]):
                    take(state, state.place[player])
                    state.points[player] += 2
                    rewards[player] += 1.0
        state.turn += 1

    @rule
    def is_over(state):
        most = max(state.points[0], state.points[1])  # half points
        return most > state.total or state.left == 0 or state.turn >= state.max_turns

    @rule
    def returns(state, out):
        out[0] = out[1] = 0.0  # all was paid on the way

    @rule
    def stake(state):
        return np.float64(max(state.left, 1))

    @rule
    def heuristic(state, out):
        out[0] = out[1] = 0.5 * state.left

    @rule
    def key(state):
        return keys.key(state)

    @rule
    def encode(state, planes):
        fill_planes(state, planes)

    def symmetries(self) -> Symmetries:
        """Rotations and reflections of the board, each also with the players exchanged."""
        return symmetries_of(self.maze.height, self.maze.width)

    # --- what people write and see ---

    def name_of(self, action: int) -> str:
        return NAMES[action]

    def action(self, name: str) -> int:
        """An action by its name or by its first letter."""
        letters = [known[0] for known in NAMES]
        wanted = name.strip().lower()
        return letters.index(wanted) if wanted in letters else super().action(name)

    def text(self, state: Any) -> str:
        return draw.text(state)

    def svg(self, state: Any) -> str:
        return picture.svg(state)

    def __repr__(self) -> str:
        parts = [f"{name}={_short(value)}" for name, value in self.options._asdict().items()]
        if self.draws_boards:
            parts.append(f"seed={self.seed}")
        if not self.turn_in_key:
            parts.append("turn_in_key=False")
        return f"PyRat({', '.join(parts)})"


@helper
def move(state, player, action):
    """A step of one player, unless it is in mud or there is no way."""
    if state.stuck[player] > 0:
        state.stuck[player] -= 1
    elif action < STAY:
        turns = cost(state, state.place[player], action)
        if turns > 0:
            state.place[player] += step(state, action)
            state.stuck[player] = turns - 1


@helper
def take(state, cell):
    """The cheese of this cell is eaten."""
    flip(state.cheese, cell)
    keys.toggle(state, cell)
    state.left -= 1


def _short(value: Any) -> str:
    return repr(value) if np.ndim(value) == 0 and not isinstance(value, (dict, set, frozenset)) else f"<{len(value)} given>"


def _preset(name: Any) -> Preset:
    if not isinstance(name, str) or name not in PRESETS:
        raise GameError(f"preset={name!r}: there are {', '.join(map(repr, PRESETS))}")
    return PRESETS[name]


def _turns(turns: Any) -> int:
    if isinstance(turns, bool) or not isinstance(turns, (int, np.integer)) or not 1 <= turns <= MOST_TURNS:
        raise GameError(f"max_turns={turns!r}: PyRat lasts 1 to {MOST_TURNS:,} turns")
    return int(turns)


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise GameError(f"seed={seed!r}: give a whole number, 0 or more")
    return int(seed)


def _maze(chosen: Preset, starts: Any, seed: int) -> Maze:
    """The maze as given or, where it is not, as the generator draws it."""
    width, height = chosen.width, chosen.height
    check_sides(width, height)
    streams = [np.random.default_rng([seed, stream]) for stream in range(3)]  # one each, so that mud does not move the walls
    if starts is None:
        first, second = 0, width * height - 1
    else:
        try:
            first, second = (given_cell(cell, width, height, "start") for cell in starts)
        except (TypeError, ValueError):
            raise GameError(f"starts={starts!r}: give two cells, such as [(0, 0), (2, 2)]") from None
    if is_density(chosen.walls):
        check_density("walls", chosen.walls)
        walls = random_walls(width, height, chosen.walls, streams[0])
    else:
        walls = frozenset(given_passage(where, width, height, "wall") for where in _listed("walls", chosen.walls))
    if is_density(chosen.mud):
        check_density("mud", chosen.mud)
        mud = random_mud(width, height, walls, chosen.mud, streams[1])
    else:
        mud = given_mud(chosen.mud, width, height)
    if isinstance(chosen.cheese, (int, np.integer)) and not isinstance(chosen.cheese, bool):
        cheese = random_cheese(width, height, int(chosen.cheese), (first, second), streams[2])
    else:
        cheese = frozenset(given_cell(cell, width, height, "cheese") for cell in _listed("cheese", chosen.cheese))
    maze = Maze(width, height, walls, mud, cheese, (first, second))
    check_maze(maze)
    return maze


def _listed(name: str, value: Any) -> list[Any]:
    try:
        if isinstance(value, str):
            raise TypeError
        return list(value)
    except TypeError:
        raise GameError(f"{name}={value!r}: give a number, or a list of places") from None


# --- classes by size ----------------------------------------------------------------------------------------------------------


class PyRat64(PyRat):
    """PyRat on boards of up to 64 cells."""

    state = record_of(CAPACITIES[0])


class PyRat1280(PyRat):
    """PyRat on boards of up to 1,280 cells."""

    state = record_of(CAPACITIES[2])


KINDS = (PyRat64, PyRat, PyRat1280)


def _kind(width: Any, height: Any) -> type[PyRat]:
    """The class of the smallest records that hold such a board."""
    check_sides(width, height)
    return next(kind for kind in KINDS if width * height <= kind.capacity())
