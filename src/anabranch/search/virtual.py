"""Simulations under way: what they count as until they are backed up, so that the next ones go elsewhere.

A search that waits for a batch of evaluations, or that several threads work on, chooses while other simulations are still out.
Every edge on their paths counts them (`pending`), and selection rules see them as visits (`sight`, `look`). Statistics are not
touched: what a simulation that fails leaves behind is one number an edge, which `backup.withdraw` takes
back.
"""

from typing import NamedTuple

import numpy as np

from anabranch.jit import generic, helper
from anabranch.jit.options import Count, Share
from anabranch.search.layout import Off, is_on, slot, total_of


class VirtualLoss(NamedTuple):
    """What a simulation under way counts as: so many visits, all of them lost (loss=1), worth what the edge is worth so far
    (loss=0, a "virtual visit"), or something between."""

    visits: Count = 1
    loss: Share = 1.0


@is_on.register(VirtualLoss)
def _(switch):
    return True


class Crowded(NamedTuple):
    """An edge, simulations under way counted in. Rules read it as they read an edge."""

    visits: int
    total: float  # in the view of who moves, the only one that rules ask for
    prior: float
    action: int


@total_of.register(Crowded)
def _(edge, column):
    return edge.total


@generic
def with_pending(virtual, edge, pending, parent):
    """An edge with `pending` simulations under way, as rules see it."""


@with_pending.register(Off)
def _(virtual, edge, pending, parent):
    return edge


@with_pending.register(VirtualLoss)
def _(virtual, edge, pending, parent):
    total = float(total_of(edge, parent.column))
    if pending == 0:
        return recounted(edge, np.int64(edge.visits), total)
    more = np.int64(pending) * virtual.visits
    value = total / edge.visits if edge.visits > 0 else parent.middle
    lost = parent.middle - parent.unit
    return recounted(edge, edge.visits + more, total + more * (value + virtual.loss * (lost - value)))


@generic(default=True)
def recounted(edge, visits, total):
    """An edge with other counts."""
    return Crowded(visits, total, edge.prior, edge.action)


@generic
def virtual_visits(virtual, pending):
    """How many visits so many simulations under way count as."""


@virtual_visits.register(Off)
def _(virtual, pending):
    return np.int64(0)


@virtual_visits.register(VirtualLoss)
def _(virtual, pending):
    return np.int64(pending) * virtual.visits


@generic
def under_way(graph, number):
    """Simulations that took any of a node's edges and are still out."""


@generic(default=True)
def note_under_way(graph, number, count):
    """Count so many more (or fewer) at the node itself, if that has a place for it."""


@helper
def set_out(graph, number, e, count):
    """So many simulations take this edge of a node."""
    if is_on(graph.virtual):
        graph.edges[slot(e)].pending += count
        note_under_way(graph, number, count)


@helper
def come_back(graph, number, e, count):
    """They are backed up."""
    if is_on(graph.virtual):
        graph.edges[slot(e)].pending -= count
        note_under_way(graph, number, -count)
