"""Blocks of KataGo's networks as nodes of an ONNX graph.

Convolutions work on (n, channels, height, width). Transformers work on rows of points, (n, points, channels): neighbouring ones
stay in that form, which is entered and left once for all of them.
"""

import math
from itertools import groupby

import numpy as np

from anabranch.nets.katago.graph_layers import Layers
from anabranch.nets.katago.layers import (
    LARGEST_BOARD,
    AttentionBlock,
    Block,
    FeedForwardBlock,
    NestedBlock,
    Norm,
    Pooling,
    ResidualBlock,
    Rotation,
    Step,
)

OFF_BOARD = 1e9  # taken from the logits of points that are not there


def add_blocks(layers: Layers, x: str, blocks: tuple[Block, ...], channels: int) -> str:
    """All blocks, one after the other."""
    for is_transformer, group in groupby(blocks, lambda block: isinstance(block, AttentionBlock | FeedForwardBlock)):
        if is_transformer:
            x = _add_transformers(layers, x, list(group), channels)
        else:
            for block in group:
                x = _add_nested(layers, x, block) if isinstance(block, NestedBlock) else _add_residual(layers, x, block)
    return x


def add_pooled(layers: Layers, x: str, pooling: Pooling) -> str:
    """What is pooled of the board: (n, 3 channels)."""
    inner = layers.convolve(x, pooling.conv, then=pooling.norm)
    return layers.pool(layers.activate_on_board(inner, pooling.activation), pooling.activation)


def add_bias(layers: Layers, x: str, pooled: str, pooling: Pooling, norm: Norm) -> str:
    """x, which was normalised by `norm`, as if the bias from pooling had been added before that."""
    return layers.node("Add", x, layers.to_points(layers.dense(pooled, pooling.to_bias, then=norm)))


def _enter(layers: Layers, x: str, step: Step) -> str:
    """A step up to its convolution."""
    return layers.activate_on_board(layers.normalise(x, step.norm), step.activation)


def _add_residual(layers: Layers, x: str, block: Block) -> str:
    assert isinstance(block, ResidualBlock)
    entered = _enter(layers, x, block.first)
    inner = layers.convolve(entered, block.first.conv, then=block.second.norm)
    if block.pooling is not None:
        inner = add_bias(layers, inner, add_pooled(layers, entered, block.pooling), block.pooling, block.second.norm)
    inner = layers.activate_on_board(inner, block.second.activation)
    return layers.node("Add", layers.convolve(inner, block.second.conv), x)


def _add_nested(layers: Layers, x: str, block: NestedBlock) -> str:
    inner = layers.convolve(_enter(layers, x, block.first), block.first.conv)
    inner = add_blocks(layers, inner, block.blocks, block.first.conv.channels[1])
    return layers.node("Add", layers.convolve(_enter(layers, inner, block.last), block.last.conv), x)


# --- transformers ---


def _add_transformers(layers: Layers, x: str, blocks: list[Block], channels: int) -> str:
    """Neighbouring transformer blocks. Points off the board are no keys; what their own rows hold is seen by nobody."""
    by_point = layers.node("Transpose", x, perm=[0, 2, 3, 1])
    rows = layers.node("Reshape", by_point, layers.whole(0, -1, channels))
    for block in blocks:
        if isinstance(block, AttentionBlock):
            rows = layers.node("Add", rows, _attend(layers, rows, block))
        elif isinstance(block, FeedForwardBlock):
            rows = layers.node("Add", rows, _feed_forward(layers, rows, block))
    by_point = layers.node("Reshape", rows, layers.node("Shape", by_point))
    return layers.node("Transpose", by_point, perm=[0, 3, 1, 2])


def _feed_forward(layers: Layers, rows: str, block: FeedForwardBlock) -> str:
    entered = layers.normalise_rms(rows, block.norm)
    first, gate = (layers.multiply(entered, dense.weights) for dense in (block.first, block.gate))
    swish = layers.node("Mul", first, layers.node("Sigmoid", first))
    return layers.multiply(layers.node("Mul", swish, gate), block.out.weights)


