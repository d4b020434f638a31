"""The public face of every search: `Search(game, select=..., evaluate=...)`, then `run`, `advance`, `start`, `stop`, `wait`;
`graph` shows what was found (`results/export.py`), `save` and `load` keep it in files (`results/save.py`).

It keeps the tree or graph between calls, checks the clock and Ctrl-C between slices of about 20 ms, and turns what was found
into a `Result`. A call either succeeds or leaves the search as it was; a run that is ended by an exception keeps the
simulations that were complete. `checks.py` checks the arguments and `configure.py` combines them; what is kept between calls,
and how the root moves, is in `rooted.py`; what surrounds the loop is in `run/scope.py`; a driver (`drivers/base.py`) does the
work in kernels.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import SearchError
from anabranch.interrupts import nothing_to_lose, released
from anabranch.jit.options import is_option
from anabranch.search import configure
from anabranch.search import simultaneous as simultaneous  # registers implementations of the generic functions called here
from anabranch.search.backup.graph_update import keeps_means
from anabranch.search.backup.propagate import Staleness
from anabranch.search.checks import as_game, check_limits, describe, is_a, one_of, option, parse_memory, serves, whole_seed
from anabranch.search.drivers import make
from anabranch.search.drivers.base import NEVER, OnGraph, Setting
from anabranch.search.drivers.batch import BatchDriver, at_most_pending
from anabranch.search.graph_options import GraphOptions
from anabranch.search.memory.layout import MOST_ACTIONS
from anabranch.search.results import save as files
from anabranch.search.results.export import GraphView, graph_view
from anabranch.search.results.final import FinalChoice
from anabranch.search.results.result import Result
from anabranch.search.rooted import EVALUATIONS, KEEPS, RootedGraph
from anabranch.search.run.exclusive import Exclusive
from anabranch.search.run.leaves import Leaves, no_evaluator
from anabranch.search.run.progress import FULL_COUNTERS, Progress
from anabranch.search.run.restrict import Restriction, is_settled, restricted
from anabranch.search.run.scope import next_slice, plan_root, priors_at_root, priors_for_run, sweeping_beside
from anabranch.search.select.base import check_limits_of_run
from anabranch.search.select.limits import Expansion
from anabranch.search.select.virtual_loss import VirtualLoss, virtual_value

PROGRESS_EVERY = 0.1  # seconds between two calls of `on_progress`


class Search:
    """A search of one game, with its tree.

    Set `on_progress` to a function, at any time between two runs, and it is called with a `Result` about ten times a second; if
    it returns True, the search stops. (It observes a run without affecting what is searched, so it is not an option.)
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
        noise: Any = None,
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
        an option is an object you can write your own (docs/replace-any-part.md):

        select        how edges are chosen: `UCT()` (default, where evaluators give only values), `PUCT()` (default with a
                      network or any other evaluator in Python, since those give priors), `Rave()`, `Greedy()`,
                      `Regularized()`, `BestChance()`, `MuZero()`, `SprlPUCT()`, `KataGoPUCT()`, `Gumbel()`, around one of
                      them `Widening()`, `Pruning()`, `ProgressiveBias()`, `Forced()`, `WideRoot()`, or a rule of your own;
                      where both players move at once `Decoupled()` (default), `RegretMatching()`, `Exp3()`, `Equilibrium()`
        evaluate      the value of leaves: `Rollout()` (default), `Uniform()`, a `Network`, or any f(states) -> (priors,
                      values), where None in place of priors means uniform ones
        heuristic     prior knowledge of untried actions: `EvenGame()`, `Grandfather()`, one of the game's or your own, or any
                      f(state) -> (H, C, C~); none by default
        backup        how values are backed up: `Mean()` (default), `Max()`, `Mix(weight)`, `ByCertainty()`,
                      `ByStrategies()`
        final         how `Result.best` is chosen: `MostVisits()` (default), `ByTemperature(t)`, `ByValue(floor)`,
                      `ByRegularized()`, `ByLowerBound()`; with `Gumbel()`, `ByGumbel()` is the default
        noise         what is done to the root's priors during a run: `Dirichlet(alpha, weight)` for self-play,
                      `RootTemperature(temperature, noise)`; nothing by default
        graph         True: transpositions share one node. `GraphOptions(...)`, in place of True, holds the options of graphs:
                      `update`, `ahead`, `stale`, and `collect`, what is dropped when memory is full
        prove         True: proven wins, losses and draws are backed up, and a proven root ends the search
        expand        when leaves get edges: `Expansion(after=1, depth=None)` (default), after so many evaluations, down to that
                      level. One option, as the other steps of a simulation are: selection, evaluation, backup
        virtual       what simulations under way count as, for batches and threads: `VirtualLoss()` (default)
        threads       how many work on one tree or graph; kernels release the GIL. All of them call an evaluator in Python
        seed          with one thread, the same seed gives the same tree
        ties          which of the edges with equal scores is followed: "seed" (default), by an order drawn from it, or "lowest"
        memory        the limit of the tree in bytes: 1_000_000 or "1GB"; when it is full the search goes on without new nodes
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
        self.noise = configure.noise_of(noise)
        self.seed = whole_seed(seed)
        self.memory = parse_memory(memory)
        expand = option(expand, Expansion(), "expand", is_a(Expansion))
        self.heuristic = self._chosen.heuristic
        self.virtual = option(virtual, VirtualLoss(), "virtual", serves(virtual_value))
        setting = Setting(
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
        needs = configure.needs_of(self._chosen, ties)
        self._settings = configure.settings_of(
            setting,
            needs,
            chosen=self._chosen,
            noise=self.noise,
            seed=self.seed,
            expand=expand,
        )
        self.rooted = RootedGraph(setting, needs, self.seed)  # for other modules of this package
        self._use = Exclusive()
        self._stop = threading.Event()  # never set while no search runs, so that none is stopped before it begins
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
        action   all simulations take this action at the root: "give this move 1,000 more visits"
        actions  only these actions at the root: the selection rule chooses among them, and so does `Result.best`
        """
        check_limits(visits, total, seconds)
        check_limits_of_run(self.options.select, visits, total)
        with self._changing(self._stop_at_first):
            try:
                root = self.rooted.checked(self._own(position))
                to = self.rooted.restriction(root, action, actions)
                self._set_root(root)
                return self._search(visits, total, seconds, to)
            finally:
                self._stop.clear()

    def _own(self, position: Any) -> Any:
        """A given position as one of this search's; for subclasses that take others, too."""
        return position

    def _is_kept(self, root: Any) -> bool:
        """Whether what was found holds for this root, too; for subclasses whose values depend on it."""
        return True

    def _set_root(self, root: Any) -> None:
        if not self._is_kept(root):
            self.rooted.driver = None
        self.rooted.set_root(root)

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
            root = self.rooted.checked(self._own(position))
            to = self.rooted.restriction(root, None, actions)
            self._set_root(root)
            self._done.clear()
            self._outcome = None

            def work() -> None:
                try:
                    with self.rooted.working():
                        self._outcome = self._search(visits, total, seconds, to)
                except BaseException as error:
                    self._outcome = error
                finally:
                    self._done.set()

            thread = threading.Thread(target=work, name="anabranch-search", daemon=True)
            thread.start()
            self._thread = thread

    def stop(self) -> Result:
        """End the search in the background and return its result."""
        if self._thread is not None:
            self._stop.set()
        return self.wait()

    def wait(self) -> Result:
        """The result of the search in the background, when it is done."""
        if self._thread is None:
            raise SearchError("no search is running in the background; begin one with start()")
        self._done.wait()  # not `join`: once a signal interrupts that, Python 3.11 considers the thread ended
        self._thread.join()
        self._thread = None
        self._stop.clear()
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome

    def retune(self, select: Any) -> None:
        """Change parameters of the selection rule, such as the exploration constant; what was found is kept."""
        with self._changing():
            select = option(select, self.options.select, "select", configure.selects)
            configure.check(self._chosen._replace(select=select))
            if configure.shape_of(select) != configure.shape_of(self.options.select):
                raise SearchError(
                    f"select={select!r}: a search keeps its rule, {self.options.select!r}, and takes other numbers "
                    "alone; for another rule begin a new Search"
                )
            self._chosen = self._chosen._replace(select=select)
            self.rooted.setting = configure.retuned(self.rooted.setting, select)
            self.options, self._settings = self.rooted.setting.rules, self._settings | {"select": describe(select)}
            if self.rooted.driver is not None:
                self.rooted.driver.retune(self.rooted.setting)

    # --- the caller's own loop ---

    def ask(self, count: int, position: Any = None) -> Leaves:
        """Up to `count` positions for you to evaluate; pass their priors and values to `tell`.

        There may be fewer, or none: simulations that need no evaluation are completed at once. The first leaf is the root.
        """
        at_most_pending(count, "count")
        with self._changing():
            self._set_root(self.rooted.checked(self._own(position)))
            if self.rooted.driver is None:
                if is_option(self.options.evaluate):
                    self._leave_evaluation_to_others()
                else:
                    self.rooted.driver = self.rooted.new_driver()
            if not isinstance(self.rooted.driver, BatchDriver):
                raise SearchError("ask() wants a compiled game, and a search that has not run with an evaluator of its own")
            self._leaves = Leaves(self.rooted.driver.ask(count))
            return self._leaves

    def _leave_evaluation_to_others(self) -> None:
        """Start a new tree whose leaves the caller evaluates; from now on the search has no evaluator, and selects by the
        priors it gets from `tell` unless a rule was given."""
        options = self.options._replace(evaluate=no_evaluator)
        if self._picks_rule:
            options = options._replace(select=configure.default_rule(self.game, no_evaluator))
        self.rooted.start_anew(self.rooted.setting._replace(rules=options))
        self.options = options
        self._settings = self._settings | {name: describe(option) for name, option in options._asdict().items()}

    def tell(self, leaves: Leaves, priors: Any = None, values: Any = None) -> None:
        """Back up the leaves that `ask` returned: `values`, one per leaf in the view of the player to move there (or one per
        player); `priors`, a row of probabilities per leaf, or None for uniform ones. Without values the leaves are withdrawn.
        Invalid values change nothing: the leaves still wait."""
        with self._use.changing():
            if leaves is not self._leaves or not isinstance(self.rooted.driver, BatchDriver):
                raise SearchError("tell() wants the leaves that ask() gave last")
            try:
                with self.rooted.working():
                    self.rooted.driver.tell(len(leaves), None if values is None else (priors, values))
            finally:
                if self.rooted.driver is None:
                    self._leaves = None
            self._leaves = None

    def result(self) -> Result:
        """What was found so far at the root."""
        with self._reading():
            return self.result_of(Progress(self.rooted.searched()))

    def advance(self, action: Any, keep: str = "statistics") -> None:
        """Play an action (a pair of them where both players move; or a chance event) at the root and keep what was found below
        it: its "statistics"; only the "evaluations" of an evaluator in Python, so that visits start from 0 without calling it
        again; or "nothing". Nothing is evaluated here."""
        one_of(keep, KEEPS, "keep")
        if keep == EVALUATIONS and is_option(self.options.evaluate):
            raise SearchError(
                f'keep="evaluations" is for evaluators in Python; {self.options.evaluate!r} is compiled into the search'
            )
        with self._changing():
            self.rooted.advance(action, keep)

    def clear(self) -> None:
        """Forget what was found. The root stays where it is."""
        with self._changing():
            self.rooted.driver = None

    def reseed(self, seed: int) -> None:
        """Draw random numbers from another seed from now on, and forget what was found: for a new game of self-play."""
        seed = whole_seed(seed)
        with self._changing():
            self.rooted.driver = None
            self.rooted.seed = self.seed = seed
            self._settings = self._settings | {"seed": seed}

    def back(self) -> None:
        """Undo the last `advance`. What was found there is still there, unless the search runs on a compact tree (one thread,
        `Rollout` or `Uniform`, no graph) or memory was collected since."""
        with self._changing():
            self.rooted.back()

    @property
    def position(self) -> Any:
        """Where the root is."""
        return self.rooted.position

    # --- the graph as a whole ---

    @property
    def graph(self) -> GraphView:
        """The whole tree or graph, as data: arrays of nodes and edges, JSON, Graphviz text, a drawing."""
        with self._reading():
            return graph_view(self.rooted.searched(), self.game, self._settings)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tree or graph, the root's position and the state of the random generator into a file."""
        terms = self._terms()
        with self._reading():
            driver = self.rooted.searched()
            assert self.rooted.history is not None
            files.save(Path(path), terms, driver, self.rooted.position, self.rooted.history, self._settings)

    def load(self, path: str | PathLike[str], position: Any = None) -> None:
        """Continue from a file that `save` wrote; the game and the options that decide what is in memory must be the same. If
        its position was set up, and not played from the start, pass that as well: records in files are not trusted."""
        terms = self._terms()
        with self._changing():
            with files.opened(Path(path), terms, position) as saved:
                driver = make.driver_at(self.rooted.setting, self.rooted.allocate(), saved.position, saved.history, self.seed)
                saved.fill(driver)
            self.rooted.replace(driver, saved.position, saved.history)

    def _terms(self) -> files.Terms:
        return files.terms(self.game, self.rooted.needs, not is_option(self.options.evaluate))

    def staleness(self) -> Staleness:
        """How far nodes are from the values their children imply: the largest and the mean difference."""
        with self._reading():
            return self._on_graph("staleness").staleness()

    def sweep(self) -> int:
        """Update every node from its children until nothing changes; returns the number of passes."""
        with self._changing():
            return self._on_graph("sweep").sweep()

    def _on_graph(self, what: str) -> OnGraph:
        if not isinstance(self.rooted.driver, OnGraph) or not self.rooted.needs.merge:
            raise SearchError(f"{what}() is for graphs that were searched: Search(..., graph=True), then run()")
        update = self.rooted.setting.graph_rules.update
        if keeps_means(update):
            raise SearchError(f"{what}() is not for {type(update).__name__}(), whose edges keep means of their own")
        self.rooted.searched()
        return self.rooted.driver

    # --- the loop ---

    def _search(self, visits: int | None, total: int | None, seconds: float | None, to: Restriction) -> Result:
        is_new = self.rooted.driver is None
        before = self.rooted.driver.evaluated if self.rooted.driver is not None else 0
        with self._losing_nothing() if is_new else contextlib.nullcontext():
            driver = self.rooted.ready()
        progress = Progress(driver, max(driver.evaluated - before, 0), to)
        goal = progress.left(visits, total)
        progress.stopped_by = "visits" if visits is not None and goal == visits else "total"
        reported, count = progress.began, driver.least
        priors = self.priors_for(progress, is_new)
        if to.only is None:
            plan_root(driver, int(min(goal, NEVER)), self.rooted.random(progress.kept, 2))
        with priors_at_root(driver, priors), restricted(driver, to), sweeping_beside(driver, self._chosen.stale):
            while progress.done < goal:
                now = time.perf_counter()
                if self._stop.is_set():
                    if is_new and not progress.done and self._thread is None:
                        self.rooted.driver = None
                        raise KeyboardInterrupt  # there is nothing to show
                    progress.stopped_by = "Ctrl-C" if self._thread is None else "stop"
                    break
                if seconds is not None and progress.elapsed() >= seconds:
                    progress.stopped_by = "seconds"
                    break
                if self.on_progress is not None and progress.done and now - reported >= PROGRESS_EVERY:
                    reported = now
                    if self._report(self.result_of(progress)):
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
        return self.result_of(progress)

    def priors_for(self, progress: Progress, is_new: bool = False) -> np.ndarray | None:
        """The root's priors for a run, if they are not its own. If the evaluator raises, a tree that is new is discarded."""
        try:
            random = None if self.noise is None else self.rooted.random(progress.kept, 1)
            return priors_for_run(progress.driver, self.rooted.position, self.noise, random)
        except BaseException:
            if is_new:
                self.rooted.driver = None
            raise

    @contextlib.contextmanager
    def _losing_nothing(self) -> Iterator[None]:
        """While there is no result yet: Ctrl-C need not wait for the compiler, and what was begun is discarded."""
        try:
            with nothing_to_lose():
                yield
        except KeyboardInterrupt:
            self.rooted.driver = None
            raise

    def _report(self, result: Result) -> bool:
        """Pass a result to `on_progress`; returns whether the search should stop."""
        assert self.on_progress is not None
        with released():
            return bool(self.on_progress(result))

    def result_of(self, progress: Progress, lines: bool = True) -> Result:
        """What a run has found so far."""
        return self.rooted.result(progress, self.final, self._settings, lines)

    @contextlib.contextmanager
    def _changing(self, on_interrupt: Callable[[], bool] | None = None) -> Iterator[None]:
        with self._use.changing(on_interrupt), self.rooted.working():
            self.check_idle()
            yield

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._use.reading():
            self.check_idle()
            yield

    def check_idle(self) -> None:
        """Raise if a run in the background or the caller's own loop is under way."""
        if self._thread is not None:
            raise SearchError("a search is running in the background: stop() or wait() for it first")
        if self._leaves is not None:
            raise SearchError("leaves of ask() are out: give tell() their priors and values, or take them back by tell(leaves)")
