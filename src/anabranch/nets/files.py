"""Networks by their files: `open_network("four.onnx")`, `open_network("b6c96.bin.gz")`."""

from pathlib import Path
from typing import Any

from anabranch.games.game import Game
from anabranch.nets.evaluator import NetworkEvaluator

ONNX = ".onnx"


def open_network(path: str | Path, game: Game | None = None, batch: int | None = None, **options: Any) -> NetworkEvaluator:
    """The network in a file: ONNX by its ending, otherwise one of KataGo's. The options are those of `Network` or `KataGoNet`;
    without a batch, its default."""
    if batch is not None:
        options["batch"] = batch
    if Path(path).suffix.lower() == ONNX:
        from anabranch.nets.network import Network

        return Network(path, game=game, **options)
    from anabranch.nets.katago.evaluator import KataGoNet

    return KataGoNet(path, game=game, **options)
