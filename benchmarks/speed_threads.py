"""Threads: two on one shared tree beside two processes at the same time, and what they find on the solved Connect Four set."""

import multiprocessing
import statistics
import time
from typing import Any

import connect_four_set
from anabranch import UCT, Ensemble, Search
from anabranch.games import ConnectFour
from anabranch.games.go import Go
from measure import ROUNDS, Figure, main, progress

COMMAND = "python benchmarks/speed_threads.py"
GAMES: dict[str, tuple[Any, dict[str, Any], int, float]] = {
    "Connect Four": (ConnectFour(), {"select": UCT()}, 1_000_000, 0.85),
    "Go 9x9": (Go(9, komi=6.5), {"select": UCT(c=0.5)}, 100_000, 0.93),
}
FOUND_VISITS, FOUND_WITHIN = 10_000, 0.02


def seconds_of(name: str, threads: int, visits: int, seed: int, kind: Any = Search) -> float:
    """The time of a search, kernels compiled before."""
    game, options, _, _ = GAMES[name]
    kind(game, threads=threads, seed=seed, **options).run(visits=2 * threads)
    search = kind(game, threads=threads, seed=seed, **options)
    began = time.perf_counter()
    search.run(visits=visits)
    return time.perf_counter() - began


def process(name: str, visits: int, seed: int, ready: Any, out: Any) -> None:
    """One of two processes: a search of its own, begun when both are ready."""
    game, options, _, _ = GAMES[name]
    Search(game, seed=seed, **options).run(visits=2)
    search = Search(game, seed=seed, **options)
    ready.wait()
    began = time.perf_counter()
    search.run(visits=visits)
    out.put(time.perf_counter() - began)


def two_processes(name: str, visits: int, seed: int) -> float:
    """Simulations a second of both together."""
    context = multiprocessing.get_context("spawn")
    ready, out = context.Barrier(2), context.Queue()
    both = [context.Process(target=process, args=(name, visits, 2 * seed + n, ready, out)) for n in range(2)]
    for each in both:
        each.start()
    times = [out.get() for _ in both]
    for each in both:
        each.join()
    return sum(visits / each for each in times)


def beside_processes(name: str, rounds: int, part: int) -> Figure:
    """Both in turns."""
    visits, least = GAMES[name][2] // part, GAMES[name][3]
    shared, apart, summed = [], [], []
    for number in range(rounds):
        shared.append(visits / seconds_of(name, 2, visits, number))
        apart.append(two_processes(name, visits // 2, number))
        summed.append(visits / seconds_of(name, 2, visits, number, Ensemble))
        progress(f"{name}: {shared[-1]:,.0f} shared, {apart[-1]:,.0f} in two processes, {summed[-1]:,.0f} in an ensemble")
    ratios = [one / other for one, other in zip(shared, apart, strict=True)]
    ratio = statistics.median(ratios)
    return Figure(
        what=f"{name}: simulations/s of two threads on one tree, beside two processes at the same time",
        ours=f"{statistics.median(shared):,.0f}",
        peer=f"{statistics.median(apart):,.0f}",
        ratio=f"{ratio:.2f}",
        target=f">= {least}",
        met=ratio >= least,
        command=COMMAND,
        data={"shared": shared, "processes": apart, "ensemble": summed, "ratios": ratios},
    )


def found_by(kind: Any, threads: int, positions: Any, visits: int) -> float:
    """The share of positions whose right move is found."""
    game = ConnectFour()
    right = 0
    for number, row in enumerate(positions):
        search = kind(game, memory="200MB", seed=number, **{"threads": threads} if threads > 1 else {})
        right += search.run(game.position(row.moves), visits=visits).best_name == row.best
    return right / len(positions)


def strength(quick: bool) -> list[Figure]:
    """What one tree of two threads finds, and two trees added up, beside one thread."""
    positions = connect_four_set.read()[: 20 if quick else None]
    one = found_by(Search, 1, positions, FOUND_VISITS)
    figures = []
    for what, kind in (("two threads on one tree", Search), ("an ensemble of two trees", Ensemble)):
        share = found_by(kind, 2, positions, FOUND_VISITS)
        is_shared = kind is Search
        figures.append(
            Figure(
                what=f"Connect Four, {len(positions)} solved positions, {FOUND_VISITS:,} visits: right moves of {what}",
                ours=f"{share:.1%}",
                peer=f"{one:.1%} with one thread",
                ratio=f"{100 * (share - one):+.1f} points",
                target=f"within {100 * FOUND_WITHIN:g} points" if is_shared else "reported",
                met=not is_shared or share >= one - FOUND_WITHIN,
                command=COMMAND,
                data={"threads": share, "one": one},
            )
        )
    return figures


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    rounds, part = (1, 20) if quick else (ROUNDS, 1)
    return [beside_processes(name, rounds, part) for name in GAMES] + strength(quick)


if __name__ == "__main__":
    main(run, __doc__)
