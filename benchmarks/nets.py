"""Networks: ONNX Runtime beside PyTorch as it is, and what the way from states to answers costs beside the model."""

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import Network
from anabranch.games import ConnectFour
from anabranch.nets.model import export, make_model
from anabranch.nets.runtimes import Model, OnnxModel, TorchModel
from anabranch.nets.speed import positions
from measure import ROUNDS, Figure, alternate, cpu_seconds, main, median_speed, progress

BATCH = 16
CALLS = 100  # a round
LEAST = 1.3  # times as fast as PyTorch
MOST_SHARE = 0.05  # of the model's own time, for everything around it
COMMAND = "python benchmarks/nets.py"


def cost(call: Callable[[Any], Any], given: Any, calls: int) -> float:
    """CPU seconds a position."""
    call(given)
    return cpu_seconds(lambda: [call(given) for _ in range(calls)]) / calls / len(given)


def runtimes(rounds: int, calls: int) -> Figure:
    """A network of 6 blocks with 64 channels, run both ways on one thread."""
    game = ConnectFour()
    module, planes = make_model(game), positions(game, BATCH)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.onnx"
        export(module, game, path)
        ours, peer = OnnxModel(path, 1, None), TorchModel(module, 1)
        found = alternate(lambda n: cost(ours, planes, calls), lambda n: cost(peer, planes, calls), rounds)
    progress(f"ONNX Runtime: {found.ratio:.2f} times as fast as PyTorch")
    return Figure(
        what=f"Connect Four, 6x64 network, batch {BATCH}, one thread: ONNX Runtime beside eager PyTorch, positions",
        ours=median_speed(found.ours),
        peer=median_speed(found.peer),
        ratio=f"{found.ratio:.2f}",
        target=f">= {LEAST}",
        met=found.ratio >= LEAST,
        command=COMMAND,
        data=found.data(),
    )


def overhead(model: float, rounds: int, calls: int) -> Figure:
    """Keys, planes, cache and priors around a model that computes nothing, beside what a real one costs; and answers from the
    cache."""
    game = ConnectFour()
    states = np.concatenate([game.position([*range(i % 7), i // 7]).record() for i in range(BATCH)])

    asked, known = (Network(Constant(game.actions), batch=BATCH, cache=cache) for cache in (0, 1_000))
    found = alternate(lambda n: cost(asked, states, 10 * calls), lambda n: cost(known, states, 10 * calls), rounds)
    around, cached = statistics.median(found.ours), statistics.median(found.peer)
    progress(f"a position costs {1e6 * around:.2f} us around the model, {1e6 * cached:.2f} us from the cache")
    return Figure(
        what=f"The same: a position around the model ({1e6 * cached:.1f} us from the cache), beside the model itself",
        ours=f"{1e6 * around:.1f} us",
        peer=f"{1e6 * model:.0f} us",
        ratio=f"{around / model:.3f}",
        target=f"<= {MOST_SHARE}",
        met=around <= MOST_SHARE * model,
        command=COMMAND,
        data={"ours_cpu_s": found.ours, "cached_cpu_s": found.peer},
    )


class Constant(Model):
    """Computes nothing."""

    def __init__(self, actions: int) -> None:
        self.policy, self.values = np.zeros((BATCH, actions), np.float32), np.zeros((BATCH, 1), np.float32)

    def __call__(self, planes: np.ndarray) -> Any:
        """The same for all planes."""
        return self.policy[: len(planes)], self.values[: len(planes)]


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    rounds, calls = (1, CALLS // 5) if quick else (ROUNDS, CALLS)
    speeds = runtimes(rounds, calls)
    return [speeds, overhead(statistics.median(speeds.data["ours_cpu_s"]), rounds, calls)]


if __name__ == "__main__":
    main(run, __doc__)
