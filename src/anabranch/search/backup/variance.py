"""How far values spread: beside an edge's total, the sum of the squares of what came up through it (`Graph.squares`).

Values are normalised, so that a square is the same in everybody's view. Only searches that ask for it have it: `KataGoPUCT`,
which explores more where values differ, and `ByLowerBound`, which plays what is surely good. On graphs it is what came up
through this edge, and not what else the child has learnt.
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
    """Walk up the path with `work.values`, what its last edge led to, and add the squares."""
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
    """The mean of the squares of all values that a node has seen: its own evaluations and what came up."""
    own = graph.nodes[slot(number)].visits
    total = 0.0
    for e in edges_of(graph, number):
        own -= graph.edges[e].visits
        total += graph.squares[e]
    value = own_value_of(parent, graph, number)
    return (total + own * value * value) / graph.nodes[slot(number)].visits


def standard_error(visits: float, value: float, squares: float) -> float:
    """Of the mean of so many values with this sum of squares, all between -1 and 1; as KataGo has it.

    One value says nothing of a spread, so the largest possible variance counts in with a weight of 1 / visits^2.
    """
    weight = 1.0 / visits**2
    variance = max(squares / visits - value**2, LEAST_VARIANCE) + weight / (visits + weight)
    samples = (visits + weight) ** 2 / (visits + weight**2)
    return math.sqrt(variance / samples)
