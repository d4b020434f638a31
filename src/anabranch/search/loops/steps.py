"""What the loops on trees and on graphs are made of: their rules and limits, their scratch memory, and the steps they share.

Next: `tree.py`, `graph.py`.
"""

from typing import Any, NamedTuple

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import by_pointer, generic, helper, refer
from anabranch.jit.random import below
from anabranch.search.evaluate.no_legal_action import mark_stuck
from anabranch.search.evaluate.rollout import LEAF_STATE
from anabranch.search.memory.layout import NO_NODE, edges_of, slot
from anabranch.search.select.base import choose_edge
from anabranch.search.select.limits import at_depth, first_allowed


class Rules(NamedTuple):
    """The options that kernels are compiled for."""

    select: Any
    evaluate: Any
    backup: Any


@by_pointer
class Work(NamedTuple):
    """Scratch memory of one thread."""

    states: Any  # records: ROOT_STATE, LEAF_STATE, PLAYOUT_STATE, and CAMP_STATE for threads on a compact tree
    random: Any  # u8 (1,): the random generator
    path_nodes: Any  # i4 (depth,): nodes from the root down
    path_edges: Any  # i4 (depth,): the edge taken at each
    path_rewards: Any  # f8 (depth, width): what each edge paid
    values: Any  # f8 (width,): the leaf's value
    sums: Any  # f8 (width,): sums of the values of several simulations
    actions: Any  # i8 (largest number of edges,)
    priors: Any  # f4 likewise: those of an evaluator in Python
    probabilities: Any  # f8 (events,)
    rewards: Any  # f8 (players,)
    returns: Any  # f8 (players,)
    exhausted: Any  # u8 (keys, 2): positions that may not occur again; see `memory/repetition.py`
    ancestry: Any  # i4 (4, nodes): scratch of `propagate.Ancestors`, else (4, 0)
    playout_log: Any  # what AMAF values and heuristics need: see `playout_log.PlayoutLog`
    grid: Any  # f8 (2, 4, actions): scratch of rules for simultaneous moves (`simultaneous/grid.py`), else (2, 4, 0)
    tableau: Any  # f8: scratch of `simultaneous/equilibrium.py`, else (0, 0)
    stuck: Any  # i8 (1,): whether a position without a legal action was met; see `evaluate/no_legal_action.py`
    stuck_state: Any  # records (1,): that position


@generic(default=True)
def grid_shape(game):
    """The shape of `Work.grid` in searches of a game: empty where players take turns."""
    return 2, 4, 0


@generic(default=True)
def tableau_shape(rule, game):
    """The shape of `Work.tableau`, for a selection rule that solves something at a node; for the others it is empty."""
    return 0, 0


@helper
def select_edge(select, graph, number, depth, limits, work):
    """The number of the edge that a simulation follows from a node: the one the rule prefers, at the root among the actions
    that the search is restricted to."""
    if depth == 0 and limits.only != NO_NODE:
        return slot(number + 1 + limits.only)
    chosen = choose_edge(select, graph, number, depth, refer(at_depth(limits, depth)), work)
    if depth == 0 and limits.some and not limits.allowed[graph.edges[chosen].action]:
        return first_allowed(graph, number, limits)  # proofs have closed all the allowed ones
    return chosen


@helper
def step(state, action, depth, work):
    """Play an edge's action and record its reward."""
    if rules.has_rewards(state):
        work.rewards[:] = 0.0
    rules.play(state, action, work.rewards)
    if rules.has_rewards(state):
        for i in range(rules.value_width(state)):
            work.path_rewards[depth, i] = work.rewards[i]


@helper
def read_outcome(work):
    """Write the outcome of LEAF_STATE, where the game is over, into `work.values`."""
    rules.returns(work.states[LEAF_STATE], work.returns, work.random)
    for i in range(rules.value_width(work.states[LEAF_STATE])):
        work.values[i] = work.returns[i]


@helper
def choices(state, work):
    """Who moves at a state that is not over, and how many actions are legal, or events possible; they are in `work.actions`. If
    there are none, that is recorded: see `evaluate/no_legal_action.py`."""
    player = rules.to_play(state)
    if rules.has_chance(state) and player == CHANCE:
        count = possible_events(state, work)
    else:
        count = rules.legal_actions(state, work.actions)
    if count == 0:
        mark_stuck(state, work)
    return player, count


@helper
def shuffled_choices(state, work):
    """The same with actions, but not events, in random order: the order of a node's edges breaks ties."""
    player, count = choices(state, work)
    if not (rules.has_chance(state) and player == CHANCE):
        shuffle(work.actions, count, work.random)
    return player, count


@helper
def set_chances(graph, number, state, work):
    """At chance, the priors of a new node's edges are the events' probabilities."""
    if rules.has_chance(state) and graph.nodes[number].player == CHANCE:
        for e in edges_of(graph, number):
            graph.edges[e].prior = work.probabilities[graph.edges[e].action]


@helper
def possible_events(state, work):
    """Write the possible chance events into `work.actions` and the probabilities into `work.probabilities`; returns how many
    there are."""
    work.probabilities[:] = 0.0
    rules.chance(state, work.probabilities)
    count = 0
    for event in range(len(work.probabilities)):
        if work.probabilities[event] > 0.0:
            work.actions[count] = event
            count += 1
    return count


@helper
def shuffle(actions, count, random):
    """Fisher-Yates shuffle: the order of a node's edges breaks ties."""
    for i in range(count - 1, 0, -1):
        j = below(random, i + 1)
        actions[i], actions[j] = actions[j], actions[i]
