"""Evaluators: the value of a new position, and the priors of its actions.

`Rollout` and `Uniform` run inside the kernel. A Python callable `f(states) -> (priors, values)` is called by
`searcher.py`, between kernels. Values are in the game's own units: player 0's alone where that suffices, else one number
per player. Next: `loops/tree.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.playout import begin, is_enough, pick
from anabranch.games.rules import CHANCE
from anabranch.jit import generic, helper
from anabranch.jit.options import Count
from anabranch.search.evaluate.no_legal_action import mark_stuck
from anabranch.search.evaluate.playout_log import begin_evaluation, begin_playout, end_playout, log_action
from anabranch.search.memory.layout import is_on

__all__ = ["LEAF_STATE", "Rollout", "Uniform", "evaluate"]

# The states that kernels work on, by their index in `Work.states`.
ROOT_STATE, LEAF_STATE, PLAYOUT_STATE, CAMP_STATE = range(4)


class Rollout(NamedTuple):
    """Playouts by a default policy; their mean return is the value. Priors are uniform."""

    policy: Any = None  # None: the game's own, `Game.policy`
    playouts: Count = 1  # for each evaluation
    cutoff: Count = 10_000  # plies after which the playout stops and the game's `heuristic` gives the value


class Uniform(NamedTuple):
    """No knowledge: uniform priors, and the middle of the declared range as value; in games of simultaneous moves with rewards
    along the way, 0, as if nothing more were to come."""


@generic
def evaluate(evaluator, work, scale, discount):
    """Write the value of `work.states[LEAF_STATE]`, where the game is not over, into `work.values`: in units of the game's
    returns, player 0's where that suffices, else one number per player.

    `scale.middle` is the middle of the range of returns and 1 / `scale.factor` half its width; `discount` is the game's.
    Besides `work.values`, only `work.random` and `work.states[PLAYOUT_STATE]` may be changed; priors are uniform."""


@evaluate.register(Uniform)
def evaluate_uniform(evaluator, work, scale, discount):
    paid = rules.at_once(work.states[0]) and rules.has_rewards(work.states[0])
    for i in range(len(work.values)):
        work.values[i] = 0.0 if paid else scale.middle


@evaluate.register(Rollout)
def evaluate_rollout(evaluator, work, scale, discount):
    width = rules.value_width(work.states[LEAF_STATE])  # a constant to the compiler, which len(work.values) is not
    for i in range(width):
        work.values[i] = 0.0
    if is_on(work.playout_log.used):
        begin_evaluation(work.playout_log)
    for _ in range(evaluator.playouts):
        play_out(evaluator, work, scale, discount)
    if evaluator.playouts > 1:
        for i in range(width):
            work.values[i] /= evaluator.playouts


@helper
def play_out(evaluator, work, scale, discount):
    """Play from the leaf to the end, or to the cutoff, and add the return to `work.values`."""
    work.states[PLAYOUT_STATE] = work.states[LEAF_STATE]
    state = work.states[PLAYOUT_STATE]
    width = rules.value_width(state)
    begin(evaluator.policy, state)
    place = begin_playout(work.playout_log, work.values) if is_on(work.playout_log.used) else np.int32(0)
    weight = 1.0
    plies = 0
    over = False
    while not over and plies < evaluator.cutoff and not is_enough(evaluator.policy, state, plies):
        if rules.has_chance(state) and rules.to_play(state) == CHANCE:
            action = rules.random_event(state, work.probabilities, work.random)
        else:
            action = pick(evaluator.policy, state, work.random)
            if is_on(work.playout_log.used) and action >= 0 and rules.keeps_meaning(state, action):
                place = log_action(work.playout_log, place, rules.to_play(state), action)
        if action < 0:
            mark_stuck(state, work)
            break
        if rules.has_rewards(state):
            work.rewards[:] = 0.0
        rules.play(state, action, work.rewards)
        if rules.has_rewards(state):
            for i in range(width):
                work.values[i] += weight * work.rewards[i]
        weight *= discount
        plies += 1
        over = rules.is_over(state)
    if over:
        rules.returns(state, work.returns, work.random)
    else:
        guess(state, work.returns, scale)
    for i in range(width):
        work.values[i] += weight * work.returns[i]
    if is_on(work.playout_log.used):
        end_playout(work.playout_log, place, work.values)


@helper
def guess(state, out, scale):
    """The game's heuristic, or the middle of the range if it has none."""
    for i in range(len(out)):
        out[i] = scale.middle
    rules.heuristic(state, out)


@generic(default=True)
def bound_to(evaluator, game):
    """The evaluator as searches of this game use it. A network raises at once if it is for another game."""
    if hasattr(evaluator, "bind"):
        evaluator.bind(game)
    return evaluator


@bound_to.register(Rollout)
def bound_to_rollout(evaluator, game):
    return evaluator._replace(policy=game.policy) if evaluator.policy is None else evaluator
