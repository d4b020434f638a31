"""A position, for people: immutable, prints itself, says what is legal. Kernels work on the record below it.

The rules run as plain Python here, so that looking at a position never waits for a compiler; `check.py` makes sure
that plain and compiled rules agree.
"""

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from anabranch.errors import IllegalMove
from anabranch.games.rules import CHANCE
from anabranch.jit import readable
from anabranch.jit.random import generator

if TYPE_CHECKING:
    from anabranch.games.game import Game


class Position:
    """One position of a game."""

    __slots__ = ("_pool", "game", "moves", "rewards")

    def __init__(self, game: "Game", pool: np.ndarray, moves: tuple[int, ...] = (), rewards: tuple[float, ...] = ()) -> None:
        self.game = game
        self.moves = moves  # actions and events that led here from the start
        self.rewards = rewards or (0.0,) * game.players  # paid on the way so far, discounted
        self._pool = readable(pool)  # shape (1,)
        self._pool.flags.writeable = False

    # --- what the rules say ---

    @property
    def to_play(self) -> int:
        """The player who moves, or CHANCE."""
        return int(self._ask("to_play"))

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._ask("is_over"))

    @property
    def returns(self) -> list[float]:
        """What the end pays, one number a player; zeros while the game goes on. `rewards` came on the way. If the end is a
        draw of luck, this is one draw, the same each time."""
        out = np.zeros(self.game.players)
        if self.is_over:
            self._ask("returns", out, generator(0))
        return [float(number) for number in out]

    @property
    def legal_actions(self) -> list[int]:
        """What the player to move may play; at chance, the events that can happen; nothing once the game is over."""
        if self.is_over:
            return []
        if self.to_play == CHANCE:
            return [event for event, probability in enumerate(self.probabilities) if probability > 0]
        out = np.zeros(self.game.actions, np.int64)
        count = self._ask("legal_actions", out)
        return [int(action) for action in out[:count]]

    @property
    def probabilities(self) -> list[float]:
        """At chance: how likely each event is."""
        out = np.zeros(self.game.events)
        self._ask("chance", out)
        return [float(probability) for probability in out]

    @property
    def key(self) -> tuple[int, int]:
        """128 bits, equal for equal positions."""
        low, high = self._ask("key")
        return int(low), int(high)

    def _ask(self, rule: str, *arguments: Any) -> Any:
        return self.game.ask(rule, self.state, *arguments)

    def play(self, action: int | str) -> "Position":
        """The position after this action (a number or a name) or chance event."""
        chance = not self.is_over and self.to_play == CHANCE
        named = self.game.event if chance else self.game.action
        number = named(action) if isinstance(action, str) else operator.index(action)
        self._check(number, chance)
        pool = readable(self.record())
        rewards = np.zeros(self.game.players)
        self.game.ask("play", pool[0], number, rewards)
        weight = self.game.discount ** len(self.moves)
        total = tuple(before + weight * float(now) for before, now in zip(self.rewards, rewards, strict=True))
        return Position(self.game, pool, (*self.moves, number), total)

    def _check(self, action: int, chance: bool) -> None:
        limit = self.game.events if chance else self.game.actions
        if self.is_over:
            raise IllegalMove(f"{self._name(action, chance, limit)}: the game is over")
        if not 0 <= action < limit:
            raise IllegalMove(f"action {action} is out of range: {self.game!r} has 0 to {limit - 1}")
        if chance:
            if self.probabilities[action] <= 0:
                raise IllegalMove(f"event {self.game.event_name(action)} cannot happen here")
        elif not self._ask("is_legal", action):
            names = [self.game.name_of(legal) for legal in self.legal_actions]
            shown = " ".join(names[:12]) + (" ..." if len(names) > 12 else "")
            raise IllegalMove(f"{self.game.name_of(action)} is not legal here; legal: {shown}")

    def _name(self, action: int, chance: bool, limit: int) -> str:
        if not 0 <= action < limit:
            return f"action {action}"
        return self.game.event_name(action) if chance else self.game.name_of(action)

    # --- the record below ---

    @property
    def state(self) -> Any:
        """The record, fields as attributes; read-only."""
        return self._pool[0]

    @property
    def data(self) -> bytes:
        """The record's bytes."""
        return self._pool.tobytes()

    def record(self) -> np.ndarray:
        """A fresh array of one record, for kernels."""
        return np.frombuffer(bytearray(self.data), self.game.record)

    # --- what people see ---

    def __str__(self) -> str:
        return self.game.text(self.state)

    def svg(self) -> str:
        """A drawing."""
        return self.game.svg(self.state)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<{self.game!r} after {len(self.moves)} moves>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and type(self.game) is type(other.game) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __reduce__(self) -> Any:
        return _restore, (self.game, self.data, self.moves, self.rewards)


def _restore(game: "Game", data: bytes, moves: tuple[int, ...], rewards: tuple[float, ...]) -> Position:
    return Position(game, np.frombuffer(bytearray(data), game.record), moves, rewards)
