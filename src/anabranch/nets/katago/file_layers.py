"""Layers and blocks of KataGo's model files, as `file.py` meets them: each checks that it fits those before it.

Where a number of channels is already known it is given, and another one in the file is a fault.
"""

from collections.abc import Callable

import numpy as np

from anabranch.nets.katago.layers import (
    METADATA,
    POOLED,
    Activation,
    AttentionBlock,
    Block,
    Convolution,
    Dense,
    FeedForwardBlock,
    MetadataEncoder,
    NestedBlock,
    Norm,
    Pooling,
    ResidualBlock,
    RmsNorm,
    Rotation,
    Step,
)
from anabranch.nets.katago.source import Source

MOST_CHANNELS = 8192
LARGEST_FILTER = 19  # lines
DEEPEST = 8  # blocks within blocks
MOST_INNER_BLOCKS = 100
PREFIX = "ACTIVATION_"  # of their names
Known = int | None  # a number of channels


def read_conv(source: Source, channels_in: Known = None, channels_out: Known = None) -> Convolution:
    """A convolution, stored as rows, columns, channels in, channels out."""
    name = source.word("the name of a convolution")
    size = [_odd(source, f"the size of the filters of {name}") for _ in range(2)]
    channels = _channels(source, name, "into", channels_in), _channels(source, name, "out of", channels_out)
    dilation = [source.whole(f"the dilation of {name}", 1, LARGEST_FILTER) for _ in range(2)]
    weights = source.weights(name, *size, *channels)
    return Convolution(name, np.ascontiguousarray(weights.transpose(3, 2, 0, 1)), (dilation[0], dilation[1]))


def read_norm(source: Source, channels: int) -> Norm:
    """A batch normalisation, or a bias written as one."""
    name = source.word("the name of a normalisation")
    _channels(source, name, "of", channels)
    epsilon = source.positive(f"the epsilon of {name}")
    has_scale = source.whole(f"whether {name} has a scale", 0, 1)
    has_bias = source.whole(f"whether {name} has a bias", 0, 1)
    mean, variance = source.weights(name, channels), source.weights(name, channels)
    scale = source.weights(name, channels) if has_scale else np.ones(channels, np.float32)
    bias = source.weights(name, channels) if has_bias else np.zeros(channels, np.float32)
    if variance.min() + epsilon <= 0.0:
        source.fail(f"a variance of {name} is negative")
    norm = Norm(name, mean, variance, scale, bias, epsilon)
    if max(np.abs(part).max() for part in norm.factor_and_shift) > np.finfo(np.float32).max:
        source.fail(f"{name} multiplies or adds what is beyond single precision")
    return norm


def read_tip_norm(source: Source, channels: int) -> RmsNorm:
    """The normalisation at the end of a trunk with transformers."""
    name, epsilon = _read_rms_header(source, channels)
    whole_board = bool(source.whole(f"whether {name} is over the whole board", 0, 1))
    source.whole(f"the number of groups of {name}", 0, 0)
    return RmsNorm(name, source.weights(name, channels), source.weights(name, channels), epsilon, whole_board)


def _read_block_norm(source: Source, channels: int) -> RmsNorm:
    """The normalisation inside of a transformer block."""
    name, epsilon = _read_rms_header(source, channels)
    return RmsNorm(name, source.weights(name, channels), None, epsilon)


def _read_rms_header(source: Source, channels: int) -> tuple[str, float]:
    name = source.word("the name of a normalisation")
    _channels(source, name, "of", channels)
    epsilon = source.positive(f"the epsilon of {name}")
    if epsilon > 1.0:
        source.fail(f"the epsilon of {name} is {epsilon:g}, more than 1")
    return name, epsilon


def read_activation(source: Source, version: int) -> Activation:
    """An activation; files before version 11 give its name only, and mean ReLU."""
    name = source.word("the name of an activation")
    if version < 11:
        return Activation.RELU
    kind = source.word(f"the kind of {name}")
    known = [PREFIX + activation.value for activation in Activation]
    if kind not in known:
        source.fail(f"{name} is of the kind {kind!r}, not {', '.join(known[:-1])} or {known[-1]}")
    return Activation(kind.removeprefix(PREFIX))


def read_dense(source: Source, channels_in: Known = None, channels_out: Known = None, biased: bool = False) -> Dense:
    """A matrix; if `biased`, a bias follows as a layer of its own."""
    name = source.word("the name of a layer")
    channels = _channels(source, name, "into", channels_in), _channels(source, name, "out of", channels_out)
    weights = source.weights(name, *channels)
    if not biased:
        return Dense(name, weights)
    name_of_bias = source.word("the name of a bias")
    _channels(source, name_of_bias, "of", channels[1])
    return Dense(name, weights, source.weights(name_of_bias, channels[1]))


def read_pooling(source: Source, version: int, channels: int, channels_out: int) -> Pooling:
    """What is pooled, and how it becomes a bias of `channels_out` channels."""
    conv = read_conv(source, channels)
    pooled = conv.channels[1]
    norm, activation = read_norm(source, pooled), read_activation(source, version)
    return Pooling(conv, norm, activation, read_dense(source, POOLED * pooled, channels_out))


