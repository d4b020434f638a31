"""The networks that are trained, in named sizes, with heads that only learning uses. It needs PyTorch.

    tiny, small, medium, large   residual networks with global pooling, `nets/model.py`
    flat                         fully connected, for games without planes, or whose planes are not a board

A network's policy and value are exported. The opponent's reply, the moves left and, where a game offers them (`final.py`), the
ownership of points and the score are learnt beside them, because that makes the trunk better (Wu 2019, sections 4.1 and 5.1),
and then left out.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import nn

from anabranch.games.encoding import planes_of
from anabranch.games.game import Game
from anabranch.nets.model import PointPolicy, Pool, ResidualNet, policy_head
from anabranch.train.final import offered
from anabranch.train.settings import NetworkSettings, TargetSettings


class Size(NamedTuple):
    """The size of a residual network."""

    blocks: int
    channels: int


SIZES = {"tiny": Size(2, 16), "small": Size(4, 32), "medium": Size(5, 48), "large": Size(6, 64)}
FLAT = 128  # units of a layer of a fully connected network
FLAT_BLOCKS = 2


class FlatNet(nn.Module):
    """Fully connected layers with skip connections; planes of any shape."""

    def __init__(self, planes: tuple[int, int, int], actions: int, width: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Flatten(), nn.Linear(math.prod(planes), FLAT), nn.ReLU())
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(FLAT), nn.Linear(FLAT, FLAT), nn.ReLU(), nn.Linear(FLAT, FLAT))
            for _ in range(FLAT_BLOCKS)
        )
        self.policy = nn.Linear(FLAT, actions)
        self.value = nn.Linear(FLAT, width)

    def trunk(self, planes: Any) -> Any:
        """What the heads see, (n, units)."""
        x = self.stem(planes)
        for block in self.blocks:
            x = x + block(x)
        return torch.relu(x)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        """Logits and values."""
        trunk = self.trunk(planes)
        return self.policy(trunk), torch.tanh(self.value(trunk))


class Outputs(NamedTuple):
    """What learning sees of n positions."""

    policy: Any  # logits (n, policies * actions)
    value: Any  # (n, value width)
    reply: Any  # logits (n, actions), or None
    left: Any  # (n,), or None
    ownership: Any  # logits (n, points) of that the player to move will own them, or None
    score: Any  # (n,), or None


class Trained(nn.Module):
    """A network with all of its heads. `net` is what is exported."""

    def __init__(self, game: Game, network: NetworkSettings, targets: TargetSettings) -> None:
        super().__init__()
        torch.manual_seed(network.seed)
        planes, size, what = planes_of(game), network.size_for(game), offered(game, targets)
        policy, width, points = math.prod(game.policy_shape), game.value_width(), planes[1] * planes[2]
        if size == "flat":
            self.net: Any = FlatNet(planes, policy, width)
            reply: Any = nn.Linear(FLAT, game.actions)
            left: Any = nn.Linear(FLAT, 1)
            ownership: Any = nn.Linear(FLAT, points)
            score: Any = nn.Linear(FLAT, 1)
        else:
            blocks, channels = SIZES[size]
            self.net = ResidualNet(planes, policy, width, blocks, channels)
            reply = policy_head(channels, points, game.actions)
            left = _number(channels)
            ownership, score = PointPolicy(channels, 0), _number(channels)
        self.reply = reply if targets.reply > 0.0 else None
        self.left = left if targets.moves_left > 0.0 else None
        self.ownership = ownership if what.ownership else None
        self.score = score if what.score else None

    def forward(self, planes: Any) -> Outputs:
        """All outputs."""
        trunk = self.net.trunk(planes)
        return Outputs(
            policy=self.net.policy(trunk),
            value=torch.tanh(self.net.value(trunk)),
            reply=None if self.reply is None else self.reply(trunk),
            left=None if self.left is None else self.left(trunk)[:, 0],
            ownership=None if self.ownership is None else self.ownership(trunk),
            score=None if self.score is None else self.score(trunk)[:, 0],
        )


def _number(channels: int) -> nn.Module:
    """A number for the whole board."""
    return nn.Sequential(Pool(), nn.Linear(2 * channels, channels), nn.ReLU(), nn.Linear(channels, 1))


def size_of(network: Any) -> int:
    """How many weights it has."""
    return sum(weights.numel() for weights in network.parameters())
