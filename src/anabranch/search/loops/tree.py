"""The loop: descend, evaluate, back up.

`simulate` runs whole simulations on a compact tree inside one kernel. A simulation adds one visit to one edge of the root.
Read first: `memory/tree.py`. Beside: `graph.py`, the same for graphs, and for evaluators in Python.
"""

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import helper, kernel
from anabranch.jit.prefetch import prefetch
from anabranch.search.backup.path import back_up, withdraw
from anabranch.search.evaluate.no_legal_action import is_stuck
from anabranch.search.evaluate.rollout import LEAF_STATE, ROOT_STATE, evaluate
from anabranch.search.loops.steps import read_outcome, select_edge, set_chances, shuffled_choices, step
from anabranch.search.memory.layout import EVALUATED, NO_NODE, POSITIONS, sign_of, slot
from anabranch.search.memory.locks import lock, unlock
from anabranch.search.memory.tree import add_node
from anabranch.search.select.virtual_loss import set_out

NO_DEPTH = -1  # a depth: the path is longer than its buffer; Python enlarges it and tries again
LINES_AHEAD = 3  # cache lines: a node and seven edges of 24 bytes
OUT_OF_ROOM = -2  # a node: the game is over at the leaf, but there is no room to store that


@kernel
def simulate(graph, root, select, evaluator, operator, limits, work, count):
    """Run up to `count` simulations; returns the root and the number done, fewer only if the path buffer is full, or a position
    has no legal action (`evaluate/no_legal_action.py`).

    If the root is NO_NODE, its node is created and evaluated first, which is not counted: the graph is empty then, the game is
    not over in ROOT_STATE, and there is room.
    """
    done = 0
    while done < count or root == NO_NODE:
        depth = 0
        leaf = NO_NODE
        work.states[LEAF_STATE] = work.states[ROOT_STATE]
        if root != NO_NODE:
            depth, leaf = descend(graph, root, 0, select, limits, work)
            if depth == NO_DEPTH:
                break
        is_sample = find_value(graph, depth, leaf, evaluator, limits, work)
        if is_stuck(work):
            break
        if root == NO_NODE:
            root = make_tree_root(graph, work)
            if root == NO_NODE:
                break
        else:
            back_up(operator, graph, depth, 0, is_sample, limits.discount, work)
            done += 1
    return root, done


@helper
def find_value(graph, depth, leaf, evaluator, limits, work):
    """Write the value at the end of a descent into `work.values`; returns whether it took an evaluation. A depth of 0 is the
    root's."""
    if leaf == NO_NODE and depth > 0:
        leaf = settle(graph, depth, work)
    if leaf != NO_NODE:
        return False
    evaluate(evaluator, work, limits.scale, limits.discount)
    graph.used[EVALUATED] += 1
    return True


@helper
def make_tree_root(graph, work):
    """Create the root's node, with `work.values` as its evaluation; NO_NODE if it has no legal action."""
    graph.used[POSITIONS] += 1
    root = np.int64(grow(graph, work.states[LEAF_STATE], work))
    if root != NO_NODE:
        own_evaluations(graph.nodes[root], 1, work.values)
    return root


# --- the steps of a simulation ----------------------------------------------------------------------------------------------


@helper
def descend(graph, number, depth, select, limits, work):
    """Follow the selection rule from a node at this depth, whose position is LEAF_STATE, play on that and record the path.

    Returns its depth (or NO_DEPTH) and the leaf: a node where the game is over, its outcome then in `work.values`, or
    NO_NODE for a position that needs an evaluation.
    """
    state = work.states[LEAF_STATE]
    first = depth
    while graph.nodes[slot(number)].count > 0:
        if depth == len(work.path_edges):
            withdraw(graph, first, depth, work)
            return NO_DEPTH, NO_NODE
        lock(graph, number)
        chosen = select_edge(select, graph, number, depth, limits, work)
        set_out(graph, number, chosen, 1)
        edge = graph.edges[chosen]
        child, visits = edge.child, edge.visits
        unlock(graph, number)
        expect(graph, child)
        step(state, edge.action, depth, work)
        work.path_nodes[depth] = number
        work.path_edges[depth] = chosen
        depth += 1
        number = child
        if number == NO_NODE:
            if visits < limits.expand_after or depth >= limits.depth or rules.is_over(state):
                return depth, NO_NODE
            number = promote(graph, depth, limits.discount, work)
            if number == NO_NODE:
                return depth, NO_NODE
    count_end(graph, number, work)
    return depth, number


