"""How values are backed up in a graph, where a node has many parents: `GraphOptions(update=...)`.

On a tree, every value backed up through an edge is a sample of the child below it, so a running mean is right. On a graph
the child also learns from other paths, and Q(n, a) follows the child's *current* value: Q(n, a) = r + gamma Q(child). All three
options keep `edge.total` = visits times that, and differ in when they refresh it:

    Incremental  at the edge that was taken (default): cheap, and in the limit the same as
    Idempotent   at every edge of a node, on the way down and on the way up: independent of the order of visits
    CatchUp      edges keep their own running mean (Czech, Korus & Kersting 2020); one that deviates from its child by more
                 than a tolerance gets, instead of a simulation, the value that corrects it

`Stop` and `Continue` say what a simulation does at a child that has more visits than the edge to it.
Derivation and measurements: docs/algorithms/graph.md. Next: `loops/graph.py`.
"""

import math
from typing import NamedTuple

from anabranch.games import rules
from anabranch.jit import generic, helper
from anabranch.jit.options import NonNegative, Share
from anabranch.jit.random import uniform
from anabranch.search.backup.bounds import clip, narrow
from anabranch.search.backup.operators import is_mean, value_of_node
from anabranch.search.memory.graph import child_of
from anabranch.search.memory.layout import NO_NODE, edges_of, is_on, sign_of, slot
from anabranch.search.memory.repetition import cut_value

__all__ = [
    "CatchUp",
    "Continue",
    "Idempotent",
    "Incremental",
    "Stop",
    "after_visit",
    "before_choice",
    "has_enough",
    "keeps_means",
    "must_catch_up",
    "pull_all",
    "pull_edge",
    "renew",
    "settle_node",
]


class Idempotent(NamedTuple):
    """A node's value is computed from all its children whenever a simulation passes."""


class Incremental(NamedTuple):
    """Only the edge that was taken is updated; the node's value changes by the difference."""


class CatchUp(NamedTuple):
    """Running means on edges; one that differs from its child, which has more visits, by more than `tolerance` catches up.

    The tolerance is in units of the game's returns; 0.01 is that of Czech et al.
    """

    tolerance: NonNegative = 0.01


class Stop(NamedTuple):
    """End a simulation at a child with more than `factor` times the edge's visits plus `number`, unless it leaks through.

    The child already has more visits than this edge; the visit is counted on the edge and nothing is evaluated.
    """

    factor: NonNegative = 1.0
    number: NonNegative = 0.0
    leak: Share = 0.0  # probability of going on anyway


class Continue(NamedTuple):
    """Always go on to a leaf."""


@generic
def has_enough(ahead, edge, child, random):
    """Whether a simulation that reached `child`, a node with visits, through this edge should end there: it then counts on the
    edges of its path and backs up the child's value, and nothing is evaluated.

    `edge.visits` are the edge's visits before this one, `child.visits` all visits of the child, through any edge; `random` is
    for `anabranch.uniform(random)`. This function must not change anything. With several threads both counts may change
    meanwhile."""


@has_enough.register(Stop)
def has_enough_stop(ahead, edge, child, random):
    if child.visits <= ahead.factor * edge.visits + ahead.number:
        return False
    return ahead.leak == 0.0 or uniform(random) >= ahead.leak


@has_enough.register(Continue)
def has_enough_continue(ahead, edge, child, random):
    return False


# --- reading children --------------------------------------------------------------------------------------------------------


@helper
def edge_terms(graph, number, e, i, limits, state):
    """Two terms: Q(n, a) is the first, from reward and cuts, plus the second, from the discount, times the child's value."""
    edge = graph.edges[slot(e)]
    fixed = 0.0
    slope = limits.discount
    if is_on(graph.has_cuts) and graph.cuts[slot(e)] > 0:
        share = graph.cuts[slot(e)] / edge.visits
        cut = cut_value(limits.repetition, len(edge.total), graph.nodes[slot(number)].player, i, limits.scale)
        fixed = share * limits.discount * cut
        slope = (1.0 - share) * limits.discount
    if rules.has_rewards(state):
        fixed += graph.rewards[slot(e), i]
    return fixed, slope


@helper
def edge_worth(graph, number, e, i, limits, state):
    """Q(n, a) in player 0's view, or column `i` of it; the edge has visits and a child, which has not moved."""
    fixed, slope = edge_terms(graph, number, e, i, limits, state)
    return fixed + slope * graph.nodes[slot(graph.edges[slot(e)].child)].mean[i]


@helper
def pull_edge(graph, number, e, limits, state):
    """Update the total of a node's edge, which has visits and a child, from that child."""
    edge = graph.edges[slot(e)]
    sign = sign_of(len(edge.total), graph.nodes[slot(number)].player)
    for i in range(len(edge.total)):
        edge.total[i] = sign * edge.visits * edge_worth(graph, number, e, i, limits, state)


@helper
def pull_all(graph, number, limits, state):
    """Update all of a node's edges from their children."""
    for e in edges_of(graph, number):
        if graph.edges[e].visits > 0 and child_of(graph, e) != NO_NODE:
            pull_edge(graph, number, e, limits, state)


@helper
def renew(operator, graph, number, limits, work):
    """Recompute a node's value and bounds from all its children."""
    pull_all(graph, number, limits, work.states[0])
    settle_node(operator, graph, number, limits, work)


