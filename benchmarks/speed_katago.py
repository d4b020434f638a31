"""Speed of searches with a KataGo network: positions evaluated a second inside a search, beside the same network in its runtime
alone, on two threads; by batch; what inputs cost; other runtimes, if they are installed; and KataGo itself, if it is given.

    python benchmarks/speed_katago.py NETWORK [--katago PROGRAM] [--sizes 9 19] [--seconds 3]

Both sides are alternated in one run, in wall-clock time, since both use two threads. Run it on a quiet machine.
"""

import argparse
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.graph import OUTPUTS, build_graph
from anabranch.nets.katago.inputs import encode_inputs
from anabranch.nets.katago.search import KataGoSearch
from measure import ROUNDS, progress

THREADS, BATCHES, OWN_BATCH = 2, (1, 2, 4, 8, 16, 32), 8
KATAGO_SPEED = re.compile(r"nnEvals/s = ([0-9.]+)")
KOMI = 7.0


def positions_of(game: Go, count: int) -> list[Position]:
    """Different positions of one random game each."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(count):
        position = game.start()
        for _ in range(int(random.integers(5, 30))):
            position = position.play(int(random.choice(position.legal_actions[:-1])))
        found.append(position)
    return found


def per_second(call: Callable[[], int], seconds: float) -> float:
    """Positions a second; a call returns how many it has evaluated."""
    done, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        done += call()
    return done / passed


class Contest:
    """One board: a search and the bare runtime, with the same network."""

    def __init__(self, path: str, size: int, batch: int) -> None:
        self.game = Go(size, KOMI)
        self.net = KataGoNet(path, batch=batch, threads=THREADS, cache="512MB", game=self.game)
        self.starts = positions_of(self.game, 32)
        states = np.concatenate([position.record() for position in self.starts[:batch]])
        self.states, self.inputs = states, encode_inputs(self.game, states)

    def search(self, seconds: float, number: int) -> float:
        """Evaluations a second inside searches that begin with an empty cache."""
        search = KataGoSearch(self.game, self.net)
        search.run(self.starts[number], visits=2 * self.net.batch)
        search.net.clear()
        search.clear()
        began = time.perf_counter()
        search.run(self.starts[number], seconds=seconds)
        return search.net.stats.evaluations / (time.perf_counter() - began)

    def runtime(self, seconds: float) -> float:
        """Positions a second of the model alone."""
        model = self.net.model()
        return per_second(lambda: len(model(*self.inputs).ownership), seconds)

    def planes(self, seconds: float) -> float:
        """Positions a second of the inputs alone."""
        return per_second(lambda: len(encode_inputs(self.game, self.states)[0]), seconds)


def other_runtimes(path: str, contest: Contest, seconds: float) -> dict[str, float]:
    """Positions a second in runtimes that happen to be installed."""
    graph = build_graph(KataGoNet(path).model().network, masked=False)
    inputs = dict(zip(("planes", "globals"), contest.inputs, strict=True))
    found = {}
    try:
        import openvino
    except ImportError:
        progress("OpenVINO is not installed")
    else:
        hints = {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        compiled: Any = openvino.Core().compile_model(openvino.Core().read_model(graph), "CPU", hints)
        request = compiled.create_infer_request()
        found["OpenVINO"] = per_second(lambda: len(request.infer(inputs)[OUTPUTS[0]]), seconds)
    return found


def katago_speed(program: str, path: str, size: int, visits: int) -> float:
    """Evaluations a second of KataGo's own benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "gtp.cfg"
        settings.write_text("rules = chinese\nnumSearchThreads = 2\nmaxVisits = 100\nlogAllGTPCommunication = false\n")
        command = [program, "benchmark", "-model", path, "-config", str(settings), "-boardsize", str(size)]
        command += ["-v", str(visits), "-t", str(THREADS), "-n", "4"]
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return float(KATAGO_SPEED.findall(answer.stdout)[-1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--katago", help="KataGo's program, to be measured as well")
    parser.add_argument("--sizes", type=int, nargs="+", default=[9, 19])
    parser.add_argument("--batches", type=int, nargs="+", default=list(BATCHES))
    parser.add_argument("--seconds", type=float, default=3.0, help="of one side, in each round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    for size in arguments.sizes:
        print(f"\n{size}x{size}, {THREADS} threads, evaluations a second (median of {arguments.rounds})\n")
        print("| batch | in a search | runtime alone | ratio (of rounds) |\n|---|---|---|---|", flush=True)
        for batch in arguments.batches:
            contest = Contest(arguments.network, size, batch)
            pairs = [
                (contest.search(arguments.seconds, n), contest.runtime(arguments.seconds)) for n in range(arguments.rounds)
            ]
            ratios = sorted(search / alone for search, alone in pairs)
            search, alone = (statistics.median(side) for side in zip(*pairs, strict=True))
            spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            print(f"| {batch} | {search:,.0f} | {alone:,.0f} | {spread} |", flush=True)
        contest = Contest(arguments.network, size, OWN_BATCH)
        inputs, alone = contest.planes(arguments.seconds), contest.runtime(arguments.seconds)
        print(f"\ninputs: {inputs:,.0f} positions a second on one thread, {100 * alone / inputs:.1f} % of an evaluation's time")
        for name, speed in other_runtimes(arguments.network, contest, arguments.seconds).items():
            print(f"{name}, batch {OWN_BATCH}: {speed:,.0f}; ONNX Runtime beside it {contest.runtime(arguments.seconds):,.0f}")
        if arguments.katago:
            visits = 400 if size < 13 else 150
            print(f"KataGo: {katago_speed(arguments.katago, arguments.network, size, visits):,.0f}")


if __name__ == "__main__":
    main()
