"""What a KataGo network consists of, as plain data: layers, blocks, heads, and all of it together.

`file.py` makes these from a file, `graph.py` a graph from them. Weights are f4 arrays; their shapes stand beside them. A name
is the file's own, for messages. "Points" are those of the board, "pooled" numbers are of the board as a whole.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np

PLANES, GLOBALS, METADATA = (
    22,
    19,
    192,
)  # inputs of all versions from 8 on: a point, a position, a player of the human-like networks
LARGEST_BOARD = 19  # lines; what KataGo's networks are trained for
VALUES, POOLED = 3, 3  # outcomes (win, loss, no result); numbers that pooling makes of a channel


class Activation(Enum):
    """By the name that files have for it, without its prefix."""

    IDENTITY = "IDENTITY"
    RELU = "RELU"
    MISH = "MISH"  # x tanh(softplus(x))
    SILU = "SILU"  # x / (1 + exp(-x))


@dataclass(frozen=True, eq=False)
class Convolution:
    """Every point from the points around it; beyond the edge are zeros."""

    name: str
    weights: np.ndarray  # (out, in, height, width), the last two odd
    dilation: tuple[int, int] = (1, 1)  # vertical, horizontal

    @property
    def channels(self) -> tuple[int, int]:
        """In and out."""
        return self.weights.shape[1], self.weights.shape[0]


@dataclass(frozen=True, eq=False)
class Norm:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, a channel at a time."""

    name: str
    mean: np.ndarray  # (channels,), as all of these
    variance: np.ndarray
    scale: np.ndarray
    bias: np.ndarray
    epsilon: float

    @property
    def factor_and_shift(self) -> tuple[np.ndarray, np.ndarray]:
        """The same as x * factor + shift; f8."""
        factor = self.scale / np.sqrt(self.variance.astype(np.float64) + self.epsilon)
        return factor, self.bias - factor * self.mean


@dataclass(frozen=True, eq=False)
class RmsNorm:
    """x / sqrt(mean square + epsilon) * scale + bias; the mean is over the channels of a point, or of the whole board."""

    name: str
    scale: np.ndarray  # (channels,)
    bias: np.ndarray | None  # (channels,); those inside transformer blocks have none
    epsilon: float
    whole_board: bool = False


@dataclass(frozen=True, eq=False)
class Dense:
    """x @ weights + bias."""

    name: str
    weights: np.ndarray  # (in, out)
    bias: np.ndarray | None = None  # (out,)

    @property
    def channels(self) -> tuple[int, int]:
        """In and out."""
        return self.weights.shape[0], self.weights.shape[1]


@dataclass(frozen=True, eq=False)
class Step:
    """Normalise, activate, convolve: what most blocks are made of."""

    norm: Norm
    activation: Activation
    conv: Convolution


@dataclass(frozen=True, eq=False)
class Pooling:
    """A second convolution whose output is pooled over the board and added to every point, channel by channel."""

    conv: Convolution
    norm: Norm
    activation: Activation
    to_bias: Dense


@dataclass(frozen=True, eq=False)
class ResidualBlock:
    """x + second(first(x)); with pooling, what the board as a whole is like is added to the output of the first."""

    name: str
    first: Step
    second: Step
    pooling: Pooling | None = None


@dataclass(frozen=True, eq=False)
class NestedBlock:
    """x + last(blocks(first(x))): blocks inside have fewer channels than those around."""

    name: str
    first: Step
    blocks: tuple["Block", ...]
    last: Step


@dataclass(frozen=True, eq=False)
class Rotation:
    """Rotary positions: pairs of channels of queries and keys are turned by an angle that grows along the board."""

    theta: float | None  # fixed frequencies are powers of it; the first half of the pairs goes by rows, the other by columns
    frequencies: np.ndarray | None  # (key heads, pairs, 2): learnt; radians a column, a row


@dataclass(frozen=True, eq=False)
class AttentionBlock:
    """x + attention among all points of the board. Several heads of queries may share one of keys and values."""

    name: str
    heads: int
    key_heads: int
    norm: RmsNorm
    query: Dense
    key: Dense
    value: Dense
    out: Dense
    rotation: Rotation | None


@dataclass(frozen=True, eq=False)
class FeedForwardBlock:
    """x + out(silu(first(x)) * gate(x)), point by point."""

    name: str
    norm: RmsNorm
    first: Dense
    gate: Dense
    out: Dense


Block: TypeAlias = ResidualBlock | NestedBlock | AttentionBlock | FeedForwardBlock


@dataclass(frozen=True, eq=False)
class MetadataEncoder:
    """Who plays, when and at which speed: three layers to one number for each channel of the trunk."""

    first: Dense
    first_activation: Activation
    second: Dense
    second_activation: Activation
    out: Dense


@dataclass(frozen=True, eq=False)
class Trunk:
    """From the inputs to what both heads read."""

    name: str
    conv: Convolution  # of the planes
    globals: Dense  # added to every point
    metadata: MetadataEncoder | None  # likewise
    blocks: tuple[Block, ...]
    norm: Norm | RmsNorm
    activation: Activation

    @property
    def channels(self) -> int:
        """Of the blocks at the top level."""
        return self.conv.channels[1]


@dataclass(frozen=True, eq=False)
class PolicyHead:
    """Logits of all points and of a pass, in 1 channel (policy), 2 (and optimistic policy) or 4 (and Q of win and score)."""

    name: str
    conv: Convolution
    pooling: Pooling
    norm: Norm
    activation: Activation
    out: Convolution
    passing: Dense  # from what was pooled
    passing_activation: Activation | None  # from version 15 on the pass has two layers
    passing_out: Dense | None

    @property
    def channels(self) -> int:
        """1, 2 or 4."""
        return self.out.channels[1]


@dataclass(frozen=True, eq=False)
class ValueHead:
    """Outcome, scores and ownership."""

    name: str
    first: Convolution
    norm: Norm
    activation: Activation
    second: Dense  # from what was pooled
    second_activation: Activation
    value: Dense  # logits of win, loss, no result
    score: (
        Dense  # score mean, deviation, lead, time of variance; from version 9 on also short-term errors of value and of score
    )
    ownership: Convolution


class Multipliers(NamedTuple):
    """What outputs of the network are multiplied by. These were the same for all networks before version 13."""

    td_score: float = 20.0  # of outputs that are only trained
    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    variance_time: float = 40.0
    value_error: float = 0.25  # of its square
    score_error: float = 30.0  # of its square


class Header(NamedTuple):
    """What holds for the whole network."""

    name: str
    version: int  # of the model: 8 to 17
    multipliers: Multipliers = Multipliers()
    has_metadata: bool = False  # whether it is a human-like network, which is told whose moves to predict
    pass_alive_with_suicide: bool = False  # whether planes of pass-alive area are made as if suicide were legal


@dataclass(frozen=True, eq=False)
class KataGoNetwork:
    """All that a file says."""

    header: Header
    trunk: Trunk
    policy: PolicyHead
    value: ValueHead
