"""What the literature claims of batches, threads and reuse, measured: throughput over batch size and over threads with a
network of 6 blocks and 64 channels, the share of a move's visits that reuse saves, and memory a node.

The throughput curves go into docs/results/batches.svg.
"""

import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from anabranch import PUCT, UCT, Network, Search
from anabranch.games import ConnectFour
from anabranch.games.go import Go
from anabranch.presets import best_options
from measure import Figure, main, progress

DRAWING = Path(__file__).parents[1] / "docs" / "results" / "batches.svg"
COMMAND = "python benchmarks/claims_batches.py"
BATCHES = (1, 2, 4, 8, 16, 32, 64)
THREADS = (1, 2)
VISITS, ROUNDS = 800, 3
GAMES = 50
REUSED: dict[str, tuple[Any, dict[str, Any], int]] = {
    "Connect Four, UCT, 1,000 visits a move": (ConnectFour(), {"select": UCT()}, 1000),
    "Go 9x9, the default engine, 400 visits a move": (Go(9, komi=6.5), best_options(Go(9)), 400),
}


def reported(what: str, ours: str, data: dict[str, Any], peer: str = "", ratio: str = "") -> Figure:
    """A figure without a target."""
    return Figure(what=what, ours=ours, peer=peer, ratio=ratio, target="reported", met=True, command=COMMAND, data=data)


def speed(path: Path, batch: int, threads: int, visits: int) -> tuple[float, float]:
    """Simulations a second with a network, and how full its batches were."""
    game = ConnectFour()
    network = Network(path, batch=batch, game=game, cache=0)
    search = Search(game, select=PUCT(), evaluate=network, threads=threads, memory="100MB")
    search.run(visits=2 * batch)
    began = time.perf_counter()
    search.run(visits=visits)
    return visits / (time.perf_counter() - began), network.stats.fill


def throughput(visits: int, rounds: int) -> list[Figure]:
    """One figure a pair of batch size and threads."""
    from anabranch.nets.model import export, make_model

    game, points = ConnectFour(), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        export(make_model(game, blocks=6, channels=64), game, path)
        for _ in range(rounds):
            for threads in THREADS:
                for batch in BATCHES:
                    points.setdefault((threads, batch), []).append(speed(path, batch, threads, visits))
    base = statistics.median(rate for rate, _ in points[1, 1])
    figures = []
    for (threads, batch), found in points.items():
        rate = statistics.median(rate for rate, _ in found)
        data = {"threads": threads, "batch": batch, "simulations_per_second": rate, "fill": found[-1][1]}
        what = f"Connect Four, {visits} visits, 6x64 network, batch {batch}, {threads} thread{'s' * (threads > 1)}"
        figures.append(reported(what, f"{rate:,.0f} simulations/s", data, f"{base:,.0f}", f"{rate / base:.2f}"))
        progress(f"{figures[-1].what}: {figures[-1].ours}, batches {found[-1][1]:.0%} full")
    return figures


def reuse(name: str, games: int) -> Figure:
    """The mean share of a move's visits that were there already, in games of a search against itself."""
    game, options, visits = REUSED[name]
    shares = []
    for number in range(games):
        chance = random.Random(number)
        search, position = Search(game, seed=number, memory="200MB", **options), game.start()
        for ply in range(400):
            if position.is_over:
                break
            result = search.run(position, visits=visits)
            if ply > 0:
                shares.append(result.stats.kept / visits)
            action = result.best if ply >= 2 else chance.choice(position.legal_actions)  # so that games differ
            search.advance(action)
            position = position.play(action)
    mean = statistics.mean(shares)
    progress(f"{name}: {mean:.1%} kept")
    data = {"games": games, "moves": len(shares), "mean": mean}
    return reported(f"{name}, {games} games: visits kept at the next move, as a share of the budget", f"{mean:.1%}", data)


def memory() -> list[Figure]:
    """Bytes a position of the two layouts."""
    figures = []
    for what, options in (("tree", {}), ("graph", {"graph": True}), ("tree with priors", {"evaluate": knows_nothing})):
        stats = Search(ConnectFour(), select=PUCT(), **options).run(visits=20_000).stats
        size = stats.bytes / stats.nodes
        figures.append(reported(f"Connect Four, 20,000 visits, {what}: memory a node, edges included", f"{size:.0f} bytes", {}))
    return figures


def knows_nothing(states: Any) -> tuple[None, list[float]]:
    """An evaluator in Python."""
    return None, [0.0] * len(states)


def draw(figures: list[Figure], file: Path = DRAWING) -> None:
    """Simulations a second over batch sizes, a curve a number of threads."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "anabranch"
    from matplotlib import pyplot

    axes: Any
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for threads, colour in zip(THREADS, ("#c8453b", "#2d6a9f"), strict=True):
        points = [item.data for item in figures if item.data.get("threads") == threads]
        label = f"{threads} thread{'s' * (threads > 1)}"
        rates = [point["simulations_per_second"] for point in points]
        axes.plot([point["batch"] for point in points], rates, marker="o", color=colour, label=label)
    axes.set(xscale="log", xlabel="batch", ylabel="simulations/s", ylim=(0, None))
    axes.set_xticks(BATCHES, [str(batch) for batch in BATCHES])
    axes.set_title("Connect Four with a 6x64 network on the processor", fontsize="medium")
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    curves = throughput(100 if quick else VISITS, 1 if quick else ROUNDS)
    if not quick:
        draw(curves)
    return curves + [reuse(name, 1 if quick else GAMES) for name in REUSED] + memory()


if __name__ == "__main__":
    main(run, __doc__)
