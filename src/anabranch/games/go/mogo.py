"""MoGo's playouts, and what later engines added: local answers to the last move first, a random move last.

Each rule has its probability, 0 to leave it out. Saving, patterns, captures and their order are MoGo's (Gelly & Silver, section
3.6). What is in the default was measured in matches: docs/games/go.md. Read first: `tactics.py`, `patterns.py`.
"""

from typing import NamedTuple

import numpy as np

from anabranch.games.go.layout import EMPTY, NO_CELL, ONE, action_of, pass_of, stride, surrounded_by
from anabranch.games.go.light import is_long_enough, set_aside, start_quickly
from anabranch.games.go.patterns import NONE, pattern_at
from anabranch.games.go.stones import BOTH, is_eye, may_put
from anabranch.games.go.tactics import (
    capturing_moves,
    find_hot,
    is_lonely,
    is_self_atari,
    nakade_move,
    saving_moves,
    two_liberty_moves,
)
from anabranch.games.playout import begin, is_enough, pick
from anabranch.jit import helper, routine
from anabranch.jit.options import Share, Whole
from anabranch.jit.random import below, uniform


class MoGo(NamedTuple):
    """Save, answer by pattern, capture, else play at random."""

    save: Share = 1.0  # own chains that the last move put into atari
    nakade: Share = 0.0  # the key point of a small eye space that the last move left
    two_liberties: Share = 0.0  # chains of two liberties at the last move
    pattern: Share = 1.0  # a pattern around the last move
    second_last: Share = 0.0  # a pattern around the move before it
    capture: Share = 1.0  # anything that can be captured
    eye_shape: Share = 0.0  # make an own eye whole that the last move attacked from a corner
    empty_region: Whole = 0  # how often to look for a random cell with nothing around it
    self_atari: Share = 0.95  # how often to refuse self-atari, in patterns and at random
    cap: float = 3.0  # moves of a playout, in board sizes; the score then counts as it stands
    mercy: Whole = 0  # end a playout when one side has so many stones more; 0: never


# Every rule left out now and then: mean outcomes tell better who wins (docs/games/go.md).
RELAXED = MoGo(save=0.8, pattern=0.85, second_last=0.4, capture=0.8, self_atari=0.3)

begin.register(MoGo)(start_quickly)
is_enough.register(MoGo)(is_long_enough)


@pick.register(MoGo)
def pick_mogo(policy, state, random):
    """A local move if the rules find one, otherwise a random one that is not bad."""
    cell = local_move(policy, state, random)
    if cell == NO_CELL:
        cell = careful_move(policy, state, random)
    return pass_of(state) if cell == NO_CELL else action_of(state, cell)


@routine
def local_move(policy, state, random):
    """What the rules before the random one say, or NO_CELL."""
    colour = np.int64(state.turn) + 1
    find_hot(state)
    if state.last != NO_CELL:
        if happens(policy.save, random):
            count = saving_moves(state, colour)
            if count > 0:
                return one_of(state, count, random)
        if happens(policy.nakade, random):
            cell = nakade_move(state, colour)
            if cell != NO_CELL:
                return cell
        if happens(policy.two_liberties, random):
            count = two_liberty_moves(state, colour)
            if count > 0:
                return one_of(state, count, random)
        if happens(policy.eye_shape, random):
            cell = eye_move(state, colour)
            if cell != NO_CELL:
                return cell
        if happens(policy.pattern, random):
            count = pattern_moves(state, np.uint64(state.last), colour, happens(policy.self_atari, random))
            if count > 0:
                return one_of(state, count, random)
    if state.second_last != NO_CELL and happens(policy.second_last, random):
        count = pattern_moves(state, np.uint64(state.second_last), colour, happens(policy.self_atari, random))
        if count > 0:
            return one_of(state, count, random)
    if state.hot_count > 0 and happens(policy.capture, random):
        count = capturing_moves(state, colour)
        if count > 0:
            return one_of(state, count, random)
    for _ in range(policy.empty_region):
        if state.empty_count == 0:
            break
        cell = np.uint64(state.empties[below(random, np.int64(state.empty_count))])
        if is_lonely(state, cell):
            return cell
    return np.uint64(NO_CELL)


@helper
def happens(share, random):
    """True with this probability; certainty draws nothing."""
    return share >= 1.0 or (share > 0.0 and uniform(random) < share)


@helper
def one_of(state, count, random):
    """One of the first cells in `queue`."""
    return np.uint64(state.queue[below(random, count) if count > 1 else 0])


@helper
def pattern_moves(state, centre, colour, refuse_self_atari):
    """Moves around a cell that make a pattern, into `queue`; their number."""
    s = stride(state)
    count = 0
    for near in (
        centre + ONE, centre - ONE, centre + s, centre - s,
        centre + s + ONE, centre + s - ONE, centre - s + ONE, centre - s - ONE,
    ):  # fmt: skip
        if state.colour[near] != EMPTY or pattern_at(state, near, colour) == NONE or not may_put(state, near, colour):
            continue
        if not is_eye(state, near, colour) and not (refuse_self_atari and is_self_atari(state, near, colour)):
            state.queue[count] = near
            count += 1
    return count


@helper
def eye_move(state, colour):
    """Where to play so that an own eye, at a corner of which the enemy has just played, stays one; or NO_CELL."""
    s = stride(state)
    last = np.uint64(state.last)
    for eye in (last + s + ONE, last + s - ONE, last - s + ONE, last - s - ONE):
        if state.colour[eye] == EMPTY and surrounded_by(state.around[eye], colour):
            bad, free = 0, np.uint64(NO_CELL)
            for corner in (eye + s + ONE, eye + s - ONE, eye - s + ONE, eye - s - ONE):
                content = state.colour[corner]
                bad += int(content == BOTH - colour)
                if content == EMPTY and may_put(state, corner, colour) and not is_eye(state, corner, colour):
                    free = corner
            if bad == 1 and free != NO_CELL:
                return free
    return np.uint64(NO_CELL)


@helper
def careful_move(policy, state, random):
    """A random move that fills no own eye and, as often as wanted, is no self-atari; a self-atari if there is nothing else."""
    colour = np.int64(state.turn) + 1
    count = np.int64(state.empty_count)
    poor = np.uint64(NO_CELL)
    while count > 0:
        i = below(random, count)
        cell = np.uint64(state.empties[i])
        if may_put(state, cell, colour) and not is_eye(state, cell, colour):
            if policy.self_atari == 0.0 or not is_self_atari(state, cell, colour) or not happens(policy.self_atari, random):
                return cell
            poor = cell
        count -= 1
        set_aside(state, i, count)
    return poor
