"""KataGo's model files: `read_network(path)` gives the network in one, of model versions 8 to 17.

A file is a list of words: numbers, names, and blocks of weights (`source.py`). First come the version and what holds for the
whole network, then the trunk, the policy head and the value head, each layer with its name and its sizes before its weights.
What differs by version is here; layers and blocks are in `file_layers.py`.
"""

from pathlib import Path

from anabranch.nets.katago.file_layers import (
    MOST_CHANNELS,
    read_activation,
    read_blocks,
    read_conv,
    read_dense,
    read_encoder,
    read_norm,
    read_pooling,
    read_tip_norm,
)
from anabranch.nets.katago.layers import (
    GLOBALS,
    PLANES,
    POOLED,
    VALUES,
    Header,
    KataGoNetwork,
    Multipliers,
    PolicyHead,
    Trunk,
    ValueHead,
)
from anabranch.nets.katago.source import Source

OLDEST, NEWEST = 8, 17  # model versions; older ones have other inputs
MOST_BLOCKS = 1000
NAMES_OF_MULTIPLIERS = {name: f"the multiplier {name}" for name in Multipliers._fields}


def read_network(path: str | Path) -> KataGoNetwork:
    """The network in a file: text or binary, gzipped or not. Whatever is wrong with the file is a `NetworkError`."""
    with Source(Path(path)) as source:
        name = source.word("its name")
        version = source.whole("its model version", 0, 999_999_999)
        if not OLDEST <= version <= NEWEST:
            newer = "made for a later KataGo" if version > NEWEST else "older than any that is still used"
            source.fail(f"its model version is {version}, {newer}; versions {OLDEST} to {NEWEST} can be read")
        source.whole("its number of planes", PLANES, PLANES)
        source.whole("its number of global inputs", GLOBALS, GLOBALS)
        multipliers = Multipliers()
        if version >= 13:
            multipliers = Multipliers(*(source.positive(what) for what in NAMES_OF_MULTIPLIERS.values()))
        has_metadata, with_suicide = False, False
        if version >= 15:
            has_metadata = bool(source.whole("the version of its metadata encoder", 0, 1))
            with_suicide = bool(source.whole("its option for pass-alive area", 0, 1))
            _skip_options(source, "option {} of the model", 6)
        trunk = _read_trunk(source, version, has_metadata)
        policy = _read_policy(source, version, trunk.channels)
        value = _read_value(source, version, trunk.channels)
        source.finish()
    return KataGoNetwork(Header(name, version, multipliers, has_metadata, with_suicide), trunk, policy, value)


def _skip_options(source: Source, what: str, count: int) -> None:
    """Options for networks of the future, all 0 so far."""
    for number in range(count):
        source.whole(what.format(number + 1), 0, 0)


def _read_trunk(source: Source, version: int, has_metadata: bool) -> Trunk:
    name = source.word("the name of the trunk")
    count = source.whole("the number of blocks", 1, MOST_BLOCKS)
    channels = source.whole("the number of channels of the trunk", 1, MOST_CHANNELS)
    for kind in ("of blocks", "of pooling blocks"):
        source.whole(f"the number of inner channels {kind}", 1, MOST_CHANNELS)
    source.whole("the number of dilated channels", -MOST_CHANNELS, MOST_CHANNELS)  # of a kind of block that is no more
    source.whole("the number of pooled channels", 1, MOST_CHANNELS)
    has_rms_norm = False
    if version >= 15:
        has_rms_norm = bool(source.whole("the kind of the trunk's last normalisation", 0, 1))
        _skip_options(source, "option {} of the trunk", 5)
    conv = read_conv(source, PLANES, channels)
    of_globals = read_dense(source, GLOBALS, channels)
    encoder = read_encoder(source, version, channels) if has_metadata else None
    blocks = read_blocks(source, version, count, channels)
    norm = read_tip_norm(source, channels) if has_rms_norm else read_norm(source, channels)
    return Trunk(name, conv, of_globals, encoder, blocks, norm, read_activation(source, version))


def _read_policy(source: Source, version: int, channels: int) -> PolicyHead:
    name = source.word("the name of the policy head")
    outputs = 4 if version >= 16 else 2 if version >= 12 else 1
    if version >= 17:
        outputs = source.whole("the number of policy channels", 2, 4)
        if outputs == 3:
            source.fail("it has 3 policy channels; there may be 2 or 4")
        _skip_options(source, "option {} of the policy head", 3)
    conv = read_conv(source, channels)
    width = conv.channels[1]
    pooling = read_pooling(source, version, channels, width)
    norm, activation = read_norm(source, width), read_activation(source, version)
    out = read_conv(source, width, outputs)
    pooled = pooling.to_bias.channels[0]
    if version < 15:
        passing, passing_activation, passing_out = read_dense(source, pooled, outputs), None, None
    else:
        passing, passing_activation = read_dense(source, pooled, width, biased=True), read_activation(source, version)
        passing_out = read_dense(source, width, outputs)
    return PolicyHead(name, conv, pooling, norm, activation, out, passing, passing_activation, passing_out)


def _read_value(source: Source, version: int, channels: int) -> ValueHead:
    name = source.word("the name of the value head")
    if version >= 17:
        _skip_options(source, "option {} of the value head", 3)
    first = read_conv(source, channels)
    width = first.channels[1]
    norm, activation = read_norm(source, width), read_activation(source, version)
    second, second_activation = read_dense(source, POOLED * width, biased=True), read_activation(source, version)
    value = read_dense(source, second.channels[1], VALUES, biased=True)
    score = read_dense(source, second.channels[1], 6 if version >= 9 else 4, biased=True)
    return ValueHead(name, first, norm, activation, second, second_activation, value, score, read_conv(source, width, 1))
