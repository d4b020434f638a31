"""Light playouts: a random legal move that fills no own eye, each equally likely; a pass if there is none."""

from typing import NamedTuple

import numpy as np

from anabranch.games.go.layout import action_of, pass_of
from anabranch.games.go.stones import is_eye, may_put
from anabranch.games.playout import begin, is_enough, pick
from anabranch.jit import helper
from anabranch.jit.options import Whole
from anabranch.jit.random import below


class Light(NamedTuple):
    """Random moves that fill no own eye."""

    cap: float = 3.0  # moves of a playout, in board sizes; the score then counts as it stands
    mercy: Whole = 0  # end a playout when one side has so many stones more; 0: never


@begin.register(Light)
def start_quickly(policy, state):
    """Keep no hashes and no balance from here on."""
    state.quick = 1


@pick.register(Light)
def pick_light(policy, state, random):
    """Any legal move that does not fill an own eye."""
    return random_move(state, random)


@is_enough.register(Light)
def is_long_enough(policy, state, plies):
    """Whether a playout has lasted too long, or one side has the mercy of the other."""
    too_long = plies >= policy.cap * (state.width * state.height)
    return too_long or (policy.mercy > 0 and abs(state.stones) >= policy.mercy)


@helper
def random_move(state, random):
    """A random move that fills no own eye: draw from the empty cells, put what will not do aside, draw from the others."""
    colour = np.int64(state.turn) + 1
    count = np.int64(state.empty_count)
    while count > 0:
        i = below(random, count)
        cell = np.uint64(state.empties[i])
        if may_put(state, cell, colour) and not is_eye(state, cell, colour):
            return action_of(state, cell)
        count -= 1
        set_aside(state, i, count)
    return pass_of(state)


@helper
def set_aside(state, i, last):
    """Exchange two of the empty cells: what will not do goes behind those that are still to be drawn from."""
    cell, other = state.empties[i], state.empties[last]
    state.empties[last], state.empties[i] = cell, other
    state.place[cell], state.place[other] = last, i
