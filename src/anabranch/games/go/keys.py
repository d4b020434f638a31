"""Hashes of a position: of its stones (for superko) and of what the search may share (for graphs). Read first: `layout.py`.

**Stones.** One 128-bit number for each cell and colour, combined by exclusive or. It is made by mixing, not read from a table.

**Graph.** Two games that lead to the same stones are not the same position if one of them stands in the middle of a cycle:
there superko forbids what it allows in the other. So the key of a position is that of its stones, turn, ko and passes alone
only if no short cycle can lead through it: if the last move's chain and the empty cells that it reaches are more than
REPETITION_BOUND, refilling and taking them lasts longer than that. Otherwise the key also depends on the key before it. (This
is KataGo's rule, and its bound.)
"""

import numpy as np

from anabranch.games.go.layout import EMPTY, NO_CELL, ONE, stride
from anabranch.games.go.rulesets import POSITIONAL, SIMPLE, TERRITORY
from anabranch.jit import helper, routine
from anabranch.jit.random import GOLDEN, mix

REPETITION_BOUND = 11  # KataGo's default; it allows 3 to 50
LOW_SALT, HIGH_SALT = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)  # digits of pi: nothing up the sleeve
FOUR = np.uint64(4)
OFFSET = 1 << 20  # makes a balance of moves positive
BUTTON_SHIFT = np.uint64(48)  # above the balance


@helper
def toggle(state, cell, colour):
    """Put a stone into the hash of the stones, or take it out."""
    number = (np.uint64(cell) * FOUR + np.uint64(colour)) * GOLDEN
    state.position[0] ^= mix(number ^ LOW_SALT)
    state.position[1] ^= mix(number ^ HIGH_SALT)


@helper
def start_keys(state):
    """The keys of an empty board."""
    state.position[:] = 0
    state.graph[:] = 0


@helper
def repetition_key(state):
    """What may not come again: the stones; where the rules say so, with whose turn it is. Under simple ko, where it is a draw,
    territory scoring also counts the balance of moves: a cycle that costs one side a prisoner is no repetition. Nor is one in
    which the button was taken."""
    facts = np.uint64(state.button) << BUTTON_SHIFT
    if state.ko != POSITIONAL:
        facts += np.uint64(state.turn) + ONE
    if state.ko == SIMPLE and state.scoring == TERRITORY:
        facts += np.uint64(state.balance + OFFSET) << np.uint64(2)
    return mix(state.position[0] + facts), mix(state.position[1] ^ facts)


@helper
def update_graph_key(state):
    """After a move: the key of the position, with that of the position before where a cycle may lead through it."""
    facts = np.uint64(state.ko_cell) | np.uint64(state.passes) << np.uint64(16) | np.uint64(state.turn) << np.uint64(20)
    facts |= np.uint64(state.balance + OFFSET) << np.uint64(24) | np.uint64(state.button) << BUTTON_SHIFT
    low = mix(state.position[0] + facts)
    high = mix(state.position[1] ^ mix(facts))
    if not is_far_from_repeating(state):
        low = mix(low ^ mix(state.graph[0]))
        high = mix(high + mix(state.graph[1]))
    state.graph[0] = low
    state.graph[1] = high


@routine
def is_far_from_repeating(state):
    """Whether the last move's chain and the empty cells that it reaches are more than REPETITION_BOUND."""
    if state.last == NO_CELL:
        return False
    s = stride(state)
    head = np.uint64(state.chain[state.last])
    if head == NO_CELL:  # the move killed itself
        return False
    count = 0
    stone = head
    while True:  # the stones
        state.queue[count] = stone
        state.mark[stone] = 1
        count += 1
        stone = np.uint64(state.next[stone])
        if stone == head or count > REPETITION_BOUND:
            break
    done = 0
    while done < count and count <= REPETITION_BOUND:
        cell = np.uint64(state.queue[done])
        done += 1
        for neighbour in (cell + ONE, cell - ONE, cell + s, cell - s):
            if state.mark[neighbour] == 0 and state.colour[neighbour] == EMPTY:
                state.mark[neighbour] = 1
                state.queue[count] = neighbour
                count += 1
    for i in range(count):
        state.mark[state.queue[i]] = 0
        state.queue[i] = 0
    return count > REPETITION_BOUND
