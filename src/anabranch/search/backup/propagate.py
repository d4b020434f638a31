"""Stale values: how far a change propagates beyond the path of its simulation, and how to bring a graph to a fixed point.

A simulation updates the nodes of its path. Other parents of those nodes are updated when they are next visited; until then
their values are stale. That is sound (they are visited again and again), but a value that is shared late helps late. The
options of `GraphOptions(stale=...)`:

    PathOnly    nothing more (default)
    Parents     the other parents of every node on the path, too
    Ancestors   everything above the leaf, children before parents: nothing is ever stale
    Sweeping    a background thread that sweeps the whole graph again and again

`sweep` does one such sweep; `measure` says how stale a graph is.
"""

from typing import NamedTuple

import numpy as np

from anabranch.jit import generic, helper, kernel, routine
from anabranch.jit.options import NonNegative
from anabranch.search.backup.graph_update import renew, stays_on_path
from anabranch.search.memory.columns import EMPTY
from anabranch.search.memory.graph import NEXT, SOURCE, Graph, bare, child_of, current_simulation
from anabranch.search.memory.layout import NO_NODE, SLOTS, slot

__all__ = [
    "Ancestors",
    "Parents",
    "PathOnly",
    "Staleness",
    "Sweeping",
    "follows_links",
    "needs_ancestry",
    "renew_ancestors",
    "renew_one",
    "renew_parents",
    "spread",
    "sweep_pause",
]

QUEUE, ORDER, NEED, SEEN = range(4)  # rows of `Work.ancestry`
REST = 1e-13  # a sweep is done when no value changes by more
MOST_PASSES = 10_000  # of one sweep; a graph without cycles takes two, the second to see that nothing changes


class PathOnly(NamedTuple):
    """Update the nodes of a simulation's path."""


class Parents(NamedTuple):
    """Update the other parents of these nodes as well."""


class Ancestors(NamedTuple):
    """Update everything above the leaf, children before parents."""


class Sweeping(NamedTuple):
    """Update the path, and sweep the whole graph in a background thread. Results then depend on timing."""

    pause: NonNegative = 0.001  # seconds between two sweeps


class Staleness(NamedTuple):
    """How far nodes are from the values their children imply, in units of the game's returns."""

    largest: float
    mean: float


@generic
def spread(stale, operator, graph, depth, limits, work):
    """Propagate what a simulation changed to nodes off its path, after the nodes of the path were updated.

    The path is `work.path_nodes[d]` and `work.path_edges[d]`, d from 0, the root, to `depth` - 1; the last edge leads to
    `child_of(graph, work.path_edges[depth - 1])`, or NO_NODE. `renew_parents` and `renew_ancestors` update the nodes above
    another one, `renew_one` a single node. Nodes off the path are not locked, so this is for one thread only."""


@spread.register(PathOnly, Sweeping)
def spread_path_only(stale, operator, graph, depth, limits, work):
    pass


@spread.register(Parents)
def spread_parents(stale, operator, graph, depth, limits, work):
    leaf = child_of(graph, work.path_edges[depth - 1])
    if leaf != NO_NODE:
        renew_parents(operator, graph, leaf, limits, work)
    for d in range(depth - 1, 0, -1):
        renew_parents(operator, graph, work.path_nodes[d], limits, work)


@spread.register(Ancestors)
def spread_ancestors(stale, operator, graph, depth, limits, work):
    leaf = child_of(graph, work.path_edges[depth - 1])
    if leaf != NO_NODE:
        renew_ancestors(operator, graph, leaf, limits, work)


@stays_on_path.register(PathOnly)
def stays_on_path_path_only(stale):
    return True


@generic(default=True)
def follows_links(stale):
    """Whether `spread` goes from nodes to their parents, which requires linked lists of edges (`Graph.links`)."""
    return True


@follows_links.register(PathOnly, Sweeping)
def follows_links_path_only(stale):
    return False


@generic(default=True)
def needs_ancestry(stale):
    """Whether `spread` calls `renew_ancestors`, which needs scratch memory (`Work.ancestry`)."""
    return False


@needs_ancestry.register(Ancestors)
def needs_ancestry_ancestors(stale):
    return True


@generic(default=True)
def sweep_pause(stale):
    """Seconds between two sweeps of the background thread, or None if there is no such thread."""
    return None


@sweep_pause.register(Sweeping)
def sweep_pause_sweeping(stale):
    return stale.pause


@routine
def renew_one(operator, graph, number, limits, work):
    """`renew` as a separate function, since it is called from several places. A cached node (`memory/cached_evaluations.py`),
    which has no visits, keeps its evaluation until it is visited."""
    if graph.nodes[slot(number)].visits > 0:
        renew(operator, graph, number, limits, work)


