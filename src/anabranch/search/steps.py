"""What the loops on trees and on graphs are made of: their rules and limits, their scratch memory, and the steps they share.

Next: `simulate.py`, `simulate_graph.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE, NOTHING
from anabranch.jit import helper
from anabranch.jit.random import below
from anabranch.search.evaluate import LEAF_STATE
from anabranch.search.layout import ACTION_CODES, NO_NODE, edges_of, slot
from anabranch.search.select import Scale, choose
from anabranch.search.stuck import mark_stuck


class Rules(NamedTuple):
    """The options that kernels are compiled for."""

    select: Any
    evaluate: Any
    backup: Any


EVERY_ACTION = np.ones(0, np.bool_)  # a mask that nobody looks at


class Limits(NamedTuple):
    """What bounds the growth of the graph, and the units of its values."""

    depth: int  # positions this many actions below the root stay leaves
    expand_after: int  # evaluations of a leaf before it gets a node
    scale: Scale
    discount: float
    repetition: int = NOTHING  # what the game makes of one: see `rules.REPETITIONS`
    widest: int = ACTION_CODES  # edges of a node that may be chosen, the first ones: see `prune.Widening`
    only: int = NO_NODE  # which of the root's edges simulations take, counted from 0; NO_NODE: they choose
    lots: bool = False  # whether rules for simultaneous moves draw among equals; else they take the lowest
    some: bool = False  # whether only some actions may be followed: at the root of a restricted search, see `at_depth`
    allowed: Any = EVERY_ACTION  # bool (actions,): which ones those are


class Work(NamedTuple):
    """Scratch memory of one thread."""

    states: Any  # records: ROOT_STATE, LEAF_STATE, PLAYOUT_STATE, and CAMP_STATE for threads on a compact tree
    random: Any  # u8 (1,): the generator
    path_nodes: Any  # i4 (depth,): nodes from the root down
    path_edges: Any  # i4 (depth,): the edge taken at each
    path_rewards: Any  # f8 (depth, width): what each edge paid
    values: Any  # f8 (width,): the leaf's value
    sums: Any  # f8 (width,): of what several simulations brought up
    actions: Any  # i8 (largest number of edges,)
    priors: Any  # f4 likewise: what an evaluator in Python says of them
    probabilities: Any  # f8 (events,)
    rewards: Any  # f8 (players,)
    returns: Any  # f8 (players,)
    exhausted: Any  # u8 (keys, 2): positions that may not come once more; see `history.py`
    ancestry: Any  # i4 (4, nodes): scratch of `stale.Ancestors`, else (4, 0)
    trail: Any  # what AMAF values and heuristics need: see `lore.Trail`
    grid: Any  # f8 (2, 4, actions): scratch of rules for simultaneous moves (`simultaneous/grid.py`), else (2, 4, 0)
    tableau: Any  # f8: scratch of `simultaneous/equilibrium.py`, else (0, 0)
    stuck: Any  # i8 (1,): whether a position was met where nothing can be played; see `stuck.py`
    stuck_state: Any  # records (1,): that position


@helper
def pick(select, graph, number, depth, limits, work):
    """The number of the edge that a simulation follows from a node: what the rule prefers, at the root within what the search
    is restricted to."""
    if depth == 0 and limits.only != NO_NODE:
        return slot(number + 1 + limits.only)
    chosen = choose(select, graph, number, depth, at_depth(limits, depth), work)
    if depth == 0 and limits.some and not limits.allowed[graph.edges[chosen].action]:
        return first_allowed(graph, number, limits)  # proofs have closed all the others
    return chosen


@helper
def at_depth(limits, depth):
    """The limits as rules see them at a node: its actions are restricted at the root alone."""
    return Limits(
        limits.depth, limits.expand_after, limits.scale, limits.discount, limits.repetition, limits.widest, limits.only,
        limits.lots, limits.some and depth == 0, limits.allowed,
    )  # fmt: skip


@helper
def narrowed(limits, widest):
    """The same with fewer edges in sight."""
    return Limits(
        limits.depth, limits.expand_after, limits.scale, limits.discount, limits.repetition, widest, limits.only,
        limits.lots, limits.some, limits.allowed,
    )  # fmt: skip


@helper
def first_allowed(graph, number, limits):
    """The first of a node's edges that may be followed; there is one."""
    for e in edges_of(graph, number):
        if limits.allowed[graph.edges[e].action]:
            return e
    return slot(number + 1)


@helper
def step(state, action, depth, work):
    """Play an edge's action and note what it pays."""
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
    there are none, that is noted: see `stuck.py`."""
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
    """The same with actions, but not events, in random order: the order of a node's edges breaks ties between them."""
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
    """Write the chance events that can happen into `work.actions`, their probabilities beside; how many there are."""
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
    """Fisher-Yates: the order of a node's edges breaks ties between them."""
    for i in range(count - 1, 0, -1):
        j = below(random, i + 1)
        actions[i], actions[j] = actions[j], actions[i]
