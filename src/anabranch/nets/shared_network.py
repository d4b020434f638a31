"""One network for many games that are played at once: what they ask while it computes is answered together, in one call.

Each game runs in a thread of its own and searches as if it were alone. Whoever finds the network free answers for all that
wait. Used by `arena/game_threads.py`. Beside: `search/fleet.py`, which does this for searches of one thread.
"""

import math
import threading

import numpy as np

from anabranch.games.game import Game
from anabranch.nets.network import Network, NetworkStats


class _Question:
    """Positions that somebody asks about, and what is said of them."""

    def __init__(self, states: np.ndarray) -> None:
        self.states = states
        self.answer: tuple[np.ndarray, np.ndarray] | None = None
        self.error: BaseException | None = None


class SharedNetwork:
    """A network that so many games share; each asks about its part of a batch."""

    def __init__(self, network: Network, games: int) -> None:
        self.network = network
        self.batch = max(1, math.ceil(network.batch / games))  # leaves that one search collects
        self.largest = 0  # positions of one call, so far
        self._waiting: list[_Question] = []
        self._queue, self._turn = threading.Lock(), threading.Lock()

    def bind(self, game: Game) -> None:
        """Say which game this network is for."""
        self.network.bind(game)

    @property
    def stats(self) -> NetworkStats:
        """What the network has done so far."""
        return self.network.stats

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Priors and values, as the network gives them."""
        mine = _Question(np.asarray(states))
        with self._queue:
            self._waiting.append(mine)
        with self._turn:
            if mine.answer is None and mine.error is None:
                self._answer_all()
        if mine.error is not None:
            raise mine.error
        assert mine.answer is not None
        return mine.answer

    def _answer_all(self) -> None:
        """Ask the network about everything that waits."""
        with self._queue:
            questions, self._waiting = self._waiting, []
        states = np.concatenate([question.states for question in questions])
        self.largest = max(self.largest, len(states))
        try:
            priors, values = self.network(states)[:2]
        except BaseException as error:
            for question in questions:
                question.error = error
            return
        first = 0
        for question in questions:
            here = slice(first, first + len(question.states))
            question.answer = priors[here], values[here]
            first = here.stop
