"""Backup operators: how a simulation's value is backed up along its path.

`Mean` averages (the most robust in Go: Gelly & Silver 2.4), `Max` takes the best child's value, `Mix` interpolates. An
operator is an option class and one function, `carry`. Every edge keeps visits and total; total / visits is its Q in every
case: Q(n, a) = r(n, a) + gamma W(child), where W is a node's value under the operator. Next: `loops/tree.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.jit.options import Share
from anabranch.search.memory.layout import column_of, edges_of, own_value, sign_of, slot, width_of
from anabranch.search.requirements import check_together

__all__ = ["Max", "Mean", "Mix", "best_edge", "carry", "node_mean"]

NO_EDGE = np.int64(-1)


class Mean(NamedTuple):
    """A node's value is the mean of its own evaluations and of all values backed up through it."""


class Max(NamedTuple):
    """A node's value is that of its best tried edge for the player to move; at chance nodes, the mean."""


class Mix(NamedTuple):
    """(1 - weight) times the mean plus weight times the maximum."""

    weight: Share = 0.5


@generic
def carry(operator, graph, number, values):
    """Turn `values`, backed up through one edge of a node, into what the node passes on to its parent. An operator does one of
    two things, the same at every node:

    - It writes the value of the whole node into `values`, from its edges and its own evaluations, without reading what was
      there, and returns True: that is W(n), and it replaces the total of the edge above.
    - It changes `values`, a sample, in place and returns False: the edge above adds it to its total. On a compact tree the
      sample is one simulation's value (with several threads, the mean of some). On a graph, and wherever the evaluator is in
      Python, a node also learns from other paths, so `carry` gets the mean of each edge instead, and W(n) is
      (own evaluations + sum of N(n,a) carry(Q(n,a))) / N(n). Both are the same if `carry` commutes with taking the mean, as
      a c + b does.

    Values are in units of the game's returns: player 0's where that suffices, else one number per player. Totals of edges are
    in the view of the player to move: see `layout.sign_of`. The node is locked; only `values` may be changed."""


@carry.register(Mean)
def carry_mean(operator, graph, number, values):
    return False


@carry.register(Max)
def carry_max(operator, graph, number, values):
    return mixed(graph, number, values, 1.0)


@carry.register(Mix)
def carry_mix(operator, graph, number, values):
    return mixed(graph, number, values, operator.weight)


@helper
def mixed(graph, number, values, weight):
    """Write the node's value, `weight` of the way from its mean to its best edge, into `values`."""
    node_mean(graph, number, values)
    node = graph.nodes[number]
    best = best_edge(graph, number)
    if best != NO_EDGE and node.player != CHANCE:
        edge = graph.edges[best]
        sign = sign_of(len(values), node.player)
        for i in range(len(values)):
            values[i] = (1.0 - weight) * values[i] + weight * (sign * edge.total[i] / edge.visits)
    return True


@helper
def node_mean(graph, number, values):
    """Q(n) = (own evaluations + totals of the edges) / N(n), in player 0's view or one number per player."""
    node = graph.nodes[number]
    sign = sign_of(len(values), node.player)
    tried = 0
    for i in range(len(values)):
        values[i] = 0.0
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        tried += edge.visits
        for i in range(len(values)):
            values[i] += sign * edge.total[i]
    own = node.visits - tried
    for i in range(len(values)):
        values[i] = (values[i] + own * own_value(graph, number, i)) / node.visits


@generic(default=True)
def is_mean(operator):
    """Whether a node's value is the plain mean of its samples: then it can be updated incrementally."""
    return False


@is_mean.register(Mean)
def is_mean_mean(operator):
    return True


@helper
def best_edge(graph, number):
    """The tried edge with the highest Q for the player to move, or NO_EDGE."""
    node = graph.nodes[number]
    column = column_of(width_of(graph), node.player)
    best = NO_EDGE
    best_value = -math.inf
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        if edge.visits > 0 and (best == NO_EDGE or edge.total[column] / edge.visits > best_value):
            best = np.int64(e)
            best_value = edge.total[column] / edge.visits
    return best


@helper
def value_of_node(operator, graph, number, values, sums):
    """Write the node's value under this operator into `values`: player 0's, or one number per player. `sums` is scratch memory
    of the same width."""
    if is_mean(operator):
        node_mean(graph, number, values)
        return
    node = graph.nodes[slot(number)]
    sign = sign_of(len(values), node.player)
    own = np.int64(node.visits)
    for i in range(len(values)):
        sums[i] = 0.0
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        if edge.visits > 0:
            for i in range(len(values)):
                values[i] = sign * edge.total[i] / edge.visits
            if carry(operator, graph, number, values):
                return
            own -= edge.visits
            for i in range(len(values)):
                sums[i] += edge.visits * values[i]
    for i in range(len(values)):
        values[i] = (sums[i] + own * own_value(graph, number, i)) / node.visits


@check_together.register(Max, Mix)
def refuse_pairs(operator, chosen):
    """Refuse an operator that looks for a single best action where both players move at once."""
    if chosen.at_once:
        raise SearchError(
            f"backup={operator!r}: where both move at once no single action is best; use Mean() or ByStrategies()"
        )
