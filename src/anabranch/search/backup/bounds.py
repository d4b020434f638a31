"""Proven values: score-bounded MCTS, with bounds backed up from ends of the game (Cazenave & Saffidine 2010).

Every node has a lower and an upper bound on its true value: at first the declared range, at the end of a game the outcome.
The player to move gets at least the best of the lower bounds and at most the best of the upper ones; chance nodes take the
expectation; another player gets something between what the moves that may still be best would pay. A node is settled when its
bounds meet. Only ends of the game prove anything.

Where repetitions matter and paths join, a position's value depends on how it was reached, and a bound that was carried round a
cycle may be false. Bounds hold for the root's own past (they are recomputed when it moves), and a child that may not occur
again is unknown. For cycles there are two cases:

- **Two players (or one), zero-sum, no rewards along the way, no chance, no discount.** A bound is the outcome of some end of
  the game, and a node where a player can force it got it from a child that had it earlier. So there is a path to that end
  without a cycle, and the root's bounds are right. Those of an action are computed without the root (`derive_without`): a move
  whose reply leads back to the root does not win, even if the root is won.
- **All other games.** Expectations, sums and the choices of third players combine several children's bounds, and round a cycle
  a bound would support itself. So nodes have levels that never change, and only edges to a higher level count (`leads_up`);
  what lies behind other edges is unknown.

Bounds are in player 0's view, or one number per player. In a search without `prove`, nothing here costs anything.
"""

import math

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import helper, kernel
from anabranch.search.memory.graph import EXEMPT, EXHAUSTED, HIGH, LOW, OVER, Graph, child_of, repetition_key_of
from anabranch.search.memory.layout import NO_NODE, column_of, edges_of, is_on, is_undecided, slot, width_of

LOOK_FURTHER = 8  # with one number per player, one visit of a node in so many goes to edges that are not settled


@helper
def least_value(state, scale):
    """The least value of any position. With rewards along the way, the rest of a game has no declared range."""
    return -math.inf if rules.has_rewards(state) else scale.middle - 1.0 / scale.factor


@helper
def greatest_value(state, scale):
    """The greatest value of any position."""
    return math.inf if rules.has_rewards(state) else scale.middle + 1.0 / scale.factor


@helper
def unknown(graph, number, limits, state):
    """Set a new node's bounds, which exclude nothing."""
    for i in range(width_of(graph)):
        graph.bounds[number, LOW, i] = least_value(state, limits.scale)
        graph.bounds[number, HIGH, i] = greatest_value(state, limits.scale)


@helper
def edge_bound(graph, e, side, i, limits, state):
    """The lower or upper bound of an edge, in player 0's view or column `i`."""
    child = child_of(graph, e)
    if not counts(graph, e, child):
        return least_value(state, limits.scale) if side == LOW else greatest_value(state, limits.scale)
    bound = limits.discount * graph.bounds[slot(child), side, i]
    if rules.has_rewards(state):
        bound += graph.rewards[slot(e), i]
    return bound


@helper
def counts(graph, e, child):
    """Whether the bounds of an edge's child hold for the edge."""
    if child == NO_NODE or (graph.nodes[slot(child)].flags & EXHAUSTED) != 0:
        return False
    return not is_on(graph.has_levels) or graph.levels[slot(e)] != 0


@helper
def leads_up(graph, depth, child, is_new, work):
    """Whether the path's last edge leads to a higher level. A line of such edges meets no position twice.

    Where repetitions have a key of their own, two nodes may be the same position for repetition. There, only edges that created
    their child count, at the end of a path of such edges that the child does not repeat."""
    number = work.path_nodes[depth - 1]
    if not is_on(graph.has_repetition_keys):
        return graph.levels[slot(child)] > graph.levels[slot(number)]
    if not is_new or (graph.nodes[slot(child)].flags & EXHAUSTED) != 0:
        return False
    for d in range(depth - 1):
        if graph.levels[slot(work.path_edges[d])] == 0:
            return False
    return (graph.nodes[slot(child)].flags & EXEMPT) != 0 or not repeats(graph, child, depth, work)


@helper
def repeats(graph, number, depth, work):
    """Whether a node repeats one of the path."""
    low, high = repetition_key_of(graph, number)
    for d in range(depth):
        other_low, other_high = repetition_key_of(graph, work.path_nodes[d])
        if other_low == low and other_high == high:
            return True
    return False


