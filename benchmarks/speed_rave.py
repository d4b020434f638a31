"""What RAVE and a heuristic cost: a simulation of 9x9 Go beside one of UCT with the same playouts."""

from typing import Any

from anabranch import UCT, Rave, Rollout, Search
from anabranch.games.go import Go, Light, MoGo
from anabranch.presets import best_options
from measure import ROUNDS, Figure, alternate, cpu_seconds, main, median_speed, progress

SIMULATIONS = 20_000
MOST = 1.35  # times UCT's cost
COMMAND = "python benchmarks/speed_rave.py"
PEER: dict[str, Any] = {"select": UCT(c=0.5)}


def cost(options: dict[str, Any], simulations: int, seed: int) -> float:
    """CPU seconds a simulation from the empty board."""
    game = Go(9, komi=6.5)
    search = Search(game, seed=seed, **options)
    search.run(game.start(), visits=1)  # compile
    return cpu_seconds(lambda: search.run(visits=simulations)) / simulations


def figure(
    what: str, options: dict[str, Any], peer: dict[str, Any], rounds: int, simulations: int, most: float = 0.0
) -> Figure:
    """One comparison."""
    found = alternate(lambda n: cost(options, simulations, n), lambda n: cost(peer, simulations, n), rounds)
    times = 1.0 / found.ratio
    progress(f"{what}: {times:.2f} times the cost")
    return Figure(
        what=f"Go 9x9, {simulations:,} simulations: cost of {what} beside UCT's",
        ours=median_speed(found.ours),
        peer=median_speed(found.peer),
        ratio=f"{times:.2f}",
        target=f"<= {most}" if most else "reported",
        met=not most or times <= most,
        command=COMMAND,
        data=found.data(),
    )


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    rounds, simulations = (1, SIMULATIONS // 10) if quick else (ROUNDS, SIMULATIONS)
    light = {"evaluate": Rollout(policy=Light())}
    return [
        figure("MC-RAVE with MoGo's playouts", {"select": Rave()}, PEER, rounds, simulations, MOST),
        figure("MC-RAVE with light playouts", {"select": Rave(), **light}, {**PEER, **light}, rounds, simulations, MOST),
        figure("the default engine", best_options(Go(9)), {**PEER, "evaluate": Rollout(policy=MoGo())}, rounds, simulations),
    ]


if __name__ == "__main__":
    main(run, __doc__)
