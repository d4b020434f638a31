"""Selection rules: which edge a simulation follows.

A rule is an option class and one function, `score(rule, parent, edge)`; the edge with the highest score is taken, and
edges stand in an order drawn from the seed, so that ties are broken by it. Values are seen normalised to [-1, 1], in the
view of the player who moves. First-play urgency, the value of an edge that was never tried, is an option of the rule.
A rule of your own: a `NamedTuple` and a function under `@score.register(...)`. Next: `loops/tree.py`, which calls this.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.jit.random import uniform
from anabranch.search.checks import serves
from anabranch.search.memory.layout import F4, column_of, edges_of, is_on, is_open, own_value, sign_of, slot, width_of
from anabranch.search.select.edge_view import heuristic_visits, idle_edge_view, learnt_bias, total_of
from anabranch.search.select.virtual_loss import edge_view, under_way, virtual_visits
from anabranch.search.select.visit_functions import inverse, log_root

__all__ = ["ConstantFPU", "Parent", "ParentFPU", "ReducedFPU", "at_node", "first_play", "learn", "prefer", "score", "value_of"]


class Parent(NamedTuple):
    """What a score may know of the node above; what a rule does not read is not computed."""

    visits: int  # N: its own evaluations, all edge visits, and what a heuristic is worth
    tried: int  # the same without its own evaluations: N(s) of Gelly & Silver
    root_log_visits: float  # sqrt(ln N)
    value: float  # Q, normalised, in the view of who moves
    visited_prior: float  # sum of the priors of edges with visits
    column: int  # which of an edge's totals belongs to who moves
    middle: float  # of the scale, in that player's view
    factor: float
    unit: float  # 1 / factor
    bias: float  # squared, of AMAF values on [0, 1], as far as the search has found it out; and
    bias_samples: float  # from how many samples: see `evaluate/amaf.py`


# --- first-play urgency ------------------------------------------------------------------------------------------------


class ConstantFPU(NamedTuple):
    """A fixed value. The default of UCT, infinity, tries every action once before any twice."""

    value: float = math.inf


class ParentFPU(NamedTuple):
    """The parent's value, less an offset."""

    offset: float = 0.0


class ReducedFPU(NamedTuple):
    """The parent's value, less an offset times the square root of the visited prior mass (KataGo's: 0.2)."""

    offset: float = 0.2


@generic
def first_play(fpu, parent):
    """The value of an edge that was never tried."""


@first_play.register(ConstantFPU)
def first_play_constant_fpu(fpu, parent):
    return fpu.value


@first_play.register(ParentFPU)
def first_play_parent_fpu(fpu, parent):
    return parent.value - fpu.offset


@first_play.register(ReducedFPU)
def first_play_reduced_fpu(fpu, parent):
    return parent.value - fpu.offset * math.sqrt(parent.visited_prior)


@generic
def score(rule, parent, edge):
    """How much this edge wants to be followed: the open edge with the highest score is, of equal ones the first.

    `parent` is a `Parent`, `edge` has `visits`, `prior`, `action`, and `value_of(parent, edge)`, once it has visits;
    simulations under way are counted in. Values are normalised to [-1, 1], in the view of the player who moves. Nothing may be
    changed."""


# --- what rules stand on ---------------------------------------------------------------------------------------------


@helper
def value_of(parent, edge):
    """Q of an edge with visits, normalised, in the view of who moves at the parent; in single precision (see
    `visit_functions.py`).

    A rule that goes on in double says `float(value_of(...))`: plain Python would round a sum of both to single, a kernel to
    double.
    """
    return (F4(total_of(edge, parent.column)) * inverse(edge.visits) - F4(parent.middle)) * F4(parent.factor)


@helper
def normal_total(parent, edge):
    """The same times the edge's visits, which may be none: the sum of its values, each normalised."""
    return (F4(total_of(edge, parent.column)) - F4(edge.visits) * F4(parent.middle)) * F4(parent.factor)


@helper
def exact_value_of(parent, edge):
    """The same in double precision, for rules that scale small differences up."""
    return (total_of(edge, parent.column) / edge.visits - parent.middle) * parent.factor


@helper
def own_value_of(parent, graph, number):
    """What a node's own evaluations say of it, normalised, in the view of who moves there."""
    own = sign_of(width_of(graph), graph.nodes[slot(number)].player) * own_value(graph, number, parent.column)
    return (own - parent.middle) * parent.factor


@helper
def parent_view(graph, number, scale):
    """The node as a `Parent`. All of this is inlined, so that the loop vanishes for rules that do not read its results."""
    node = graph.nodes[slot(number)]
    width = width_of(graph)
    column = column_of(width, node.player)
    sign = sign_of(width, node.player)
    total = 0.0
    tried = 0
    prior = 0.0
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        if edge.visits > 0:
            total += edge.total[column]
            tried += edge.visits
            prior += edge.prior
    own = node.visits - tried
    mean = (own * sign * own_value(graph, number, column) + total) / node.visits
    middle = sign * scale.middle
    extra = heuristic_visits(graph, number) + virtual_visits(graph.virtual, under_way(graph, number))
    bias, samples = learnt_bias(graph)
    return Parent(
        node.visits + extra,
        tried + extra,
        log_root(node.visits + extra),
        (mean - middle) * scale.factor,
        prior,
        column,
        middle,
        scale.factor,
        1.0 / scale.factor,
        bias,
        samples,
    )


