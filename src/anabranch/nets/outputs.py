"""From a network's outputs to what a search needs: logits to priors of legal actions, values to the game's returns."""

import math
from typing import NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.jit import helper, kernel

ALL_WELL = -1
LEAST_PRIOR = 1e-30  # of a legal action: the search may have to exclude (superko) the actions that got all the rest
SLACK = 1e-3  # by which rounding alone may take a value outside [-1, 1]


class Returns(NamedTuple):
    """The range of a game's returns: a value v in [-1, 1] is middle + half * v."""

    middle: float
    half: float


@kernel
def read_outputs(states, logits, raw, returns, legal, priors, values):
    """Compute priors and values of n states from a network's outputs for one or more looks at each: `logits` is (looks, n,
    actions), `raw` (looks, n, value width), both already mapped back. Looks are averaged. Returns the number of the first state
    with unusable outputs, or ALL_WELL."""
    looks = len(logits)
    for i in range(len(states)):
        player = rules.to_play(states[i])
        count = 0 if player == CHANCE else rules.legal_actions(states[i], legal)
        for look in range(looks):
            most = -np.inf
            for j in range(count):
                most = max(most, logits[look, i, legal[j]])
            total = 0.0
            for j in range(count):
                total += math.exp(logits[look, i, legal[j]] - most)
            if not total < np.inf:
                return i
            for j in range(count):
                priors[i, legal[j]] += math.exp(logits[look, i, legal[j]] - most) / (total * looks)
        for j in range(count):
            priors[i, legal[j]] = max(priors[i, legal[j]], LEAST_PRIOR)
        if not read_values(raw, i, player, returns, values):
            return i
    return ALL_WELL


@kernel
def read_both(states, logits, raw, returns, priors, values):
    """The same where both players move at once: `logits` and `priors` have one player's actions after the other's."""
    looks = len(logits)
    for i in range(len(states)):
        each = rules.actions_each(states[i])
        for seat in range(2 if rules.to_play(states[i]) == EVERYONE and not rules.is_over(states[i]) else 0):
            for look in range(looks):
                most = -np.inf
                for action in range(each):
                    if rules.may_play(states[i], seat, action):
                        most = max(most, logits[look, i, seat * each + action])
                total = 0.0
                for action in range(each):
                    if rules.may_play(states[i], seat, action):
                        total += math.exp(logits[look, i, seat * each + action] - most)
                if not total < np.inf:
                    return i
                for action in range(each):
                    if rules.may_play(states[i], seat, action):
                        share = math.exp(logits[look, i, seat * each + action] - most) / (total * looks)
                        priors[i, seat * each + action] += max(share, LEAST_PRIOR)
        if not read_values(raw, i, 0, returns, values):
            return i
    return ALL_WELL


@helper
def read_values(raw, i, player, returns, values):
    """Write the mean value of all looks at a state, in the game's units; returns whether it is valid."""
    width = raw.shape[2]
    middle = -returns.middle if width == 1 and player == 1 else returns.middle
    for k in range(width):
        mean = 0.0
        for look in range(len(raw)):
            mean += raw[look, i, k] / len(raw)
        if not abs(mean) <= 1.0 + SLACK:
            return False
        values[i, k] = middle + returns.half * min(max(mean, -1.0), 1.0)
    return True
