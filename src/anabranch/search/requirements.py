"""What options say of themselves, so that `configure.py` need not know them one by one: generic functions with defaults.

    needed_columns     what must be kept in memory for this option
    check_together     whether it goes with the other options of a search, and with the game
    check_inside       whether it may be a part of this rule
    goes_with_threads  whether several threads may use it at once

An option of one's own gets the defaults, or says otherwise: `@needed_columns.register(Mine)`. All are called once a search, in
plain Python. What only selection rules say is in `select/base.py`, what only graph updates say in `backup/graph_update.py`.
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
    graph: bool  # whether positions that are reached by several paths share one node
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
    """Names of the columns that must be kept beside nodes and edges (`memory/columns.py`), or "plan". A rule around another one
    needs what that needs."""
    return needed_columns(option.rule) if is_option(option) and hasattr(option, "rule") else ()


@generic(default=True)
def check_together(option, chosen):
    """Raise a `SearchError` that names the remedy if an option, or the game, does not go with what else was chosen. Called also
    for rules inside other rules."""


@generic(default=True)
def check_inside(part, rule):
    """Raise a `SearchError` if an option may not be a part of this rule, or not with these numbers."""


@generic(default=True)
def goes_with_threads(option):
    """Whether several threads may use an option on one graph at once."""
    return True
