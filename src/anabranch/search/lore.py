"""Lore: what an edge of a graph has besides its own visits. AMAF values, and what a heuristic said when the edge was made.

**AMAF** (all moves as first). A simulation is a list of actions: those of its path, then those of its playouts. At every node
of the path, every edge whose action the same player plays there or later in the list gets the outcome as well, once. So an edge
learns from simulations that never took it. Actions that are not legal at the node have no edge there, and learn nothing; nor do
those of which the game says that they do not keep their meaning.

**Hints.** A heuristic is worth so many simulations of the edge, all of which had the value that it says; and as many AMAF ones
as it says. The former are kept apart, so that an edge's visits still count simulations; selection rules see both as one
(`sight`), whatever rule it is.

Playouts write into the `Trail` (`trail.py`); `spread_amaf` reads it. Next: `rave.py`, which reads AMAF values; `heuristic.py`.
"""

from typing import NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.search.counts import F4
from anabranch.search.graph import Graph
from anabranch.search.layout import (
    Off,
    On,
    clear_sight,
    column_of,
    edges_of,
    hinted,
    is_on,
    learnt_bias,
    sight,
    slot,
    total_of,
    view,
    width_of,
)
from anabranch.search.locks import lock, unlock
from anabranch.search.trail import PLAYOUTS, mark, mark_playout
from anabranch.search.virtual import note_under_way, recounted, under_way, with_pending

SAMPLED_FROM = 32  # visits of an edge from which on it says something about the bias of its AMAF value


# --- edges as rules see them --------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """An edge, its hint counted in. Rules read it as they read an edge."""

    visits: int
    total: float  # in the view of who moves, the only one that rules ask for
    prior: float
    action: int
    hint: float  # what the heuristic said, normalised
    amaf_visits: float
    amaf_total: float  # normalised


@total_of.register(Seen)
def _(edge, column):
    return edge.total


@recounted.register(Seen)
def _(edge, visits, total):
    return Seen(visits, total, edge.prior, edge.action, edge.hint, edge.amaf_visits, edge.amaf_total)


@sight.register(Graph)
def _(graph, e, parent):
    return with_pending(graph.virtual, clear_sight(graph, e, parent), graph.edges[e].pending, parent)


@clear_sight.register(Graph)
def _(graph, e, parent):
    return sight_of_graph(graph.known, graph, e, parent)


@generic
def sight_of_graph(known, graph, e, parent):
    """The same for a graph with lore, or without."""


@sight_of_graph.register(Off)
def _(known, graph, e, parent):
    return graph.edges[e]


@sight_of_graph.register(On)
def _(known, graph, e, parent):
    edge = graph.edges[e]
    lore = graph.lore[e]
    visits, hint = hint_of(graph, e)
    total = edge.total[parent.column] + visits * (parent.middle + hint * parent.unit)
    return Seen(edge.visits + visits, total, edge.prior, edge.action, hint, lore.amaf_visits, lore.amaf_total)


@helper
def hint_of(graph, e):
    """The simulations that a heuristic is worth at an edge, and what it says; none, and the middle, without one."""
    visits, value = np.int64(0), F4(0.0)
    if is_on(graph.advised):
        visits, value = np.int64(graph.hints[e].visits), F4(graph.hints[e].value)
    return visits, value


@under_way.register(Graph)
def _(graph, number):
    if is_on(graph.crew):
        return np.int64(graph.nodes[slot(number)].stamp)
    pending = np.int64(0)
    if is_on(graph.virtual):
        for e in edges_of(graph, number):
            pending += graph.edges[e].pending
    return pending


@note_under_way.register(Graph)
def _(graph, number, count):
    if is_on(graph.crew):
        graph.nodes[slot(number)].stamp += count


@hinted.register(Graph)
def _(graph, number):
    return np.int64(graph.hints[slot(number)].visits) if is_on(graph.advised) else np.int64(0)


@learnt_bias.register(Graph)
def _(graph):
    samples = graph.learnt[1]
    return (graph.learnt[0] / samples if samples > 0.0 else 0.0), samples


