"""Virtual loss: what simulations under way count as until they are backed up, so that the next ones go elsewhere.

A search that waits for a batch of evaluations, or that runs in several threads, selects while other simulations are under way.
Every edge on their paths counts them (`pending`), and selection rules see them as visits (`edge_view`, `parent_view`).
The stored statistics are unchanged: a simulation that fails leaves only its `pending` counts, which `path.withdraw` reverts.
"""

from typing import NamedTuple

import numpy as np

from anabranch.jit import generic, helper
from anabranch.jit.options import Count, Share
from anabranch.search.memory.graph import Graph
from anabranch.search.memory.layout import Off, edges_of, is_on, slot
from anabranch.search.memory.tree import Tree
from anabranch.search.select.edge_view import AmafEdge, idle_edge_view, total_of

__all__ = ["VirtualLoss", "virtual_value", "virtual_visits"]


class VirtualLoss(NamedTuple):
    """What a simulation under way counts as: so many visits, all of them lost (loss=1), with the edge's value so far
    (loss=0, a "virtual visit"), or something in between."""

    visits: Count = 1
    loss: Share = 1.0


class PendingEdge(NamedTuple):
    """An edge with simulations under way included. Rules read it as they read an edge."""

    visits: int
    total: float  # in the view of the player to move, the only one that rules read
    prior: float
    action: int


@total_of.register(PendingEdge)
def total_of_pending_edge(edge, column):
    return edge.total


@generic
def virtual_value(virtual, value, parent):
    """The value of each virtual visit, until the simulation under way is backed up.

    `value` is the edge's value so far, or the middle of the range if it has no visits. Both are for the player to move,
    in units of the game's returns, which lie from `parent.middle` - `parent.unit` to `parent.middle` + `parent.unit`."""


@virtual_value.register(VirtualLoss)
def virtual_value_virtual_loss(virtual, value, parent):
    lost = parent.middle - parent.unit
    return value + virtual.loss * (lost - value)


@generic(default=True)
def virtual_visits(virtual, pending):
    """How many visits `pending` simulations under way count as, at an edge or a node: an integer, by default one each."""
    return np.int64(pending)


@virtual_visits.register(Off)
def virtual_visits_off(virtual, pending):
    return np.int64(0)


@virtual_visits.register(VirtualLoss)
def virtual_visits_virtual_loss(virtual, pending):
    return np.int64(pending) * virtual.visits


@generic(default=True)
def with_pending(virtual, edge, pending, parent):
    """An edge with `pending` simulations under way, as rules see it."""
    total = float(total_of(edge, parent.column))
    if pending == 0:
        return recounted(edge, np.int64(edge.visits), total)
    more = virtual_visits(virtual, pending)
    value = total / edge.visits if edge.visits > 0 else parent.middle
    return recounted(edge, edge.visits + more, total + more * virtual_value(virtual, value, parent))


@with_pending.register(Off)
def with_pending_off(virtual, edge, pending, parent):
    return edge


@generic(default=True)
def recounted(edge, visits, total):
    """An edge with other counts."""
    return PendingEdge(visits, total, edge.prior, edge.action)


@generic
def under_way(graph, number):
    """The number of simulations under way through any of a node's edges."""


@under_way.register(Tree)
def under_way_tree(tree, number):
    return np.int64(tree.nodes[slot(number)].pending)


@generic(default=True)
def note_under_way(graph, number, count):
    """Count so many more (or fewer) at the node itself, if it has a field for it."""


@note_under_way.register(Tree)
def note_under_way_tree(tree, number, count):
    tree.nodes[slot(number)].pending += count


@helper
def set_out(graph, number, e, count):
    """Count so many simulations as under way through this edge of a node."""
    if is_on(graph.virtual):
        graph.edges[slot(e)].pending += count
        note_under_way(graph, number, count)


@helper
def come_back(graph, number, e, count):
    """Stop counting so many simulations as under way."""
    if is_on(graph.virtual):
        graph.edges[slot(e)].pending -= count
        note_under_way(graph, number, -count)


@generic
def edge_view(graph, e, parent):
    """An edge as selection rules see it: `visits`, `total`, `prior`, and on graphs with AMAF values also the fields of
    `edge_view.AmafEdge`."""


@edge_view.register(Tree)
def edge_view_tree(tree, e, parent):
    return with_pending(tree.virtual, idle_edge_view(tree, e, parent), tree.edges[e].pending, parent)


@recounted.register(AmafEdge)
def recounted_amaf_edge(edge, visits, total):
    return AmafEdge(visits, total, edge.prior, edge.action, edge.hint, edge.amaf_visits, edge.amaf_total)


@edge_view.register(Graph)
def edge_view_graph(graph, e, parent):
    return with_pending(graph.virtual, idle_edge_view(graph, e, parent), graph.edges[e].pending, parent)


@under_way.register(Graph)
def under_way_graph(graph, number):
    if is_on(graph.shared):
        return np.int64(graph.nodes[slot(number)].under_way)
    pending = np.int64(0)
    if is_on(graph.virtual):
        for e in edges_of(graph, number):
            pending += graph.edges[e].pending
    return pending


@note_under_way.register(Graph)
def note_under_way_graph(graph, number, count):
    if is_on(graph.shared):
        graph.nodes[slot(number)].under_way += count
