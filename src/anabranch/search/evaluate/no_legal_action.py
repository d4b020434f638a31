"""Positions without a legal action although the game is not over: a mistake in the rules that every author makes once.

A kernel that meets one records it in its scratch memory and returns; Python then raises an error that shows the position.
The simulation that met it is not counted.
"""

from typing import Any

from anabranch.errors import GameError
from anabranch.games.rules import CHANCE
from anabranch.jit import helper, readable

HINT = "let the rule `is_over` say that the game has ended there, or give the player an action that passes"


@helper
def mark_stuck(state, work):
    """Record that no action is legal in this state, although the game is not over."""
    work.stuck[0] = 1
    work.stuck_state[0] = state


@helper
def is_stuck(work):
    """Whether a kernel has met such a state."""
    return work.stuck[0] != 0


def check_stuck(game: Any, work: Any) -> None:
    """Raise a `GameError` that shows the position a kernel could not continue from, if there was one."""
    if work.stuck[0]:
        work.stuck[0] = 0
        state = readable(work.stuck_state)[0]
        what = "no chance event has a probability above 0" if game.ask("to_play", state) == CHANCE else "no action is legal"
        raise stuck_error(game, what, game.text(state))


def stuck_error(game: Any, what: str, position: str) -> GameError:
    """The error for such a position."""
    return GameError(f"{game!r}: {what} in this position, and the game is not over: {HINT}\n{position}")
