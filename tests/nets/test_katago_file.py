"""KataGo's model files: all versions are read as they were written, and whatever is wrong with one is said in one line."""

import dataclasses
import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.errors import NetworkError
from anabranch.nets.katago import source
from anabranch.nets.katago.file import read_network
from anabranch.nets.katago.layers import Activation, Multipliers, NestedBlock
from tests.nets.katago_files import KINDS, VERSIONS, Maker, make_network, write_network, written

ANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def everything(version=17):
    """A network with all that its version may have."""
    return make_network(
        version, KINDS if version >= 17 else KINDS[:3], metadata=version >= 15, tip="rms" if version >= 17 else "norm"
    )


SMALL = {binary: written(make_network(11, ("pooling",)), binary) for binary in (True, False)}


def arrays(part):
    """All weights in a description, by path."""
    if isinstance(part, np.ndarray):
        yield "", part
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            yield from ((f"{field.name}.{path}", array) for path, array in arrays(getattr(part, field.name)))
    elif isinstance(part, tuple):
        for number, item in enumerate(part):
            yield from ((f"{number}.{path}", array) for path, array in arrays(item))


def others(part):
    """Everything in a description but weights."""
    if dataclasses.is_dataclass(part):
        return type(part), [others(getattr(part, field.name)) for field in dataclasses.fields(part)]
    return tuple(map(others, part)) if isinstance(part, tuple) else part if not isinstance(part, np.ndarray) else part.dtype


def refused(tmp_path, content, what=""):
    """What is said about a file with this content."""
    path = tmp_path / "net.bin"
    path.write_bytes(content)
    with pytest.raises(NetworkError) as info:
        read_network(path)
    said = str(info.value)
    assert said.startswith(f"{path} cannot be used as a KataGo network: ") and "\n" not in said and what in said, said
    return said


def changed(word, new, binary=True, network=None):
    """A file whose first such word is another."""
    writer = SMALL[binary] if network is None else written(network, binary)
    old, new = (f"\n{text}\n".encode() for text in (word, new))
    assert old in writer.bytes
    return bytes(writer.bytes).replace(old, new, 1)


# --- what is read is what was written ---


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
@pytest.mark.parametrize("zipped", [True, False], ids=["gzip", "plain"])
def test_a_network_is_read_as_it_was_written(tmp_path, version, binary, zipped):
    network = everything(version)
    read = read_network(write_network(tmp_path / "any.name", network, binary, zipped))
    assert others(read) == others(network)
    pairs = zip(arrays(read), arrays(network), strict=True)
    assert all(ours[0] == theirs[0] and np.array_equal(ours[1], theirs[1]) for ours, theirs in pairs)


@pytest.mark.parametrize("activation", Activation)
def test_activations_are_named_in_the_file_from_version_11_on(tmp_path, activation):
    path = tmp_path / "net.bin"
    assert read_network(write_network(path, make_network(11, activation=activation))).trunk.activation is activation
    assert read_network(write_network(path, make_network(10, activation=activation))).trunk.activation is Activation.RELU


def test_multipliers_are_in_the_file_from_version_13_on(tmp_path):
    networks = [read_network(write_network(tmp_path / "net.bin", make_network(version))) for version in (12, 13)]
    assert networks[0].header.multipliers == Multipliers() == (20.0, 20.0, 20.0, 20.0, 40.0, 0.25, 30.0)
    assert networks[1].header.multipliers == (20.0, 21.5, 22.0, 23.0, 41.0, 0.3, 145.0)


@pytest.mark.parametrize("channels", [2, 4])
def test_version_17_has_a_policy_of_2_or_4_channels(tmp_path, channels):
    assert (
        read_network(write_network(tmp_path / "net.bin", make_network(17, policy_channels=channels))).policy.channels
        == channels
    )


@pytest.mark.parametrize("rotation", ["learnt", "fixed", "none"])
def test_rotary_positions_are_learnt_or_fixed_or_missing(tmp_path, rotation):
    block = Maker().attention("block", 6, 2, 1, 4, 3, rotation)
    network = read_network(write_network(tmp_path / "net.bin", make_network(17, (block,))))
    assert others(network.trunk.blocks[0]) == others(block)


