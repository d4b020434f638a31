"""How fast a network is: positions per second by batch and threads, compared with plain PyTorch."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.encoding import encode
from anabranch.games.game import Game
from anabranch.nets.runtimes import OnnxModel, TorchModel

BATCHES = (1, 4, 16, 64, 256)
COMPARED = 16  # the batch at which runtimes are compared


class Measurement(NamedTuple):
    """One measurement."""

    runtime: str
    batch: int
    threads: int
    speed: float  # positions per second


def measure_speeds(game: Game, path: Path | None = None, seconds: float = 1.0) -> Iterator[Measurement]:
    """Positions per second of an ONNX file; without one, of a new network of 6 blocks with 64 channels, in PyTorch as well."""
    with tempfile.TemporaryDirectory() as folder:
        module: Any = None
        if path is None:
            from anabranch.nets.model import export, make_model

            module, path = make_model(game), Path(folder) / "new.onnx"
            export(module, game, path)
        for threads in sorted({1, os.cpu_count() or 1}):
            model = OnnxModel(path, threads, None)
            model.check(game)
            for batch in BATCHES:
                yield Measurement("ONNX Runtime", batch, threads, positions_per_second(model, positions(game, batch), seconds))
        if module is not None:
            yield Measurement(
                "PyTorch", COMPARED, 1, positions_per_second(TorchModel(module, 1), positions(game, COMPARED), seconds)
            )


def positions(game: Game, count: int) -> np.ndarray:
    """Planes to measure with; their contents do not affect the speed."""
    return np.repeat(encode(game, game.start().record()), count, axis=0)


def positions_per_second(model: Callable[[np.ndarray], Any], planes: np.ndarray, seconds: float) -> float:
    """Positions per second, after a first call that is not counted."""
    model(planes)
    calls, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds or not calls:
        model(planes)
        calls += 1
    return calls * len(planes) / passed
