"""Heuristics: prior knowledge of a node's actions, before any was tried (Gelly & Silver 2011, section 5.1).

A heuristic gives each action H, a value from 0 to 1 for the player to move, and says how many simulations that is worth: C of
the action itself and C~ for AMAF. New edges start with Q = Q~ = H, N = C, N~ = C~ (48-52), under any selection rule.

To write one, define a `NamedTuple` and a function of a state and an action, compiled like the rules of a game:

    class Centre(NamedTuple):
        visits: int = 10

    @anabranch.evaluate.advise.register(Centre)
    def advise_centre(heuristic, state, action):
        return 0.6 if action == 4 else 0.5, heuristic.visits, heuristic.visits    # H, C, C~

or a plain Python function f(state) -> (H, C, C~), each an array over all actions or one number for all of them; leaves then
get their edges at once, as with an evaluator in Python.
Read first: `amaf.py`; `games/advice.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError
from anabranch.games import rules
from anabranch.games.advice import advise, consider
from anabranch.interrupts import released
from anabranch.jit import generic, helper
from anabranch.jit.dispatch import quiet
from anabranch.jit.options import Whole
from anabranch.search.evaluate.rollout import LEAF_STATE
from anabranch.search.memory.layout import F4, column_of, edges_of, is_on, slot, width_of

__all__ = ["EvenGame", "Grandfather"]

LARGEST_WORTH = 2**30  # simulations


class NoHeuristic(NamedTuple):
    """No prior knowledge."""


quiet.add(NoHeuristic)


class EvenGame(NamedTuple):
    """All actions are even, H = 1/2: games between strong players are close."""

    visits: Whole = 0  # C
    amaf_visits: Whole = 50  # C~


class Grandfather(NamedTuple):
    """H is the value that the action had when the same player last moved, usually two plies up; 1/2 if it had none."""

    visits: Whole = 0  # C
    amaf_visits: Whole = 50  # C~


@generic(default=True)
def advise_all(heuristic, graph, count, depth, limits, work):
    """Write a heuristic's hints for the first `count` of `work.actions`, legal at LEAF_STATE, into the playout log."""
    state = work.states[LEAF_STATE]
    consider(heuristic, state)
    for i in range(count):
        value, visits, amaf_visits = advise(heuristic, state, work.actions[i])
        put(work.playout_log, i, value, visits, amaf_visits)


@advise_all.register(NoHeuristic)
def advise_all_no_heuristic(heuristic, graph, count, depth, limits, work):
    for i in range(count):
        put(work.playout_log, i, 0.5, 0, 0)


@advise.register(EvenGame)
def advise_even_game(heuristic, state, action):
    return 0.5, heuristic.visits, heuristic.amaf_visits


@advise_all.register(Grandfather)
def advise_all_grandfather(heuristic, graph, count, depth, limits, work):
    for i in range(count):
        put(work.playout_log, i, 0.5, heuristic.visits, heuristic.amaf_visits)
    player = np.int64(rules.to_play(work.states[LEAF_STATE]))
    d = depth - 1
    while d >= 0 and graph.nodes[slot(work.path_nodes[d])].player != player:
        d -= 1
    if d < 0:
        return
    number = work.path_nodes[d]
    width = width_of(graph)
    column = column_of(width, player)
    sign = -1.0 if width == 1 and player == 1 else 1.0
    work.playout_log.clock[0] += 1
    for e in edges_of(graph, number):
        edge = graph.edges[e]
        if edge.visits > 0:
            work.playout_log.seen[player, edge.action] = work.playout_log.clock[0]
            mean = edge.total[column] / edge.visits - sign * limits.scale.middle
            work.playout_log.scratch[edge.action] = mean * limits.scale.factor
    for i in range(count):
        if work.playout_log.seen[player, work.actions[i]] == work.playout_log.clock[0]:
            work.playout_log.hints[i] = F4(work.playout_log.scratch[work.actions[i]])


