"""A position, for use from Python: immutable, printable, with its legal actions. Kernels work on the underlying record.

The rules run as plain Python here, so that inspecting a position never waits for a compiler; `check.py` verifies that
plain and compiled rules agree.
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


Key = tuple[int, int]
ENDINGS = ("draw", "loss")  # repetitions that end a game


class Position:
    """One position of a game."""

    __slots__ = ("_is_over", "_pool", "_to_play", "before", "game", "moves", "past", "rewards")

    def __init__(
        self,
        game: "Game",
        pool: np.ndarray,
        moves: tuple[Any, ...] = (),
        rewards: tuple[float, ...] = (),
        past: tuple[Key, ...] = (),
        before: int = CHANCE,
    ) -> None:
        self.game = game
        self.moves = moves  # actions and events that led here from the start
        self.rewards = rewards or (0.0,) * game.players  # paid so far, discounted
        self.past = past  # repetition keys of the positions before this one, in games where repetitions matter
        self.before = before  # who played last
        self._pool = readable(pool)  # shape (1,)
        self._pool.flags.writeable = False
        self._to_play: int | None = None  # once it was asked for
        self._is_over: bool | None = None

    # --- what the rules define ---

    @property
    def to_play(self) -> int:
        """The player to move, or CHANCE."""
        if self._to_play is None:
            self._to_play = int(self._ask("to_play"))
        return self._to_play

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, by its rules or by a repetition."""
        if self._is_over is None:
            self._is_over = bool(self._ask("is_over")) or (self.game.repetition in ENDINGS and self.repeats)
        return self._is_over

    @property
    def repeats(self) -> bool:
        """Whether this position has occurred so often that the game's repetition rule applies."""
        enough = self.game.repetition_count - 1
        if len(self.past) < enough or self._ask("may_repeat"):
            return False
        return self.past.count(self.repetition_key) >= enough

    @property
    def returns(self) -> list[float]:
        """What the end pays, one number per player; zeros while the game goes on. `rewards` are those paid before. If the end
        is random, this is one sample, the same each time."""
        out = np.zeros(self.game.players)
        if self._ask("is_over"):
            self._ask("returns", out, generator(0))
        elif self.is_over:
            low, high = self.game.value_range
            out[:] = (low + high) / 2
            if self.game.repetition == "loss" and self.before != CHANCE:  # no player caused it
                if self.game.value_width() == 1:
                    out[:] = high
                out[self.before] = low
        return [float(number) for number in out]

    @property
    def legal_actions(self) -> list[int]:
        """What the player to move may play; at chance, the events that can happen; nothing once the game is over."""
        if self.is_over:
            return []
        if self.to_play == CHANCE:
            return [event for event, probability in enumerate(self.probabilities) if probability > 0]
        out = np.zeros(self.game.edge_actions, np.int64)
        count = self._ask("legal_actions", out)
        legal = [int(action) for action in out[:count]]
        if self.game.repetition == "forbidden":
            return [action for action in legal if not self.game.would_repeat(self, action)]
        return legal

    @property
    def probabilities(self) -> list[float]:
        """At chance: the probability of each event."""
        out = np.zeros(self.game.events)
        self._ask("chance", out)
        return [float(probability) for probability in out]

    @property
    def key(self) -> tuple[int, int]:
        """128 bits, equal for equal positions."""
        low, high = self._ask("key")
        return int(low), int(high)

    @property
    def repetition_key(self) -> Key:
        """128 bits, equal for positions that count as repeated."""
        low, high = self._ask("repetition_key")
        return int(low), int(high)

    def _ask(self, rule: str, *arguments: Any) -> Any:
        return self.game.ask(rule, readable(self.record())[0], *arguments)  # on a copy: rules may use scratch fields

    def play(self, action: int | str) -> "Position":
        """The position after this action (a number or a name) or chance event."""
        chance = not self.is_over and self.to_play == CHANCE
        named = self.game.event if chance else self.game.action
        number = named(action) if isinstance(action, str) else operator.index(action)
        self._check(number, chance)
        following = self.after(number)
        if self.game.repetition == "forbidden" and not chance and following.repeats:
            raise IllegalMove(f"{self.game.name_of(number)} is not legal here: it repeats an earlier position")
        return following

    # --- edges of a search: an edge's number is that of the action or event, or of a pair of actions (`simultaneous.py`) ---

    @property
    def edges(self) -> list[int]:
        """The numbers of the edges that a search follows from here."""
        return self.legal_actions

    def move_of(self, number: int) -> Any:
        """The move of the edge with this number."""
        return number

    def edge_of(self, move: Any) -> int:
        """The number of the edge that a legal move follows."""
        return int(move)

    def after(self, number: int) -> "Position":
        """The position after an action or event that is known to be legal, except for repetitions."""
        pool = readable(self.record())
        rewards = np.zeros(self.game.players)
        self.game.ask("play", pool[0], number, rewards)
        return self.followed_by(number, pool, rewards)

    def followed_by(self, number: int, pool: np.ndarray, rewards: np.ndarray) -> "Position":
        """The position after an action or event, once the rule `play` has made its record and paid the rewards."""
        weight = self.game.discount ** len(self.moves)
        total = tuple(before + weight * float(now) for before, now in zip(self.rewards, rewards, strict=True))
        past = () if self.game.repetition == "nothing" else (*self.past, self.repetition_key)
        return type(self)(self.game, pool, (*self.moves, self.move_of(number)), total, past, self.to_play)

    def note(self, to_play: int, is_over: bool) -> None:
        """Note what the rules say of this position, by somebody who has asked them."""
        self._to_play = to_play
        if is_over or self.game.repetition not in ENDINGS:
            self._is_over = is_over

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
            why = self.game.why_illegal(self.state, action)
            raise IllegalMove(f"{self.game.name_of(action)} is not legal here{': ' + why if why else ''}; legal: {shown}")

    def _name(self, action: int, chance: bool, limit: int) -> str:
        if not 0 <= action < limit:
            return f"action {action}"
        return self.game.event_name(action) if chance else self.game.name_of(action)

    def without_past(self) -> "Position":
        """The same position without its past."""
        return type(self)(self.game, self.record(), self.moves, self.rewards)

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

    # --- names, text and drawings ---

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
        return _restore, (self.game, self.data, self.moves, self.rewards, self.past, self.before)


def _restore(game: "Game", data: bytes, *rest: Any) -> Position:
    return game.position_class(game, np.frombuffer(bytearray(data), game.record), *rest)
