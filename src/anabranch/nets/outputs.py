"""What a network gives, made into what a search wants: logits to priors of legal actions, values to the game's returns."""

import math
from typing import NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import kernel

ALL_WELL = -1
LEAST_PRIOR = 1e-30  # of a legal action: the search may have to leave out (superko) what got all the rest
SLACK = 1e-3  # by which a value may miss [-1, 1] for rounding alone


class Returns(NamedTuple):
    """The range of a game's returns: a value v in [-1, 1] is middle + half * v."""

    middle: float
    half: float


@kernel
def read_outputs(states, logits, raw, returns, legal, priors, values):
    """Priors and values of n states from the outputs of one network or more looks at each: `logits` is (looks, n, actions),
    `raw` (looks, n, value width), both already turned back. Looks are averaged. The number of the first state whose outputs
    are no use, or ALL_WELL."""
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
        width = raw.shape[2]
        middle = -returns.middle if width == 1 and player == 1 else returns.middle
        for k in range(width):
            mean = 0.0
            for look in range(looks):
                mean += raw[look, i, k] / looks
            if not abs(mean) <= 1.0 + SLACK:
                return i
            values[i, k] = middle + returns.half * min(max(mean, -1.0), 1.0)
    return ALL_WELL
