"""Progressive widening, pruning and bias: rules around another rule.

    Widening(rule)          only the first edges, and more of them as visits come in (progressive widening)
    Pruning(rule)           no edges that are worse than the best by more than chance explains (progressive pruning); with a
                            `leak` they are still considered now and then, and nothing is cut off for good (soft pruning)
    ProgressiveBias(rule)   all edges, with a bonus from the heuristic that fades with the edge's visits

`Widening` and `ProgressiveBias` need a heuristic (`Search(heuristic=...)`) or an evaluator's priors to be useful; `Pruning`
reads values. RAVE and heuristics are soft pruning in themselves (Gelly & Silver, section 5.3). `Widening` goes around any rule;
the other two around rules that give scores: those of `base.py`, `Rave`, and `ProgressiveBias` itself.
Read first: `base.py`. Measurements: docs/algorithms/rave.md.
"""

import math
from typing import Any, NamedTuple

from anabranch.jit import helper, refer
from anabranch.jit.options import Count, NonNegative, Positive, Share
from anabranch.jit.random import uniform
from anabranch.search.memory.layout import F4, edges_of, is_open, slot
from anabranch.search.requirements import needed_columns
from anabranch.search.select.base import (
    adapted_view,
    at_node,
    candidate_edges,
    is_ordered,
    parent_view,
    parts_of,
    prefer,
    score,
    value_of,
)
from anabranch.search.select.limits import narrowed
from anabranch.search.select.uct import UCT
from anabranch.search.select.virtual_loss import edge_view
from anabranch.search.select.visit_functions import inverse_root

__all__ = ["ProgressiveBias", "Pruning", "Widening"]

ROUNDING = 1e-9  # a logarithm that is a whole number may come out slightly lower


class Widening(NamedTuple):
    """Edges in the order of their hints or priors: `first` at once, the next one after `base` visits of the node, each
    further one after `growth` times as many more. (Coulom 2007 uses 40 and 1.4; Chaslot et al. 2007 call it unpruning.)"""

    rule: Any = UCT()
    first: Count = 1
    base: Positive = 40.0
    growth: Positive = 1.4


class Pruning(NamedTuple):
    """Leave out edges whose value is more than `deviations` standard errors of the difference below the best one's, once both
    have `least` visits (Bouzy 2005). `leak`: the probability of considering all edges anyway."""

    rule: Any = UCT()
    deviations: Positive = 3.0
    least: Count = 30
    leak: Share = 0.0


class ProgressiveBias(NamedTuple):
    """The rule's score + weight * H / (n + 1), H from 0 to 1 (Chaslot et al. 2007)."""

    rule: Any = UCT()
    weight: NonNegative = 1.0


@helper
def width_at(widening, visits):
    """How many edges may be chosen after so many visits: t(k + 1) = t(k) + base * growth ** k solved for k."""
    if widening.growth <= 1.0:
        return widening.first + int(visits / widening.base)
    grown = 1.0 + visits * (widening.growth - 1.0) / widening.base
    return widening.first + int(math.log(grown) / math.log(widening.growth) + ROUNDING)


@prefer.register(Widening)
def prefer_widening(rule, graph, number, depth, limits, work):
    widest = width_at(rule, graph.nodes[slot(number)].visits)
    if limits.some:
        widest = reach(graph, number, widest, limits)
    return prefer(rule.rule, graph, number, depth, refer(narrowed(limits, widest)), work)


@helper
def reach(graph, number, widest, limits):
    """How many edges, counted from the first, contain `widest` that may be followed."""
    found = 0
    reached = 0
    for e in edges_of(graph, number):
        if found < widest:
            reached += 1
            if limits.allowed[graph.edges[e].action]:
                found += 1
    return reached


@prefer.register(Pruning)
def prefer_pruning(rule, graph, number, depth, limits, work):
    parent = parent_view(graph, number, limits.scale)
    bar = -math.inf
    bar_error = 0.0
    if rule.leak == 0.0 or uniform(work.random) >= rule.leak:
        for e in candidate_edges(graph, number, limits):
            edge = edge_view(graph, e, parent)
            if edge.visits >= rule.least and is_open(graph, number, e, limits) and float(value_of(parent, edge)) > bar:
                bar = float(value_of(parent, edge))
                bar_error = float(inverse_root(edge.visits))
    best = slot(number + 1)
    best_score = F4(-math.inf)
    inner = at_node(rule.rule, parent, graph, number, depth)
    for e in candidate_edges(graph, number, limits):
        edge = edge_view(graph, e, parent)
        if is_inferior(rule, parent, edge, bar, bar_error):
            continue
        edge_score = score(inner, parent, adapted_view(inner, edge, graph, number, work))
        if edge_score > best_score and is_open(graph, number, e, limits):
            best = e
            best_score = edge_score
    return best


@helper
def is_inferior(rule, parent, edge, bar, bar_error):
    """Whether an edge is below the best one by more than chance explains; one value has a standard deviation of at most 1."""
    if edge.visits < rule.least:
        return False
    error = float(inverse_root(edge.visits))
    return float(value_of(parent, edge)) < bar - rule.deviations * math.sqrt(error * error + bar_error * bar_error)


@score.register(ProgressiveBias)
def score_progressive_bias(rule, parent, edge):
    return float(score(rule.rule, parent, edge)) + rule.weight * 0.5 * (edge.hint + 1.0) / (edge.visits + 1)


@at_node.register(ProgressiveBias)
def at_node_progressive_bias(rule, parent, graph, number, depth):
    return ProgressiveBias(at_node(rule.rule, parent, graph, number, depth), rule.weight)


@adapted_view.register(ProgressiveBias, Pruning)
def graph_view_progressive_bias(rule, edge, graph, number, work):
    return adapted_view(rule.rule, edge, graph, number, work)


@is_ordered.register(Widening)
def is_ordered_widening(rule):
    return True


@parts_of.register(Widening)
def parts_of_widening(rule):
    return {"rule": (score, at_node, prefer)}  # any rule


@needed_columns.register(ProgressiveBias)
def needed_columns_progressive_bias(rule):
    return "amaf", *needed_columns(rule.rule)
