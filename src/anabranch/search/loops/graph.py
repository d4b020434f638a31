"""The loop on graphs: descend, evaluate, back up, where paths may join, end early, or form cycles.

`simulate_graph` runs whole simulations inside one kernel; where Python must play or evaluate, `graph_stages.py` has the same in
parts. A simulation adds one visit to one edge of the root, whether it evaluates anything or not. Nothing here recurses.
Read first: `memory/graph.py`, `backup/graph_update.py`. Beside: `tree.py`, the same for compact trees.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE, NOTHING
from anabranch.jit import by_pointer, helper, kernel
from anabranch.jit.prefetch import prefetch
from anabranch.search.backup.bounds import is_proven, is_settled, leads_up, repeats, unknown
from anabranch.search.backup.graph_update import Incremental, Stop, after_visit, before_choice, has_enough, must_catch_up
from anabranch.search.backup.path import withdraw
from anabranch.search.backup.propagate import PathOnly, spread
from anabranch.search.backup.variance import add_squares
from anabranch.search.evaluate.amaf import keep_hints, update_amaf
from anabranch.search.evaluate.heuristic import NoHeuristic, advise_all, sort_actions, sort_by_number
from anabranch.search.evaluate.no_legal_action import is_stuck
from anabranch.search.evaluate.playout_log import begin_descent
from anabranch.search.evaluate.rollout import LEAF_STATE, ROOT_STATE, evaluate
from anabranch.search.loops.steps import choices, read_outcome, select_edge, set_chances, shuffled_choices, step
from anabranch.search.memory.cached_evaluations import restore
from anabranch.search.memory.graph import (
    CACHED,
    EXEMPT,
    EXHAUSTED,
    HIGH,
    LOW,
    OVER,
    OWN_WEIGHT,
    add_edges,
    add_node,
    attach,
    child_of,
    current_simulation,
    repetition_key_of,
    weigh,
)
from anabranch.search.memory.layout import (
    EVALUATED,
    MERGES,
    NO_NODE,
    REFUSED,
    SIMULATION,
    is_on,
    is_short,
    own_value,
    sign_of,
    slot,
    width_of,
)
from anabranch.search.memory.locks import lock, lock_in_place, publish, unlock
from anabranch.search.memory.repetition import cut_value, is_exhausted
from anabranch.search.memory.table import find
from anabranch.search.select.base import NoLearning, learn
from anabranch.search.select.virtual_loss import come_back, set_out

# How a descent ends.
WANTS_VALUE = 0  # at a leaf that needs an evaluation (NO_NODE: there is no room for it)
HAS_VALUE = 1  # no evaluation is needed: the game is over, or the child has enough visits
GIVEN_VALUE = 2  # `work.values` is what is backed up: the last edge catches up with its child, or meets a repetition
UNKNOWN = 3  # the last edge's child is not known yet, and Python must play (games of Python objects)
PATH_FULL = 4  # the path is longer than its buffer; Python enlarges it and tries again
PROVEN = 5  # of `simulate_graph`: the root's value is known
MEMORY_FULL = 6  # of `simulate_graph`: memory can be collected
AT_EDGE = 7  # of `ascend`: the leaf was evaluated, but had no node for lack of room
STUCK = 8  # of `simulate_graph`: a position without a legal action: see `evaluate/no_legal_action.py`
LINES_AHEAD = 3  # cache lines: a node and seven edges of 24 bytes
AMAF_LINES_AHEAD = 2  # and the AMAF values of those and as many more


@by_pointer
class GraphRules(NamedTuple):
    """How simulations traverse and update a graph."""

    update: Any = Incremental()
    stop: Any = Stop()  # what a simulation does at a child with more visits than the edge to it
    stale: Any = PathOnly()
    opaque: bool = False  # whether only Python knows the positions
    heuristic: Any = NoHeuristic()
    ordered: bool = False  # whether edges are sorted by their hints and priors
    in_order: bool = False  # whether edges are sorted by action, not shuffled by the seed; the first of equals is followed
    learner: Any = NoLearning()  # the selection rule, if it keeps more than visits and totals: see `base.learn`


@kernel
def simulate_graph(graph, root, select, evaluator, operator, graph_rules, limits, work, count, refusals):
    """Run up to `count` simulations; returns the root's number, how many were done and, if fewer, why: PATH_FULL, PROVEN,
    STUCK, or MEMORY_FULL once `refusals` allocations in all have failed, or this thread's slots may not suffice.

    A count of 0 plants the root: ROOT_STATE, which is not over, gets a node (`root`, if that is not NO_NODE) with an evaluation
    and edges; the number is NO_NODE if there is no room. (One kernel does both, since an evaluator takes long to compile.)"""
    for done in range(max(count, 1)):
        if count == 0:
            depth, leaf, end = reach_root(graph, root, limits, work)
            if leaf == NO_NODE:
                return leaf, done, MEMORY_FULL
        else:
            if graph.used[REFUSED] >= refusals or (is_on(graph.shared) and is_short(graph)):
                return root, done, MEMORY_FULL
            if is_on(graph.has_bounds) and is_proven(graph, root):
                return root, done, PROVEN
            depth, leaf, end = descend(graph, root, select, graph_rules, limits, work)
            if end == PATH_FULL:
                withdraw(graph, 0, depth, work)
                return root, done, end
        if end == WANTS_VALUE:
            if leaf == NO_NODE and rules.is_over(work.states[LEAF_STATE]):
                read_outcome(work)
            else:
                evaluate(evaluator, work, limits.scale, limits.discount)
                if is_stuck(work):
                    withdraw(graph, 0, depth, work)
                    return root, done, STUCK
                record_value(graph, leaf, 1, work)
            if leaf == NO_NODE:
                end = AT_EDGE
        if count == 0:
            return (
                expand(graph, leaf, 0, graph_rules, limits, work) if graph.nodes[slot(leaf)].count == 0 else leaf,
                done,
                HAS_VALUE,
            )
        ascend(graph, depth, operator, graph_rules, end, limits, work)
    return root, count, HAS_VALUE


@helper
def reach_root(graph, root, limits, work):
    """A descent that ends at the root, whose node is found or created."""
    work.states[LEAF_STATE] = work.states[ROOT_STATE]
    if root == NO_NODE:
        low, high = rules.key(work.states[LEAF_STATE])
        root = find(graph, low, high) if graph.merge else np.int64(NO_NODE)
        if root == NO_NODE:
            root = add_leaf(graph, low, high, 0, limits, work)
            if root != NO_NODE:
                publish(graph, root)
    has_value = root != NO_NODE and graph.nodes[slot(root)].own > 0
    return 0, np.int64(root), HAS_VALUE if has_value else WANTS_VALUE


# --- down -----------------------------------------------------------------------------------------------------------------


@helper
def descend(graph, root, select, graph_rules, limits, work):
    """Follow the selection rule from the root and record the path; returns its depth, the node at its end, and how it ended."""
    work.states[LEAF_STATE] = work.states[ROOT_STATE]
    graph.used[SIMULATION] += 1
    if is_on(graph.has_amaf):
        begin_descent(work.playout_log)
    return follow(graph, root, 0, select, graph_rules, limits, work)


@helper
def arrive(graph, depth, select, graph_rules, limits, work):
    """Judge the child that the path's last edge leads to, and continue from there unless the simulation ends."""
    end = judge(graph, depth, graph_rules, limits, work)
    number = child_of(graph, work.path_edges[depth - 1])
    if end != WANTS_VALUE or number == NO_NODE:
        return depth, number, end
    return follow(graph, number, depth, select, graph_rules, limits, work)