# --- hints --------------------------------------------------------------------------------------------------------------------


@helper
def keep_hints(graph, number, work):
    """A new node's edges get what the heuristic said of their actions, which stand in the same order. An action without AMAF
    values has no AMAF visits either."""
    trail = work.trail
    total = 0
    for i in range(graph.nodes[slot(number)].count):
        e = slot(number + 1 + i)
        if is_on(graph.advised):
            hint = graph.hints[e]
            hint.visits = trail.worth[i, 0]
            hint.amaf_visits = trail.worth[i, 1] if rules.keeps_meaning(work.states[0], graph.edges[e].action) else 0
            hint.value = trail.hints[i]
            total += trail.worth[i, 0]
        begin_amaf(graph, e)
    if is_on(graph.advised):
        graph.hints[slot(number)].visits = total


@helper
def begin_amaf(graph, e):
    """Let an edge have the AMAF value that a heuristic gives it, or none."""
    lore = graph.lore[e]
    lore.amaf_visits = 0
    lore.amaf_total = 0.0
    if is_on(graph.advised):
        hint = graph.hints[e]
        lore.amaf_visits = hint.amaf_visits
        lore.amaf_total = F4(hint.amaf_visits) * hint.value


# --- AMAF --------------------------------------------------------------------------------------------------------------------


@helper
def spread_amaf(graph, depth, limits, work):
    """Give AMAF values what the simulation found: a pass for each playout, or one if there were none."""
    trail = work.trail
    playouts = trail.ends[PLAYOUTS]
    if playouts == 0:
        for i in range(width_of(graph)):
            trail.values[0, i] = work.values[i]
    for p in range(max(playouts, 1)):
        trail.clock[0] += 1
        if playouts > 0:
            mark_playout(trail, p)
        spread_one(graph, depth, p, limits, work)


@helper
def spread_one(graph, depth, p, limits, work):
    """Walk up the path with playout `p`, whose actions are marked."""
    trail = work.trail
    width = width_of(graph)
    now = trail.clock[0]
    for d in range(depth - 1, -1, -1):
        number = work.path_nodes[d]
        taken = slot(work.path_edges[d])
        for i in range(width):
            trail.values[p, i] *= limits.discount
            if rules.has_rewards(work.states[0]):
                trail.values[p, i] += graph.rewards[taken, i]
        player = np.int64(graph.nodes[slot(number)].player)
        if player == CHANCE:
            continue
        action = np.int64(graph.edges[taken].action)
        if rules.keeps_meaning(work.states[0], action):
            mark(trail, player, action)
        lock(graph, number)
        value = trail.values[p, column_of(width, player)]
        normal = F4(view(width, player) * (value - limits.scale.middle) * limits.scale.factor)
        for e in edges_of(graph, number):  # adds nothing where there is nothing to add: a branch is foreseen every other time
            count = np.int32(trail.seen[player, graph.edges[e].action] == now)
            lore = graph.lore[e]
            lore.amaf_visits += count
            lore.amaf_total += F4(count) * normal
        learn_bias(graph, taken, limits, view(width, player), column_of(width, player))
        unlock(graph, number)


@helper
def learn_bias(graph, e, limits, sign, column):
    """Now and then, see how far an edge's AMAF value is from its own, less what chance alone would make of it."""
    edge = graph.edges[e]
    n = edge.visits
    if n < SAMPLED_FROM or (n & (n - 1)) != 0:
        return
    lore = graph.lore[e]
    if lore.amaf_visits <= n:  # none but the edge's own
        return
    others = (lore.amaf_visits - n) / lore.amaf_visits
    own = (edge.total[column] / n - sign * limits.scale.middle) * limits.scale.factor
    amaf = float(lore.amaf_total) / lore.amaf_visits
    mean = 0.25 * (own + 1.0) + 0.25 * (amaf + 1.0)
    chance = mean * (1.0 - mean) * (1.0 / n + 1.0 / (lore.amaf_visits - n))
    distance = 0.5 * (amaf - own)
    graph.learnt[0] += distance * distance - others * others * chance
    graph.learnt[1] += 1.0
