"""Two versions of Anabranch side by side: how fast the second is beside the first, and how much memory a simulation takes.

Each version runs in a process of its own, and CPU time counts. In a round the two take turns, and the fastest turn of each
counts: what else a shared machine does (caches, clock, the other thread of a core) only ever makes a turn slower.

    python benchmarks/speed_versions.py --before ../before/src                 this version against another one's sources
    python benchmarks/speed_versions.py --before ../before/src --rounds 5 --only tree
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[1] / "src"
ROUNDS = 15
TURNS = 5  # of each version in a round
KINDS = {  # simulations of each
    "Connect Four, tree, 100k": 100_000,
    "Connect Four, tree, 1M": 1_000_000,
    "Connect Four, graph, 100k": 100_000,
    "Connect Four, graph, 1M": 1_000_000,
    "Go 9x9, default engine": 2_000,
    "64 searches sharing batches": 64 * 100,
}


def measure(kind: str, seed: int) -> tuple[float, float]:
    """CPU seconds and bytes of a simulation in this process."""
    import numpy as np

    import anabranch as ab
    from anabranch.games import ConnectFour, Go

    def best_options(game: Any) -> dict[str, Any]:
        try:
            from anabranch.presets import best_options as found
        except ImportError:  # its name before
            from anabranch.engines import best_options as found
        return found(game)

    class Even:
        """An evaluator that costs next to nothing."""

        batch = 256

        def __call__(self, states: Any) -> Any:
            """No priors, and a draw."""
            return None, np.zeros(len(states))

    visits = KINDS[kind]
    if kind.startswith("64"):
        game: Any = ConnectFour()
        fleet = ab.Fleet(game, 64, evaluate=Even(), select=ab.PUCT(), seed=seed, memory="512MB")
        began = time.process_time()
        results = fleet.run([game.start()] * 64, visits=visits // 64)
        return (time.process_time() - began) / visits, sum(result.stats.bytes for result in results if result) / visits
    game = Go(size=9) if kind.startswith("Go") else ConnectFour()
    options = best_options(game) if kind.startswith("Go") else {"graph": "graph" in kind}
    search = ab.Search(game, seed=seed, memory="1GB", **options)
    search.run(game.start(), visits=10)
    began = time.process_time()
    result = search.run(visits=visits)
    return (time.process_time() - began) / visits, result.stats.bytes / visits


def serve() -> None:
    """Measure whatever is asked for, a line each."""
    for line in sys.stdin:
        print(json.dumps(measure(*json.loads(line))), flush=True)


class Version:
    """A process that measures one version."""

    def __init__(self, sources: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(sources), "ANABRANCH_QUIET": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, kind: str, seed: int) -> tuple[float, float]:
        """CPU seconds and bytes of a simulation."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([kind, seed]) + "\n")
        self.process.stdin.flush()
        seconds, size = json.loads(self.process.stdout.readline())
        return seconds, size


def main() -> None:
    """A row a kind: the geometric mean of the ratios, the lowest one, and bytes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the folder with the other version's package, usually .../src")
    parser.add_argument("--after", type=Path, default=SOURCES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="a part of the names of what is measured")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    before, after = Version(arguments.before), Version(arguments.after)
    for kind in (kind for kind in KINDS if arguments.only in kind):
        sizes = [version.ask(kind, 0)[1] for version in (before, after)]  # which also compiles
        ratios = []
        for number in range(arguments.rounds):
            turns: dict[Version, list[float]] = {before: [], after: []}
            for turn in range(TURNS):
                for version in (before, after) if (number + turn) % 2 else (after, before):
                    turns[version].append(version.ask(kind, number)[0])
            ratios.append(min(turns[before]) / min(turns[after]))
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        told = f"speed {mean:.3f} times as before, between {min(ratios):.3f} and {max(ratios):.3f} in {len(ratios)} rounds"
        print(f"{kind}: {told}; {sizes[1]:.1f} bytes a simulation, {sizes[0]:.1f} before", flush=True)


if __name__ == "__main__":
    main()
