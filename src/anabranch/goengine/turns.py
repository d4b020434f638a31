"""Positions for play out of turn: GTP lets either player move at any time, also after the end of a game.

`Position` enforces turns and the end of a game. What is needed on top of it: the other player to move (`with_turn`), a game
that goes on after two passes (`resumed`), a move that superko forbids but an arbiter allowed (`played`), and the same game
under other rules (`under`). Above: `engine.py`, `queries.py`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch.errors import IllegalMove
from anabranch.games.go import Go
from anabranch.games.go.keys import update_graph_key
from anabranch.games.go.layout import NO_CELL
from anabranch.games.position import Key, Position
from anabranch.jit import readable

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}  # players by their names in GTP
LETTERS = "BW"
LONGEST_GAME = 4_000  # moves; each position stores all moves before it, so memory is quadratic: 130 MB at this length


def go_of(position: Position) -> Go:
    """The position's game, which must be Go."""
    assert isinstance(position.game, Go)
    return position.game


def with_turn(position: Position, player: int) -> Position:
    """The same stones with this player to move, and the game not over."""
    position = resumed(position) if position.is_over else position
    if position.to_play == player:
        return position
    return _changed(position, position.past, turn=player, passes=0, ko_cell=NO_CELL)


def resumed(position: Position) -> Position:
    """The position as if the game were not over: as if nobody had passed, or as if the position had not occurred before."""
    recent = position.state.recent.copy()
    recent[1:] = NO_CELL  # a network sees the last pass alone, as in KataGo
    return _changed(position, _others(position, position.past), passes=0, recent=recent)


def played(position: Position, action: int) -> Position:
    """The position after a move. If it repeats a position where that is forbidden, the arbiter has allowed it: it counts as if
    it had not occurred before. (KataGo does the same.)"""
    check_length(position)
    try:
        return position.play(action)
    except IllegalMove:
        state = readable(position.record())[0]
        if not 0 <= action < position.game.actions or not position.game.ask("is_legal", state, action):
            raise
    return _with_past(following := position.after(action), _others(following, following.past))


def check_length(position: Position) -> None:
    """Raise if a game has reached the limit of moves."""
    if len(position.moves) >= LONGEST_GAME:
        raise IllegalMove(f"the game is too long: it has {LONGEST_GAME:,} moves, which is the limit; begin another")


def under(game: Go, positions: Sequence[Position]) -> list[Position]:
    """The positions of a game, one after the other, under another komi or other rules: as if it had been played under them from
    the start. A move that they forbid stays as it was played."""
    found: list[Position] = []
    for old in positions:
        found.append(_played_again(found[-1], old) if found else _converted(game, old, ()))
    return found


def _played_again(before: Position, old: Position) -> Position:
    """The position after the same move under the rules of `before`."""
    try:
        return played(with_turn(before, old.before), old.moves[-1])
    except IllegalMove:
        return _converted(go_of(before), old, (*before.past, before.repetition_key))


def _converted(game: Go, old: Position, past: tuple[Key, ...]) -> Position:
    """The same stones under other rules, with this past."""
    pool = readable(old.record())
    for name, value in game.fields.items():
        if name != "button" or not (value and pool[name][0]):  # who has taken it keeps it
            pool[name][0] = value
    fresh = Position(game, pool, old.moves, old.rewards, (), old.before)
    return _with_past(fresh, past if old.state.passes else _others(fresh, past))


def _changed(position: Position, past: tuple[Key, ...], **fields: Any) -> Position:
    """The position with other values in its record. If that position repeats an earlier one, which would end the game, it
    counts as if it had not occurred before."""
    pool = readable(position.record())
    for name, value in fields.items():
        pool[name][0] = value
    with np.errstate(over="ignore"):
        update_graph_key(pool[0])
    found = Position(position.game, pool, position.moves, position.rewards, past, position.before)
    return _with_past(found, _others(found, past)) if found.is_over else found


def _others(position: Position, past: tuple[Key, ...]) -> tuple[Key, ...]:
    """A past without the times that this position occurred in it."""
    own = position.repetition_key
    return tuple(key for key in past if key != own)


def _with_past(position: Position, past: tuple[Key, ...]) -> Position:
    return Position(position.game, position.record(), position.moves, position.rewards, past, position.before)
