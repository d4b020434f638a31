"""UCT on Connect Four against hand-written C++ (`native/c4_native.cpp`): speed, and how it keeps when the tree grows.

Both start from the empty board with the same exploration constant and expand a leaf on its second visit. Trees of different
seeds differ in depth by half, and a simulation costs what its depth costs; so every round takes new seeds on both sides.
Timed are the C++'s loop alone and, on our side, `Search.run` as a whole, memory's first touch included; at 10,000 simulations
the kernel call alone, since there what `run` costs once (slices, the `Result`) would pass for a cost a simulation.
"""

import statistics
from pathlib import Path
from typing import Any

from anabranch import UCT, Search
from anabranch.games import ConnectFour
from measure import ROUNDS, Comparison, Figure, alternate, built, child_json, cpu_seconds, main, median_speed, progress

SOURCE = Path(__file__).parent / "native" / "c4_native.cpp"
C = 1.41421356  # the C++ program's own
SMALL, RATED, LARGE = 10_000, 1_000_000, 5_000_000
SEEDS_A_ROUND = {SMALL: 20, 100_000: 5, RATED: 3, LARGE: 1}
FIRST_SEED = 2
MEMORY = "2GB"
RATIO_TARGET, GROWTH_TARGET = 0.7, 1.3
COMMAND = "python benchmarks/speed_native.py"


def our_seconds(simulations: int, seed: int) -> float:
    """CPU seconds for one tree of ours."""
    game = ConnectFour()
    search = Search(game, select=UCT(c=C), seed=seed, memory=MEMORY)
    if simulations > SMALL:
        return cpu_seconds(lambda: search.run(game.start(), visits=simulations))
    search.run(game.start(), visits=1)
    driver: Any = search.rooted.driver
    return cpu_seconds(lambda: driver.run(simulations - 1))


def compare(simulations: int, rounds: int = ROUNDS) -> Comparison:
    """Cost a simulation of both sides for trees of this size."""
    program, count = built(SOURCE), SEEDS_A_ROUND[simulations]

    def seeds(number: int) -> range:
        return range(FIRST_SEED + number * count, FIRST_SEED + (number + 1) * count)

    def ours(number: int) -> float:
        return statistics.mean(our_seconds(simulations, seed) for seed in seeds(number)) / simulations

    def peer(number: int) -> float:
        answers = (child_json(program, "uct", str(simulations), str(seed), str(C)) for seed in seeds(number))
        return statistics.mean(answer["cpu_sec"] for answer in answers) / simulations

    return alternate(ours, peer, rounds)


def run(quick: bool = False) -> list[Figure]:
    """Ratios by size of the tree, and the growth of the cost."""
    ConnectFour().start()
    our_seconds(SMALL, 1), our_seconds(100_000, 1)  # compile
    figures = []
    comparisons = {}
    for simulations in SEEDS_A_ROUND:
        comparison = comparisons[simulations] = compare(simulations, 2 if quick else ROUNDS)
        rated = simulations == RATED
        figure = Figure(
            what=f"Connect Four UCT, {simulations:,} simulations, against hand-written C++",
            ours=median_speed(comparison.ours),
            peer=median_speed(comparison.peer),
            ratio=f"{comparison.ratio:.2f}",
            target=f">= {RATIO_TARGET} (aim 1.0)" if rated else "",
            met=not rated or comparison.ratio >= RATIO_TARGET,
            command=COMMAND,
            data=comparison.data(),
        )
        progress(f"{figure.what}: {figure.ours} to {figure.peer}, {figure.ratio}")
        figures.append(figure)
    ours, peer = (
        statistics.median(getattr(comparisons[LARGE], side)) / statistics.median(getattr(comparisons[SMALL], side))
        for side in ("ours", "peer")
    )
    growth = Figure(
        what=f"growth of the cost a simulation from {SMALL:,} to {LARGE:,}",
        ours=f"{ours:.2f} times",
        peer=f"{peer:.2f} times",
        ratio=f"{ours / peer:.2f}",
        target=f"<= {GROWTH_TARGET}",
        met=ours / peer <= GROWTH_TARGET,
        command=COMMAND,
        data={"ours": ours, "peer": peer},
    )
    return [*figures, growth]


if __name__ == "__main__":
    main(run, __doc__)
