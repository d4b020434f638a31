"""Stones: what is legal, and what a move does to the board. Scores and keys are elsewhere. Read first: `layout.py`.

`put` is where playouts spend their time. What is random to the processor (which neighbour holds what) is done without branches
where it can be: every neighbour's chain loses a liberty, "chains" of empty cells and border too, since NO_CELL takes the blow.
"""

import numpy as np

from anabranch.games.go.keys import toggle
from anabranch.games.go.layout import (
    AROUND_BLACK,
    AROUND_EMPTY,
    AROUND_WHITE,
    BLACK,
    EMPTY,
    NO_CELL,
    OFF,
    ONE,
    WHITE,
    border_neighbours,
    empty_neighbours,
    only_at,
    stride,
    surrounded_by,
    weight,
)
from anabranch.jit import helper, routine

BOTH = BLACK + WHITE  # minus a colour: the other one


# --- what is legal ------------------------------------------------------------------------------------------------------------


@helper
def may_put(state, cell, colour):
    """Whether a stone may be put on this empty cell; superko is not looked at."""
    if empty_neighbours(state.around[cell]) > 0:
        return True
    if cell == state.ko_cell:
        return False
    s = stride(state)
    return (
        gives_life(state, cell, cell + ONE, colour)
        or gives_life(state, cell, cell - ONE, colour)
        or gives_life(state, cell, cell + s, colour)
        or gives_life(state, cell, cell - s, colour)
    )


@helper
def gives_life(state, cell, neighbour, colour):
    """Whether a stone on `cell` lives by this neighbour: it captures it, or joins a chain that has another liberty (or may kill
    itself)."""
    other = state.colour[neighbour]
    if other == OFF:
        return False
    last = only_at(state.liberties[state.chain[neighbour]], cell)
    return last if other != colour else not last or state.suicide != 0


@helper
def captures_nothing(state, cell, colour):
    """Whether a stone on this empty cell takes nothing off the board, its own chain included."""
    s = stride(state)
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        content = state.colour[near]
        if content in (BLACK, WHITE) and only_at(state.liberties[state.chain[near]], cell):
            return False
    return True


@helper
def is_eye(state, cell, colour):
    """Whether an empty cell is an eye of this colour: all neighbours own, and at most one enemy on the diagonals, none at the
    edge."""
    around = state.around[cell]
    if not surrounded_by(around, colour):
        return False
    s = stride(state)
    enemy = BOTH - colour
    colours = state.colour
    bad = int(colours[cell + s + ONE] == enemy) + int(colours[cell + s - ONE] == enemy)
    bad += int(colours[cell - s + ONE] == enemy) + int(colours[cell - s - ONE] == enemy)
    return bad + int(border_neighbours(around) > 0) < 2


# --- what a move does --------------------------------------------------------------------------------------------------------


@helper
def put(state, cell, colour):
    """Put a stone on an empty cell and take off what it captures. Turn, passes and history are the caller's."""
    s = stride(state)
    enemy = BOTH - colour
    in_enemy_eye = surrounded_by(state.around[cell], enemy)
    fill(state, cell)
    state.colour[cell] = colour
    state.stones += 3 - 2 * colour
    if state.quick == 0:
        toggle(state, cell, colour)
    lost = weight(cell)
    change = (1 << (AROUND_WHITE * (colour - BLACK))) - (1 << AROUND_EMPTY)
    own = touch(state, cell + ONE, lost, change) + touch(state, cell - ONE, lost, change)
    own += touch(state, cell + s, lost, change) + touch(state, cell - s, lost, change)
    state.chain[cell] = cell
    state.next[cell] = cell
    state.size[cell] = 1
    state.liberties[cell] = own
    join(state, cell, cell + ONE, colour)
    join(state, cell, cell - ONE, colour)
    join(state, cell, cell + s, colour)
    join(state, cell, cell - s, colour)
    taken = take(state, cell + ONE, enemy) + take(state, cell - ONE, enemy)
    taken += take(state, cell + s, enemy) + take(state, cell - s, enemy)
    state.ko_cell = state.empties[state.empty_count - 1] if taken == 1 and in_enemy_eye else NO_CELL
    if taken == 0 and state.suicide != 0 and state.liberties[state.chain[cell]] == 0:
        remove(state, np.uint64(state.chain[cell]), colour)
    state.liberties[NO_CELL] = 0


