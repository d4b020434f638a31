"""The ONNX graph of a KataGo network computes what the slow implementation in tests/reference does: every version, block,
activation and head; one size of board, rectangles, and several sizes in one batch."""

import numpy as np
import onnx
import pytest

from anabranch.errors import NetworkError
from anabranch.nets.katago.graph import OUTPUTS, build_graph
from anabranch.nets.katago.layers import GLOBALS, METADATA, PLANES, Activation
from anabranch.nets.katago.model import KataGoModel
from anabranch.nets.katago.outputs import RawOutputs
from anabranch.nets.runtimes import open_session
from tests.nets.katago_files import KINDS, VERSIONS, Maker, make_network, write_network
from tests.reference.katago_net import cut, evaluate

TOLERANCE = 2e-5  # of the largest output; single precision against double
WHOLE = [(9, 9), (9, 9)]
MIXED = [(7, 7), (3, 7), (5, 2), (1, 1), (7, 6)]


def random_inputs(sizes, seed=0, corner=False):
    """Positions on boards of these heights and widths, in planes that hold the largest; the others lie somewhere in there."""
    random, largest = np.random.default_rng(seed), np.max(sizes, axis=0)
    planes = np.zeros((len(sizes), PLANES, *largest), np.float32)
    for one, size in zip(planes, sizes, strict=True):
        top, left = (0, 0) if corner else (random.integers(0, room + 1) for room in largest - size)
        board = one[:, top : top + size[0], left : left + size[1]]
        board[:] = random.random(board.shape) < 0.3
        board[0] = 1.0
    return planes, *(random.normal(0, 1, (len(sizes), width)).astype(np.float32) for width in (GLOBALS, METADATA))


def run(network, inputs, masked=True):
    names = ["planes", "globals"] + ["metadata"] * network.header.has_metadata
    session = open_session(build_graph(network, masked), "the graph", 1, None)
    return RawOutputs(*session.run(OUTPUTS, dict(zip(names, inputs, strict=False))))


def compare(network, sizes=MIXED, masked=True):
    inputs = random_inputs(sizes)
    raw = run(network, inputs, masked)
    assert all(np.isfinite(output).all() for output in raw)
    for i, (planes, of_globals, metadata) in enumerate(zip(*inputs, strict=True)):
        where, board = cut(planes)
        wanted = evaluate(network, board, of_globals, metadata)
        policy = raw.policy[i].reshape(-1, *planes.shape[1:])[(slice(None), *where)]
        given = policy, raw.passing[i], raw.value[i], raw.score[i], raw.ownership[i][where]
        for name, ours, theirs in zip(OUTPUTS, given, wanted, strict=True):
            assert ours.shape == theirs.shape, name
            assert np.abs(ours - theirs).max() <= TOLERANCE * max(1.0, np.abs(theirs).max()), (name, sizes[i])


# --- it agrees with the slow implementation ---


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version(version):
    compare(make_network(version, activation=Activation.MISH))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", [Activation.RELU, Activation.SILU])
def test_every_kind_of_block(kind, activation):
    compare(make_network(17, (kind, "ordinary", kind), activation=activation))


@pytest.mark.parametrize("activation", Activation)
@pytest.mark.parametrize("masked", [True, False])
def test_every_activation(activation, masked):
    network = make_network(15, ("pooling", "nested"), activation=activation, metadata=True)
    compare(network, MIXED if masked else WHOLE, masked)


@pytest.mark.parametrize("rotation", ["learnt", "fixed", "none"])
@pytest.mark.parametrize("shape", [(4, 2, 8, 3), (2, 2, 4, 4), (3, 1, 6, 2), (1, 1, 2, 5)])
@pytest.mark.parametrize("masked", [True, False])
def test_attention_of_every_shape(rotation, shape, masked):
    block = Maker(3).attention("block", 6, *shape, rotation)
    compare(make_network(17, (block,)), [(5, 4), (2, 3)] if masked else [(5, 4)], masked)


@pytest.mark.parametrize("tip", ["norm", "rms", "rms of the board"])
@pytest.mark.parametrize("masked", [True, False])
def test_every_normalisation_at_the_end_of_the_trunk(tip, masked):
    compare(make_network(17, ("attention", "feed_forward"), tip=tip), MIXED if masked else WHOLE, masked)


@pytest.mark.parametrize("channels", [2, 4])
def test_policies_of_2_and_of_4_channels(channels):
    compare(make_network(17, policy_channels=channels))


def test_everything_at_once_on_boards_of_all_sizes():
    network = make_network(17, (*KINDS, "attention"), activation=Activation.SILU, metadata=True, tip="rms of the board")
    compare(network, [(19, 19), (9, 9), (13, 13), (19, 5), (2, 17)])


