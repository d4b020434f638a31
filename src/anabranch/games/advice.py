"""Advice: what a heuristic thinks of an action, before a search has tried it. A game may bring heuristics of its own.

A heuristic is an option (a `NamedTuple`) with an implementation of `advise`; `consider` is there for those that want it.
`Search(heuristic=...)` asks them: see `search/evaluate/heuristic.py`.
"""

from anabranch.jit import generic


@generic
def advise(heuristic, state, action):
    """H, C and C~ of a legal action: a value from 0 to 1 for the player who moves, and what that is worth in simulations, those
    of the action itself and those in which it comes later."""


@generic(default=True)
def consider(heuristic, state):
    """Look at a position once, before `advise` is asked about each of its actions. Here as there, fields that only serve as
    scratch memory may be changed."""
