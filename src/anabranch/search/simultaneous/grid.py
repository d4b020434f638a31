"""A node at which both players move: its edges as a grid, with a row per outcome of the first player, a column of the second.

Edges are sorted by action, so edge (i, j) is the (i * columns + j)-th. An edge's prior is the product of the two players'
priors, and the sum over a row or column recovers one player's. Values of a zero-sum game are stored once, in the first
player's view; `worth` returns each player's own.
`sum_up` adds up rows and columns into `Work.grid`, which all rules read. Next: `decoupled.py`.
"""

from typing import NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import EVERYONE
from anabranch.games.simultaneous import PLAYERS, SimultaneousGame
from anabranch.jit import helper, kernel
from anabranch.jit.random import below, uniform
from anabranch.search.evaluate.python import edge_priors
from anabranch.search.loops.steps import grid_shape
from anabranch.search.memory.layout import is_on, slot, width_of
from anabranch.search.select.edge_view import total_of
from anabranch.search.select.virtual_loss import edge_view

VISITS, TOTAL, PRIOR, POLICY = range(4)  # rows of `Work.grid`, for each player; one number per outcome
ROWS = 4
NO_OUTCOME = -1


class Side(NamedTuple):
    """How one player's values are stored in an edge; fields are named as in `base.Parent`, since `edge_view` reads them."""

    column: int
    sign: float  # turns an edge's total into the player's own
    middle: float  # of the range, as stored
    unit: float  # a loss is middle - unit


@grid_shape.register(SimultaneousGame)
def grid_shape_of_pairs(game):
    return PLAYERS, ROWS, game.actions


@helper
def side_of(graph, player, scale):
    """How a player's values are stored in the edges of this graph."""
    if width_of(graph) > 1:
        return Side(player, 1.0, scale.middle, 1.0 / scale.factor)
    sign = 1.0 - 2.0 * player
    return Side(0, sign, scale.middle, sign / scale.factor)


@helper
def shape_of(graph, number, state):
    """How many outcomes each player has at a node with edges."""
    each = rules.actions_each(state)
    row = np.int64(graph.edges[slot(number + 1)].action) // each
    count = np.int64(graph.nodes[slot(number)].count)
    columns = 1
    while columns < count and np.int64(graph.edges[slot(number + 1 + columns)].action) // each == row:
        columns += 1
    return count // columns, columns


@helper
def worth(graph, number, player):
    """A node's value for a player."""
    mean = graph.nodes[slot(number)].mean
    if width_of(graph) > 1:
        return mean[player]
    return mean[0] if player == 0 else -mean[0]


@helper
def sum_up(graph, number, rows, columns, limits, grid):
    """Sum visits, totals and priors of every outcome of both players, with simulations under way; returns all visits."""
    for j in range(columns):
        grid[1, VISITS, j] = grid[1, TOTAL, j] = grid[1, PRIOR, j] = 0.0
    e = slot(number + 1)
    everything = 0.0
    for i in range(rows):
        row_visits, row_total, row_prior = 0.0, 0.0, 0.0
        for j in range(columns):
            prior = float(graph.edges[e].prior)
            row_prior += prior
            grid[1, PRIOR, j] += prior
            visits, first, second = both_totals(graph, e, limits.scale)  # all 0 if it was never tried
            row_visits += visits
            row_total += first
            grid[1, VISITS, j] += visits
            grid[1, TOTAL, j] += second
            e += slot(1)
        grid[0, VISITS, i], grid[0, TOTAL, i], grid[0, PRIOR, i] = row_visits, row_total, row_prior
        everything += row_visits
    return everything


@helper
def both_totals(graph, e, scale):
    """Visits of an edge and its total for each player, with simulations under way."""
    if not is_on(graph.virtual):
        edge = graph.edges[e]
        total = edge.total
        return np.int64(edge.visits), total[0], total[1] if width_of(graph) > 1 else -total[0]
    side, other = side_of(graph, 0, scale), side_of(graph, 1, scale)
    edge = edge_view(graph, e, side)
    total = total_of(edge_view(graph, e, other), other.column)
    return np.int64(edge.visits), side.sign * total_of(edge, side.column), other.sign * total


@helper
def mean_of(graph, e, side):
    """A visited edge's value for a player, with simulations under way."""
    edge = edge_view(graph, e, side)
    return side.sign * total_of(edge, side.column) / edge.visits


@helper
def draw(grid, player, count, random):
    """An outcome drawn from a player's row POLICY."""
    left = uniform(random)
    last = 0
    for i in range(count):
        if grid[player, POLICY, i] > 0.0:
            last = i
            left -= grid[player, POLICY, i]
            if left < 0.0:
                break
    return last


@helper
def untried(graph, number, limits, random):
    """An untried pair, at random if ties are broken at random, else the first; or NO_OUTCOME."""
    side = side_of(graph, 0, limits.scale)
    first = slot(number + 1)
    chosen, met = NO_OUTCOME, 0
    for k in range(graph.nodes[slot(number)].count):
        if edge_view(graph, first + slot(k), side).visits == 0:
            met += 1
            if met == 1 or (limits.lots and below(random, met) == 0):
                chosen = k
                if not limits.lots:
                    break
    return chosen


@kernel
def join(states, each_priors, joint):
    """Compute the priors of pairs of outcomes from those of each player's actions, normalised over the legal ones. If a
    player's are all 0, the position's row stays 0."""
    for s in range(len(states)):
        state = states[s]
        if rules.is_over(state) or rules.to_play(state) != EVERYONE:
            joint[s] = 1.0
            continue
        each = rules.actions_each(state)
        total = 1.0
        for player in range(PLAYERS):
            own = 0.0
            for action in range(each):
                if rules.may_play(state, player, action):
                    own += each_priors[s, player, action]
            total *= own
        for a in range(each):
            if total > 0.0 and rules.may_play(state, 0, a):
                row = rules.outcome(state, 0, a) * each
                for b in range(each):
                    if rules.may_play(state, 1, b):
                        joint[s, row + rules.outcome(state, 1, b)] += each_priors[s, 0, a] * each_priors[s, 1, b] / total


@edge_priors.register(SimultaneousGame)
def edge_priors_of_pairs(game, states, priors):
    """The priors of all pairs, (positions, edges), from (positions, players, actions)."""
    joint = np.zeros((len(priors), game.edge_actions))
    join(np.asarray(states()), np.ascontiguousarray(priors.astype(np.float64)), joint)
    return joint
