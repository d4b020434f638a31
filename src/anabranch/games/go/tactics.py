"""What playouts know of tactics: chains in atari, moves that save or capture, self-atari, two liberties, nakade.

**Hot chains.** Playouts ask at every move which chains are in atari. A chain gets there only by a move next to it, so the
record keeps a list that is brought up to date from the last move; it may hold chains that have escaped, which are dropped when
they are met. The functions that look for moves write them into `queue`. Read first: `layout.py`, `stones.py`.
"""

import numpy as np

from anabranch.games.go.layout import (
    BLACK,
    EMPTY,
    NO_CELL,
    OFF,
    ONE,
    WHITE,
    empty_neighbours,
    in_atari,
    last_liberty,
    only_at,
    stride,
    weight,
)
from anabranch.games.go.stones import BOTH, may_put
from anabranch.jit import helper, routine

MOST_NAKADE = 6  # cells of the largest eye space with a key point


# --- chains in atari ----------------------------------------------------------------------------------------------------------


@helper
def is_hot(state, head):
    """Whether this is (still) the head of a chain in atari."""
    return state.chain[head] == head and head != NO_CELL and in_atari(state.liberties[head])


@routine
def find_hot(state):
    """Bring the list of chains in atari up to date with the last move; all are looked for if it was not kept."""
    if state.hot_ply == state.ply:
        return
    if state.hot_ply == state.ply - 1:
        if state.last != NO_CELL:
            s = stride(state)
            cell = np.uint64(state.last)
            for near in (cell, cell + ONE, cell - ONE, cell + s, cell - s):
                add_hot(state, np.uint64(state.chain[near]))
    else:
        state.hot_count = 0
        for head in range(1, len(state.colour)):
            if state.chain[head] == head and in_atari(state.liberties[head]):
                state.hot[state.hot_count] = head
                state.hot_count += 1
    state.hot_ply = state.ply


@helper
def add_hot(state, head):
    """Note a chain, if it is in atari and not known yet."""
    if not is_hot(state, head):
        return
    for i in range(state.hot_count):
        if state.hot[i] == head:
            return
    state.hot[state.hot_count] = head
    state.hot_count += 1


# --- a move's own liberties --------------------------------------------------------------------------------------------------


@helper
def word_after(state, cell, colour):
    """The word of the chain that a stone here would belong to. Of what it captures, the stones next to it count."""
    s = stride(state)
    east, west, north, south = cell + ONE, cell - ONE, cell + s, cell - s
    a, b, c, d = state.chain[east], state.chain[west], state.chain[north], state.chain[south]
    total = share_of(state, cell, east, colour, True)
    total += share_of(state, cell, west, colour, b != a)
    total += share_of(state, cell, north, colour, c != a and c != b)
    return total + share_of(state, cell, south, colour, d != a and d != b and d != c)


@helper
def share_of(state, cell, neighbour, colour, is_first):
    """What a neighbour adds to that word; a chain's own word comes with the first of its stones."""
    content = state.colour[neighbour]
    if content == EMPTY:
        return weight(neighbour)
    if content == OFF:
        return np.int64(0)
    word = state.liberties[state.chain[neighbour]]
    if content == colour:
        return (word if is_first else 0) - weight(cell)
    return weight(neighbour) if only_at(word, cell) else np.int64(0)


@helper
def is_self_atari(state, cell, colour):
    """Whether a stone here, on an empty cell, would have one liberty at most."""
    if empty_neighbours(state.around[cell]) >= 2:
        return False
    word = word_after(state, cell, colour)
    return word == 0 or in_atari(word)


@helper
def is_lonely(state, cell):
    """Whether nothing stands on any of the eight points around a cell; the edge does not matter."""
    s = stride(state)
    for near in (
        cell + ONE, cell - ONE, cell + s, cell - s, cell + s + ONE, cell + s - ONE, cell - s + ONE, cell - s - ONE,
    ):  # fmt: skip
        if state.colour[near] in (BLACK, WHITE):
            return False
    return True


# --- moves -------------------------------------------------------------------------------------------------------------------


@routine
def saving_moves(state, colour):
    """Moves that save own chains which the last move put into atari: run, if that gives two liberties, or capture a neighbour
    that is in atari itself. They are written into `queue`; their number."""
    s = stride(state)
    last = np.uint64(state.last)
    count = 0
    for near in (last + ONE, last - ONE, last + s, last - s):
        head = np.uint64(state.chain[near])
        if state.colour[near] == colour and in_atari(state.liberties[head]):
            run = last_liberty(state.liberties[head])
            if not is_self_atari(state, run, colour) and may_put(state, run, colour):
                count = add_move(state, run, count)
            count = counter_captures(state, head, colour, count)
    return count


@helper
def add_move(state, cell, count):
    """One more move in `queue`, if it is not there yet."""
    for i in range(count):
        if state.queue[i] == cell:
            return count
    state.queue[count] = cell
    return count + 1


