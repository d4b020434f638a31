"""The face of every search: `Search(game, select=..., evaluate=...)`, then `run`, `advance`, `start`, `stop`, `wait`; `graph`
shows what was found (`results/export.py`), `save` and `load` keep it in files (`results/save.py`).

It keeps the tree or graph between calls, looks at the clock and at Ctrl-C between slices of about 20 ms, and turns what was
found into a `Result`. A call either succeeds or leaves the search as it was; a run that is ended by an exception keeps the
simulations that were complete. What it is given is checked by `checks.py` and put together by `configure.py`; what goes on
beside the loop is in `run/scope.py`; the work is done by a driver (`drivers/base.py`) in kernels.
"""

import contextlib
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.interrupts import nothing_to_lose, released
from anabranch.jit.options import is_option
from anabranch.search import configure
from anabranch.search import simultaneous as simultaneous  # which adds to the generic functions that are called here
from anabranch.search.backup.graph_update import keeps_means
from anabranch.search.backup.propagate import Staleness
from anabranch.search.checks import as_game, check_limits, describe, is_a, one_of, option, parse_memory, serves
from anabranch.search.drivers import make
from anabranch.search.drivers.base import NEVER, Driver, OnGraph, Setting
from anabranch.search.drivers.batch import BatchDriver, at_most_pending
from anabranch.search.drivers.python import ObjectDriver
from anabranch.search.graph_options import GraphOptions
from anabranch.search.memory.graph import Graph
from anabranch.search.memory.layout import MOST_ACTIONS, NO_NODE
from anabranch.search.memory.repetition import History
from anabranch.search.memory.table import look_up
from anabranch.search.memory.tree import Tree
from anabranch.search.results import save as files
from anabranch.search.results.export import GraphView, graph_view
from anabranch.search.results.final import Dirichlet, FinalChoice
from anabranch.search.results.read import edge_records, reader_of
from anabranch.search.results.result import Result
from anabranch.search.run.exclusive import Exclusive
from anabranch.search.run.leaves import Leaves, no_evaluator
from anabranch.search.run.progress import FULL_COUNTERS, Progress
from anabranch.search.run.restrict import UNRESTRICTED, Restriction, among, is_settled, restricted
from anabranch.search.run.scope import next_slice, noise_at_root, plan_root, priors_seen, sweeping_beside
from anabranch.search.select.base import check_limits_of_run
from anabranch.search.select.limits import Expansion
from anabranch.search.select.virtual_loss import VirtualLoss, virtual_value

KEEPS = STATISTICS, EVALUATIONS, NOTHING = "statistics", "evaluations", "nothing"  # what `advance` keeps
PROGRESS_EVERY = 0.1  # seconds between two calls of `on_progress`