def test_spaces_may_be_of_any_kind(tmp_path):
    (tmp_path / "net.txt").write_bytes(b"\r\n " + bytes(SMALL[False].bytes).replace(b"\n", b"\r\n\t ") + b"\n\n")
    assert read_network(tmp_path / "net.txt").header.name == "tiny-v11"


def test_words_and_numbers_may_lie_across_chunks(tmp_path, monkeypatch):
    network = make_network(17, KINDS)
    for chunk in (7, 64):
        monkeypatch.setattr(source, "CHUNK", chunk)
        for binary in (True, False):
            read = read_network(write_network(tmp_path / "net", network, binary))
            assert all(np.array_equal(a[1], b[1]) for a, b in zip(arrays(read), arrays(network), strict=True))


# --- versions and sizes that are refused ---


@pytest.mark.parametrize(("version", "why"), [(7, "older than any"), (18, "made for a later KataGo"), (0, "older")])
def test_other_versions_are_refused(tmp_path, version, why):
    said = refused(tmp_path, changed(11, version), f"its model version is {version}, {why}")
    assert "versions 8 to 17 can be read" in said


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (22, 21, "its number of planes is '21', not 22"),
        (19, 20, "its number of global inputs is '20', not 19"),
        (11, "eleven", "its model version is 'eleven', not a whole number"),
        ("ACTIVATION_RELU", "ACTIVATION_RELV", "some.activation is of the kind 'ACTIVATION_RELV', not ACTIVATION_IDENTITY"),
        ("gpool_block", "gpool_clock", "a block is of the kind 'gpool_clock', not one of ordinary_block"),
        (6, 7, "the number of channels out of model.conv1 is '6', not 7"),
        (6, 0, "the number of channels of the trunk is '0', not a whole number from 1 to 8192"),
        (5, 4, "the size of the filters of model.conv1 is 4, which is even"),
        (1, 1001, "the number of blocks is '1001', not a whole number from 1 to 1000"),
        ("1e-20", "-1.0", "is '-1.0', not a number above 0"),
        ("1e-20", "nan", "is 'nan', not a number above 0"),
        ("model.conv1", "m" * 300, "the name of a convolution is more than 256 characters long"),
        ("model.conv1", "mod\xe9l", "the name of a convolution is not text"),
    ],
)
def test_a_word_that_makes_no_sense_is_named(tmp_path, old, new, what):
    refused(tmp_path, changed(old, new), what)


@pytest.mark.parametrize("size", [8193, 99999999999, -6, "6.0", "0x6", "6_0"])
def test_numbers_of_channels_are_whole_and_bounded(tmp_path, size):
    refused(tmp_path, changed(6, size), "the number of channels of the trunk is")


def test_options_of_the_future_are_refused(tmp_path):
    content = bytes(written(make_network(17)).bytes)
    assert content.count(b"\n0\n") > 10
    said = set()
    at = content.find(b"\n0\n")
    while at >= 0:
        said.add(refused(tmp_path, content[: at + 1] + b"7" + content[at + 2 :]).split("network: ")[1])
        at = content.find(b"\n0\n", at + 1)
    for what in ("option 6 of the model", "option 5 of the trunk", "option 3 of the policy head", "option 3 of the value head"):
        assert f"{what} is '7', not 0" in said


def test_3_policy_channels_are_refused(tmp_path):
    content = changed("policyhead\n2", "policyhead\n3", network=make_network(17, policy_channels=2))
    refused(tmp_path, content, "it has 3 policy channels; there may be 2 or 4")


def test_feed_forward_blocks_without_a_gate_are_refused(tmp_path):
    content = changed("6\n5\n1", "6\n5\n0", network=make_network(17, ("feed_forward",)))
    refused(tmp_path, content, "has no gate")


@pytest.mark.parametrize(
    ("heads", "what"), [("4\n3", "cannot share 3 heads"), ("4\n5", "is '5', not a whole number from 1 to 4")]
)
def test_heads_that_cannot_share_their_keys_are_refused(tmp_path, heads, what):
    block = Maker().attention("block", 6, 4, 2, 4, 3)
    refused(tmp_path, changed("block\n4\n2", f"block\n{heads}", network=make_network(17, (block,))), what)


