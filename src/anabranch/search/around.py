"""What happens around a search: while it runs, Ctrl-C stops it, the root's priors are noisy, one action takes all
simulations, a thread sweeps beside it; how long a slice is, so that all this is looked at often enough.

Context managers undo what they did. `searcher.py` enters them; they know drivers (`drive.py`), and nothing of `Search`.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from anabranch.games.rules import CHANCE
from anabranch.search.drive import Driver, OnGraph
from anabranch.search.final import Dirichlet, noisy
from anabranch.search.read import edges_of
from anabranch.search.stale import Sweeping

SLICE = 0.02  # seconds in a kernel between two looks at the clock and at Ctrl-C
FIRST_SLICE = 1  # simulations, before their speed is known: an evaluator in Python may be slow


def next_slice(count: int, done: int, elapsed: float, seconds: float | None) -> int:
    """How many simulations to run next so that it takes about SLICE seconds, less if the time is nearly up."""
    wanted = SLICE if seconds is None else min(SLICE, max(seconds - elapsed, 0.0))
    return max(1, min(int(done / elapsed * wanted), 4 * count))


@contextlib.contextmanager
def ctrl_c_stops(stop: threading.Event) -> Iterator[None]:
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


@contextlib.contextmanager
def noise_at_root(driver: Driver, noise: Dirichlet | None, random: np.random.Generator) -> Iterator[None]:
    """Noise on the root's priors while searching; the tree itself stays clean. Chance keeps its probabilities."""
    if noise is None or driver.graph.nodes["player"][driver.root] == CHANCE:
        yield
        return
    edges = edges_of(driver.graph, driver.root)
    clean = edges["prior"].copy()
    edges["prior"] = noisy(noise, clean, random)
    try:
        yield
    finally:
        edges_of(driver.graph, driver.root)["prior"] = clean  # the root may have moved in memory


@contextlib.contextmanager
def only_action(driver: Driver, action: int | None) -> Iterator[None]:
    """Send all simulations to one action at the root."""
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
def sweeping_beside(driver: Driver, stale: Any) -> Iterator[None]:
    """Where `stale` is `Sweeping`: sweep the graph in a thread beside the search, and once more at its end."""
    if not isinstance(stale, Sweeping) or not isinstance(driver, OnGraph):
        yield
        return
    done = threading.Event()
    pause = stale.pause

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
