"""Models: planes in, logits and values out. An ONNX file run by ONNX Runtime, or a PyTorch module.

A model takes f4 planes (n, channels, height, width) and returns policy logits (n, actions) and values (n, value width) in
[-1, 1]: a single one, which may have the shape (n,), in the view of the player to move, otherwise one per player. Where both
players move at once logits are (n, 2 actions), those of the first player first. Outputs of a file are found by their names,
`policy` and `value`, or else by their order.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import NetworkError
from anabranch.extras import needed
from anabranch.games.encoding import planes_of
from anabranch.games.game import Game

GAME, PLANES, ACTIONS, VERSION = (f"anabranch.{name}" for name in ("game", "planes", "actions", "version"))  # in a file
Outputs = tuple[np.ndarray, np.ndarray]


class Model:
    """Computes logits and values from planes. `Network` also accepts a subclass of yours."""

    name = "the model"

    def check(self, game: Game) -> None:
        """Raise if this network does not fit a game: run two positions of zeros, and check the shapes of the outputs."""
        shape = planes_of(game)
        try:
            policy, values = self(np.zeros((2, *shape), np.float32))
        except Exception as error:
            what = f"planes of the shape {shape}, those of {game!r}"
            raise NetworkError(f"{self.name} does not take {what}: {_first_line(error)}") from error
        wanted = math.prod(game.policy_shape)
        if np.shape(policy) != (2, wanted):
            given, players = np.shape(policy)[1:], f" of {game.players} players" * (len(game.policy_shape) > 1)
            raise NetworkError(f"{self.name} gives policies of the shape {given}; {game!r} has {wanted} actions{players}")
        width = game.value_width()
        if np.shape(values) not in ([(2,), (2, 1)] if width == 1 else [(2, width)]):
            given = np.shape(values)[1:]
            raise NetworkError(f"{self.name} gives values of the shape {given}; a value of {game!r} has {width} number(s)")

    def __call__(self, planes: np.ndarray) -> Outputs:
        """Logits and values of n positions."""
        raise NotImplementedError


class OnnxModel(Model):
    """A network in an .onnx file."""

    def __init__(self, path: Path, threads: int, providers: list[Any] | None) -> None:
        self.name = str(path)
        self.session = _session(path, threads, providers)
        inputs, outputs = self.session.get_inputs(), self.session.get_outputs()
        if len(inputs) != 1 or len(outputs) < 2:
            raise NetworkError(
                f"{path} has {len(inputs)} input(s) and {len(outputs)} output(s); a network has one input, planes, and two "
                "outputs, policy logits and values"
            )
        names = [output.name for output in outputs]
        self.outputs = ["policy", "value"] if {"policy", "value"} <= set(names) else names[:2]
        self.input, self.shape = inputs[0].name, list(inputs[0].shape)
        self.dtype = np.float16 if inputs[0].type == "tensor(float16)" else np.float32
        self.made_for = self.session.get_modelmeta().custom_metadata_map.get(GAME, "")

    def check(self, game: Game) -> None:
        """Raise if this network was not made for a game, or does not fit it."""
        made_for = self.made_for.partition("(")[0]
        if made_for and made_for != repr(game).partition("(")[0]:
            raise NetworkError(f"{self.name} is a network for {self.made_for}, not for {game!r}")
        wanted, shape = self.shape[1:], planes_of(game)
        if len(wanted) != 3 or any(isinstance(w, int) and w != p for w, p in zip(wanted, shape, strict=True)):
            takes = ", ".join(str(size) for size in wanted)
            raise NetworkError(f"{self.name} takes planes of the shape ({takes}); those of {game!r} have {shape}")
        if isinstance(self.shape[0], int):
            raise NetworkError(f"{self.name} takes {self.shape[0]} position(s) a call; export it with a batch of any size")
        super().check(game)

    def __call__(self, planes: np.ndarray) -> Outputs:
        """Logits and values of n positions."""
        policy, values = self.session.run(self.outputs, {self.input: planes.astype(self.dtype, copy=False)})
        return policy, values


class TorchModel(Model):
    """A PyTorch module, run as it is. It is put into evaluation mode."""

    def __init__(self, module: Any, threads: int) -> None:
        self.torch = needed("torch", "train")
        self.name, self.module, self.threads = type(module).__name__, module, threads

    def __call__(self, planes: np.ndarray) -> Outputs:
        """Logits and values of n positions."""
        torch = self.torch
        if self.module.training:
            self.module.eval()
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            with torch.inference_mode():
                device = next((weights.device for weights in self.module.parameters()), "cpu")
                policy, values = self.module(torch.from_numpy(planes).to(device))
                return policy.float().cpu().numpy(), values.float().cpu().numpy()
        finally:
            torch.set_num_threads(before)


def is_module(model: Any) -> bool:
    """Whether this is a PyTorch module, without importing PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def load(model: Any, threads: int, providers: list[Any] | None) -> Model:
    """The model of a file or of a module, ready to run."""
    if isinstance(model, Model):
        return model
    return OnnxModel(model, threads, providers) if isinstance(model, Path) else TorchModel(model, threads)


def _session(path: Path, threads: int, providers: list[Any] | None) -> Any:
    """The file, ready to run."""
    needed("onnxruntime", "net")
    if not path.is_file():
        raise NetworkError(f"{path}: there is no such file")
    return open_session(str(path), str(path), threads, providers)


def open_session(model: str | bytes, name: str, threads: int, providers: list[Any] | None) -> Any:
    """An ONNX model, a file's path or its content, ready to run in ONNX Runtime. The name is for messages."""
    runtime = needed("onnxruntime", "net")
    wanted = providers or ["CPUExecutionProvider"]
    known = runtime.get_available_providers()
    for provider in wanted:
        provider_name = provider if isinstance(provider, str) else provider[0]
        if provider_name not in known:
            raise NetworkError(f"this ONNX Runtime has no provider {provider_name!r}; it has {', '.join(known)}")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors are raised anyway; warnings are about how the file was made
    try:
        return runtime.InferenceSession(model, options, providers=wanted)
    except Exception as error:
        raise NetworkError(f"{name} cannot be used as an ONNX model: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
