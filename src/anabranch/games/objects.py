"""Games that are ordinary Python objects: anything with the interface of a `Position` can be searched.

A position of such a game has, as attributes or as methods without arguments:

    legal_actions   a list of ints, 0 <= action < actions            to_play   a player's number, or CHANCE
    is_over         whether the game has ended                       returns   what the end pays, one number per player

and `play(action)`, which returns the next position and leaves this one unchanged. If there are rewards along the way, it also
has `paid`: what the action that led here paid, one number per player (never read at a start). Its class declares `actions` (the
maximum number) and may declare `players` (2), `zero_sum`, `value_range`, `discount`, `events` with `probabilities` for chance,
and `name_of(action)`. For search on graphs a position also has `key`, which is equal for equal positions: an int, a string,
bytes, or a tuple of these. `repetition` ("draw", "loss", "forbidden") and `repetition_count` (2) say what a repeated key
means, and a position may have `history`: the keys of the positions before it. `ObjectGame(PositionClass)` makes a game of it;
`Search` does that by itself.
"""

import hashlib
from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import Game, rule
from anabranch.games.playout import RandomPolicy
from anabranch.games.rules import REPETITIONS

NEEDED = ("legal_actions", "play", "is_over", "returns", "to_play")


class Opaque(Game):
    """What kernels see of a Python object: nothing. They walk the tree; Python holds the positions."""

    actions = 1
    state = np.dtype([("nothing", "u8")])

    @rule
    def setup(state):
        state.nothing = np.uint64(0)

    @rule
    def to_play(state):
        return 0

    @rule
    def is_legal(state, action):
        return True

    @rule
    def play(state, action):
        pass

    @rule
    def is_over(state):
        return False

    @rule
    def returns(state, out):
        pass


class OpaquePayer(Opaque):
    """The same with rewards along the way."""

    @rule
    def play(state, action, rewards):  # type: ignore[override]
        pass


class ObjectGame:
    """The facts of a game whose positions are Python objects, and access to these."""

    def __init__(self, positions: Any) -> None:
        if not callable(getattr(positions, "play", None)):
            raise GameError(f"{_name(positions)} cannot be searched: it is no Game, and its positions have no play(action)")
        if not isinstance(getattr(positions, "actions", None), int):
            raise GameError(f"{_name(positions)} must say how many actions there are at most: `actions = ...`")
        self.positions = positions
        self.actions: int = positions.actions
        self.players: int = getattr(positions, "players", 2)
        self.events: int = getattr(positions, "events", 0)
        self.zero_sum: bool = getattr(positions, "zero_sum", self.players == 2)
        self.value_range: tuple[float, float] = getattr(positions, "value_range", (-1.0, 1.0))
        self.discount: float = getattr(positions, "discount", 1.0)
        self.actions_keep_meaning: bool = getattr(positions, "actions_keep_meaning", True)
        self.policy = RandomPolicy()
        self.has_rewards = hasattr(positions, "paid")
        self.record = (OpaquePayer if self.has_rewards else Opaque).record
        self.repetition: str = getattr(positions, "repetition", "nothing")
        self.repetition_count: int = getattr(positions, "repetition_count", 2)
        if self.repetition not in REPETITIONS:
            raise GameError(
                f"{_name(positions)}: `repetition` must be one of {', '.join(REPETITIONS)}, not {self.repetition!r}"
            )

        if self.repetition_count not in (2, 3):
            raise GameError(f"{_name(positions)}: `repetition_count` must be 2 or 3, not {self.repetition_count!r}")

    def start(self) -> Any:
        """The starting position: the class called without arguments."""
        return self.positions()

    def value_width(self) -> int:
        """How many numbers a value has; see `rules.value_width`."""
        return 1 if self.players == 1 or (self.players == 2 and self.zero_sum) else self.players

    def verify(self, position: Any) -> None:
        """Raise if an object lacks the interface of a position."""
        missing = [name for name in NEEDED if not hasattr(position, name)]
        if missing:
            raise GameError(f"{type(position).__name__} cannot be searched: it lacks {', '.join(missing)}")
        if hasattr(position, "paid") and not self.has_rewards:
            raise GameError(f"{_name(self.positions)}: positions have `paid`, but their class does not: make it a method there")

    @property
    def edge_actions(self) -> int:
        """One more than the largest number of an action or event."""
        return max(self.actions, self.events)

    @property
    def policy_shape(self) -> tuple[int, ...]:
        """The shape of an evaluator's priors for one position."""
        return (self.actions,)

    def edge_name(self, number: int) -> str:
        """The name of the action with this number."""
        return self.name_of(number)

    def player_name(self, player: int) -> str:
        """The name of this player."""
        names = getattr(self.positions, "player_names", ())
        return str(names[player]) if names else f"player {player}"

    def event_name(self, event: int) -> str:
        """The name of this chance event."""
        name = getattr(self.positions, "event_name", None)
        return str(name(event)) if name else str(event)

    def name_of(self, action: int) -> str:
        """The name of this action."""
        name = getattr(self.positions, "name_of", None)
        return str(name(action)) if name else str(action)

    def legal_actions(self, position: Any) -> list[int]:
        """What the player to move may play."""
        return list(_ask(position, "legal_actions"))

    def play(self, position: Any, action: int) -> Any:
        """The next position."""
        following = position.play(action)
        if following is None or following is position:
            raise GameError(f"{_name(self.positions)}.play must give a new position and leave the old one as it is")
        return following

    def is_over(self, position: Any) -> bool:
        """Whether the game has ended."""
        return bool(_ask(position, "is_over"))

    def returns(self, position: Any) -> list[float]:
        """What the end pays."""
        return list(_ask(position, "returns"))

    def paid(self, position: Any) -> list[float]:
        """What the action that led here paid."""
        return list(_ask(position, "paid"))

    def to_play(self, position: Any) -> int:
        """The player to move, or CHANCE."""
        return int(_ask(position, "to_play"))

    def key(self, position: Any) -> tuple[int, int]:
        """128 bits, equal for equal positions."""
        if not hasattr(position, "key"):
            raise GameError(
                f"{type(position).__name__} has no `key`, which search on graphs and repetitions need: see ObjectGame"
            )
        return hash_key(_ask(position, "key"))

    def history(self, position: Any) -> list[tuple[int, int]]:
        """The keys of the positions before this one, if it has them."""
        return [hash_key(key) for key in _ask(position, "history")] if hasattr(position, "history") else []

    def probabilities(self, position: Any) -> list[float]:
        """At chance: the probability of each event."""
        return list(_ask(position, "probabilities"))

    def __repr__(self) -> str:
        return _name(self.positions)


def hash_key(key: Any) -> tuple[int, int]:
    """A 128-bit hash of a key's `repr`; the same in every process."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _ask(position: Any, name: str) -> Any:
    answer = getattr(position, name)
    return answer() if callable(answer) else answer


def _name(positions: Any) -> str:
    return getattr(positions, "__name__", type(positions).__name__)