@helper
def choose_edge(rule, graph, number, depth, limits, work):
    """The number of the edge to follow: what the rule prefers; at chance, one drawn by its probability."""
    if graph.nodes[slot(number)].player == CHANCE:
        return draw_event(graph, number, work.random)
    return prefer(rule, graph, number, depth, limits, work)


@generic(default=True)
def prefer(rule, graph, number, depth, limits, work):
    """The number of the edge that the rule prefers: the one with the highest score, for rules that have one.

    A rule that does not give scores registers this. A node's edges are `edges_of(graph, number)`; one that is not open
    (`layout.is_open`) must not be given while another is. The node is locked; nothing but `work.random` may be changed."""
    parent = parent_view(graph, number, limits.scale)
    return highest_scored(at_node(rule, parent, graph, number, depth), parent, graph, number, limits, work)


@generic(default=True)
def at_node(rule, parent, graph, number, depth):
    """The rule as it gives scores at this node. One whose scores depend on all edges together (on the lowest value among them,
    say) looks at them here, once, and gives an option that knows; for all others it is the rule itself."""
    return rule


@generic(default=True)
def chooses_pairs(rule):
    """Whether a selection rule is for players who move at once: an edge then is a pair of their actions."""
    return False


@generic(default=True)
def is_ordered(rule):
    """Whether a rule wants edges in the order of their hints and priors. One around another wants what that wants."""
    return hasattr(rule, "rule") and is_ordered(rule.rule)


@generic(default=True)
def parts_of(rule):
    """The fields of a rule that hold options, each with generic functions: one of them must be defined for what it holds."""
    return usual_parts(rule)


def usual_parts(rule: Any) -> dict[str, tuple[Any, ...]]:
    """Those that are called as in most rules."""
    usual = {"fpu": (first_play,), "root_fpu": (first_play,), "rule": (score, at_node)}
    return {name: functions for name, functions in usual.items() if name in rule._fields}


def inner_rule(rule: Any) -> Any:
    """The rule that all others are around."""
    return inner_rule(rule.rule) if hasattr(rule, "rule") else rule


@generic(default=True)
def check_limits_of_run(rule, visits, total):
    """Raise a `SearchError` if a rule cannot search under these limits of `Search.run`; None: there is no such limit."""


@generic(default=True)
def plan_simulations(rule, graph, root, simulations, random):
    """A search of so many simulations begins at this root: let a rule that plans ahead do so. Plain Python."""


class NoLearning(NamedTuple):
    """In place of a rule that keeps nothing but visits and totals: all of these share one kernel."""


@generic(default=True)
def learn(rule, graph, number, e, limits, work):
    """Edge `e` of a node was taken, counted and valued: let the rule draw its conclusions. The node is locked."""


def learner_of(rule: Any) -> Any:
    """The rule among these that draws conclusions of its own, or NoLearning."""
    inner = inner_rule(rule)
    return inner if serves(learn)(inner) else NoLearning()


@helper
def highest_scored(rule, parent, graph, number, limits, work):
    """The open edge with the highest score; of equal ones, the first."""
    best = slot(number + 1)
    best_score = F4(-math.inf)
    if is_on(graph.shared) and under_way(graph, number) == 0:  # as mostly below the top; with threads that is known at once
        for e in candidate_edges(graph, number, limits):
            edge_score = score(rule, parent, adapted_view(rule, idle_edge_view(graph, e, parent), graph, number, work))
            if edge_score > best_score and is_open(graph, number, e, limits):
                best = e
                best_score = edge_score
        return best
    for e in candidate_edges(graph, number, limits):
        edge_score = score(rule, parent, adapted_view(rule, edge_view(graph, e, parent), graph, number, work))
        if edge_score > best_score and is_open(graph, number, e, limits):
            best = e
            best_score = edge_score
    return best


@generic(default=True)
def adapted_view(rule, edge, graph, number, work):
    """An edge as this rule wants to see it: as it is, but for rules that read AMAF values of ancestors."""
    return edge


@helper
def candidate_edges(graph, number, limits):
    """The numbers of a node's edges that may be chosen: all, unless the search widens step by step."""
    first = slot(number + 1)
    return range(first, first + slot(min(np.int64(graph.nodes[slot(number)].count), limits.widest)))


@helper
def draw_event(graph, number, random):
    """A chance event's edge, drawn by its prior."""
    left = uniform(random)
    last = slot(number + 1)
    for e in edges_of(graph, number):
        last = e
        left -= graph.edges[e].prior
        if left < 0.0:
            break
    return last
