"""Edges as selection rules see them: with AMAF values and a heuristic's hints, where the search has them.

`virtual_loss.py` adds simulations under way. Next: `base.py`, whose rules read these views.
"""

from typing import NamedTuple

import numpy as np

from anabranch.jit import generic, helper
from anabranch.search.memory.graph import Graph
from anabranch.search.memory.layout import F4, Off, On, is_on, slot
from anabranch.search.memory.tree import Tree


@generic
def idle_edge_view(graph, e, parent):
    """An edge as selection rules see it (`virtual_loss.edge_view`), where no simulation is under way."""


@idle_edge_view.register(Tree)
def idle_edge_view_tree(tree, e, parent):
    return tree.edges[e]


@generic(default=True)
def total_of(edge, column):
    """The sum of an edge's values for the player whose column this is; `edge` is what `edge_view` returns."""
    return edge.total[column]


@generic
def heuristic_visits(graph, number):
    """The visits that a heuristic counts as, summed over a node's edges; see `evaluate/amaf.py`."""


@heuristic_visits.register(Tree)
def heuristic_visits_tree(tree, number):
    return np.int64(0)


@generic
def learnt_bias(graph):
    """The squared bias of AMAF values as the search has estimated it, and from how many samples."""


@learnt_bias.register(Tree)
def learnt_bias_tree(tree):
    return 0.0, 0.0


# --- edges as rules see them --------------------------------------------------------------------------------------------------


class AmafEdge(NamedTuple):
    """An edge with its hint included. Rules read it as they read an edge."""

    visits: int
    total: float  # in the view of the player to move, the only one that rules read
    prior: float
    action: int
    hint: float  # the heuristic's value, normalised
    amaf_visits: float
    amaf_total: float  # normalised


@total_of.register(AmafEdge)
def total_of_amaf_edge(edge, column):
    return edge.total


@idle_edge_view.register(Graph)
def idle_edge_view_graph(graph, e, parent):
    return graph_edge_view(graph.has_amaf, graph, e, parent)


@generic
def graph_edge_view(known, graph, e, parent):
    """The same for a graph with AMAF values, or without."""


@graph_edge_view.register(Off)
def graph_edge_view_off(known, graph, e, parent):
    return graph.edges[e]


@graph_edge_view.register(On)
def graph_edge_view_on(known, graph, e, parent):
    edge = graph.edges[e]
    amaf_stats = graph.amaf[e]
    visits, hint = hint_of(graph, e)
    total = edge.total[parent.column] + visits * (parent.middle + hint * parent.unit)
    return AmafEdge(edge.visits + visits, total, edge.prior, edge.action, hint, amaf_stats.amaf_visits, amaf_stats.amaf_total)


@helper
def hint_of(graph, e):
    """The simulations that a heuristic counts as at an edge, and its value; 0 and the middle of the range without one."""
    visits, value = np.int64(0), F4(0.0)
    if is_on(graph.has_hints):
        visits, value = np.int64(graph.hints[e].visits), F4(graph.hints[e].value)
    return visits, value


@heuristic_visits.register(Graph)
def heuristic_visits_graph(graph, number):
    return np.int64(graph.hints[slot(number)].visits) if is_on(graph.has_hints) else np.int64(0)


@learnt_bias.register(Graph)
def learnt_bias_graph(graph):
    samples = graph.learnt[1]
    return (graph.learnt[0] / samples if samples > 0.0 else 0.0), samples