@helper
def follow(graph, number, depth, select, graph_rules, limits, work):
    """Descend from a node of the path whose position is LEAF_STATE."""
    state = work.states[LEAF_STATE]
    while True:
        number = lock_in_place(graph, number)
        node = graph.nodes[slot(number)]
        if not is_on(graph.shared):
            node.last_simulation = current_simulation(graph)
        if (node.flags & OVER) != 0:
            count_end(graph, number, work)
            unlock(graph, number)
            return depth, number, HAS_VALUE
        if (node.flags & CACHED) != 0:
            restore(graph, number)
            unlock(graph, number)
            return depth, number, HAS_VALUE
        if node.count == 0:
            unlock(graph, number)
            if node.own < limits.expand_after or depth >= limits.depth:
                return depth, number, WANTS_VALUE
            expanded = expand(graph, number, depth, graph_rules, limits, work)
            if expanded == NO_NODE:
                return depth, number, WANTS_VALUE
            number = expanded
            lock(graph, number)
        if depth == len(work.path_edges):
            unlock(graph, number)
            return depth, number, PATH_FULL
        before_choice(graph_rules.update, graph, number, limits, work.states[0])
        chosen = select_edge(select, graph, number, depth, limits, work)
        work.path_nodes[depth] = number
        work.path_edges[depth] = chosen
        set_out(graph, number, chosen, 1)
        unlock(graph, number)
        depth += 1
        edge = graph.edges[chosen]
        if edge.child != NO_NODE:
            expect(graph, edge, limits)
        elif graph_rules.opaque:
            return depth, NO_NODE, UNKNOWN
        if not graph_rules.opaque:
            step(state, edge.action, depth - 1, work)
        if edge.child == NO_NODE:
            discover(graph, depth, limits, work)
        end = judge(graph, depth, graph_rules, limits, work)
        number = child_of(graph, chosen)
        if end != WANTS_VALUE or number == NO_NODE:
            return depth, number, end


