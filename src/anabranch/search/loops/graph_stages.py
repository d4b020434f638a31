"""A simulation on a graph in parts, for what Python must do between them: play, evaluate, advise.

`descend_graph` and `finish_graph` are the two halves; `drivers/python.py` calls the parts in between.
Read first: `graph.py`.
"""

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import helper, kernel
from anabranch.jit.random import below
from anabranch.search.evaluate.amaf import keep_hints
from anabranch.search.evaluate.heuristic import NoHeuristic, advise_all, sort_actions, sort_by_number, swap_actions
from anabranch.search.evaluate.rollout import LEAF_STATE, evaluate
from anabranch.search.loops.graph import add_leaf, arrive, ascend, descend, keep_outcome, lead_to, record_value, unlock_both
from anabranch.search.loops.steps import choices, read_outcome
from anabranch.search.memory.graph import NOT_WAITING, add_edges
from anabranch.search.memory.layout import MERGES, NO_NODE, is_on, slot
from anabranch.search.memory.locks import lock_in_place, publish
from anabranch.search.memory.table import find


@kernel
def descend_graph(graph, root, select, graph_rules, limits, work):
    """The first half of a simulation: returns its depth, the leaf, and how the descent ended."""
    return descend(graph, root, select, graph_rules, limits, work)


@kernel
def descend_on(graph, depth, select, graph_rules, limits, work):
    """Continue a descent that ended UNKNOWN, after the last edge of the path got its child."""
    return arrive(graph, depth, select, graph_rules, limits, work)


@kernel
def find_or_add(graph, depth, low, high, limits, work):
    """The node of the position with this key, which the path's last edge (if any) then leads to, and whether it is new.
    NO_NODE if there is no room."""
    child = find(graph, low, high) if graph.merge else NO_NODE
    if child == NO_NODE:
        child = add_leaf(graph, low, high, depth, limits, work)
        if child != NO_NODE:
            publish(graph, child)
            if depth > 0:
                lead_to(graph, depth, child, True, limits, work)
        return child, True
    if depth > 0:
        graph.used[MERGES] += 1
        lead_to(graph, depth, child, False, limits, work)
    return child, False


@kernel
def end_here(graph, number, limits, work):
    """Mark a new node as the end of the game: `work.values` is the outcome."""
    keep_outcome(graph, number, work)


@kernel
def adopt_graph(graph, number, player, count, graph_rules, work):
    """Give a leaf `count` edges with `work.actions`, their priors and, if there are AMAF values, the hints in the playout log;
    returns its new number, or NO_NODE if there is no room."""
    return adopt_advised(graph, number, player, count, graph_rules, work)


@helper
def adopt(graph, number, player, count, depth, graph_rules, limits, work):
    """The same after asking a compiled heuristic, if there is one."""
    if is_on(graph.has_amaf):
        if player == CHANCE:
            advise_all(NoHeuristic(), graph, count, depth, limits, work)
        else:
            advise_all(graph_rules.heuristic, graph, count, depth, limits, work)
    return adopt_advised(graph, number, player, count, graph_rules, work)


@helper
def adopt_advised(graph, number, player, count, graph_rules, work):
    """See `adopt_graph`."""
    if graph_rules.in_order:
        sort_by_number(work, count)
    else:
        for i in range(count - 1, 0, -1):
            swap_actions(work, i, below(work.random, i + 1))
    if graph_rules.ordered and player != CHANCE:
        sort_actions(work, count)
    before = lock_in_place(graph, number)
    # The leaf was marked as waiting until now, so that no other thread could evaluate it a second time.
    graph.nodes[slot(before)].flags &= NOT_WAITING
    number = add_edges(graph, before, player, work.actions, count)
    if number != NO_NODE:
        for i in range(count):
            graph.edges[number + 1 + i].prior = work.priors[i]
        if is_on(graph.has_amaf):
            keep_hints(graph, number, work)
    unlock_both(graph, before, number)
    return number


@kernel
def evaluate_graph(evaluator, limits, work):
    """Write the value of LEAF_STATE, where the game is not over, into `work.values`."""
    evaluate(evaluator, work, limits.scale, limits.discount)


@kernel
def advise_graph(graph, count, depth, graph_rules, limits, work):
    """Write a compiled heuristic's hints for the first `count` of `work.actions` into the playout log."""
    advise_all(graph_rules.heuristic, graph, count, depth, limits, work)


@kernel
def note_value(graph, leaf, evaluations, work):
    """Record `work.values` as the value of the leaf, which took so many evaluations."""
    record_value(graph, leaf, evaluations, work)


@kernel
def survey(work):
    """Who moves at LEAF_STATE and how many actions are legal, or events possible; they are in `work.actions`. If the game is
    over there are none, and `work.values` is the outcome."""
    return survey_leaf(work)


@helper
def survey_leaf(work):
    """See `survey`."""
    state = work.states[LEAF_STATE]
    if rules.is_over(state):
        read_outcome(work)
        return CHANCE, 0
    return choices(state, work)


@kernel
def finish_graph(graph, depth, operator, graph_rules, end, limits, work):
    """The second half of a simulation."""
    ascend(graph, depth, operator, graph_rules, end, limits, work)
