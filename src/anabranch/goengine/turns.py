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
    """The position as if the game were not over: as if nobody had passed, or as if a repeated position were a new start."""
    own = position.repetition_key
    past = () if position.state.passes < 2 else tuple(key for key in position.past if key != own)
    recent = position.state.recent.copy()
    recent[1:] = NO_CELL  # a network sees the last pass alone, as in KataGo
    return _changed(position, past, passes=0, recent=recent)


def played(position: Position, action: int) -> Position:
    """The position after a move. If it repeats a position where that is forbidden, it is taken as a new start: the arbiter has
    allowed it. (KataGo does the same.)"""
    check_length(position)
    try:
        return position.play(action)
    except IllegalMove:
        state = readable(position.record())[0]
        if not 0 <= action < position.game.actions or not position.game.ask("is_legal", state, action):
            raise
    following = position.after(action)
    return Position(following.game, following.record(), following.moves, following.rewards, (), following.before)


def check_length(position: Position) -> None:
    """Raise if a game has reached the limit of moves."""
    if len(position.moves) >= LONGEST_GAME:
        raise IllegalMove(f"the game is too long: it has {LONGEST_GAME:,} moves, which is the limit; begin another")


def under(game: Go, positions: Sequence[Position]) -> list[Position]:
    """The positions of a game, one after the other, under another komi or other rules."""
    found: list[Position] = []
    for old in positions:
        pool = readable(old.record())
        for name, value in game.fields.items():
            if name != "button" or not (value and pool[name][0]):  # who has taken it keeps it
                pool[name][0] = value
        fresh = Position(game, pool, old.moves, old.rewards, (), old.before)
        past: tuple[Key, ...] = ()
        if old.past and found:
            own = fresh.repetition_key
            before = (*found[-1].past, found[-1].repetition_key)[-len(old.past) :]
            past = before if old.state.passes else tuple(key for key in before if key != own)
        found.append(Position(game, fresh.record(), old.moves, old.rewards, past, old.before))
    return found


def _changed(position: Position, past: tuple[Key, ...], **fields: Any) -> Position:
    """The position with other values in its record. If that position repeats an earlier one, which would end the game, the past
    is dropped."""
    pool = readable(position.record())
    for name, value in fields.items():
        pool[name][0] = value
    with np.errstate(over="ignore"):
        update_graph_key(pool[0])
    found = Position(position.game, pool, position.moves, position.rewards, past, position.before)
    return found if not found.is_over else Position(found.game, found.record(), found.moves, found.rewards, (), found.before)
