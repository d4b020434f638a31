"""Several threads on one tree or graph.

Each thread has a **worker**: its own scratch memory, random numbers, counters and share of the slots, so that threads share
only the nodes, which have locks (`memory/locks.py`), and a graph's table. Kernels release the GIL. Simulations are handed out
in portions that become smaller towards the end of a slice, so that all threads end at nearly the same time. Between slices no
thread runs, and memory is as with one thread. Read first: `base.py`, `batch.py`.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch.jit.random import generator
from anabranch.search.drivers.base import NEVER, Driver, Setting, longer_path
from anabranch.search.drivers.batch import BatchDriver, at_most_pending
from anabranch.search.drivers.compiled import GraphDriver, TreeDriver
from anabranch.search.evaluate.heuristic import check_advice
from anabranch.search.evaluate.no_legal_action import check_stuck, is_stuck
from anabranch.search.loops.graph import PATH_FULL, PROVEN, simulate_graph
from anabranch.search.loops.steps import Work
from anabranch.search.loops.tree_threads import BUNDLE, simulate_shared
from anabranch.search.memory.graph import MOVED, bare
from anabranch.search.memory.layout import (
    END,
    EVALUATED,
    FORWARDINGS,
    LIMIT,
    MERGES,
    NO_NODE,
    POSITION_COST,
    POSITIONS,
    REFUSED,
    ROOM,
    SLOT_COST,
    SLOTS,
    SPARE,
    TABLE,
    is_short,
)
from anabranch.search.memory.locks import TABLE_LOCK, Threads
from anabranch.search.memory.table import double_table
from anabranch.search.memory.tree import Tree

SMALLEST = 16  # simulations of a portion
SHARE = 1 << 14  # slots that a worker takes at least
MOST_EDGES = 2**16 - 1  # of a node
COUNTED = [POSITIONS, EVALUATED, REFUSED, MERGES, FORWARDINGS]  # by each worker separately, and added up between slices


def shared_by_threads(graph: Any, setting: Setting) -> Any:
    """The same memory, set up for several threads."""
    return graph._replace(virtual=setting.virtual, shared=Threads(np.zeros(1, TABLE_LOCK)))


class Worker:
    """What a thread does not share with others."""

    def __init__(self, driver: Driver, seed: int) -> None:
        self.graph = own_counters(driver.graph)
        work = driver.work
        copies = {name: field.copy() for name, field in work._asdict().items() if isinstance(field, np.ndarray)}
        playout_log = type(work.playout_log)(
            *(part.copy() if isinstance(part, np.ndarray) else part for part in work.playout_log)
        )
        self.work: Work = work._replace(**copies | {"random": generator(seed), "playout_log": playout_log})

    def enter(self, driver: Driver) -> None:
        """Copy what has changed between slices."""
        refresh(self.graph, driver.graph)
        self.work.states[0] = driver.work.states[0]
        self.work = self.work._replace(exhausted=driver.work.exhausted)


def own_counters(graph: Any) -> Any:
    """The graph with counters for one thread, which has no slots yet."""
    own = graph._replace(used=graph.used.copy())
    own.used[COUNTED] = 0
    own.used[END], own.used[LIMIT] = 0, own.used[SLOTS]
    if not isinstance(graph, Tree):
        own = own._replace(learnt=graph.learnt.copy())
        own.used[ROOM] = NEVER  # LIMIT bounds the memory
    return own


def refresh(own: Any, graph: Any) -> None:
    """Update the fields of a thread's graph that it does not own."""
    own.used[TABLE] = graph.used[TABLE]
    if not isinstance(graph, Tree):
        own.learnt[:] = graph.learnt


