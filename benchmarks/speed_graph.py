"""What a graph costs: UCT on Connect Four from the start, a graph against a tree, both ours, in one run.

A graph that always goes on to a leaf does the same work a simulation as a tree, and looks positions up besides: its simulations
a second are held against the tree's. One that stops at what is known well enough spares evaluations, so those are what is
counted there. Both sides take the same seeds, new ones every round. Timed is `Search.run` on a search that has its memory and
its root already.
"""

import statistics
from collections.abc import Callable
from typing import Any

from anabranch import UCT, Result, Search
from anabranch.games import ConnectFour
from anabranch.graphs import CatchUp, Continue, GraphOptions, Idempotent, Incremental, Stop
from measure import ROUNDS, Comparison, Figure, alternate, cpu_seconds, main, median_speed, progress

C = 1.4
RATED = 100_000
SEEDS_A_ROUND = {10_000: 20, RATED: 5, 1_000_000: 2}
FIRST_SEED = 1
MEMORY = "2GB"
RATIO_TARGET = 0.5
UPDATES = {"Idempotent()": Idempotent(), "Incremental()": Incremental(), "CatchUp(0.01)": CatchUp(0.01)}
COMMAND = "python benchmarks/speed_graph.py"


def simulations_of(result: Result) -> int:
    """What is counted where all simulations go on to a leaf."""
    return result.stats.simulations


def evaluations_of(result: Result) -> int:
    """What is counted where some stop before."""
    return result.stats.evaluations


UNITS: dict[str, tuple[Any, Callable[[Result], int]]] = {  # what is counted, for which graph
    "simulations": (Continue(), simulations_of),
    "evaluations": (Stop(), evaluations_of),
}


def cost(simulations: int, seed: int, unit: Callable[[Result], int], options: dict[str, Any]) -> float:
    """CPU seconds a unit of one search."""
    game = ConnectFour()
    search = Search(game, select=UCT(c=C), seed=seed, memory=MEMORY, **options)
    search.run(game.start(), visits=1)
    results: list[Result] = []
    seconds = cpu_seconds(lambda: results.append(search.run(visits=simulations)))
    assert not results[0].memory_full
    return seconds / unit(results[0])


def compare(simulations: int, unit: Callable[[Result], int], options: dict[str, Any], rounds: int) -> Comparison:
    """A graph with these options against a tree, for searches of this size."""
    count = SEEDS_A_ROUND[simulations]

    def side(options: dict[str, Any]) -> Callable[[int], float]:
        def mean_cost(number: int) -> float:
            first = FIRST_SEED + number * count
            return statistics.mean(cost(simulations, seed, unit, options) for seed in range(first, first + count))

        return mean_cost

    return alternate(side(options), side({}), rounds)


def figure(simulations: int, what: str, update: str | None, rounds: int) -> Figure:
    """One comparison; without a named update it is the default, which has a target at one size."""
    ahead, unit = UNITS[what]
    options = {"graph": GraphOptions(ahead=ahead) if update is None else GraphOptions(UPDATES[update], ahead)}
    cost(10, FIRST_SEED, unit, options), cost(10, FIRST_SEED, unit, {})  # compile
    comparison = compare(simulations, unit, options, rounds)
    name = ", ".join(part for part in ("graph", update, f"{type(ahead).__name__}()") if part)
    rated = simulations == RATED and update is None
    measured = Figure(
        what=f"Connect Four, {name}, {simulations:,} simulations: {what} a second",
        ours=median_speed(comparison.ours),
        peer=f"{median_speed(comparison.peer)} (tree)",
        ratio=f"{comparison.ratio:.2f}",
        target=f">= {RATIO_TARGET}" if rated else "",
        met=not rated or comparison.ratio >= RATIO_TARGET,
        command=COMMAND,
        data=comparison.data(),
    )
    progress(f"{measured.what}: {measured.ours} to {measured.peer}, {measured.ratio}")
    return measured


def run(quick: bool = False) -> list[Figure]:
    """By size with the default update, then by update."""
    rounds = 2 if quick else ROUNDS
    cases = [(size, what, None) for size in list(SEEDS_A_ROUND)[: 2 if quick else None] for what in UNITS]
    cases_of_updates = [(RATED, what, update) for update in UPDATES for what in UNITS]
    return [figure(*case, rounds) for case in (*cases, *cases_of_updates)]


if __name__ == "__main__":
    main(run, __doc__)
