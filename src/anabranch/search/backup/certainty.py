"""Evaluations weighted by their certainty: `Search(backup=ByCertainty())`, as in KataGo.

An evaluator f(states) may return a third array after priors and values: the standard error of each value, in units of the
game's returns. An evaluation then has the weight

    w = coefficient / (u^exponent + coefficient / most),        u: that error, normalised to values from -1 to 1

about 1 where u is near the coefficient, and `most` where the evaluator is certain, as at the end of a game. A node's value is
the weighted mean of its own evaluation and its children, each child with its visits times the mean weight below it. Visits stay
counts: only values are weighted. Without a third array every evaluation has weight 1: `Mean()`, except at ends of games.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import helper
from anabranch.jit.options import Positive
from anabranch.search.backup.operators import carry, refuse_pairs
from anabranch.search.memory.graph import MEAN_WEIGHT, OWN_WEIGHT, child_of
from anabranch.search.memory.layout import NO_NODE, edges_of, own_value, sign_of, slot
from anabranch.search.requirements import check_together, needed_columns

__all__ = ["ByCertainty"]


class ByCertainty(NamedTuple):
    """A node's value is the mean of its evaluation and its children, weighted by certainty; the numbers are KataGo's."""

    coefficient: Positive = 0.25
    exponent: Positive = 1.0
    most: Positive = 8.0


def weights_of(operator: Any, deviations: np.ndarray | None, factor: float) -> Any:
    """The weights of evaluations: 1, or one number each; `factor` normalises values."""
    if deviations is None or not isinstance(operator, ByCertainty):
        return 1.0
    sure = operator.coefficient / operator.most
    return operator.coefficient / ((factor * deviations) ** operator.exponent + sure)


@carry.register(ByCertainty)
def carry_by_certainty(operator, graph, number, values):
    node = graph.nodes[slot(number)]
    sign = sign_of(len(values), node.player)
    weight = node.own * weight_at(operator, graph, number, OWN_WEIGHT)
    for i in range(len(values)):
        values[i] = weight * own_value(graph, number, i)
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        child = child_of(graph, e)
        each = weight_at(operator, graph, child, MEAN_WEIGHT) if child != NO_NODE else 1.0
        weight += edge.visits * each
        for i in range(len(values)):
            values[i] += sign * edge.total[i] * each
    for i in range(len(values)):
        values[i] /= weight
    graph.weights[slot(number), MEAN_WEIGHT] = weight / node.visits
    return True


@helper
def weight_at(operator, graph, number, which):
    """The weight of evaluations at a node; if there were none, the game is over there."""
    weight = graph.weights[slot(number), which]
    return weight if weight > 0.0 else operator.most


@needed_columns.register(ByCertainty)
def needed_columns_by_certainty(operator):
    return ("weights",)


check_together.register(ByCertainty)(refuse_pairs)