@helper
def renew_parents(operator, graph, number, limits, work):
    """Update the parents of a node, except those on the path."""
    e = graph.heads[slot(number)]
    while e != EMPTY:
        parent = graph.links[slot(e), SOURCE]
        if graph.nodes[slot(parent)].last_simulation != current_simulation(graph):
            renew_one(operator, graph, parent, limits, work)
        e = graph.links[slot(e), NEXT]


@helper
def renew_ancestors(operator, graph, leaf, limits, work):
    """Update all ancestors of a node, each after those of its children that are ancestors too."""
    queue, order, need, seen = work.ancestry[QUEUE], work.ancestry[ORDER], work.ancestry[NEED], work.ancestry[SEEN]
    now = current_simulation(graph)
    found = 1
    queue[0] = leaf
    seen[leaf] = now
    need[leaf] = 0
    i = 0
    while i < found:  # the ancestors, and how many children each of them has to wait for
        e = graph.heads[slot(queue[i])]
        while e != EMPTY:
            parent = graph.links[slot(e), SOURCE]
            if seen[parent] != now:
                seen[parent] = now
                need[parent] = 0
                queue[found] = parent
                found += 1
            need[parent] += 1
            e = graph.links[slot(e), NEXT]
        i += 1
    ready = 1
    order[0] = leaf
    i = 0
    while i < ready:
        if order[i] != leaf:
            renew_one(operator, graph, order[i], limits, work)
        e = graph.heads[slot(order[i])]
        while e != EMPTY:
            parent = graph.links[slot(e), SOURCE]
            need[parent] -= 1
            if need[parent] == 0:
                order[ready] = parent
                ready += 1
            e = graph.links[slot(e), NEXT]
        i += 1
    for i in range(found):  # nodes on a cycle would wait for themselves: nearest first
        if need[queue[i]] > 0:
            renew_one(operator, graph, queue[i], limits, work)


# --- the whole graph ---------------------------------------------------------------------------------------------------------


@kernel
def sweep(graph, operator, limits, work, order):
    """Renew nodes in this order, children first, until nothing changes; returns the number of passes."""
    for done in range(MOST_PASSES):
        largest = 0.0
        for k in range(len(order)):
            node = graph.nodes[slot(order[k])]
            if node.count > 0 and node.visits > node.own:
                for i in range(len(node.mean)):
                    work.rewards[i] = node.mean[i]
                renew(operator, graph, order[k], limits, work)
                for i in range(len(node.mean)):
                    largest = max(largest, abs(node.mean[i] - work.rewards[i]))
        if largest <= REST:
            return done + 1
    return MOST_PASSES


@kernel
def order_children_first(graph, starts, order, cursor):
    """In a bare graph, fill `order` with all nodes reachable from `starts`, every node after its children (except on cycles);
    returns how many there are. An iterative depth-first search: the path is kept at the far end of `order`, and `cursor`, one
    number per slot and 0 at first, is 1 plus the edges that were followed."""
    size = len(order)
    done = 0
    for k in range(len(starts)):
        if cursor[starts[k]] != 0:
            continue
        top = size - 1
        order[top] = starts[k]
        cursor[starts[k]] = 1
        while top < size:
            number = order[top]
            child = np.int64(NO_NODE)
            while child == NO_NODE and cursor[number] <= graph.nodes[number].count:
                child = child_of(graph, number + cursor[number])
                cursor[number] += 1
                if child >= len(cursor) or (child != NO_NODE and cursor[child] != 0):  # a concurrent search may add nodes
                    child = np.int64(NO_NODE)
            if child != NO_NODE:
                top -= 1
                order[top] = child
                cursor[child] = 1
            else:
                top += 1
                order[done] = number
                done += 1
    return done


def sort_children_first(graph: Graph, starts: np.ndarray) -> np.ndarray:
    """All nodes reachable from `starts`, every node after its children (except on cycles)."""
    slots = int(graph.used[SLOTS])
    order = np.empty(slots // 2 + 1, np.int32)
    return order[: order_children_first(bare(graph), starts, order, np.zeros(slots, np.int32))]


@kernel
def measure(graph, order, operator, limits, work):
    """The largest and the mean difference between a node's value and what its children imply. Changes edges: pass a copy."""
    largest = 0.0
    total = 0.0
    count = 0
    for k in range(len(order)):
        number = order[k]
        node = graph.nodes[number]
        if node.count > 0 and node.visits > node.own:
            difference = 0.0
            for i in range(len(node.mean)):
                work.rewards[i] = node.mean[i]
            renew(operator, graph, number, limits, work)
            for i in range(len(node.mean)):
                difference = max(difference, abs(node.mean[i] - work.rewards[i]))
                node.mean[i] = work.rewards[i]
            largest = max(largest, difference)
            total += difference
            count += 1
    return largest, total / max(count, 1)
