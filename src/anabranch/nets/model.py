"""A network for any game that has planes: a residual trunk with global pooling, a policy and a value. It needs PyTorch.

    planes -> 3x3 convolution -> residual blocks -> policy: one logit per action
                                                  -> value: that of the player to move, or one number per player

Global pooling, means and maxima over the whole board, feeds every third block, the policy and the value, as in KataGo
(Wu 2019, section 3.3): the value of a move here may depend on something far away. Only the policy of games whose actions are
not points (Connect Four: columns) depends on the size of the board.
"""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from anabranch._version import __version__
from anabranch.errors import GameError, NetworkError
from anabranch.extras import needed
from anabranch.games.encoding import REMEDY, encode, planes_of
from anabranch.games.game import Game
from anabranch.nets.runtimes import ACTIONS, GAME, PLANES, VERSION, OnnxModel

try:
    import torch
    from torch import nn
except ModuleNotFoundError:
    needed("torch", "train")  # says what to install
    raise

POOLED_EVERY = 3  # blocks; KataGo pools in two or three of ten
HEAD = 32  # channels of the heads
MOST_OTHERS = 8  # actions beside the points that a policy by points has
TOLERANCE = 1e-4  # on the outputs of the exported file; single precision, summed in another order


def make_model(game: Game, blocks: int = 6, channels: int = 64) -> "ResidualNet":
    """A new network for a game; seed it with `torch.manual_seed`."""
    if game.planes is None:
        raise GameError(f"{game!r} has no `planes`, so there is no board for a residual network: give it {REMEDY}")
    return ResidualNet(game.planes, math.prod(game.policy_shape), game.value_width(), blocks, channels)


class ResidualNet(nn.Module):
    """Planes (n, planes, height, width) to policy logits (n, actions) and values (n, width) in [-1, 1]."""

    def __init__(self, planes: tuple[int, int, int], actions: int, width: int, blocks: int, channels: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(*_normed(planes[0], channels), nn.ReLU())
        self.blocks = nn.Sequential(*(Block(channels, (i + 1) % POOLED_EVERY == 0) for i in range(blocks)))
        points = planes[1] * planes[2]
        self.policy = policy_head(channels, points, actions)
        pooled = nn.Sequential(nn.Conv2d(channels, HEAD, 1), nn.ReLU(), Pool())
        self.value = nn.Sequential(pooled, nn.Linear(2 * HEAD, channels), nn.ReLU(), nn.Linear(channels, width))

    def trunk(self, planes: Any) -> Any:
        """What the heads see, (n, channels, height, width)."""
        return self.blocks(self.stem(planes))

    def forward(self, planes: Any) -> tuple[Any, Any]:
        """Logits and values."""
        trunk = self.trunk(planes)
        return self.policy(trunk), torch.tanh(self.value(trunk))


class Block(nn.Module):
    """Two convolutions with a skip connection; with pooling, a bias from the whole board is added after the first one."""

    def __init__(self, channels: int, pooled: bool) -> None:
        super().__init__()
        self.first = nn.Sequential(*_normed(channels, channels))
        self.second = nn.Sequential(*_normed(channels, channels))
        self.bias = nn.Sequential(Pool(), nn.Linear(2 * channels, channels)) if pooled else None

    def forward(self, x: Any) -> Any:
        """The output, of the same shape."""
        inner = self.first(x)
        if self.bias is not None:
            inner = inner + self.bias(x)[:, :, None, None]
        return torch.relu(x + self.second(torch.relu(inner)))


class Pool(nn.Module):
    """Mean and maximum of each channel over the board."""

    def forward(self, x: Any) -> Any:
        """(n, channels, height, width) to (n, 2 * channels)."""
        return torch.cat([x.mean((2, 3)), x.amax((2, 3))], dim=1)


def policy_head(channels: int, points: int, actions: int) -> "PointPolicy | FlatPolicy":
    """The head for these actions: by points, if they are points and perhaps a few others, such as a pass."""
    if points <= actions <= points + MOST_OTHERS:
        return PointPolicy(channels, actions - points)
    return FlatPolicy(channels, points, actions)


class PointPolicy(nn.Module):
    """A logit for each point, and for each action that is not a point, such as a pass."""

    def __init__(self, channels: int, others: int) -> None:
        super().__init__()
        self.own = nn.Conv2d(channels, HEAD, 1)
        self.board = nn.Sequential(nn.Conv2d(channels, HEAD, 1), nn.ReLU(), Pool())
        self.bias = nn.Linear(2 * HEAD, HEAD)
        self.point = nn.Conv2d(HEAD, 1, 1)
        self.others = nn.Linear(2 * HEAD, others) if others else None

    def forward(self, trunk: Any) -> Any:
        """(n, points + others)."""
        board = self.board(trunk)
        points = self.point(torch.relu(self.own(trunk) + self.bias(board)[:, :, None, None])).flatten(1)
        return points if self.others is None else torch.cat([points, self.others(board)], dim=1)


class FlatPolicy(nn.Module):
    """Logits of actions that are not points, from all points of a board of fixed size."""

    def __init__(self, channels: int, points: int, actions: int) -> None:
        super().__init__()
        self.own = nn.Conv2d(channels, HEAD, 1)
        self.all = nn.Linear(HEAD * points, actions)

    def forward(self, trunk: Any) -> Any:
        """(n, actions)."""
        return self.all(torch.relu(self.own(trunk)).flatten(1))


def _normed(channels_in: int, channels_out: int) -> tuple[Any, Any]:
    """A 3x3 convolution and its normalisation."""
    return nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False), nn.BatchNorm2d(channels_out)


