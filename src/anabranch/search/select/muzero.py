"""MuZero's selection rule (Schrittwieser et al. 2020, appendix B), which needs no declared range of values.

    Q' + P sqrt(N) / (1 + n) (c + ln((N + base + 1) / base)),    N: visits of the node, its own evaluation included

Q' is Q rescaled to [0, 1]: between given bounds (`BetweenBounds`), or between the lowest and the highest value of the node and
its tried edges (`AmongSiblings`), whatever the units are. An untried edge counts as the lowest. With ties broken by the lowest
action, `Search(ties="lowest")`, trees are those of DeepMind's mctx.
Read first: `base.py`. Next: `gumbel.py`. Docs: docs/algorithms/puct.md.
"""

import math
from typing import Any, NamedTuple

from anabranch.errors import SearchError
from anabranch.jit import generic
from anabranch.jit.options import NonNegative, Positive, Share
from anabranch.search.memory.layout import edges_of
from anabranch.search.requirements import check_inside
from anabranch.search.select.base import at_node, exact_value_of, parts_of, score
from anabranch.search.select.virtual_loss import edge_view

__all__ = ["AmongSiblings", "BetweenBounds", "MuZero"]

NARROWEST = 1e-8  # the smallest span of values that is rescaled to 1; the same as in mctx


class BetweenBounds(NamedTuple):
    """Q' = (Q - low) / (high - low), with bounds on the scale where the game's declared range is [-1, 1]."""

    low: float = -1.0
    high: float = 1.0
    untried: Share = 0.0  # Q' of an edge without visits


class AmongSiblings(NamedTuple):
    """The same, bounded by the lowest and the highest value of the node itself and its tried edges."""

    untried: Share = 0.0


class MuZero(NamedTuple):
    """Q' + P sqrt(N) / (1 + n) (c + ln((N + base + 1) / base)): see the module docstring."""

    c: NonNegative = 1.25
    base: Positive = 19652.0
    q: Any = AmongSiblings()


class MuZeroHere(NamedTuple):
    """The rule at one node."""

    weight: float  # of P / (1 + n)
    low: float
    width: float
    untried: float


@generic
def bounds_of(q, parent, graph, number):
    """The values that are mapped to Q' = 0 and Q' = 1 at a node."""


@bounds_of.register(BetweenBounds)
def bounds_of_between_bounds(q, parent, graph, number):
    return q.low, q.high


@bounds_of.register(AmongSiblings)
def bounds_of_among_siblings(q, parent, graph, number):
    low = parent.value
    high = parent.value
    for e in edges_of(graph, number):
        edge = edge_view(graph, e, parent)
        if edge.visits > 0:
            low = min(low, exact_value_of(parent, edge))
            high = max(high, exact_value_of(parent, edge))
    return low, high


@at_node.register(MuZero)
def at_node_mu_zero(rule, parent, graph, number, depth):
    low, high = bounds_of(rule.q, parent, graph, number)
    c = rule.c + math.log((parent.visits + rule.base + 1.0) / rule.base)
    return MuZeroHere(c * math.sqrt(parent.visits), low, max(high - low, NARROWEST), rule.q.untried)


@score.register(MuZeroHere)
def score_mu_zero_here(rule, parent, edge):
    value = (exact_value_of(parent, edge) - rule.low) / rule.width if edge.visits > 0 else rule.untried
    return value + rule.weight * edge.prior / (1 + edge.visits)


@parts_of.register(MuZero)
def parts_of_muzero(rule):
    return {"q": (bounds_of,)}


@check_inside.register(BetweenBounds)
def check_between_bounds(part, rule):
    if not part.low < part.high:
        raise SearchError(f"{part!r}: low must be below high")
