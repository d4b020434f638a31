"""Backup operators: how what a simulation found travels up its path.

`Mean` averages (the most robust in Go: Gelly & Silver 2.4), `Max` takes the best child's value, `Mix` lies between. An
operator is an option class and one function, `carry`. Every edge keeps visits and total; total / visits is its Q in every
case. Next: `simulate.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.jit.options import Share
from anabranch.search.layout import NO_NODE, POSITIONS, column_of, edges_of, is_on, own_value, slot, view, width_of
from anabranch.search.locks import lock, unlock
from anabranch.search.virtual import come_back

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
def _(operator, graph, number, values):
    return False


@carry.register(Max)
def _(operator, graph, number, values):
    return mixed(graph, number, values, 1.0)


@carry.register(Mix)
def _(operator, graph, number, values):
    return mixed(graph, number, values, operator.weight)


@helper
def mixed(graph, number, values, weight):
    """Write the node's value, `weight` of the way from its mean to its best edge, into `values`."""
    node_mean(graph, number, values)
    node = graph.nodes[number]
    best = best_edge(graph, number)
    if best != NO_EDGE and node.player != CHANCE:
        edge = graph.edges[best]
        sign = view(len(values), node.player)
        for i in range(len(values)):
            values[i] = (1.0 - weight) * values[i] + weight * (sign * edge.total[i] / edge.visits)
    return True


@helper
def node_mean(graph, number, values):
    """Q(n) = (own evaluations + totals of the edges) / N(n), in player 0's view or one number a player."""
    node = graph.nodes[number]
    sign = view(len(values), node.player)
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
def back_up(operator, graph, depth, first, is_sample, discount, work):
    """Walk the path of `work` upwards, as far as depth `first`, with `work.values`, the leaf's value, and count the simulation;
    `is_sample`: that is an evaluation of a leaf without a node. Gives whether `work.values` then stands for a whole node."""
    values = work.values
    width = width_of(graph)  # a constant to the compiler, which len(values) is not
    if graph.edges[work.path_edges[depth - 1]].visits == 0:
        graph.used[POSITIONS] += 1
    whole = False
    for d in range(depth - 1, first - 1, -1):
        lock(graph, work.path_nodes[d])
        node = graph.nodes[slot(work.path_nodes[d])]
        edge = graph.edges[slot(work.path_edges[d])]
        if is_on(graph.crew) and is_sample and d == depth - 1 and edge.child != NO_NODE:
            give_sample(graph, edge.child, values)
        sign = view(width, node.player)
        edge.visits += 1
        node.visits += 1
        come_back(graph, work.path_nodes[d], work.path_edges[d], 1)
        for i in range(width):
            values[i] *= discount
            if rules.has_rewards(work.states[0]):
                values[i] += work.path_rewards[d, i]
            if whole:
                edge.total[i] = sign * values[i] * edge.visits
            else:
                edge.total[i] += sign * values[i]
        whole = carry(operator, graph, work.path_nodes[d], values)
        unlock(graph, work.path_nodes[d])
    return whole


@helper
def withdraw(graph, first, depth, work):
    """Let the edges of a path from depth `first` to `depth` forget a simulation that is not backed up."""
    if is_on(graph.virtual):
        for d in range(first, depth):
            lock(graph, work.path_nodes[d])
            come_back(graph, work.path_nodes[d], work.path_edges[d], 1)
            unlock(graph, work.path_nodes[d])


@helper
def give_sample(graph, number, values):
    """One more evaluation of a position that another thread has made a node of meanwhile."""
    lock(graph, number)
    node = graph.nodes[slot(number)]
    own = np.int64(node.visits)
    for e in edges_of(graph, number):
        own -= graph.edges[e].visits
    for i in range(len(values)):
        node.value[i] = (own * node.value[i] + values[i]) / (own + 1)
    node.visits += 1
    unlock(graph, number)


@helper
def value_of_node(operator, graph, number, values):
    """Write what the node is worth by this operator into `values`: player 0's, or one number a player."""
    if not carry(operator, graph, number, values):
        node_mean(graph, number, values)
