"""The face of every search: `Search(game, select=..., evaluate=...)`, then `run`, `advance`, `start`, `stop`, `wait`.

It checks what it is given, keeps the tree between calls, watches clock, memory and Ctrl-C between slices of about 20 ms, and
turns the graph into a `Result`. The work is done by a driver (`drive.py`) in kernels (`simulate.py`).
"""

import contextlib
import numbers
import re
import signal
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import numpy as np

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.jit.dispatch import keys_of_value
from anabranch.jit.options import coerce, is_option
from anabranch.search.backup import Mean, carry
from anabranch.search.drive import CallableDriver, Driver, KernelDriver, ObjectDriver, Rules
from anabranch.search.evaluate import Rollout
from anabranch.search.evaluate import evaluate as evaluate_state
from anabranch.search.final import Dirichlet, FinalChoice, MostVisits, noisy
from anabranch.search.graph import EVALUATIONS, MOST_ACTIONS, NO_NODE, REFUSED, Graph, allocate, node_dtype
from anabranch.search.read import edges_of, read_result
from anabranch.search.result import Result
from anabranch.search.reuse import reroot
from anabranch.search.select import UCT, Scale, score
from anabranch.search.simulate import Limits

SLICE = 0.02  # seconds in a kernel between two looks at the clock and at Ctrl-C
FIRST_SLICE = 1  # simulations, before their speed is known: an evaluator in Python may be slow
PROGRESS_EVERY = 0.1  # seconds between two calls of `on_progress`
NO_DEPTH_LIMIT = 2**31 - 1
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