@helper
def narrow(graph, number, limits, state):
    """Compute a node's bounds from its children's; returns whether they tightened."""
    node = graph.nodes[slot(number)]
    if node.count == 0:
        return False
    width = width_of(graph)
    closer = False
    if node.player == CHANCE:
        for i in range(width):
            low = 0.0
            high = 0.0
            certain = 0.0
            for e in edges_of(graph, number):
                low += graph.edges[e].prior * edge_bound(graph, e, LOW, i, limits, state)
                high += graph.edges[e].prior * edge_bound(graph, e, HIGH, i, limits, state)
                certain += graph.edges[e].prior
            closer = tighten(graph, number, i, low / certain, high / certain) or closer
        return closer
    flip = width == 1 and node.player == 1  # the mover wants player 0's value low
    column = column_of(width, node.player)
    low = math.inf if flip else -math.inf
    high = low
    for e in edges_of(graph, number):
        edge_low = edge_bound(graph, e, LOW, column, limits, state)
        edge_high = edge_bound(graph, e, HIGH, column, limits, state)
        low = min(low, edge_low) if flip else max(low, edge_low)
        high = min(high, edge_high) if flip else max(high, edge_high)
    closer = tighten(graph, number, column, low, high)
    if width > 1:
        closer = narrow_others(graph, number, column, limits, state) or closer
    return closer


@helper
def narrow_others(graph, number, column, limits, state):
    """The bounds of the other players, over all edges that may still be the mover's best; returns whether they tightened."""
    closer = False
    for i in range(width_of(graph)):
        if i != column:
            low = math.inf
            high = -math.inf
            for e in edges_of(graph, number):
                if edge_bound(graph, e, HIGH, column, limits, state) >= graph.bounds[slot(number), LOW, column]:
                    low = min(low, edge_bound(graph, e, LOW, i, limits, state))
                    high = max(high, edge_bound(graph, e, HIGH, i, limits, state))
            closer = tighten(graph, number, i, low, high) or closer
    return closer


@helper
def tighten(graph, number, i, low, high):
    """Tighten a node's bounds, and never loosen them, since children may have been collected; returns whether any changed."""
    closer = low > graph.bounds[slot(number), LOW, i] or high < graph.bounds[slot(number), HIGH, i]
    graph.bounds[slot(number), LOW, i] = max(graph.bounds[slot(number), LOW, i], low)
    graph.bounds[slot(number), HIGH, i] = min(graph.bounds[slot(number), HIGH, i], high)
    return closer


@helper
def derive(graph, order, limits, state):
    """Compute the bounds of these nodes, children first, from ends of the game alone."""
    for number in order:
        if (graph.nodes[slot(number)].flags & OVER) == 0:
            unknown(graph, number, limits, state)
    closer = True
    while closer:
        closer = False
        for number in order:
            closer = narrow(graph, number, limits, state) or closer


@kernel
def derive_again(graph, order, limits, work):
    """The same, called between kernels."""
    derive(graph, order, limits, work.states[0])


@kernel
def derive_without(graph, root, order, limits, work):
    """The same with unknown bounds at the root, which is not among these nodes: what holds after the root was left."""
    unknown(graph, root, limits, work.states[0])
    derive(graph, order, limits, work.states[0])


@helper
def clip(graph, number):
    """Keep a node's value within its bounds."""
    node = graph.nodes[slot(number)]
    for i in range(len(node.mean)):
        node.mean[i] = min(max(node.mean[i], graph.bounds[slot(number), LOW, i]), graph.bounds[slot(number), HIGH, i])


@helper
def is_settled(graph, number):
    """Whether a node's bounds meet for every player, so that its value is exact."""
    settled = True
    for i in range(width_of(graph)):
        settled = settled and graph.bounds[slot(number), LOW, i] == graph.bounds[slot(number), HIGH, i]
    return settled


@helper
def is_proven(graph, number):
    """Whether a node's value for the player to move is proven: then one of its actions is known to be best."""
    node = graph.nodes[slot(number)]
    column = np.int64(column_of(width_of(graph), max(node.player, 0)))
    return graph.bounds[slot(number), LOW, column] == graph.bounds[slot(number), HIGH, column]


@is_undecided.register(Graph)
def is_undecided_graph(graph, number, e, limits):
    """An edge is closed once it is settled, or if it cannot be better than what is already proven. With one number per player
    visits of settled edges are useful, since they decide what the others get: there, they are closed at one visit in eight."""
    if not is_on(graph.has_bounds):
        return True
    child = child_of(graph, e)
    if not counts(graph, e, child):
        return True
    width = width_of(graph)
    if is_settled(graph, child):
        return width > 1 and graph.nodes[slot(number)].visits % LOOK_FURTHER != 0
    if is_on(graph.has_rewards):
        return True
    player = graph.nodes[slot(number)].player
    column = column_of(width, player)
    low = limits.discount * graph.bounds[slot(child), LOW, column]
    high = limits.discount * graph.bounds[slot(child), HIGH, column]
    if width > 1:
        return high >= graph.bounds[slot(number), LOW, column]
    if player == 1:
        return low < graph.bounds[slot(number), HIGH, column]
    return high > graph.bounds[slot(number), LOW, column]
