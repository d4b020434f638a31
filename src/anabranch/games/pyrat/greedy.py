"""How playouts of PyRat go: `Nearest` walks to the nearest cheese by a shortest way, mud counted. Read first: `layout.py`.

The search goes backwards, from all cheese at once: level by level, the set of cells from which some cheese is so many turns
away, until it comes to the player. Sets of cells are bits, so that open passages are crossed by all cells of a level with a few
shifts; only cells beside mud are taken one by one, into the set of the level at which they arrive. Directions are not kept:
while the levels rise, it is seen which neighbours of the player they have reached. One such search serves both players.
"""

from typing import NamedTuple

import numpy as np

from anabranch.games.playout import pick
from anabranch.games.pyrat.layout import LOW_SIX, ONE, RING, SIX, STAY, cost, has, step
from anabranch.games.simultaneous import pick_for
from anabranch.jit import helper, routine
from anabranch.jit.random import below

FAR = 1 << 30
FOUR_BITS = 15
ZERO = np.uint64(0)
BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # a cycle in which every six bits come once: the place of a bit from the bit itself
TOP_SIX = np.uint64(58)
PLACES = np.zeros(64, np.int64)
for _place in range(64):
    PLACES[((int(BRUIJN) << _place) & (2**64 - 1)) >> 58] = _place


class Nearest(NamedTuple):
    """Each player steps towards the nearest cheese by a shortest way. Of several first steps that are equally good one is drawn
    or, with `lowest`, it is the first of up, right, down, left."""

    lowest: bool = False


@pick_for.register(Nearest)
def pick_for_nearest(policy, state, player, random):
    """The way to the nearest cheese."""
    if state.stuck[player] > 0:
        return STAY
    place = np.int64(state.place[player])
    return one_of(policy, ways(state, place, place) & FOUR_BITS, random)


@pick.register(Nearest)
def pick_nearest(policy, state, random):
    """Both players, after one search."""
    first, second = np.int64(state.place[0]), np.int64(state.place[1])
    if state.stuck[0] > 0:
        if state.stuck[1] > 0:
            return STAY * (STAY + 1) + STAY
        first = second
    elif state.stuck[1] > 0:
        second = first
    both = ways(state, first, second)
    chosen = STAY if state.stuck[0] > 0 else one_of(policy, both & FOUR_BITS, random)
    other = STAY if state.stuck[1] > 0 else one_of(policy, both >> STAY, random)
    return chosen * (STAY + 1) + other


@helper
def one_of(policy, directions, random):
    """One of the directions in a set of four bits that is not empty."""
    if directions & (directions - 1) != 0 and not policy.lowest:
        count = (directions & 1) + (directions >> 1 & 1) + (directions >> 2 & 1) + (directions >> 3)
        for _ in range(below(random, count)):
            directions &= directions - 1
    return np.int64(PLACES[(np.uint64(directions & -directions) * BRUIJN) >> TOP_SIX])


@routine
def ways(state, first, second):
    """The first steps of shortest ways to a nearest cheese, from two cells (they may be one): four bits each, the first cell's
    below. There must be cheese, and none on these cells."""
    words = len(state.seen)
    coming, seen = state.coming, state.seen
    for w in range(words):
        coming[w] = state.cheese[w]
    level = slot = 0
    nearest, found = FAR, 0  # of the first cell: how far, and by which first steps
    second_nearest, second_found = FAR, 0
    while nearest > level or second_nearest > level:  # what level n finds is n + 1 away, or more
        start = slot * words
        for w in range(words):
            coming[start + w] &= ~seen[w]
            seen[w] |= coming[start + w]
        reached = coming[start : start + words]
        for direction in range(STAY):
            turns = cost(state, first, direction)
            if turns > 0 and level + turns <= nearest and has(reached, first + step(state, direction)):
                found = (found if level + turns == nearest else 0) | 1 << direction
                nearest = level + turns
        if second != first:
            for direction in range(STAY):
                turns = cost(state, second, direction)
                if turns > 0 and level + turns <= second_nearest and has(reached, second + step(state, direction)):
                    second_found = (second_found if level + turns == second_nearest else 0) | 1 << direction
                    second_nearest = level + turns
        else:
            second_nearest, second_found = nearest, found
        level += 1
        if nearest > level or second_nearest > level:
            spread(state, slot)
        for w in range(words):
            coming[start + w] = ZERO
        slot = slot + 1 if slot + 1 < RING else 0
    for i in range(len(coming)):
        coming[i] = ZERO
    for w in range(words):
        seen[w] = ZERO
    return found | second_found << STAY


@helper
def spread(state, slot):
    """From the cells of one level into those of the levels at which their neighbours are reached."""
    words = len(state.seen)
    coming = state.coming
    start = slot * words
    following = start + words if slot + 1 < RING else 0
    up = np.uint64(state.width)
    rest = np.uint64(64) - up
    last = LOW_SIX
    for w in range(words):
        cells = coming[start + w]
        if cells == ZERO:
            continue
        upward, rightward = cells & state.open_up[w], cells & state.open_right[w]
        coming[following + w] |= upward << up | rightward << ONE
        coming[following + w] |= cells >> up & state.open_up[w] | cells >> ONE & state.open_right[w]
        if w + 1 < words:
            coming[following + w + 1] |= upward >> rest | rightward >> last
        if w > 0:
            coming[following + w - 1] |= cells << rest & state.open_up[w - 1] | cells << last & state.open_right[w - 1]
        muddy = cells & state.muddy[w]
        while muddy != ZERO:
            lowest = muddy & (~muddy + ONE)
            muddy ^= lowest
            cell = 64 * w + PLACES[(lowest * BRUIJN) >> TOP_SIX]
            for direction in range(STAY):
                turns = cost(state, cell, direction)
                if turns > 1:
                    target = np.uint64(cell + step(state, direction))
                    at = slot + turns if slot + turns < RING else slot + turns - RING
                    coming[at * words + np.int64(target >> SIX)] |= ONE << (target & LOW_SIX)