def test_queries_that_cannot_be_paired_are_refused(tmp_path):
    block = Maker().attention("block", 6, 2, 1, 3, 3, "fixed")
    refused(tmp_path, written(make_network(17, (block,))).bytes, "which cannot be paired")


def test_blocks_are_nested_8_deep_at_most(tmp_path):
    make = Maker()
    block = make.block("ordinary", 2, 2)
    for depth in range(1, 10):
        step = [make.step(2, 2, size=(1, 1)) for _ in range(2)]
        block = NestedBlock(f"depth{depth}", step[0], (block,), step[1])
        content = bytes(written(make_network(11, (block,), channels=2)).bytes)
        if depth <= 8:
            (tmp_path / "net").write_bytes(content)
            assert read_network(tmp_path / "net").trunk.blocks
    refused(tmp_path, content, "depth1 is a block inside of 8 others")


# --- weights ---


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("binary", [True, False])
def test_weights_are_finite(tmp_path, bad, binary):
    network = make_network(11, ("pooling",))
    network.trunk.globals.weights[3, 2] = bad
    said = refused(tmp_path, written(network, binary).bytes)
    assert said.endswith(f"a weight of {network.trunk.globals.name} is not {'finite' if binary else 'a number'}")


def test_a_number_beyond_single_precision_is_not_finite(tmp_path):
    writer = SMALL[False]
    at = writer.blocks[0]
    end = writer.bytes.find(b" ", at)
    refused(tmp_path, bytes(writer.bytes[:at] + b"1e39" + writer.bytes[end:]), "a weight of model.conv1 is not finite")


@pytest.mark.parametrize("number", [b"0x1p3", b"1_0", b"1e", b"--1", b"one", b"1" * 65, b"@BIN@"])
def test_numbers_are_written_plainly(tmp_path, number):
    writer = SMALL[False]
    at = writer.blocks[1]
    end = writer.bytes.find(b" ", at)
    refused(tmp_path, bytes(writer.bytes[:at] + number + writer.bytes[end:]), "is not a number")


def test_variances_are_positive(tmp_path):
    network = make_network(11, ("pooling",))
    network.value.norm.variance[1] = -0.5
    refused(tmp_path, written(network).bytes, f"a variance of {network.value.norm.name} is negative")


def test_a_normalisation_stays_within_single_precision(tmp_path):
    network = make_network(11, ("pooling",), seed=1)
    norm = dataclasses.replace(network.value.norm, scale=np.full(3, 1e30, np.float32), epsilon=1e-20)
    norm.variance[:] = 0.0
    network = dataclasses.replace(network, value=dataclasses.replace(network.value, norm=norm))
    refused(tmp_path, written(network).bytes, "beyond single precision")


@pytest.mark.parametrize("binary", [True, False])
def test_binary_and_text_are_not_mixed(tmp_path, binary):
    ours, theirs = SMALL[binary], SMALL[not binary]
    content = bytes(ours.bytes[: ours.blocks[1]] + theirs.bytes[theirs.blocks[1] :])
    refused(tmp_path, content, "do not begin with @BIN@" if binary else "is not a number")


def test_a_file_cannot_hold_more_weights_than_its_size_allows(tmp_path):
    content = bytes(SMALL[True].bytes)
    head = content[: content.index(b"model.conv1")].replace(b"\n6\n", b"\n8192\n")
    tracemalloc.start()
    try:
        refused(tmp_path, head + b"model.conv1\n19\n19\n22\n8192\n1\n1\n@BIN@" + bytes(5000), "65,060,864 weights, more than")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


# --- files that are cut, foreign, damaged or bombs ---


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_that_is_cut_short_anywhere_is_refused(tmp_path, binary, zipped):
    writer = written(make_network(11, ("pooling",), channels=2), binary)
    for at in [0, *writer.words, *writer.blocks, *(at + 9 for at in writer.blocks), len(writer.bytes) - 4]:
        part = bytes(writer.bytes[:at])
        said = refused(tmp_path, gzip.compress(part, 1) if zipped else part)
        assert "it ends" in said or "more than the file can hold" in said, said


