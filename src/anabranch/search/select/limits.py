"""What bounds the growth of a search, and the scale of its values: what every step of a simulation is told.

Next: `base.py`, which chooses an edge within these limits.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import NOTHING
from anabranch.jit import by_pointer, helper
from anabranch.jit.options import Count
from anabranch.jit.written import replacing
from anabranch.search.memory.layout import ACTION_CODES, NO_NODE, edges_of, slot

EVERY_ACTION = np.ones(0, np.bool_)  # a mask that nobody looks at


class Expansion(NamedTuple):
    """When leaves get edges of their own: `Search(expand=...)`."""

    after: Count = 1  # evaluations of a leaf before it is expanded
    depth: Any = None  # the deepest level of the tree, counted from the root; 1 is flat Monte-Carlo, None is no limit


class Scale(NamedTuple):
    """How returns become values in [-1, 1]: (value - middle) * factor, for player 0 (or every player, if not zero-sum)."""

    middle: float = 0.0
    factor: float = 1.0


@by_pointer
class Limits(NamedTuple):
    """What bounds the growth of the graph, and the units of its values."""

    depth: int  # positions this many actions below the root stay leaves
    expand_after: int  # evaluations of a leaf before it gets a node
    scale: Scale
    discount: float
    repetition: int = NOTHING  # what the game makes of one: see `rules.REPETITIONS`
    widest: int = ACTION_CODES  # edges of a node that may be chosen, the first ones: see `pruning.Widening`
    only: int = NO_NODE  # which of the root's edges simulations take, counted from 0; NO_NODE: they choose
    lots: bool = False  # whether rules for simultaneous moves draw among equals; else they take the lowest
    some: bool = False  # whether only some actions may be followed: at the root of a restricted search, see `at_depth`
    allowed: Any = EVERY_ACTION  # bool (actions,): which ones those are


narrowed = replacing(Limits, "widest")  # with fewer edges that may be chosen
_restricted = replacing(Limits, "some")


@helper
def at_depth(limits, depth):
    """The limits as rules see them at a node: its actions are restricted at the root alone."""
    return _restricted(limits, limits.some and depth == 0)


@helper
def first_allowed(graph, number, limits):
    """The first of a node's edges that may be followed; there is one."""
    for e in edges_of(graph, number):
        if limits.allowed[graph.edges[e].action]:
            return e
    return slot(number + 1)
