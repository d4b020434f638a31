"""Treasure: one player walks on a small map and collects rewards along the way.

Rewards come from `play`, later ones count less (`discount`), and the end itself pays nothing. The number of steps decides
where to go first: with three to the near treasure, with four straight to the large one, with six to both.
"""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.board import Grid
from anabranch.games.game import Game, rule

MAP = (  # what lies where; the walk begins at the top left
    ".2..3",
    ".....",
    "..3..",
    ".....",
    "9...4",
)
SIDE = len(MAP)
LAID = np.array([0 if sign == "." else int(sign) for row in MAP for sign in row], np.int8)
UP, RIGHT, DOWN, LEFT = range(4)
MOST_STEPS = 100


class Treasure(Game):
    """Walk a map of five by five and collect as much as you can, early, within a number of steps."""

    players, actions = 1, 4
    actions_keep_meaning = False  # the same step leads elsewhere from another cell
    discount = 0.95
    value_range = (0.0, float(LAID.sum()))
    state = np.dtype([("lying", "i1", (SIDE * SIDE,)), ("place", "i4"), ("steps", "i4")])  # treasure by cell; cell; steps left

    def __init__(self, steps: int = 12) -> None:
        if not isinstance(steps, (int, np.integer)) or not 1 <= steps <= MOST_STEPS:
            raise GameError(f"Treasure is played with 1 to {MOST_STEPS} steps, not {steps!r}")
        super().__init__(steps=int(steps))

    @rule
    def setup(state):
        state.place = 0
        for cell in range(SIDE * SIDE):
            state.lying[cell] = LAID[cell]

    @rule
    def to_play(state):
        return 0

    @rule
    def is_legal(state, action):
        row, column = state.place // SIDE, state.place % SIDE
        if action == UP:
            return row > 0
        if action == DOWN:
            return row < SIDE - 1
        if action == LEFT:
            return column > 0
        return column < SIDE - 1

    @rule
    def play(state, action, rewards):
        if action == UP:
            state.place -= SIDE
        elif action == DOWN:
            state.place += SIDE
        elif action == LEFT:
            state.place -= 1
        else:
            state.place += 1
        rewards[0] += state.lying[state.place]
        state.lying[state.place] = 0
        state.steps -= 1

    @rule
    def is_over(state):
        return state.steps == 0

    @rule
    def returns(state, out):
        out[0] = 0.0

    def name_of(self, action):
        return ("up", "right", "down", "left")[action]

    def _grid(self, state):
        cells = [int(treasure) for treasure in state.lying]
        cells[state.place] = 10
        rows = [cells[start : start + SIDE] for start in range(0, SIDE * SIDE, SIDE)]
        return Grid(rows, symbols=".123456789@", colours=("#e8e0cc", *["#d8a31a"] * 9, "#222222"))

    def text(self, state):
        return f"{self._grid(state).text()}\n{state.steps} steps left"

    def svg(self, state):
        return self._grid(state).svg()