@helper
def judge(graph, depth, graph_rules, limits, work):
    """Whether the simulation ends at the child of the path's last edge (HAS_VALUE, GIVEN_VALUE) or goes on (WANTS_VALUE)."""
    e = slot(work.path_edges[depth - 1])
    number = child_of(graph, e)
    if number == NO_NODE:
        return WANTS_VALUE
    child = graph.nodes[slot(number)]
    if is_on_path(graph, number, depth, work) or (child.flags & EXHAUSTED) != 0 or meets_path(graph, number, depth, work):
        if is_on(graph.has_cuts):
            lock(graph, work.path_nodes[depth - 1])
            graph.cuts[e] += 1
            unlock(graph, work.path_nodes[depth - 1])
            player = graph.nodes[slot(work.path_nodes[depth - 1])].player
            for i in range(width_of(graph)):
                work.values[i] = cut_value(limits.repetition, width_of(graph), player, i, limits.scale)
            return GIVEN_VALUE
        return HAS_VALUE
    if child.visits == 0 or (child.flags & OVER) != 0:
        return WANTS_VALUE
    if is_on(graph.has_bounds) and is_settled(graph, number):
        return HAS_VALUE
    if must_catch_up(graph_rules.update, graph, work.path_nodes[depth - 1], e, limits, work):
        return GIVEN_VALUE
    if has_enough(graph_rules.stop, graph.edges[e], child, work.random):
        return HAS_VALUE
    return WANTS_VALUE


@helper
def is_on_path(graph, number, depth, work):
    """Whether this node is on the simulation's path: its `last_simulation` says so, unless threads share the graph."""
    if not is_on(graph.shared):
        return graph.nodes[slot(number)].last_simulation == current_simulation(graph)
    if graph.merge:
        for d in range(depth):
            if work.path_nodes[d] == number:
                return True
    return False


@helper
def expect(graph, edge, limits):
    """Prefetch a node, and its first edges if it is likely to have some, while the action that leads there is played."""
    prefetch(graph.nodes, edge.child, 0)
    if edge.visits > limits.expand_after:
        for line in range(1, LINES_AHEAD):
            prefetch(graph.nodes, edge.child, line)
        if is_on(graph.has_amaf):
            for line in range(AMAF_LINES_AHEAD):
                prefetch(graph.amaf, edge.child, line)


@helper
def discover(graph, depth, limits, work):
    """Find or create the node that the path's last edge leads to, whose position is LEAF_STATE."""
    state = work.states[LEAF_STATE]
    if rules.has_rewards(state):
        for i in range(width_of(graph)):
            graph.rewards[work.path_edges[depth - 1], i] = work.path_rewards[depth - 1, i]
    low, high = rules.key(state)
    child = find(graph, low, high) if graph.merge else NO_NODE
    is_new = False
    if child != NO_NODE:
        graph.used[MERGES] += 1
    else:
        child = add_leaf(graph, low, high, depth, limits, work)
        if child == NO_NODE:
            return
        if rules.is_over(state):
            read_outcome(work)
            keep_outcome(graph, child, work)
        made = child
        child = publish(graph, made)
        is_new = child == made
    lead_to(graph, depth, child, is_new, limits, work)


@helper
def meets_path(graph, number, depth, work):
    """Whether a shared node repeats one of the path, in games whose repetitions have a key of their own."""
    if not is_on(graph.has_repetition_keys):
        return False
    if not graph.merge or (graph.nodes[slot(number)].flags & EXEMPT) != 0:
        return False
    return repeats(graph, number, depth, work)


