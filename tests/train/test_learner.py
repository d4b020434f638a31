"""The learner: it learns, and what interrupts it changes nothing."""

import hashlib
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import AnabranchError, TrainingError
from anabranch.games.encoding import encode
from anabranch.games.registry import load
from anabranch.games.tictactoe import TicTacToe
from anabranch.nets.network import Network
from anabranch.nets.runtimes import OnnxModel
from anabranch.train import learner as module
from anabranch.train.learner import Learner, averaging, device_of, rate_at
from anabranch.train.model import Trained, size_of
from anabranch.train.run import CHECKPOINTS, SETTINGS, Run
from anabranch.train.settings import LearnerSettings, NetworkSettings, TargetSettings, text_of
from tests.reference import training


def copied(run, path, **changes):
    """The same run in another folder, with other settings."""
    shutil.copytree(run.path, path)
    text = text_of(run.settings.but(**changes), {})
    head = (path / SETTINGS).read_text().partition("\n\n")[0]
    (path / SETTINGS).write_text(f"{head}\n{text}")
    return Run(path)


@pytest.fixture
def run(tictactoe, tmp_path):
    return copied(tictactoe, tmp_path / "run")


def digest(learner):
    """A digest of all numbers that learning goes on from."""
    numbers = [*learner.model.state_dict().values(), *learner.average.state_dict().values()]
    for each in learner.optimizer.state_dict()["state"].values():
        numbers += list(each.values())
    others = learner.random.bit_generator.state, learner.steps, learner.samples
    return hashlib.sha256(b"".join(number.numpy().tobytes() for number in numbers) + repr(others).encode()).hexdigest()


# --- learning ---


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_losses_fall(run, tmp_path, monkeypatch, precision):
    monkeypatch.setattr(module, "TELL_EVERY", 20)
    settings = {"learner_warm_up": 10, "learner_learning_rate": 5e-3, "learner_precision": precision}
    learner = Learner(copied(run, tmp_path / "more", **settings))
    assert learner.is_mixed == (precision == "bfloat16")
    assert learner.learn(steps=120) == 120
    lines = learner.run.log.read("step")
    assert [line["step"] for line in lines] == [20, 40, 60, 80, 100, 120]
    for name in ("loss", "policy", "value", "left"):
        assert lines[-1][name] < lines[0][name]
    assert lines[-1]["accuracy"] > lines[0]["accuracy"]
    assert lines[-1]["samples"] == 120 * 32 and lines[-1]["rows"] == learner.window.total


def test_positions_are_learnt_so_often_and_no_oftener(run):
    learner = Learner(copied(run, run.path.parent / "less", learner_reuse=2.0))
    learner.learn(seconds=1.5)
    assert learner.samples <= 2.0 * learner.window.total < learner.samples + 32
    assert not learner.may_learn()


def test_learning_waits_for_the_first_positions(run):
    learner = Learner(copied(run, run.path.parent / "later", learner_first=10**6))
    assert learner.learn(seconds=0.3) == 0


def test_learning_waits_if_all_games_were_deleted(run):
    learner = Learner(run)
    learner.learn(steps=1)
    learner.save()
    for path in run.game_files:
        path.unlink()
    again = Learner(run)
    assert again.window.total > 0 and again.learn(seconds=0.3) == 0


def test_networks_are_exported_now_and_then(run):
    learner = Learner(copied(run, run.path.parent / "often", learner_export_every=40, learner_reuse=4.0))
    learner.learn(seconds=1.5)
    networks = learner.run.networks
    assert [path.name for path in networks] == ["000000.onnx", "000001.onnx"]
    assert learner.run.network_in_use == networks[-1] and len(learner.run.checkpoints) == 1
    (line,) = learner.run.log.read("network")[-1:]
    assert line["network"] == "000001.onnx" and line["rows"] == learner.window.total


