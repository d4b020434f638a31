"""KataGo's networks in plain NumPy and double precision, one position at a time, straight from the description of a file.

Nothing knows of masks or batches: a position is cut out of its planes first. `cut` and `evaluate` are what tests call.
"""

import math
from typing import NamedTuple

import numpy as np

from anabranch.nets.katago.layers import (
    Activation,
    AttentionBlock,
    Convolution,
    Dense,
    FeedForwardBlock,
    KataGoNetwork,
    NestedBlock,
    Norm,
    Pooling,
    RmsNorm,
    Step,
)


class Outputs(NamedTuple):
    policy: np.ndarray  # (channels, height, width)
    passing: np.ndarray  # (channels,)
    value: np.ndarray
    score: np.ndarray
    ownership: np.ndarray  # (height, width)


def cut(planes):
    """Where the board is, as rows and columns, and planes of the board alone."""
    rows, columns = np.nonzero(planes[0])
    where = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    return where, planes[(slice(None), *where)]


def evaluate(network: KataGoNetwork, planes, of_globals, metadata=None) -> Outputs:
    trunk = network.trunk
    x = convolve(planes.astype(float), trunk.conv) + dense(of_globals, trunk.globals)[:, None, None]
    if trunk.metadata is not None:
        encoder = trunk.metadata
        hidden = activate(dense(metadata, encoder.first), encoder.first_activation)
        hidden = activate(dense(hidden, encoder.second), encoder.second_activation)
        x += dense(hidden, encoder.out)[:, None, None]
    for block in trunk.blocks:
        x = x + difference(x, block)
    x = normalise(x, trunk.norm) if isinstance(trunk.norm, Norm) else normalise_rms(x, trunk.norm)
    x = activate(x, trunk.activation)
    return Outputs(*policy(x, network.policy), *value(x, network.value))


def policy(x, head):
    pooled = pool(x, head.pooling)
    points = convolve(x, head.conv) + dense(pooled, head.pooling.to_bias)[:, None, None]
    points = convolve(activate(normalise(points, head.norm), head.activation), head.out)
    passing = dense(pooled, head.passing)
    if head.passing_out is not None:
        passing = dense(activate(passing, head.passing_activation), head.passing_out)
    return points, passing


def value(x, head):
    points = activate(normalise(convolve(x, head.first), head.norm), head.activation)
    mean = points.mean(axis=(1, 2))
    width = math.sqrt(points[0].size) - 14.0
    pooled = np.concatenate([mean, mean * width * 0.1, mean * (width**2 * 0.01 - 0.1)])
    hidden = activate(dense(pooled, head.second), head.second_activation)
    return dense(hidden, head.value), dense(hidden, head.score), convolve(points, head.ownership)[0]


# --- blocks: what they add ---


def difference(x, block):
    if isinstance(block, AttentionBlock):
        return attend(x, block)
    if isinstance(block, FeedForwardBlock):
        entered = normalise_rms(x, block.norm).transpose(1, 2, 0)
        inner = activate(entered @ block.first.weights, Activation.SILU) * (entered @ block.gate.weights)
        return (inner @ block.out.weights).transpose(2, 0, 1)
    if isinstance(block, NestedBlock):
        inner = step(x, block.first)
        for one in block.blocks:
            inner = inner + difference(inner, one)
        return step(inner, block.last)
    inner = step(x, block.first)
    if block.pooling is not None:
        entered = activate(normalise(x, block.first.norm), block.first.activation)
        inner = inner + dense(pool(entered, block.pooling), block.pooling.to_bias)[:, None, None]
    return step(inner, block.second)


def step(x, step: Step):
    return convolve(activate(normalise(x, step.norm), step.activation), step.conv)


def pool(x, pooling: Pooling):
    points = activate(normalise(convolve(x, pooling.conv), pooling.norm), pooling.activation)
    mean = points.mean(axis=(1, 2))
    most = np.maximum(points.max(axis=(1, 2)), -1.0)
    return np.concatenate([mean, mean * (math.sqrt(points[0].size) - 14.0) * 0.1, most])


def attend(x, block: AttentionBlock):
    """A head at a time; pairs of channels are complex numbers, and rotary positions turn them."""
    height, width = x.shape[1:]
    entered = normalise_rms(x, block.norm).reshape(len(x), -1).T  # (points, channels)
    query, key, value = (entered @ part.weights for part in (block.query, block.key, block.value))
    query = query.reshape(len(entered), block.heads, -1)
    key, value = (part.reshape(len(entered), block.key_heads, -1) for part in (key, value))
    channels = query.shape[2]
    seen = []
    for head in range(block.heads):
        source = head * block.key_heads // block.heads
        q, k = query[:, head], key[:, source]
        if block.rotation is not None:
            turn = np.exp(1j * angles(block.rotation, source, channels // 2, height, width))
            q, k = ((part[:, 0::2] + 1j * part[:, 1::2]) * turn for part in (q, k))
        logits = (q @ k.conj().T).real / math.sqrt(channels)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        seen.append(shares / shares.sum(axis=1, keepdims=True) @ value[:, source])
    return (np.concatenate(seen, axis=1) @ block.out.weights).T.reshape(x.shape)


def angles(rotation, head, pairs, height, width):
    """(points, pairs)."""
    table = np.empty((height, width, pairs))
    for row in range(height):
        for column in range(width):
            for pair in range(pairs):
                if rotation.frequencies is not None:
                    along, down = rotation.frequencies[head, pair]
                    table[row, column, pair] = column * along + row * down
                elif pair < pairs // 2:
                    table[row, column, pair] = row / rotation.theta ** (2 * pair / pairs)
                else:
                    table[row, column, pair] = column / rotation.theta ** (2 * (pair - pairs // 2) / pairs)
    return table.reshape(-1, pairs)


# --- layers ---


def convolve(x, conv: Convolution):
    out, _, height, width = conv.weights.shape
    down, along = conv.dilation
    padded = np.pad(x, [(0, 0), *[(length // 2 * step,) * 2 for length, step in ((height, down), (width, along))]])
    result = np.zeros((out, *x.shape[1:]))
    for i in range(height):
        for j in range(width):
            part = padded[:, i * down : i * down + x.shape[1], j * along : j * along + x.shape[2]]
            result += np.einsum("oi,ihw->ohw", conv.weights[:, :, i, j].astype(float), part)
    return result


def normalise(x, norm: Norm):
    mean, variance, scale, bias = (
        part.astype(float)[:, None, None] for part in (norm.mean, norm.variance, norm.scale, norm.bias)
    )
    return (x - mean) / np.sqrt(variance + norm.epsilon) * scale + bias


def normalise_rms(x, norm: RmsNorm):
    mean = (x**2).mean() if norm.whole_board else (x**2).mean(axis=0)
    scaled = x / np.sqrt(mean + norm.epsilon) * norm.scale[:, None, None]
    return scaled if norm.bias is None else scaled + norm.bias[:, None, None]


def activate(x, activation: Activation):
    if activation is Activation.RELU:
        return np.maximum(x, 0.0)
    if activation is Activation.MISH:
        return x * np.tanh(np.logaddexp(0.0, x))
    if activation is Activation.SILU:
        return x / (1.0 + np.exp(-x))
    return x


def dense(x, dense: Dense):
    result = x.astype(float) @ dense.weights.astype(float)
    return result if dense.bias is None else result + dense.bias
