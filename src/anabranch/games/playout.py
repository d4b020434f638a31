"""Default policies: how playouts choose their actions. A game may define its own; `RandomPolicy` works for all.

A policy is an option (a `NamedTuple`) with an implementation of `pick` and, optionally, of `begin` and `is_enough`. `Rollout`
in the search runs playouts with them.
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
    """Called when a playout begins at `state`, which is a copy."""


@generic(default=True)
def is_enough(policy, state, plies):
    """Whether to stop after so many plies although the game is not over; the game's `heuristic` then gives the value."""
    return False


@pick.register(RandomPolicy)
def pick_random_policy(policy, state, random):
    """Any legal action."""
    return rules.random_action(state, random)
