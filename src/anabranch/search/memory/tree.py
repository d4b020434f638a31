"""A search tree in memory: one array of slots that hold nodes and edges.

A node is an expanded position; its edges, one per legal action (or chance event), are in the slots after it, so that following
an edge touches one place in memory:

    slots   [node 0][edge][edge][edge][node 4][edge][edge][node 7, the game is over][node 8]...
                      |                  ^
                      +---child = 4------+        child = NO_NODE: a leaf

A leaf has no node: its evaluations are its edge's own visits and total. It gets a node, with edges, when a simulation goes on
from there; a position where the game is over gets one when it is met, with the outcome and no edges. States are not stored: a
simulation copies the root's record and plays the path's actions. Memory is reserved for the whole limit at once and taken from
the system only as it is touched. Next: `loops/tree.py`, which grows this; `reroot.py`, which shrinks it.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import by_pointer, helper
from anabranch.search.memory.layout import (
    COUNTERS,
    LIMIT,
    MOST_SLOTS,
    NO_NODE,
    REFUSED,
    SLOTS,
    Off,
    clear_edge,
    edge_dtype,
    is_undecided,
    own_value,
    padded,
    slot,
)


def node_dtype(width: int) -> np.dtype:
    """A node whose values have `width` numbers; see `rules.value_width`."""
    return padded(
        [
            ("value", "f8", (width,)),  # mean of the position's own evaluations, or the outcome; player 0's or one per player
            ("visits", "i4"),  # simulations that came here: its own evaluations and all visits of its edges
            ("count", "u2"),  # how many edges follow; 0: the game is over here
            ("player", "i1"),  # who moves here, or CHANCE
            ("lock", "u1"),  # see `locks.py`
            ("pending", "i4"),  # simulations under way that took one of its edges
        ],
        8 * width + 16,
    )


@by_pointer
class Tree(NamedTuple):
    """What kernels see of a search tree. `nodes` and `edges` are two views of the same slots."""

    nodes: Any  # slots as node_dtype
    edges: Any  # slots as edge_dtype
    used: Any  # i8: counters, see `layout`
    virtual: Any = Off()  # what simulations under way count as (`select/virtual_loss.py`); Off: there is never more than one
    shared: Any = Off()  # whether several threads use the tree: see `locks.py`


def allocate(width: int, memory: int) -> Tree:
    """An empty tree of at most `memory` bytes."""
    slots = min(memory // node_dtype(width).itemsize, MOST_SLOTS)
    nodes = np.empty(slots, node_dtype(width))
    tree = Tree(nodes, nodes.view(edge_dtype(width)), np.zeros(COUNTERS, np.int64))
    clear(tree)
    return tree


def clear(tree: Tree) -> None:
    """Empty the tree."""
    tree.used[:] = 0
    tree.used[LIMIT] = len(tree.nodes)


def bytes_used(tree: Tree) -> int:
    """The bytes of the slots in use."""
    return int(tree.used[SLOTS]) * tree.nodes.itemsize


@helper
def add_node(tree, player, actions, count):
    """A node with an edge for each of the first `count` actions; its number, or NO_NODE if there is no room."""
    number = tree.used[SLOTS]
    if number + 1 + count > tree.used[LIMIT]:
        tree.used[REFUSED] += 1
        return NO_NODE
    tree.used[SLOTS] = number + 1 + count
    node = tree.nodes[number]
    node.visits = 0
    node.lock = 0
    node.pending = 0
    node.count = count
    node.player = player
    for i in range(len(node.value)):
        node.value[i] = 0.0
    for i in range(count):
        clear_edge(tree.edges[number + 1 + i], actions[i], 1.0 / count)
    return number


@own_value.register(Tree)
def own_value_tree(tree, number, i):
    return tree.nodes[slot(number)].value[i]


@is_undecided.register(Tree)
def is_undecided_tree(tree, number, e, limits):
    return True
