"""Advice: a heuristic's hint for an action, before a search has tried it. A game may define its own heuristics.

A heuristic is an option (a `NamedTuple`) with an implementation of `advise` and, optionally, of `consider`.
`Search(heuristic=...)` calls them: see `search/evaluate/heuristic.py`.
"""

from anabranch.jit import generic


@generic
def advise(heuristic, state, action):
    """H, C and C~ of a legal action: a value from 0 to 1 for the player to move, and the numbers of simulations it counts as,
    those of the action itself and AMAF ones."""


@generic(default=True)
def consider(heuristic, state):
    """Called once for a position, before `advise` is called for each of its actions. Both may change fields that only serve as
    scratch memory."""
