"""Wider exploration at the root, for analysis: KataGo's `wideRootNoise`.

A search that only has to choose a move soon concentrates on the best actions; analysis needs to know about the others too.
`WideRoot` makes each of the root's actions look better than it is now and then: at every visit, with probability one half, its
value (from -1 to 1) rises by noise * |g|, g normal. Priors are flattened: P ** (1 / (4 noise + 1)). Among untried actions only
the one that the rule prefers gets this bonus; otherwise the luckiest of many would come next. Below the root, and with a noise
of 0, the rule applies unchanged. Values of the root's actions are not changed; only visits are spread. Goes around rules that
give scores. Read first: `base.py`. Docs: docs/algorithms/puct.md.
"""

import math
from typing import Any, NamedTuple

from anabranch.jit import generic, helper
from anabranch.jit.options import NonNegative
from anabranch.jit.random import uniform
from anabranch.search.memory.layout import is_open, slot
from anabranch.search.select.base import adapted_view, at_node, candidate_edges, parent_view, prefer, score
from anabranch.search.select.edge_view import AmafEdge, total_of
from anabranch.search.select.puct import PUCT
from anabranch.search.select.virtual_loss import PendingEdge, edge_view

__all__ = ["WideRoot"]

FLATTENING = 4.0  # of priors, for each unit of noise: KataGo's


class WideRoot(NamedTuple):
    """At the root, the rule with noise on its scores: KataGo's wideRootNoise. 0.04 is KataGo's default for analysis, 1 explores
    everything."""

    rule: Any = PUCT()
    noise: NonNegative = 0.04


@prefer.register(WideRoot)
def _prefer_widely(rule, graph, number, depth, limits, work):
    if depth > 0 or rule.noise == 0.0:
        return prefer(rule.rule, graph, number, depth, limits, work)
    parent = parent_view(graph, number, limits.scale)
    inner = at_node(rule.rule, parent, graph, number, depth)
    best, best_score = slot(number + 1), -math.inf
    new, new_score = slot(number + 1), -math.inf  # of untried edges
    for e in candidate_edges(graph, number, limits):
        if not is_open(graph, number, e, limits):
            continue
        edge = adapted_view(inner, edge_view(graph, e, parent), graph, number, work)
        edge_score = float(score(inner, parent, with_prior(edge, parent, flattened(rule, edge.prior))))
        if graph.edges[e].visits > 0:
            edge_score += bonus(rule, work.random)
            if edge_score > best_score:
                best, best_score = e, edge_score
        elif edge_score > new_score:
            new, new_score = e, edge_score
    if new_score > -math.inf and new_score + bonus(rule, work.random) > best_score:
        return new
    return best


@helper
def flattened(rule, prior):
    """A flattened prior, closer to uniform."""
    return math.pow(float(prior), 1.0 / (FLATTENING * rule.noise + 1.0))


@helper
def bonus(rule, random):
    """The bonus of an action at this visit: half the time 0, else the absolute value of a normal variable times the noise."""
    if uniform(random) < 0.5:
        return 0.0
    distance = math.sqrt(-2.0 * math.log(1.0 - uniform(random)))  # Box-Muller: the radius of a point in the plane
    return rule.noise * distance * abs(math.cos(2.0 * math.pi * uniform(random)))  # its projection


@generic(default=True)
def with_prior(edge, parent, prior):
    """An edge with another prior."""
    return PendingEdge(edge.visits, float(total_of(edge, parent.column)), prior, edge.action)


@with_prior.register(AmafEdge)
def _with_prior_and_lore(edge, parent, prior):
    return AmafEdge(edge.visits, edge.total, prior, edge.action, edge.hint, edge.amaf_visits, edge.amaf_total)