@helper
def add_leaf(graph, low, high, depth, limits, work):
    """A new node without edges at the end of the path."""
    number = add_node(graph, low, high)
    if number != NO_NODE:
        if is_on(graph.has_bounds):
            unknown(graph, number, limits, work.states[0])
        if is_on(graph.has_levels):
            graph.levels[number] = graph.levels[slot(work.path_nodes[depth - 1])] + 1 if depth > 0 else 0
        if limits.repetition != NOTHING:
            mark_repetition(graph, number, depth, work)
    return number


@helper
def mark_repetition(graph, number, depth, work):
    """Set the repetition flags of a new node, whose position is LEAF_STATE: EXEMPT, or EXHAUSTED if it may not occur."""
    state = work.states[LEAF_STATE]
    if is_on(graph.has_repetition_keys):
        graph.repetition_keys[number, 0], graph.repetition_keys[number, 1] = rules.repetition_key(state)
    if rules.may_repeat(state):
        graph.nodes[slot(number)].flags |= EXEMPT
        return
    low, high = repetition_key_of(graph, number)
    # In a tree a node's path never changes, so one check suffices.
    if is_exhausted(work.exhausted, low, high) or (not graph.merge and repeats(graph, number, depth, work)):
        graph.nodes[slot(number)].flags |= EXHAUSTED


@helper
def lead_to(graph, depth, child, is_new, limits, work):
    """Let the path's last edge lead to `child`, which was just created or found. If the edge was visited before there was room
    for a node, a new node takes over its statistics."""
    e = work.path_edges[depth - 1]
    number = work.path_nodes[depth - 1]
    lock(graph, number)
    if is_on(graph.shared) and graph.edges[e].child != NO_NODE:  # another thread was faster
        unlock(graph, number)
        return
    attach(graph, number, e, child)
    if is_on(graph.has_levels):
        graph.levels[e] = 1 if leads_up(graph, depth, child, is_new, work) else 0
    edge = graph.edges[e]
    node = graph.nodes[slot(child)]
    if edge.visits > 0 and node.visits == 0:
        sign = sign_of(len(edge.total), graph.nodes[slot(number)].player)
        node.own = edge.visits
        node.visits = edge.visits
        for i in range(len(edge.total)):
            value = sign * edge.total[i] / edge.visits
            if rules.has_rewards(work.states[0]):
                value -= graph.rewards[e, i]
            set_value(graph, child, i, value / limits.discount)
    unlock(graph, number)


@helper
def expand(graph, number, depth, graph_rules, limits, work):
    """Give the node of LEAF_STATE edges: actions in random order, or in that of their numbers, with uniform priors and the
    heuristic's hints; or chance events with their probabilities. Returns its new number, or NO_NODE if there is no room or no
    legal action."""
    state = work.states[LEAF_STATE]
    if graph_rules.in_order:
        player, count = choices(state, work)
        sort_by_number(work, count)
    else:
        player, count = shuffled_choices(state, work)
    if count == 0:
        return np.int64(NO_NODE)
    if is_on(graph.has_amaf):
        take_advice(graph_rules, graph, player, count, depth, limits, work)
    before = lock_in_place(graph, number)
    if is_on(graph.shared) and graph.nodes[slot(before)].count > 0:  # another thread was faster
        unlock(graph, before)
        return before
    number = add_edges(graph, before, player, work.actions, count)
    if number != NO_NODE:
        set_chances(graph, number, state, work)
        if is_on(graph.has_amaf):
            keep_hints(graph, number, work)
    unlock_both(graph, before, number)
    return number


@helper
def unlock_both(graph, before, number):
    """Unlock a node; if it has moved, and its lock with it, unlock both places, the new one first."""
    if number != NO_NODE and number != before:
        unlock(graph, number)
    unlock(graph, before)


@helper
def take_advice(graph_rules, graph, player, count, depth, limits, work):
    """Ask the heuristic for hints on `work.actions`, and sort these if the rule needs it; chance nodes have no hints."""
    if player == CHANCE:
        advise_all(NoHeuristic(), graph, count, depth, limits, work)
        return
    advise_all(graph_rules.heuristic, graph, count, depth, limits, work)
    if graph_rules.ordered:
        sort_actions(work, count)


