"""Keeping evaluations while statistics are reset: `advance(action, keep="evaluations")`.

A node is **empty** (not evaluated yet), **cached** (its value and priors are known, but no simulation has visited it since the
root moved) or **active**. The first simulation that reaches a cached node makes it active and backs up the stored value, at no
cost; the next one goes on from there. Read first: `graph.py`.
"""

import numpy as np

from anabranch.jit import helper, kernel
from anabranch.search.memory.columns import reset_edge, reset_node
from anabranch.search.memory.graph import CACHED, OVER, OWN_WEIGHT, Graph, begin_amaf, weigh
from anabranch.search.memory.layout import NO_NODE, edges_of, is_on, own_value, slot, width_of

NOT_CACHED = np.uint8(255) - CACHED


@kernel
def reset_statistics(graph, root, numbers):
    """Make all these nodes cached, except the root, which is active from the start."""
    for number in numbers:
        node = graph.nodes[slot(number)]
        for e in edges_of(graph, number):
            forget_visits(graph, e)
        reset_node(graph, number)
        if (node.flags & OVER) != 0:
            node.own = 0
            node.visits = 0
        elif node.own > 0:
            node.flags |= CACHED
            node.own = 0
            node.visits = 0
            if is_on(graph.has_weights):
                weigh(graph, number, graph.weights[slot(number), OWN_WEIGHT])
            for i in range(width_of(graph)):
                node.mean[i] = own_value(graph, number, i)
    if root != NO_NODE and (graph.nodes[slot(root)].flags & CACHED) != 0:
        restore(graph, root)


def restore_root(graph: Graph, number: int) -> None:
    """Make a node active if it is cached; called between kernels."""
    if graph.nodes["flags"][number] & CACHED:
        graph.nodes["flags"][number] &= NOT_CACHED
        graph.nodes["own"][number] = graph.nodes["visits"][number] = 1


@helper
def forget_visits(graph, e):
    """Reset an edge as if it had never been taken; its child is kept."""
    edge = graph.edges[e]
    edge.visits = 0
    for i in range(len(edge.total)):
        edge.total[i] = 0.0
    reset_edge(graph, e)
    if is_on(graph.has_amaf):
        begin_amaf(graph, e)


@helper
def restore(graph, number):
    """Make a cached node active at its first visit."""
    node = graph.nodes[slot(number)]
    node.flags &= NOT_CACHED
    node.own = 1
    node.visits = 1
