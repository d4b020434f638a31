"""What goes wrong on purpose: evaluators that raise or talk nonsense, signals whose handlers raise, a disk that is full.

Everything is decided by numbers that are handed in, but for `by_clock`, whose signal comes when it comes.
"""

import contextlib
import resource
import signal
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import anabranch.search
from anabranch.games.objects import ObjectGame
from tests.search.evaluators import numbers_of

OURS = anabranch.search.__path__[0]
SHORT = 700  # bytes that fit on the full disk: less than any saved search takes


class Fault(Exception):
    """What an evaluator or a callback raises."""


class Halt(BaseException):
    """The same, of the sort that nobody should catch."""


class Alarm(Exception):
    """What the handler of a signal raises."""


RAISED = (Fault, Halt, Alarm, KeyboardInterrupt)  # not of the search's making


# --- evaluators -------------------------------------------------------------------------------------------------------------

MANNERS = ("raises", "halts", "nan", "shape", "range", "negative", "nothing", "slow")


class Opinion:
    """An evaluator in Python: the same of the same position, until it is told to go wrong."""

    def __init__(self, game: Any, batch: int = 1, priors: bool = True, deviations: bool = False) -> None:
        self.game, self.batch, self.priors, self.deviations = game, batch, priors, deviations
        self.calls_left, self.manner = 0, ""
        self._counting = threading.Lock()

    def go_wrong(self, after: int, manner: str) -> None:
        """At the so manyth call from now on; 0: never."""
        self.calls_left, self.manner = after, manner

    def __call__(self, states: Any) -> Any:
        answer = self.answer(states)
        with self._counting:
            self.calls_left -= 1
            wrong = self.calls_left == 0
        return self.wrong(*answer) if wrong else answer

    def answer(self, states: Any) -> Any:
        numbers = np.array([zlib.crc32(repr(vars(each)).encode()) for each in states], np.uint64) if self.objects else None
        numbers = numbers_of(states) if numbers is None else numbers
        width = self.game.value_width()
        low, high = self.game.value_range
        shares = (numbers[:, None] >> np.arange(1, width + 1, dtype=np.uint64)) % np.uint64(1999) / 1998.0
        values = low + (high - low) * shares
        if width == 1:
            values = np.where(self.movers(states) == 1, -values[:, 0], values[:, 0])
        priors = None
        if self.priors:
            size = int(np.prod(self.game.policy_shape))
            priors = 1.0 + ((numbers[:, None] >> np.arange(size, dtype=np.uint64) % np.uint64(50)) % np.uint64(7))
            priors = (priors / priors.sum(axis=1, keepdims=True)).reshape(len(states), *self.game.policy_shape)
        deviations = (numbers % np.uint64(10) / 10.0,) if self.deviations else ()
        return priors, values, *deviations

    def movers(self, states: Any) -> np.ndarray:
        asked = (self.game.to_play(each) if self.objects else self.game.ask("to_play", each) for each in states)
        return np.array([int(player) for player in asked])

    @property
    def objects(self) -> bool:
        return isinstance(self.game, ObjectGame)

    def wrong(self, priors: Any, values: np.ndarray, *more: Any) -> Any:
        match self.manner:
            case "raises":
                raise Fault("the evaluator")
            case "halts":
                raise Halt("the evaluator")
            case "nan":
                values = np.full_like(values, np.nan)
            case "shape":
                values = np.zeros(len(values) + 1)
            case "range":
                values = np.full_like(values, 1e308)
            case "negative":
                priors = np.full((len(values), *self.game.policy_shape), -0.5)
            case "nothing":
                return None
            case "slow":
                time.sleep(0.05)
        return priors, values, *more


class Advice:
    """A heuristic in Python, likewise."""

    def __init__(self) -> None:
        self.calls_left = 0

    def go_wrong(self, after: int, manner: str) -> None:
        self.calls_left = after

    def __call__(self, state: Any) -> Any:
        self.calls_left -= 1
        if self.calls_left == 0:
            raise Fault("the heuristic")
        return 0.25, 2, 3


# --- signals ----------------------------------------------------------------------------------------------------------------


def raise_alarm(number: int, frame: Any) -> None:
    raise Alarm


@contextlib.contextmanager
def by_clock(seconds: float) -> Iterator[None]:
    """A signal after so long."""
    before = signal.signal(signal.SIGALRM, raise_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # first, lest it comes right here
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def by_line(line: int, number: int) -> Iterator[None]:
    """A signal when the search's own Python begins its so manyth line."""
    left = line

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if left == 0 or not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                signal.raise_signal(number)
        return trace

    before = signal.signal(number, raise_alarm if number != signal.SIGINT else signal.default_int_handler)
    try:
        sys.settrace(trace)
        yield
    finally:
        left = 0
        sys.settrace(None)
        signal.signal(number, before)


# --- the disk ---------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def full_disk(room: int = SHORT) -> Iterator[None]:
    """No file may be longer than this: writing more fails as it does where nothing is left."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
