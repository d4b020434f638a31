"""Players that are alive: position -> action. Ours are here; a program over GTP is in `gtp_player.py`.

A player is begun anew for each game, with a seed of its own, and is then asked for actions. It is not told of the opponent's:
it finds in the position what was played since it was asked last. Read first: `notation.py`. Above: `playing.py`.
"""

import contextlib
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from anabranch.arena.notation import PolicySpec, SearchSpec, Spec
from anabranch.arena.openings import random_for
from anabranch.errors import ArenaError, IllegalMove
from anabranch.games.game import Game
from anabranch.games.playout import begin, pick
from anabranch.games.position import Position
from anabranch.games.rules import EVERYONE
from anabranch.games.simultaneous import pick_for
from anabranch.goengine.clock import Clock, TimeSettings, moves_to_come
from anabranch.jit import readable
from anabranch.jit.options import coerce
from anabranch.jit.random import generator
from anabranch.search.checks import serves
from anabranch.search.searcher import Search
from anabranch.search.warm import warm_up

RESIGN = -1  # instead of an action
LEAST = 0.002  # seconds for a move; a search looks at the clock no more often
DRAWS = 20  # from a policy, until it says something legal; it does not know of superko


class Player(ABC):
    """Who is asked for actions."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    @abstractmethod
    def begin(self, game: Game, seed: int, seconds: float | None) -> None:
        """A game begins. `seconds`: for all of it, if there is a clock. What takes long but once is done here, unclocked."""

    @abstractmethod
    def choose(self, position: Position, left: float | None, seat: int) -> int:
        """The action to play as the game's player `seat`, or RESIGN; `left`: seconds on the own clock."""

    def close(self) -> None:  # noqa: B027  (most have nothing to do)
        """The player is not needed any more."""


class SearchPlayer(Player):
    """A search of ours."""

    spec: SearchSpec

    def __init__(self, spec: SearchSpec, limits: dict[str, Any]) -> None:
        """`limits`: of each move, where the player's own text says nothing."""
        super().__init__(spec)
        self.limits = dict(spec.limits) or limits
        self._ready = False

    def begin(self, game: Game, seed: int, seconds: float | None) -> None:
        """A new search, with all kernels compiled, so that no clock runs meanwhile."""
        if not self.limits and seconds is None:
            raise ArenaError(
                f"how long may {self.spec.label!r} search a move? Give visits=, total= or seconds=, or the match a clock"
            )
        if not self._ready:
            warm_up(game, self.spec.options)
            self._ready = True
        self.search = Search(game, **self.spec.options, seed=seed)

    def choose(self, position: Position, left: float | None, seat: int) -> int:
        """What the search likes best."""
        self._follow(position)
        limits = dict(self.limits)
        if left is not None:
            share = seconds_for(position, left)
            limits["seconds"] = min(share, limits.get("seconds", share))
        best: Any = self.search.run(position, **limits).best
        return int(best[seat] if position.to_play == EVERYONE else best)

    def _follow(self, position: Position) -> None:
        """Let the search keep what it found below the moves that were played since."""
        root = self.search.position
        if not self.spec.reuse:
            self.search = Search(self.search.game, **self.spec.options, seed=self.search.seed + 1)
        elif root is not None and position.moves[: len(root.moves)] == root.moves:
            for action in position.moves[len(root.moves) :]:
                self.search.advance(action)


def seconds_for(position: Position, left: float) -> float:
    """Seconds for the next move of a side that has so many left for the game: as over GTP, but nothing is lost on the way."""
    budget = Clock(TimeSettings("absolute", left), lag=0.0).budget(0, moves_to_come(position))
    return max(budget.seconds if budget else 0.0, min(LEAST, left / 2))


class PolicyPlayer(Player):
    """A default policy without search, or any legal move."""

    spec: PolicySpec

    def begin(self, game: Game, seed: int, seconds: float | None) -> None:
        """New random numbers."""
        self.random, self.draws = random_for(seed), generator(seed)

    def choose(self, position: Position, left: float | None, seat: int) -> int:
        """A move of the policy; where it says nothing legal, any legal one."""
        if position.to_play == EVERYONE:
            return self._own(position, seat)
        for _ in range(DRAWS if self.spec.policy is not None else 0):
            with contextlib.suppress(IllegalMove):
                return position.play(self._picked(position)).moves[-1]
        return int(self.random.choice(position.legal_actions))

    def _own(self, position: Position, seat: int) -> int:
        """What the policy plays for one of two players who move at once."""
        if self.spec.policy is None:
            return int(self.random.choice(position.legal_actions[seat]))
        policy: Any = coerce(self.spec.policy)
        if serves(pick_for)(policy):
            with np.errstate(over="ignore"):
                return int(pick_for(policy, readable(position.record())[0], seat, self.draws))
        return int(position.move_of(self._picked(position))[seat])

    def _picked(self, position: Position) -> int:
        """What the policy would play, without a look at superko."""
        policy, state = coerce(self.spec.policy), readable(position.record())[0]
        with np.errstate(over="ignore"):  # machine integers wrap around silently
            begin(policy, state)
            return int(pick(policy, state, self.draws))
