"""Go: light playouts against hand-written C++, UCT against OpenSpiel's C++, and what MoGo's playouts cost.

Playouts start from the empty board. The C++ (`native/go_light.cpp` with -DUNIFORM) draws uniformly among legal moves that fill
no own eye, as `Light` does. UCT runs with light playouts on our side and OpenSpiel's own on the other; theirs fill eyes and
stop at 162 moves, so simulations are compared, which is what a user of either waits for. Two processes at once show what they
take from each other (caches, memory); their speeds are by CPU time too.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import UCT, Rollout, Search
from anabranch.games import rules
from anabranch.games.go import Go, Light, MoGo
from anabranch.games.playout import begin, is_enough, pick
from anabranch.jit import kernel
from anabranch.jit.random import generator
from measure import ROUNDS, Comparison, Figure, alternate, built, child_cpu_seconds, cpu_seconds, main, median_speed, progress
from speed_openspiel import C, bot

SOURCE = Path(__file__).parent / "native" / "go_light.cpp"
KOMI = 6.5
PLAYOUTS = {9: 100_000, 13: 30_000, 19: 10_000}
SIMULATIONS = 10_000
LIGHT_TARGET, UCT_TARGET, MOGO_TARGET, TOGETHER_TARGET = 0.9, 8.0, 0.28, 0.93
COMMAND = "python benchmarks/speed_go.py"


@kernel
def play_out(states, policy, count, random, rewards):
    """Play so many playouts from states[0] on states[1]; the number of plies."""
    plies = 0
    for _ in range(count):
        states[1] = states[0]
        state = states[1]
        begin(policy, state)
        ply = 0
        while not rules.is_over(state) and not is_enough(policy, state, ply):
            rules.play(state, pick(policy, state, random), rewards)
            ply += 1
        rules.returns(state, rewards, random)
        plies += ply
    return plies


def our_cost(size: int, policy: Any, playouts: int, seed: int) -> float:
    """CPU seconds a playout."""
    states = np.concatenate([Go(size, komi=KOMI).start().record()] * 2)
    random, rewards = generator(seed), np.zeros(2)
    play_out(states, policy, 1, random, rewards)  # compile
    return cpu_seconds(lambda: play_out(states, policy, playouts, random, rewards)) / playouts


def light(rounds: int, playouts: int) -> Figure:
    """Light 9x9 playouts on both sides."""
    program = built(SOURCE, "-DUNIFORM")

    def peer(number: int) -> float:
        return child_cpu_seconds(program, str(playouts), str(number + 1)) / playouts

    return _figure(
        "Go 9x9, light playouts, against hand-written C++",
        alternate(lambda number: our_cost(9, Light(), playouts, number + 1), peer, rounds),
        LIGHT_TARGET,
    )


def uct(rounds: int, simulations: int) -> Figure:
    """UCT on 9x9 on both sides."""
    import pyspiel

    game, their_game = Go(9, komi=KOMI), pyspiel.load_game(f"go(board_size=9,komi={KOMI})")

    def ours(number: int) -> float:
        search = Search(game, select=UCT(c=C), evaluate=Rollout(policy=Light()), seed=number + 1)
        return cpu_seconds(lambda: search.run(game.start(), visits=simulations)) / simulations

    def peer(number: int) -> float:
        searcher, state = bot(their_game, simulations, number + 1), their_game.new_initial_state()
        return cpu_seconds(lambda: searcher.mcts_search(state)) / simulations

    ours(0)  # compile
    what = f"Go 9x9 UCT with light playouts, {simulations:,} simulations, against OpenSpiel"
    return _figure(what, alternate(ours, peer, rounds), UCT_TARGET)


def mogo(size: int, rounds: int, playouts: int) -> Figure:
    """MoGo's playouts beside light ones; rated on 9x9."""
    comparison = alternate(
        lambda number: our_cost(size, MoGo(), playouts, number + 1),
        lambda number: our_cost(size, Light(), playouts, number + 1),
        rounds,
    )
    what = f"Go {size}x{size}, MoGo's playouts, beside light ones"
    return _figure(what, comparison, MOGO_TARGET if size == 9 else 0.0)


def together(rounds: int, playouts: int) -> Figure:
    """Two processes at once beside one alone."""
    child = [sys.executable, __file__, "--playouts", str(playouts)]

    def both(number: int) -> float:
        processes = [subprocess.Popen([*child, str(i)], stdout=subprocess.PIPE, text=True) for i in (1, 2)]
        return max(json.loads(process.communicate()[0])["cost"] for process in processes)

    def alone(number: int) -> float:
        return float(json.loads(subprocess.run([*child, "1"], capture_output=True, text=True, check=True).stdout)["cost"])

    return _figure(
        "Go 9x9, light playouts, the slower of two processes, beside one alone", alternate(both, alone, rounds), TOGETHER_TARGET
    )


def _figure(what: str, comparison: Comparison, target: float) -> Figure:
    figure = Figure(
        what=what,
        ours=median_speed(comparison.ours),
        peer=median_speed(comparison.peer),
        ratio=f"{comparison.ratio:.2f}",
        target=f">= {target:g}" if target else "reported",
        met=comparison.ratio >= target,
        command=COMMAND,
        data=comparison.data(),
    )
    progress(f"{figure.what}: {figure.ours} to {figure.peer}, {figure.ratio}")
    return figure


def run(quick: bool = False) -> list[Figure]:
    """All of it."""
    rounds, part = (2, 10) if quick else (ROUNDS, 1)
    return [
        light(rounds, PLAYOUTS[9] // part),
        uct(rounds, SIMULATIONS // part),
        *(mogo(size, rounds, playouts // part) for size, playouts in PLAYOUTS.items()),
        together(rounds, PLAYOUTS[9] // part),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--playouts"]:
        print(json.dumps({"cost": statistics.median(our_cost(9, Light(), int(sys.argv[2]), i) for i in range(3))}))
    else:
        main(run, __doc__)