def test_a_gradient_that_is_not_finite_is_reported(run):
    learner = Learner(run)
    learner.learn(steps=2)
    before = [weights.clone() for weights in learner.average.parameters()]
    with torch.no_grad():
        next(learner.model.net.value.parameters())[:] = torch.nan
    with pytest.raises(TrainingError, match=r"not finite at step 2: lower learner\.learning_rate \(now 0\.002\)"):
        learner.step()
    assert learner.steps == 2
    assert all(torch.equal(old, new) for old, new in zip(before, learner.average.parameters(), strict=True))


# --- interruptions ---


def test_a_run_that_was_interrupted_learns_the_same(run, tmp_path):
    whole = Learner(copied(run, tmp_path / "whole"))
    whole.learn(steps=24)
    parts = copied(run, tmp_path / "parts")
    for _ in range(3):
        learner = Learner(parts)
        learner.learn(steps=8)
        learner.save()
    assert digest(learner) == digest(Learner(parts)) == digest(whole)


def test_changed_settings_hold_after_a_restart(run, tmp_path):
    learner = Learner(run)
    learner.learn(steps=1)
    learner.save()
    changed = Learner(copied(run, tmp_path / "changed", learner_weight_decay=0.5))
    assert [group["weight_decay"] for group in changed.optimizer.param_groups] == [0.5, 0.0]


class Checkpoint:
    """A run with one checkpoint, which can be damaged and put right again."""

    def __init__(self, run):
        learner = Learner(run)
        learner.learn(steps=1)
        learner.save()
        self.run, self.path = run, run.checkpoints[0]
        self.content, self.state = self.path.read_bytes(), digest(learner)

    @contextmanager
    def damaged(self, content):
        self.path.write_bytes(content)
        try:
            yield
        finally:
            self.path.write_bytes(self.content)


@pytest.fixture(scope="module")
def checkpoint(tictactoe, tmp_path_factory):
    return Checkpoint(copied(tictactoe, tmp_path_factory.mktemp("checkpoint") / "run"))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_checkpoint_that_was_cut_is_damaged(checkpoint, share):
    with (
        checkpoint.damaged(checkpoint.content[: int(share * len(checkpoint.content))]),
        pytest.raises(TrainingError, match=r"00000001\.pt is damaged \(.*\); delete it to begin learning anew from the games"),
    ):
        Learner(checkpoint.run)
    assert digest(Learner(checkpoint.run)) == checkpoint.state


@settings(max_examples=20)
@given(st.floats(0, 1, exclude_max=True), st.integers(0, 7))
def test_a_flipped_bit_in_a_checkpoint_is_noticed_or_changes_nothing(checkpoint, place, bit):
    content = bytearray(checkpoint.content)
    content[int(place * len(content))] ^= 1 << bit
    with checkpoint.damaged(content):
        try:
            same = digest(Learner(checkpoint.run)) == checkpoint.state
        except TrainingError as error:
            same = "00000001.pt is damaged" in str(error)
        assert same


def test_an_earlier_checkpoint_is_named_as_the_remedy(run):
    learner = Learner(run)
    for _ in range(2):
        learner.learn(steps=1)
        learner.save()
    run.checkpoints[-1].write_bytes(b"")
    with pytest.raises(TrainingError, match=r"delete it to go on from 00000001\.pt"):
        Learner(run)
    run.checkpoints[-1].unlink()
    assert Learner(run).steps == 1


@pytest.mark.parametrize("change", [{"network_size": "flat"}, {"network_size": "small"}, {"targets_reply": 0.0}])
def test_a_checkpoint_of_another_network_is_refused(run, tmp_path, change):
    learner = Learner(run)
    learner.learn(steps=1)
    learner.save()
    with pytest.raises(TrainingError, match="is of a network of another form: `size` in"):
        Learner(copied(run, tmp_path / "other", **change))


def test_a_checkpoint_that_cannot_be_written(run):
    learner = Learner(run)
    shutil.rmtree(run.path / CHECKPOINTS)
    with pytest.raises(TrainingError, match=r"00000000\.pt cannot be written"):
        learner.save()


# --- networks ---


