"""The face of every search: `Search(game, select=..., evaluate=...)`, then `run`, `advance`, `start`, `stop`, `wait`; `graph`
shows what was found (`export.py`), `save` and `load` keep it in files (`keep.py`).

It keeps the tree or graph between calls, watches clock, memory and Ctrl-C between slices of about 20 ms, and turns what was
found into a `Result`. What it is given is checked by `checks.py`; the work is done by a driver (`drive.py`) in kernels.
"""

import contextlib
import signal
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, REPETITIONS
from anabranch.jit.options import is_option
from anabranch.search import graph as graphs
from anabranch.search import keep
from anabranch.search import tree as trees
from anabranch.search.backup import Mean, carry
from anabranch.search.checks import (
    as_game,
    at_least_one,
    check_limits,
    describe,
    is_a,
    is_function,
    option,
    parse_memory,
    serves,
)
from anabranch.search.collect import Forget, KeepReached
from anabranch.search.drive import (
    CallableDriver,
    Driver,
    GraphDriver,
    ObjectDriver,
    OnGraph,
    Rules,
    Setting,
    TreeDriver,
)
from anabranch.search.evaluate import Rollout
from anabranch.search.evaluate import evaluate as evaluate_state
from anabranch.search.export import GraphView, view_of
from anabranch.search.final import Dirichlet, FinalChoice, MostVisits, noisy
from anabranch.search.graph import Graph, Needs
from anabranch.search.history import History
from anabranch.search.layout import EVALUATIONS, MOST_ACTIONS, NO_NODE, REFUSED
from anabranch.search.read import edges_of, read_result
from anabranch.search.result import Result
from anabranch.search.select import UCT, Scale, prefer, score
from anabranch.search.simulate_graph import Manner
from anabranch.search.stale import Ancestors, Parents, PathOnly, Staleness, Sweeping
from anabranch.search.steps import Limits
from anabranch.search.tree import Tree
from anabranch.search.update import CONTINUE, CatchUp, Continue, Idempotent, Incremental, Stop

