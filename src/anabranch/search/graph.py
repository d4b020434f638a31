"""The search graph in memory: one array of slots that hold nodes and edges.

A node is a position that the search goes on from; its edges, one a legal action (or one a chance event), stand in the
slots behind it, so that following an edge touches one place in memory:

    slots   [node 0][edge][edge][edge][node 4][edge][edge][node 7, the game is over][node 8]...
                      |                  ^
                      +---child = 4------+        child = NO_NODE: a leaf

A leaf has no node: its evaluations are its edge's own visits and total. It gets a node, with edges, when a simulation wants
to go on from there (or at once, if the evaluator gave priors, which must be kept); a position where the game is over gets one
when it is met, with the outcome and no edges. The statistic of truth is the edge visit. States are not stored: a simulation
copies the root's record and plays down. Memory is reserved for the whole limit at once and taken from the system only as it
is touched. Next: `simulate.py`, which grows this; `reuse.py`, which shrinks it.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import helper

NO_NODE = -1

SLOTS, POSITIONS, EVALUATIONS, REFUSED = range(4)  # what Graph.used counts
MOST_SLOTS = 2**31 - 1  # their numbers are i4
MOST_ACTIONS = 2**16  # an edge's action is a u2


def node_dtype(width: int) -> np.dtype:
    """A node whose values have `width` numbers; see `rules.value_width`."""
    return _padded(
        [
            ("value", "f8", (width,)),  # mean of the position's own evaluations, or the outcome; player 0's or one a player
            ("visits", "i4"),  # simulations that came here: its own evaluations and all visits of its edges
            ("count", "u2"),  # how many edges follow; 0: the game is over here
            ("player", "i1"),  # who moves here, or CHANCE
        ],
        width,
    )


def edge_dtype(width: int) -> np.dtype:
    """An edge whose totals have `width` numbers."""
    return _padded(
        [
            ("total", "f8", (width,)),  # of what followed, reward included; width 1: in the view of who moves at the node
            ("visits", "i4"),  # times this edge was chosen at its node
            ("child", "i4"),  # number of the node that it leads to, or NO_NODE
            ("prior", "f4"),  # the evaluator's probability of this action; of the event, at chance
            ("action", "u2"),  # or chance event
        ],
        width,
    )


def _padded(fields: list[Any], width: int) -> np.dtype:
    """The fields as an aligned record of a slot's size."""
    dtype = np.dtype(fields, align=True)
    size = 8 * width + 16
    assert dtype.itemsize <= size and dtype.fields
    offsets = [dtype.fields[name][1] for name in dtype.names or ()]
    formats = [dtype.fields[name][0] for name in dtype.names or ()]
    layout: Any = {"names": dtype.names, "formats": formats, "offsets": offsets, "itemsize": size, "aligned": True}
    return np.dtype(layout)


class Graph(NamedTuple):
    """What kernels see of a search graph. `nodes` and `edges` are two views of the same slots."""

    nodes: Any  # slots as node_dtype
    edges: Any  # slots as edge_dtype
    used: Any  # i8: SLOTS; POSITIONS in the tree, leaves included; EVALUATIONS; REFUSED: wishes for slots that found no room


def allocate(width: int, memory: int) -> Graph:
    """An empty graph of at most `memory` bytes."""
    slots = min(memory // node_dtype(width).itemsize, MOST_SLOTS)
    nodes = np.empty(slots, node_dtype(width))
    return Graph(nodes, nodes.view(edge_dtype(width)), np.zeros(4, np.int64))


def bytes_used(graph: Graph) -> int:
    """Slots used times their size."""
    return int(graph.used[SLOTS]) * graph.nodes.itemsize


@helper
def add_node(graph, player, actions, count):
    """A node with an edge for each of the first `count` actions; its number, or NO_NODE if there is no room."""
    number = graph.used[SLOTS]
    if number + 1 + count > len(graph.nodes):
        graph.used[REFUSED] += 1
        return NO_NODE
    graph.used[SLOTS] = number + 1 + count
    node = graph.nodes[number]
    node.visits = 0
    node.count = count
    node.player = player
    for i in range(len(node.value)):
        node.value[i] = 0.0
    for i in range(count):
        edge = graph.edges[number + 1 + i]
        edge.action = actions[i]
        edge.visits = 0
        edge.child = NO_NODE
        edge.prior = 1.0 / count
        for j in range(len(edge.total)):
            edge.total[j] = 0.0
    return number


@helper
def slot(number):
    """A slot's number as an unsigned index: kernels then need not ask whether it counts from the end."""
    return np.uint64(number)


@helper
def edges_of(graph, number):
    """The numbers of a node's edges."""
    first = slot(number + 1)
    return range(first, first + slot(graph.nodes[slot(number)].count))


@helper
def view(width, player):
    """-1 where an edge's single total is not in player 0's view: at player 1's nodes of a two-player zero-sum game."""
    return -1.0 if width == 1 and player == 1 else 1.0


@helper
def column_of(width, player):
    """Which of an edge's totals belongs to the player who moves."""
    return player if width > 1 else 0
