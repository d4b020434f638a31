"""Keeping the part of a search tree that is still needed when its root moves.

What the new root no longer reaches is waste: `compact` moves what it does reach to the front of the slots. With one thread a
node's number is larger than its parent's, so one pass from the front finds what is reached; with several threads it takes a few
passes. The last pass moves it, in place.
"""

import numpy as np

from anabranch.jit import helper, kernel
from anabranch.search.memory.layout import NO_NODE, POSITIONS, SLOTS, edges_of
from anabranch.search.memory.tree import Tree


@kernel
def compact(graph, root, new_numbers):
    """Keep only what `root` reaches; `new_numbers`, all NO_NODE before, receives the nodes' new numbers."""
    used = graph.used[SLOTS]
    new_numbers[root] = 0
    while mark_reached(graph, used, new_numbers):
        pass
    target = 0
    positions = 1
    number = 0
    while number < used:
        count = graph.nodes[number].count
        if new_numbers[number] != NO_NODE:
            new_numbers[number] = target
            target += 1 + count
            for e in edges_of(graph, number):
                if graph.edges[e].visits > 0:
                    positions += 1
        number += 1 + count
    number = 0
    while number < used:
        count = graph.nodes[number].count
        if new_numbers[number] != NO_NODE:
            move(graph, number, new_numbers)
        number += 1 + count
    graph.used[SLOTS] = target
    graph.used[POSITIONS] = positions


@helper
def mark_reached(graph, used, new_numbers):
    """Mark the children of marked nodes, from the front; returns whether one came before its parent, so that another pass is
    needed for its own children."""
    again = False
    number = 0
    while number < used:
        if new_numbers[number] != NO_NODE:
            for e in edges_of(graph, number):
                child = graph.edges[e].child
                if child != NO_NODE and new_numbers[child] == NO_NODE:
                    new_numbers[child] = 0
                    again = again or child < number
        number += 1 + graph.nodes[number].count
    return again


@helper
def move(graph, number, new_numbers):
    """Copy a node and its edges to their new place, which is never after the old one, and renumber the children."""
    target = new_numbers[number]
    count = graph.nodes[number].count
    graph.nodes[target] = graph.nodes[number]
    for i in range(1, 1 + count):
        graph.edges[target + i] = graph.edges[number + i]
        child = graph.edges[target + i].child
        if child != NO_NODE:
            graph.edges[target + i].child = new_numbers[child]


def reroot(graph: Tree, root: int) -> np.ndarray:
    """Compact the tree around its new root; returns each node's new number, or NO_NODE."""
    new_numbers = np.full(int(graph.used[SLOTS]), NO_NODE, np.int32)
    compact(graph, root, new_numbers)
    return new_numbers
