"""Selection rules: which edge a simulation follows.

A rule is an option class and one function, `score(rule, parent, edge)`. The edge with the highest score is taken; a node's
edges are stored in an order drawn from the seed, which breaks ties. Rules see values normalised to [-1, 1], in the view of the
player to move. First-play urgency, the value of an untried edge, is an option of the rule.
To add a rule, write a `NamedTuple` and a function under `@score.register(...)`. Next: `loops/tree.py`, which calls this.
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
    """What a score may use of the parent node; fields that a rule does not read are not computed."""

    visits: int  # N: its own evaluations, all edge visits, and the visits that a heuristic counts as
    tried: int  # the same without its own evaluations: N(s) of Gelly & Silver
    root_log_visits: float  # sqrt(ln N)
    value: float  # Q, normalised, in the view of the player to move
    visited_prior: float  # sum of the priors of edges with visits
    column: int  # which of an edge's totals belongs to the player to move
    middle: float  # of the scale, in that player's view
    factor: float
    unit: float  # 1 / factor
    bias: float  # squared, of AMAF values on [0, 1], as the search has estimated it so far; and
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
    """The score of an edge: the open edge with the highest score is followed, the first of equal ones.

    `parent` is a `Parent`; `edge` has `visits`, `prior`, `action` and, once it has visits, `value_of(parent, edge)`.
    Simulations under way are included. Values are normalised to [-1, 1], in the view of the player to move. This function must
    not change anything."""


# --- what rules build on ---------------------------------------------------------------------------------------------


@helper
def value_of(parent, edge):
    """Q of an edge with visits, normalised, in the view of the player to move at the parent; in single precision (see
    `visit_functions.py`).

    A rule that continues in double precision writes `float(value_of(...))`: plain Python would round a mixed sum to single
    precision, a kernel to double.
    """
    return (F4(total_of(edge, parent.column)) * inverse(edge.visits) - F4(parent.middle)) * F4(parent.factor)


@helper
def normal_total(parent, edge):
    """The same times the edge's visits, which may be 0: the sum of its values, each normalised."""
    return (F4(total_of(edge, parent.column)) - F4(edge.visits) * F4(parent.middle)) * F4(parent.factor)


@helper
def exact_value_of(parent, edge):
    """The same in double precision, for rules that scale small differences up."""
    return (total_of(edge, parent.column) / edge.visits - parent.middle) * parent.factor


@helper
def own_value_of(parent, graph, number):
    """The mean of a node's own evaluations, normalised, in the view of the player to move there."""
    own = sign_of(width_of(graph), graph.nodes[slot(number)].player) * own_value(graph, number, parent.column)
    return (own - parent.middle) * parent.factor


@helper
def parent_view(graph, number, scale):
    """The node as a `Parent`. Everything is inlined, so the loop is optimised away for rules that do not read its results."""
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
    """The number of the edge to follow: the one the rule prefers; at chance nodes, one drawn by probability."""
    if graph.nodes[slot(number)].player == CHANCE:
        return draw_event(graph, number, work.random)
    return prefer(rule, graph, number, depth, limits, work)


@generic(default=True)
def prefer(rule, graph, number, depth, limits, work):
    """The number of the edge that the rule prefers: the one with the highest score, for rules that have one.

    A rule that does not give scores registers this. A node's edges are `edges_of(graph, number)`; an edge that is not open
    (`layout.is_open`) must not be returned while another is open. The node is locked; only `work.random` may be changed."""
    parent = parent_view(graph, number, limits.scale)
    return highest_scored(at_node(rule, parent, graph, number, depth), parent, graph, number, limits, work)


@generic(default=True)
def at_node(rule, parent, graph, number, depth):
    """The rule that gives the scores at this node, by default the rule itself. A rule whose scores depend on all edges together
    (on the lowest value among them, say) looks at them here, once, and returns an option that holds the result."""
    return rule


@generic(default=True)
def chooses_pairs(rule):
    """Whether a selection rule is for simultaneous moves: an edge then is a pair of actions, one of each player."""
    return False


@generic(default=True)
def is_ordered(rule):
    """Whether a rule needs edges in the order of their hints and priors; a rule around another does if that one does."""
    return hasattr(rule, "rule") and is_ordered(rule.rule)


@generic(default=True)
def parts_of(rule):
    """The fields of a rule that hold options, each with generic functions, one of which must be registered for its value."""
    return usual_parts(rule)


def usual_parts(rule: Any) -> dict[str, tuple[Any, ...]]:
    """Those of them that have the field names most rules use."""
    usual = {"fpu": (first_play,), "root_fpu": (first_play,), "rule": (score, at_node)}
    return {name: functions for name, functions in usual.items() if name in rule._fields}


def inner_rule(rule: Any) -> Any:
    """The innermost of nested rules."""
    return inner_rule(rule.rule) if hasattr(rule, "rule") else rule


@generic(default=True)
def check_limits_of_run(rule, visits, total):
    """Raise a `SearchError` if a rule cannot search under these limits of `Search.run`; None means no such limit."""


@generic(default=True)
def plan_simulations(rule, graph, root, simulations, random):
    """Called before a search of so many simulations from this root, for rules that plan ahead. Plain Python."""


class NoLearning(NamedTuple):
    """Stands in for rules that keep only visits and totals, so that all of them share one kernel."""


@generic(default=True)
def learn(rule, graph, number, e, limits, work):
    """Called after edge `e` of a node was taken, counted and valued, for rules that keep more. The node is locked."""


def learner_of(rule: Any) -> Any:
    """The innermost rule if it registers `learn`, or NoLearning."""
    inner = inner_rule(rule)
    return inner if serves(learn)(inner) else NoLearning()


@helper
def highest_scored(rule, parent, graph, number, limits, work):
    """The open edge with the highest score; of equal ones, the first."""
    best = slot(number + 1)
    best_score = F4(-math.inf)
    if is_on(graph.shared) and under_way(graph, number) == 0:  # usual below the top; with threads, the node has the count
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
    """An edge as this rule sees it: unchanged, except for rules that read AMAF values of ancestors."""
    return edge


@helper
def candidate_edges(graph, number, limits):
    """The numbers of a node's edges that may be chosen: all of them, except under progressive widening."""
    first = slot(number + 1)
    return range(first, first + slot(min(np.int64(graph.nodes[slot(number)].count), limits.widest)))


@helper
def draw_event(graph, number, random):
    """The edge of a chance event, drawn in proportion to the priors."""
    left = uniform(random)
    last = slot(number + 1)
    for e in edges_of(graph, number):
        last = e
        left -= graph.edges[e].prior
        if left < 0.0:
            break
    return last
