"""Drivers whose leaves are evaluated in batches, by a Python function or by the caller of `Search.ask`.

    BatchDriver   one search; several of them can join one `Stack`, and then share every call of the evaluator
    Stack         what they have in common: the rows of their memory, and the simulations under way

Read first: `base.py`, `loops/batch.py`. Above: `searcher.py`, `fleet.py`.
"""

import mmap
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError, SearchError
from anabranch.jit import readable
from anabranch.jit.random import generator
from anabranch.search.backup.certainty import weights_of
from anabranch.search.checks import at_least_one
from anabranch.search.drivers.base import FIRST_PATH, NEVER, OnGraph, Setting, is_forwarded
from anabranch.search.evaluate.no_legal_action import check_stuck
from anabranch.search.evaluate.python import NO_PRIORS, ask, edge_priors, has_two_ranges, read_answer
from anabranch.search.evaluate.rollout import LEAF_STATE, ROOT_STATE
from anabranch.search.loops.batch import DONE, GOES_ON, LEFT_OUT, NO_FAULT, STATUS_FIELDS, WAIT, WHY, Lanes, process_batch
from anabranch.search.loops.graph import MEMORY_FULL, PATH_FULL, PROVEN
from anabranch.search.memory.graph import Graph
from anabranch.search.memory.layout import MOST_PENDING, MOST_VISITS, NO_NODE, REFUSED

PAUSE = 1e-4  # seconds until a search tries again, when all leaves that it finds wait in other threads
SMALL = 4096  # bytes of arrays that have initial contents: counters, plans
NO_KEY = np.uint64(2**64 - 1)  # pads rows of exhausted positions: larger than any key, so that they stay sorted


def batch_of(evaluate: Any) -> int:
    """How many leaves an evaluator takes in one call."""
    return at_most_pending(getattr(evaluate, "batch", 1), "the evaluator's batch")


def at_most_pending(value: Any, name: str) -> int:
    """A number of simulations that may be under way at once."""
    if at_least_one(value, name) > MOST_PENDING:
        raise SearchError(f"{name}={value}: at most {MOST_PENDING:,} simulations of a search can be under way at once")
    return int(value)


class Answer(NamedTuple):
    """The evaluator's answer for the waiting leaves, one row each."""

    priors: np.ndarray  # f8 (leaves, actions)
    values: np.ndarray  # f8 (leaves, width)
    weights: np.ndarray  # f8 (leaves,)


