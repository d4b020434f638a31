"""Drivers: where a simulation's playing and evaluating happen, and what is kept when the root moves.

    TreeDriver       a compiled game, an evaluator inside the kernel, a compact tree: whole batches of simulations in one call
    GraphDriver      the same on a graph (or a tree with proofs or repetitions)

Drivers that evaluate in Python are in `batch.py`, those that also play in Python are in `python.py`; `threads.py` has the
versions for several threads.
Above: `searcher.py`, the face. Below: `loops/tree.py` and `loops/graph.py`, the kernels.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from anabranch.jit.random import generator
from anabranch.search.backup.bounds import derive_again, derive_without
from anabranch.search.backup.graph_update import keeps_means
from anabranch.search.backup.history import change_history
from anabranch.search.backup.propagate import Staleness, measure, needs_ancestry, sort_children_first, sweep
from anabranch.search.evaluate.playout_log import PlayoutLog, new_playout_log
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.loops.graph import GraphRules
from anabranch.search.loops.steps import Rules, Work, grid_shape, tableau_shape
from anabranch.search.memory.cached_evaluations import reset_statistics, restore_root
from anabranch.search.memory.collect import collect, forget, forgets
from anabranch.search.memory.graph import MOVED, Graph, header_dtype, largest_counts, numbers
from anabranch.search.memory.layout import (
    EVALUATED,
    FORWARDINGS,
    MOST_VISITS,
    NO_NODE,
    REFUSED,
    SIMULATION,
    SLOTS,
    On,
    edge_dtype,
)
from anabranch.search.memory.tree import Tree
from anabranch.search.select.base import inner_rule
from anabranch.search.select.limits import Limits

NEVER = 2**62  # a count that is not reached
WORTHWHILE = 0.05  # share of the slots that must be waste for memory to be collected
FIRST_PATH = 256  # length of the path buffer to begin with; it doubles when a simulation goes deeper


class Setting(NamedTuple):
    """All settings of a driver."""

    game: Any
    rules: Rules
    limits: Limits
    graph_rules: GraphRules
    collect: Any  # what is dropped when memory is full: see `memory/collect.py`
    memory: int
    heuristic: Any  # an option, a Python function, or None
    threads: int
    virtual: Any  # what simulations under way count as


class Driver:
    """Runs simulations from a root; one per search."""

    graph: Tree | Graph
    root = NO_NODE
    proven = False  # whether the root's value is known
    root_priors: tuple[int, np.ndarray] | None = None  # a root, and what the last search saw instead: see `priors_at_root`
    least = 1  # simulations that it prefers to run together
    countable = 0  # simulations that can be run before a counter may be full; see `recount`

    def __init__(self, setting: Setting, graph: Any, record: np.ndarray, exhausted: np.ndarray, seed: int) -> None:
        self.setting, self.game, self.rules, self.limits = setting, setting.game, setting.rules, setting.limits
        self.graph = graph
        width = graph.edges["total"].shape[1]
        ancestry = len(graph.nodes) if needs_ancestry(setting.graph_rules.stale) else 0
        self.work = Work(
            states=np.concatenate([record] * 4),
            random=generator(seed),
            path_nodes=np.zeros(FIRST_PATH, np.int32),
            path_edges=np.zeros(FIRST_PATH, np.int32),
            path_rewards=np.zeros((FIRST_PATH, width)),
            values=np.zeros(width),
            sums=np.zeros(width),
            actions=np.zeros(self.game.edge_actions, np.int64),
            priors=np.zeros(self.game.edge_actions, np.float32),
            probabilities=np.zeros(self.game.events),
            rewards=np.zeros(self.game.players),
            returns=np.zeros(self.game.players),
            exhausted=exhausted,
            ancestry=np.zeros((4, ancestry), np.int32),
            playout_log=playout_log_of(setting, isinstance(graph, Graph) and isinstance(graph.has_amaf, On), width),
            grid=np.zeros(grid_shape(self.game)),
            tableau=np.zeros(tableau_shape(self.rules.select, self.game)),
            stuck=np.zeros(1, np.int64),
            stuck_state=record.copy(),
        )

    def make_root(self) -> None:
        """Make, evaluate and expand the root's node. If an evaluator raises, nothing has changed."""
        raise NotImplementedError

    @property
    def has_root(self) -> bool:
        """Whether that is done."""
        return self.root != NO_NODE and int(self.graph.nodes["count"][self.root]) > 0

    @property
    def evaluated(self) -> int:
        """Evaluations so far."""
        return int(self.graph.used[EVALUATED])

    def prepare(self) -> bool:
        """Ensure that simulations can start from the root; False if there is no room for it."""
        if not self.has_root:
            self.make_root()
        return self.root != NO_NODE

    def recount(self) -> None:
        """Set `countable`, the number of simulations that can be run before a counter may be full."""
        raise NotImplementedError

    def run(self, count: int, most: int) -> int:
        """Run about `count` simulations, at most `most`; returns the number done, which is 0 only if the root is proven or a
        buffer was full."""
        raise NotImplementedError

    def restart(self, record: np.ndarray, exhausted: np.ndarray, seed: int) -> bool:
        """Become what a new driver would be, now that the memory has been emptied; False if a new one has to be made."""
        return False

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        """Make the root's child the new root and keep what it reaches. Evaluates nothing: `prepare` does."""
        raise NotImplementedError

    def with_bounds_of_actions(self) -> Tree | Graph:
        """The tree or graph, with bounds (if it has any) that are valid for the root's actions."""
        return self.graph

    def retune(self, setting: Setting) -> None:
        """Continue with other parameters in the rules."""
        self.setting, self.rules = setting, setting.rules

    def lengthen_path(self) -> None:
        """Make room for simulations twice as deep."""
        self.work = longer_path(self.work)


