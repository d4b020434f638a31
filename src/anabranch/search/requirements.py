"""What options declare about themselves, so that `configure.py` need not know each of them: generic functions with defaults.

    needed_columns     what must be stored in memory for this option
    check_together     whether it can be combined with the other options of a search, and with the game
    check_inside       whether it may be part of this rule
    goes_with_threads  whether several threads may use it at once

A user's option gets the defaults, or registers its own: `@needed_columns.register(Mine)`. All are called once per search, in
plain Python. Those for selection rules only are in `select/base.py`, those for graph updates in `backup/graph_update.py`.
"""

from typing import Any, NamedTuple

from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit import generic
from anabranch.jit.options import is_option


class Chosen(NamedTuple):
    """The options of a search, each checked by itself."""

    game: Any
    select: Any
    evaluate: Any
    backup: Any
    heuristic: Any  # an option, a Python function, or None
    final: Any
    graph: bool  # whether transpositions share one node
    update: Any
    ahead: Any
    stale: Any
    collect: Any
    prove: bool

    @property
    def at_once(self) -> bool:
        """Whether both players move at once."""
        return isinstance(self.game, SimultaneousGame)


@generic(default=True)
def needed_columns(option):
    """Names of the columns that must be stored with nodes and edges (`memory/columns.py`), or "plan". By default a rule around
    another needs what that one needs."""
    return needed_columns(option.rule) if is_option(option) and hasattr(option, "rule") else ()


@generic(default=True)
def check_together(option, chosen):
    """Raise a `SearchError` that names the remedy if an option, or the game, cannot be combined with the others chosen. Also
    called for rules inside other rules."""


@generic(default=True)
def check_inside(part, rule):
    """Raise a `SearchError` if an option may not be part of this rule, or not with these parameters."""


@generic(default=True)
def goes_with_threads(option):
    """Whether several threads may use an option on one graph at once."""
    return True
