"""Whether a node that was read from a file matches its position: what `check_saved.py` checks at every step of its walk.

Each feature of a graph (`layout.On`) has its line here: columns of nodes are checked in `has_sound_fields`, columns of edges in
`has_sound_statistics`. A number that is only ever compared needs no check.
"""

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.jit import generic, helper
from anabranch.search.loops.steps import choices
from anabranch.search.memory.graph import HIGH, LOW, OVER, Graph
from anabranch.search.memory.layout import NO_NODE, edges_of, is_on, slot
from anabranch.search.memory.tree import Tree

LARGEST = 1e100  # of all values: their sums and squares are still finite
LARGEST_COUNT = 2**31 - 2**19  # of visits: a search can still stop in time
ROUNDING = 1e-6  # of sums in single precision that should be 1
UNLIKELY = 1e-5  # probabilities are stored in single precision


# --- positions and edges above -------------------------------------------------------------------------------------------


@generic
def is_place_of(graph, number, state):
    """Whether a node's key is that of this position."""


@is_place_of.register(Tree)
def _is_place_in_tree(graph, number, state):
    return True


@is_place_of.register(Graph)
def _is_place_in_graph(graph, number, state):
    low, high = rules.key(state)
    key = graph.headers[slot(number - 1)].key
    return key[0] == low and key[1] == high


@generic
def fits_edge(graph, e, child):
    """Whether the counts of an edge and its child agree, where they must."""


@fits_edge.register(Tree)
def _fits_in_tree(graph, e, child):
    return graph.nodes[slot(child)].visits == graph.edges[slot(e)].visits


@fits_edge.register(Graph)
def _fits_in_graph(graph, e, child):
    return True


# --- the node and its edges ----------------------------------------------------------------------------------------------


@helper
def is_number(value):
    """Whether it is finite and within limits."""
    return abs(value) <= LARGEST


@helper
def is_count(number):
    """Whether it is a valid number of visits."""
    return 0 <= number <= LARGEST_COUNT


@helper
def is_amount(value):
    """Whether it is a non-negative number."""
    return 0.0 <= value <= LARGEST


@helper
def is_share(value):
    """Whether it is a number from 0 to 1, up to rounding."""
    return 0.0 <= value <= 1.0 + ROUNDING


@helper
def is_sound(graph, number, state, legal, work):
    """Whether a node and its edges match this position. `legal`: see `check_saved.Trip`."""
    node = graph.nodes[slot(number)]
    if not has_sound_fields(graph, number, rules.is_over(state), state):
        return False
    if node.count == 0:
        return is_count(node.visits) and EVERYONE <= node.player < rules.players(state)
    player, count = choices(state, work)
    if node.player != player or np.int64(node.count) != count:
        return False
    for i in range(count):
        legal[work.actions[i]] = number + 1
    visits = np.int64(0)
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        if np.int64(edge.action) >= len(legal) or legal[edge.action] != number + 1:
            return False
        legal[edge.action] = 0  # no other edge may have it
        if player == CHANCE and not abs(edge.prior - work.probabilities[edge.action]) <= UNLIKELY:
            return False
        if not is_sound_edge(edge) or not has_sound_statistics(graph, e, state):
            return False
        visits += edge.visits
    if rules.at_once(state) and not is_rising(graph, number):  # a grid: see `simultaneous/grid.py`
        return False
    return adds_up(graph, number, visits, state)


@helper
def is_rising(graph, number):
    """Whether the edges of a node are sorted by action."""
    for e in range(number + 2, number + 1 + np.int64(graph.nodes[slot(number)].count)):
        if graph.edges[slot(e)].action <= graph.edges[slot(e - 1)].action:
            return False
    return True


@helper
def is_sound_edge(edge):
    """Whether an edge's counts are valid counts and its values finite."""
    for i in range(len(edge.total)):
        if not is_number(edge.total[i]):
            return False
    return is_count(edge.visits) and edge.pending == 0 and is_share(edge.prior)