def test_a_network_is_the_average_of_the_weights(run):
    learner = Learner(run)
    learner.learn(steps=5)
    path = learner.save()
    planes = encode(TicTacToe(), np.concatenate([TicTacToe().position(moves).record() for moves in ([], [4], [0, 8])]))
    learner.average.eval()
    with torch.inference_mode():
        expected = learner.average.module(torch.from_numpy(planes))
    policy, value = OnnxModel(path, threads=1, providers=None)(planes)
    assert np.allclose(policy, expected.policy, atol=1e-4) and np.allclose(value, expected.value, atol=1e-4)
    learner.model.eval()
    with torch.inference_mode():
        assert not np.allclose(policy, learner.model(torch.from_numpy(planes)).policy, atol=1e-4)


@pytest.mark.parametrize("size", ["flat", "tiny", "small"])
@pytest.mark.parametrize("game", ["tictactoe", "tests.train.games:Tolls", "tests.train.games:SeenGoofspiel"])
def test_networks_of_all_sizes_fit_their_games(tmp_path, game, size):
    game = load(game)
    trained = Trained(game, NetworkSettings(size=size), TargetSettings())
    planes = torch.from_numpy(encode(game, np.concatenate([game.start().record()] * 2)))
    outputs = trained(planes)
    assert outputs.policy.shape == (2, int(np.prod(game.policy_shape))) and outputs.value.shape == (2, game.value_width())
    assert outputs.reply.shape == (2, game.actions) and outputs.left.shape == (2,)
    module.export(trained.net, game, tmp_path / "net.onnx")
    priors, _ = Network(tmp_path / "net.onnx", game=game)(game.start().record())
    assert np.allclose(priors.sum(-1), 1.0, atol=1e-5)


def test_heads_that_are_not_learnt_are_not_there():
    with_both = Trained(TicTacToe(), NetworkSettings(size="tiny"), TargetSettings())
    without = Trained(TicTacToe(), NetworkSettings(size="tiny"), TargetSettings(reply=0.0, moves_left=0.0))
    assert without.reply is None and without.left is None and size_of(without) < size_of(with_both)


# --- numbers ---


@given(st.integers(0, 10**6), st.floats(0, 1), st.integers(0, 1000), st.integers(1, 10**6), st.floats(0, 1e-2))
def test_the_rate_rises_and_is_halved(step, highest, warm_up, half_life, least):
    chosen = LearnerSettings(learning_rate=highest, warm_up=warm_up, half_life=half_life, least_rate=least)
    assert np.isclose(rate_at(step, chosen), training.rate(step, highest, warm_up, half_life, least), rtol=1e-9)


def test_an_average_soon_forgets_the_first_weights():
    mean, value = averaging(0.999), torch.tensor(100.0)
    for count in range(1, 60):
        value = mean(value, torch.tensor(1.0), torch.tensor(count))
    assert abs(float(value) - 1.0) < 0.05
    assert mean(torch.tensor(3), torch.tensor(5), torch.tensor(1)) == 5
    assert float(averaging(0.0)(torch.tensor(3.0), torch.tensor(5.0), torch.tensor(9))) == 5.0


def test_weights_keep_their_precision_and_gradients_are_about_the_same(run, tmp_path):
    mixed, exact = (Learner(copied(run, tmp_path / each, learner_precision=each)) for each in ("bfloat16", "float32"))
    for learner in (mixed, exact):
        learner.learn(steps=1)
    for one, other in zip(mixed.model.parameters(), exact.model.parameters(), strict=True):
        assert one.dtype == torch.float32 and one.grad.dtype == torch.float32
        assert torch.linalg.norm(one.grad - other.grad) <= 0.3 * torch.linalg.norm(other.grad) + 1e-3


def test_a_device_that_is_not_there():
    assert device_of(LearnerSettings(device="cpu")).type == "cpu"
    with pytest.raises(AnabranchError, match=r"learner\.device = 'wishful' cannot be used"):
        device_of(LearnerSettings(device="wishful"))
