"""What KataGo's networks see of a Go position: 22 planes and 19 numbers ("version 7"), as KataGo makes them.

Planes have their rows from the top, as KataGo counts them, and everything is in the view of who moves. A record knows its last
moves and boards (`games/go/history.py`) but not the whole game: `encode_inputs`, for leaves of a search, shows the ko that may
not be retaken, and no points that superko forbids; `encode_position` shows these too. Games by territory end here where KataGo
would begin to clean up, so its phases for that never occur, and planes 7, 8, 20 and 21 stay empty.

After a pass, KataGo's networks do not see the last moves where players agree on dead stones (`friendlyPassOk`): another pass
would not settle the game there. Read next: `ladders.py`, `areas.py`.
"""

from typing import Any

import numpy as np

from anabranch.errors import NetworkError
from anabranch.games.go import Go
from anabranch.games.go.history import moves_known, side_before
from anabranch.games.go.layout import (
    BLACK,
    EMPTY,
    FREE_BUTTON,
    NO_CELL,
    ONE,
    PASS_CELL,
    RECENT,
    WHITE_MOVED,
    pass_of,
    stride,
)
from anabranch.games.go.rulesets import AGREED, ALL_TAX, AREA, NO_TAX, POSITIONAL, SIMPLE, TERRITORY
from anabranch.games.go.score import half_bonus
from anabranch.games.go.stones import BOTH, may_put
from anabranch.games.position import Position
from anabranch.jit import helper, kernel, routine
from anabranch.nets.katago.areas import find_area
from anabranch.nets.katago.ladder_board import load, new_board
from anabranch.nets.katago.ladders import CAPTURED, find_ladders
from anabranch.nets.katago.layers import LARGEST_BOARD

PLANES, GLOBALS = 22, 19

# Planes
ON_BOARD, OWN, OTHER, LIBERTIES, KO, LAST_MOVES, LADDERED, WORKING, OWN_AREA, OTHER_AREA = (
    0, 1, 2, 3, 6, 9, 14, 17, 18, 19,
)  # fmt: skip

# Globals
PASSES, KOMI, SUPERKO, WHICH_SUPERKO, SUICIDE, TERRITORIAL, TAXED, TAXED_ALL, PASS_ENDS, BUTTON, KOMI_WAVE = (
    0, 5, 6, 7, 8, 9, 10, 11, 14, 17, 18,
)  # fmt: skip
KOMI_SCALE = 20.0
MOST_KOMI = 20.0  # beyond the number of points


# --- faces --------------------------------------------------------------------------------------------------------------------


