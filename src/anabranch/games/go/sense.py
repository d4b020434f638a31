"""What a Go player thinks of a move at first sight, for searches: heuristics (`Search(heuristic=...)`).

`Handcrafted` is the one of Gelly & Silver's section 5.1: what MoGo's playouts would play is good, what they would not is bad.
`Sense` weighs more, each thing in simulations: so many that were won, for what speaks for the move, or lost, for what speaks
against it. H is their mean. What is in the defaults was measured in matches: docs/algorithms/rave.md.
Read first: `tactics.py`, `patterns.py`.
"""

from typing import NamedTuple

import numpy as np

from anabranch.games.advice import advise
from anabranch.games.go.layout import (
    EMPTY,
    NO_CELL,
    OFF,
    ONE,
    cell_of,
    distance,
    in_atari,
    line_of,
    pass_of,
    stride,
)
from anabranch.games.go.patterns import NONE, pattern_at
from anabranch.games.go.stones import BOTH, is_eye
from anabranch.games.go.tactics import is_lonely, is_self_atari, second_liberty
from anabranch.jit import helper, routine
from anabranch.jit.options import Share, Whole

CAPTURES, SAVES, ATTACKS = 1, 2, 4  # what a stone does to the chains beside it: bits
FAR = 5  # plies of distance to the last move that make no difference any more


class Handcrafted(NamedTuple):
    """1 for captures, saves and patterns, 0 for self-atari and the own eye, 1/2 for the rest."""

    visits: Whole = 0  # C
    amaf_visits: Whole = 50  # C~


class Sense(NamedTuple):
    """Simulations for and against a move."""

    even: Whole = 10  # neither won nor lost, for every move
    capture: Whole = 15
    save: Whole = 15  # an own chain in atari, if it has two liberties then
    attack: Whole = 5  # puts a chain into atari
    pattern: Whole = 10
    near: Whole = 10  # next to the last move; less for every step farther away
    self_atari: Whole = 20  # against
    eye: Whole = 40  # against: fills an own eye
    first_line: Whole = 10  # against: on the first line, with no stone around
    second_line: Whole = 40  # against: on the second line, with no stone around; playouts alone do not know an opening
    third_line: Whole = 5  # on the third line, with no stone around
    own: Share = 0.0  # of all this, what is also worth visits of the move itself


@advise.register(Handcrafted)
def advise_handcrafted(heuristic, state, action):
    """The value by hand-written rules."""
    value = 0.5
    if action != pass_of(state):
        colour = np.int64(state.turn) + 1
        cell = cell_of(state, action)
        effects = effects_of(state, cell, colour)
        if (effects & CAPTURES) != 0:
            value = 1.0
        elif is_eye(state, cell, colour) or is_self_atari(state, cell, colour):
            value = 0.0
        elif (effects & SAVES) != 0 or pattern_at(state, cell, colour) != NONE:
            value = 1.0
    return value, heuristic.visits, heuristic.amaf_visits


@advise.register(Sense)
def advise_sense(heuristic, state, action):
    """Wins and losses by hand-written rules."""
    won, lost = 0, 0
    if action != pass_of(state):
        won, lost = weigh(heuristic, state, cell_of(state, action))
    total = heuristic.even + won + lost
    value = (won + 0.5 * heuristic.even) / total if total > 0 else 0.5
    return value, int(heuristic.own * total), total


@routine
def weigh(sense, state, cell):
    """Simulations for and against a move on an empty cell."""
    colour = np.int64(state.turn) + 1
    won, lost = 0, 0
    effects = effects_of(state, cell, colour)
    bad = is_self_atari(state, cell, colour)
    if (effects & CAPTURES) != 0:
        won += sense.capture
    elif bad:
        lost += sense.self_atari
    if (effects & SAVES) != 0 and not bad:
        won += sense.save
    if (effects & ATTACKS) != 0 and not bad:
        won += sense.attack
    if is_eye(state, cell, colour):
        lost += sense.eye
    elif pattern_at(state, cell, colour) != NONE and not bad:
        won += sense.pattern
    if state.last != NO_CELL:
        won += sense.near * max(FAR - distance(state, cell, np.uint64(state.last)), 0) // (FAR - 2)
    line = line_of(state, cell)
    if line <= 3 and is_lonely(state, cell):
        if line == 1:
            lost += sense.first_line
        elif line == 2:
            lost += sense.second_line
        else:
            won += sense.third_line
    return won, lost


@helper
def effects_of(state, cell, colour):
    """What a stone here does to the chains beside it."""
    s = stride(state)
    effects = 0
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        content = state.colour[near]
        if content in (EMPTY, OFF):
            continue
        head = np.uint64(state.chain[near])
        if in_atari(state.liberties[head]):
            effects |= SAVES if content == colour else CAPTURES
        elif content == BOTH - colour and second_liberty(state, head, cell) != NO_CELL:
            effects |= ATTACKS
    return effects