class Stack:
    """Searches in the rows of common arrays."""

    def __init__(self, drivers: Sequence["BatchDriver"], graph: Graph, leaves: int) -> None:
        """`graph`: the drivers' graphs as rows; `leaves`: the most that one search may have under way."""
        self.drivers, self.graph, self.leaves = drivers, graph, leaves
        self.leader = drivers[0]  # whose rules and limits hold: all have the same, unless one runs alone
        self.roots = np.array([driver.root for driver in drivers], np.int64)
        self.lanes = self._lanes(FIRST_PATH)
        rows, first = len(drivers) * leaves, drivers[0]
        self.answer = Answer(np.empty((rows, first.game.edge_actions)), np.empty((rows, len(first.work.values))), np.ones(rows))
        self._exchange: Callable[..., Any] | None = None
        for s, driver in enumerate(drivers):
            driver.join(self, s)

    def _lanes(self, depth: int) -> Lanes:
        first, size = self.drivers[0], (len(self.drivers), 2 * self.leaves)
        longest = max(len(driver.work.exhausted) for driver in self.drivers)
        lanes = Lanes(
            states=np.empty((*size, 3), first.work.states.dtype),
            random=np.empty((len(self.drivers), 1), np.uint64),
            path_nodes=np.empty((*size, depth), np.int32),
            path_edges=np.empty((*size, depth), np.int32),
            path_rewards=np.empty((*size, depth, len(first.work.values))),
            depths=np.empty(size, np.int32),
            leaves=np.empty(size, np.int32),
            exhausted=np.full((len(self.drivers), longest, 2), NO_KEY),
            status=np.zeros((len(self.drivers), STATUS_FIELDS), np.int64),
        )
        for s, driver in enumerate(self.drivers):
            lanes.random[s] = driver.work.random
            lanes.states[s, :, ROOT_STATE] = driver.work.states[ROOT_STATE]
            lanes.exhausted[s, : len(driver.work.exhausted)] = driver.work.exhausted
        return lanes

    def enter(self, row: int) -> None:
        """Copy what has changed at the root of a search, while nothing is under way."""
        work, exhausted = self.drivers[row].work, self.lanes.exhausted
        if len(work.exhausted) > exhausted.shape[1]:
            self._replace_lanes(self.lanes.path_nodes.shape[2])
        else:
            self.lanes.states[row, :, ROOT_STATE] = work.states[ROOT_STATE]
            exhausted[row] = NO_KEY
            exhausted[row, : len(work.exhausted)] = work.exhausted

    def _replace_lanes(self, depth: int) -> None:
        before = self.lanes.status
        self.lanes = self._lanes(depth)
        self.lanes.status[:] = before
        for s, driver in enumerate(self.drivers):
            driver.join(self, s)

    # --- rounds ---

    def run(self, counts: np.ndarray, evaluate: Callable[..., Any], rounds: int = NEVER) -> np.ndarray:
        """Run up to so many simulations in each search, in up to so many batches, all leaves evaluated together; returns how
        many were done. Where a run ends does not affect the next one: only `counts` cuts batches short."""
        done, idle = np.zeros(len(counts), np.int64), np.minimum(counts, 0)
        proven = np.zeros(len(counts), bool)
        alone = np.flatnonzero(counts != LEFT_OUT)
        self.leader = self.drivers[int(alone[0]) if len(alone) == 1 else 0]
        try:
            self.exchange(counts)
            while True:
                status = self.lanes.status
                wait, why = status[:, WAIT], status[:, WHY]
                done += status[:, DONE]
                proven |= why == PROVEN
                why[proven] = PROVEN  # an exchange that starts nothing in a search does not look at its root again
                left = counts - done - wait
                rounds -= 1
                if wait.any():
                    states = self.states()
                    allowed = np.where(why == GOES_ON, left, idle) if rounds > 0 else idle
                    self.exchange(allowed, ask(evaluate, states), len(states))
                    continue
                left[why == PROVEN] = 0
                if rounds <= 0 or not (left > 0).any():
                    return done
                self._make_way()
                if not status[:, DONE].any():
                    time.sleep(PAUSE)
                self.exchange(left)
        except BaseException:
            self.withdraw()
            raise

    def _make_way(self) -> None:
        """Remove what stops searches from going on, now that nothing is under way."""
        why = self.lanes.status[:, WHY]
        if (why == PATH_FULL).any():
            self._replace_lanes(2 * self.lanes.path_nodes.shape[2])
        for driver, its_why in zip(self.drivers, why, strict=True):
            if its_why == MEMORY_FULL:
                driver.make_room()

    def exchange(self, counts: np.ndarray, answer: Any = None, heard: int = 0, forget: bool = False) -> None:
        """Back up the waiting leaves with an evaluator's answer, and start so many simulations in each search; or withdraw what
        is under way."""
        first, leader = self.drivers[0], self.leader
        select, _, backup = leader.rules
        if heard:
            rows, game = self.answer, first.game
            movers = self._movers() if has_two_ranges(game) else None
            priors, values, deviations = read_answer(answer, heard, game, rows.values.shape[1], movers)
            if priors is not None:
                priors = edge_priors(game, self.states, priors)
            columns = rows.priors.shape[1] if priors is None else priors.shape[1]  # chance may have more events than actions
            rows.priors[:heard, :columns] = 1.0 if priors is None else priors
            rows.values[:heard] = values
            rows.weights[:heard] = weights_of(backup, deviations, first.limits.scale.factor)
        refusals = self._refusals()
        how = select, backup, leader.graph_rules, leader.limits, first.work
        arguments = self.graph, self.roots, *how, self.lanes, counts, refusals, *self.answer, forget
        if self._exchange is None:
            self._exchange = process_batch.ready(*arguments)
        if self._exchange(*arguments) != NO_FAULT:
            raise EvaluatorError(NO_PRIORS)
        check_stuck(first.game, first.work)

    def _refusals(self) -> np.ndarray:
        """The count of failed allocations at which each search must stop to make room."""
        used = self.graph.used
        can_make_room = is_forwarded(used) | np.array([driver.waste or driver.may_forget for driver in self.drivers])
        return np.where(can_make_room, used[:, REFUSED] + 1, NEVER)

    def states(self) -> Any:
        """The waiting positions, as Python functions see them."""
        states, wait = self.lanes.states, self.lanes.status[:, WAIT]
        if len(wait) == 1:
            return readable(states[0, : wait[0], LEAF_STATE].copy())
        return readable(states[:, :, LEAF_STATE][np.arange(2 * self.leaves) < wait[:, None]])

    def _movers(self) -> np.ndarray:
        """The player to move in each of the waiting positions."""
        to_play = self.drivers[0].game.rule("to_play")
        return np.array([int(to_play(state)) for state in self.states()])

    def withdraw(self) -> None:
        """Withdraw what is under way."""
        self.exchange(np.full(len(self.drivers), LEFT_OUT, np.int64), forget=True)


