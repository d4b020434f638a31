"""Ladders: whether a chain of one or two liberties is taken by ataris alone.

The attacker plays on a liberty, so that one is left; the defender runs there, or takes a chain next to his own that is in
atari itself. Three liberties are an escape, one is the end. Both sides try all they have, so that stones on the way, captures
on the way and forks are read, not guessed. A ko is not taken back at once: an attacker who would have to has failed. That is
all: nets, loose ladders and threats elsewhere are not seen.

To undo a move is to go back to a copy. `read` keeps positions in a stack that it is given, one for each move deep, each with
the moves that are still to be tried in `queue` and their number in `hot_count`. What is deeper than the stack, or takes more
moves than allowed, counts as an escape: a chain that is said to be captured is. Read first: `tactics.py`.
"""

import operator

import numpy as np

from anabranch.errors import GameError
from anabranch.games.go.layout import (
    BLACK,
    EMPTY,
    NO_CELL,
    WHITE,
    cell_of,
    empty_neighbours,
    in_atari,
    last_liberty,
    pass_of,
)
from anabranch.games.go.stones import BOTH, may_put, put
from anabranch.games.go.tactics import add_move, counter_captures, first_liberty, second_liberty
from anabranch.games.position import Position
from anabranch.jit import helper, kernel, routine

OPEN, ESCAPED, CAPTURED = range(3)  # what is known of a position: its moves must be tried; or the result
MOST_MOVES = 10_000  # tried by `is_captured`; a ladder across 19x19 takes 62
SPARE = 16  # positions in the stack beyond one for each empty point, for captures on the way


def is_captured(position: Position, stone: int | str, to_play: int | None = None, most_moves: int = MOST_MOVES) -> bool:
    """Whether the chain of this stone (an action or a name) is captured in a ladder if this player (by default who is to move)
    plays next. With two liberties and its owner to play that means: even if he plays there first."""
    game, state = position.game, position.state
    action = game.action(stone) if isinstance(stone, str) else operator.index(stone)
    if not 0 <= action < pass_of(state) or state.colour[cell_of(state, action)] not in (BLACK, WHITE):
        raise GameError(f"there is no stone at {stone if isinstance(stone, str) else action}")
    root = position.record()
    if to_play is not None and to_play != state.turn:
        root["turn"], root["ko_cell"] = to_play, NO_CELL
    stack = np.empty(int(state.empty_count) + SPARE, root.dtype)
    return bool(read_ladder(root, stack, action, most_moves))


@kernel
def read_ladder(states, stack, action, most_moves):
    """What `read` says of the stone at an action of states[0]."""
    return read(states[0], stack, cell_of(states[0], action), most_moves)


@routine
def read(state, stack, stone, most_moves):
    """Whether the chain of a stone is captured by ataris, with the player of `state` to move. `stack` is an array of records,
    as long as the reading may be deep; what it holds does not matter, before and after."""
    stack[0] = state
    stack[0].quick = 1
    colour = np.int64(state.colour[stone])
    result = judge(stack[0], stone, colour, True)
    depth = 0
    while True:
        top = stack[depth]
        if result == OPEN:
            if top.hot_count == 0:  # all were tried, and none was good enough for who plays here
                result = CAPTURED if is_defender(top, colour) else ESCAPED
            elif depth + 1 == len(stack) or most_moves == 0:
                result = ESCAPED
            else:
                most_moves -= 1
                depth += 1
                top.hot_count -= 1
                stack[depth] = top
                move(stack[depth], np.uint64(top.queue[top.hot_count]))
                result = judge(stack[depth], stone, colour, False)
        elif depth == 0:
            return result == CAPTURED
        else:
            depth -= 1
            if (result == CAPTURED) == is_defender(stack[depth], colour):
                result = OPEN  # not what the player wants: the next move


@helper
def is_defender(state, colour):
    """Whether the chain's owner is to move."""
    return np.int64(state.turn) + 1 == colour


@helper
def move(state, cell):
    """Play on a cell, or pass."""
    state.ko_cell = NO_CELL
    if cell != NO_CELL:
        put(state, cell, np.int64(state.turn) + 1)
    state.turn = 1 - state.turn


@routine
def judge(state, stone, colour, is_root):
    """What is known of a position. If it is open, the moves to try are in `queue`, best last, and counted in `hot_count`."""
    state.hot_count = 0
    if state.colour[stone] == EMPTY:  # the defender has killed himself
        return CAPTURED
    head = np.uint64(state.chain[stone])
    if in_atari(state.liberties[head]):
        last = last_liberty(state.liberties[head])
        if not is_defender(state, colour):
            return CAPTURED if may_put(state, last, BOTH - colour) else ESCAPED
        count = 0
        if may_put(state, last, colour):
            count = add_move(state, last, count)
        state.hot_count = counter_captures(state, head, colour, count)
        return OPEN
    first = first_liberty(state, head)
    second = second_liberty(state, head, first)
    if second == NO_CELL or (is_defender(state, colour) and not is_root):
        return ESCAPED
    if is_defender(state, colour):
        state.hot_count = first_moves(state, head, colour, first, second)
    else:
        state.hot_count = ataris(state, BOTH - colour, first, second)
    return OPEN


@helper
def ataris(state, attacker, first, second):
    """The moves that take one of two liberties, into `queue`; their number. Last, to be tried first, the one where the defender
    would get more liberties."""
    if empty_neighbours(state.around[first]) > empty_neighbours(state.around[second]):
        first, second = second, first
    count = 0
    for cell in (first, second):
        if may_put(state, cell, attacker):
            count = add_move(state, cell, count)
    return count


@helper
def first_moves(state, head, colour, first, second):
    """What the owner of a chain with two liberties may begin with, into `queue`; their number. To pass is one of them: a
    liberty that he fills himself could be what he lives by."""
    state.queue[0] = NO_CELL
    count = 1
    for cell in (first, second):
        if may_put(state, cell, colour):
            count = add_move(state, cell, count)
    return counter_captures(state, head, colour, count)
