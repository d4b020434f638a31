"""What surrounds a run: the root's priors for it, a thread that sweeps in the background, and the length of a slice, so that
the clock is read often enough. (Which actions it may take at the root: `restrict.py`.)

Context managers undo what they did. `searcher.py` enters them; they know drivers (`drivers/base.py`), but not `Search`.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from anabranch.games.rules import CHANCE
from anabranch.search.backup.propagate import sweep_pause
from anabranch.search.drivers.base import Driver, OnGraph
from anabranch.search.evaluate.python import ask_root_priors
from anabranch.search.results.read import adjusted_priors, edge_records
from anabranch.search.select.base import plan_simulations

SLICE = 0.02  # seconds in a kernel between two checks of the clock and of Ctrl-C


def next_slice(count: int, done: int, elapsed: float, seconds: float | None, least: int) -> int:
    """How many simulations to run next to take about SLICE seconds, less if the time is nearly up, but at least `least`."""
    wanted = SLICE if seconds is None else min(SLICE, max(seconds - elapsed, 0.0))
    return max(least, min(int(done / elapsed * wanted), 4 * count))


def plan_root(driver: Driver, simulations: int, random: np.random.Generator) -> None:
    """Let a selection rule that plans the root's simulations do so."""
    plan_simulations(driver.rules.select, driver.graph, driver.root, simulations, random)


def priors_for_run(driver: Driver, position: Any, noise: Any, random: np.random.Generator | None) -> np.ndarray | None:
    """The root's priors for a run, where they are not those in memory: first the ones that the evaluator has for roots, then
    noise on them, which is drawn with `random`. Chance keeps its probabilities. Changes nothing."""
    if driver.graph.nodes["player"][driver.root] == CHANCE:
        return None
    edges = edge_records(driver.graph, driver.root)
    actions = edges["action"].copy()
    priors = ask_root_priors(driver.rules.evaluate, driver.game, position, actions)
    if noise is None:
        return priors
    return adjusted_priors(driver.game, noise, actions, edges["prior"].copy() if priors is None else priors, random)


@contextlib.contextmanager
def priors_at_root(driver: Driver, priors: np.ndarray | None) -> Iterator[None]:
    """While a search runs with these priors at its root, or with its own; afterwards the root's edges are as they were."""
    driver.root_priors = None
    if priors is None:
        yield
        return
    edges = edge_records(driver.graph, driver.root)
    clean = edges["prior"].copy()
    edges["prior"] = priors
    try:
        yield
    finally:
        edges = edge_records(driver.graph, driver.root)  # the root may have moved in memory
        driver.root_priors = driver.root, edges["prior"].copy()
        edges["prior"] = clean


def priors_seen(driver: Driver) -> np.ndarray | None:
    """The root's priors as the last search saw them, if they are not its own."""
    return driver.root_priors[1] if driver.root_priors is not None and driver.root_priors[0] == driver.root else None


@contextlib.contextmanager
def sweeping_beside(driver: Driver, stale: Any) -> Iterator[None]:
    """If `stale` asks for it, sweep the graph in a background thread during the search, and once more at its end."""
    pause = sweep_pause(stale)
    if pause is None or not isinstance(driver, OnGraph):
        yield
        return
    done = threading.Event()

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