def encode_inputs(game: Go, states: Any, with_suicide: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Planes f4 (n, 22, height, width) and globals f4 (n, 19) of n states of a game.

    with_suicide   whether the network wants pass-alive area as if suicide were legal (`Header.pass_alive_with_suicide`)
    """
    planes, of_globals, _ = encode_leaves(game, states, with_suicide)
    return planes, of_globals


def encode_position(position: Position, with_suicide: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of one position, n = 1, with points that superko forbids; and what is legal, bool (1, points + 1), points from
    the top as in planes, a pass last."""
    game = position.game
    assert isinstance(game, Go)
    planes, of_globals, legal = encode_leaves(game, position.record(), with_suicide)
    if game.repetition == "forbidden" and position.past:
        for point in np.flatnonzero(legal[0, :-1]):
            row, column = divmod(int(point), game.width)
            if game.would_repeat(position, (game.height - 1 - row) * game.width + column):
                legal[0, point] = False
                planes[0, KO, row, column] = 1.0
    return planes, of_globals, legal


def encode_leaves(game: Go, states: Any, with_suicide: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes, globals and what is legal, superko left out: bool (n, points + 1), points from the top, a pass last."""
    if max(game.width, game.height) > LARGEST_BOARD:
        raise NetworkError(
            f"KataGo's networks play on boards of up to {LARGEST_BOARD} lines, not on {game.width}x{game.height}"
        )
    states = np.ascontiguousarray(states).view(game.record)
    planes = np.zeros((len(states), PLANES, game.height, game.width), np.float32)
    of_globals = np.zeros((len(states), GLOBALS), np.float32)
    legal = np.zeros((len(states), game.actions), np.bool_)
    encode_states(states, np.empty(1, game.record), new_board(), with_suicide, planes, of_globals, legal)
    return planes, of_globals, legal


@kernel
def encode_states(states, work, boards, with_suicide, planes, of_globals, legal):
    """Encode every state into its own planes, globals and legal moves, which are all zeros before; `work` and `boards` are
    scratch."""
    for i in range(len(states)):
        work[0] = states[i]
        state = work[0]
        if with_suicide:
            state.suicide = 1
        fill_planes(state, boards[0], planes[i])
        state.suicide = states[i].suicide
        fill_globals(state, of_globals[i])
        fill_legal(state, legal[i])


# --- planes -------------------------------------------------------------------------------------------------------------------


@routine
def fill_planes(state, board, planes):
    """All planes of a state; its scratch fields and the board are used."""
    known = moves_known(state, moves_to_show(state))
    load(board, state.colour, state.ko_cell, stride(state), np.int64(state.width), np.int64(state.height))
    find_ladders(board)
    fill_stones(state, board, planes)
    if state.ko_cell != NO_CELL:
        set_plane(state, planes, KO, np.uint64(state.ko_cell))
    for i in range(known):
        cell = state.recent[i] % WHITE_MOVED
        if cell != PASS_CELL:
            set_plane(state, planes, LAST_MOVES + i, np.uint64(cell))
    if state.scoring == AREA:
        find_area(state, board)
        fill_area(state, board, planes)
    for moves in range(1, 3):
        if known >= moves:
            fill_ladders_before(state, board, planes, moves)
        else:
            copy_plane(planes, LADDERED + moves - 1, LADDERED + moves)


@helper
def moves_to_show(state):
    """How many of the last moves a network may see: none if a pass is left unanswered and dead stones will be agreed upon, one
    once the game is over."""
    if state.passes >= 2:
        return 1
    return 0 if hides_pass(state) else RECENT


@helper
def hides_pass(state):
    """Whether the game goes on as if the opponent had not passed."""
    return state.passes == 1 and state.scoring == AREA and state.dead == AGREED


@helper
def set_plane(state, planes, plane, cell):
    """Set one point of a plane."""
    s = stride(state)
    planes[plane, np.int64(state.height) - np.int64(cell // s), np.int64(cell % s) - 1] = 1.0


@helper
def copy_plane(planes, source, target):
    """Make one plane like another."""
    for y in range(planes.shape[1]):
        for x in range(planes.shape[2]):
            planes[target, y, x] = planes[source, y, x]


@routine
def fill_stones(state, board, planes):
    """Stones, liberties and ladders of the board as it is."""
    s = stride(state)
    own = state.turn + BLACK
    height = np.int64(state.height)
    for y in range(height):
        for x in range(state.width):
            cell = np.uint64(height - y) * s + np.uint64(x) + ONE
            planes[ON_BOARD, y, x] = 1.0
            content = board.colour[cell]
            if content != EMPTY:
                head = np.uint64(board.chain[cell])
                planes[OWN if content == own else OTHER, y, x] = 1.0
                if board.count[head] <= 3:
                    planes[LIBERTIES + board.count[head] - 1, y, x] = 1.0
                if board.verdict[head] == CAPTURED:
                    planes[LADDERED, y, x] = 1.0
            elif (board.working[cell] & (1 << (BOTH - own))) != 0:
                planes[WORKING, y, x] = 1.0


@routine
def fill_ladders_before(state, board, planes, moves):
    """Chains that were caught in a ladder on the board so many moves ago."""
    s = stride(state)
    side = side_before(state, moves)
    height = np.int64(state.height)
    load(board, state.before[side], state.ko_before[side], s, np.int64(state.width), height)
    find_ladders(board)
    for y in range(height):
        for x in range(state.width):
            cell = np.uint64(height - y) * s + np.uint64(x) + ONE
            if board.verdict[board.chain[cell]] == CAPTURED:
                planes[LADDERED + moves, y, x] = 1.0


@routine
def fill_area(state, board, planes):
    """Who has what if the game ended here."""
    s = stride(state)
    own = state.turn + BLACK
    height = np.int64(state.height)
    for y in range(height):
        for x in range(state.width):
            owner = board.area[np.uint64(height - y) * s + np.uint64(x) + ONE]
            if owner != EMPTY:
                planes[OWN_AREA if owner == own else OTHER_AREA, y, x] = 1.0


# --- globals ------------------------------------------------------------------------------------------------------------------


@routine
def fill_globals(state, out):
    """All numbers of a state. Those of cleaning up and of handicaps by playouts stay 0."""
    for i in range(moves_known(state, moves_to_show(state))):
        if state.recent[i] % WHITE_MOVED == PASS_CELL:
            out[PASSES + i] = 1.0
    komi = own_komi(state)
    out[KOMI] = komi / KOMI_SCALE
    if state.ko != SIMPLE:
        out[SUPERKO] = 1.0
        out[WHICH_SUPERKO] = 0.5 if state.ko == POSITIONAL else -0.5
    out[SUICIDE] = 1.0 if state.suicide != 0 else 0.0
    out[TERRITORIAL] = 1.0 if state.scoring == TERRITORY else 0.0
    out[TAXED] = 1.0 if state.tax != NO_TAX else 0.0
    out[TAXED_ALL] = 1.0 if state.tax == ALL_TAX else 0.0
    out[PASS_ENDS] = 1.0 if state.passes > 0 and not hides_pass(state) else 0.0
    out[BUTTON] = 1.0 if state.button == FREE_BUTTON else 0.0
    if state.scoring == AREA:
        out[KOMI_WAVE] = komi_wave(komi, np.int64(state.width) * state.height)


@helper
def own_komi(state):
    """What the player to move gets besides the board. A move costs a point under territory scoring, where KataGo counts area
    too."""
    komi = 0.5 * np.float64(half_bonus(state))
    if state.scoring == TERRITORY:
        komi -= np.float64(state.balance)
    most = np.float64(state.width) * state.height + MOST_KOMI
    return min(max(komi if state.turn == 1 else -komi, -most), most)


@helper
def komi_wave(komi, points):
    """A triangle wave with a period of two points of komi: 0 and rising where a draw is possible, 0.5 half a point above. A
    draw is possible if komi is as odd or even as the number of points."""
    above = (komi - points % 2) % 2.0
    return above if above < 0.5 else 1.0 - above if above < 1.5 else above - 2.0


# --- legal moves --------------------------------------------------------------------------------------------------------------


@routine
def fill_legal(state, legal):
    """What the player to move may play, superko left out."""
    s = stride(state)
    height, width = np.int64(state.height), np.int64(state.width)
    for y in range(height):
        for x in range(width):
            cell = np.uint64(height - y) * s + np.uint64(x) + ONE
            legal[y * width + x] = state.colour[cell] == EMPTY and may_put(state, cell, np.int64(state.turn) + 1)
    legal[pass_of(state)] = True
