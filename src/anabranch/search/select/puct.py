"""PUCT: AlphaZero's rule and the variants of two other engines; MuZero's is in `muzero.py`. All side by side:
docs/algorithms/puct.md.

    SprlPUCT     W / (1 + n) instead of W / n: an action's value stays low until it has been tried several times
    KataGoPUCT   c grows with the logarithm of the visits, and where values vary more than usual
"""

import math
from typing import Any, NamedTuple

from anabranch.jit import helper
from anabranch.jit.options import NonNegative, Positive
from anabranch.search.backup.variance import mean_square
from anabranch.search.memory.layout import slot
from anabranch.search.requirements import needed_columns
from anabranch.search.select.base import ParentFPU, ReducedFPU, at_node, exact_value_of, first_play, score, value_of

__all__ = ["PUCT", "KataGoPUCT", "SprlPUCT"]

EVEN_UNVISITED = 0.01  # KataGo adds it to the sum of the edge visits, so that priors count from the first choice on


class SprlPUCT(NamedTuple):
    """W / (1 + n) + c P sqrt(sum n) / (1 + n), as in SPRL. W is the sum of values relative to the middle of the range.

    SPRL's Init-Q is `fpu`: `ConstantFPU(0)`, `ParentFPU()` (default), or `ParentFPU(offset)` with a reduction.
    """

    c: NonNegative = 1.1
    fpu: Any = ParentFPU()


class KataGoPUCT(NamedTuple):
    """Q + c(N) sqrt(N + 0.01) f P / (1 + n), where N = sum n, c(N) = c + growth ln((N + base) / base), and
    f = 1 + scale (s / usual - 1) with s the standard deviation of the values at the node.

    s starts at `usual`, which weighs as much as `weight` values; scale=0 switches it off. With noise on the priors KataGo
    uses root_fpu=ParentFPU().
    """

    c: NonNegative = 1.0
    growth: NonNegative = 0.45
    base: Positive = 500.0
    usual: Positive = 0.40
    weight: NonNegative = 2.0
    scale: NonNegative = 0.85
    fpu: Any = ReducedFPU(0.2)
    root_fpu: Any = ReducedFPU(0.1)


class KataGoHere(NamedTuple):
    """The rule at one node."""

    weight: float  # of P / (1 + n)
    untried: float  # Q of an edge without visits


@score.register(SprlPUCT)
def score_sprl_puct(rule, parent, edge):
    shrunk = edge.visits / (1 + edge.visits)
    value = exact_value_of(parent, edge) * shrunk if edge.visits > 0 else first_play(rule.fpu, parent)
    return value + rule.c * edge.prior * math.sqrt(parent.tried) / (1 + edge.visits)


@at_node.register(KataGoPUCT)
def at_node_kata_go_puct(rule, parent, graph, number, depth):
    c = rule.c + rule.growth * math.log((parent.tried + rule.base) / rule.base)
    factor = 1.0 + rule.scale * (deviation(rule, parent, graph, number) / rule.usual - 1.0)
    untried = first_play(rule.root_fpu, parent) if depth == 0 else first_play(rule.fpu, parent)
    return KataGoHere(c * factor * math.sqrt(parent.tried + EVEN_UNVISITED), untried)


@helper
def deviation(rule, parent, graph, number):
    """The standard deviation of the values at a node, with the usual one as a prior."""
    visits = graph.nodes[slot(number)].visits
    if visits <= 1:
        return rule.usual
    square = parent.value * parent.value
    seen = max(mean_square(graph, number, parent), square)
    expected = square + rule.usual * rule.usual
    both = (expected * rule.weight + seen * visits) / (rule.weight + visits - 1.0)
    return math.sqrt(max(both - square, 0.0))


@score.register(KataGoHere)
def score_kata_go_here(rule, parent, edge):
    value = exact_value_of(parent, edge) if edge.visits > 0 else rule.untried
    return value + rule.weight * edge.prior / (1 + edge.visits)


class PUCT(NamedTuple):
    """AlphaZero's rule: Q + c P sqrt(N) / (1 + n), with c + growth * ln((N + base) / base) for c.

    growth=0 keeps c constant; AlphaZero uses growth 1 and base 19652, KataGo growth 0.45 and base 500.
    """

    c: NonNegative = 1.5
    growth: NonNegative = 0.0
    base: Positive = 19652.0
    fpu: Any = ParentFPU()


@score.register(PUCT)
def score_puct(rule, parent, edge):
    value = float(value_of(parent, edge)) if edge.visits > 0 else first_play(rule.fpu, parent)
    c = rule.c + rule.growth * math.log((parent.visits + rule.base) / rule.base)
    return value + c * edge.prior * math.sqrt(parent.visits) / (1 + edge.visits)


@needed_columns.register(KataGoPUCT)
def needed_columns_katago_puct(rule):
    return ("squares",)
