"""What a network sees of a position. Read first: `layout.py`.

Planes show what the key tells (`keys.py`) and no more: not the last moves, so that what a network says of a position does not
depend on the way there, and can be shared by all ways. Rows are from the bottom, as actions are counted.
"""

from anabranch.games.go.layout import BLACK, EMPTY, in_atari, stride
from anabranch.games.go.rulesets import TERRITORY
from anabranch.games.go.score import half_bonus
from anabranch.jit import helper

OWN, OTHER, ATARI, KO, PASSED, WHITE_MOVES, POINTS = range(7)
PLANES = 7
POINTS_SCALE = 20.0  # makes a komi a number below 1; KataGo's networks divide by the same


@helper
def fill_planes(state, planes):
    """The mover's stones; the other's; stones in atari; where a ko may not be retaken; all ones after a pass; all ones if white
    moves; and everywhere the points that the mover has besides the board."""
    s = int(stride(state))
    own = state.turn + BLACK
    for row in range(state.height):
        for column in range(state.width):
            cell = (row + 1) * s + column + 1
            if state.colour[cell] != EMPTY:
                planes[OWN if state.colour[cell] == own else OTHER, row, column] = 1.0
                if in_atari(state.liberties[state.chain[cell]]):
                    planes[ATARI, row, column] = 1.0
            elif cell == state.ko_cell:
                planes[KO, row, column] = 1.0
    planes[PASSED] = 1.0 if state.passes > 0 else 0.0
    planes[WHITE_MOVES] = state.turn
    for_white = 0.5 * half_bonus(state)
    if state.scoring == TERRITORY:
        for_white -= state.balance
    planes[POINTS] = (for_white if state.turn == 1 else -for_white) / POINTS_SCALE
