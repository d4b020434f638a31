"""Garbage collection in a search graph: first what the root no longer reaches, then, as an option, nodes with few visits.

Moving the root costs nothing on a graph; memory is collected only when it runs out. `collect` compacts what is kept to the
front of the slots, drops forwardings, and rebuilds the table. `Forget` also turns nodes with few visits back into leaves: their
value and visits stay, as if they were their own evaluations, and what was below them is dropped.
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
    bare,
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
    """Nodes that can be turned back into leaves, one entry per node: the root reaches them all and is not among them."""

    visits: np.ndarray
    edges: np.ndarray  # how many: so many slots are freed, and more where nothing else leads to the nodes below
    last_seen: np.ndarray  # the number of the last simulation that visited the node; with several threads, 0
    values: np.ndarray  # (nodes, width): values for player 0, or for each player
    slots: int  # in use, by all nodes and edges


class KeepReached(NamedTuple):
    """Collect only what the root no longer reaches; if that frees nothing, go on without new nodes."""


class Forget(NamedTuple):
    """Also turn nodes back into leaves, those with the fewest visits and the oldest first, until `share` is free."""

    share: Share = 0.5


def collect(graph: Graph, root: int) -> np.ndarray:
    """Keep only what `root` reaches; returns each node's new number, or NO_NODE."""
    new_numbers = np.full(int(graph.used[SLOTS]), NO_NODE, np.int32)
    mark(bare(graph), root, new_numbers, np.empty(int(graph.used[POSITIONS]), np.int32))
    slide(graph, new_numbers)
    return new_numbers


@kernel
def mark(graph, root, marks, stack):
    """In a bare graph, mark all nodes that `root` reaches, and update edges whose children have moved."""
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
    """Move marked nodes to the front, in order, update edges, and rebuild the table and the links."""
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
    """Rebuild the lists of edges to each node."""
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
    """The indices of those of `nodes`, a `Forgettable`, to turn back into leaves; if there are none, the search goes on without
    new nodes. A node's value and visits stay; what is below it is dropped.

    Plain Python, called between simulations, when memory is full and the root reaches everything in it. It must not change its
    arguments."""


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
    """Whether `to_forget` may return any node."""
    return True


@forgets.register(KeepReached)
def forgets_keep_reached(collect):
    return False


def forget(option: Any, graph: Graph, root: int) -> np.ndarray | None:
    """Turn the nodes that `to_forget` returns back into leaves, and collect; returns each node's new number, or NO_NODE. None
    if there are no such nodes."""
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
    fold(bare(graph), known[chosen])
    return collect(graph, root)


@kernel
def fold(graph, numbers):
    """In a bare graph, turn these nodes back into leaves; their values and visits stay. The slots of their edges still belong
    to them until the graph is collected, which must follow."""
    for k in range(len(numbers)):
        number = numbers[k]
        node = graph.nodes[number]
        node.own = node.visits
        for i in range(len(node.mean)):
            graph.headers[number - 1].value[i] = node.mean[i]
        for e in edges_of(graph, number):
            graph.edges[e].child = NO_NODE
        node.flags |= FOLDED
