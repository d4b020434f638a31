"""What a run of a search has cost so far."""

import time
from typing import Any

from anabranch.search.drivers.base import Driver
from anabranch.search.memory.layout import EVALUATED, REFUSED
from anabranch.search.results.read import edge_records
from anabranch.search.run.restrict import UNRESTRICTED, Restriction

FULL_COUNTERS = "full counters"  # why a search stopped: `layout.MOST_VISITS`


class Progress:
    """Begins when the kernels are compiled: that time is not the search's."""

    def __init__(self, driver: Driver, planted: int = 0, to: Restriction = UNRESTRICTED) -> None:
        """`planted`: evaluations of the root just now; `to`: what the run is restricted to."""
        self.driver, self.planted, self.to = driver, planted, to
        self.countable()  # which is compiled, too
        self.began = time.perf_counter()
        self.kept = int(edge_records(driver.graph, driver.root)["visits"].sum())
        self.done = 0
        self.stopped_by = ""
        self._evaluated, self._refused = (int(driver.graph.used[which]) for which in (EVALUATED, REFUSED))

    def count(self, simulations: int) -> None:
        """So many more are done."""
        self.done += simulations
        self.driver.countable -= simulations

    def countable(self) -> int:
        """Simulations that can be run before a counter may be full; 0 if one is."""
        if self.driver.countable <= 0:
            self.driver.recount()
        return max(self.driver.countable, 0)

    def elapsed(self) -> float:
        """Seconds since then."""
        return time.perf_counter() - self.began

    def left(self, visits: int | None, total: int | None) -> float:
        """Simulations to run until one of these limits is reached."""
        infinity = float("inf")
        return min(infinity if visits is None else visits, infinity if total is None else max(total - self.kept, 0)) - self.done

    def cost(self) -> dict[str, Any]:
        """For `Result.stats`."""
        return {
            "simulations": self.done,
            "evaluations": int(self.driver.graph.used[EVALUATED]) - self._evaluated + self.planted,
            "seconds": self.elapsed(),
            "kept": self.kept,
        }

    @property
    def memory_full(self) -> bool:
        """Whether memory was asked for in vain."""
        return int(self.driver.graph.used[REFUSED]) > self._refused
