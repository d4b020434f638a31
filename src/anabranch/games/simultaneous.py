"""Games of simultaneous moves: `SimultaneousGame`, the contract of `game.py` with two actions per turn.

A class defines `is_legal(state, player, action)` and `play(state, first, second)`, or with `rewards` at the end if there are
rewards along the way, and may define

    outcome(state, player, action)   the representative of all actions with the same effect (a step into a wall is to stay): a
                                     search then distinguishes only outcomes
    actions_each(state)              how many actions this instance has, if fewer than the class's `actions`
    stake(state)                     how much can still be won or lost, so that a search can scale values by it
    to_play(state), happen(state, event), chance(state, probabilities), with `events`, if there are chance events in between

Searches follow edges, and here an edge is a pair of outcomes: its number is first * actions + second. The rules that kernels
call (`rules.py`) are built from the ones above at the end of this module, so that all code that walks graphs works here too.
Positions take pairs: `position.play(("up", "left"))`, or text: `position.play("up/left")`.
"""

import operator
from typing import Any, ClassVar, NamedTuple

from anabranch.errors import GameError, IllegalMove
from anabranch.games import rules
from anabranch.games.game import Game
from anabranch.games.playout import RandomPolicy, pick
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.jit import generic, helper
from anabranch.jit.random import below

PLAYERS = 2
BETWEEN = "/"  # the two actions of a pair, as text


class JointPosition(Position):
    """A position in which both players move; `moves` has one pair of actions per turn, and chance events."""

    __slots__ = ()
    game: "SimultaneousGame"

    @property
    def legal_actions(self) -> Any:
        """Two lists, each player's legal actions; at chance, the possible events; an empty list once the game is over."""
        if self.is_over or self.to_play == CHANCE:
            return super().legal_actions
        found = tuple(
            [action for action in range(self.game.actions) if self._ask("may_play", player, action)]
            for player in range(PLAYERS)
        )
        for player, actions in enumerate(found):
            if not actions:
                raise GameError(f"{self.game!r}: player {player} has no legal action, and the game is not over\n{self}")
        return found

    @property
    def edges(self) -> list[int]:
        """The numbers of the pairs of outcomes, or of events."""
        return super().legal_actions

    def outcomes(self, player: int) -> dict[int, list[int]]:
        """A player's legal actions by outcome: the representative of each outcome, and all actions that have it."""
        found: dict[int, list[int]] = {}
        for action in self.legal_actions[player]:
            found.setdefault(int(self._ask("outcome", player, action)), []).append(action)
        return found

    def play(self, action: Any, second: Any = None) -> "Position":
        """The position after a pair of actions (numbers or names; together, as two arguments, or as text: "up/left"), or after
        a chance event."""
        if not self.is_over and self.to_play == CHANCE:
            return super().play(action)
        pair = self.game.pair(action if second is None else (action, second))
        if self.is_over:
            raise IllegalMove(f"{self.game.pair_name(pair)}: the game is over")
        for player, (number, legal) in enumerate(zip(pair, self.legal_actions, strict=True)):
            if number not in legal:
                names = " ".join(self.game.name_of(each) for each in legal)
                raise IllegalMove(f"player {player}: {self.game.name_of(number)} is not legal here; legal: {names}")
        return self.after(pair[0] * self.game.actions + pair[1])

    def move_of(self, number: int) -> Any:
        """A pair of actions, or an event."""
        return number if self.to_play == CHANCE else divmod(number, self.game.actions)

    def edge_of(self, move: Any) -> int:
        """The number of the pair of outcomes of a pair of legal actions, or of the event."""
        if self.to_play == CHANCE:
            return int(move)
        first, second = (int(self._ask("outcome", player, action)) for player, action in enumerate(move))
        return first * self.game.actions + second