class Search:
    """A search of one game, with its tree."""

    def __init__(
        self,
        game: Any,
        *,
        select: Any = None,
        evaluate: Any = None,
        backup: Any = None,
        final: FinalChoice | None = None,
        noise: Dirichlet | None = None,
        graph: bool = False,
        threads: int = 1,
        seed: int = 0,
        memory: int | str = "1GB",
        depth: int | None = None,
        expand_after: int = 1,
        on_progress: Callable[[Result], bool | None] | None = None,
    ) -> None:
        """Options, all with defaults that work:

        select        how edges are chosen: `UCT()` (default), `PUCT()`, `Greedy()`, or a rule of your own
        evaluate      what leaves are worth: `Rollout()` (default), `Uniform()`, or any f(states) -> (priors, values)
        backup        how values travel up: `Mean()` (default), `Max()`, `Mix(weight)`
        final         how `Result.best` is chosen: `MostVisits()` (default), `ByTemperature(t)`, `ByValue(floor)`
        noise         `Dirichlet(alpha, weight)` on the root's priors, for self-play
        seed          one seed, one tree
        memory        most bytes of the tree: 1_000_000 or "1GB"; when it is full the search goes on without new nodes
        depth         deepest level of the tree: 1 is flat Monte-Carlo
        expand_after  evaluations of a leaf before it gets edges of its own
        on_progress   called with a `Result` about ten times a second; if it returns True, the search stops
        """
        self.game = game if isinstance(game, (Game, ObjectGame)) else _as_object_game(game)
        if max(self.game.actions, self.game.events) > MOST_ACTIONS:
            raise SearchError(f"{self.game!r} has {self.game.actions:,} actions; a search knows at most {MOST_ACTIONS:,}")
        self.options = Rules(
            _option(select, UCT(), "select", _serves(score)),
            evaluate if _is_function(evaluate) else _option(evaluate, Rollout(), "evaluate", _serves(evaluate_state)),
            _option(backup, Mean(), "backup", _serves(carry)),
        )
        self.final: FinalChoice = _option(final, MostVisits(), "final", _is_a(FinalChoice))
        self.noise: Dirichlet | None = _option(noise, None, "noise", _is_a(Dirichlet))
        self.seed = int(seed)
        self.memory = parse_memory(memory)
        self.on_progress = on_progress
        low, high = self.game.value_range
        self.limits = Limits(
            depth=NO_DEPTH_LIMIT if depth is None else _at_least_one(depth, "depth"),
            expand_after=_at_least_one(expand_after, "expand_after"),
            scale=Scale(middle=(low + high) / 2.0, factor=2.0 / (high - low)),
            discount=float(self.game.discount),
        )
        if graph:
            raise SearchError("graph=True: search on graphs is not there yet; leave it out to search a tree")
        if _at_least_one(threads, "threads") > 1:
            warnings.warn(f"threads={threads}: more than one thread is not there yet; searching with one", stacklevel=2)
        self._settings = {
            "version": __version__,
            "game": repr(self.game),
            **{name: _describe(option) for name, option in self.options._asdict().items()},
            "final": _describe(self.final),
            "noise": _describe(self.noise),
            "seed": self.seed,
            "memory": self.memory,
            "depth": depth,
            "expand_after": expand_after,
            "threads": 1,
            "graph": False,
        }
        self._graph: Graph | None = None
        self._driver: Driver | None = None
        self._position: Any = None
        self._root = NO_NODE
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._outcome: Result | BaseException | None = None

    # --- searching ---

    def run(
        self, position: Any = None, visits: int | None = None, total: int | None = None, seconds: float | None = None
    ) -> Result:
        """Search a position (by default where the last search or `advance` left the root).

        visits   this many new simulations, each adding one visit to an edge of the root
        total    until the root's edges have that many in all, those kept by `advance` included
        seconds  for so long; of several limits the first one reached stops the search, and so does Ctrl-C
        """
        self._check_idle()
        self._check_limits(visits, total, seconds)
        self._set_root(position)
        self._stop.clear()
        with _ctrl_c_stops(self._stop):
            return self._search(visits, total, seconds)

    def start(
        self, position: Any = None, visits: int | None = None, total: int | None = None, seconds: float | None = None
    ) -> None:
        """The same in the background; without limits, until `stop`."""
        self._check_idle()
        if (visits, total, seconds) != (None, None, None):
            self._check_limits(visits, total, seconds)
        self._set_root(position)
        self._stop.clear()
        self._outcome = None

        def work() -> None:
            try:
                self._outcome = self._search(visits, total, seconds)
            except BaseException as error:
                self._outcome = error

        self._thread = threading.Thread(target=work, name="anabranch-search", daemon=True)
        self._thread.start()

    def stop(self) -> Result:
        """End the search in the background and give its result."""
        self._stop.set()
        return self.wait()

    def wait(self) -> Result:
        """The result of the search in the background, when it is done."""
        if self._thread is None:
            raise SearchError("no search is running in the background; begin one with start()")
        self._thread.join()
        self._thread = None
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome

    def advance(self, action: int | str) -> None:
        """Play an action (or a chance event) at the root and keep the part of the tree below it."""
        self._check_idle()
        if self._position is None:
            raise SearchError("there is no root yet: give run() a position first")
        following, number = self._play(action)
        root = self._child(number)
        self._position = following
        if root == NO_NODE or self._is_over(following):
            self._forget(keep_position=True)
            return
        assert self._driver is not None and self._graph is not None
        self._driver.renumber(reroot(self._graph, root))
        self._root = 0
        if isinstance(following, Position):
            self._driver.move_root(following.record())

    @property
    def position(self) -> Any:
        """Where the root is."""
        return self._position

    # --- the loop ---

    def _search(self, visits: int | None, total: int | None, seconds: float | None) -> Result:
        planted = self._root == NO_NODE
        if planted:
            self._plant()
        assert self._driver is not None and self._graph is not None
        began = time.perf_counter()  # kernels are compiled by now: that time is not the search's
        kept = self._root_visits()
        evaluated, refused = int(self._graph.used[EVALUATIONS]), int(self._graph.used[REFUSED])
        goal = min(_or_infinity(visits), max(_or_infinity(total) - kept, 0))
        reached = "visits" if visits is not None and goal == visits else "total"
        done, stopped_by, reported, count = 0, reached, began, FIRST_SLICE

        def result() -> Result:
            assert self._graph is not None
            return read_result(
                self.game,
                self._graph,
                self._root,
                self.options.backup,
                self.final,
                self._random(kept + done),
                cost={
                    "simulations": done,
                    "evaluations": int(self._graph.used[EVALUATIONS]) - evaluated + planted,
                    "seconds": time.perf_counter() - began,
                    "kept": kept,
                },
                stopped_by=stopped_by,
                memory_full=int(self._graph.used[REFUSED]) > refused,
                settings=self._settings,
            )

        with self._noise():
            while done < goal:
                now = time.perf_counter()
                if self._stop.is_set():
                    stopped_by = "Ctrl-C" if self._thread is None else "stop"
                    break
                if seconds is not None and now - began >= seconds:
                    stopped_by = "seconds"
                    break
                if self.on_progress is not None and done and now - reported >= PROGRESS_EVERY:
                    reported = now
                    if self.on_progress(result()):
                        stopped_by = "on_progress"
                        break
                done += self._driver.run(self._root, int(min(count, goal - done)))
                count = _next_slice(count, done, time.perf_counter() - began, seconds)
        return result()

    def _plant(self) -> None:
        """A new tree with the root's node."""
        if self._graph is None:
            self._graph = self._allocate()
        self._graph.used[:] = 0
        record = self._position.record() if isinstance(self._position, Position) else np.zeros(1, self.game.record)
        self._driver = self._make_driver(record)
        if isinstance(self._driver, ObjectDriver):
            self._driver.root_object = self._position
        self._root = self._driver.plant()

    def _make_driver(self, record: np.ndarray) -> Driver:
        kind: type[Driver] = KernelDriver
        if isinstance(self.game, ObjectGame):
            kind = ObjectDriver
        elif not is_option(self.options.evaluate):
            kind = CallableDriver
        assert self._graph is not None
        return kind(self.game, self.options, self.limits, self._graph, record, self.seed)

    def _allocate(self) -> Graph:
        width = self.game.value_width()
        least = 16 * (1 + max(self.game.actions, self.game.events)) * node_dtype(width).itemsize
        if self.memory < least:
            raise SearchError(f"memory={self.memory} bytes is too little for {self.game!r}: give it at least {least:,}")
        try:
            return allocate(width, self.memory)
        except MemoryError:
            raise SearchError(f"memory={self.memory:,} bytes cannot be reserved on this machine; ask for less") from None

    @contextlib.contextmanager
    def _noise(self) -> Iterator[None]:
        """Noise on the root's priors while searching; the tree itself stays clean. Chance keeps its probabilities."""
        assert self._graph is not None
        if self.noise is None or self._graph.nodes["player"][self._root] == CHANCE:
            yield
            return
        edges = edges_of(self._graph, self._root)
        clean = edges["prior"].copy()
        edges["prior"] = noisy(self.noise, clean, self._random(self._root_visits(), 1))
        try:
            yield
        finally:
            edges["prior"] = clean

    def _random(self, *numbers: int) -> np.random.Generator:
        """Random numbers for noise and choice at the root: others in each position, the same for one seed."""
        position = zlib.crc32(self._position.data) if isinstance(self._position, Position) else 0
        return np.random.default_rng([self.seed & (2**63 - 1), position, *numbers])

    # --- the root ---

    def _set_root(self, position: Any) -> None:
        if position is None:
            position = self._position if self._position is not None else self.game.start()
        if isinstance(self.game, Game):
            if not isinstance(position, Position):
                raise SearchError(
                    f"run() wants a position of {self.game!r}, such as game.start(), not {type(position).__name__}"
                )
            if position.game != self.game:
                raise SearchError(f"this search is for {self.game!r}; the position is one of {position.game!r}")
        if isinstance(self.game, ObjectGame):
            self.game.verify(position)
        if self._is_over(position):
            raise SearchError("the game is over in this position: there is nothing to search")
        if position is not self._position and position != self._position:
            self._forget()
        self._position = position

    def _forget(self, keep_position: bool = False) -> None:
        self._root = NO_NODE
        self._driver = None
        if not keep_position:
            self._position = None

    def _play(self, action: int | str) -> tuple[Any, int]:
        if isinstance(self.game, ObjectGame):
            number = int(action)
            if self.game.to_play(self._position) == CHANCE:
                possible = np.flatnonzero(self.game.probabilities(self._position)).tolist()
            else:
                possible = self.game.legal_actions(self._position)
            if number not in possible:
                raise SearchError(f"action {action} is not legal here")
            return self._known_object(number) or self.game.play(self._position, number), number
        following = self._position.play(action)
        return following, following.moves[-1]

    def _known_object(self, action: int) -> Any:
        child = self._child(action)
        return self._driver.objects.get(child) if isinstance(self._driver, ObjectDriver) else None

    def _child(self, action: int) -> int:
        if self._root == NO_NODE or self._graph is None:
            return NO_NODE
        edges = edges_of(self._graph, self._root)
        return int(edges["child"][edges["action"] == action][0])

    def _is_over(self, position: Any) -> bool:
        return bool(self.game.is_over(position) if isinstance(self.game, ObjectGame) else position.is_over)

    def _root_visits(self) -> int:
        assert self._graph is not None
        return int(edges_of(self._graph, self._root)["visits"].sum())

    # --- checks ---

    def _check_idle(self) -> None:
        if self._thread is not None:
            raise SearchError("a search is running in the background: stop() or wait() for it first")

    def _check_limits(self, visits: int | None, total: int | None, seconds: float | None) -> None:
        if visits is None and total is None and seconds is None:
            raise SearchError("how long? give visits=, total= or seconds=")
        for name, value in (("visits", visits), ("total", total)):
            if value is not None:
                _at_least_one(value, name)
        if seconds is not None and (not isinstance(seconds, numbers.Real) or not seconds > 0):
            raise SearchError(f"seconds={seconds}: must be above 0")