class WorkerPool:
    """Hands out simulations and slots, and adds up what was done."""

    def __init__(self, driver: Driver, threads: int, smallest: int, bundle: int) -> None:
        """`smallest`: the fewest simulations of a portion; `bundle`: those between two checks of a kernel for free slots, 0 for
        all."""
        self.driver, self.threads, self.smallest, self.bundle = driver, threads, smallest, bundle
        self.dealing = threading.Lock()
        self.left = 0
        self.reserved = 0  # positions that threads' slots may still hold, already subtracted from a graph's room

    def run(self, count: int, graphs: Sequence[Any], simulate_one: Any) -> int:
        """Let thread i call `simulate_one(i, n)` on its graph until `count` simulations are done or a call does fewer than n;
        returns how many were done. The calling thread is one of them; the others live for a slice, which costs next to
        nothing."""
        self.left = count
        make_table(self.driver.graph, count, self.reserved)
        for own in graphs:
            refresh(own, self.driver.graph)
        ends: list[Any] = [0] * self.threads

        def work(i: int) -> None:
            try:
                ends[i] = self._work(i, graphs[i], simulate_one)
            except BaseException as error:
                ends[i] = error

        others = []
        try:
            for i in range(1, self.threads):
                thread = threading.Thread(target=work, args=(i,), name=f"anabranch-{i}", daemon=True)
                thread.start()
                others.append(thread)
            work(0)
        except BaseException:  # no more threads can be started
            self.left = 0
            raise
        finally:
            for thread in others:
                thread.join()
            self._rest(graphs)
        for error in (end for end in ends if isinstance(end, BaseException)):
            raise error
        return sum(ends)

    def _work(self, i: int, own: Any, simulate_one: Any) -> int:
        """Simulate in one thread until nothing is left; returns how many were done."""
        done = 0
        while True:
            with self.dealing:
                count = min(self.left, max(self.smallest, self.left // (2 * self.threads)))
                self.left -= count
            if count == 0:
                return done
            try:
                ran = self._simulate(i, own, simulate_one, count)
            except BaseException:
                self.left = 0  # the others end soon
                raise
            done += ran
            if ran < count:
                return done

    def _simulate(self, i: int, own: Any, simulate_one: Any, count: int) -> int:
        """Simulate a portion in one thread, with more slots whenever it runs short; returns how many were done."""
        done = 0
        while True:
            with self.dealing:
                self._supply(own, self.bundle or count)
            done += simulate_one(i, count - done)
            if done == count or not is_short(own):
                return done

    def _supply(self, own: Any, count: int) -> None:
        """Give a thread slots for so many simulations, as long as there are any."""
        used, actions = self.driver.graph.used, len(self.driver.work.actions)
        wanted = count * (4 + actions)  # a leaf and a node with all its edges, each with its header
        own.used[SPARE] = 0
        if own.used[LIMIT] - own.used[SLOTS] >= wanted:
            own.used[SPARE] = wanted if self.bundle else 0
            return
        seal(self.driver.graph, own.used)
        room = int(used[LIMIT] - used[SLOTS])
        if not isinstance(self.driver.graph, Tree):
            room = min(room, int(used[ROOM] // (used[SLOT_COST] + used[POSITION_COST])))
        share = min(max(wanted + 2, SHARE), -(-room // self.threads))  # something is left for the others
        own.used[END], own.used[LIMIT] = 0, own.used[SLOTS]
        if share > 4:
            own.used[SLOTS] = used[SLOTS]
            used[SLOTS] += share
            self.reserved += share // 2
            used[ROOM] -= share * used[SLOT_COST] + share // 2 * used[POSITION_COST]
            own.used[END], own.used[LIMIT] = used[SLOTS], used[SLOTS] - 2
            own.used[SPARE] = wanted if self.bundle and share - 2 >= wanted else 0

    def dismiss(self) -> None:
        """Called when threads no longer have slots of their own, because those were collected."""
        self.driver.graph.used[ROOM] += self.reserved * self.driver.graph.used[POSITION_COST]
        self.reserved = 0

    def _rest(self, graphs: Sequence[Any]) -> None:
        """Add up what threads have counted, and seal their unused slots for code that walks through memory."""
        graph: Any = self.driver.graph
        before = None if isinstance(graph, Tree) else graph.learnt.copy()
        still = sum(max(int(own.used[END] - own.used[SLOTS]), 0) // 2 for own in graphs)
        made = sum(int(own.used[POSITIONS]) for own in graphs)
        graph.used[ROOM] += (self.reserved - still - made) * graph.used[POSITION_COST]
        self.reserved = still
        for own in graphs:
            graph.used[COUNTED] += own.used[COUNTED]
            own.used[COUNTED] = 0
            if before is not None:
                graph.learnt[:] += own.learnt - before
            seal(graph, own.used)


def make_table(graph: Any, count: int, reserved: int) -> None:
    """Make the table large enough for so many more positions, as far as there is memory for them, since it must not grow while
    threads use it."""
    if not isinstance(graph, Tree) and graph.merge:
        room = reserved + int(graph.used[ROOM]) // int(2 * graph.used[SLOT_COST] + graph.used[POSITION_COST])
        wanted = 4 * (int(graph.used[POSITIONS]) + min(count, room))
        while wanted > 3 * int(graph.used[TABLE]) and 2 * int(graph.used[TABLE]) <= len(graph.table):
            double_table(bare(graph))


def seal(graph: Any, used: np.ndarray) -> None:
    """Turn the slots that a thread has not filled into a node that nothing leads to (on a graph, a forwarding slot), so that
    all slots can be walked through."""
    first, last = int(used[SLOTS]), int(used[END])
    while first < last:
        ahead = 0 if isinstance(graph, Tree) else 1  # a header
        number, count = first + ahead, min(last - first - ahead - 1, MOST_EDGES)
        if last - (number + 1 + count) == 1:  # too little for what comes next
            count -= 2
        graph.nodes["count"][number], graph.nodes["player"][number], graph.nodes["visits"][number] = count, 0, 0
        if ahead:
            graph.nodes["flags"][number] = MOVED
        graph.edges["child"][number + 1 : number + 1 + count] = NO_NODE
        graph.edges["visits"][number + 1 : number + 1 + count] = 0
        first = number + 1 + count


# --- drivers -----------------------------------------------------------------------------------------------------------------


class ThreadedTreeDriver(TreeDriver):
    """Everything in one kernel, on a compact tree."""

    def __init__(self, setting: Setting, graph: Any, record: np.ndarray, exhausted: np.ndarray, seed: int) -> None:
        super().__init__(setting, shared_by_threads(graph, setting), record, exhausted, seed)
        self.pool, self.seed = WorkerPool(self, setting.threads, SMALLEST, BUNDLE), seed
        self.least = SMALLEST * setting.threads
        self.workers: list[Worker] = []
        self._kernel: Any = None

    def make_root(self) -> None:
        root = int(simulate_shared(*self._arguments(self, NO_NODE, 0))[0])
        check_stuck(self.game, self.work)
        self.root = root

    def run(self, count: int, most: int) -> int:
        if not self.workers:
            self.workers = [Worker(self, self.seed + i) for i in range(self.pool.threads)]
            self._kernel = simulate_shared.ready(*self._arguments(self.workers[0], self.root, count))
        done = self.pool.run(count, [worker.graph for worker in self.workers], self._simulate_one)
        for worker in self.workers:
            check_stuck(self.game, worker.work)
        return done

    def _simulate_one(self, i: int, count: int) -> int:
        worker, done = self.workers[i], 0
        while True:
            done += self._kernel(*self._arguments(worker, self.root, count - done))[1]
            if done == count or is_short(worker.graph) or is_stuck(worker.work):
                return done
            worker.work = longer_path(worker.work)

    def _arguments(self, worker: Any, root: int, count: int) -> tuple[Any, ...]:
        return worker.graph, root, *self.rules, self.limits, worker.work, count

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        super().advance(child, position, exhausted)
        self.workers = []


class ThreadedGraphDriver(GraphDriver):
    """Everything in one kernel, on a graph."""

    def __init__(self, setting: Setting, graph: Any, record: np.ndarray, exhausted: np.ndarray, seed: int) -> None:
        super().__init__(setting, shared_by_threads(graph, setting), record, exhausted, seed)
        self.pool, self.seed = WorkerPool(self, setting.threads, SMALLEST, 1), seed
        self.least = SMALLEST * setting.threads
        self.workers: list[Worker] = []
        self._kernel: Any = None

    def run(self, count: int, most: int) -> int:
        if not self.workers:
            self.workers = [Worker(self, self.seed + i) for i in range(self.pool.threads)]
            self._kernel = simulate_graph.ready(*self._arguments_of(self.workers[0], count, NEVER))
        for worker in self.workers:
            worker.enter(self)
        done = self.pool.run(count, [worker.graph for worker in self.workers], self._simulate_one)
        for worker in self.workers:
            check_stuck(self.game, worker.work)
            check_advice(self.graph_rules.heuristic, worker.work.playout_log)
        self.make_room()
        return done

    def _simulate_one(self, i: int, count: int) -> int:
        worker, done = self.workers[i], 0
        refusals = int(worker.graph.used[REFUSED]) + 1 if self.can_make_room() else NEVER
        while True:
            _, ran, why = self._kernel(*self._arguments_of(worker, count - done, refusals))
            done += ran
            if why != PATH_FULL:
                self.proven = self.proven or why == PROVEN
                return done
            worker.work = longer_path(worker.work)

    def _arguments_of(self, worker: Worker, count: int, refusals: int) -> tuple[Any, ...]:
        return worker.graph, self.root, *self.rules, self.graph_rules, self.limits, worker.work, count, refusals

    def renumbered(self, new_numbers: np.ndarray) -> None:
        self.workers = []
        self.pool.dismiss()


class BatchWorker(BatchDriver):
    """A thread's own batches on the shared graph."""

    def refusals(self) -> int:
        return NEVER  # room is made between slices

    def make_room(self) -> None:
        pass


class ThreadedBatchDriver(BatchDriver):
    """Leaves are evaluated in Python, each thread in its own batches; the evaluator must be thread-safe."""

    def __init__(self, setting: Setting, graph: Any, record: np.ndarray, exhausted: np.ndarray, seed: int) -> None:
        super().__init__(setting, shared_by_threads(graph, setting), record, exhausted, seed)
        self.pool, self.seed = WorkerPool(self, setting.threads, self.least, 0), seed
        self.least = at_most_pending(self.least * setting.threads, "the evaluator's batch times threads")
        self.workers: list[BatchWorker] = []

    def restart(self, record: np.ndarray, exhausted: np.ndarray, seed: int) -> bool:
        return False

    def run(self, count: int, most: int) -> int:
        while len(self.workers) < self.pool.threads:
            graph, seed = own_counters(self.graph), self.seed + len(self.workers)
            self.workers.append(BatchWorker(self.setting, graph, self.work.states[:1], self.work.exhausted, seed))
        for worker in self.workers:
            worker.work.states[0] = self.work.states[0]
            worker.work = worker.work._replace(exhausted=self.work.exhausted)
            worker.root, worker.limits, worker.rules, worker.graph_rules = self.root, self.limits, self.rules, self.graph_rules
            worker.stack.enter(0)
        done = self.pool.run(count, [worker.graph for worker in self.workers], self._simulate_one)
        self.proven = any(worker.proven for worker in self.workers)
        self.make_room()
        return done

    def _simulate_one(self, i: int, count: int) -> int:
        return self.workers[i].run(count, count)

    def renumbered(self, new_numbers: np.ndarray) -> None:
        self.workers = []
        self.pool.dismiss()
