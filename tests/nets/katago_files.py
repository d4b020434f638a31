"""Small random networks of any KataGo model version, and KataGo's file format, written.

`make_network(...)` gives a description, `write_network(...)` makes a file of it, and `written(...)` also tells where words and
blocks of weights begin, for tests that cut or change files there.
"""

import gzip

import numpy as np

from anabranch.nets.katago.layers import (
    GLOBALS,
    METADATA,
    PLANES,
    Activation,
    AttentionBlock,
    Convolution,
    Dense,
    FeedForwardBlock,
    Header,
    KataGoNetwork,
    MetadataEncoder,
    Multipliers,
    NestedBlock,
    Norm,
    PolicyHead,
    Pooling,
    ResidualBlock,
    RmsNorm,
    Rotation,
    Step,
    Trunk,
    ValueHead,
)

VERSIONS = range(8, 18)
KINDS = ("ordinary", "pooling", "nested", "attention", "feed_forward")


class Maker:
    """Random layers; names are counted."""

    def __init__(self, seed=0, activation=Activation.RELU):
        self.random, self.activation, self.count = np.random.default_rng(seed), activation, 0

    def name(self, kind):
        self.count += 1
        return f"model.{kind}{self.count}"

    def normal(self, *shape, scale=1.0):
        return self.random.normal(0.0, scale, shape).astype(np.float32)

    def conv(self, channels_in, channels_out, size=(3, 3), dilation=(1, 1)):
        fan = channels_in * size[0] * size[1]
        return Convolution(self.name("conv"), self.normal(channels_out, channels_in, *size, scale=fan**-0.5), dilation)

    def norm(self, channels):
        plain = self.random.random() < 0.3  # a bias only
        scale = np.ones(channels, np.float32) if plain else 1.0 + self.normal(channels, scale=0.3)
        bias = np.zeros(channels, np.float32) if self.random.random() < 0.2 else self.normal(channels, scale=0.5)
        variance = self.random.uniform(0.3, 2.0, channels).astype(np.float32)
        epsilon = float(self.random.choice([1e-20, 1e-3]))
        return Norm(self.name("norm"), self.normal(channels, scale=0.5), variance, scale, bias, epsilon)

    def rms_norm(self, channels, biased=False, whole_board=False):
        bias = self.normal(channels, scale=0.3) if biased else None
        return RmsNorm(self.name("rms"), 1.0 + self.normal(channels, scale=0.3), bias, 1e-6, whole_board)

    def dense(self, channels_in, channels_out, biased=False):
        bias = self.normal(channels_out, scale=0.5) if biased else None
        return Dense(self.name("dense"), self.normal(channels_in, channels_out, scale=channels_in**-0.5), bias)

    def step(self, channels_in, channels_out, **options):
        return Step(self.norm(channels_in), self.activation, self.conv(channels_in, channels_out, **options))

    def pooling(self, channels, pooled, channels_out, **options):
        conv = self.conv(channels, pooled, **options)
        return Pooling(conv, self.norm(pooled), self.activation, self.dense(3 * pooled, channels_out))

    def encoder(self, channels):
        first, second = self.dense(METADATA, 5, biased=True), self.dense(5, 4, biased=True)
        return MetadataEncoder(first, self.activation, second, self.activation, self.dense(4, channels))

    def block(self, kind, channels, inner=3):
        name = self.name(kind)
        if kind == "ordinary":
            dilated = self.step(channels, inner, size=(3, 5), dilation=(2, 1))
            return ResidualBlock(name, dilated, self.step(inner, channels))
        if kind == "pooling":
            pooling = self.pooling(channels, 2, inner)
            return ResidualBlock(name, self.step(channels, inner), self.step(inner, channels), pooling)
        if kind == "nested":
            inside = [self.block(one, inner, 2) for one in ("ordinary", "pooling")]
            deeper = NestedBlock(
                self.name("nested"),
                self.step(inner, 2, size=(1, 1)),
                (self.block("ordinary", 2, 2),),
                self.step(2, inner, size=(1, 1)),
            )
            first, last = self.step(channels, inner, size=(1, 1)), self.step(inner, channels, size=(1, 1))
            return NestedBlock(name, first, (*inside, deeper), last)
        if kind == "feed_forward":
            norm, first, gate = self.rms_norm(channels), self.dense(channels, 5), self.dense(channels, 5)
            return FeedForwardBlock(name, norm, first, gate, self.dense(5, channels))
        return self.attention(name, channels, *self.random.choice([(4, 2, 6, 3), (2, 2, 4, 2), (3, 1, 8, 1)]))

    def attention(self, name, channels, heads, key_heads, width, value_width, rotation="learnt"):
        return AttentionBlock(
            name,
            int(heads),
            int(key_heads),
            self.rms_norm(channels),
            self.dense(channels, heads * width),
            self.dense(channels, key_heads * width),
            self.dense(channels, key_heads * value_width),
            self.dense(heads * value_width, channels),
            {
                "learnt": Rotation(None, self.normal(key_heads, width // 2, 2, scale=0.3)),
                "fixed": Rotation(100.0, None),
                "none": None,
            }[rotation],
        )


def make_network(
    version=8,
    blocks=("ordinary", "pooling"),
    seed=0,
    activation=Activation.RELU,
    channels=6,
    metadata=False,
    policy_channels=None,
    tip="norm",
):
    """A network. `blocks` are kinds or blocks; `tip` is "norm", "rms" or "rms of the board"."""
    make = Maker(seed, activation)
    width, value_width = 4, 3
    outputs = policy_channels or (4 if version >= 16 else 2 if version >= 12 else 1)
    trunk = Trunk(
        "trunk",
        make.conv(PLANES, channels, size=(5, 5)),
        make.dense(GLOBALS, channels),
        make.encoder(channels) if metadata else None,
        tuple(make.block(block, channels) if isinstance(block, str) else block for block in blocks),
        make.norm(channels) if tip == "norm" else make.rms_norm(channels, True, tip == "rms of the board"),
        activation,
    )
    two_layers = version >= 15
    policy = PolicyHead(
        "policyhead",
        make.conv(channels, width, size=(1, 1)),
        make.pooling(channels, 3, width, size=(1, 1)),
        make.norm(width),
        activation,
        make.conv(width, outputs, size=(1, 1)),
        make.dense(9, width if two_layers else outputs, biased=two_layers),
        activation if two_layers else None,
        make.dense(width, outputs) if two_layers else None,
    )
    value = ValueHead(
        "valuehead",
        make.conv(channels, value_width, size=(1, 1)),
        make.norm(value_width),
        activation,
        make.dense(3 * value_width, 5, biased=True),
        activation,
        make.dense(5, 3, biased=True),
        make.dense(5, 6 if version >= 9 else 4, biased=True),
        make.conv(value_width, 1, size=(3, 3)),
    )
    numbers = Multipliers(20.0, 21.5, 22.0, 23.0, 41.0, 0.3, 145.0) if version >= 13 else Multipliers()
    return KataGoNetwork(Header(f"tiny-v{version}", version, numbers, metadata, version >= 17), trunk, policy, value)


class Writer:
    """Writes words and weights; remembers where each began."""

    def __init__(self, version, binary):
        self.version, self.binary = version, binary
        self.bytes, self.words, self.blocks = bytearray(), [], []

    def write(self, *words):
        for word in words:
            self.words.append(len(self.bytes))
            self.bytes += f"{word}\n".encode()

    def weights(self, array):
        self.blocks.append(len(self.bytes))
        if self.binary:
            self.bytes += b"@BIN@" + np.ascontiguousarray(array, "<f4").tobytes() + b"\n"
        else:
            self.bytes += " ".join(repr(float(number)) for number in array.ravel()).encode() + b"\n"

    def conv(self, conv):
        out, inner, height, width = conv.weights.shape
        self.write(conv.name, height, width, inner, out, *conv.dilation)
        self.weights(conv.weights.transpose(2, 3, 1, 0))

    def norm(self, norm):
        has_scale, has_bias = bool((norm.scale != 1).any()), bool(norm.bias.any())
        self.write(norm.name, len(norm.mean), norm.epsilon, int(has_scale), int(has_bias))
        for array in [norm.mean, norm.variance] + [norm.scale] * has_scale + [norm.bias] * has_bias:
            self.weights(array)

    def block_norm(self, norm):
        self.write(norm.name, len(norm.scale), norm.epsilon)
        self.weights(norm.scale)

    def tip(self, norm):
        if isinstance(norm, Norm):
            return self.norm(norm)
        self.write(norm.name, len(norm.scale), norm.epsilon, int(norm.whole_board), 0)
        self.weights(norm.scale)
        self.weights(norm.bias)

    def activation(self, activation):
        self.write("some.activation")
        if self.version >= 11:
            self.write(f"ACTIVATION_{activation.value}")

    def dense(self, dense):
        self.write(dense.name, *dense.channels)
        self.weights(dense.weights)
        if dense.bias is not None:
            self.write(dense.name + ".bias", len(dense.bias))
            self.weights(dense.bias)

    def step(self, step):
        self.norm(step.norm)
        self.activation(step.activation)
        self.conv(step.conv)

    def pooling(self, pooling):
        self.conv(pooling.conv)
        self.norm(pooling.norm)
        self.activation(pooling.activation)
        self.dense(pooling.to_bias)

    def block(self, block):
        if isinstance(block, ResidualBlock):
            self.write("ordinary_block" if block.pooling is None else "gpool_block", block.name)
            self.step(block.first)
            if block.pooling is not None:
                self.pooling(block.pooling)
            self.step(block.second)
        elif isinstance(block, NestedBlock):
            self.write("nested_bottleneck_block", block.name, len(block.blocks))
            self.step(block.first)
            for inner in block.blocks:
                self.block(inner)
            self.step(block.last)
        elif isinstance(block, FeedForwardBlock):
            self.write("transformer_ffn_block", block.name, *block.first.channels, 1)
            self.block_norm(block.norm)
            for dense in (block.first, block.gate, block.out):
                self.dense(dense)
        else:
            self.attention(block)

    def attention(self, block):
        widths = block.query.channels[1] // block.heads, block.value.channels[1] // block.key_heads
        turned = block.rotation is not None
        learnt = turned and block.rotation.frequencies is not None
        self.write("transformer_attention_block", block.name, block.heads, block.key_heads, *widths, int(turned), int(learnt))
        self.block_norm(block.norm)
        for dense in (block.query, block.key, block.value, block.out):
            self.dense(dense)
        if learnt:
            self.write(block.name + ".rope", *block.rotation.frequencies.shape)
            self.weights(block.rotation.frequencies)
        elif turned:
            self.write(block.name + ".rope", block.rotation.theta)

    def network(self, network):
        header, trunk = network.header, network.trunk
        self.write(header.name, header.version, PLANES, GLOBALS)
        if self.version >= 13:
            self.write(*header.multipliers)
        if self.version >= 15:
            self.write(int(header.has_metadata), int(header.pass_alive_with_suicide), *[0] * 6)
        self.write(trunk.name, len(trunk.blocks), trunk.channels, 3, 3, 2, 2)
        if self.version >= 15:
            self.write(int(isinstance(trunk.norm, RmsNorm)), *[0] * 5)
        self.conv(trunk.conv)
        self.dense(trunk.globals)
        if trunk.metadata is not None:
            self.write("encoder", METADATA)
            self.dense(trunk.metadata.first)
            self.activation(trunk.metadata.first_activation)
            self.dense(trunk.metadata.second)
            self.activation(trunk.metadata.second_activation)
            self.dense(trunk.metadata.out)
        for block in trunk.blocks:
            self.block(block)
        self.tip(trunk.norm)
        self.activation(trunk.activation)
        self.policy(network.policy)
        self.value(network.value)

    def policy(self, head):
        self.write(head.name)
        if self.version >= 17:
            self.write(head.channels, 0, 0, 0)
        self.conv(head.conv)
        self.pooling(head.pooling)
        self.norm(head.norm)
        self.activation(head.activation)
        self.conv(head.out)
        self.dense(head.passing)
        if head.passing_out is not None:
            self.activation(head.passing_activation)
            self.dense(head.passing_out)

    def value(self, head):
        self.write(head.name, *[0] * (3 * (self.version >= 17)))
        self.conv(head.first)
        self.norm(head.norm)
        self.activation(head.activation)
        self.dense(head.second)
        self.activation(head.second_activation)
        self.dense(head.value)
        self.dense(head.score)
        self.conv(head.ownership)


def written(network, binary=True):
    """A writer that is done: its bytes, and where words and blocks of weights begin."""
    writer = Writer(network.header.version, binary)
    writer.network(network)
    return writer


def write_network(path, network, binary=True, zipped=True):
    """A file with this network."""
    content = bytes(written(network, binary).bytes)
    path.write_bytes(gzip.compress(content, 1) if zipped else content)
    return path
