"""Default policies: how playouts choose their actions. A game may bring its own; `RandomPolicy` serves all.

A policy is an option (a `NamedTuple`) with an implementation of `pick`. `begin` and `is_enough` are there for those that want
them. `Rollout` in the search runs playouts with them.
"""

from typing import NamedTuple

from anabranch.games import rules
from anabranch.jit import generic


class RandomPolicy(NamedTuple):
    """Plays a random legal action, each equally likely."""


@generic
def pick(policy, state, random):
    """The action that a default policy plays; `state` is not at chance and not over."""


@generic(default=True)
def begin(policy, state):
    """A playout begins at `state`, which is a copy."""


@generic(default=True)
def is_enough(policy, state, plies):
    """Whether to stop after so many plies, though the game is not over; the game's `heuristic` then says what it is worth."""
    return False


@pick.register(RandomPolicy)
def pick_random_policy(policy, state, random):
    """Any legal action."""
    return rules.random_action(state, random)
