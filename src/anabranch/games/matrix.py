"""Games of one turn: both choose, and a matrix says what each gets. Any matrix, zero-sum or not.

The payoffs are part of the record. A zero-sum game stores only the row player's, and its values are one number; others store
both. `MatrixGame(...)` makes an instance of the smallest class that fits: `MatrixGame` itself is zero-sum and has up to 8
actions, `MatrixGame32` up to 32; `Bimatrix8` and `Bimatrix32` have a matrix for each player.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import rule
from anabranch.games.simultaneous import PLAYERS, SimultaneousGame
from anabranch.jit import helper
from anabranch.jit.random import GOLDEN, mix

CAPACITIES = (8, 32)  # the most actions of each class
LARGEST_SHOWN = 3  # of the matrices that `repr` writes out

ROCK_PAPER_SCISSORS = ((0.0, -1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 0.0))
SIGNS = ("rock", "paper", "scissors")
BIASED = ((0.0, -25.0, 50.0), (25.0, 0.0, -5.0), (-50.0, 5.0, 0.0))  # OpenSpiel's "matrix_brps"
PENNIES = ((1.0, -1.0), (-1.0, 1.0))
DILEMMA = ((3.0, 0.0), (5.0, 1.0))  # Axelrod's payoffs


def _fields(capacity: int, matrices: int) -> np.dtype:
    return np.dtype(
        [
            ("payoffs", "f8", (matrices, capacity, capacity)),  # the row player's; the column player's, if it is not zero-sum
            ("stake", "f8"),  # half the difference between the lowest and the highest
            ("sizes", "i4", (PLAYERS,)),  # how many actions each player has
            ("chosen", "i4", (PLAYERS,)),  # what each has played
            ("over", "i4"),
        ]
    )


class MatrixGame(SimultaneousGame):
    """Both players choose once, and a matrix says what each gets."""

    players, actions = PLAYERS, CAPACITIES[0]
    zero_sum = True
    state = _fields(CAPACITIES[0], 1)

    def __new__(cls, rows: Any = ROCK_PAPER_SCISSORS, columns: Any = None, *rest: Any, **options: Any) -> "MatrixGame":
        if cls is MatrixGame:
            size = max(_matrix("rows", rows).shape)
            cls = next(kind for kind in KINDS if size <= kind.actions and bool(kind.zero_sum) == (columns is None))
        return super().__new__(cls)

    def __init__(self, rows: Any = ROCK_PAPER_SCISSORS, columns: Any = None, names: Sequence[str] | None = None) -> None:
        """rows     what the row player (player 0) gets: rows[i][j], if it plays i and the other j
        columns  the same for the column player (player 1); without it, that player loses what the row player gets
        names    of the actions, the same for both players
        """
        first = _matrix("rows", rows)
        matrices = [first]
        if columns is not None:
            matrices.append(_matrix("columns", columns))
            if matrices[1].shape != first.shape:
                raise GameError(f"rows is {_by(first)} and columns {_by(matrices[1])}; both are indexed by [row][column]")
        if max(first.shape) > type(self).actions or len(matrices) > (1 if self.zero_sum else PLAYERS):
            raise GameError(f"{type(self).__name__} does not hold this game; write MatrixGame(rows, columns)")
        if len(matrices) == 1 and not self.zero_sum:
            raise GameError(f"{type(self).__name__} wants columns too; write MatrixGame(rows) for a zero-sum game")
        self.actions = max(first.shape)
        self.names = _names(names, self.actions)
        low, high = min(each.min() for each in matrices), max(each.max() for each in matrices)
        if low == high:  # nothing to win, but a range is still needed
            low, high = low - 1.0, high + 1.0
        self.value_range = float(low), float(high)
        payoffs = np.zeros(self.state["payoffs"].shape)
        for player, each in enumerate(matrices):
            payoffs[player, : each.shape[0], : each.shape[1]] = each
        super().__init__(payoffs=payoffs, stake=float(high - low) / 2.0, sizes=np.array(first.shape, np.int32))

    @classmethod
    def rock_paper_scissors(cls) -> "MatrixGame":
        """Each sign beats one and loses to one: play all equally often."""
        return MatrixGame(ROCK_PAPER_SCISSORS, names=SIGNS)

    @classmethod
    def biased_rock_paper_scissors(cls) -> "MatrixGame":
        """The same with unequal stakes: rock, paper, scissors are best played 1, 10 and 5 times in 16."""
        return MatrixGame(BIASED, names=SIGNS)

    @classmethod
    def matching_pennies(cls) -> "MatrixGame":
        """The row player wins if both show the same side: each side half of the time."""
        return MatrixGame(PENNIES, names=("heads", "tails"))

    @classmethod
    def prisoners_dilemma(cls) -> "MatrixGame":
        """Defecting is better whatever the other does, but worse for both: general-sum."""
        return MatrixGame(DILEMMA, np.transpose(DILEMMA), names=("cooperate", "defect"))

    # --- the rules ---

    @rule
    def actions_each(state):
        return most(state)

    @rule
    def setup(state):
        state.chosen[:] = 0
        state.over = 0

    @rule
    def is_legal(state, player, action):
        return action < state.sizes[player]

    @rule
    def play(state, first, second):
        state.chosen[0], state.chosen[1] = first, second
        state.over = 1

    @rule
    def is_over(state):
        return state.over != 0

    @rule
    def returns(state, out):
        first, second = state.chosen[0], state.chosen[1]
        out[0] = state.payoffs[0, first, second]
        out[1] = state.payoffs[1, first, second] if len(state.payoffs) > 1 else 0.0 - out[0]

    @rule
    def stake(state):
        return state.stake

    @rule
    def key(state):
        number = np.uint64(state.over + 2 * (state.chosen[0] + 64 * state.chosen[1])) + GOLDEN
        return mix(number), mix(mix(number))

    # --- names, text and drawings ---

    def name_of(self, action: int) -> str:
        return self.names[action]

    def text(self, state: Any) -> str:
        """A table of the row player's payoffs, with the column player's if the game is not zero-sum."""
        height, width = (int(size) for size in state.sizes)
        table = [["", *self.names[:width]]]
        for row in range(height):
            pays = ["/".join(f"{matrix[row, column]:g}" for matrix in state.payoffs) for column in range(width)]
            table.append([self.names[row], *pays])
        widths = [max(len(line[column]) for line in table) for column in range(width + 1)]
        lines = [
            "  ".join([line[0].ljust(widths[0]), *(part.rjust(size) for part, size in zip(line[1:], widths[1:], strict=True))])
            for line in table
        ]
        played = "/".join(self.names[int(action)] for action in state.chosen)
        return "\n".join([*(line.rstrip() for line in lines), f"played: {played}" if state.over else "nothing is played yet"])

    def __repr__(self) -> str:
        height, width = self.fields["sizes"]
        if max(height, width) > LARGEST_SHOWN:
            return f"<MatrixGame, {height} x {width}, {'zero-sum' if self.zero_sum else 'general-sum'}>"
        shown = [
            f"{name}=[{', '.join('[' + ', '.join(f'{pays:g}' for pays in row) + ']' for row in matrix[:height, :width])}]"
            for name, matrix in zip(("rows", "columns"), self.fields["payoffs"], strict=False)
        ]
        return f"MatrixGame({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.names == getattr(other, "names", None)

    def __hash__(self) -> int:
        return super().__hash__()


@helper
def most(state):
    """The larger of the players' numbers of actions: pairs are numbered by it."""
    return np.int64(max(state.sizes[0], state.sizes[1]))


