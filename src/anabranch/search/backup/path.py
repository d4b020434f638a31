"""Walking up the path of a simulation on a compact tree, and withdrawing one that is not backed up.

On graphs, `graph_update.py` updates nodes. Next: `loops/tree.py`.
"""

import numpy as np

from anabranch.games import rules
from anabranch.jit import helper
from anabranch.search.backup.operators import carry
from anabranch.search.memory.layout import NO_NODE, POSITIONS, edges_of, is_on, sign_of, slot, width_of
from anabranch.search.memory.locks import lock, unlock
from anabranch.search.select.virtual_loss import come_back


@helper
def back_up(operator, graph, depth, first, is_sample, discount, work):
    """Walk the path of `work` upwards to depth `first` with `work.values`, the leaf's value, and count the simulation;
    `is_sample`: that is an evaluation of a leaf without a node. Returns whether `work.values` is then a whole node's value."""
    values = work.values
    width = width_of(graph)  # a constant to the compiler, which len(values) is not
    if graph.edges[work.path_edges[depth - 1]].visits == 0:
        graph.used[POSITIONS] += 1
    whole = False
    for d in range(depth - 1, first - 1, -1):
        lock(graph, work.path_nodes[d])
        node = graph.nodes[slot(work.path_nodes[d])]
        edge = graph.edges[slot(work.path_edges[d])]
        if is_on(graph.shared) and is_sample and d == depth - 1 and edge.child != NO_NODE:
            give_sample(graph, edge.child, values)
        sign = sign_of(width, node.player)
        edge.visits += 1
        node.visits += 1
        come_back(graph, work.path_nodes[d], work.path_edges[d], 1)
        for i in range(width):
            values[i] *= discount
            if rules.has_rewards(work.states[0]):
                values[i] += work.path_rewards[d, i]
            if whole:
                edge.total[i] = sign * values[i] * edge.visits
            else:
                edge.total[i] += sign * values[i]
        whole = carry(operator, graph, work.path_nodes[d], values)
        unlock(graph, work.path_nodes[d])
    return whole


@helper
def withdraw(graph, first, depth, work):
    """Revert the `pending` counts, from depth `first` to `depth` of a path, of a simulation that is not backed up."""
    if is_on(graph.virtual):
        for d in range(first, depth):
            lock(graph, work.path_nodes[d])
            come_back(graph, work.path_nodes[d], work.path_edges[d], 1)
            unlock(graph, work.path_nodes[d])


@helper
def give_sample(graph, number, values):
    """Count one more evaluation of a position for which another thread has meanwhile created a node."""
    lock(graph, number)
    node = graph.nodes[slot(number)]
    own = np.int64(node.visits)
    for e in edges_of(graph, number):
        own -= graph.edges[e].visits
    for i in range(len(values)):
        node.value[i] = (own * node.value[i] + values[i]) / (own + 1)
    node.visits += 1
    unlock(graph, number)
