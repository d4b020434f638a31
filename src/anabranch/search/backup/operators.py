"""Backup operators: how what a simulation found travels up its path.

`Mean` averages (the most robust in Go: Gelly & Silver 2.4), `Max` takes the best child's value, `Mix` lies between. An
operator is an option class and one function, `carry`. Every edge keeps visits and total; total / visits is its Q in every
case. Next: `loops/tree.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.jit.options import Share
from anabranch.search.memory.layout import column_of, edges_of, own_value, sign_of, width_of
from anabranch.search.requirements import check_together

NO_EDGE = np.int64(-1)


class Mean(NamedTuple):
    """A node is worth the mean of its evaluations and of all that came up through it."""


class Max(NamedTuple):
    """A node is worth what its best tried edge is worth to the player who moves; at chance, the mean."""


class Mix(NamedTuple):
    """(1 - weight) times the mean plus weight times the maximum."""

    weight: Share = 0.5


@generic
def carry(operator, graph, number, values):
    """Turn `values`, what came up through one edge, into what the node passes on; True if it stands for the whole node
    and so replaces what the edge above has summed, False if it is one more sample."""


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
    """Q(n) = (own evaluations + totals of the edges) / N(n), in player 0's view or one number a player."""
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


@helper
def best_edge(graph, number):
    """The tried edge with the highest Q for the player who moves, or NO_EDGE."""
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
def value_of_node(operator, graph, number, values):
    """Write what the node is worth by this operator into `values`: player 0's, or one number a player."""
    if not carry(operator, graph, number, values):
        node_mean(graph, number, values)


@check_together.register(Max, Mix)
def refuse_pairs(operator, chosen):
    """An operator that looks for a best action wants players who take turns."""
    if chosen.at_once:
        raise SearchError(
            f"backup={operator!r}: where both move at once no single action is best; use Mean() or ByStrategies()"
        )