def parse_memory(memory: int | str) -> int:
    """Bytes from 1_000_000, "512MB" or "1GiB"."""
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*", memory)
        if not match or match.group(2).upper() not in UNITS:
            raise SearchError(f'memory={memory!r}: write a number of bytes, or one with a unit such as "512MB" or "2GB"')
        memory = int(float(match.group(1)) * UNITS[match.group(2).upper()])
    if memory < 1:
        raise SearchError(f"memory={memory}: must be above 0")
    return int(memory)


def _as_object_game(game: Any) -> ObjectGame:
    if isinstance(game, type) and issubclass(game, Game):
        raise SearchError(f"Search wants a game, not its class: write {game.__name__}()")
    return ObjectGame(game)


def _option(given: Any, default: Any, name: str, fits: Callable[[Any], bool]) -> Any:
    if given is None:
        return default
    if isinstance(given, type):
        raise SearchError(f"{name}={given.__name__}: give an instance, {given.__name__}()")
    if not is_option(given) or not fits(given):
        raise SearchError(f"{name}={given!r}: not an option for {name}; the default is {default!r}")
    return coerce(given)


def _serves(function: Any) -> Callable[[Any], bool]:
    return lambda option: function.generic.find(keys_of_value(option)) is not None


def _is_a(kind: Any) -> Callable[[Any], bool]:
    return lambda option: isinstance(option, kind)


def _is_function(evaluate: Any) -> bool:
    return callable(evaluate) and not isinstance(evaluate, type)


def _describe(option: Any) -> str | None:
    if option is None or is_option(option):
        return None if option is None else repr(option)
    return getattr(option, "__qualname__", type(option).__qualname__)


def _at_least_one(value: int, name: str) -> int:
    whole = isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer()
    if not whole or value < 1:
        raise SearchError(f"{name}={value!r}: must be a whole number of 1 or more")
    return int(value)


def _or_infinity(limit: int | None) -> float:
    return float("inf") if limit is None else limit


def _next_slice(count: int, done: int, elapsed: float, seconds: float | None) -> int:
    """How many simulations to run next so that it takes about SLICE seconds, less if the time is nearly up."""
    wanted = SLICE if seconds is None else min(SLICE, max(seconds - elapsed, 0.0))
    return max(1, min(int(done / elapsed * wanted), 4 * count))


@contextlib.contextmanager
def _ctrl_c_stops(stop: threading.Event) -> Iterator[None]:
    """While searching in the main thread, the first Ctrl-C ends the search and keeps its result; a second one interrupts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: Any) -> None:
        if stop.is_set() and callable(before):
            before(number, frame)
        stop.set()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