class MatrixGame32(MatrixGame):
    """The same with up to 32 actions a player."""

    actions = CAPACITIES[1]
    state = _fields(CAPACITIES[1], 1)


class Bimatrix8(MatrixGame):
    """Both players choose once, and two matrices say what each gets."""

    zero_sum = False
    state = _fields(CAPACITIES[0], 2)


class Bimatrix32(MatrixGame):
    """The same with up to 32 actions a player."""

    actions = CAPACITIES[1]
    zero_sum = False
    state = _fields(CAPACITIES[1], 2)


KINDS = (MatrixGame, MatrixGame32, Bimatrix8, Bimatrix32)


def _matrix(name: str, given: Any) -> np.ndarray:
    try:
        matrix = np.array(given, np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise GameError(f"{name}={given!r}: give a matrix, such as [[1, -1], [-1, 1]]")
    if max(matrix.shape) > CAPACITIES[-1]:
        raise GameError(f"{name} is {_by(matrix)}; a player has up to {CAPACITIES[-1]} actions")
    if not np.isfinite(matrix).all():
        raise GameError(f"{name} has payoffs that are not finite")
    return matrix


def _by(matrix: np.ndarray) -> str:
    return f"{matrix.shape[0]} x {matrix.shape[1]}"


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(str(action) for action in range(count))
    if len(names) != count or len(set(names)) < count:
        raise GameError(f"names={names!r}: give {count} different names, one an action")
    return tuple(map(str, names))
