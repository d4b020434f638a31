"""What an edge of a graph has besides its own visits: AMAF values, and the hints a heuristic gave when the edge was created.

**AMAF** (all moves as first). A simulation is a list of actions: those of its path, then those of its playouts. At every node
of the path, every edge whose action the same player plays there or later in the list is also credited with the outcome, once.
So an edge learns from simulations that never took it. Actions that are illegal at the node have no edge there and get nothing;
neither do actions whose meaning, as the game declares, changes during a game.

**Hints.** A heuristic counts as so many simulations of the edge, all with the value it gives, and as so many AMAF simulations.
The former are stored separately, so that an edge's visits still count simulations; every selection rule sees the two combined
(`edge_view`).

Playouts write into the `PlayoutLog` (`playout_log.py`); `update_amaf` reads it. Next: `select/rave.py`, which reads AMAF
values; `heuristic.py`.
"""

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import helper
from anabranch.search.evaluate.playout_log import PLAYOUTS, mark, mark_playout
from anabranch.search.memory.graph import begin_amaf
from anabranch.search.memory.layout import F4, column_of, edges_of, is_on, sign_of, slot, width_of
from anabranch.search.memory.locks import lock, unlock

SAMPLED_FROM = 32  # visits from which on an edge is a sample of the bias of its AMAF value


# --- hints --------------------------------------------------------------------------------------------------------------------


@helper
def keep_hints(graph, number, work):
    """Store the heuristic's hints, which are in the order of a new node's edges, on those edges. An action without AMAF values
    has no AMAF visits either."""
    playout_log = work.playout_log
    total = 0
    for i in range(graph.nodes[slot(number)].count):
        e = slot(number + 1 + i)
        if is_on(graph.has_hints):
            hint = graph.hints[e]
            hint.visits = playout_log.worth[i, 0]
            hint.amaf_visits = playout_log.worth[i, 1] if rules.keeps_meaning(work.states[0], graph.edges[e].action) else 0
            hint.value = playout_log.hints[i]
            total += playout_log.worth[i, 0]
        begin_amaf(graph, e)
    if is_on(graph.has_hints):
        graph.hints[slot(number)].visits = total


# --- AMAF --------------------------------------------------------------------------------------------------------------------


@helper
def update_amaf(graph, depth, limits, work):
    """Update the AMAF values with a simulation: one pass per playout, or a single one if there were none."""
    playout_log = work.playout_log
    playouts = playout_log.ends[PLAYOUTS]
    if playouts == 0:
        for i in range(width_of(graph)):
            playout_log.values[0, i] = work.values[i]
    for p in range(max(playouts, 1)):
        playout_log.clock[0] += 1
        if playouts > 0:
            mark_playout(playout_log, p)
        update_amaf_by_playout(graph, depth, p, limits, work)


@helper
def update_amaf_by_playout(graph, depth, p, limits, work):
    """Walk up the path with playout `p`, whose actions are marked."""
    playout_log = work.playout_log
    width = width_of(graph)
    now = playout_log.clock[0]
    for d in range(depth - 1, -1, -1):
        number = work.path_nodes[d]
        taken = slot(work.path_edges[d])
        for i in range(width):
            playout_log.values[p, i] *= limits.discount
            if rules.has_rewards(work.states[0]):
                playout_log.values[p, i] += graph.rewards[taken, i]
        player = np.int64(graph.nodes[slot(number)].player)
        if player == CHANCE:
            continue
        action = np.int64(graph.edges[taken].action)
        if rules.keeps_meaning(work.states[0], action):
            mark(playout_log, player, action)
        lock(graph, number)
        value = playout_log.values[p, column_of(width, player)]
        normal = F4(sign_of(width, player) * (value - limits.scale.middle) * limits.scale.factor)
        for e in edges_of(graph, number):  # adds 0 instead of branching: such a branch is predicted half the time
            count = np.int32(playout_log.seen[player, graph.edges[e].action] == now)
            amaf_stats = graph.amaf[e]
            amaf_stats.amaf_visits += count
            amaf_stats.amaf_total += F4(count) * normal
        learn_bias(graph, taken, limits, sign_of(width, player), column_of(width, player))
        unlock(graph, number)


@helper
def learn_bias(graph, e, limits, sign, column):
    """At visits that are powers of two, sample the squared bias: the squared distance of an edge's AMAF value from its own,
    less what chance alone would cause."""
    edge = graph.edges[e]
    n = edge.visits
    if n < SAMPLED_FROM or (n & (n - 1)) != 0:
        return
    amaf_stats = graph.amaf[e]
    if amaf_stats.amaf_visits <= n:  # only the edge's own
        return
    others = (amaf_stats.amaf_visits - n) / amaf_stats.amaf_visits
    own = (edge.total[column] / n - sign * limits.scale.middle) * limits.scale.factor
    amaf = float(amaf_stats.amaf_total) / amaf_stats.amaf_visits
    mean = 0.25 * (own + 1.0) + 0.25 * (amaf + 1.0)
    chance = mean * (1.0 - mean) * (1.0 / n + 1.0 / (amaf_stats.amaf_visits - n))
    distance = 0.5 * (amaf - own)
    graph.learnt[0] += distance * distance - others * others * chance
    graph.learnt[1] += 1.0