def longer_path(work: Work) -> Work:
    """The same scratch memory, with room for simulations twice as deep."""
    depth, width = work.path_rewards.shape
    return work._replace(
        path_nodes=np.zeros(2 * depth, np.int32),
        path_edges=np.zeros(2 * depth, np.int32),
        path_rewards=np.zeros((2 * depth, width)),
    )


def playout_log_of(setting: Setting, used: bool, width: int) -> PlayoutLog:
    """The scratch memory that AMAF values and heuristics need."""
    game, evaluator, rule = setting.game, setting.rules.evaluate, inner_rule(setting.rules.select)
    playouts = evaluator.playouts if isinstance(evaluator, Rollout) else 1
    return new_playout_log(used, game.players, game.edge_actions, width, playouts, getattr(rule, "strict", True))


def is_forwarded(used: np.ndarray) -> Any:
    """Whether forwardings fill a good part of the slots of a graph, or of each of many."""
    return 2 * used[..., FORWARDINGS] > WORTHWHILE * used[..., SLOTS]


class OnGraph(Driver):
    """What all drivers on graphs share: moving the root, making room, staleness."""

    graph: Graph

    def __init__(self, setting: Setting, *arguments: Any) -> None:
        super().__init__(setting, *arguments)
        self.graph_rules = setting.graph_rules
        self.resting = threading.Lock()  # held while nodes are moved or swept
        self.begin()

    def begin(self) -> None:
        """Note that the graph is empty."""
        self.root_priors = None
        self.waste = False  # whether there may be nodes that the root does not reach
        self.refused = 0
        self.may_forget = forgets(self.setting.collect)  # whether nodes can be turned back into leaves
        self.roots_before: list[int] = []  # the latest at the end; NO_NODE: no longer in the graph

    def retune(self, setting: Setting) -> None:
        super().retune(setting)
        self.graph_rules = setting.graph_rules

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        self.roots_before.append(self.root)
        self.move_root(child, position, exhausted)

    def move_root(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        """Search from another node of the graph, or from one that does not exist yet."""
        self.root = child
        self.root_priors = None
        if child != NO_NODE:
            restore_root(self.graph, child)
        self.waste = True
        self.may_forget = forgets(self.setting.collect)
        self.proven = False
        self.graph.plan[:] = 0.0  # which was made for another root
        self.enter(position, exhausted)
        if isinstance(self.graph.has_cuts, On) and self.graph.merge:
            order = sort_children_first(self.graph, numbers(self.graph))
            change_history(self.graph, exhausted, self.limits, self.work, order)
            sweep(self.graph, self.rules.backup, self.limits, self.work, order)

    def root_is_proven(self) -> bool:
        """Whether the root's value is proven."""
        if not isinstance(self.graph.has_bounds, On) or self.root == NO_NODE:
            return False
        player = max(int(self.graph.nodes["player"][self.root]), 0)
        low, high = self.graph.bounds[self.root, :, player if self.graph.bounds.shape[2] > 1 else 0]
        return bool(low == high)

    def prepare(self) -> bool:
        root = self.root
        if not super().prepare() and root != NO_NODE:  # no room for its edges
            self.root = root
            self._renumber(collect(self.graph, root))
            super().prepare()
        return self.root != NO_NODE

    def recount(self) -> None:
        self._recount()
        if self.countable <= 0 and self.waste:  # a node that the root no longer reaches may have the full counter
            self._collect()
            self._recount()

    def _recount(self) -> None:
        simulation = int(self.graph.used[SIMULATION])
        visits, amaf_visits = largest_counts(self.graph)
        if int(self.graph.used[SIMULATION]) < simulation:  # numbering has restarted
            self.work.ancestry[:] = 0  # which holds some of the old numbers
        evaluator = self.rules.evaluate
        playouts = evaluator.playouts if isinstance(evaluator, Rollout) else 1
        left = MOST_VISITS - int(self.graph.used[SIMULATION])
        self.countable = min(MOST_VISITS - visits, (MOST_VISITS - amaf_visits) // playouts, left)

    def step_back(self, position: Any, exhausted: np.ndarray) -> bool:
        """Move the root back to where the last `advance` left, if that node still exists. What was found since counts."""
        before = self.roots_before.pop() if self.roots_before else NO_NODE
        if before == NO_NODE:
            return False
        if self.graph.nodes["flags"][before] & MOVED:  # it was a leaf then
            before = int(self.graph.nodes["moved_to"][before])
        self.move_root(before, position, exhausted)
        if not keeps_means(self.graph_rules.update):
            sweep(self.graph, self.rules.backup, self.limits, self.work, np.array([self.root], np.int32))
        return True

    def enter(self, position: Any, exhausted: np.ndarray) -> None:
        """Set the root's position, and the positions that may not occur again."""
        self.work = self.work._replace(exhausted=exhausted)
        self.work.states[0] = position.record()[0]

    def has_waste(self) -> bool:
        """Whether collecting is worthwhile: the root has moved, or forwardings fill a good part of the slots."""
        return self.waste or bool(is_forwarded(self.graph.used))

    def can_make_room(self) -> bool:
        """Whether something can be collected if memory is full."""
        return self.has_waste() or self.may_forget

    def make_room(self) -> None:
        """Collect what can be dropped, if an allocation has failed."""
        refused = int(self.graph.used[REFUSED])
        if refused == self.refused:
            return
        self.refused = refused
        with self.resting:
            if self.has_waste():
                self._collect()
            elif self.may_forget:
                new_numbers = forget(self.setting.collect, self.graph, self.root)
                if new_numbers is None:
                    self.may_forget = False
                    return
                self._renumber(new_numbers)
                if self._bounds_go_round():  # proofs must follow from what is still there: see `backup/bounds.py`
                    derive_again(self.graph, sort_children_first(self.graph, numbers(self.graph)), self.limits, self.work)

    def _collect(self) -> None:
        self._renumber(collect(self.graph, self.root))
        self.waste = False

    def _renumber(self, new_numbers: np.ndarray) -> None:
        self.root = int(new_numbers[self.root])
        self.roots_before = [int(new_numbers[root]) if root != NO_NODE else NO_NODE for root in self.roots_before]
        self.renumbered(new_numbers)

    def renumbered(self, new_numbers: np.ndarray) -> None:
        """Called when nodes have moved: `new_numbers[old]` is the new number, or NO_NODE."""

    def forget_statistics(self) -> None:
        """Reset visits, and keep evaluations."""
        reset_statistics(self.graph, self.root, numbers(self.graph))

    def with_bounds_of_actions(self) -> Graph:
        """Bounds carried round cycles are valid for the root; for its actions they are recomputed without it: see
        `backup/bounds.py`."""
        if not self._bounds_go_round():
            return self.graph
        order = self._reached()
        graph = self.graph._replace(bounds=self.graph.bounds[: int(self.graph.used[SLOTS])].copy())
        derive_without(graph, self.root, order[order != self.root], self.limits, self.work)
        return graph

    def _bounds_go_round(self) -> bool:
        """Whether bounds may have been carried round a cycle."""
        repeats = isinstance(self.graph.has_cuts, On) and self.graph.merge
        return repeats and isinstance(self.graph.has_bounds, On) and not isinstance(self.graph.has_levels, On)

    def sweep(self) -> int:
        """Sweep until nothing changes; returns the number of passes."""
        with self.resting:
            scratch = self.work._replace(**{name: getattr(self.work, name).copy() for name in ("values", "sums", "rewards")})
            return int(sweep(self.graph, self.rules.backup, self.limits, scratch, self._reached()))

    def _reached(self) -> np.ndarray:
        """All nodes that the root reaches, children first."""
        return sort_children_first(self.graph, np.array([self.root], np.int32))

    def staleness(self) -> Staleness:
        """How far nodes are from the values their children imply."""
        width = self.work.values.shape[0]
        slots = self.graph.nodes[: int(self.graph.used[SLOTS])].copy()
        copy = self.graph._replace(
            nodes=slots,
            headers=slots.view(header_dtype(width)),
            edges=slots.view(edge_dtype(width)),
            bounds=self.graph.bounds[: len(slots)].copy(),
        )
        return Staleness(*map(float, measure(copy, self._reached(), self.rules.backup, self.limits, self.work)))
