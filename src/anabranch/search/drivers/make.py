"""From settings to memory and a driver: which layout, and which of the drivers.

Above: `searcher.py`. Below: `compiled.py`, `batch.py`, `python.py`, `threads.py`.
"""

from typing import Any

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.jit.options import is_option
from anabranch.search.checks import is_function
from anabranch.search.drivers.base import Driver, Setting
from anabranch.search.drivers.batch import BatchDriver
from anabranch.search.drivers.compiled import GraphDriver, TreeDriver
from anabranch.search.drivers.python import CallableDriver, ObjectDriver
from anabranch.search.drivers.threads import ThreadedBatchDriver, ThreadedGraphDriver, ThreadedTreeDriver
from anabranch.search.memory import graph as graphs
from anabranch.search.memory import tree as trees
from anabranch.search.memory.graph import Graph, Needs
from anabranch.search.memory.layout import Off
from anabranch.search.memory.repetition import History
from anabranch.search.memory.tree import Tree

# --- memory and driver -----------------------------------------------------------------------------------------------------


IN_TREES = frozenset({"rewards"})  # columns that a compact tree does not need: a simulation keeps the rewards of its path


def allocate(setting: Setting, needs: Needs, memory: int) -> Tree | Graph:
    """Reserve `memory` bytes, as a compact tree where that suffices."""
    game, evaluate = setting.game, setting.rules.evaluate
    width = game.value_width()
    least = 16 * (1 + game.edge_actions) * trees.node_dtype(width).itemsize
    if needs.merge:
        least += 8 * graphs.FIRST_TABLE
    if memory < least:
        raise SearchError(f"memory={memory} bytes is too little for {game!r}: give it at least {least:,}")
    try:
        if is_compact(game, evaluate, needs):
            return trees.allocate(width, memory)
        one_by_one = is_option(evaluate) or isinstance(game, ObjectGame) or is_function(setting.heuristic)
        return graphs.allocate(width, memory, needs, Off() if one_by_one else setting.virtual)
    except MemoryError:
        raise SearchError(f"memory={memory:,} bytes cannot be reserved on this machine; ask for less") from None


def is_compact(game: Game | ObjectGame, evaluate: Any, needs: Needs) -> bool:
    """Whether a compact tree suffices: no transpositions, no proofs, no repetitions, no AMAF values, no squares, no plan, edges
    in any order, nothing in Python."""
    in_kernel = isinstance(game, Game) and is_option(evaluate)
    beside = needs.columns - IN_TREES
    return in_kernel and not (needs.merge or beside or needs.plan or needs.in_order)


def clear(graph: Tree | Graph, memory: int) -> None:
    """Empty what `allocate` reserved, to be filled up to `memory` bytes."""
    if isinstance(graph, Tree):
        trees.clear(graph)
    else:
        graphs.clear(graph, memory)


def driver_at(setting: Setting, graph: Tree | Graph, position: Any, history: History, seed: int) -> Driver:
    """A driver for this tree or graph, with this position at the root."""
    record = position.record() if isinstance(position, Position) else np.zeros(1, setting.game.record)
    several = setting.threads > 1
    kind: type[Driver] = ThreadedGraphDriver if several else GraphDriver
    if isinstance(setting.game, ObjectGame):
        kind = ObjectDriver
    elif isinstance(graph, Tree):
        kind = ThreadedTreeDriver if several else TreeDriver
    elif is_function(setting.heuristic):
        kind = CallableDriver
    elif not is_option(setting.rules.evaluate):
        kind = ThreadedBatchDriver if several else BatchDriver
    driver = kind(setting, graph, record, history.exhausted(), seed)
    if isinstance(driver, ObjectDriver):
        driver.root_object = position
    return driver