class Search:
    """A search of one game, with its tree.

    Set `on_progress` to a function, at any time between two runs, and it is called with a `Result` about ten times a second; if
    it returns True, the search stops. (It watches a run, and is no part of what is searched, so that it is not an option.)
    """

    on_progress: Callable[[Result], bool | None] | None = None

    def __init__(
        self,
        game: Any,
        *,
        select: Any = None,
        evaluate: Any = None,
        heuristic: Any = None,
        backup: Any = None,
        final: FinalChoice | None = None,
        noise: Dirichlet | None = None,
        graph: bool | GraphOptions = False,
        prove: bool = False,
        expand: Expansion | None = None,
        virtual: Any = None,
        threads: int = 1,
        seed: int = 0,
        ties: str = "seed",
        memory: int | str = "1GB",
    ) -> None:
        """`game`: a `Game`, or a class of Python objects (`ObjectGame`). The others are options with defaults that work; where
        they are objects you can give one of your own (docs/replace-any-part.md):

        select        how edges are chosen: `UCT()` (default, where evaluators give values alone), `PUCT()` (default with a
                      network or any other evaluator in Python, since those give priors), `Rave()`, `Greedy()`,
                      `Regularized()`, `BestChance()`, `MuZero()`, `SprlPUCT()`, `KataGoPUCT()`, `Gumbel()`, around one of
                      them `Widening()`, `Pruning()`, `ProgressiveBias()`, `Forced()`, `WideRoot()`, or a rule of your own;
                      where both players move at once `Decoupled()` (default), `RegretMatching()`, `Exp3()`, `Equilibrium()`
        evaluate      what leaves are worth: `Rollout()` (default), `Uniform()`, a `Network`, or any f(states) -> (priors,
                      values), where None in place of priors means uniform ones
        heuristic     prior knowledge of actions, before they were tried: `EvenGame()`, `Grandfather()`, one of the game's or
                      your own, or any f(state) -> (H, C, C~); none by default
        backup        how values travel up: `Mean()` (default), `Max()`, `Mix(weight)`, `ByCertainty()`,
                      `ByStrategies()`
        final         how `Result.best` is chosen: `MostVisits()` (default), `ByTemperature(t)`, `ByValue(floor)`,
                      `ByRegularized()`, `ByLowerBound()`; with `Gumbel()`, `ByGumbel()` is the default
        noise         `Dirichlet(alpha, weight)` on the root's priors, for self-play
        graph         True: positions that are reached by several paths share one node. `GraphOptions(...)`, in place of True,
                      holds what only graphs have: `update`, `ahead`, `stale`, and what goes if memory is full, `collect`
        prove         True: wins, losses and draws that are certain are carried up, and a proven root ends the search
        expand        when leaves get edges: `Expansion(after=1, depth=None)` (default), after so many evaluations, down to that
                      level. One option, as the other steps of a simulation are: selection, evaluation, backup
        virtual       what simulations under way count as, for batches and threads: `VirtualLoss()` (default)
        threads       so many on one tree or graph; kernels release the GIL. An evaluator in Python is called by all of them
        seed          one seed, one tree, with one thread
        ties          who is followed of edges with the same score: "seed" (default), by an order drawn from it, or "lowest"
        memory        most bytes of the tree: 1_000_000 or "1GB"; when it is full the search goes on without new nodes
        """
        self.game = as_game(game)
        if self.game.edge_actions > MOST_ACTIONS:
            raise SearchError(f"{self.game!r} has {self.game.actions:,} actions; a search knows at most {MOST_ACTIONS:,}")
        self._chosen = configure.chosen_of(
            self.game,
            select=select,
            evaluate=evaluate,
            heuristic=heuristic,
            backup=backup,
            final=final,
            graph=graph,
            prove=bool(prove),
        )
        self.options = configure.rules_of(self._chosen)
        self._picks_rule = select is None
        self.final = self._chosen.final
        self.noise: Dirichlet | None = option(noise, None, "noise", is_a(Dirichlet))
        self.seed = int(seed)
        self.memory = parse_memory(memory)
        expand = option(expand, Expansion(), "expand", is_a(Expansion))
        self.heuristic = self._chosen.heuristic
        self.virtual = option(virtual, VirtualLoss(), "virtual", serves(virtual_value))
        self._setting = Setting(
            game=self.game,
            rules=self.options,
            limits=configure.limits_of(self.game, expand, ties),
            graph_rules=configure.graph_rules_of(self._chosen, ties),
            collect=self._chosen.collect,
            memory=self.memory,
            heuristic=self.heuristic,
            threads=configure.check_threads(threads, self._chosen),
            virtual=self.virtual,
        )
        self._needs = configure.needs_of(self._chosen, ties)
        self._settings = configure.settings_of(
            self._setting,
            self._needs,
            chosen=self._chosen,
            noise=self.noise,
            seed=self.seed,
            expand=expand,
        )
        self._driver: Driver | None = None
        self._memory: Tree | Graph | None = None
        self._position: Any = None
        self._history: History | None = None
        self._before: list[tuple[Any, History]] = []  # positions that `advance` left behind, the last one at the end
        self._use = Exclusive()
        self._stop = threading.Event()
        self._done = threading.Event()  # set when the search in the background has ended
        self._thread: threading.Thread | None = None
        self._leaves: Leaves | None = None
        self._outcome: Result | BaseException | None = None

    # --- searching ---

    def run(
        self,
        position: Any = None,
        visits: int | None = None,
        total: int | None = None,
        seconds: float | None = None,
        *,
        action: int | str | None = None,
        actions: Iterable[int | str] | None = None,
    ) -> Result:
        """Search a position (by default where the last search or `advance` left the root).

        visits   this many new simulations, each adding one visit to an edge of the root
        total    until the root's edges have that many in all, those kept by `advance` included
        seconds  for so long; of several limits the first one reached stops the search, and so does Ctrl-C
        action   all of them to this action at the root: "give this move 1,000 more visits"
        actions  only to these at the root: the selection rule chooses among them, and so does `Result.best`
        """
        check_limits(visits, total, seconds)
        check_limits_of_run(self.options.select, visits, total)
        with self._changing(self._stop_at_first):
            root = self._checked(position)
            to = self._restriction(root, action, actions)
            self._set_root(root)
            self._stop.clear()
            return self._search(visits, total, seconds, to)

    def _restriction(self, position: Any, action: Any, actions: Iterable[int | str] | None) -> Restriction:
        """What a run may do at its root."""
        if action is not None and actions is not None:
            raise SearchError("action= gives one action all simulations, actions= lets the search choose among some: give one")
        if action is not None:
            return Restriction(only=self._number(position, action))
        return UNRESTRICTED if actions is None else among(self.game, position, actions)

    def _stop_at_first(self) -> bool:
        """The first Ctrl-C ends the search and keeps its result, if there is one; a second one interrupts."""
        if self._stop.is_set():
            return False
        self._stop.set()
        return True

    def start(
        self,
        position: Any = None,
        visits: int | None = None,
        total: int | None = None,
        seconds: float | None = None,
        *,
        actions: Iterable[int | str] | None = None,
    ) -> None:
        """The same in the background; without limits, until `stop`."""
        if (visits, total, seconds) != (None, None, None):
            check_limits(visits, total, seconds)
        check_limits_of_run(self.options.select, visits, total)
        with self._changing():
            root = self._checked(position)
            to = self._restriction(root, None, actions)
            self._set_root(root)
            self._stop.clear()
            self._done.clear()
            self._outcome = None

            def work() -> None:
                try:
                    self._outcome = self._search(visits, total, seconds, to)
                except BaseException as error:
                    self._outcome = error
                finally:
                    self._done.set()

            thread = threading.Thread(target=work, name="anabranch-search", daemon=True)
            thread.start()
            self._thread = thread

    def stop(self) -> Result:
        """End the search in the background and give its result."""
        self._stop.set()
        return self.wait()

    def wait(self) -> Result:
        """The result of the search in the background, when it is done."""
        if self._thread is None:
            raise SearchError("no search is running in the background; begin one with start()")
        self._done.wait()  # and not for the thread: once a signal interrupts that, Python 3.11 takes the thread for ended
        self._thread.join()
        self._thread = None
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome

    def retune(self, select: Any) -> None:
        """Go on with other numbers in the selection rule, such as another exploration constant: what was found is kept."""
        with self._changing():
            select = option(select, self.options.select, "select", configure.selects)
            configure.check(self._chosen._replace(select=select))
            if configure.shape_of(select) != configure.shape_of(self.options.select):
                raise SearchError(
                    f"select={select!r}: a search keeps its rule, {self.options.select!r}, and takes other numbers "
                    "alone; for another rule begin a new Search"
                )
            self._chosen = self._chosen._replace(select=select)
            self._setting = configure.retuned(self._setting, select)
            self.options, self._settings = self._setting.rules, self._settings | {"select": describe(select)}
            if self._driver is not None:
                self._driver.retune(self._setting)

    # --- the caller's own loop ---

    def ask(self, count: int, position: Any = None) -> Leaves:
        """Up to `count` positions that the search wants evaluated, so that you can: give priors and values to `tell`.

        There may be fewer, or none: simulations that need no evaluation are done at once. The first leaf is the root.
        """
        at_most_pending(count, "count")
        with self._changing():
            self._set_root(position)
            if self._driver is None:
                self._driver = self._sow_for_asking() if is_option(self.options.evaluate) else self._sow()
            if not isinstance(self._driver, BatchDriver):
                raise SearchError("ask() wants a compiled game, and a search that has not run with an evaluator of its own")
            self._leaves = Leaves(self._driver.ask(count))
            return self._leaves

    def _sow_for_asking(self) -> Driver:
        """A driver for a new tree whose leaves others evaluate; from now on the search has no evaluator, and goes by the priors
        that it is told unless it was given a rule of its own."""
        options = self.options._replace(evaluate=no_evaluator)
        if self._picks_rule:
            options = options._replace(select=configure.default_rule(self.game, no_evaluator))
        setting = self._setting._replace(rules=options)
        memory = make.allocate(setting, self._needs, self.memory)
        assert self._history is not None
        driver = make.driver_at(setting, memory, self._position, self._history, self.seed)
        self.options, self._setting, self._memory = options, setting, memory
        self._settings = self._settings | {name: describe(option) for name, option in options._asdict().items()}
        return driver

    def tell(self, leaves: Leaves, priors: Any = None, values: Any = None) -> None:
        """Back up what `ask` gave: `values`, one a leaf in the view of who moves there (or one a player); `priors`, a row of
        probabilities a leaf, or None for uniform ones. Without values the leaves are taken back. Values that cannot be used
        change nothing: the leaves are still out."""
        with self._use.changing():
            if leaves is not self._leaves or not isinstance(self._driver, BatchDriver):
                raise SearchError("tell() wants the leaves that ask() gave last")
            self._driver.tell(len(leaves), None if values is None else (priors, values))
            self._leaves = None

    def result(self) -> Result:
        """What was found so far at the root."""
        with self._reading():
            return self._result(Progress(self._searched()))

    def advance(self, action: Any, keep: str = "statistics") -> None:
        """Play an action (a pair of them where both players move; or a chance event) at the root and keep what was found below
        it: its "statistics"; only the "evaluations" of an evaluator in Python, so that visits begin again without asking it
        twice; or "nothing". Nothing is evaluated here."""
        one_of(keep, KEEPS, "keep")
        if keep == EVALUATIONS and is_option(self.options.evaluate):
            raise SearchError(
                f'keep="evaluations" is for evaluators in Python; {self.options.evaluate!r} is compiled into the search'
            )
        with self._changing():
            if self._position is None or self._history is None:
                raise SearchError("there is no root yet: give run() a position first")
            following, number = self._play(action)
            history = self._history.after(self._position)
            child, driver = self._child(number), self._driver if keep != NOTHING else None
            on_graph = isinstance(driver, OnGraph) and self._needs.merge
            if child == NO_NODE and on_graph:
                child = self._find(following)  # it may have come by another path
            # On a tree, nodes are marked for the path they stand on; where it takes three, such a mark may be void now.
            marked = history.matters and not on_graph and self.game.repetition_count > 2
            if self._is_over(following) or marked or (child == NO_NODE and not on_graph):
                driver = None
            exhausted = history.exhausted()
            with self._moving(driver):
                if driver is not None:
                    driver.advance(child, following, exhausted)
                if keep == EVALUATIONS and isinstance(driver, OnGraph):
                    driver.forget_statistics()
            self._before.append((self._position, self._history))
            self._position, self._history = following, history

    def back(self) -> None:
        """Take the last `advance` back. What was found there is still known, unless the search runs on a compact tree (one
        thread, `Rollout` or `Uniform`, no graph) or memory was collected since."""
        with self._changing():
            if not self._before:
                raise SearchError("there is nothing to take back: the root is where the search began")
            position, history = self._before[-1]
            marked = history.matters and not self._needs.merge  # for the path that nodes stand on
            driver = self._driver if isinstance(self._driver, OnGraph) and not marked else None
            exhausted = history.exhausted()
            with self._moving(driver):
                if driver is not None and not driver.step_back(position, exhausted):
                    self._driver = None
            self._before.pop()
            self._position, self._history = position, history

    @contextlib.contextmanager
    def _moving(self, driver: Driver | None) -> Iterator[None]:
        """While the root of the search's driver moves; without one, what was found is forgotten. So it is if this fails
        half-way (memory may run out): then the root has not moved, and the next search begins anew."""
        try:
            self._driver = driver
            yield
        except BaseException:
            self._driver = None
            raise

    @property
    def position(self) -> Any:
        """Where the root is."""
        return self._position

    # --- the graph as a whole ---

    @property
    def graph(self) -> GraphView:
        """All that was found, as data: arrays of nodes and edges, JSON, Graphviz text, a drawing."""
        with self._reading():
            return graph_view(self._searched(), self.game, self._settings)

    def save(self, path: str | PathLike[str]) -> None:
        """Write what was found, the root's position and the state of the generator into a file."""
        terms = self._terms()
        with self._reading():
            driver = self._searched()
            assert self._history is not None
            files.save(Path(path), terms, driver, self._position, self._history, self._settings)

    def load(self, path: str | PathLike[str], position: Any = None) -> None:
        """Go on from a file that `save` wrote; the game and the options that decide what is in memory must be the same. If its
        position was set up, and not played from the start, give that as well: records in files are not believed."""
        terms = self._terms()
        with self._changing():
            with files.opened(Path(path), terms, position) as saved:
                driver = make.driver_at(self._setting, self._allocate(), saved.position, saved.history, self.seed)
                saved.fill(driver)
            self._driver, self._memory = driver, driver.graph
            self._position, self._history, self._before = saved.position, saved.history, []

    def _searched(self) -> Driver:
        if self._driver is None:
            raise SearchError("nothing was searched from here yet: call run() first")
        return self._ready()

    def _terms(self) -> files.Terms:
        return files.terms(self.game, self._needs, not is_option(self.options.evaluate))

    def staleness(self) -> Staleness:
        """How far nodes are from what their children say: the largest difference and the mean one."""
        with self._reading():
            return self._on_graph("staleness").staleness()

    def sweep(self) -> int:
        """Bring every node up to date with its children; the number of passes that it took."""
        with self._changing():
            return self._on_graph("sweep").sweep()

    def _on_graph(self, what: str) -> OnGraph:
        if not isinstance(self._driver, OnGraph) or not self._needs.merge:
            raise SearchError(f"{what}() is for graphs that were searched: Search(..., graph=True), then run()")
        update = self._setting.graph_rules.update
        if keeps_means(update):
            raise SearchError(f"{what}() is not for {type(update).__name__}(), whose edges keep means of their own")
        self._searched()
        return self._driver

    # --- the loop ---

    def _search(self, visits: int | None, total: int | None, seconds: float | None, to: Restriction) -> Result:
        is_new = self._driver is None
        before = self._driver.evaluated if self._driver is not None else 0
        with self._losing_nothing() if is_new else contextlib.nullcontext():
            driver = self._ready()
        progress = Progress(driver, max(driver.evaluated - before, 0), to)
        goal = progress.left(visits, total)
        progress.stopped_by = "visits" if visits is not None and goal == visits else "total"
        reported, count = progress.began, driver.least
        if to.only is None:
            plan_root(driver, int(min(goal, NEVER)), self._random(progress.kept, 2))
        noise = noise_at_root(driver, self.noise, self._random(progress.kept, 1))
        with noise, restricted(driver, to), sweeping_beside(driver, self._chosen.stale):
            while progress.done < goal:
                now = time.perf_counter()
                if self._stop.is_set():
                    if is_new and not progress.done and self._thread is None:
                        self._driver = None
                        raise KeyboardInterrupt  # there is nothing to show
                    progress.stopped_by = "Ctrl-C" if self._thread is None else "stop"
                    break
                if seconds is not None and progress.elapsed() >= seconds:
                    progress.stopped_by = "seconds"
                    break
                if self.on_progress is not None and progress.done and now - reported >= PROGRESS_EVERY:
                    reported = now
                    if self._report(self._result(progress)):
                        progress.stopped_by = "on_progress"
                        break
                most = int(min(goal - progress.done, progress.countable()))
                if most == 0:
                    progress.stopped_by = FULL_COUNTERS
                    break
                with contextlib.nullcontext() if progress.done or not is_new else self._losing_nothing():
                    ran = driver.run(min(count, most), most)
                progress.count(ran)
                if driver.proven or is_settled(driver, to):
                    progress.stopped_by = "proven"
                    break
                count = next_slice(count, progress.done, progress.elapsed(), seconds, driver.least)
        return self._result(progress)

    @contextlib.contextmanager
    def _losing_nothing(self) -> Iterator[None]:
        """While nothing was found yet: Ctrl-C need not wait for the compiler, and what was begun is forgotten."""
        try:
            with nothing_to_lose():
                yield
        except KeyboardInterrupt:
            self._driver = None
            raise

    def _report(self, result: Result) -> bool:
        """Show the caller a result; whether the search shall stop."""
        assert self.on_progress is not None
        with released():
            return bool(self.on_progress(result))

    def _result(self, progress: Progress) -> Result:
        driver = progress.driver
        random = self._random(progress.kept + progress.done)
        graph: Any = driver.with_bounds_of_actions()
        found = graph, driver.root, self.options, self.final, random, self._setting.limits, priors_seen(driver)
        facts: dict[str, Any] = {
            "stopped_by": progress.stopped_by,
            "memory_full": progress.memory_full,
            "settings": self._settings,
        }
        read = reader_of(self.game, self._position)
        result: Result = read(self.game, *found, self._is_forbidden, cost=progress.cost(), allowed=progress.to.allowed, **facts)
        return result

    def _is_forbidden(self, action: int) -> bool:
        """Whether an action at the root brings a position that may not come again."""
        if not isinstance(self.game, ObjectGame):
            return bool(self.game.would_repeat(self._position, action))
        assert self._history is not None
        following = self.game.play(self._position, action)
        return self._history.after(self._position).keys.count(self.game.key(following)) >= self.game.repetition_count - 1

    @property
    def _root(self) -> int:
        return NO_NODE if self._driver is None else self._driver.root

    @property
    def _graph(self) -> Any:
        return None if self._driver is None else self._driver.graph

    def _ready(self) -> Driver:
        """The driver, whose root simulations can set out from. If an evaluator raises on the way, nothing has changed."""
        if self._driver is None or not self._driver.prepare():
            self._driver = None
            driver = self._sow()
            driver.prepare()
            self._driver = driver
        return self._driver

    def _sow(self) -> Driver:
        """A driver for a new tree, which has no root yet."""
        assert self._history is not None
        if self._memory is None:
            self._memory = self._allocate()
        make.clear(self._memory, self.memory)
        return make.driver_at(self._setting, self._memory, self._position, self._history, self.seed)

    def _allocate(self) -> Tree | Graph:
        return make.allocate(self._setting, self._needs, self.memory)

    def _random(self, *numbers: int) -> np.random.Generator:
        """Random numbers for noise and choice at the root: others in each position, the same for one seed."""
        position = zlib.crc32(self._position.data) if isinstance(self._position, Position) else 0
        return np.random.default_rng([self.seed & (2**63 - 1), position, *numbers])

    # --- the root ---

    def _checked(self, position: Any) -> Any:
        """The position to search: the one that is given, if it can be, or where the root is."""
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
        return position

    def _set_root(self, position: Any) -> None:
        position = self._checked(position)
        if position is self._position and self._history is not None:
            return
        history = History(self.game, position)
        if position == self._position and self._history is not None and history.keys == self._history.keys:
            if (
                isinstance(position, Position) and position.moves != self._position.moves
            ):  # came by another way than `back` goes
                self._position, self._history, self._before = position, history, []
            return
        found, exhausted = self._find(position), history.exhausted()
        with self._moving(self._driver if found != NO_NODE else None):
            if self._driver is not None:
                self._driver.advance(found, position, exhausted)
        self._position, self._history, self._before = position, history, []

    def _find(self, position: Any) -> int:
        """The node of a position that the graph knows already, or NO_NODE."""
        if not isinstance(self._driver, OnGraph) or not self._needs.merge:
            return NO_NODE
        low, high = self._key(position)
        return int(look_up(self._driver.graph, np.uint64(low), np.uint64(high)))

    def _key(self, position: Any) -> tuple[int, int]:
        return self.game.key(position) if isinstance(self.game, ObjectGame) else position.key

    def _play(self, action: int | str) -> tuple[Any, int]:
        if isinstance(self.game, ObjectGame):
            number = self._number(self._position, action)
            return self._known_object(number) or self.game.play(self._position, number), number
        following = self._position.play(action)
        return following, self._position.edge_of(following.moves[-1])

    def _number(self, position: Any, action: int | str) -> int:
        """The number of the edge of a legal action, or of a possible event."""
        if not isinstance(self.game, ObjectGame):
            return int(position.edge_of(position.play(action).moves[-1]))
        if self.game.to_play(position) == CHANCE:
            possible = np.flatnonzero(self.game.probabilities(position)).tolist()
        else:
            possible = self.game.legal_actions(position)
        if int(action) not in possible:
            raise SearchError(f"action {action} is not legal here")
        return int(action)

    def _known_object(self, action: int) -> Any:
        """The object of a child, but on graphs: it may have come by another path, and know that."""
        if not isinstance(self._driver, ObjectDriver) or self._needs.merge:
            return None
        return self._driver.objects.get(self._child(action))

    def _child(self, action: int) -> int:
        if self._root == NO_NODE:
            return NO_NODE
        edges = edge_records(self._graph, self._root)  # none, if the root has moved and was not searched since
        found = edges["child"][edges["action"] == action]
        return int(found[0]) if len(found) else NO_NODE

    def _is_over(self, position: Any) -> bool:
        return bool(self.game.is_over(position) if isinstance(self.game, ObjectGame) else position.is_over)

    @contextlib.contextmanager
    def _changing(self, on_interrupt: Callable[[], bool] | None = None) -> Iterator[None]:
        with self._use.changing(on_interrupt):
            self._check_idle()
            yield

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._use.reading():
            self._check_idle()
            yield

    def _check_idle(self) -> None:
        if self._thread is not None:
            raise SearchError("a search is running in the background: stop() or wait() for it first")
        if self._leaves is not None:
            raise SearchError("leaves of ask() are out: give tell() their priors and values, or take them back by tell(leaves)")
