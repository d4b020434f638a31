"""What was learnt of moves: how likely a long search chooses one, by what is seen around it. The heuristic `Shapes`.

Of a move are seen **features**, each a number below `FEATURES`: the 3x3 shape around it, how far the last two moves are, where
on the board it is, what it does to the chains beside it. Each has a weight, learnt from games of a search with itself
(`benchmarks/shapes_go.py`). A move's **liking** is the sum of its weights, and its probability is proportional to the
exponential of that: Coulom's model of moves ("Computing Elo ratings of move patterns in the game of Go", 2007). A heuristic
speaks in simulations: a liking above the usual is so many won, one below so many lost. Measurements: docs/algorithms/rave.md.
Read first: `tactics.py`, `patterns.py`; `sense.py` is the same by hand.
"""

from pathlib import Path
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
    lines_of,
    pass_of,
    stride,
)
from anabranch.games.go.patterns import SHAPES, code_at, shape_of
from anabranch.games.go.stones import BOTH, is_eye
from anabranch.games.go.tactics import cannot_run, is_lonely, is_self_atari, second_liberty
from anabranch.jit import helper, routine
from anabranch.jit.options import Positive, Share, Whole

# Features come in groups: how many each has, and where it begins.
NEXT_TO = 3  # `distance` of a diagonal neighbour
STEPS = 20  # of distance, told apart; the last one: there was no such move
LINES = 5  # told apart, from the edge
SPOTS = LINES * (LINES + 1) // 2  # pairs of lines, without regard to order
TIMES = 5  # of the game, told apart
COMPANY = 16  # up to three own stones and up to three of the enemy
SIZES = 3  # of chains: one stone, two, more
SHAPE = 0
ANSWER = SHAPE + SHAPES  # the shape once more, next to the last move
LAST = ANSWER + SHAPES
SECOND_LAST = LAST + STEPS
SPOT = SECOND_LAST + STEPS  # with stones around it, and without
LINE = SPOT + 2 * SPOTS  # as the game goes on
LINE_PLACE = 4  # where among a move's features
JUMPS = LINE + LINES * TIMES  # stones at a jump over one empty point; with stones around it, and without
KNIGHTS = JUMPS + 2 * COMPANY  # at a knight's move
CAPTURE = KNIGHTS + 2 * COMPANY
RESCUE = CAPTURE + SIZES  # captures a chain next to an own one in atari
SAVE = RESCUE + SIZES  # an own chain in atari has two liberties then
RUN = SAVE + SIZES  # it is still in atari
ATTACK = RUN + SIZES  # puts a chain into atari
TRAP = ATTACK + SIZES  # and running does not help it
SELF_ATARI = TRAP + SIZES
EYE = SELF_ATARI + SIZES  # fills an own eye
FEATURES = EYE + 1


@routine
def features_of(state, cell, colour):
    """What is seen of a move on an empty cell: features, written into `queue`; their number."""
    queue = state.queue
    around = lone_or_not(state, cell)
    shape = shape_of(code_at(state, cell, colour))
    queue[0] = SHAPE + shape
    queue[1] = LAST + steps_from(state, cell, state.last)
    queue[2] = SECOND_LAST + steps_from(state, cell, state.second_last)
    queue[3] = SPOT + around * SPOTS + spot_of(state, cell)
    queue[LINE_PLACE] = LINE + (min(line_of(state, cell), LINES) - 1) * TIMES + time_of(state)
    queue[5] = JUMPS + around * COMPANY + jumps(state, cell, colour)
    queue[6] = KNIGHTS + around * COMPANY + knights(state, cell, colour)
    count = 7
    if state.last != NO_CELL and distance(state, cell, np.uint64(state.last)) <= NEXT_TO:
        queue[count] = ANSWER + shape
        count += 1
    if is_eye(state, cell, colour):
        queue[count] = EYE
        count += 1
    return tactical_features(state, cell, colour, count)


