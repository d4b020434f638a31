"""The variance of values: beside an edge's total, the sum of the squares of the values backed up through it (`Graph.squares`).

Values are normalised, so that a square is the same in every player's view. Only searches that need it have it: `KataGoPUCT`,
which explores more where values vary, and `ByLowerBound`, which plays by a lower confidence bound. On graphs it covers the
values backed up through this edge, not what the child has learnt from other paths.
"""

import math

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import helper
from anabranch.search.memory.layout import column_of, edges_of, slot, width_of
from anabranch.search.memory.locks import lock, unlock
from anabranch.search.select.base import own_value_of

LEAST_VARIANCE = 1e-8  # KataGo's


@helper
def add_squares(graph, depth, limits, work):
    """Walk up the path with `work.values`, the value that its last edge led to, and add the squares."""
    width = width_of(graph)
    for i in range(width):
        value = work.values[i]
        for d in range(depth - 1, -1, -1):
            e = slot(work.path_edges[d])
            value *= limits.discount
            if rules.has_rewards(work.states[0]):
                value += graph.rewards[e, i]
            player = graph.nodes[slot(work.path_nodes[d])].player
            if player != CHANCE and column_of(width, player) == i:
                normal = (value - limits.scale.middle) * limits.scale.factor
                lock(graph, work.path_nodes[d])
                graph.squares[e] += normal * normal
                unlock(graph, work.path_nodes[d])


@helper
def mean_square(graph, number, parent):
    """The mean of the squares of all values of a node: its own evaluations and those backed up through its edges."""
    own = graph.nodes[slot(number)].visits
    total = 0.0
    for e in edges_of(graph, number):
        own -= graph.edges[e].visits
        total += graph.squares[e]
    value = own_value_of(parent, graph, number)
    return (total + own * value * value) / graph.nodes[slot(number)].visits


def standard_error(visits: float, value: float, squares: float) -> float:
    """The standard error of the mean of so many values with this sum of squares, all between -1 and 1; as in KataGo.

    One value says nothing about the variance, so the largest possible variance is mixed in with a weight of 1 / visits^2.
    """
    weight = 1.0 / visits**2
    variance = max(squares / visits - value**2, LEAST_VARIANCE) + weight / (visits + weight)
    samples = (visits + weight) ** 2 / (visits + weight**2)
    return math.sqrt(variance / samples)