def export(model: Any, game: Game, path: str | Path, facts: dict[str, str] | None = None) -> None:
    """Write a module as an ONNX file for batches of any size, and check that ONNX Runtime computes the same from it. `facts`
    are stored in the file, beside its game."""
    path = Path(path)
    was_training = model.training
    model.eval()
    try:
        example = torch.from_numpy(_examples(game))
        names: dict[str, Any] = {"input_names": ["planes"], "output_names": ["policy", "value"]}
        sizes: dict[str, Any] = {name: {0: "positions"} for name in ("planes", "policy", "value")}
        if isinstance(getattr(model, "policy", None), PointPolicy):
            sizes["planes"] |= {2: "height", 3: "width"}
            sizes["policy"][1] = "actions"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs one more package, for no gain here
            torch.onnx.export(model, (example,), str(path), dynamo=False, dynamic_axes=sizes, **names)
        _sign(path, game, facts or {})
        with torch.inference_mode():
            expected = [output.numpy() for output in model(example)]
    finally:
        model.train(was_training)
    _compare(path, game, example.numpy(), expected)


def _examples(game: Game) -> np.ndarray:
    """Planes to trace and compare with: those of the start position, and random numbers."""
    start = encode(game, game.start().record())
    return np.concatenate([start, np.random.default_rng(0).random((3, *start.shape[1:]), np.float32)])


def _sign(path: Path, game: Game, more: dict[str, str]) -> None:
    """Write into the file which game it is for, and what else is known of it."""
    onnx = needed("onnx", "train")
    model = onnx.load(path)
    facts = more | {GAME: repr(game), PLANES: repr(planes_of(game)), ACTIONS: str(game.actions), VERSION: __version__}
    onnx.helper.set_model_props(model, facts)
    onnx.save(model, path)


def _compare(path: Path, game: Game, planes: np.ndarray, expected: list[np.ndarray]) -> None:
    model = OnnxModel(path, threads=1, providers=None)
    model.check(game)
    for name, ours, theirs in zip(("policy", "value"), model(planes), expected, strict=True):
        apart = float(np.abs(ours - theirs).max())
        if not apart <= TOLERANCE * max(1.0, float(np.abs(theirs).max())):
            raise NetworkError(f"{path} is not to be used: ONNX Runtime and PyTorch differ by {apart:.2g} in the {name}")
