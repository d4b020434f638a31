"""Rules that keep a strategy at every node, and whose average strategy converges to an equilibrium of a zero-sum game.

    RegretMatching   plays in proportion to positive regrets, computed from the means of all pairs (Hart & Mas-Colell 2000; with
                     `plus`, Tammelin's regret matching+)
    Exp3             exponential weights from the values of the pairs that it drew (Auer et al. 2002)

Both draw from their strategies, mixed with a little uniform exploration. A player's scores of its outcomes (regrets, gains) and
how often it has played each (without exploration) are stored with the edges, in `Graph.strategies`: the first player's i-th
outcome at edge (i, 0), the second player's j-th at edge (0, j), and at the node itself the number of columns. `ByStrategies`
then computes a node's value from the average strategies, not from the visits. Lanctot, Lisy & Winands 2014 compare such rules.
Read first: `grid.py`. Docs: docs/algorithms/simultaneous.md.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.jit.options import Positive, Share
from anabranch.search.backup.operators import carry, node_mean
from anabranch.search.checks import serves
from anabranch.search.evaluate.rollout import LEAF_STATE
from anabranch.search.memory.layout import On, is_on, slot, width_of
from anabranch.search.requirements import check_together, needed_columns
from anabranch.search.results.check_nodes import has_numbers, has_sound_strategies
from anabranch.search.select.base import chooses_pairs, learn, prefer
from anabranch.search.simultaneous.grid import (
    NO_OUTCOME,
    POLICY,
    TOTAL,
    draw,
    mean_of,
    shape_of,
    side_of,
    untried,
)

__all__ = ["ByStrategies", "Exp3", "RegretMatching"]

SCORE, PLAYED = 0, 2  # columns of `Graph.strategies`, for the first player; the second player's are the next ones
COLUMNS = 4
WIDTH = 0  # of a node: how many columns its grid has; 0: nothing is stored yet


class RegretMatching(NamedTuple):
    """Outcomes in proportion to a player's positive regrets, after all pairs were tried once."""

    explore: Share = 0.05  # this share of the choices is uniformly random
    plus: bool = True  # negative regrets are reset to 0


class Exp3(NamedTuple):
    """Exponential weights on the gains of each outcome, divided by the probability of drawing it."""

    explore: Share = 0.1
    rate: Positive = 0.1  # how fast weights grow, for gains from 0 to 1 of an outcome that is always played


@chooses_pairs.register(RegretMatching, Exp3)
def chooses_pairs_regret_matching(rule):
    return True


@needed_columns.register(RegretMatching, Exp3)
def needed_columns_regret_matching(rule):
    return ("strategies",)


class ByStrategies(NamedTuple):
    """Where both move at once, a node's value is the expectation under its average strategies, from the means of all pairs;
    before all of them were tried, and elsewhere, the mean."""


@check_together.register(ByStrategies)
def check_by_strategies(operator, chosen):
    if not keeps_strategies(chosen.select):
        raise SearchError(f"backup={operator!r} wants a rule that keeps strategies: RegretMatching(), Exp3(), Equilibrium()")


# --- how a pair is chosen -----------------------------------------------------------------------------------------------------


@prefer.register(RegretMatching)
def prefer_regret_matching(rule, graph, number, depth, limits, work):
    k = untried(graph, number, limits, work.random)
    return slot(number + 1 + k) if k != NO_OUTCOME else drawn(rule, graph, number, work)


@prefer.register(Exp3)
def prefer_exp3(rule, graph, number, depth, limits, work):
    return drawn(rule, graph, number, work)


@helper
def drawn(rule, graph, number, work):
    """A pair drawn from both strategies."""
    rows, columns = shape_of(graph, number, work.states[LEAF_STATE])
    set_strategies(rule, graph, number, rows, columns, work.grid)
    mix_in(rule.explore, rows, columns, work.grid)
    i = draw(work.grid, 0, rows, work.random)
    j = draw(work.grid, 1, columns, work.random)
    return slot(number + 1 + i * columns + j)


@helper
def home(number, player, i, columns):
    """The edge at which a player's i-th outcome is stored."""
    return slot(number + 1 + (i * columns if player == 0 else i))


@generic
def set_strategies(rule, graph, number, rows, columns, grid):
    """Write each player's current strategy into row POLICY."""


keeps_strategies = serves(set_strategies)


@set_strategies.register(RegretMatching)
def set_strategies_regret_matching(rule, graph, number, rows, columns, grid):
    for player in range(2):
        count = rows if player == 0 else columns
        total = 0.0
        for i in range(count):
            grid[player, POLICY, i] = max(graph.strategies[home(number, player, i, columns), SCORE + player], 0.0)
            total += grid[player, POLICY, i]
        for i in range(count):
            grid[player, POLICY, i] = grid[player, POLICY, i] / total if total > 0.0 else 1.0 / count


@set_strategies.register(Exp3)
def set_strategies_exp3(rule, graph, number, rows, columns, grid):
    for player in range(2):
        count = rows if player == 0 else columns
        most = -math.inf
        for i in range(count):
            most = max(most, graph.strategies[home(number, player, i, columns), SCORE + player])
        total = 0.0
        for i in range(count):
            score = graph.strategies[home(number, player, i, columns), SCORE + player]
            grid[player, POLICY, i] = math.exp(rule.rate / count * (score - most))
            total += grid[player, POLICY, i]
        for i in range(count):
            grid[player, POLICY, i] /= total