@helper
def tactical_features(state, cell, colour, count):
    """What a stone does to the chains beside it, and to itself."""
    s = stride(state)
    queue = state.queue
    bad = is_self_atari(state, cell, colour)
    stones = np.int64(1)
    a = b = c = np.uint64(NO_CELL)  # chains that were looked at
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        content = state.colour[near]
        head = np.uint64(state.chain[near])
        if content in (EMPTY, OFF) or head in (a, b, c):
            continue
        a, b, c = head, a, b
        size = size_of(state.size[head])
        feature = -1
        if content == colour:
            stones += np.int64(state.size[head])
            if in_atari(state.liberties[head]):
                feature = (RUN if bad else SAVE) + size
        elif in_atari(state.liberties[head]):
            feature = (RESCUE if frees(state, head, colour) else CAPTURE) + size
        else:
            other = second_liberty(state, head, cell)
            if other != NO_CELL:
                feature = (TRAP if cannot_run(state, head, cell, other, BOTH - colour) else ATTACK) + size
        if feature >= 0:
            queue[count] = feature
            count += 1
    if bad:
        queue[count] = SELF_ATARI + size_of(stones)
        count += 1
    return count


@helper
def size_of(stones):
    """A chain's size as features tell it."""
    return min(int(stones), SIZES) - 1


@helper
def lone_or_not(state, cell):
    """1 if nothing stands around a cell."""
    return 1 if is_lonely(state, cell) else 0


@helper
def steps_from(state, cell, move):
    """How far a move was, as features tell it."""
    return STEPS - 1 if move == NO_CELL else min(distance(state, cell, np.uint64(move)), STEPS - 2)


@helper
def spot_of(state, cell):
    """Where on the board a cell is: on which lines, up to symmetry."""
    x, y = lines_of(state, cell)
    low, high = min(x, y, LINES), min(max(x, y), LINES)
    return (high - 1) * high // 2 + low - 1


@helper
def time_of(state):
    """How far the game is, by what is filled of the board."""
    points = np.int64(state.width) * state.height
    return min((points - np.int64(state.empty_count)) * 8 // points, TIMES - 1)


@helper
def jumps(state, cell, colour):
    """Stones two points away, with nothing between."""
    s = np.int64(stride(state))
    own, enemies = 0, 0
    for step in (1, -1, s, -s):
        if state.colour[np.int64(cell) + step] == EMPTY:
            content = state.colour[np.int64(cell) + 2 * step]
            own += content == colour
            enemies += content == BOTH - colour
    return company(own, enemies)


@helper
def knights(state, cell, colour):
    """Stones at a knight's move."""
    s = np.int64(stride(state))
    own, enemies = 0, 0
    for step, side in ((1, s), (-1, s), (s, 1), (-s, 1)):
        near = np.int64(cell) + step
        if state.colour[near] == OFF or state.colour[near + step] == OFF:
            continue
        for corner in (near + step + side, near + step - side):
            content = state.colour[corner]
            own += content == colour
            enemies += content == BOTH - colour
    return company(own, enemies)


@helper
def company(own, enemies):
    """Two numbers of stones as one."""
    return min(own, 3) * 4 + min(enemies, 3)


@helper
def frees(state, head, colour):
    """Whether a chain touches one of this colour that is in atari."""
    s = stride(state)
    stone = head
    while True:
        for near in (stone + ONE, stone - ONE, stone + s, stone - s):
            if state.colour[near] == colour and in_atari(state.liberties[state.chain[near]]):
                return True
        stone = np.uint64(state.next[stone])
        if stone == head:
            return False


# --- the heuristic ------------------------------------------------------------------------------------------------------------

WEIGHTS_FILE = Path(__file__).with_suffix(".npy")
WEIGHTS = np.load(WEIGHTS_FILE).astype(np.float64)


class Shapes(NamedTuple):
    """Simulations for and against a move, by how likely it is."""

    even: Whole = 10  # neither won nor lost, for every move
    weight: Positive = 7.0  # won for each power of e that a move is likelier than usual, or lost
    usual: float = -4.0  # liking that speaks neither for a move nor against it; likings are logarithms of probabilities
    own: Share = 0.4  # of all this, what is also worth visits of the move itself


@advise.register(Shapes)
def advise_shapes(heuristic, state, action):
    """Advice by the shapes around a point."""
    worth = 0.0
    if action != pass_of(state):
        worth = heuristic.weight * (liking_of(state, cell_of(state, action)) - heuristic.usual)
    total = heuristic.even + abs(worth)
    value = (max(worth, 0.0) + 0.5 * heuristic.even) / total if total > 0.0 else 0.5
    return value, int(heuristic.own * total), int(total)


@routine
def liking_of(state, cell):
    """The sum of the weights of what is seen of a move on an empty cell."""
    total = 0.0
    for i in range(features_of(state, cell, np.int64(state.turn) + 1)):
        total += WEIGHTS[state.queue[i]]
    return total
