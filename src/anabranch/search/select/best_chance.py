"""Selection by the probability of being best, as in Crazy Stone (Coulom 2006; Gelly & Silver 2011, section 3.6).

Each edge's value is modelled as normal about its mean. An edge is drawn in proportion to the probability that its
value is above that of the best one:  u(a) = Pr(X > 0),  X normal with mean Q(a) - Q(best) and variance s(a)^2 + s(best)^2.
Untried edges come first. Read first: `base.py`.
"""

import math
from typing import NamedTuple

from anabranch.jit import helper
from anabranch.jit.options import Positive
from anabranch.jit.random import uniform
from anabranch.search.memory.layout import is_open, slot
from anabranch.search.select.base import candidate_edges, parent_view, prefer, value_of
from anabranch.search.select.virtual_loss import edge_view

__all__ = ["BestChance"]


class BestChance(NamedTuple):
    """Draw an edge by the probability that it is better than the best one."""

    width: Positive = 1.0  # factor on the standard deviations that follow from the visits: above 1 explores more
    floor: Positive = 1e-4  # the least weight, so that no edge is abandoned


@prefer.register(BestChance)
def prefer_best_chance(rule, graph, number, depth, limits, work):
    parent = parent_view(graph, number, limits.scale)
    best_value = -math.inf
    best_variance = 0.0
    for e in candidate_edges(graph, number, limits):
        edge = edge_view(graph, e, parent)
        if is_open(graph, number, e, limits):
            if edge.visits == 0:
                return e
            value = float(value_of(parent, edge))
            if value > best_value:
                best_value = value
                best_variance = variance_of(rule, value, edge.visits)
    total = 0.0
    for e in candidate_edges(graph, number, limits):
        if is_open(graph, number, e, limits):
            total += urgency(rule, parent, edge_view(graph, e, parent), best_value, best_variance)
    left = uniform(work.random) * total
    chosen = slot(number + 1)
    for e in candidate_edges(graph, number, limits):
        if is_open(graph, number, e, limits):
            chosen = e
            left -= urgency(rule, parent, edge_view(graph, e, parent), best_value, best_variance)
            if left < 0.0:
                break
    return chosen


@helper
def variance_of(rule, value, visits):
    """The variance of a mean of so many values between -1 and 1, with one more of each extreme added, so that it is never 0.
    Rewards along the way may lead outside the declared range; the mean is clipped to the range here."""
    mean = max(-1.0, min(value, 1.0)) * visits / (visits + 2.0)
    return rule.width * rule.width * (1.0 - mean * mean) / visits


@helper
def urgency(rule, parent, edge, best_value, best_variance):
    """The probability that an edge with visits is better than the best one; at least the floor."""
    value = float(value_of(parent, edge))
    deviation = math.sqrt(best_variance + variance_of(rule, value, edge.visits))
    return max(0.5 * math.erfc((best_value - value) / (deviation * math.sqrt(2.0))), rule.floor)