SLICE = 0.02  # seconds in a kernel between two looks at the clock and at Ctrl-C
FIRST_SLICE = 1  # simulations, before their speed is known: an evaluator in Python may be slow
PROGRESS_EVERY = 0.1  # seconds between two calls of `on_progress`
NO_DEPTH_LIMIT = 2**31 - 1


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
        update: Idempotent | Incremental | CatchUp | None = None,
        ahead: Stop | Continue | None = None,
        stale: PathOnly | Parents | Ancestors | Sweeping | None = None,
        prove: bool = False,
        collect: KeepReached | Forget | None = None,
        threads: int = 1,
        seed: int = 0,
        memory: int | str = "1GB",
        depth: int | None = None,
        expand_after: int = 1,
        on_progress: Callable[[Result], bool | None] | None = None,
    ) -> None:
        """Options, all with defaults that work:

        select        how edges are chosen: `UCT()` (default), `PUCT()`, `Greedy()`, `Regularized()`, or a rule of your own
        evaluate      what leaves are worth: `Rollout()` (default), `Uniform()`, or any f(states) -> (priors, values)
        backup        how values travel up: `Mean()` (default), `Max()`, `Mix(weight)`
        final         how `Result.best` is chosen: `MostVisits()` (default), `ByTemperature(t)`, `ByValue(floor)`,
                      `ByRegularized()`
        noise         `Dirichlet(alpha, weight)` on the root's priors, for self-play
        graph         True: positions that are reached by several paths share one node
        update        on graphs, when a parent looks at its children: `Incremental()` (default), `Idempotent()`, `CatchUp()`
        ahead         on graphs, at a child with more visits than the edge to it: `Stop()` (default), `Continue()`
        stale         on graphs, who else learns of a value: `PathOnly()` (default), `Parents()`, `Ancestors()`, `Sweeping()`
        prove         True: wins, losses and draws that are certain are carried up, and a proven root ends the search
        collect       on graphs, what goes if memory is full: `KeepReached()` (default) or also little-visited nodes, `Forget()`
        seed          one seed, one tree
        memory        most bytes of the tree: 1_000_000 or "1GB"; when it is full the search goes on without new nodes
        depth         deepest level of the tree: 1 is flat Monte-Carlo
        expand_after  evaluations of a leaf before it gets edges of its own
        on_progress   called with a `Result` about ten times a second; if it returns True, the search stops
        """
        self.game = as_game(game)
        if max(self.game.actions, self.game.events) > MOST_ACTIONS:
            raise SearchError(f"{self.game!r} has {self.game.actions:,} actions; a search knows at most {MOST_ACTIONS:,}")
        self.options = Rules(
            option(select, UCT(), "select", serves(score, prefer)),
            evaluate if is_function(evaluate) else option(evaluate, Rollout(), "evaluate", serves(evaluate_state)),
            option(backup, Mean(), "backup", serves(carry)),
        )
        self.final: FinalChoice = option(final, MostVisits(), "final", is_a(FinalChoice))
        self.noise: Dirichlet | None = option(noise, None, "noise", is_a(Dirichlet))
        self.seed = int(seed)
        self.memory = parse_memory(memory)
        self.on_progress = on_progress
        if at_least_one(threads, "threads") > 1:
            warnings.warn(f"threads={threads}: more than one thread is not there yet; searching with one", stacklevel=2)
        low, high = self.game.value_range
        limits = Limits(
            depth=NO_DEPTH_LIMIT if depth is None else at_least_one(depth, "depth"),
            expand_after=at_least_one(expand_after, "expand_after"),
            scale=Scale(middle=(low + high) / 2.0, factor=2.0 / (high - low)),
            discount=float(self.game.discount),
            repetition=REPETITIONS.index(self.game.repetition),
        )
        self.stale = option(stale, PathOnly(), "stale", is_a((PathOnly, Parents, Ancestors, Sweeping)))
        self._setting = Setting(
            game=self.game,
            rules=self.options,
            limits=limits,
            manner=self._manner(bool(graph), update, ahead),
            collect=option(collect, KeepReached(), "collect", is_a((KeepReached, Forget))),
            memory=self.memory,
        )
        self._needs = Needs(
            merge=bool(graph),
            prove=bool(prove),
            rewards=self._pays_on_the_way(),
            cuts=self.game.repetition != "nothing",
            links=isinstance(self.stale, (Parents, Ancestors)),
        )
        self._settings = {
            "version": __version__,
            "game": repr(self.game),
            **{name: describe(option) for name, option in self.options._asdict().items()},
            "final": describe(self.final),
            "noise": describe(self.noise),
            "graph": bool(graph),
            "update": describe(self._setting.manner.update) if graph else None,
            "ahead": describe(Stop() if ahead is None else ahead) if graph else None,
            "stale": describe(self.stale) if graph else None,
            "prove": bool(prove),
            "collect": describe(self._setting.collect) if graph else None,
            "seed": self.seed,
            "memory": self.memory,
            "depth": depth,
            "expand_after": expand_after,
            "threads": 1,
        }
        self._driver: Driver | None = None
        self._memory: Tree | Graph | None = None
        self._position: Any = None
        self._history: History | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._outcome: Result | BaseException | None = None

    def _manner(self, graph: bool, update: Any, ahead: Any) -> Manner:
        """How a graph is walked, as kernels want to know it."""
        update = option(update, Incremental(), "update", is_a((Idempotent, Incremental, CatchUp)))
        ahead = option(ahead, Stop() if graph else Continue(), "ahead", is_a((Stop, Continue)))
        if not graph and [type(option) for option in (update, ahead, self.stale)] != [Incremental, Continue, PathOnly]:
            raise SearchError("update, ahead and stale are for graphs: say graph=True as well")
        if isinstance(update, CatchUp) and not isinstance(self.stale, PathOnly):
            raise SearchError("CatchUp() keeps running means on its edges, which nothing else may touch: use stale=PathOnly()")
        if isinstance(update, CatchUp) and not isinstance(self.options.backup, Mean):
            raise SearchError("CatchUp() averages: use it with backup=Mean()")
        return Manner(
            update=update,
            stop=CONTINUE if isinstance(ahead, Continue) else ahead,
            stale=self.stale,
            opaque=isinstance(self.game, ObjectGame),
        )

    def _pays_on_the_way(self) -> bool:
        return isinstance(self.game, Game) and bool(self.game.rule("has_rewards")(None))

    # --- searching ---

    def run(
        self,
        position: Any = None,
        visits: int | None = None,
        total: int | None = None,
        seconds: float | None = None,
        *,
        action: int | str | None = None,
    ) -> Result:
        """Search a position (by default where the last search or `advance` left the root).

        visits   this many new simulations, each adding one visit to an edge of the root
        total    until the root's edges have that many in all, those kept by `advance` included
        seconds  for so long; of several limits the first one reached stops the search, and so does Ctrl-C
        action   all of them to this action at the root: "give this move 1,000 more visits"
        """
        self._check_idle()
        check_limits(visits, total, seconds)
        self._set_root(position)
        number = None if action is None else self._play(action)[1]
        self._stop.clear()
        with _ctrl_c_stops(self._stop):
            return self._search(visits, total, seconds, number)

    def start(
        self, position: Any = None, visits: int | None = None, total: int | None = None, seconds: float | None = None
    ) -> None:
        """The same in the background; without limits, until `stop`."""
        self._check_idle()
        if (visits, total, seconds) != (None, None, None):
            check_limits(visits, total, seconds)
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
        """Play an action (or a chance event) at the root and keep what was found below it."""
        self._check_idle()
        if self._position is None:
            raise SearchError("there is no root yet: give run() a position first")
        following, number = self._play(action)
        child = self._child(number)
        before, self._position = self._position, following
        assert self._history is not None
        if self._history.matters:
            self._history.add(self._key(before))
        on_graph = isinstance(self._driver, OnGraph) and self._needs.merge
        # On a tree, nodes are marked for the path they stand on; where it takes three, such a mark may be void from now on.
        marked = self._history.matters and not on_graph and self.game.repetition_count > 2
        if self._driver is None or self._is_over(following) or marked or (child == NO_NODE and not on_graph):
            self._driver = None
            return
        self._driver.advance(child, following, self._history.exhausted())
        if self._root == NO_NODE:
            self._driver = None

    @property
    def position(self) -> Any:
        """Where the root is."""
        return self._position

    # --- the graph as a whole ---

    @property
    def graph(self) -> GraphView:
        """All that was found, as data: arrays of nodes and edges, JSON, Graphviz text, a drawing."""
        driver = self._searched()
        return view_of(driver.graph, driver.root, self.options.backup, self.game, self._settings)

    def save(self, path: str | PathLike[str]) -> None:
        """Write what was found, the root's position and the state of the generator into a file."""
        terms, driver = self._terms(), self._searched()
        assert self._history is not None
        keep.save(Path(path), terms, driver, self._position, self._history, self._settings)

    def load(self, path: str | PathLike[str]) -> None:
        """Go on from a file that `save` wrote; the game and the options that decide what is in memory must be the same."""
        self._check_idle()
        saved = keep.load(Path(path), self._terms())
        driver = self._driver_at(saved.position, saved.history, self._allocate(self._is_compact()))
        saved.fill(driver)
        self._driver, self._memory = driver, driver.graph
        self._position, self._history = saved.position, saved.history

    def _searched(self) -> Driver:
        self._check_idle()
        if self._driver is None:
            raise SearchError("nothing was searched from here yet: call run() first")
        return self._driver

    def _terms(self) -> keep.Terms:
        return keep.terms(self.game, self._needs, not is_option(self.options.evaluate))

    def staleness(self) -> Staleness:
        """How far nodes are from what their children say: the largest difference and the mean one."""
        driver = self._on_graph("staleness")
        return driver.staleness()

    def sweep(self) -> int:
        """Bring every node up to date with its children; the number of passes that it took."""
        return self._on_graph("sweep").sweep()

    def _on_graph(self, what: str) -> OnGraph:
        self._check_idle()
        if not isinstance(self._driver, OnGraph) or not self._needs.merge:
            raise SearchError(f"{what}() is for graphs that were searched: Search(..., graph=True), then run()")
        if isinstance(self._setting.manner.update, CatchUp):
            raise SearchError(f"{what}() is not for CatchUp(), whose edges keep means of their own")
        return self._driver

    # --- the loop ---

    def _search(self, visits: int | None, total: int | None, seconds: float | None, action: int | None = None) -> Result:
        planted = self._driver is None
        if planted:
            self._plant()
        driver = self._driver
        assert driver is not None
        used = driver.graph.used
        began = time.perf_counter()  # kernels are compiled by now: that time is not the search's
        kept = self._root_visits()
        evaluated, refused = int(used[EVALUATIONS]), int(used[REFUSED])
        goal = min(_or_infinity(visits), max(_or_infinity(total) - kept, 0))
        reached = "visits" if visits is not None and goal == visits else "total"
        done, stopped_by, reported, count = 0, reached, began, FIRST_SLICE

        def result() -> Result:
            assert driver is not None
            return read_result(
                self.game,
                driver.graph,
                driver.root,
                self.options.backup,
                self.final,
                self._random(kept + done),
                self._setting.limits,
                cost={
                    "simulations": done,
                    "evaluations": int(used[EVALUATIONS]) - evaluated + planted,
                    "seconds": time.perf_counter() - began,
                    "kept": kept,
                },
                stopped_by=stopped_by,
                memory_full=int(used[REFUSED]) > refused,
                settings=self._settings,
            )

        with self._noise(), self._only(action), self._sweeping():
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
                done += driver.run(int(min(count, goal - done)))
                if driver.proven:
                    stopped_by = "proven"
                    break
                count = _next_slice(count, done, time.perf_counter() - began, seconds)
        return result()

    @property
    def _root(self) -> int:
        return NO_NODE if self._driver is None else self._driver.root

    @property
    def _graph(self) -> Any:
        return None if self._driver is None else self._driver.graph

    def _plant(self) -> None:
        """A new tree with the root's node."""
        assert self._history is not None
        if self._memory is None:
            self._memory = self._allocate(self._is_compact())
        if isinstance(self._memory, Tree):
            self._memory.used[:] = 0
        else:
            graphs.clear(self._memory, self.memory)
        driver = self._driver_at(self._position, self._history, self._memory)
        driver.plant()
        self._driver = driver

    def _driver_at(self, position: Any, history: History, memory: Tree | Graph) -> Driver:
        """A driver for this memory, with this position as its root's."""
        record = position.record() if isinstance(position, Position) else np.zeros(1, self.game.record)
        kind: type[Driver] = TreeDriver if isinstance(memory, Tree) else GraphDriver
        if isinstance(self.game, ObjectGame):
            kind = ObjectDriver
        elif not is_option(self.options.evaluate):
            kind = CallableDriver
        driver = kind(self._setting, memory, record, history.exhausted(), self.seed)
        if isinstance(driver, ObjectDriver):
            driver.root_object = position
        return driver

    def _is_compact(self) -> bool:
        """Whether a compact tree will do: no sharing, no proofs, no repetitions, nothing in Python."""
        in_kernel = isinstance(self.game, Game) and is_option(self.options.evaluate)
        return in_kernel and not (self._needs.merge or self._needs.prove or self._needs.cuts)

    def _allocate(self, compact: bool) -> Tree | Graph:
        width = self.game.value_width()
        least = 16 * (1 + max(self.game.actions, self.game.events)) * trees.node_dtype(width).itemsize
        if self._needs.merge:
            least += 8 * graphs.FIRST_TABLE
        if self.memory < least:
            raise SearchError(f"memory={self.memory} bytes is too little for {self.game!r}: give it at least {least:,}")
        try:
            return trees.allocate(width, self.memory) if compact else graphs.allocate(width, self.memory, self._needs)
        except MemoryError:
            raise SearchError(f"memory={self.memory:,} bytes cannot be reserved on this machine; ask for less") from None

    @contextlib.contextmanager
    def _only(self, action: int | None) -> Iterator[None]:
        """Send all simulations to one action at the root."""
        driver = self._driver
        assert driver is not None
        if action is None:
            yield
            return
        before = driver.limits
        index = int(np.flatnonzero(edges_of(driver.graph, driver.root)["action"] == action)[0])
        driver.limits = before._replace(only=index)
        try:
            yield
        finally:
            driver.limits = before

    @contextlib.contextmanager
    def _sweeping(self) -> Iterator[None]:
        """Sweep the graph in a thread beside the search, and once more at its end."""
        driver = self._driver
        if not isinstance(self.stale, Sweeping) or not isinstance(driver, OnGraph):
            yield
            return
        done = threading.Event()
        pause = self.stale.pause

        def work() -> None:
            while not done.wait(pause):
                driver.sweep()

        thread = threading.Thread(target=work, name="anabranch-sweep", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            driver.sweep()

    @contextlib.contextmanager
    def _noise(self) -> Iterator[None]:
        """Noise on the root's priors while searching; the tree itself stays clean. Chance keeps its probabilities."""
        if self.noise is None or self._graph.nodes["player"][self._root] == CHANCE:
            yield
            return
        edges = edges_of(self._graph, self._root)
        clean = edges["prior"].copy()
        edges["prior"] = noisy(self.noise, clean, self._random(self._root_visits(), 1))
        try:
            yield
        finally:
            edges_of(self._graph, self._root)["prior"] = clean  # the root may have moved in memory

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
        if position is self._position and self._history is not None:
            return
        history = History(self.game, position)
        if position == self._position and self._history is not None and history.keys == self._history.keys:
            return
        self._position, self._history = position, history
        found = self._find(position)
        if found == NO_NODE:
            self._driver = None
        elif self._driver is not None:
            self._driver.advance(found, position, history.exhausted())

    def _find(self, position: Any) -> int:
        """The node of a position that the graph knows already, or NO_NODE."""
        if not isinstance(self._driver, OnGraph) or not self._needs.merge:
            return NO_NODE
        low, high = self._key(position)
        return int(graphs.look_up(self._driver.graph, np.uint64(low), np.uint64(high)))

    def _key(self, position: Any) -> tuple[int, int]:
        return self.game.key(position) if isinstance(self.game, ObjectGame) else position.key

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
        if self._root == NO_NODE:
            return NO_NODE
        edges = edges_of(self._graph, self._root)
        return int(edges["child"][edges["action"] == action][0])

    def _is_over(self, position: Any) -> bool:
        return bool(self.game.is_over(position) if isinstance(self.game, ObjectGame) else position.is_over)

    def _root_visits(self) -> int:
        return int(edges_of(self._graph, self._root)["visits"].sum())

    def _check_idle(self) -> None:
        if self._thread is not None:
            raise SearchError("a search is running in the background: stop() or wait() for it first")


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
