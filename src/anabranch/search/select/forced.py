"""Forced playouts at the root, and a target without them (Wu 2019, "Accelerating self-play learning in Go", section 3.2).

In self-play, noise on the priors lets the search try actions that the network dismisses, but one visit seldom shows that an
action is good. `Forced` first gives each root action that has any visits sqrt(k P sum n) of them. Most of these visits are
wasted, and a policy should not learn them: `Result.target` takes up to that many away again, as long as the rule would not
prefer the action, with the visits left, to the most visited one.
Read first: `base.py`. Docs: docs/algorithms/puct.md.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import helper, readable
from anabranch.jit.options import NonNegative
from anabranch.search.memory.layout import edges_of, is_open
from anabranch.search.select.base import at_node, candidate_edges, parent_view, prefer, score
from anabranch.search.select.edge_view import total_of
from anabranch.search.select.puct import PUCT
from anabranch.search.select.target import target
from anabranch.search.select.virtual_loss import edge_view, recounted

__all__ = ["Forced"]


class Forced(NamedTuple):
    """At the root, first any action that has visits, but fewer than sqrt(k P sum n); otherwise, and below it, the rule."""

    rule: Any = PUCT()
    k: NonNegative = 2.0


@prefer.register(Forced)
def prefer_forced(rule, graph, number, depth, limits, work):
    if depth == 0:
        parent = parent_view(graph, number, limits.scale)
        for e in candidate_edges(graph, number, limits):
            edge = edge_view(graph, e, parent)
            if 0 < edge.visits < due(rule, parent, edge) and is_open(graph, number, e, limits):
                return e
    return prefer(rule.rule, graph, number, depth, limits, work)


@helper
def due(rule, parent, edge):
    """How many visits are forced on an edge."""
    return math.sqrt(rule.k * edge.prior * parent.tried)


@target.register(Forced)
def target_forced(rule, graph, root, limits):
    graph = readable(graph)
    parent = parent_view(graph, root, limits.scale)
    edges = [edge_view(graph, e, parent) for e in edges_of(graph, root)]
    here = at_node(rule.rule, parent, graph, root, 0)
    best = int(np.argmax([edge.visits for edge in edges]))
    bar = score(here, parent, edges[best])
    kept = np.array([wanted(rule, here, parent, edge, bar) for edge in edges], float)
    kept[best] = edges[best].visits
    return kept / max(kept.sum(), 1.0)


def wanted(rule: Forced, here: Any, parent: Any, edge: Any, bar: float) -> int:
    """The fewest visits, at most `due` fewer than the edge has, with which its score stays below the bar; an edge left with a
    single visit gets 0."""
    visits = int(edge.visits)
    value = float(total_of(edge, parent.column)) / max(visits, 1)
    least = visits - due(rule, parent, edge)
    while visits > 1 and visits - 1 >= least and score(here, parent, recounted(edge, visits - 1, value * (visits - 1))) < bar:
        visits -= 1
    return visits if visits > 1 else 0
