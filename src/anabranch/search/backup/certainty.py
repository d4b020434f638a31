"""Evaluations weighed by how sure they are: `Search(backup=ByCertainty())`, as KataGo has it.

An evaluator f(states) may give a third array beside priors and values: how far each value may be off, as a standard deviation
in units of the game's returns. An evaluation then weighs

    w = coefficient / (u^exponent + coefficient / most),        u: that deviation, normalised to values from -1 to 1

so 1 where u is about the coefficient, and `most` where the evaluator is sure; the end of a game is. A node is worth the mean of
its own evaluation and of its children, each with its visits times the mean weight below it. Visits themselves stay counts: only
values are weighed. Without a third array every evaluation weighs 1, and this is `Mean()` but for the ends of games.
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
    """A node is worth the mean of its evaluation and its children, sure ones with more weight; the numbers are KataGo's."""

    coefficient: Positive = 0.25
    exponent: Positive = 1.0
    most: Positive = 8.0


def weights_of(operator: Any, deviations: np.ndarray | None, factor: float) -> Any:
    """What evaluations weigh: 1, or one number each; `factor` normalises values."""
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
    """What evaluations at a node weigh; where none was made, the game is over."""
    weight = graph.weights[slot(number), which]
    return weight if weight > 0.0 else operator.most


@needed_columns.register(ByCertainty)
def needed_columns_by_certainty(operator):
    return ("weights",)


check_together.register(ByCertainty)(refuse_pairs)
