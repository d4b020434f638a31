"""Playing the equilibrium of the matrix of means: for zero-sum games, where that is one linear program per node.

`solve` is the simplex method on a condensed tableau, in which a pivot exchanges a row's label with a column's; Bland's rule
(the lowest label first) prevents cycling. `Equilibrium` solves a node's matrix whenever a simulation is backed up through it,
draws from the solution with a little exploration, and with `ByStrategies` the node's value is that of the solution.
Read first: `grid.py`, `strategies.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import GameError, SearchError
from anabranch.games.rules import CHANCE
from anabranch.jit import helper, kernel
from anabranch.jit.options import Share
from anabranch.search.loops.steps import tableau_shape
from anabranch.search.memory.layout import slot
from anabranch.search.requirements import check_together, needed_columns
from anabranch.search.select.base import chooses_pairs, learn, prefer
from anabranch.search.simultaneous.grid import NO_OUTCOME, POLICY, ROWS, mean_of, shape_of, side_of, untried
from anabranch.search.simultaneous.strategies import PLAYED, WIDTH, all_tried, drawn, home, set_strategies

__all__ = ["Equilibrium", "solve_matrix"]

EDGE = 2  # rows and columns of a tableau besides the matrix: the program's sums, and labels
MOST_PIVOTS = 1000


class Equilibrium(NamedTuple):
    """Outcomes drawn from the equilibrium of the matrix of means, after all pairs were tried once."""

    explore: Share = 0.1  # this share of the choices is uniformly random


@chooses_pairs.register(Equilibrium)
def chooses_pairs_equilibrium(rule):
    return True


@needed_columns.register(Equilibrium)
def needed_columns_equilibrium(rule):
    return ("strategies",)


@check_together.register(Equilibrium)
def check_equilibrium(rule, chosen):
    if not chosen.game.zero_sum:
        raise SearchError(
            f"select={rule!r} solves zero-sum games, and {chosen.game!r} is not zero-sum: use RegretMatching() or Decoupled()"
        )


@tableau_shape.register(Equilibrium)
def tableau_shape_equilibrium(rule, game):
    return game.actions + EDGE, game.actions + EDGE


@prefer.register(Equilibrium)
def prefer_equilibrium(rule, graph, number, depth, limits, work):
    k = untried(graph, number, limits, work.random)
    return slot(number + 1 + k) if k != NO_OUTCOME else drawn(rule, graph, number, work)


@set_strategies.register(Equilibrium)
def set_strategies_equilibrium(rule, graph, number, rows, columns, grid):
    for player in range(2):
        count = rows if player == 0 else columns
        for i in range(count):
            known = graph.strategies[slot(number), WIDTH] > 0.0
            grid[player, POLICY, i] = (
                graph.strategies[home(number, player, i, columns), PLAYED + player] if known else 1.0 / count
            )


@learn.register(Equilibrium)
def learn_equilibrium(rule, graph, number, e, limits, work):
    if graph.nodes[slot(number)].player == CHANCE or not all_tried(graph, number):
        return
    rows, columns = shape_of(graph, number, work.states[0])
    side = side_of(graph, 0, limits.scale)
    for i in range(rows):
        for j in range(columns):
            work.tableau[i, j] = mean_of(graph, slot(number + 1 + i * columns + j), side)
    solve(work.tableau, rows, columns, work.grid)
    graph.strategies[slot(number), WIDTH] = columns
    for player in range(2):
        for i in range(rows if player == 0 else columns):
            graph.strategies[home(number, player, i, columns), PLAYED + player] = work.grid[player, POLICY, i]


# --- the solver ---------------------------------------------------------------------------------------------------------------


@helper
def solve(tableau, rows, columns, grid):
    """Solve a matrix game, whose payoffs to the first player are in the tableau's upper left corner: returns its value and
    writes an equilibrium into row POLICY of the grid. The tableau is overwritten."""
    lowest = tableau[0, 0]
    for i in range(rows):
        for j in range(columns):
            lowest = min(lowest, tableau[i, j])
    for i in range(rows):
        for j in range(columns):
            tableau[i, j] += 1.0 - lowest  # all above 0, so that the value is too
        tableau[i, columns] = 1.0
        tableau[i, columns + 1] = columns + i  # the label of its slack
    for j in range(columns):
        tableau[rows, j] = -1.0
        tableau[rows + 1, j] = j
    tableau[rows, columns] = 0.0
    for _ in range(MOST_PIVOTS):
        column = entering(tableau, rows, columns)
        if column < 0:
            break
        pivot(tableau, rows, columns, leaving(tableau, rows, columns, column), column)
    value = 1.0 / tableau[rows, columns]
    for i in range(rows):
        grid[0, POLICY, i] = 0.0
    for j in range(columns):
        grid[1, POLICY, j] = 0.0
    for i in range(rows):
        label = np.int64(tableau[i, columns + 1])
        if label < columns:
            grid[1, POLICY, label] = max(tableau[i, columns] * value, 0.0)
    for j in range(columns):
        label = np.int64(tableau[rows + 1, j])
        if label >= columns:
            grid[0, POLICY, label - columns] = max(tableau[rows, j] * value, 0.0)
    return value + lowest - 1.0


@helper
def entering(tableau, rows, columns):
    """The column with the lowest label among those that still improve the objective; -1 if there is none."""
    chosen = -1
    for j in range(columns):
        if tableau[rows, j] < -1e-12 and (chosen < 0 or tableau[rows + 1, j] < tableau[rows + 1, chosen]):
            chosen = j
    return chosen


@helper
def leaving(tableau, rows, columns, column):
    """The row that bounds this column most tightly; of equal ones, the one with the lowest label."""
    chosen, least = -1, 0.0
    for i in range(rows):
        if tableau[i, column] > 1e-12:
            ratio = tableau[i, columns] / tableau[i, column]
            lower = chosen >= 0 and ratio == least and tableau[i, columns + 1] < tableau[chosen, columns + 1]
            if chosen < 0 or ratio < least or lower:
                chosen, least = i, ratio
    return chosen


@helper
def pivot(tableau, rows, columns, row, column):
    """Exchange the labels of a row and a column."""
    by = tableau[row, column]
    for i in range(rows + 1):
        if i != row:
            factor = tableau[i, column] / by
            for j in range(columns + 1):
                if j != column:
                    tableau[i, j] -= factor * tableau[row, j]
            tableau[i, column] = -factor
    for j in range(columns + 1):
        tableau[row, j] /= by
    tableau[row, column] = 1.0 / by
    tableau[row, columns + 1], tableau[rows + 1, column] = tableau[rows + 1, column], tableau[row, columns + 1]


@kernel
def solve_one(tableau, rows, columns, grid):
    """`solve` as a kernel, for calls from Python."""
    return solve(tableau, rows, columns, grid)


class Solution(NamedTuple):
    """An equilibrium of a zero-sum matrix game."""

    value: float  # for the first player
    first: np.ndarray  # each player's strategy
    second: np.ndarray


def solve_matrix(payoffs: Any) -> Solution:
    """The value and an equilibrium of a zero-sum matrix game, given the first player's payoffs."""
    matrix = np.array(payoffs, float)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise GameError(f"a matrix game has rows and columns of finite numbers, not {payoffs!r}")
    rows, columns = matrix.shape
    tableau = np.zeros((rows + EDGE, columns + EDGE))
    tableau[:rows, :columns] = matrix
    grid = np.zeros((2, ROWS, max(rows, columns)))
    value = solve_one(tableau, rows, columns, grid)
    first, second = grid[0, POLICY, :rows], grid[1, POLICY, :columns]
    return Solution(float(value), first / first.sum(), second / second.sum())
