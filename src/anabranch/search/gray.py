"""Keeping evaluations while statistics begin again: `advance(action, keep="evaluations")`.

A node is **empty** (not evaluated yet), **gray** (its value and priors are known, but the search has not been there since its
root moved) or **active**. The first simulation that comes to a gray node makes it active and is backed up with the value that
is kept, at no cost; the next one goes on. Read first: `graph.py`.
"""

import numpy as np

from anabranch.jit import helper, kernel
from anabranch.search.graph import GRAY, OVER, OWN_WEIGHT, Graph, forget_strategies, weigh
from anabranch.search.layout import NO_NODE, edges_of, is_on, own_value, slot, width_of
from anabranch.search.lore import begin_amaf

NOT_GRAY = np.uint8(255) - GRAY


@kernel
def fade(graph, root, numbers):
    """Make all these nodes gray, but the root, which is active from the start."""
    for number in numbers:
        node = graph.nodes[slot(number)]
        for e in edges_of(graph, number):
            forget_visits(graph, e)
        if is_on(graph.strategic):
            forget_strategies(graph, number, node.count)
        if (node.flags & OVER) != 0:
            node.own = 0
            node.visits = 0
        elif node.own > 0:
            node.flags |= GRAY
            node.own = 0
            node.visits = 0
            if is_on(graph.weighed):
                weigh(graph, number, graph.weights[slot(number), OWN_WEIGHT])
            for i in range(width_of(graph)):
                node.mean[i] = own_value(graph, number, i)
    if root != NO_NODE and (graph.nodes[slot(root)].flags & GRAY) != 0:
        wake(graph, root)


def wake_up(graph: Graph, number: int) -> None:
    """Make a node active if it is gray; called between kernels."""
    if graph.nodes["flags"][number] & GRAY:
        graph.nodes["flags"][number] &= NOT_GRAY
        graph.nodes["own"][number] = graph.nodes["visits"][number] = 1


@helper
def forget_visits(graph, e):
    """An edge as if it had never been taken; what it leads to is still known."""
    edge = graph.edges[e]
    edge.visits = 0
    for i in range(len(edge.total)):
        edge.total[i] = 0.0
    if is_on(graph.repeat):
        graph.cuts[e] = 0
    if is_on(graph.squared):
        graph.squares[e] = 0.0
    if is_on(graph.known):
        begin_amaf(graph, e)


@helper
def wake(graph, number):
    """The first visit of a gray node."""
    node = graph.nodes[slot(number)]
    node.flags &= NOT_GRAY
    node.own = 1
    node.visits = 1