@helper
def fill(state, cell):
    """A cell is empty no more."""
    count = state.empty_count - 1
    moved = state.empties[count]
    place = state.place[cell]
    state.empties[place] = moved
    state.place[moved] = place
    state.empty_count = count


@helper
def touch(state, neighbour, lost, change):
    """A neighbour learns of a new stone: its chain loses a liberty. What it adds to the new stone's own word."""
    state.around[neighbour] += change
    state.liberties[state.chain[neighbour]] -= lost
    return weight(neighbour) if state.colour[neighbour] == EMPTY else 0


@helper
def join(state, cell, neighbour, colour):
    """Make one chain of the stone's and the neighbour's, if that is of the same colour: the smaller takes the other's name."""
    if state.colour[neighbour] != colour:
        return
    larger = np.uint64(state.chain[neighbour])
    smaller = np.uint64(state.chain[cell])
    if larger == smaller:
        return
    if state.size[larger] < state.size[smaller]:
        larger, smaller = smaller, larger
    state.liberties[larger] += state.liberties[smaller]
    state.size[larger] += state.size[smaller]
    stone = smaller
    while True:
        state.chain[stone] = larger
        stone = np.uint64(state.next[stone])
        if stone == smaller:
            break
    after = state.next[larger]
    state.next[larger] = state.next[smaller]
    state.next[smaller] = after


@helper
def take(state, neighbour, enemy):
    """Take off the neighbour's chain if it is an enemy's without liberties; the number of stones."""
    head = np.uint64(state.chain[neighbour])
    if state.colour[neighbour] != enemy or state.liberties[head] != 0:
        return 0
    return remove(state, head, enemy)


@routine
def remove(state, head, colour):
    """Take a chain off the board; the number of its stones."""
    s = stride(state)
    count = np.int64(state.size[head])
    change = (1 << AROUND_EMPTY) - (1 << (AROUND_WHITE * (colour - BLACK)))
    stone = head
    while True:
        state.colour[stone] = EMPTY
        state.chain[stone] = NO_CELL
        state.empties[state.empty_count] = stone
        state.place[stone] = state.empty_count
        state.empty_count += 1
        if state.quick == 0:
            toggle(state, stone, colour)
        stone = np.uint64(state.next[stone])
        if stone == head:
            break
    while True:
        gained = weight(stone)
        for neighbour in (stone + ONE, stone - ONE, stone + s, stone - s):
            state.around[neighbour] += change
            state.liberties[state.chain[neighbour]] += gained
        stone = np.uint64(state.next[stone])
        if stone == head:
            break
    state.stones += (2 * colour - 3) * count
    return count


# --- the empty board ---------------------------------------------------------------------------------------------------------


@helper
def clear(state):
    """Make the board empty."""
    s = np.int64(stride(state))
    state.colour[:] = OFF
    state.around[:] = 0
    state.liberties[:] = 0
    state.chain[:] = NO_CELL
    state.next[:] = 0
    state.size[:] = 0
    state.place[:] = 0
    state.empties[:] = 0
    count = 0
    for row in range(1, state.height + 1):
        for column in range(1, state.width + 1):
            cell = row * s + column
            state.colour[cell] = EMPTY
            state.empties[count] = cell
            state.place[cell] = count
            count += 1
    state.empty_count = count
    for i in range(count):
        cell = np.int64(state.empties[i])
        around = 0
        for neighbour in (cell + 1, cell - 1, cell + s, cell - s):
            border = (1 << AROUND_BLACK) + (1 << AROUND_WHITE)
            around += border if state.colour[neighbour] == OFF else 1 << AROUND_EMPTY
        state.around[cell] = around
    state.stones = 0
    state.ko_cell = NO_CELL
