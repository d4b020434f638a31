"""Tug: a small game that can go on forever, and so defines what a repetition means.

Either player may pull the token either way. Near an end one of them wins; in the middle both can always undo what the other
did, and the game is a draw by repetition.
"""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import Game, rule

STEPS = np.array([-2, -1, 1, 2])
SMALLEST, LARGEST = 5, 99


class Tug(Game):
    """Move a token one or two cells left or right in turn; the right end is the first player's, the left end the second's."""

    players, actions = 2, len(STEPS)
    actions_keep_meaning = False  # the effect of a pull depends on the token's place
    repetition = "draw"
    state = np.dtype([("cell", "i1"), ("cells", "i1"), ("turn", "i1")])

    def __init__(self, cells: int = 9) -> None:
        if not isinstance(cells, (int, np.integer)) or not SMALLEST <= cells <= LARGEST or cells % 2 == 0:
            raise GameError(f"Tug is played on an odd number of cells from {SMALLEST} to {LARGEST}, not {cells!r}")
        super().__init__(cells=int(cells))

    @rule
    def setup(state):
        state.cell = state.cells // 2
        state.turn = 0

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        return 0 <= state.cell + STEPS[action] < state.cells

    @rule
    def play(state, action):
        state.cell += STEPS[action]
        state.turn = 1 - state.turn

    @rule
    def is_over(state):
        return state.cell == 0 or state.cell == state.cells - 1

    @rule
    def returns(state, out):
        out[0] = 1.0 if state.cell > 0 else -1.0
        out[1] = -out[0]

    def name_of(self, action):
        return f"{STEPS[action]:+d}"

    def text(self, state):
        row = "".join("#" if cell == state.cell else "." for cell in range(state.cells))
        return f"o{row}x, player {state.turn} to move"
