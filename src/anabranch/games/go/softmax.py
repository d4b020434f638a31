"""Playouts by urgency: every move has a weight, and is played with a probability proportional to its exponential.

The softmax policy of Gelly & Silver's section 3.5, with urgencies as in Crazy Stone (3.6) in place of values: what a move does
(capture, save), the pattern it makes, and whether it is near the last move. Temperature 0 is greedy in the limit; a high one is
`Light`. It weighs every legal move, so it is slower than `MoGo`. Read first: `tactics.py`, `patterns.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.games.go.layout import EMPTY, NO_CELL, ONE, action_of, last_liberty, pass_of, stride
from anabranch.games.go.light import is_long_enough, start_quickly
from anabranch.games.go.patterns import CUT, EDGE, HANE, pattern_at
from anabranch.games.go.stones import is_eye, may_put
from anabranch.games.go.tactics import find_hot, is_hot, is_self_atari
from anabranch.games.playout import begin, is_enough, pick
from anabranch.jit import helper, routine
from anabranch.jit.options import Positive, Whole
from anabranch.jit.random import uniform

CAPTURES, SAVES, NEAR = 1, 2, 4  # bits of `mark` while a move is weighed


class Softmax(NamedTuple):
    """Moves with a probability proportional to the exponential of their urgency over the temperature."""

    temperature: Positive = 1.0
    capture: float = 3.0  # takes a chain in atari
    save: float = 3.0  # the last liberty of an own chain in atari, if it has two then
    hane: float = 2.0  # patterns, by kind
    cut: float = 2.5
    edge: float = 1.5
    near: float = 1.5  # one of the eight points around the last move
    self_atari: float = -3.0
    cap: float = 3.0  # moves of a playout, in board sizes; the score then counts as it stands
    mercy: Whole = 0  # end a playout when one side has so many stones more; 0: never


begin.register(Softmax)(start_quickly)
is_enough.register(Softmax)(is_long_enough)


@pick.register(Softmax)
def pick_softmax(policy, state, random):
    """A move drawn by its weight."""
    cell = weighted_move(policy, state, random)
    return pass_of(state) if cell == NO_CELL else action_of(state, cell)


@routine
def weighted_move(policy, state, random):
    """A move by its weight, or NO_CELL if there is none: each takes the place of those before it with its share of the sum."""
    colour = np.int64(state.turn) + 1
    find_hot(state)
    mark_moves(state, colour)
    total = 0.0
    chosen = np.uint64(NO_CELL)
    for i in range(state.empty_count):
        cell = np.uint64(state.empties[i])
        marks = np.int64(state.mark[cell])
        state.mark[cell] = 0
        if may_put(state, cell, colour) and not is_eye(state, cell, colour):
            weight = math.exp(urgency(policy, state, cell, colour, marks) / policy.temperature)
            total += weight
            if uniform(random) * total < weight:
                chosen = cell
    return chosen


@helper
def mark_moves(state, colour):
    """Mark the empty cells that capture, save, or are near the last move."""
    for i in range(state.hot_count):
        head = np.uint64(state.hot[i])
        if is_hot(state, head):
            state.mark[last_liberty(state.liberties[head])] |= SAVES if state.colour[head] == colour else CAPTURES
    if state.last != NO_CELL:
        s = stride(state)
        last = np.uint64(state.last)
        for row in (last + s, last, last - s):
            for near in (row - ONE, row, row + ONE):
                if state.colour[near] == EMPTY:
                    state.mark[near] |= NEAR


@helper
def urgency(policy, state, cell, colour, marks):
    """How urgent a move is."""
    kind = pattern_at(state, cell, colour)
    total = policy.hane if kind == HANE else policy.cut if kind == CUT else policy.edge if kind == EDGE else 0.0
    if (marks & NEAR) != 0:
        total += policy.near
    if (marks & CAPTURES) != 0:
        total += policy.capture
    if is_self_atari(state, cell, colour):
        return total + policy.self_atari
    return total + policy.save if (marks & SAVES) != 0 else total