def test_gzip_data_that_is_cut_short_anywhere_is_refused(tmp_path):
    content = gzip.compress(bytes(SMALL[True].bytes))
    for at in range(0, len(content), 37):
        refused(tmp_path, content[:at])
    for missing in range(1, 9):  # the checksum and the length, which come last
        refused(tmp_path, content[:-missing], "it is cut short")


@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_follows_the_last_weights(tmp_path, zipped):
    content = bytes(SMALL[True].bytes) + b"rest"
    refused(tmp_path, gzip.compress(content) if zipped else content, "something follows its last weights")


def test_nothing_follows_the_gzip_data(tmp_path):
    content = gzip.compress(bytes(SMALL[True].bytes))
    for rest in (b"x", bytes(10), content):
        refused(tmp_path, content + rest, "something follows its gzip data")


def test_a_wrong_checksum_is_damage(tmp_path):
    content = bytearray(gzip.compress(bytes(SMALL[True].bytes)))
    content[-6] ^= 1
    refused(tmp_path, content, "its gzip data is damaged")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"This is no network.",
        b"<!DOCTYPE html>\n<html>",
        b"PK\x03\x04\x14\0\0\0",
        b"\x1f\x8b",
        b"\x08\x07\x12\x07pytorch",
        bytes(999),
    ],
)
def test_foreign_files_are_refused(tmp_path, content):
    refused(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "nowhere.bin.gz", tmp_path):
        with pytest.raises(NetworkError, match="there is no such file"):
            read_network(path)


@ANY
@given(data=st.data(), binary=st.booleans(), zipped=st.booleans())
def test_flipped_bits_are_refused_or_leave_a_finite_network(tmp_path, data, binary, zipped):
    content = bytearray(SMALL[binary].bytes)
    content = bytearray(gzip.compress(bytes(content))) if zipped else content
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    check_read_or_refused(tmp_path, content)


@ANY
@given(data=st.data(), binary=st.booleans())
def test_changed_words_are_refused_or_leave_a_finite_network(tmp_path, data, binary):
    writer = SMALL[binary]
    at = data.draw(st.sampled_from(writer.words + writer.blocks))
    word = data.draw(
        st.sampled_from([b"", b"-1", b"0", b"1", b"2", b"999999999", b"1e999", b"@BIN@", b"nan", b"\xff\xfe", b"@"])
    )
    end = writer.bytes.index(b"\n", at)
    check_read_or_refused(tmp_path, bytes(writer.bytes[:at] + word + writer.bytes[end:]))


def check_read_or_refused(tmp_path, content):
    path = tmp_path / "net"
    path.write_bytes(content)
    try:
        network = read_network(path)
    except NetworkError as error:
        assert str(error).startswith(f"{path} cannot be used") and "\n" not in str(error)
    else:
        assert all(np.isfinite(array).all() for _, array in arrays(network))


@pytest.mark.parametrize("fill", ["spaces", "weights", "name", "digits"])
def test_gzip_bombs_take_little_memory(tmp_path, fill):
    """60 MB in 60 kB."""
    small = bytes(SMALL[False].bytes)
    name = b"model.conv1\n19\n19\n22\n6000\n1\n1\n"
    head = small[: small.index(b"model.conv1")].replace(b"\n6\n", b"\n6000\n") + name
    starts = {"spaces": small, "weights": head + b"@BIN@", "name": b"", "digits": head}
    piece = {"spaces": b" ", "weights": b"\0", "name": b"x", "digits": b"1"}[fill] * 1_000_000
    path = tmp_path / "bomb.bin.gz"
    with gzip.open(path, "wb", 9) as file:
        file.write(starts[fill])
        for _ in range(60):
            file.write(piece)
    assert path.stat().st_size < 120_000
    tracemalloc.start()
    try:
        with pytest.raises(
            NetworkError, match=r"unpacks to more than 50 times|more than the file can hold|256 characters|not a number"
        ):
            read_network(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
