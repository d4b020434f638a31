"""What the two memory layouts of a search share: the edge, whose view values are in, how a node's edges are found.

    tree.py    compact, leaves without nodes: for trees that kernels grow alone
    graph.py   one node per position, found by its key: for graphs, proofs, and evaluators in Python

Both are arrays of slots, in which a node's edges follow it. Selection, backup and reading work on both: a node has `visits`,
`count` and `player`, an edge the fields below, and `own_value` and `is_open` are generic. Next: `tree.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import generic, helper
from anabranch.jit.dispatch import quiet

F4 = np.float32
NO_NODE = -1


# What `used` of both layouts counts.
POSITIONS = 0  # in memory, leaves included
EVALUATED = 1
REFUSED = 2  # allocations that failed for lack of room
MERGES = 3  # edges that led to a position which another edge had already reached; graphs only
SLOTS = 4
ROOM = 5  # bytes that a graph may still take
TABLE = 6  # slots of a graph's table
SIMULATION = 7  # the running number of a graph's simulations
FORWARDINGS = 8  # that nodes of a graph left behind when they moved
SLOT_COST, POSITION_COST = 9, 10  # bytes that one takes of a graph's room, side arrays included
PLANNED = 11  # simulations that a graph's `plan` was made for
LIMIT = 12  # slots from here on must not be used: the end of memory, or of a thread's share
END = 13  # of a thread's share, 0 without one: LIMIT and the two slots after it that `threads.seal` needs
SPARE = 14  # of a thread's share: no simulation starts with fewer slots left; 0: no such limit
COUNTERS = 15
MOST_SLOTS = 2**31 - 1  # their numbers are i4
ACTION_CODES = 2**16  # an edge's action is a u2
MOST_ACTIONS = ACTION_CODES - 1  # so is the number of a node's edges
MOST_VISITS = 2**31 - 2**20  # they are i4; the rest is for what is under way
MOST_PENDING = 2**15 - 1  # simulations under way that a search allows: an edge's `pending` is a u2


class On(NamedTuple):
    """A feature that a search uses. A type, so that kernels without the feature have no code for it."""


class Off(NamedTuple):
    """A feature that a search does not use."""


quiet.update((On, Off))


@generic(default=True)
def is_on(switch):
    """Whether a feature is used, which is so for anything but `Off`: some switches are options that also say how. A
    compile-time constant."""
    return True


@is_on.register(Off)
def is_on_off(switch):
    return False


def edge_dtype(width: int) -> np.dtype:
    """An edge whose totals have `width` numbers; see `rules.value_width`."""
    return padded(
        [
            ("total", "f8", (width,)),  # of its values, rewards included; width 1: in the view of the player to move
            ("visits", "i4"),  # times this edge was chosen at its node
            ("child", "i4"),  # number of the node that it leads to, or NO_NODE
            ("prior", "f4"),  # the evaluator's probability of this action; of the event, at chance
            ("action", "u2"),  # or chance event
            ("pending", "u2"),  # simulations under way that took this edge: see `select/virtual_loss.py`
        ],
        8 * width + 16,
    )


def padded(fields: list[Any], size: int, same: dict[str, str] | None = None) -> np.dtype:
    """The fields as an aligned record of this size; `same`: aliases of a field, for values never needed at the same time."""
    dtype = np.dtype(fields, align=True)
    assert dtype.itemsize <= size and dtype.fields
    offsets = [dtype.fields[name][1] for name in dtype.names or ()]
    formats = [dtype.fields[name][0] for name in dtype.names or ()]
    names = list(dtype.names or ())
    for name, other in (same or {}).items():
        names.append(name)
        formats.append(dtype.fields[other][0])
        offsets.append(dtype.fields[other][1])
    layout: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": size, "aligned": True}
    return np.dtype(layout)


@helper
def edges_of(graph, number):
    """The numbers of a node's edges: they follow it."""
    first = slot(number + 1)
    return range(first, first + slot(graph.nodes[slot(number)].count))


@generic
def own_value(graph, number, i):
    """The mean of a node's own evaluations, player 0's or column `i`."""


@helper
def is_short(graph):
    """Whether a thread's share of the slots may not suffice for what comes next."""
    return graph.used[LIMIT] - graph.used[SLOTS] < graph.used[SPARE]


@helper
def width_of(graph):
    """How many numbers a value has; a compile-time constant."""
    return len(graph.edges[0].total)


@helper
def is_open(graph, number, e, limits):
    """Whether the edge may be followed: not once proofs have settled it, nor where the search is restricted to others."""
    return (not limits.some or limits.allowed[graph.edges[e].action]) and is_undecided(graph, number, e, limits)


@generic
def is_undecided(graph, number, e, limits):
    """Whether an edge is still worth following: not once proofs have settled it."""


@helper
def slot(number):
    """A slot's number as an unsigned index: kernels then need not check for negative indices."""
    return np.uint64(number)


@helper
def clear_edge(edge, action, prior):
    """Initialise a new edge."""
    edge.action = action
    edge.visits = 0
    edge.pending = 0
    edge.child = NO_NODE
    edge.prior = prior
    for i in range(len(edge.total)):
        edge.total[i] = 0.0


@helper
def sign_of(width, player):
    """-1 where an edge's single total is not in player 0's view: at player 1's nodes of a two-player zero-sum game."""
    return -1.0 if width == 1 and player == 1 else 1.0


@helper
def column_of(width, player):
    """Which of an edge's totals belongs to the player to move."""
    return player if width > 1 else 0
