"""Self-play beside a loop of the same network and settings in mctx: positions a second of CPU time, and where that time goes.

    python benchmarks/speed_self_play.py --peer-python ../jax/bin/python       `pip install mctx pgx` there
    python benchmarks/speed_self_play.py                                        without the peer

Connect Four, Gumbel search with 32 simulations, a residual network of 6 blocks and 64 channels with random weights, one thread
on each side. Ours is what `anabranch train` runs (`train/self_play.py`), in one process: random symmetries, rows and files
included, once with its cache of evaluations and once without. The peer (`peers/mctx_self_play.py`) has the same weights, plays
as many games at once as suits it best, and keeps what would be learnt in memory. In a round all sides play the same number of
moves, one after the other. Medians of the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from anabranch.games import ConnectFour
from anabranch.nets.model import export, make_model
from anabranch.train.run import NETWORKS, Run
from anabranch.train.self_play import SelfPlay
from anabranch.train.settings import Settings
from measure import ROUNDS, progress

PEER = Path(__file__).parent / "peers" / "mctx_self_play.py"
CACHES = {"cache of 64 MB, the default": "64MB", "no cache": "1B"}  # a byte has room for no entry
GAMES = 128  # at once, the default
STEPS = 8  # moves in each game in a round
SPREAD = 24  # steps before the first round, so that games are at different plies
PEER_BATCHES = (32, 128, 512)
EXAMPLES = 16  # planes with which the peer's network is compared
LEAST_RATIO, LEAST_SHARE = 2.0, 0.9


class Turn(NamedTuple):
    """CPU seconds of a turn of ours, and what was done in them."""

    positions: int
    evaluations: int
    total: float
    model: float  # inside the network
    around: float  # encoding, symmetries, the cache
    search: float  # without these


class Clocked:
    """Something that is called, with the CPU time that its calls took."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.seconds, self.given = inner, 0.0, 0

    def __call__(self, first: Any, *rest: Any, **named: Any) -> Any:
        """The same."""
        began = time.process_time()
        try:
            return self._inner(first, *rest, **named)
        finally:
            self.seconds += time.process_time() - began
            self.given += len(first)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Ours:
    """Self-play with a cache of this size."""

    def __init__(self, folder: Path, model: Any, cache: str) -> None:
        settings = Settings().but(**{"self_play.cache": cache, "self_play.games": GAMES})
        run = Run.create(folder, "connectfour", settings)
        path = run.path / NETWORKS / "000000.onnx"
        export(model, run.game, path)
        run.use(path)
        self.play = SelfPlay(run)
        assert self.play.network.look() and self.play.network.network is not None
        network = self.play.network.network
        self.model = network._loaded = Clocked(network._load())  # type: ignore[assignment]
        self.evaluate = self.play.network = Clocked(self.play.network)  # type: ignore[assignment]
        self.play.step()
        assert self.play.fleet is not None
        self.search = self.play.fleet.roots = Clocked(self.play.fleet.roots)  # type: ignore[method-assign, assignment]
        for _ in range(SPREAD):
            self.play.step()

    def turn(self, steps: int) -> Turn:
        """Play so many moves in each game."""
        clocks, evaluated = (self.model, self.evaluate, self.search), self.model.given
        before, began = [clock.seconds for clock in clocks], time.process_time()
        for _ in range(steps):
            self.play.step()
        total = time.process_time() - began
        model, evaluate, search = (clock.seconds - was for clock, was in zip(clocks, before, strict=True))
        evaluations = self.model.given - evaluated
        return Turn(GAMES * steps, evaluations, total, model, evaluate - model, search - evaluate)


