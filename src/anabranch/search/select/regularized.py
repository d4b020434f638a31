"""The exact regularised policy of Grill et al. 2020, "Monte-Carlo tree search as regularized policy optimization".

The visits of PUCT approach the policy that maximises  sum_a pi(a) Q(a) - lambda KL(P, pi).  It can also be computed exactly:

    pi(a) = lambda P(a) / (alpha - Q(a)),    lambda = c sqrt(N) / (actions + N),

with alpha such that it sums to 1, between max(Q + lambda P) and max Q + lambda. The selection rule `Regularized` draws actions
from it; the final choice `ByRegularized` samples it or plays its best action; `Result.regularized` is the training target,
an alternative to the visit distribution. It trusts a high Q of a few visits more than visit counts do; `floor` corrects that:
the value of an action with fewer visits than that share of the largest count is capped at the parent's value.
Docs: docs/algorithms/graph.md.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.jit import helper
from anabranch.jit.options import Positive, Share
from anabranch.jit.random import uniform
from anabranch.search.memory.layout import edges_of, is_open, slot
from anabranch.search.select.base import parent_view, prefer, value_of
from anabranch.search.select.virtual_loss import edge_view

__all__ = ["Regularized", "regularized_policy"]

HALVINGS = 60  # bisection steps for alpha: to the last bit


class Regularized(NamedTuple):
    """Follow an edge drawn from the exact regularised policy; untried actions get the parent's value."""

    c: Positive = 1.25
    floor: Share = 0.0  # see the module docstring; 0 trusts every value


@prefer.register(Regularized)
def prefer_regularized(rule, graph, number, depth, limits, work):
    parent = parent_view(graph, number, limits.scale)
    strength = weight_of_prior(rule.c, parent.visits, graph.nodes[slot(number)].count)
    most = 0
    for e in edges_of(graph, number):
        most = max(most, edge_view(graph, e, parent).visits)
    low = -math.inf
    high = -math.inf
    for e in edges_of(graph, number):
        value = trusted(parent, edge_view(graph, e, parent), rule.floor * most)
        low = max(low, value + strength * graph.edges[e].prior)
        high = max(high, value + strength)
    for _ in range(HALVINGS):
        alpha = 0.5 * (low + high)
        total = 0.0
        for e in edges_of(graph, number):
            total += strength * graph.edges[e].prior / (alpha - trusted(parent, edge_view(graph, e, parent), rule.floor * most))
        if total > 1.0:
            low = alpha
        else:
            high = alpha
    left = uniform(work.random)
    if limits.some:
        left *= mass_of_allowed(rule, parent, graph, number, strength, high, most, limits)
    chosen = slot(number + 1)
    for e in edges_of(graph, number):
        if is_open(graph, number, e, limits):
            chosen = e
            left -= strength * graph.edges[e].prior / (high - trusted(parent, edge_view(graph, e, parent), rule.floor * most))
            if left < 0.0:
                break
    return chosen


@helper
def mass_of_allowed(rule, parent, graph, number, strength, alpha, most, limits):
    """The total probability of the actions that the search is restricted to."""
    mass = 0.0
    for e in edges_of(graph, number):
        if is_open(graph, number, e, limits):
            mass += strength * graph.edges[e].prior / (alpha - trusted(parent, edge_view(graph, e, parent), rule.floor * most))
    return mass


@helper
def weight_of_prior(c, visits, actions):
    """lambda: how much the prior still counts after so many visits."""
    return c * math.sqrt(visits) / (visits + actions)


@helper
def trusted(parent, edge, enough):
    """An edge's value, capped at the parent's if the edge has too few visits to be trusted."""
    if edge.visits == 0:
        return parent.value
    value = float(value_of(parent, edge))
    return value if edge.visits >= enough else min(value, parent.value)


def regularized_policy(
    priors: np.ndarray, values: np.ndarray, visits: np.ndarray, value: float, c: float = 1.25, floor: float = 0.0
) -> np.ndarray:
    """The exact regularised policy over some actions.

    priors, values (for the player to move, in [-1, 1]), visits: of these actions; `value`: the node's own, which stands in
    for untried actions and, with a floor, caps the value of actions with too few visits.
    """
    values = np.where(visits > 0, values, value)
    values = np.where(visits >= floor * visits.max(), values, np.minimum(values, value))
    strength = c * math.sqrt(1.0 + visits.sum()) / (1.0 + visits.sum() + len(visits))
    weights = strength * priors
    low, high = (values + weights).max(), values.max() + strength
    for _ in range(HALVINGS):
        alpha = 0.5 * (low + high)
        if weights @ (1.0 / (alpha - values)) > 1.0:
            low = alpha
        else:
            high = alpha
    policy = weights / (high - values)
    return policy / policy.sum()
