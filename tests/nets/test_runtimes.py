"""ONNX files and modules of PyTorch: they agree, they fit their game, and what is wrong with them is said in one line."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
import torch

import anabranch as ab
from anabranch.extras import needed
from anabranch.games.connectfour import ConnectFour
from anabranch.games.encoding import encode
from anabranch.games.go import Go
from anabranch.games.nim import Nim
from anabranch.games.othello import Othello
from anabranch.games.tictactoe import TicTacToe
from anabranch.nets import model as nets_model
from anabranch.nets.model import FlatPolicy, PointPolicy, export, make_model, policy_head
from anabranch.nets.runtimes import OnnxModel, TorchModel
from anabranch.nets.speed import measure_speeds
from tests.nets.games import SeenTriNim, played


def rewritten(path, tmp_path, change):
    """The file with something changed."""
    graph = onnx.load(path)
    change(graph)
    onnx.save(graph, tmp_path / "changed.onnx")
    return tmp_path / "changed.onnx"


# --- both compute the same ---


def test_a_file_and_its_module_agree(connect_four):
    module, path = connect_four
    planes = encode(ConnectFour(), played(ConnectFour(), 9))
    for ours, theirs in zip(OnnxModel(path, 1, None)(planes), TorchModel(module, 1)(planes), strict=True):
        assert np.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_networks_of_both_give_the_same_answers(connect_four, threads):
    module, path = connect_four
    states = played(ConnectFour(), 9)
    for ours, theirs in zip(ab.Network(path, threads=threads)(states), ab.Network(module)(states), strict=True):
        assert np.allclose(ours, theirs, atol=1e-5)


def test_a_module_is_run_in_evaluation_mode_and_leaves_the_number_of_threads(connect_four):
    module = connect_four[0].train()
    before = torch.get_num_threads()
    ab.Network(module, threads=before + 1)(ConnectFour().start().record())
    assert not module.training and torch.get_num_threads() == before


def test_a_game_with_many_values_has_as_many_outputs():
    game = SeenTriNim(5)
    policy, values = make_model(game, blocks=1, channels=4)(torch.zeros(2, *game.planes))
    assert policy.shape == (2, 3) and values.shape == (2, 3)


def test_pooling_tells_the_whole_board():
    game = Go(9)
    torch.manual_seed(0)
    model = make_model(game, blocks=3, channels=4).eval()
    empty, stone = torch.zeros(2, 1, *game.planes)
    stone[0, 0, 0, 0] = 5.0
    far = game.actions - 2  # the opposite corner, 8 lines away, beyond the reach of 7 convolutions' steps
    with torch.inference_mode():
        assert model(empty)[0][0, far] != model(stone)[0][0, far]


def test_a_policy_of_points_plays_on_other_boards_too(tmp_path):
    torch.manual_seed(0)
    small, large = Go(5), Go((7, 6))
    export(make_model(small, blocks=1, channels=4), small, tmp_path / "go.onnx")
    priors, values = ab.Network(tmp_path / "go.onnx", game=large)(large.start().record())
    assert priors.shape == (1, 43) and np.isclose(priors.sum(), 1.0) and abs(values[0]) < 1


def test_policies_are_of_points_where_actions_are():
    assert isinstance(make_model(Othello(), 1, 4).policy, PointPolicy)
    assert isinstance(make_model(ConnectFour(), 1, 4).policy, FlatPolicy)
    assert isinstance(policy_head(4, 36, 36 + 8), PointPolicy)
    assert isinstance(policy_head(4, 36, 3 * 36), FlatPolicy), "several actions a point: each has weights of its own"


# --- files ---


def test_a_file_says_which_game_it_is_for(connect_four):
    facts = {entry.key: entry.value for entry in onnx.load(connect_four[1]).metadata_props}
    assert facts == {
        "anabranch.game": "ConnectFour()",
        "anabranch.planes": "(3, 6, 7)",
        "anabranch.actions": "7",
        "anabranch.version": ab.__version__,
    }


def test_exporting_leaves_the_module_in_its_mode(tmp_path):
    module = make_model(TicTacToe(), 1, 4).train()
    export(module, TicTacToe(), tmp_path / "net.onnx")
    assert module.training


def test_an_export_that_computes_something_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(nets_model, "TOLERANCE", -1.0)
    with pytest.raises(ab.errors.NetworkError, match=r"ONNX Runtime and PyTorch differ by .* in the policy"):
        export(make_model(TicTacToe(), 1, 4), TicTacToe(), tmp_path / "net.onnx")


def test_outputs_without_our_names_are_taken_in_their_order(connect_four, tmp_path):
    def rename(model):
        for node in model.graph.node:
            node.output[:] = ["logits" if name == "policy" else name for name in node.output]
        model.graph.output[0].name = "logits"

    path = rewritten(connect_four[1], tmp_path, rename)
    states = played(ConnectFour(), 3)
    assert np.array_equal(ab.Network(path)(states)[0], ab.Network(connect_four[1])(states)[0])


# --- what is refused ---


def test_a_game_without_planes_has_no_model():
    with pytest.raises(ab.errors.GameError, match="there is no board for a residual network: give it `planes ="):
        make_model(Nim())


def test_a_file_that_is_not_there():
    with pytest.raises(ab.errors.NetworkError, match=r"nowhere\.onnx: there is no such file"):
        ab.Network("nowhere.onnx")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_short(connect_four, tmp_path, share):
    content = connect_four[1].read_bytes()
    (tmp_path / "cut.onnx").write_bytes(content[: int(share * len(content))])
    with pytest.raises(ab.errors.NetworkError, match=r"cut\.onnx"):
        ab.Network(tmp_path / "cut.onnx", game=ConnectFour())


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "words.onnx").write_text("This is no network.")
    with pytest.raises(ab.errors.NetworkError, match=r"words\.onnx cannot be used as an ONNX model"):
        ab.Network(tmp_path / "words.onnx")


def test_a_network_for_another_game(connect_four):
    with pytest.raises(ab.errors.NetworkError, match=r"is a network for ConnectFour\(\), not for Othello\(\)"):
        ab.Network(connect_four[1], game=Othello())


def test_a_network_for_other_planes(connect_four, tmp_path):
    path = rewritten(connect_four[1], tmp_path, lambda model: model.ClearField("metadata_props"))
    with pytest.raises(
        ab.errors.NetworkError, match=r"planes of the shape \(3, 6, 7\); those of TicTacToe\(\) have \(3, 3, 3\)"
    ):
        ab.Network(path, game=TicTacToe())


def test_a_network_for_one_position_a_call(connect_four, tmp_path):
    def fix(model):
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1

    with pytest.raises(ab.errors.NetworkError, match=r"takes 1 position\(s\) a call; export it with a batch of any size"):
        ab.Network(rewritten(connect_four[1], tmp_path, fix), game=ConnectFour())


def test_a_network_with_one_output(connect_four, tmp_path):
    def drop(model):
        del model.graph.output[1]

    with pytest.raises(ab.errors.NetworkError, match=r"1 input\(s\) and 1 output\(s\); a network has one input"):
        ab.Network(rewritten(connect_four[1], tmp_path, drop))


def test_a_network_with_broken_weights(connect_four, tmp_path):
    def spoil(model):
        for weights in model.graph.initializer:
            if len(weights.dims) == 4:
                weights.CopyFrom(onnx.numpy_helper.from_array(np.full(tuple(weights.dims), np.nan, np.float32), weights.name))

    network = ab.Network(rewritten(connect_four[1], tmp_path, spoil))
    with pytest.raises(ab.errors.NetworkError, match="NaN"):
        network(ConnectFour().start().record())


def test_a_provider_that_is_not_there(connect_four):
    with pytest.raises(
        ab.errors.NetworkError, match=r"has no provider 'WishfulExecutionProvider'; it has .*CPUExecutionProvider"
    ):
        ab.Network(connect_four[1], providers=["WishfulExecutionProvider"])


def test_providers_can_be_named(connect_four):
    states = played(ConnectFour(), 2)
    network = ab.Network(connect_four[1], providers=[("CPUExecutionProvider", {})])
    assert np.array_equal(network(states)[0], ab.Network(connect_four[1])(states)[0])


@pytest.mark.parametrize(("module", "extra"), [("onnxruntime", "net"), ("torch", "train")])
def test_a_missing_package_is_missed_in_one_line(module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ab.errors.MissingExtra, match=rf'needs {module}: pip install "anabranch\[{extra}\]"'):
        needed(module, extra)


def test_a_network_without_its_runtime_says_what_to_install(connect_four, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ab.errors.MissingExtra, match=r"anabranch\[net\]"):
        ab.Network(connect_four[1])


def test_nothing_heavy_is_imported_with_the_name():
    code = "import sys, anabranch; anabranch.Network; print([name for name in ('torch', 'onnxruntime') if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


# --- how fast ---


def test_speeds_are_measured_for_every_batch(connect_four):
    measurements = list(measure_speeds(ConnectFour(), connect_four[1], seconds=0.01))
    assert {row.batch for row in measurements} == {1, 4, 16, 64, 256}
    assert all(row.runtime == "ONNX Runtime" and row.speed > 0 for row in measurements)