class BatchDriver(OnGraph):
    """A compiled game whose leaves are evaluated in Python."""

    def __init__(self, setting: Setting, graph: Any, record: np.ndarray, exhausted: np.ndarray, seed: int) -> None:
        super().__init__(setting, graph, record, exhausted, seed)
        self.limits = self.limits._replace(expand_after=NEVER)  # only the evaluator knows a leaf's priors
        self.least = batch_of(self.rules.evaluate)
        self.row = 0
        self._stack: Stack | None = None

    @property
    def stack(self) -> Stack:
        """The stack of which this search is a row: one of its own, unless it has joined others."""
        if self._stack is None:
            Stack([self], row_of_one(self.graph), self.least)
        assert self._stack is not None
        return self._stack

    def join(self, stack: Stack, row: int) -> None:
        """Become a row of this stack."""
        self._stack, self.row = stack, row
        self.work = self.work._replace(random=stack.lanes.random[row])

    @property
    def root(self) -> int:
        return NO_NODE if self._stack is None else int(self._stack.roots[self.row])

    @root.setter
    def root(self, number: int) -> None:
        self.stack.roots[self.row] = number

    def enter(self, position: Any, exhausted: np.ndarray) -> None:
        super().enter(position, exhausted)
        self.stack.enter(self.row)

    def restart(self, record: np.ndarray, exhausted: np.ndarray, seed: int) -> bool:
        self.work.states[:] = record
        self.work.random[:] = generator(seed)
        self.work.ancestry[:] = 0
        self.work = self.work._replace(exhausted=exhausted)
        self.begin()
        self.root, self.proven, self.countable = NO_NODE, False, 0
        self.stack.lanes.status[self.row] = 0
        self.stack.enter(self.row)
        return True

    def make_root(self) -> None:
        if not self.has_root:
            self.stack.run(self._alone(0), self.rules.evaluate)

    def run(self, count: int, most: int) -> int:
        if len(self.stack.drivers) == 1 and self.stack.leaves != self.least:  # `ask` had batches of another size
            Stack([self], row_of_one(self.graph), self.least)
        rounds = -(-count // self.stack.leaves)
        done = int(self.stack.run(self._alone(most), self.rules.evaluate, rounds)[self.row])
        self.rest()
        return done

    def _alone(self, count: int) -> np.ndarray:
        """So many simulations in this search, while the others of the stack are left out."""
        counts = np.full(len(self.stack.drivers), LEFT_OUT, np.int64)
        counts[self.row] = count
        return counts

    def rest(self) -> None:
        """Called after a run of the stack: check whether the root is proven, and make room."""
        self.proven = self.root_is_proven()
        self.make_room()

    def ask(self, count: int) -> Any:
        """Start simulations until up to `count` leaves wait; returns their states."""
        self.count_down(2 * count)
        if self.stack.leaves != count or len(self.stack.drivers) > 1:
            Stack([self], row_of_one(self.graph), count)
        self.rest()
        try:
            self.stack.exchange(np.array([NEVER], np.int64))
        except BaseException:
            self.stack.withdraw()
            raise
        return self.stack.states()

    def tell(self, count: int, answer: Any) -> None:
        """Back up the waiting leaves, or withdraw them. If the answer is invalid, they keep waiting."""
        if answer is not None:
            self.stack.exchange(np.zeros(1, np.int64), answer, count)
        self.stack.withdraw()
        self.rest()

    def count_down(self, simulations: int) -> None:
        """Reserve so many simulations in the counters; raises if they do not fit."""
        if self.countable < simulations:
            self.recount()
        if self.countable < simulations:
            raise SearchError(f"counters are full: a search counts {MOST_VISITS:,} visits, and no more; begin a new one")
        self.countable -= simulations


def row_of_one(graph: Graph) -> Graph:
    """A stack of one graph."""
    rows: dict[str, Any] = {name: field[None] for name, field in graph._asdict().items() if isinstance(field, np.ndarray)}
    return graph._replace(**rows)


def rows_like(graph: Graph, size: int) -> Graph:
    """A stack of so many graphs like this one, which is empty."""
    fields = {
        name: np.stack([field] * size) if field.nbytes < SMALL else pages((size, *field.shape), field.dtype)
        for name, field in graph._asdict().items()
        if isinstance(field, np.ndarray)
    }
    nodes = fields["nodes"]
    return graph._replace(**fields | {"headers": nodes.view(graph.headers.dtype), "edges": nodes.view(graph.edges.dtype)})


def pages(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory in small pages, taken as they are touched: NumPy asks for huge pages, and the first touch of each of many rows
    would zero two megabytes. A forked process has its own copy."""
    size = int(np.prod(shape)) * dtype.itemsize
    if not hasattr(mmap, "MADV_NOHUGEPAGE") or size == 0:
        return np.empty(shape, dtype)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype).reshape(shape)