class Peer:
    """A process with mctx."""

    def __init__(self, python: str, network: Path, batch: int) -> None:
        self.batch = batch
        moves = max(1, GAMES * STEPS // batch)
        command = [python, str(PEER), str(network), str(batch), str(moves)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.turn()  # a first call takes longer

    def turn(self) -> dict[str, Any]:
        """Positions and CPU seconds."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{PEER.name} has ended with status {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def cost(self) -> float:
        """CPU seconds a position."""
        answer = self.turn()
        return float(answer["cpu_seconds"] / answer["positions"])

    def end(self) -> None:
        """No more turns."""
        self.process.communicate()


def fastest(python: str, network: Path) -> Peer:
    """The peer at the batch size that suits it best."""
    costs = {}
    for batch in PEER_BATCHES:
        peer = Peer(python, network, batch)
        costs[batch] = min(peer.cost() for _ in range(2))
        peer.end()
        progress(f"mctx with {batch} games at once: {1 / costs[batch]:.1f} positions/s")
    return Peer(python, network, min(PEER_BATCHES, key=lambda batch: costs[batch]))


def save_network(model: Any, path: Path) -> None:
    """The weights, and planes with the outputs that PyTorch computes from them."""
    shape = ConnectFour().planes
    planes = (np.random.default_rng(0).random((EXAMPLES, *shape)) < 0.3).astype(np.float32)
    with torch.inference_mode():
        policy, value = model.eval()(torch.from_numpy(planes))
    weights = {name: numbers.numpy() for name, numbers in model.state_dict().items()}
    np.savez(path, planes=planes, policy=policy.numpy(), value=value.numpy(), **weights)


def measure(python: str, rounds: int) -> tuple[dict[str, list[Turn]], list[float]]:
    """Our turns by cache, and the peer's CPU seconds a position."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = make_model(ConnectFour(), blocks=6, channels=64)
    with tempfile.TemporaryDirectory() as folder:
        save_network(model, Path(folder) / "network.npz")
        peer = fastest(python, Path(folder) / "network.npz") if python else None
        ours = {name: Ours(Path(folder) / cache, model, cache) for name, cache in CACHES.items()}
        turns: dict[str, list[Turn]] = {name: [] for name in ours}
        costs = []
        for number in range(rounds):
            for name, side in ours.items():
                turns[name].append(side.turn(STEPS))
            costs += [peer.cost()] if peer else []
            progress(f"round {number + 1} of {rounds}")
        if peer:
            peer.end()
    return turns, costs


def table(turns: dict[str, list[Turn]], costs: list[float]) -> list[str]:
    """The rows of the table: medians of the rounds."""
    head = ["Connect Four, Gumbel 32, 6x64", "evaluations a position", *SHARES, "positions/s", "beside mctx"]
    rows = [head, ["---"] * len(head)]
    for name, each in turns.items():
        evaluations = statistics.median(turn.evaluations / turn.positions for turn in each)
        shares = [f"{statistics.median(share(turn) for turn in each):.1%}" for share in SHARES.values()]
        beside = f"{ratio_of(each, costs):.2f}" if costs else ""
        rows.append([f"ours, {name}", f"{evaluations:.1f}", *shares, f"{1 / statistics.median(map(cost, each)):.1f}", beside])
    if costs:
        rows.append(["mctx", "33.0", *[""] * len(SHARES), f"{1 / statistics.median(costs):.1f}", "1.00"])
    return [f"| {' | '.join(row)} |" for row in rows]


SHARES: dict[str, Callable[[Turn], float]] = {  # of our CPU time
    "inside the network": lambda turn: turn.model / turn.total,
    "around it": lambda turn: turn.around / turn.total,
    "search": lambda turn: turn.search / turn.total,
    "games, rows, files": lambda turn: 1.0 - (turn.model + turn.around + turn.search) / turn.total,
}


def cost(turn: Turn) -> float:
    """CPU seconds a position."""
    return turn.total / turn.positions


def ratio_of(turns: list[Turn], costs: list[float]) -> float:
    """How many times as fast we are: the peer's median cost over ours."""
    return statistics.median(costs) / statistics.median(map(cost, turns))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", default=os.environ.get("ANABRANCH_MCTX_PYTHON", ""), help="a Python with mctx and pgx")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    turns, costs = measure(arguments.peer_python, arguments.rounds)
    print(*table(turns, costs), sep="\n")
    cached, uncached = turns.values()
    per_round = [theirs / cost(turn) for theirs, turn in zip(costs, cached, strict=False)]
    if per_round:
        print(f"with the cache, beside mctx: {min(per_round):.2f} to {max(per_round):.2f} in {len(per_round)} rounds", end="; ")
        print(f"at least {LEAST_RATIO:g}: {'met' if ratio_of(cached, costs) >= LEAST_RATIO else 'MISSED'}")
    share = statistics.median(turn.model / turn.total for turn in uncached)
    print(f"without it, inside the network at least {LEAST_SHARE:.0%}: {'met' if share >= LEAST_SHARE else 'MISSED'}")


if __name__ == "__main__":
    main()
