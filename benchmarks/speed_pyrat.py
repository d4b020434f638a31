"""Simultaneous moves: simulations a second of PyRat beside Connect Four, both with the uniform evaluator; a whole game on a
maze.
"""

import time

from anabranch import Search, Uniform
from anabranch.games import ConnectFour, PyRat
from anabranch.games.game import Game
from measure import ROUNDS, Figure, alternate, cpu_seconds, main, median_speed, progress

SIMULATIONS = 20_000
LEAST = 0.25  # of Connect Four's speed
GAME_VISITS = 500
COMMAND = "python benchmarks/speed_pyrat.py"


def cost(game: Game, simulations: int, seed: int) -> float:
    """CPU seconds a simulation from the start, on a graph."""
    search = Search(game, evaluate=Uniform(), graph=True, seed=seed)
    search.run(game.start(), visits=1)  # compile
    return cpu_seconds(lambda: search.run(visits=simulations)) / simulations


def beside_connect_four(rounds: int, simulations: int) -> Figure:
    """A quarter of Connect Four's speed is wanted: a turn of PyRat has up to 25 pairs of actions, and two policies."""
    rat, four = PyRat(preset="7x7"), ConnectFour()
    found = alternate(lambda n: cost(rat, simulations, n), lambda n: cost(four, simulations, n), rounds)
    progress(f"PyRat beside Connect Four: {found.ratio:.2f}")
    return Figure(
        what=f"PyRat 7x7 from the start, {simulations:,} simulations on a graph, uniform evaluator, beside Connect Four",
        ours=median_speed(found.ours),
        peer=median_speed(found.peer),
        ratio=f"{found.ratio:.2f}",
        target=f">= {LEAST}",
        met=found.ratio >= LEAST,
        command=COMMAND,
        data=found.data(),
    )


def whole_game(visits: int) -> Figure:
    """Both players search every turn of a game on a maze with walls and mud."""
    game = PyRat(seed=1)
    search = Search(game, graph=True)
    search.run(game.start(), visits=2)  # compile
    position, began = game.start(), time.perf_counter()
    while not position.is_over:
        best = search.run(position, visits=visits).best
        position = position.play(best)
        if not position.is_over:
            search.advance(best)
    seconds, turns = time.perf_counter() - began, len(position.moves)
    first, second = position.rewards
    progress(f"a game on 21x15: {seconds:.1f} s for {turns} turns")
    return Figure(
        what=f"PyRat 21x15 with walls and mud: a game with {visits} simulations a turn and greedy playouts",
        ours=f"{seconds:.1f} s, {turns} turns, {first:g} to {second:g} cheese",
        peer="",
        ratio=f"{visits * turns / seconds:,.0f} simulations/s",
        target="reported",
        met=True,
        command=COMMAND,
        data={"seconds": seconds, "turns": turns},
    )


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    rounds, simulations = (1, SIMULATIONS // 10) if quick else (ROUNDS, SIMULATIONS)
    return [beside_connect_four(rounds, simulations), whole_game(20 if quick else GAME_VISITS)]


if __name__ == "__main__":
    main(run, __doc__)
