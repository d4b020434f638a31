"""A search that may take only some actions at its root: `run(actions=["D4", "C3"])`, or a single one, `run(action="D4")`.

With several actions the selection rule chooses among them, and so does the final choice; the other actions keep their
statistics. Below the root nothing is restricted. Proofs are unaffected: the root's bounds are computed from all its actions,
and those that were left out are unknown. A single action takes every simulation without consulting the rule, whatever is
proven about it. Kernels apply this in `steps.select_edge` and `layout.is_open`. Above: `searcher.py`.
"""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import IllegalMove, SearchError
from anabranch.games.objects import ObjectGame
from anabranch.games.rules import CHANCE
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.search.drivers.base import Driver
from anabranch.search.memory.graph import HIGH, LOW, Graph
from anabranch.search.memory.layout import On
from anabranch.search.results.read import edge_bounds, edge_records


class Restriction(NamedTuple):
    """What simulations may do at the root."""

    only: int | None = None  # the action that all of them take
    allowed: np.ndarray | None = None  # bool (actions,): those that the rule may choose among


UNRESTRICTED = Restriction()  # whatever the rule prefers


def among(game: Any, position: Any, actions: Iterable[int | str]) -> Restriction:
    """These actions and no others, if they are legal."""
    if isinstance(game, SimultaneousGame):
        raise SearchError(f"actions=: in {game!r} both players move at once, and the search is for both; leave it out")
    if isinstance(actions, str):
        raise SearchError(f"actions={actions!r}: give a list of actions, or action={actions!r} for this one alone")
    at_chance = (game.to_play(position) if isinstance(game, ObjectGame) else position.to_play) == CHANCE
    if at_chance:
        raise SearchError("actions=: a chance event comes next, and nobody chooses among those; leave it out")
    allowed = np.zeros(game.edge_actions, np.bool_)
    allowed[_numbers(game, position, actions)] = True
    if not allowed.any():
        raise SearchError("actions=[]: give at least one action, or leave it out to search them all")
    return Restriction(allowed=allowed)


def _numbers(game: Any, position: Any, actions: Iterable[int | str]) -> list[int]:
    """Their numbers."""
    legal = set(game.legal_actions(position) if isinstance(game, ObjectGame) else position.legal_actions)
    numbers = []
    for action in actions:
        number = game.action(action) if isinstance(action, str) else int(action)
        if number not in legal:
            if not isinstance(game, ObjectGame):
                position.play(action)  # says why not
            raise IllegalMove(f"action {action} is not legal here")
        numbers.append(number)
    return numbers


@contextlib.contextmanager
def restricted(driver: Driver, to: Restriction) -> Iterator[None]:
    """While the root's actions are restricted."""
    before = driver.limits
    if to.only is not None:
        index = int(np.flatnonzero(edge_records(driver.graph, driver.root)["action"] == to.only)[0])
        driver.limits = before._replace(only=index)
    elif to.allowed is not None:
        driver.limits = before._replace(some=True, allowed=to.allowed)
    try:
        yield
    finally:
        driver.limits = before


def is_settled(driver: Driver, to: Restriction) -> bool:
    """Whether every allowed action is proven: the root may still be open, but this run has nothing left to find out."""
    if to.allowed is None or not isinstance(driver.graph, Graph) or not isinstance(driver.graph.has_bounds, On):
        return False
    bounds = edge_bounds(driver.with_bounds_of_actions(), driver.root, driver.limits)
    chosen = to.allowed[edge_records(driver.graph, driver.root)["action"]]
    return bounds is not None and bool((bounds[LOW] == bounds[HIGH])[chosen].all())