@pytest.mark.parametrize("size", [(19, 19), (9, 9), (5, 7), (13, 2), (1, 1)])
def test_boards_that_fill_their_planes_need_no_mask(size):
    network = make_network(17, KINDS, activation=Activation.MISH)
    compare(network, [size], masked=False)
    compare(network, [size], masked=True)


def test_maxima_below_those_of_any_activation_are_cut_off():
    """As in KataGo, which takes -1 for points off the board; only the identity goes lower."""
    network = make_network(11, ("pooling",), activation=Activation.IDENTITY)
    network.policy.pooling.norm.bias[:] = -5.0
    compare(network)
    compare(network, WHOLE, masked=False)


def test_points_off_the_board_do_not_matter():
    network = make_network(17, KINDS, activation=Activation.MISH)
    planes, of_globals, _ = random_inputs([(9, 9), (5, 5)], corner=True)
    alone = run(network, (planes[1:, :, :5, :5], of_globals[1:]))
    both = run(network, (planes, of_globals))
    assert np.allclose(both.value[1], alone.value[0], atol=1e-5) and np.allclose(both.score[1], alone.score[0], atol=1e-5)
    assert np.allclose(both.ownership[1, :5, :5], alone.ownership[0], atol=1e-5)
    assert not both.ownership[1, 5:].any() and not both.ownership[1, :, 5:].any()


# --- the graph itself ---


def test_the_graph_is_a_valid_model_with_named_shapes():
    model = onnx.load_from_string(build_graph(make_network(16, metadata=True)))
    onnx.checker.check_model(model, full_check=True)
    shapes = {
        end.name: [size.dim_param or size.dim_value for size in end.type.tensor_type.shape.dim]
        for end in (*model.graph.input, *model.graph.output)
    }
    assert shapes == {
        "planes": ["positions", 22, "height", "width"],
        "globals": ["positions", 19],
        "metadata": ["positions", 192],
        "policy": ["positions", 4, "points"],
        "pass": ["positions", 4],
        "value": ["positions", 3],
        "score": ["positions", 6],
        "ownership": ["positions", "height", "width"],
    }


def test_normalisations_after_convolutions_are_folded_into_them():
    """Left are the first of each block and the last of the trunk."""
    kinds = [node.op_type for node in onnx.load_from_string(build_graph(make_network(8), masked=False)).graph.node]
    assert kinds.count("BatchNormalization") == 3


def test_onnx_runtime_runs_convolution_and_activation_as_one(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.log_severity_level = 3
    blocks = ("ordinary", "ordinary")
    runtime.InferenceSession(build_graph(make_network(8, blocks), masked=False), options, providers=["CPUExecutionProvider"])
    kinds = [node.op_type for node in onnx.load(tmp_path / "optimised.onnx").graph.node]
    assert kinds.count("FusedConv") >= 4  # in both blocks, where the policy is pooled, and in the value head


# --- as a model ---


def test_a_model_chooses_its_graph_by_the_boards(tmp_path):
    network = make_network(17, KINDS)
    model = KataGoModel(write_network(tmp_path / "net.bin.gz", network))
    assert model.header == network.header
    for sizes in (WHOLE, MIXED, WHOLE):
        inputs = random_inputs(sizes)[:2]
        for ours, theirs in zip(model(*inputs), run(network, inputs), strict=True):
            assert np.allclose(ours, theirs, atol=1e-4)


def test_a_human_like_network_has_to_be_told_who_plays(tmp_path):
    model = KataGoModel(write_network(tmp_path / "net.bin.gz", make_network(15, metadata=True)))
    planes, of_globals, metadata = random_inputs(WHOLE)
    assert model(planes, of_globals, metadata).value.shape == (2, 3)
    with pytest.raises(NetworkError, match="is a human-like network: it has to be told who plays, in 192 numbers"):
        model(planes, of_globals)


def test_boards_are_at_most_19_lines_wide(tmp_path):
    model = KataGoModel(write_network(tmp_path / "net.bin.gz", make_network(8)))
    with pytest.raises(NetworkError, match="up to 19 lines, not on 20x3"):
        model(*random_inputs([(3, 20)])[:2])


def test_what_is_wrong_with_a_file_is_said_by_the_model_too(tmp_path):
    (tmp_path / "net.bin.gz").write_bytes(b"nothing of the kind")
    with pytest.raises(NetworkError, match="cannot be used as a KataGo network"):
        KataGoModel(tmp_path / "net.bin.gz")
