"""Drivers that run whole slices of simulations in one kernel: a compiled game, an evaluator inside the kernel.

    TreeDriver    on a compact tree
    GraphDriver   on a graph, or a tree with proofs or repetitions

Their versions for several threads are in `threads.py`. Below: `loops/tree.py` and `loops/graph.py`, the kernels.
"""

from typing import Any

import numpy as np

from anabranch.search.drivers.base import NEVER, Driver, OnGraph
from anabranch.search.evaluate.heuristic import check_advice
from anabranch.search.evaluate.no_legal_action import check_stuck
from anabranch.search.loops.graph import PATH_FULL, PROVEN, simulate_graph
from anabranch.search.loops.tree import simulate
from anabranch.search.memory.layout import MOST_VISITS, NO_NODE, REFUSED
from anabranch.search.memory.reroot import reroot
from anabranch.search.memory.tree import Tree


class TreeDriver(Driver):
    """Everything in one kernel, on a compact tree."""

    graph: Tree

    def make_root(self) -> None:
        root = int(self._simulate(NO_NODE, 0)[0])
        check_stuck(self.game, self.work)
        self.root = root

    def recount(self) -> None:
        self.countable = MOST_VISITS - int(self.graph.nodes["visits"][self.root])  # no other node has more

    def run(self, count: int, most: int) -> int:
        _, done = self._simulate(self.root, count)
        check_stuck(self.game, self.work)
        if done < count:
            self.lengthen_path()
        return done

    def _simulate(self, root: int, count: int) -> tuple[int, int]:
        select, evaluate, backup = self.rules
        return simulate(self.graph, root, select, evaluate, backup, self.limits, self.work, count)

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        self.root = int(reroot(self.graph, child)[child])
        self.root_priors = None
        self.work.states[0] = position.record()[0]


class GraphDriver(OnGraph):
    """Everything in one kernel, on a graph."""

    def make_root(self) -> None:
        root = int(simulate_graph(*self._arguments(0))[0])
        check_stuck(self.game, self.work)
        check_advice(self.graph_rules.heuristic, self.work.playout_log)
        self.root = root

    def run(self, count: int, most: int) -> int:
        _, done, why = simulate_graph(*self._arguments(count))
        self.proven = why == PROVEN
        check_stuck(self.game, self.work)
        check_advice(self.graph_rules.heuristic, self.work.playout_log)
        if why == PATH_FULL:
            self.lengthen_path()
        self.make_room()
        return done

    def _arguments(self, count: int) -> tuple[Any, ...]:
        select, evaluate, backup = self.rules
        refusals = int(self.graph.used[REFUSED]) + 1 if self.can_make_room() else NEVER
        return self.graph, self.root, select, evaluate, backup, self.graph_rules, self.limits, self.work, count, refusals
