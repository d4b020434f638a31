"""What a run of a search has cost so far."""

import time
from typing import Any

from anabranch.search.drivers.base import Driver
from anabranch.search.memory.layout import EVALUATED, REFUSED
from anabranch.search.results.read import edge_records
from anabranch.search.run.restrict import UNRESTRICTED, Restriction

FULL_COUNTERS = "full counters"  # why a search stopped: `layout.MOST_VISITS`


class Progress:
    """The progress of a run. The clock starts once the kernels are compiled: that time does not count."""

    def __init__(self, driver: Driver, planted: int = 0, to: Restriction = UNRESTRICTED) -> None:
        """`planted`: evaluations of the root before the run; `to`: what the run is restricted to."""
        self.driver, self.planted, self.to = driver, planted, to
        self.countable()  # which is compiled, too
        self.began = time.perf_counter()
        self.kept = int(edge_records(driver.graph, driver.root)["visits"].sum())
        self.done = 0
        self.stopped_by = ""
        self._evaluated, self._refused = (int(driver.graph.used[which]) for which in (EVALUATED, REFUSED))

    def count(self, simulations: int) -> None:
        """Count so many more simulations as done."""
        self.done += simulations
        self.driver.countable -= simulations

    def countable(self) -> int:
        """Simulations that can be run before a counter may be full; 0 if one is."""
        if self.driver.countable <= 0:
            self.driver.recount()
        return max(self.driver.countable, 0)

    def elapsed(self) -> float:
        """Seconds since the clock started."""
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
        """Whether an allocation failed for lack of memory."""
        return int(self.driver.graph.used[REFUSED]) > self._refused