def _attend(layers: Layers, rows: str, block: AttentionBlock) -> str:
    """Heads that share their keys are put together, as further rows of queries."""
    heads, shared = block.key_heads, block.heads // block.key_heads
    width, value_width = block.query.channels[1] // block.heads, block.value.channels[1] // heads
    entered = layers.normalise_rms(rows, block.norm)
    query = layers.multiply(entered, _paired(block.query.weights, width, block.rotation) / math.sqrt(width))
    key = layers.multiply(entered, _paired(block.key.weights, width, block.rotation))
    query = layers.node("Reshape", query, layers.whole(0, -1, heads, shared, width))
    key = layers.node("Reshape", key, layers.whole(0, -1, heads, 1, width))
    if block.rotation is not None:
        turn = _angles(layers, block.rotation, width)
        query, key = _rotate(layers, query, *turn), _rotate(layers, key, *turn)
    value = layers.node("Reshape", layers.multiply(entered, block.value.weights), layers.whole(0, -1, heads, value_width))
    query = layers.node("Transpose", query, perm=[0, 2, 3, 1, 4])
    query = layers.node("Reshape", query, layers.whole(0, heads, -1, width))  # (n, heads, shared x points, width)
    key = layers.node("Reshape", layers.node("Transpose", key, perm=[0, 2, 3, 4, 1]), layers.whole(0, heads, width, -1))
    value = layers.node("Transpose", value, perm=[0, 2, 1, 3])
    logits = layers.node("MatMul", query, key)
    if layers.mask:
        logits = layers.node("Add", logits, _absent(layers))
    seen = layers.node("MatMul", layers.node("Softmax", logits, axis=-1), value)
    seen = layers.node("Reshape", seen, layers.whole(0, heads * shared, -1, value_width))
    seen = layers.node("Transpose", seen, perm=[0, 2, 1, 3])
    return layers.multiply(layers.node("Reshape", seen, layers.whole(0, -1, heads * shared * value_width)), block.out.weights)


def _absent(layers: Layers) -> str:
    """(n, 1, 1, points): 0 on the board, hugely negative off it."""
    assert layers.mask is not None
    off = layers.node("Mul", layers.node("Sub", layers.mask, layers.floats(1.0)), layers.floats(OFF_BOARD))
    return layers.node("Reshape", off, layers.whole(0, 1, 1, -1))


def _paired(weights: np.ndarray, width: int, rotation: Rotation | None) -> np.ndarray:
    """Weights of queries or keys so that, in each head, the first of all pairs come before the second of all pairs. Products of
    queries and keys stay the same."""
    if rotation is None:
        return weights
    return weights.reshape(len(weights), -1, width // 2, 2).swapaxes(2, 3).reshape(weights.shape)


def _angles(layers: Layers, rotation: Rotation, width: int) -> tuple[str, str]:
    """Cosine and sine for each point and pair: (points, heads of keys or 1, 1, pairs)."""
    row, column = np.mgrid[:LARGEST_BOARD, :LARGEST_BOARD][..., None, None]
    if rotation.frequencies is not None:
        angles = column * rotation.frequencies[None, None, :, :, 0] + row * rotation.frequencies[None, None, :, :, 1]
    else:
        assert rotation.theta is not None
        pairs = width // 2
        by_row = pairs // 2
        frequencies = rotation.theta ** (-2.0 * np.arange(max(by_row, pairs - by_row)) / pairs)
        angles = np.concatenate([row * frequencies[:by_row], column * frequencies[: pairs - by_row]], axis=-1)
    tables = []
    for table in (np.cos(angles), np.sin(angles)):
        here = layers.node("Slice", layers.floats(table), layers.whole(0, 0), layers.size, layers.whole(0, 1))
        tables.append(layers.node("Reshape", here, layers.whole(-1, table.shape[2], 1, table.shape[3])))
    return tables[0], tables[1]


def _rotate(layers: Layers, x: str, cosine: str, sine: str) -> str:
    """x, (n, points, heads of keys, shared, width), turned pair by pair."""
    first, second = layers.halves(x)
    along = layers.node("Sub", layers.node("Mul", first, cosine), layers.node("Mul", second, sine))
    across = layers.node("Add", layers.node("Mul", first, sine), layers.node("Mul", second, cosine))
    return layers.node("Concat", along, across, axis=-1)