@helper
def keep_outcome(graph, number, work):
    """Mark a node as the end of the game, with `work.values` as its outcome."""
    node = graph.nodes[slot(number)]
    node.flags |= OVER
    node.player = CHANCE
    for i in range(width_of(graph)):
        set_value(graph, number, i, work.values[i])
        if is_on(graph.has_bounds) and not rules.has_random_returns(work.states[0]):
            graph.bounds[slot(number), LOW, i] = work.values[i]
            graph.bounds[slot(number), HIGH, i] = work.values[i]


@helper
def count_end(graph, number, work):
    """Count one more visit of a node where the game is over; random outcomes are averaged."""
    node = graph.nodes[slot(number)]
    node.own += 1
    node.visits += 1
    if rules.has_random_returns(work.states[0]):
        rules.returns(work.states[LEAF_STATE], work.returns, work.random)
        for i in range(width_of(graph)):
            average(graph, number, i, work.returns[i])


# --- up --------------------------------------------------------------------------------------------------------------------


@helper
def record_value(graph, leaf, evaluations, work):
    """Count `work.values` as an evaluation of the leaf; without a node (no room), `ascend` does it."""
    graph.used[EVALUATED] += evaluations
    if leaf != NO_NODE:
        count_evaluation(graph, leaf, work)


@helper
def record_value_at_edge(graph, number, depth, limits, work):
    """Count `work.values` as an evaluation of a leaf that had no node; if it still has none, at the path's last edge."""
    child = child_of(graph, work.path_edges[depth - 1])
    if child != NO_NODE:  # another thread has found room for it
        count_evaluation(graph, child, work)
        return
    edge = graph.edges[work.path_edges[depth - 1]]
    sign = sign_of(len(edge.total), graph.nodes[slot(number)].player)
    for i in range(len(edge.total)):
        value = limits.discount * work.values[i]
        if rules.has_rewards(work.states[0]):
            value += work.path_rewards[depth - 1, i]
        edge.total[i] += sign * value


@helper
def count_evaluation(graph, leaf, work):
    """Count one more evaluation of a node, usually a leaf."""
    leaf = lock_in_place(graph, leaf)
    node = graph.nodes[slot(leaf)]
    if is_on(graph.has_weights) and graph.weights[slot(leaf), OWN_WEIGHT] == 0.0:  # the evaluator gives none
        weigh(graph, leaf, 1.0)
    node.own += 1
    node.visits += 1
    for i in range(width_of(graph)):
        mean = node.mean[i]
        average(graph, leaf, i, work.values[i])
        if is_on(graph.shared) and node.count > 0:  # another thread has expanded it: `mean` includes its edges
            node.mean[i] = mean + (work.values[i] - mean) / node.visits
    unlock(graph, leaf)


@helper
def average(graph, number, i, value):
    """Average one more evaluation of a leaf, which is already counted."""
    before = own_value(graph, number, i)
    set_value(graph, number, i, before + (value - before) / graph.nodes[slot(number)].own)


@helper
def set_value(graph, number, i, value):
    """Set the mean of a leaf's own evaluations, which is also the leaf's value."""
    graph.headers[slot(number - 1)].value[i] = value
    graph.nodes[slot(number)].mean[i] = value


@helper
def ascend(graph, depth, operator, graph_rules, end, limits, work):
    """Count the simulation on every edge of its path, and update the nodes above."""
    if end != GIVEN_VALUE:
        last = child_of(graph, work.path_edges[depth - 1])
        if last != NO_NODE and end == HAS_VALUE:
            for i in range(width_of(graph)):
                work.values[i] = graph.nodes[slot(last)].mean[i]
        if is_on(graph.has_amaf) and (end in (WANTS_VALUE, AT_EDGE) or (graph.nodes[slot(last)].flags & OVER) != 0):
            update_amaf(graph, depth, limits, work)
    if is_on(graph.has_squares):
        add_squares(graph, depth, limits, work)
    for d in range(depth - 1, -1, -1):
        number = work.path_nodes[d]
        e = work.path_edges[d]
        lock(graph, number)
        if end == AT_EDGE and d == depth - 1:
            record_value_at_edge(graph, number, depth, limits, work)
        graph.edges[slot(e)].visits += 1
        graph.nodes[slot(number)].visits += 1
        come_back(graph, number, e, 1)
        after_visit(graph_rules.update, operator, graph, number, e, limits, work)
        learn(graph_rules.learner, graph, number, e, limits, work)
        unlock(graph, number)
    spread(graph_rules.stale, operator, graph, depth, limits, work)