@generic
def has_sound_fields(graph, number, over, state):
    """Whether the fields of a node are possible for this position; `over`: whether the game is over there."""


@has_sound_fields.register(Tree)
def _has_sound_fields_in_tree(graph, number, over, state):
    node = graph.nodes[slot(number)]
    for i in range(len(node.value)):
        if not is_number(node.value[i]):
            return False
    return node.lock == 0 and node.pending == 0 and (node.count == 0) == over


@has_sound_fields.register(Graph)
def _has_sound_fields_in_graph(graph, number, over, state):
    node = graph.nodes[slot(number)]
    if is_on(graph.shared):
        node.under_way = 0  # with threads, simulations under way: there are none
    for i in range(len(node.mean)):
        if not is_number(node.mean[i]) or not is_number(graph.headers[slot(number - 1)].value[i]):
            return False
        if is_on(graph.has_bounds) and not graph.bounds[slot(number), LOW, i] <= graph.bounds[slot(number), HIGH, i]:
            return False
    if is_on(graph.has_weights) and not (
        is_amount(graph.weights[slot(number), 0]) and is_amount(graph.weights[slot(number), 1])
    ):
        return False
    if is_on(graph.has_repetition_keys):
        low, high = rules.repetition_key(state)
        if graph.repetition_keys[slot(number), 0] != low or graph.repetition_keys[slot(number), 1] != high:
            return False
    if node.own < 0 or node.last_simulation < 0 or ((node.flags & OVER) != 0) != over:
        return False
    return node.count > 0 or node.visits == node.own


@generic
def adds_up(graph, number, visits, state):
    """Whether a node's visits are the sum of its edges' visits and its own evaluations, and its other sums are consistent."""


@adds_up.register(Tree)
def _adds_up_in_tree(graph, number, visits, state):
    return visits < np.int64(graph.nodes[slot(number)].visits) <= LARGEST_COUNT


@adds_up.register(Graph)
def _adds_up_in_graph(graph, number, visits, state):
    node = graph.nodes[slot(number)]
    if is_on(graph.has_hints):
        hints = np.int64(0)
        for e in edges_of(graph, number):
            hints += graph.hints[e].visits
        if graph.hints[slot(number)].visits != hints:
            return False
    if node.player != CHANCE and not has_sound_strategies(graph.has_strategies, graph, number, state):
        return False
    return is_count(node.visits) and np.int64(node.visits) == node.own + visits


@generic
def has_sound_statistics(graph, e, state):
    """Whether the columns of an edge have valid contents."""


@has_sound_statistics.register(Tree)
def _has_sound_statistics_in_tree(graph, e, state):
    return True


@has_sound_statistics.register(Graph)
def _has_sound_statistics_in_graph(graph, e, state):
    edge = graph.edges[e]
    if is_on(graph.has_cuts) and not 0 <= graph.cuts[e] <= edge.visits:
        return False
    if is_on(graph.has_squares) and not is_amount(graph.squares[e]):
        return False
    if is_on(graph.has_amaf) and not (is_count(graph.amaf[e].amaf_visits) and is_number(graph.amaf[e].amaf_total)):
        return False
    if is_on(graph.has_hints):
        hint = graph.hints[e]
        if not (is_count(hint.visits) and is_count(hint.amaf_visits) and is_number(hint.value)):
            return False
    if is_on(graph.has_strategies) and not has_numbers(graph.strategies, e):
        return False
    if rules.has_rewards(state) and (edge.visits > 0 or edge.child != NO_NODE):  # before that its reward is not known
        return has_numbers(graph.rewards, e)
    return True


@helper
def has_numbers(rows, e):
    """Whether the numbers of a row are finite and within limits."""
    sound = True
    for i in range(rows.shape[1]):
        sound = sound and is_number(rows[e, i])
    return sound


@generic(default=True)
def has_sound_strategies(strategic, graph, number, state):
    """Whether what rules for simultaneous moves store at a node is valid; `strategic`: On or Off, whether they store anything.
    (`simultaneous/strategies.py` implements this.)"""
    return True