def read_encoder(source: Source, version: int, channels: int) -> MetadataEncoder:
    """The encoder of metadata."""
    name = source.word("the name of the metadata encoder")
    _channels(source, name, "into", METADATA)
    first, first_activation = read_dense(source, METADATA, biased=True), read_activation(source, version)
    second = read_dense(source, first.channels[1], biased=True)
    second_activation = read_activation(source, version)
    out = read_dense(source, second.channels[1], channels)
    return MetadataEncoder(first, first_activation, second, second_activation, out)


# --- blocks ---


def read_blocks(source: Source, version: int, count: int, channels: int, depth: int = 0) -> tuple[Block, ...]:
    """So many blocks that keep the number of channels."""
    blocks = []
    for _ in range(count):
        kind = source.word("the kind of a block")
        if kind not in READERS:
            source.fail(f"a block is of the kind {kind!r}, not one of {', '.join(READERS)}")
        name = source.word("the name of a block")
        blocks.append(READERS[kind](source, name, version, channels, depth))
    return tuple(blocks)


def _read_step(source: Source, version: int, channels: int, channels_out: Known = None) -> Step:
    norm, activation = read_norm(source, channels), read_activation(source, version)
    return Step(norm, activation, read_conv(source, channels, channels_out))


def _read_ordinary(source: Source, name: str, version: int, channels: int, depth: int) -> Block:
    first = _read_step(source, version, channels)
    return ResidualBlock(name, first, _read_step(source, version, first.conv.channels[1], channels))


def _read_pooled(source: Source, name: str, version: int, channels: int, depth: int) -> Block:
    first = _read_step(source, version, channels)
    inner = first.conv.channels[1]
    pooling = read_pooling(source, version, channels, inner)
    return ResidualBlock(name, first, _read_step(source, version, inner, channels), pooling)


def _read_nested(source: Source, name: str, version: int, channels: int, depth: int) -> Block:
    if depth == DEEPEST:
        source.fail(f"{name} is a block inside of {depth} others")
    count = source.whole(f"the number of blocks inside of {name}", 1, MOST_INNER_BLOCKS)
    first = _read_step(source, version, channels)
    inner = first.conv.channels[1]
    blocks = read_blocks(source, version, count, inner, depth + 1)
    return NestedBlock(name, first, blocks, _read_step(source, version, inner, channels))


def _read_attention(source: Source, name: str, version: int, channels: int, depth: int) -> Block:
    heads = source.whole(f"the number of heads of {name}", 1, MOST_CHANNELS)
    key_heads = source.whole(f"the number of heads of keys of {name}", 1, heads)
    if heads % key_heads:
        source.fail(f"the {heads} heads of {name} cannot share {key_heads} heads of keys evenly")
    width = source.whole(f"the channels of a query of {name}", 1, MOST_CHANNELS)
    value_width = source.whole(f"the channels of a value of {name}", 1, MOST_CHANNELS)
    is_rotated = source.whole(f"whether {name} has rotary positions", 0, 1)
    is_learnt = source.whole(f"whether the rotary positions of {name} are learnt", 0, 1)
    if is_rotated and width % 2:
        source.fail(f"{name} has rotary positions and {width} channels of a query, which cannot be paired")
    norm = _read_block_norm(source, channels)
    query, key = read_dense(source, channels, heads * width), read_dense(source, channels, key_heads * width)
    value, out = read_dense(source, channels, key_heads * value_width), read_dense(source, heads * value_width, channels)
    rotation = _read_rotation(source, name, (key_heads, width // 2, 2), bool(is_learnt)) if is_rotated else None
    return AttentionBlock(name, heads, key_heads, norm, query, key, value, out, rotation)


def _read_rotation(source: Source, block: str, shape: tuple[int, int, int], is_learnt: bool) -> Rotation:
    name = source.word(f"the name of the rotary positions of {block}")
    if not is_learnt:
        return Rotation(source.positive(f"the theta of {name}"), None)
    for size in shape:
        source.whole(f"a size of {name}", size, size)
    return Rotation(None, source.weights(name, *shape))


def _read_feed_forward(source: Source, name: str, version: int, channels: int, depth: int) -> Block:
    _channels(source, name, "of", channels)
    inner = _channels(source, name, "inside of", None)
    if not source.whole(f"whether {name} is gated", 0, 1):
        source.fail(f"{name} has no gate, and the file does not name the activation of such blocks; KataGo runs none either")
    norm = _read_block_norm(source, channels)
    first, gate = read_dense(source, channels, inner), read_dense(source, channels, inner)
    return FeedForwardBlock(name, norm, first, gate, read_dense(source, inner, channels))


READERS: dict[str, Callable[[Source, str, int, int, int], Block]] = {
    "ordinary_block": _read_ordinary,
    "gpool_block": _read_pooled,
    "nested_bottleneck_block": _read_nested,
    "transformer_attention_block": _read_attention,
    "transformer_ffn_block": _read_feed_forward,
}


# --- sizes ---


def _channels(source: Source, name: str, where: str, known: Known) -> int:
    """A number of channels, which has to be the known one if there is."""
    least, most = (1, MOST_CHANNELS) if known is None else (known, known)
    return source.whole(f"the number of channels {where} {name}", least, most)


def _odd(source: Source, what: str) -> int:
    size = source.whole(what, 1, LARGEST_FILTER)
    if size % 2 == 0:
        source.fail(f"{what} is {size}, which is even")
    return size
