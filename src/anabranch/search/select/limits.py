"""What bounds the growth of a search, and the scale of its values; passed to every step of a simulation.

Next: `base.py`, which chooses an edge within these limits.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import NOTHING
from anabranch.jit import by_pointer, helper
from anabranch.jit.options import Count
from anabranch.jit.written import replacing
from anabranch.search.memory.layout import ACTION_CODES, NO_NODE, edges_of, slot

EVERY_ACTION = np.ones(0, np.bool_)  # a mask that is never read


class Expansion(NamedTuple):
    """When leaves are expanded: `Search(expand=...)`."""

    after: Count = 1  # evaluations of a leaf before it is expanded
    depth: Any = None  # the deepest level of the tree, counted from the root; 1 is flat Monte-Carlo, None means no limit


class Scale(NamedTuple):
    """How returns are normalised to [-1, 1]: (value - middle) * factor, for player 0 (or every player, if not zero-sum)."""

    middle: float = 0.0
    factor: float = 1.0


@by_pointer
class Limits(NamedTuple):
    """What bounds the growth of the graph, and the units of its values."""

    depth: int  # positions this many actions below the root stay leaves
    expand_after: int  # evaluations of a leaf before it gets a node
    scale: Scale
    discount: float
    repetition: int = NOTHING  # what a repetition means in this game: see `rules.REPETITIONS`
    widest: int = ACTION_CODES  # how many of a node's edges may be chosen, from the first: see `pruning.Widening`
    only: int = NO_NODE  # the root edge that every simulation takes, counted from 0; NO_NODE: the rule chooses
    lots: bool = False  # whether rules for simultaneous moves break ties at random, or by the lowest action
    some: bool = False  # whether only some actions may be followed: at the root of a restricted search, see `at_depth`
    allowed: Any = EVERY_ACTION  # bool (actions,): those actions


narrowed = replacing(Limits, "widest")  # the limits with fewer edges that may be chosen
_restricted = replacing(Limits, "some")


@helper
def at_depth(limits, depth):
    """The limits as rules see them at a node: actions are restricted only at the root."""
    return _restricted(limits, limits.some and depth == 0)


@helper
def first_allowed(graph, number, limits):
    """The first of a node's edges that may be followed; there is at least one."""
    for e in edges_of(graph, number):
        if limits.allowed[graph.edges[e].action]:
            return e
    return slot(number + 1)