@helper
def put(playout_log, i, value, visits, amaf_visits):
    """Store the hint of action number `i`, with H on [0, 1] mapped to [-1, 1]. An invalid hint is recorded, and `check_advice`
    raises once the kernel has returned."""
    if not (value >= 0.0 and value <= 1.0 and 0 <= visits <= LARGEST_WORTH and 0 <= amaf_visits <= LARGEST_WORTH):
        playout_log.fault[0], playout_log.fault[1], playout_log.fault[2], playout_log.fault[3] = 1.0, value, visits, amaf_visits
        return
    playout_log.hints[i] = F4(2.0 * value - 1.0)
    playout_log.worth[i, 0] = visits
    playout_log.worth[i, 1] = amaf_visits


@helper
def swap_actions(work, i, j):
    """Swap two actions, together with their priors and hints."""
    playout_log = work.playout_log
    work.actions[i], work.actions[j] = work.actions[j], work.actions[i]
    work.priors[i], work.priors[j] = work.priors[j], work.priors[i]
    if is_on(playout_log.used):
        playout_log.hints[i], playout_log.hints[j] = playout_log.hints[j], playout_log.hints[i]
        for k in range(2):
            playout_log.worth[i, k], playout_log.worth[j, k] = playout_log.worth[j, k], playout_log.worth[i, k]


@helper
def sort_actions(work, count):
    """Sort actions, the most promising first; equal ones keep their order."""
    for i in range(1, count):
        j = i
        while j > 0 and is_better(work, j, j - 1):
            swap_actions(work, j - 1, j)
            j -= 1


@helper
def sort_by_number(work, count):
    """Sort actions by number: where all scores are equal, the lowest is followed."""
    for i in range(1, count):
        j = i
        while j > 0 and work.actions[j] < work.actions[j - 1]:
            swap_actions(work, j - 1, j)
            j -= 1


@helper
def is_better(work, i, j):
    """Whether one action is rated above another, by its hint and then by its prior."""
    hints = work.playout_log.hints
    if is_on(work.playout_log.used) and hints[i] != hints[j]:
        return hints[i] > hints[j]
    return work.priors[i] > work.priors[j]


# --- heuristics in Python ----------------------------------------------------------------------------------------------------


def ask_heuristic(function: Any, state: Any, actions: np.ndarray, size: int, playout_log: Any) -> None:
    """Call a Python heuristic for these actions, check its answer and write it into the playout log."""
    try:
        with released():
            values, visits, amaf_visits = function(state)
    except (TypeError, ValueError) as error:
        raise EvaluatorError(f"a heuristic f(state) gives (H, C, C~), three arrays or numbers; this one: {error}") from error
    count = len(actions)
    playout_log.hints[:count] = 2.0 * _part(values, "H", size, 1.0, actions) - 1.0
    playout_log.worth[:count, 0] = _part(visits, "C", size, LARGEST_WORTH, actions)
    playout_log.worth[:count, 1] = _part(amaf_visits, "C~", size, LARGEST_WORTH, actions)


def check_advice(heuristic: Any, playout_log: Any) -> None:
    """Raise an `EvaluatorError` if a compiled heuristic gave an invalid hint."""
    if playout_log.fault[0] != 0.0:
        _, value, visits, amaf_visits = playout_log.fault
        playout_log.fault[0] = 0.0
        raise EvaluatorError(
            f"{heuristic!r} says H={value:g}, C={visits:g}, C~={amaf_visits:g} of an action: "
            "H must be from 0 to 1, and C and C~ 0 or more"
        )


def _part(given: Any, name: str, size: int, most: float, actions: np.ndarray) -> np.ndarray:
    numbers = np.asarray(given, float)
    if numbers.shape not in ((), (size,)):
        raise EvaluatorError(
            f"a heuristic's {name} has the shape {numbers.shape}: give a number, or one for each of {size} actions"
        )
    numbers = np.broadcast_to(numbers, (size,))[actions]
    if not ((numbers >= 0.0) & (numbers <= most)).all():
        wrong = numbers[~((numbers >= 0.0) & (numbers <= most))][0]
        raise EvaluatorError(
            f"a heuristic's {name} is {wrong:g}: it must be " + ("from 0 to 1" if most == 1.0 else "0 or more")
        )
    return numbers


@generic(default=True)
def advises_objects(heuristic):
    """Whether a heuristic needs no state, so that games of Python objects can use it."""
    return False


@advises_objects.register(EvenGame)
def advises_objects_even_game(heuristic):
    return True
