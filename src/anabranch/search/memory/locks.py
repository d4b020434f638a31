"""Node locks, for threads that search one tree or graph.

A node's lock guards the node and its edges, so that a value and its count are never read torn. It is held while an edge is
chosen, and for one step of a backup. A thread that holds one takes another only further down, so there is no deadlock. With one
thread (`shared` is Off) none of this is compiled.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import generic, helper
from anabranch.jit.atomics import compare_and_swap, give_way, load, store
from anabranch.search.memory.graph import LOCKED, MOVED, Graph
from anabranch.search.memory.layout import FORWARDINGS, NO_NODE, POSITIONS, is_on, slot
from anabranch.search.memory.table import enter, find
from anabranch.search.memory.tree import Tree

UNTAKEN, TAKEN = np.uint8(0), np.uint8(1)
UNLOCKED = np.uint8(255) - LOCKED
TABLE_LOCK = np.dtype([("lock", "u1")], align=True)
PATIENCE = 200  # spins on a lock before the thread yields its core


class Threads(NamedTuple):
    """Several threads share the memory."""

    table: Any  # a separate lock for a graph's table: an array of one TABLE_LOCK


@helper
def wait(tries):
    """Spin; after a while, yield to another thread, since the holder of the lock may be waiting for a core."""
    if tries >= PATIENCE:
        give_way()
        return 0
    return tries + 1


@generic
def lock(graph, number):
    """Wait until no other thread holds this node's lock, and take it."""


@lock.register(Tree)
def lock_tree(graph, number):
    if is_on(graph.shared):
        tries = 0
        while load(graph.nodes, slot(number), "lock") != UNTAKEN or not compare_and_swap(
            graph.nodes, slot(number), "lock", UNTAKEN, TAKEN
        ):
            tries = wait(tries)


@generic
def unlock(graph, number):
    """Release this node's lock."""


@unlock.register(Tree)
def unlock_tree(graph, number):
    if is_on(graph.shared):
        store(graph.nodes, slot(number), "lock", UNTAKEN)


@lock.register(Graph)
def lock_graph(graph, number):
    if is_on(graph.shared):
        tries = 0
        while True:
            flags = load(graph.nodes, slot(number), "flags")
            if (flags & LOCKED) == 0 and compare_and_swap(graph.nodes, slot(number), "flags", flags, flags | LOCKED):
                break
            tries = wait(tries)


@unlock.register(Graph)
def unlock_graph(graph, number):
    if is_on(graph.shared):
        store(graph.nodes, slot(number), "flags", load(graph.nodes, slot(number), "flags") & UNLOCKED)


@helper
def lock_in_place(graph, number):
    """Lock a node of a graph; returns its current number, since another thread may have moved it."""
    lock(graph, number)
    if is_on(graph.shared):
        while (graph.nodes[slot(number)].flags & MOVED) != 0:
            target = np.int64(graph.nodes[slot(number)].moved_to)
            unlock(graph, number)
            number = target
            lock(graph, number)
    return number


@helper
def publish(graph, number):
    """Enter a new, complete node into the table, so that other paths find it; returns its number, or that of the node that
    another thread has created for the same position meanwhile."""
    if graph.merge:
        if is_on(graph.shared):
            return publish_or_yield(graph.shared, graph, number)
        enter(graph, number)
    return np.int64(number)


@generic(default=True)
def publish_or_yield(shared, graph, number):
    """The same with several threads."""
    return np.int64(number)


@publish_or_yield.register(Threads)
def publish_or_yield_threads(shared, graph, number):
    key = graph.headers[slot(number - 1)].key
    tries = 0
    while not compare_and_swap(shared.table, 0, "lock", UNTAKEN, TAKEN):
        tries = wait(tries)
    other = find(graph, key[0], key[1])
    if other == NO_NODE:
        enter(graph, number)
    store(shared.table, 0, "lock", UNTAKEN)
    if other == NO_NODE:
        return np.int64(number)
    node = graph.nodes[slot(number)]
    node.moved_to = other
    node.flags = MOVED
    graph.used[FORWARDINGS] += 1
    graph.used[POSITIONS] -= 1
    return np.int64(other)
