"""Decoupled PUCT: each player chooses an outcome independently, by the mean values of its own outcomes.

    score_p[i] = Q_p[i] + c P_p[i] sqrt(max(1, N)) / (1 + n_p[i])

n_p[i] sums the visits of all pairs with outcome i, P_p is the player's own prior, and Q_p[i] averages over the other player's
replies: how these are weighted is an option, A to D of the paper this follows. An untried outcome gets the first-play urgency.
Values are scaled by what can still be won (rule `stake`), so that c means the same at the beginning of a game and at its end.
This need not converge to an equilibrium: `strategies.py` has rules that do. Docs: docs/algorithms/simultaneous.md.
"""

import math
from typing import Any, NamedTuple

from anabranch.games import rules
from anabranch.jit import generic, helper
from anabranch.jit.options import NonNegative
from anabranch.jit.random import below
from anabranch.search.evaluate.rollout import LEAF_STATE
from anabranch.search.memory.layout import slot
from anabranch.search.select.base import ReducedFPU, chooses_pairs, first_play, parts_of, prefer, usual_parts
from anabranch.search.select.virtual_loss import edge_view
from anabranch.search.simultaneous.grid import (
    POLICY,
    PRIOR,
    TOTAL,
    VISITS,
    mean_of,
    shape_of,
    side_of,
    sum_up,
    worth,
)

__all__ = ["ByBoth", "ByPriors", "ByReplies", "ByVisits", "Decoupled"]


class ByPriors(NamedTuple):
    """Option A: replies are weighted by the other player's prior."""


class ByVisits(NamedTuple):
    """Option B: replies are weighted by the other player's visits, against all outcomes of this one."""


class ByBoth(NamedTuple):
    """Option C: replies are weighted by the sum of the other player's prior and visits."""


class ByReplies(NamedTuple):
    """Option D: replies are weighted by their visits against this very outcome."""


class Decoupled(NamedTuple):
    """Decoupled PUCT, the default for simultaneous moves."""

    c: NonNegative = 1.5
    fpu: Any = ReducedFPU(0.2)  # in units of what can still be won
    replies: Any = ByReplies()
    scaled: bool = True  # values scaled by what can still be won, or by half the game's declared range
    forced: NonNegative = 0.0  # k: at the root, an outcome that was tried first gets sqrt(k P N) visits; KataGo's: 2


@chooses_pairs.register(Decoupled)
def chooses_pairs_decoupled(rule):
    return True


@parts_of.register(Decoupled)
def parts_of_decoupled(rule):
    return {**usual_parts(rule), "replies": (weigh_replies,)}


@prefer.register(Decoupled)
def prefer_decoupled(rule, graph, number, depth, limits, work):
    state = work.states[LEAF_STATE]
    rows, columns = shape_of(graph, number, state)
    everything = sum_up(graph, number, rows, columns, limits, work.grid)
    weigh_replies(rule.replies, graph, number, rows, columns, limits, work.grid)
    unit = 1.0 / rules.stake(state) if rule.scaled else limits.scale.factor
    bonus = rule.c * math.sqrt(max(1.0, everything))
    forced = rule.forced * everything if depth == 0 else 0.0
    i = favourite(rule, 0, rows, worth(graph, number, 0), unit, bonus, forced, limits, work)
    j = favourite(rule, 1, columns, worth(graph, number, 1), unit, bonus, forced, limits, work)
    return slot(number + 1 + i * columns + j)


@helper
def favourite(rule, player, count, value, unit, bonus, forced, limits, work):
    """The outcome with a player's highest score; of equal ones the first, or one at random."""
    grid = work.grid
    fewest = grid[player, VISITS, 0]
    for i in range(1, count):
        fewest = min(fewest, grid[player, VISITS, i])
    untried = 0.0
    if fewest == 0.0:
        untried = first_play(rule.fpu, Seat(value * unit, visited_prior(grid, player, count)))
    chosen, ties, best = 0, 0, -math.inf
    for i in range(count):
        visits, prior = grid[player, VISITS, i], grid[player, PRIOR, i]
        if visits > 0.0:  # value + bonus * prior / (1 + visits), with one division
            more = 1.0 + visits
            score = (grid[player, TOTAL, i] * unit * more + bonus * prior * visits) / (visits * more)
        else:
            score = untried + bonus * prior
        if forced > 0.0 and 0.0 < visits * visits < forced * prior:
            score = math.inf
        if score > best:
            chosen, ties, best = i, 1, score
        elif score == best and limits.lots:
            ties += 1
            if below(work.random, ties) == 0:
                chosen = i
    return chosen


@helper
def visited_prior(grid, player, count):
    """The prior mass of a player's tried outcomes."""
    mass = 0.0
    for i in range(count):
        if grid[player, VISITS, i] > 0.0:
            mass += grid[player, PRIOR, i]
    return mass


class Seat(NamedTuple):
    """What a first-play urgency reads of a node."""

    value: float  # for the player, in units of the stake
    visited_prior: float


# --- how replies are weighted -------------------------------------------------------------------------------------------------


@generic
def weigh_replies(replies, graph, number, rows, columns, limits, grid):
    """Make TOTAL / VISITS of every outcome in the grid the mean that this option defines. Replies that were never tried against
    an outcome have weight 0 there."""


@weigh_replies.register(ByReplies)
def weigh_replies_by_replies(replies, graph, number, rows, columns, limits, grid):
    pass  # the grid already has that mean


@weigh_replies.register(ByPriors)
def weigh_replies_by_priors(replies, graph, number, rows, columns, limits, grid):
    reweigh(graph, number, rows, columns, limits, grid, 1.0, 0.0)


@weigh_replies.register(ByVisits)
def weigh_replies_by_visits(replies, graph, number, rows, columns, limits, grid):
    reweigh(graph, number, rows, columns, limits, grid, 0.0, 1.0)


@weigh_replies.register(ByBoth)
def weigh_replies_by_both(replies, graph, number, rows, columns, limits, grid):
    reweigh(graph, number, rows, columns, limits, grid, 1.0, 1.0)


@helper
def reweigh(graph, number, rows, columns, limits, grid, by_prior, by_visits):
    """Weight replies by their prior and their visits; row POLICY has the weights."""
    for player in range(2):
        for i in range(rows if player == 0 else columns):
            grid[player, POLICY, i] = by_prior * grid[player, PRIOR, i] + by_visits * grid[player, VISITS, i]
    for player in range(2):
        side = side_of(graph, player, limits.scale)
        for i in range(rows if player == 0 else columns):
            total, weight = 0.0, 0.0
            for j in range(columns if player == 0 else rows):
                e = slot(number + 1 + (i * columns + j if player == 0 else j * columns + i))
                if edge_view(graph, e, side).visits > 0:
                    total += grid[1 - player, POLICY, j] * mean_of(graph, e, side)
                    weight += grid[1 - player, POLICY, j]
            if weight > 0.0:
                grid[player, TOTAL, i] = total / weight * grid[player, VISITS, i]
