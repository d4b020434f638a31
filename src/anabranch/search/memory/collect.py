"""Making room in a search graph: what the root no longer reaches goes first, then, as an option, what was little visited.

Moving the root costs nothing on a graph; memory is collected when it is asked for. `collect` slides what is kept to the front
of the slots, drops forwardings, and fills the table anew. `Forget` also turns little-visited nodes back into leaves: their
value and visits stay, as if they were evaluations of their own, and what was known below them goes.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import generic, helper, kernel
from anabranch.jit.options import Share
from anabranch.search.memory.columns import EMPTY, move_edge, move_node
from anabranch.search.memory.graph import (
    FOLDED,
    Graph,
    after,
    attach,
    child_of,
    numbers,
)
from anabranch.search.memory.layout import (
    FORWARDINGS,
    NO_NODE,
    POSITION_COST,
    POSITIONS,
    ROOM,
    SLOT_COST,
    SLOTS,
    edges_of,
    is_on,
)
from anabranch.search.memory.table import fill_table

__all__ = ["Forget", "Forgettable", "KeepReached", "to_forget"]

KEPT = 0  # a mark, until a node has its new number


class Forgettable(NamedTuple):
    """Nodes that can be turned back into leaves, one number a node: the root reaches them all and is not among them."""

    visits: np.ndarray
    edges: np.ndarray  # how many: so many slots are freed, and more where nothing else leads to what is below
    last_seen: np.ndarray  # the running number of the last simulation that came by; with several threads, 0
    values: np.ndarray  # (nodes, width): what they are worth to player 0, or to each player
    slots: int  # in use, by all nodes and edges


class KeepReached(NamedTuple):
    """Collect only what the root no longer reaches; when all of the memory is reached, go on without new nodes."""


class Forget(NamedTuple):
    """Then also turn nodes back into leaves, those with the fewest visits and the oldest first, until `share` is free."""

    share: Share = 0.5


def collect(graph: Graph, root: int) -> np.ndarray:
    """Keep only what `root` reaches; where each node went, or NO_NODE."""
    new_numbers = np.full(int(graph.used[SLOTS]), NO_NODE, np.int32)
    mark(graph, root, new_numbers, np.empty(int(graph.used[POSITIONS]), np.int32))
    slide(graph, new_numbers)
    return new_numbers


@kernel
def mark(graph, root, marks, stack):
    """Mark all nodes that `root` reaches, and set edges right whose children have moved."""
    marks[root] = KEPT
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        for e in edges_of(graph, stack[top]):
            child = child_of(graph, e)
            if child != NO_NODE and marks[child] != KEPT:
                marks[child] = KEPT
                stack[top] = child
                top += 1


@kernel
def slide(graph, new_numbers):
    """Move marked nodes to the front, in order, let edges follow, and make the table and the links anew."""
    target = 1
    kept = 0
    number = 1
    while number < graph.used[SLOTS]:
        if new_numbers[number] == KEPT:
            new_numbers[number] = target
            target += 2
            if (graph.nodes[number].flags & FOLDED) == 0:
                target += graph.nodes[number].count
            kept += 1
        number = after(graph, number)
    used = graph.used[SLOTS]
    number = 1
    while number < used:
        following = after(graph, number)
        if new_numbers[number] != NO_NODE:
            copy_down(graph, number, new_numbers)
        number = following
    freed = (used - (target - 1)) * graph.used[SLOT_COST]
    graph.used[ROOM] += freed + (graph.used[POSITIONS] - kept) * graph.used[POSITION_COST]
    graph.used[SLOTS] = target - 1
    graph.used[POSITIONS] = kept
    graph.used[FORWARDINGS] = 0
    if is_on(graph.has_links):
        link_all(graph)
    if graph.merge:
        fill_table(graph)


@helper
def copy_down(graph, number, new_numbers):
    """Copy a node with its header and edges to its new place, which is never behind the old one."""
    target = new_numbers[number]
    graph.headers[target - 1] = graph.headers[number - 1]
    graph.nodes[target] = graph.nodes[number]
    node = graph.nodes[target]
    if (node.flags & FOLDED) != 0:
        node.flags &= ~FOLDED
        node.count = 0
    move_node(graph, number, target)
    for i in range(1, 1 + node.count):
        graph.edges[target + i] = graph.edges[number + i]
        child = graph.edges[target + i].child
        if child != NO_NODE:
            graph.edges[target + i].child = new_numbers[child]
        move_edge(graph, number + i, target + i)


@helper
def link_all(graph):
    """Make the lists of edges to each node anew."""
    for i in range(graph.used[SLOTS]):
        graph.heads[i] = EMPTY
    number = 1
    while number < graph.used[SLOTS]:
        for e in edges_of(graph, number):
            child = graph.edges[e].child
            if child != NO_NODE:
                attach(graph, number, np.int64(e), child)
        number = after(graph, number)


@generic
def to_forget(collect, nodes):
    """The indices of those of `nodes`, a `Forgettable`, that are turned back into leaves; none: the search goes on without new
    nodes. What a node is worth and its visits stay, what was known below it goes.

    Plain Python, called between simulations, when memory is full and the root reaches all that is in it. Nothing that it is
    handed may be changed."""


@to_forget.register(KeepReached)
def to_forget_keep_reached(collect, nodes):
    return ()


@to_forget.register(Forget)
def to_forget_forget(collect, nodes):
    order = np.lexsort((nodes.last_seen, nodes.visits))
    freed = np.cumsum(nodes.edges[order])
    return order[: int(np.searchsorted(freed, collect.share * nodes.slots)) + 1]


@generic(default=True)
def forgets(collect):
    """Whether `to_forget` may give any node."""
    return True


@forgets.register(KeepReached)
def forgets_keep_reached(collect):
    return False


def forget(option: Any, graph: Graph, root: int) -> np.ndarray | None:
    """Turn the nodes that `to_forget` gives back into leaves, and collect; where each node went, or NO_NODE. None if it gives
    none."""
    known = numbers(graph)
    known = known[(graph.nodes["count"][known] > 0) & (known != root)]
    nodes = Forgettable(
        visits=graph.nodes["visits"][known],
        edges=graph.nodes["count"][known].astype(np.int64),
        last_seen=graph.nodes["last_simulation"][known],
        values=graph.nodes["mean"][known],
        slots=int(graph.used[SLOTS]),
    )
    chosen = np.asarray(to_forget(option, nodes), np.int64)
    if len(chosen) == 0:
        return None
    fold(graph, known[chosen])
    return collect(graph, root)


@kernel
def fold(graph, numbers):
    """Make these nodes leaves again; what they are worth and their visits stay. The slots of their edges are kept as a node's
    own until the graph is collected, which must follow."""
    for k in range(len(numbers)):
        number = numbers[k]
        node = graph.nodes[number]
        node.own = node.visits
        for i in range(len(node.mean)):
            graph.headers[number - 1].value[i] = node.mean[i]
        for e in edges_of(graph, number):
            graph.edges[e].child = NO_NODE
        node.flags |= FOLDED