class SimultaneousGame(Game):
    """A game of two players who move at once; see the module."""

    position_class: ClassVar[type[Position]] = JointPosition
    actions_keep_meaning: ClassVar[bool] = False  # AMAF values are for games of turns
    _required: ClassVar[tuple[str, ...]] = ("setup", "is_legal", "play", "is_over", "returns")
    _means: ClassVar[dict[str, str]] = {
        **{name: name for name in ("setup", "is_over", "returns", "to_play", "chance", "happen", "outcome", "stake")},
        **{name: name for name in ("key", "heuristic", "encode", "actions_each")},
        "is_legal": "may_play",
        "play": "play_both",
    }

    @classmethod
    def _register(cls, key: str) -> None:
        if cls.players != PLAYERS:
            raise GameError(f"{cls.__name__}: both of two players move at once; `players` is {cls.players}")
        if cls.repetition != "nothing":
            raise GameError(f"{cls.__name__}: where both move at once a repetition means nothing; `repetition` must say so")
        if (cls.events > 0) != ("happen" in cls._rules):
            raise GameError(f"{cls.__name__}: a game with chance has rules `to_play`, `chance` and `happen`, and `events`")
        super()._register(key)
        for name, function in DERIVED.items():
            if name not in cls._rules or name in ("is_legal", "play"):
                getattr(rules, name).register(key)(function)
        rules.at_once.register(key)(lambda state: True)
        if "actions_each" not in cls._rules:
            actions = cls.actions
            rules.actions_each.register(key)(lambda state: actions)
        if "stake" not in cls._rules:
            if not isinstance(cls.value_range, tuple):
                raise GameError(
                    f"{cls.__name__}: where `value_range` is an instance's, a rule `stake` says what can still be won"
                )
            half = (cls.value_range[1] - cls.value_range[0]) / 2.0
            rules.stake.register(key)(lambda state: half)

    @property
    def edge_actions(self) -> int:
        return max(self.actions**PLAYERS, self.events)

    @property
    def policy_shape(self) -> tuple[int, ...]:
        return PLAYERS, self.actions

    def edge_name(self, number: int) -> str:
        return self.pair_name(divmod(number, self.actions))

    def pair_name(self, pair: tuple[int, int]) -> str:
        """The name of a pair of actions."""
        return BETWEEN.join(map(self.name_of, pair))

    def pair(self, actions: Any) -> tuple[int, int]:
        """Two actions from numbers, names, or text such as "up/left"."""
        parts = actions.split(BETWEEN) if isinstance(actions, str) else actions
        try:
            first, second = parts
        except (TypeError, ValueError):
            example = self.pair_name((0, self.actions - 1))
            raise IllegalMove(
                f"{actions!r}: both players move at once, so give two actions: (0, {self.actions - 1}) or {example!r}"
            ) from None
        return self._one(first, 0), self._one(second, 1)

    def _one(self, action: Any, player: int) -> int:
        number = self.action(action) if isinstance(action, str) else operator.index(action)
        if not 0 <= number < self.actions:
            raise IllegalMove(f"player {player}: action {number} is out of range: {self!r} has 0 to {self.actions - 1}")
        return number


# --- the rules that kernels call ----------------------------------------------------------------------------------------------


@helper
def is_outcome(state, player, action):
    """Whether an action is legal and represents its outcome."""
    return rules.may_play(state, player, action) and rules.outcome(state, player, action) == action


def _to_play(state):
    return EVERYONE


def _is_legal(state, action):
    each = rules.actions_each(state)
    return rules.may_play(state, 0, action // each) and rules.may_play(state, 1, action % each)


def _legal_actions(state, out):
    """Write the pairs of outcomes, in ascending order. The second player's outcomes are written first, in the places of the
    pairs with the first player's lowest one."""
    each = rules.actions_each(state)
    width = 0
    for action in range(each):
        if is_outcome(state, 1, action):
            out[width] = action
            width += 1
    count = width
    lowest = -1
    for action in range(each):
        if is_outcome(state, 0, action):
            if lowest < 0:
                lowest = action
                continue
            for j in range(width):
                out[count] = action * each + out[j]
                count += 1
    if lowest < 0:
        return 0
    for j in range(width):
        out[j] += lowest * each
    return count


def _play(state, action, rewards):
    if rules.has_chance(state) and rules.to_play(state) == CHANCE:
        rules.happen(state, action)
    else:
        each = rules.actions_each(state)
        rules.play_both(state, action // each, action % each, rewards)


def _random_action(state, random):
    return random_of(state, 0, random) * rules.actions_each(state) + random_of(state, 1, random)


def _action_limit(state):
    return rules.actions_each(state) * rules.actions_each(state)


DERIVED = {
    "to_play": _to_play,
    "is_legal": _is_legal,
    "legal_actions": _legal_actions,
    "play": _play,
    "random_action": _random_action,
    "action_limit": _action_limit,
}


@helper
def random_of(state, player, random):
    """A legal action of a player, uniformly at random."""
    each = rules.actions_each(state)
    for _ in range(2 * each):
        action = below(random, each)
        if rules.may_play(state, player, action):
            return action
    count = 0
    chosen = 0
    for action in range(each):
        if rules.may_play(state, player, action):
            count += 1
            if below(random, count) == 0:
                chosen = action
    return chosen


# --- playouts ---------------------------------------------------------------------------------------------------------------


class PerPlayer(NamedTuple):
    """A policy for each player of a game of simultaneous moves."""

    first: Any = RandomPolicy()
    second: Any = RandomPolicy()


@generic
def pick_for(policy, state, player, random):
    """The action that a policy plays for one of the players."""


@pick_for.register(RandomPolicy)
def pick_for_random_policy(policy, state, player, random):
    """Any legal action of this player."""
    return random_of(state, player, random)


@pick.register(PerPlayer)
def pick_per_player(policy, state, random):
    """One action by each player's own policy."""
    first = pick_for(policy.first, state, 0, random)
    return first * rules.actions_each(state) + pick_for(policy.second, state, 1, random)
