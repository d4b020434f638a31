"""Many searches of one game that share every call of their evaluator: self-play, matches, whole sets of positions.

    fleet = Fleet(ConnectFour(), 64, evaluate=Network("net.onnx", batch=256), select=PUCT())
    for result in fleet.run(positions, visits=800): ...

A call has up to `batch` leaves, the same number from each search: with as many searches as that, each has only one leaf under
way at a time, and virtual losses play no part.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.objects import ObjectGame
from anabranch.search.checks import as_game, at_least_one, check_limits, is_function, parse_memory
from anabranch.search.drivers.base import NEVER
from anabranch.search.drivers.batch import BatchDriver, Stack, batch_of, rows_like
from anabranch.search.loops.batch import LEFT_OUT
from anabranch.search.memory.graph import Graph, row_of
from anabranch.search.results.result import Result
from anabranch.search.results.roots import Roots, of_results, read_roots
from anabranch.search.run.exclusive import Exclusive
from anabranch.search.run.progress import FULL_COUNTERS, Progress
from anabranch.search.run.scope import next_slice, plan_root, priors_at_root
from anabranch.search.searcher import Search
from anabranch.search.select.base import check_limits_of_run


class Fleet:
    """So many searches side by side."""

    def __init__(
        self, game: Any, size: int, *, evaluate: Callable[..., Any], memory: int | str = "1GB", seed: int = 0, **options: Any
    ) -> None:
        """`evaluate`: f(states) -> (priors, values) or a `Network`; `memory`: of all searches together; `options`: those of
        `Search`."""
        self.game = as_game(game)
        if isinstance(self.game, ObjectGame) or not is_function(evaluate):
            raise SearchError(
                "a Fleet shares batches of a compiled game's positions: give it a Game and a Python evaluator or a Network"
            )
        if options.get("threads", 1) != 1:
            raise SearchError(f"threads={options['threads']}: a Fleet has one; its evaluator may have more")
        at_least_one(size, "size")
        each = parse_memory(memory) // size
        self.searches = [
            Search(self.game, evaluate=evaluate, memory=each, seed=seed + number, **options) for number in range(size)
        ]
        self.evaluate = evaluate
        graph = self.searches[0].rooted.allocate()
        assert isinstance(graph, Graph)
        self._graph = rows_like(graph, size)
        self._stack: Stack | None = None
        self._use = Exclusive()
        for number, search in enumerate(self.searches):
            search.rooted.reserved = row_of(self._graph, number)

    def __len__(self) -> int:
        return len(self.searches)

    def run(
        self,
        positions: Sequence[Any] | None = None,
        visits: int | Sequence[int] | None = None,
        total: int | None = None,
        seconds: float | None = None,
        lines: bool = True,
    ) -> list[Result | None]:
        """Search one position in each search (by default its root), under the limits of `Search.run`; `visits` may also be one
        number for each. A search whose position is None does not run, and its result is None. Without `lines`, principal
        variations have only their first action: reading them takes longer than a small search."""
        with self._searched(positions, visits, total, seconds) as tallies:
            return [self.searches[s].result_of(tallies[s], lines) if s in tallies else None for s in range(len(self))]

    def roots(self, positions: Sequence[Any], visits: int | Sequence[int], regularized: bool = False) -> Roots:
        """The same for self-play, without anything to be read by people: one position in each search, and what was found as
        arrays. The exact regularised policy is among them if it is asked for."""
        with self._searched(positions, visits, None, None) as tallies:
            if len(tallies) < len(self):
                raise SearchError("roots() wants a position for each search; run() can leave some out")
            assert self._stack is not None
            done = [progress.done for progress in tallies.values()]
            found = None if regularized else read_roots(self.game, self.searches[0].final, self._stack, done)
            if found is not None:
                return found
            results = [search.result_of(tallies[s], lines=False) for s, search in enumerate(self.searches)]
            return of_results(self.game, results, regularized)

    @contextlib.contextmanager
    def _searched(
        self, positions: Sequence[Any] | None, visits: int | Sequence[int] | None, total: int | None, seconds: float | None
    ) -> Iterator[dict[int, Progress]]:
        """Search, and let what was found be read: how each search went, by its number."""
        wanted = [search.position or self.game.start() for search in self.searches] if positions is None else list(positions)
        if len(wanted) != len(self):
            raise SearchError(f"{len(wanted)} positions for {len(self)} searches; put None where one is to be left out")
        limits: list[int | None] = list(visits) if isinstance(visits, Sequence) else [visits] * len(self)
        if len(limits) != len(self):
            raise SearchError(f"{len(limits)} numbers of visits for {len(self)} searches")
        active = [s for s, position in enumerate(wanted) if position is not None]
        for s in active:
            check_limits(limits[s], total, seconds)
            check_limits_of_run(self.searches[s].options.select, limits[s], total)
        with self._use.changing():
            wanted = [None if wanted[s] is None else search.rooted.checked(wanted[s]) for s, search in enumerate(self.searches)]
            for s in active:
                self.searches[s].rooted.set_root(wanted[s])
            with contextlib.ExitStack() as working:
                for search in self.searches:  # a rule that raises leaves all of them half done
                    working.enter_context(search.rooted.working())
                yield self._run(active, limits, total, seconds)

    def _run(
        self, active: list[int], limits: list[int | None], total: int | None, seconds: float | None
    ) -> dict[int, Progress]:
        """Run these searches from their roots; returns how each went."""
        stack = self._gathered()
        before = [driver.evaluated for driver in stack.drivers]
        stack.run(self._counts(active, [0] * len(active)), self.evaluate)  # plants new roots
        tallies = {s: Progress(stack.drivers[s], stack.drivers[s].evaluated - before[s]) for s in active}
        with contextlib.ExitStack() as undo:
            priors = {s: self.searches[s].priors_for(progress) for s, progress in tallies.items()}  # of all, or of none
            for s, progress in tallies.items():
                random = self.searches[s].rooted.random(progress.kept, 2)
                plan_root(progress.driver, int(min(progress.left(limits[s], total), NEVER)), random)
                undo.enter_context(priors_at_root(progress.driver, priors[s]))
            self._search(stack, tallies, limits, total, seconds)
        return tallies

    def _search(
        self, stack: Stack, tallies: dict[int, Progress], limits: list[int | None], total: int | None, seconds: float | None
    ) -> None:
        """Run until every search has reached a limit; in slices, if one of the limits is a time."""
        count, clock = NEVER if seconds is None else stack.leaves, next(iter(tallies.values()), None)
        while clock is not None:
            left = [0 if progress.driver.proven else progress.left(limits[s], total) for s, progress in tallies.items()]
            for i, progress in enumerate(tallies.values()):
                if left[i] and not progress.countable():
                    progress.stopped_by = progress.stopped_by or FULL_COUNTERS
                left[i] = min(left[i], progress.countable())
            if seconds is not None and clock.elapsed() >= seconds:
                left = [0] * len(left)
                for progress in tallies.values():
                    progress.stopped_by = progress.stopped_by or "seconds"
            if not any(left):
                return
            goals = self._counts(list(tallies), [min(each, NEVER) for each in left])
            done = stack.run(goals, self.evaluate, -(-count // stack.leaves))
            for s, progress in tallies.items():
                progress.count(int(done[s]))
                stack.drivers[s].rest()
                if progress.driver.proven or progress.left(limits[s], total) <= 0:
                    progress.stopped_by = progress.stopped_by or ("proven" if progress.driver.proven else "visits")
            most = max(progress.done for progress in tallies.values())
            if seconds is not None:
                count = next_slice(count, most, clock.elapsed(), seconds, stack.leaves)

    def _counts(self, active: list[int], numbers: Sequence[float]) -> np.ndarray:
        counts = np.full(len(self), LEFT_OUT, np.int64)
        counts[active] = np.array(numbers, np.int64)
        return counts

    def advance(self, actions: Sequence[int | str | None], keep: str = "statistics") -> None:
        """Play an action in each search (None: leave that one as it is), and keep what was found below it."""
        if len(actions) != len(self):
            raise SearchError(f"{len(actions)} actions for {len(self)} searches; put None where none is to be played")
        with self._use.changing():
            played = [(search, action) for search, action in zip(self.searches, actions, strict=True) if action is not None]
            for search, action in played:  # all of them are legal, or none is played
                if search.position is not None:
                    search.rooted.play(action)
            for search, action in played:
                search.advance(action, keep)

    def _gathered(self) -> Stack:
        """All drivers in the rows of one stack."""
        for search in self.searches:
            search.check_idle()
            if search.rooted.driver is None:
                if search.rooted.position is None:
                    search.rooted.set_root(None)
                search.rooted.driver = search.rooted.new_driver()
        drivers = [search.rooted.driver for search in self.searches if isinstance(search.rooted.driver, BatchDriver)]
        if self._stack is None or any(driver.stack is not self._stack for driver in drivers):
            self._stack = Stack(drivers, self._graph, max(1, math.ceil(batch_of(self.evaluate) / len(self))))
        return self._stack