@helper
def settle_node(operator, graph, number, limits, work):
    """Compute a node's value from its edges as they are, and its bounds."""
    value_of_node(operator, graph, number, work.values, work.sums)
    node = graph.nodes[slot(number)]
    for i in range(len(node.mean)):
        node.mean[i] = work.values[i]
    if is_on(graph.has_bounds):
        narrow(graph, number, limits, work.states[0])
        clip(graph, number)


# --- the three ways --------------------------------------------------------------------------------------------------------


@generic(default=True)
def before_choice(update, graph, number, limits, state):
    """Called on a node before one of its edges is chosen; by default it does nothing. The node is locked: only its edges may be
    changed. `state` identifies the game, not the position."""


@before_choice.register(Idempotent)
def before_choice_idempotent(update, graph, number, limits, state):
    pull_all(graph, number, limits, state)


@generic(default=True)
def must_catch_up(update, graph, number, e, limits, work):
    """Whether the edge must catch up with its child, a node with visits, instead of being followed; by default never. If so,
    the simulation ends there, and `work.values`, player 0's or one number per player, must be set to what is backed up."""
    return False


@must_catch_up.register(CatchUp)
def must_catch_up_catch_up(update, graph, number, e, limits, work):
    edge = graph.edges[slot(e)]
    child = graph.nodes[slot(edge.child)]
    if edge.visits == 0 or child.visits <= edge.visits:
        return False
    sign = sign_of(len(edge.total), graph.nodes[slot(number)].player)
    largest = 0.0
    for i in range(len(edge.total)):
        largest = max(
            largest, abs(edge_worth(graph, number, e, i, limits, work.states[0]) - sign * edge.total[i] / edge.visits)
        )
    if largest <= update.tolerance:
        return False
    half = 1.0 / limits.scale.factor
    for i in range(len(edge.total)):
        behind = edge_worth(graph, number, e, i, limits, work.states[0]) - sign * edge.total[i] / edge.visits
        wanted = child.mean[i] + edge.visits * behind / limits.discount
        work.values[i] = min(max(wanted, limits.scale.middle - half), limits.scale.middle + half)
    return True


@generic
def after_visit(update, operator, graph, number, e, limits, work):
    """Update a node after its edge `e` was taken and counted, on the edge and on the node.

    Two fields must be updated: `graph.edges[e].total`, the edge's visits times its value in the view of the player to move (its
    child is `child_of(graph, e)`, or NO_NODE if there was no room for one, and the total is already right), and
    `graph.nodes[number].mean`, the node's value for player 0, or for each player. `pull_edge` does the first; `settle_node`
    does the second by the backup operator, and the bounds. At the last node of the path, `work.values` is what its edge led to;
    above that, what `after_visit` of the node below has left in it. The node is locked: nothing else may be changed."""


@after_visit.register(Idempotent)
def after_visit_idempotent(update, operator, graph, number, e, limits, work):
    renew(operator, graph, number, limits, work)


@after_visit.register(Incremental)
def after_visit_incremental(update, operator, graph, number, e, limits, work):
    edge = graph.edges[slot(e)]
    node = graph.nodes[slot(number)]
    sign = sign_of(len(edge.total), node.player)
    child = child_of(graph, e)
    if is_mean(operator) and not is_on(graph.has_bounds) and child != NO_NODE:
        share = 1.0 / node.visits
        for i in range(len(edge.total)):
            fixed, slope = edge_terms(graph, number, e, i, limits, work.states[0])
            before = sign * edge.total[i]
            rest = ((node.visits - 1) * node.mean[i] - before + edge.visits * fixed) * share
            slope *= edge.visits
            # The level above depends on what follows, so everything else is computed before the child's value is read.
            mean = graph.nodes[slot(child)].mean[i]
            node.mean[i] = rest + slope * share * mean
            edge.total[i] = sign * (edge.visits * fixed + slope * mean)
    else:
        if child != NO_NODE:
            pull_edge(graph, number, e, limits, work.states[0])
        settle_node(operator, graph, number, limits, work)


@after_visit.register(CatchUp)
def after_visit_catch_up(update, operator, graph, number, e, limits, work):
    edge = graph.edges[slot(e)]
    node = graph.nodes[slot(number)]
    sign = sign_of(len(edge.total), node.player)
    for i in range(len(edge.total)):
        work.values[i] *= limits.discount
        if rules.has_rewards(work.states[0]):
            work.values[i] += graph.rewards[slot(e), i]
        if edge.child != NO_NODE:  # else `record_value_at_edge` has added it already
            edge.total[i] += sign * work.values[i]
        node.mean[i] += (work.values[i] - node.mean[i]) / node.visits
    if is_on(graph.has_bounds):
        narrow(graph, number, limits, work.states[0])
        clip(graph, number)


@generic(default=True)
def keeps_means(update):
    """Whether edges keep their own running means, so that nothing else may update them from their children."""
    return False


@keeps_means.register(CatchUp)
def keeps_means_catch_up(update):
    return True


CONTINUE = Stop(number=math.inf)  # `Continue` as kernels see it: one kernel serves both


# --- what `Search` calls ------------------------------------------------------------------------------------------------------


@generic(default=True)
def as_stop(ahead):
    """The option as kernels see it."""
    return ahead


@as_stop.register(Continue)
def as_stop_continue(ahead):
    return CONTINUE


@generic(default=True)
def stays_on_path(stale):
    """Whether an option for stale values (`propagate.py`) changes nothing off the path of a simulation."""
    return False
