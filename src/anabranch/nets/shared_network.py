"""One network for many games played at once: requests that arrive while it computes are answered together, in one call.

Each game runs in its own thread and searches as if it were alone. The thread that finds the network free answers all waiting
requests. Used by `arena/game_threads.py`. See also `search/fleet.py`, which does this for searches in one thread.
"""

import math
import threading

import numpy as np

from anabranch.games.game import Game
from anabranch.nets.evaluator import NetworkEvaluator, NetworkStats


class _Question:
    """A request: positions to evaluate, and their answer."""

    def __init__(self, states: np.ndarray) -> None:
        self.states = states
        self.answer: tuple[np.ndarray, np.ndarray] | None = None
        self.error: BaseException | None = None


class SharedNetwork:
    """A network that so many games share; each fills its part of a batch."""

    def __init__(self, network: NetworkEvaluator, games: int) -> None:
        self.network = network
        self.batch = max(1, math.ceil(network.batch / games))  # leaves that one search collects
        self.largest = 0  # positions of one call, so far
        self._waiting: list[_Question] = []
        self._queue, self._turn = threading.Lock(), threading.Lock()

    def bind(self, game: Game) -> None:
        """Set the game of this network."""
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
        """Evaluate all waiting requests."""
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