@helper
def mix_in(explore, rows, columns, grid):
    """Mix uniform exploration into both strategies."""
    for player in range(2):
        count = rows if player == 0 else columns
        for i in range(count):
            grid[player, POLICY, i] = (1.0 - explore) * grid[player, POLICY, i] + explore / count


# --- what is updated on the way up --------------------------------------------------------------------------------------------


@learn.register(RegretMatching)
def learn_regret_matching(rule, graph, number, e, limits, work):
    """Update the regrets: each outcome against the current strategies, by the means of all pairs."""
    if graph.nodes[slot(number)].player == CHANCE or not all_tried(graph, number):
        return
    rows, columns = shape_of(graph, number, work.states[0])
    grid = work.grid
    graph.strategies[slot(number), WIDTH] = columns
    set_strategies(rule, graph, number, rows, columns, grid)
    weight = float(graph.nodes[slot(number)].visits)  # later strategies are better, and get more weight
    for player in range(2):
        side = side_of(graph, player, limits.scale)
        count = rows if player == 0 else columns
        others = columns if player == 0 else rows
        expected = 0.0
        for i in range(count):
            value = 0.0
            for j in range(others):
                e = slot(number + 1 + (i * columns + j if player == 0 else j * columns + i))
                value += grid[1 - player, POLICY, j] * mean_of(graph, e, side)
            grid[player, TOTAL, i] = value
            expected += grid[player, POLICY, i] * value
        for i in range(count):
            place = home(number, player, i, columns)
            regret = graph.strategies[place, SCORE + player] + grid[player, TOTAL, i] - expected
            graph.strategies[place, SCORE + player] = max(regret, 0.0) if rule.plus else regret
            graph.strategies[place, PLAYED + player] += weight * grid[player, POLICY, i]


@learn.register(Exp3)
def learn_exp3(rule, graph, number, e, limits, work):
    """Add to the drawn outcome's score its gain, divided by the probability of drawing it."""
    if graph.nodes[slot(number)].player == CHANCE:
        return
    rows, columns = shape_of(graph, number, work.states[0])
    grid = work.grid
    graph.strategies[slot(number), WIDTH] = columns
    set_strategies(rule, graph, number, rows, columns, grid)
    edge = int(e) - number - 1
    for player in range(2):
        side = side_of(graph, player, limits.scale)
        count = rows if player == 0 else columns
        chosen = edge // columns if player == 0 else edge % columns
        for i in range(count):
            graph.strategies[home(number, player, i, columns), PLAYED + player] += grid[player, POLICY, i]
        likely = (1.0 - rule.explore) * grid[player, POLICY, chosen] + rule.explore / count
        gain = 0.5 + 0.5 * (mean_of(graph, slot(e), side) - side.sign * side.middle) * limits.scale.factor
        graph.strategies[home(number, player, chosen, columns), SCORE + player] += gain / likely


@helper
def all_tried(graph, number):
    """Whether all pairs have visits."""
    fewest = graph.edges[slot(number + 1)].visits
    for k in range(1, graph.nodes[slot(number)].count):
        fewest = min(fewest, graph.edges[slot(number + 1 + k)].visits)
    return fewest > 0


# --- the value of a node ------------------------------------------------------------------------------------------------------


@carry.register(ByStrategies)
def carry_by_strategies(operator, graph, number, values):
    node_mean(graph, number, values)
    if (
        is_on(graph.has_strategies)
        and graph.nodes[slot(number)].player != CHANCE
        and graph.strategies[slot(number), WIDTH] > 0.0
    ):
        by_strategies(graph, number, values)
    return True


@helper
def by_strategies(graph, number, values):
    """The expected value under both average strategies; untried pairs are left out."""
    columns = np.int64(graph.strategies[slot(number), WIDTH])
    rows = np.int64(graph.nodes[slot(number)].count) // columns
    weight = 0.0
    for i in range(rows):
        for j in range(columns):
            edge = graph.edges[slot(number + 1 + i * columns + j)]
            share = graph.strategies[home(number, 0, i, columns), PLAYED]
            share *= graph.strategies[home(number, 1, j, columns), PLAYED + 1]
            if share == 0.0 or edge.visits == 0:
                continue
            if weight == 0.0:
                for c in range(width_of(graph)):
                    values[c] = 0.0
            weight += share
            for c in range(width_of(graph)):
                values[c] += share / weight * (edge.total[c] / edge.visits - values[c])


def read_strategies(graph: Any, root: int, rows: int, columns: int) -> Any:
    """The average strategies of a node, one per player; None before there is one."""
    played = graph.strategies[root + 1 : root + 1 + rows * columns].reshape(rows, columns, COLUMNS)
    found = played[:, 0, PLAYED], played[0, :, PLAYED + 1]
    return tuple(each / each.sum() for each in found) if all(each.sum() > 0.0 for each in found) else None


@has_sound_strategies.register(On)
def has_sound_strategies_on(strategic, graph, number, state):
    """Whether the strategies stored at a node from a file are finite numbers and match the width of its grid."""
    width = graph.strategies[slot(number), WIDTH]
    return has_numbers(graph.strategies, slot(number)) and (width == 0.0 or width == shape_of(graph, number, state)[1])