@helper
def counter_captures(state, head, colour, count):
    """Moves that capture an enemy chain next to this own one."""
    s = stride(state)
    stone = head
    while True:
        for near in (stone + ONE, stone - ONE, stone + s, stone - s):
            if state.colour[near] == BOTH - colour:
                word = state.liberties[state.chain[near]]
                if in_atari(word):
                    cell = last_liberty(word)
                    if cell != state.ko_cell:
                        count = add_move(state, cell, count)
        stone = np.uint64(state.next[stone])
        if stone == head:
            break
    return count


@routine
def capturing_moves(state, colour):
    """Moves that capture something, into `queue`; their number. Chains that are in atari no more are dropped."""
    count = 0
    i = 0
    while i < state.hot_count:
        head = np.uint64(state.hot[i])
        if not is_hot(state, head):
            state.hot_count -= 1
            state.hot[i] = state.hot[state.hot_count]
            continue
        if state.colour[head] != colour:
            cell = last_liberty(state.liberties[head])
            if cell != state.ko_cell:
                count = add_move(state, cell, count)
        i += 1
    return count


@helper
def second_liberty(state, head, first):
    """Of a chain: its other liberty if there are two in all, NO_CELL if there are more (or it is in atari)."""
    s = stride(state)
    second = np.uint64(NO_CELL)
    stone = head
    while True:
        for near in (stone + ONE, stone - ONE, stone + s, stone - s):
            if state.colour[near] == EMPTY and near != first and near != second:
                if second != NO_CELL:
                    return np.uint64(NO_CELL)
                second = near
        stone = np.uint64(state.next[stone])
        if stone == head:
            break
    return second


@helper
def first_liberty(state, head):
    """Some liberty of a chain."""
    s = stride(state)
    stone = head
    while True:
        for near in (stone + ONE, stone - ONE, stone + s, stone - s):
            if state.colour[near] == EMPTY:
                return near
        stone = np.uint64(state.next[stone])
        if stone == head:
            break
    return np.uint64(NO_CELL)


@routine
def two_liberty_moves(state, colour):
    """Moves around chains at the last move that have two liberties: an own one is given more; an enemy's is put into atari
    from the side on which it cannot run. Into `queue`; their number."""
    s = stride(state)
    last = np.uint64(state.last)
    count = 0
    for near in (last, last + ONE, last - ONE, last + s, last - s):
        content = state.colour[near]
        if content != BLACK and content != WHITE:
            continue
        head = np.uint64(state.chain[near])
        if in_atari(state.liberties[head]):
            continue
        first = first_liberty(state, head)
        second = second_liberty(state, head, first)
        if second == NO_CELL:
            continue
        for cell, other in ((first, second), (second, first)):
            if is_self_atari(state, cell, colour) or not may_put(state, cell, colour):
                continue
            if content == colour:
                if empty_neighbours(state.around[cell]) >= 2:
                    count = add_move(state, cell, count)
            elif cannot_run(state, head, cell, other, BOTH - colour):
                count = add_move(state, cell, count)
    return count


@helper
def cannot_run(state, head, taken, way, colour):
    """Whether a chain that loses its liberty at `taken` is still in atari after running to its other liberty."""
    s = stride(state)
    word = word_after(state, way, colour)
    for near in (taken + ONE, taken - ONE, taken + s, taken - s):
        if state.chain[near] == head or near == way:
            word -= weight(taken)
    return word == 0 or in_atari(word)


@routine
def nakade_move(state, colour):
    """The key point of a small eye space of the enemy at the last move, or NO_CELL."""
    s = stride(state)
    last = np.uint64(state.last)
    for near in (last + ONE, last - ONE, last + s, last - s):
        if state.colour[near] == EMPTY:
            cell = key_point(state, near, colour)
            if cell != NO_CELL and may_put(state, cell, colour):
                return cell
    return np.uint64(NO_CELL)


@helper
def key_point(state, start, colour):
    """Of the empty region of `start`, if only the enemy's stones surround it and one move makes it one eye: where."""
    s = stride(state)
    state.queue[0] = start
    state.mark[start] = 1
    done, count = 0, 1
    is_closed = True
    best, best_degree, inner = np.uint64(NO_CELL), 0, 0
    while done < count and is_closed:
        cell = np.uint64(state.queue[done])
        done += 1
        degree = 0
        for near in (cell + ONE, cell - ONE, cell + s, cell - s):
            content = state.colour[near]
            if content == EMPTY:
                degree += 1
                if state.mark[near] == 0:
                    if count == MOST_NAKADE:
                        is_closed = False
                        break
                    state.mark[near] = 1
                    state.queue[count] = near
                    count += 1
            elif content == colour:
                is_closed = False
        if degree > best_degree:
            best, best_degree = cell, degree
        inner += degree
    for i in range(count):
        state.mark[state.queue[i]] = 0
    if not is_closed or count < 3:
        return np.uint64(NO_CELL)
    # Dead shapes: three in any form; four around one; five around one or bulky; six around one with a square beside it.
    joins = inner // 2
    dead = count == 3 or (count == 4 and best_degree == 3) or (count == 5 and (best_degree == 4 or joins == 5))
    return best if dead or (count == 6 and best_degree == 4 and joins >= 6) else np.uint64(NO_CELL)
