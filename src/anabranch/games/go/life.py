"""Benson's unconditional life: stones that cannot be taken even if their owner always passes, and the territory they make.

A **region** of a colour is a largest connected set of cells without stones of that colour. It is **vital** to a chain if all
its empty cells are liberties of the chain: the opponent cannot fill the last one, unless that captures. Where suicide is
allowed, all its cells must be: the opponent could take his stones off again. From all chains and regions, take away chains
with fewer than two vital regions, then regions that touch a chain which was taken away, and so on. The chains that stay are
alive (Benson 1976: these and no others). Their territory are the regions that stay, if at most one cell touches no stone of
the colour. An eye of the opponent needs such a cell, so he has no room for two, and the stones in there are dead. (As in
KataGo.)

A cell has four neighbours, so a region is vital to four chains at most: those of its first empty cell that all others touch
too. Kernels call `mark_life`, which writes into `mark`; people call `unconditional`. Read first: `layout.py`.
"""

import numpy as np

from anabranch.games.go.layout import BLACK, EMPTY, NO_CELL, ONE, WHITE, cell_of, stride
from anabranch.games.go.stones import BOTH
from anabranch.games.position import Position
from anabranch.jit import helper, readable, routine

# What `mark` holds meanwhile: of cells in regions, and of the heads of chains.
SEEN, FIRST = 1, 2  # in `queue`; there as the first of its region
IN_QUESTION, ONE_EYE, TWO_EYES = 4, 8, 16  # not taken away yet; vital regions counted so far
LIFE = 32  # shifted by a colour: what `mark_life` leaves behind
LIVES = LIFE << BLACK | LIFE << WHITE


def unconditional(position: Position) -> np.ndarray:
    """For each point 1 where black has stones or territory whatever happens, -1 where white has, 0 where it is open."""
    state = readable(position.record())[0]
    for colour in (BLACK, WHITE):
        mark_life(state, colour)
    marks = np.array([state.mark[cell_of(state, action)] for action in range(state.width * state.height)])
    black, white = (marks & (LIFE << colour) != 0 for colour in (BLACK, WHITE))
    return black.astype(np.int8) - white


@routine
def mark_life(state, colour):
    """Set the bit LIFE << colour in `mark` of all stones and territory that are this colour's unconditionally. It stays there
    for the caller to clear; what is there of the other colour is kept."""
    count = find_regions(state, colour)
    question_chains(state, colour)
    is_settled = False
    while True:
        each_region(state, colour, count, is_settled)
        if is_settled:
            break
        is_settled = not drop_chains(state)
    mark_chains(state, colour)
    marks, queue = state.mark, state.queue
    for i in range(len(marks)):
        marks[np.uint64(i)] &= LIVES
    for i in range(count):
        queue[i] = 0


# --- regions -----------------------------------------------------------------------------------------------------------------


@helper
def find_regions(state, colour):
    """Write the cells of all regions into `queue`, one region after the other; how many cells."""
    s = stride(state)
    colours, marks, queue = state.colour, state.mark, state.queue
    done, count = 0, 0
    for i in range(len(colours)):
        start = np.uint64(i)
        if is_inside(colours[start], colour) and (marks[start] & SEEN) == 0:
            marks[start] |= SEEN | FIRST
            queue[count] = start
            count += 1
            while done < count:
                cell = np.uint64(queue[done])
                done += 1
                for near in (cell + ONE, cell - ONE, cell + s, cell - s):
                    if is_inside(colours[near], colour) and (marks[near] & SEEN) == 0:
                        marks[near] |= SEEN
                        queue[count] = near
                        count += 1
    return count


@helper
def is_inside(content, colour):
    """Whether a cell with this content belongs to a region of a colour: it is empty, or has a stone of the other one."""
    return content == EMPTY or content == BOTH - colour


@helper
def each_region(state, colour, count, is_settled):
    """Count the vital regions of all chains in question; once it is settled which stay, also mark territory."""
    marks, queue = state.mark, state.queue
    first = 0
    while first < count:
        end = first + 1
        while end < count and (marks[queue[end]] & FIRST) == 0:
            end += 1
        is_territory = look_at(state, colour, first, end)
        if is_settled and is_territory:
            for i in range(first, end):
                marks[queue[i]] |= LIFE << colour
        first = end


@routine
def look_at(state, colour, first, end):
    """Count this region for the chains that it is vital to; whether it is territory. It is neither if it touches a chain that
    was taken away."""
    s = stride(state)
    none = np.uint64(NO_CELL)
    colours, chains, marks, queue = state.colour, state.chain, state.mark, state.queue
    a, b, c, d = none, none, none, none  # the chains that it is vital to
    is_fresh = True
    inner = 0  # cells that touch no stone of the colour
    for i in range(first, end):
        cell = np.uint64(queue[i])
        east = np.uint64(chains[cell + ONE]) if colours[cell + ONE] == colour else none
        west = np.uint64(chains[cell - ONE]) if colours[cell - ONE] == colour else none
        north = np.uint64(chains[cell + s]) if colours[cell + s] == colour else none
        south = np.uint64(chains[cell - s]) if colours[cell - s] == colour else none
        inner += int(east == none and west == none and north == none and south == none)
        for head in (east, west, north, south):
            if head != none and (marks[head] & IN_QUESTION) == 0:
                return False
        if colours[cell] == EMPTY or state.suicide != 0:
            if is_fresh:
                is_fresh = False
                a, b, c, d = east, west, north, south
            else:
                a, b = kept(a, east, west, north, south), kept(b, east, west, north, south)
                c, d = kept(c, east, west, north, south), kept(d, east, west, north, south)
    count_eye(state, a)
    if b != a:
        count_eye(state, b)
    if c != a and c != b:
        count_eye(state, c)
    if d != a and d != b and d != c:
        count_eye(state, d)
    return inner <= 1


@helper
def kept(head, east, west, north, south):
    """A chain, if it is one of these four; else NO_CELL."""
    return head if head in (east, west, north, south) else np.uint64(NO_CELL)


# --- chains ------------------------------------------------------------------------------------------------------------------


@helper
def question_chains(state, colour):
    """Put all chains of a colour in question."""
    colours, chains, marks = state.colour, state.chain, state.mark
    for i in range(len(colours)):
        cell = np.uint64(i)
        if colours[cell] == colour and chains[cell] == cell:
            marks[cell] |= IN_QUESTION


@helper
def count_eye(state, head):
    """One more vital region of a chain."""
    if head != NO_CELL:
        state.mark[head] |= TWO_EYES if (state.mark[head] & ONE_EYE) != 0 else ONE_EYE


@helper
def drop_chains(state):
    """Take away chains with fewer than two vital regions, and forget the counts; whether there was such a chain."""
    marks = state.mark
    is_any = False
    for i in range(len(marks)):
        cell = np.uint64(i)
        found = marks[cell]
        if (found & IN_QUESTION) != 0:
            if (found & TWO_EYES) != 0:
                marks[cell] = found & (LIVES | IN_QUESTION)
            else:
                marks[cell] = found & LIVES
                is_any = True
    return is_any


@helper
def mark_chains(state, colour):
    """Mark the stones of all chains that are still in question: they are alive."""
    colours, chains, marks = state.colour, state.chain, state.mark
    for i in range(len(colours)):
        cell = np.uint64(i)
        if colours[cell] == colour and (marks[chains[cell]] & IN_QUESTION) != 0:
            marks[cell] |= LIFE << colour