@helper
def count_end(graph, number, work):
    """Count one more visit of a node where the game is over; its outcome is then in `work.values`."""
    state = work.states[LEAF_STATE]
    node = graph.nodes[slot(number)]
    lock(graph, number)
    node.visits += 1
    if rules.has_random_returns(state):
        rules.returns(state, work.returns, work.random)
        for i in range(len(node.value)):
            node.value[i] += (work.returns[i] - node.value[i]) / node.visits
            work.values[i] = work.returns[i]
    else:
        for i in range(len(node.value)):
            work.values[i] = node.value[i]
    unlock(graph, number)


@helper
def expect(graph, number):
    """Prefetch a node and its first edges while the action that leads there is played: trees outgrow the caches."""
    if number != NO_NODE:
        for line in range(LINES_AHEAD):
            prefetch(graph.nodes, number, line)


@helper
def promote(graph, depth, discount, work):
    """Make the leaf at the end of the path a node with edges, unless another thread has; NO_NODE if there is no room."""
    lock(graph, work.path_nodes[depth - 1])
    edge = graph.edges[work.path_edges[depth - 1]]
    number = np.int64(edge.child)
    if number == NO_NODE:
        number = np.int64(grow(graph, work.states[LEAF_STATE], work))
        if number != NO_NODE:
            for i in range(len(edge.total)):
                work.values[i] = leaf_mean(graph, depth, discount, work, i)
            own_evaluations(graph.nodes[number], edge.visits, work.values)
            edge.child = number
    unlock(graph, work.path_nodes[depth - 1])
    return number


@helper
def leaf_mean(graph, depth, discount, work, i):
    """The mean of the evaluations of the leaf at the end of the path: its edge's mean, less the reward."""
    edge = graph.edges[work.path_edges[depth - 1]]
    mean = sign_of(len(edge.total), graph.nodes[work.path_nodes[depth - 1]].player) * edge.total[i] / edge.visits
    if rules.has_rewards(work.states[LEAF_STATE]):
        mean -= work.path_rewards[depth - 1, i]
    return mean / discount


@helper
def own_evaluations(node, count, values):
    """Record how often a new node was evaluated, and the mean."""
    node.visits = count
    for i in range(len(node.value)):
        node.value[i] = values[i]


@helper
def grow(graph, state, work):
    """A new node for a state that is not over: edges with uniform priors in random order, or chance events with their
    probabilities. NO_NODE if there is no room or no legal action."""
    player, count = shuffled_choices(state, work)
    if count == 0:
        return NO_NODE
    number = add_node(graph, player, work.actions, count)
    if number != NO_NODE:
        set_chances(graph, number, state, work)
    return number


@helper
def settle(graph, depth, work):
    """If the game is over at the leaf, write the outcome into `work.values` and keep it in a node (if there is room);
    returns that node, or NO_NODE if the leaf needs an evaluation."""
    state = work.states[LEAF_STATE]
    if not rules.is_over(state):
        return NO_NODE
    lock(graph, work.path_nodes[depth - 1])
    edge = graph.edges[work.path_edges[depth - 1]]
    number = np.int64(edge.child)
    if number != NO_NODE:  # another thread was faster
        count_end(graph, number, work)
    else:
        read_outcome(work)
        number = np.int64(add_node(graph, CHANCE, work.actions, 0))
        if number == NO_NODE:
            number = np.int64(OUT_OF_ROOM)
        else:
            own_evaluations(graph.nodes[number], edge.visits + 1, work.values)
            edge.child = number
    unlock(graph, work.path_nodes[depth - 1])
    return number
