"""From a KataGo network to an ONNX graph: `build_graph(network)`. Blocks are in `graph_blocks.py`, layers in `graph_layers.py`.

    planes    f4 (n, 22, height, width)      1 in the first one on every point of the board
    globals   f4 (n, 19)
    metadata  f4 (n, 192)                    of human-like networks only

    policy    f4 (n, channels, points)       logits: policy; optimistic policy from version 12 on; Q of win and score if any
    pass      f4 (n, channels)               the same of a pass
    value     f4 (n, 3)                      logits of win, loss, no result
    score     f4 (n, 4 or 6)                 as in `ValueHead.score`
    ownership f4 (n, height, width)          before tanh

Outputs are in the view of who moves, and raw: `outputs.py` reads them. Any n, and any board up to 19x19.
"""

from typing import Any

from anabranch.nets.katago.graph_blocks import add_bias, add_blocks, add_pooled
from anabranch.nets.katago.graph_layers import INPUTS, METADATA_INPUT, Layers
from anabranch.nets.katago.layers import VALUES, KataGoNetwork, MetadataEncoder, Norm, PolicyHead, Trunk, ValueHead

OUTPUTS = ("policy", "pass", "value", "score", "ownership")


def build_graph(network: KataGoNetwork, masked: bool = True) -> bytes:
    """The network as an ONNX model. If it is not `masked`, all boards have to fill their planes."""
    layers = Layers(masked)
    trunk = _add_trunk(layers, network.trunk)
    _add_policy(layers, trunk, network.policy)
    _add_value(layers, trunk, network.value)
    inputs = INPUTS | (METADATA_INPUT if network.header.has_metadata else {})
    shapes: list[list[Any]] = [
        ["positions", network.policy.channels, "points"],
        ["positions", network.policy.channels],
        ["positions", VALUES],
        ["positions", network.value.score.channels[1]],
        ["positions", "height", "width"],
    ]
    return layers.serialise(network.header.name, inputs, dict(zip(OUTPUTS, shapes, strict=True)))


def _add_trunk(layers: Layers, trunk: Trunk) -> str:
    of_position = layers.dense("globals", trunk.globals)
    if trunk.metadata is not None:
        of_position = layers.node("Add", of_position, _add_encoder(layers, trunk.metadata))
    x = layers.node("Add", layers.convolve("planes", trunk.conv), layers.to_points(of_position))
    x = add_blocks(layers, x, trunk.blocks, trunk.channels)
    norm = trunk.norm
    x = layers.normalise(x, norm) if isinstance(norm, Norm) else layers.normalise_rms(x, norm, channels=1)
    return layers.activate_on_board(x, trunk.activation)


def _add_encoder(layers: Layers, encoder: MetadataEncoder) -> str:
    first = layers.activate(layers.dense("metadata", encoder.first), encoder.first_activation)
    second = layers.activate(layers.dense(first, encoder.second), encoder.second_activation)
    return layers.dense(second, encoder.out)


def _add_policy(layers: Layers, trunk: str, head: PolicyHead) -> None:
    pooled = add_pooled(layers, trunk, head.pooling)
    points = layers.convolve(trunk, head.conv, then=head.norm)
    points = add_bias(layers, points, pooled, head.pooling, head.norm)
    points = layers.convolve(layers.activate_on_board(points, head.activation), head.out)
    layers.node("Reshape", points, layers.whole(0, 0, -1), output="policy")
    if head.passing_activation is None or head.passing_out is None:
        layers.dense(pooled, head.passing, output="pass")
    else:
        inner = layers.activate(layers.dense(pooled, head.passing), head.passing_activation)
        layers.dense(inner, head.passing_out, output="pass")


def _add_value(layers: Layers, trunk: str, head: ValueHead) -> None:
    points = layers.activate_on_board(layers.convolve(trunk, head.first, then=head.norm), head.activation)
    inner = layers.activate(layers.dense(layers.pool_for_value(points), head.second), head.second_activation)
    layers.dense(inner, head.value, output="value")
    layers.dense(inner, head.score, output="score")
    ownership = layers.convolve(points, head.ownership)
    if layers.mask:
        ownership = layers.node("Mul", ownership, layers.mask)
    layers.node("Squeeze", ownership, layers.whole(1), output="ownership")
