"""The transposition table of a search graph: from a position's key to its node.

Open addressing; a slot holds 32 bits of the key's hash and the node's number. The table doubles when it is three quarters full.
"""

import numpy as np

from anabranch.jit import helper, kernel, routine
from anabranch.jit.random import GOLDEN, mix
from anabranch.search.memory.graph import FREE, MOVED, after
from anabranch.search.memory.layout import NO_NODE, POSITIONS, SLOTS, TABLE, is_on, slot

S32, NUMBER = np.uint64(32), np.uint64(2**32 - 1)  # a slot: the upper half of the key's hash, and the node's number


# --- the table ---------------------------------------------------------------------------------------------------------------


@helper
def hashed(low, high):
    """64 bits of a key. Keys may be anything (a board's bits), so they are mixed."""
    return mix(low + high * GOLDEN)


@helper
def where(graph, low, high):
    """The slot of the table that has the position with this key, or the free one where it belongs."""
    bits = hashed(low, high)
    last = np.uint64(graph.used[TABLE] - 1)
    i = bits & last
    while graph.table[i] != FREE:
        if (graph.table[i] >> S32) == (bits >> S32):
            key = graph.headers[(graph.table[i] & NUMBER) - np.uint64(1)].key
            if key[0] == low and key[1] == high:
                break
        i = (i + np.uint64(1)) & last
    return i


@helper
def find(graph, low, high):
    """The node of the position with this key, or NO_NODE. The table may still lead to a forwarding slot: updating it when a
    node moves would cost a cache miss, and few entries are looked up again."""
    found = graph.table[where(graph, low, high)]
    if found == FREE:
        return np.int64(NO_NODE)
    number = np.int64(found & NUMBER)
    node = graph.nodes[slot(number)]
    return np.int64(node.moved_to) if (node.flags & MOVED) != 0 else number


@helper
def enter(graph, number):
    """Put a new node into the table, which doubles when it is three quarters full (but not while other threads use it)."""
    if not is_on(graph.shared) and 4 * graph.used[POSITIONS] > 3 * graph.used[TABLE]:
        graph.used[TABLE] *= 2
        fill_table(graph)
    else:
        place(graph, number)


@routine
def fill_table(graph):
    """Clear the table and enter all nodes again."""
    for i in range(graph.used[TABLE]):
        graph.table[i] = FREE
    number = 1
    while number < graph.used[SLOTS]:
        if (graph.nodes[number].flags & MOVED) == 0:
            place(graph, number)
        number = after(graph, number)


@helper
def place(graph, number):
    """Put a node that is not there yet into the table."""
    key = graph.headers[slot(number - 1)].key
    bits = hashed(key[0], key[1])
    last = np.uint64(graph.used[TABLE] - 1)
    i = bits & last
    while graph.table[i] != FREE:
        i = (i + np.uint64(1)) & last
    graph.table[i] = (bits >> S32 << S32) | slot(number)


@kernel
def double_table(graph):
    """Make the table of a bare graph twice as large."""
    graph.used[TABLE] *= 2
    fill_table(graph)


@kernel
def look_up(graph, low, high):
    """In a bare graph, the node of the position with this key, or NO_NODE."""
    return find(graph, low, high)
