"""The loop on a compact tree for several threads, designed to avoid contention near the root.

Every simulation passes the root, and a cache line that one core has written must be fetched by the next, which takes longer
than the rest of a simulation of a small game. So a thread walks from the root to a **camp**, the first node with few visits,
and runs a bundle of simulations from there; their results go up to the root in one walk. Nodes on the way have so many visits
that they can choose once for a bundle; there are many camps, so threads seldom meet at one.
Read first: `tree.py`.
"""

import numpy as np

from anabranch.games import rules
from anabranch.jit import helper, kernel
from anabranch.search.backup.operators import carry, is_mean
from anabranch.search.backup.path import back_up, withdraw
from anabranch.search.evaluate.no_legal_action import is_stuck
from anabranch.search.evaluate.rollout import CAMP_STATE, LEAF_STATE, ROOT_STATE
from anabranch.search.loops.steps import select_edge, step
from anabranch.search.loops.tree import NO_DEPTH, descend, expect, find_value, make_tree_root
from anabranch.search.memory.layout import NO_NODE, is_short, sign_of, slot, width_of
from anabranch.search.memory.locks import lock, unlock
from anabranch.search.select.virtual_loss import come_back, set_out

BUSY = 512  # visits from which on a node chooses for a whole bundle
BUNDLE = 32  # simulations


@kernel
def simulate_shared(graph, root, select, evaluator, operator, limits, work, count):
    """Run up to `count` simulations; returns the root and the number done, fewer only if the path buffer is full, this thread's
    slots may not suffice for a bundle, or a position has no legal action. If the root is NO_NODE, its node is only created and
    evaluated (by one thread)."""
    if root == NO_NODE:
        work.states[LEAF_STATE] = work.states[ROOT_STATE]
        find_value(graph, 0, NO_NODE, evaluator, limits, work)
        return make_tree_root(graph, work) if not is_stuck(work) else np.int64(NO_NODE), 0
    done = 0
    while done < count and not is_short(graph):
        bundle = min(BUNDLE, count - done)
        camp, first = walk_to_camp(graph, root, bundle, select, limits, work)
        ran, whole = simulate_from(graph, camp, first, bundle, select, evaluator, operator, limits, work)
        walk_home(operator, graph, first, bundle, ran, whole, limits.discount, work)
        done += ran
        if ran < bundle:
            break
    return root, done


@helper
def walk_to_camp(graph, root, bundle, select, limits, work):
    """Descend through busy nodes, with `bundle` simulations under way; returns the node where they end, and its depth."""
    work.states[CAMP_STATE] = work.states[ROOT_STATE]
    number, depth = root, 0
    while graph.nodes[slot(number)].visits >= BUSY and graph.nodes[slot(number)].count > 0 and depth < len(work.path_edges):
        lock(graph, number)
        chosen = select_edge(select, graph, number, depth, limits, work)
        edge = graph.edges[chosen]
        child = edge.child
        if child == NO_NODE:  # a leaf: simulations go there one by one
            unlock(graph, number)
            break
        set_out(graph, number, chosen, bundle)
        unlock(graph, number)
        expect(graph, child)
        step(work.states[CAMP_STATE], edge.action, depth, work)
        work.path_nodes[depth] = number
        work.path_edges[depth] = chosen
        depth += 1
        number = child
    return number, depth


@helper
def simulate_from(graph, camp, first, bundle, select, evaluator, operator, limits, work):
    """Run simulations from a node at depth `first`, backed up to that node; returns how many were done, fewer only if the path
    buffer is full or a position has no legal action, and whether `work.sums` is the node's value or the sum of their values."""
    width = width_of(graph)
    for i in range(width):
        work.sums[i] = 0.0
    whole = False
    for ran in range(bundle):
        work.states[LEAF_STATE] = work.states[CAMP_STATE]
        depth, leaf = descend(graph, camp, first, select, limits, work)
        if depth == NO_DEPTH:
            return ran, whole
        is_sample = find_value(graph, depth, leaf, evaluator, limits, work)
        if is_stuck(work):
            withdraw(graph, first, depth, work)
            return ran, whole
        whole = back_up(operator, graph, depth, first, is_sample, limits.discount, work)
        for i in range(width):
            work.sums[i] = work.values[i] if whole else work.sums[i] + work.values[i]
    return bundle, whole


@helper
def walk_home(operator, graph, first, bundle, ran, whole, discount, work):
    """Back up the results of `ran` simulations from depth `first` to the root; `bundle` of them were under way there."""
    width = width_of(graph)
    values = work.sums
    for d in range(first - 1, -1, -1):
        lock(graph, work.path_nodes[d])
        node = graph.nodes[slot(work.path_nodes[d])]
        edge = graph.edges[slot(work.path_edges[d])]
        sign = sign_of(width, node.player)
        come_back(graph, work.path_nodes[d], work.path_edges[d], bundle)
        edge.visits += ran
        node.visits += ran
        for i in range(width):
            values[i] *= discount
            if rules.has_rewards(work.states[0]):
                values[i] += work.path_rewards[d, i] * (1 if whole else ran)
            if whole:
                edge.total[i] = sign * values[i] * edge.visits
            else:
                edge.total[i] += sign * values[i]
        if ran > 0 and not is_mean(operator):
            if not whole:  # operators see samples, not sums
                for i in range(width):
                    values[i] /= ran
            whole = carry(operator, graph, work.path_nodes[d], values)
            if not whole:
                for i in range(width):
                    values[i] *= ran
        unlock(graph, work.path_nodes[d])
